//! The claims that are about an experiment of one run, with their verdicts on what is measured so far.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::rows::{Row, of_records};
use super::sentences::{Judgement, Sentence, Stated, machine};
use super::{Verdict, judge};
use crate::case::distinct;
use crate::recipe::paper::{Claim, Paper, Source};
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::recipe::{parse, shipped};
use crate::report::copies::Copies;
use crate::report::origin::Origin;
use crate::run::Record;

/// The claims from the experiment that something can be said of, in the paper's order.
pub fn of_experiment<'p>(
    origin: &Origin<'p>,
    records: &[Record],
    copies: &Copies,
    experiment: usize,
) -> Vec<(&'p Claim, Verdict)> {
    let plan = origin.plan;
    let Some(paper) = paper_of(plan, experiment) else { return Vec::new() };
    let judged = |claim: &'p Claim| {
        let verdict = verdict(paper, claim, origin, records, copies);
        (!verdict.is_not_applicable()).then_some((claim, verdict))
    };
    let about = |claim: &&Claim| is_about(plan, paper, claim, experiment);
    paper.claims.iter().filter(about).filter_map(judged).collect()
}

/// Every claim from an experiment of the run with its verdict, paper by paper.
pub fn of_plan(origin: &Origin, records: &[Record], copies: &Copies) -> Vec<Sentence> {
    let plan = origin.plan;
    let experiments = 0..plan.experiments.len();
    let papers = experiments.clone().filter_map(|experiment| paper_of(plan, experiment));
    let keys = distinct(papers.map(|paper| paper.key.as_str()));
    let machine = machine(origin.devices, origin.environment);
    let sentence = |paper: &Paper, claim: &Claim| Sentence {
        paper: paper.key.clone(),
        claim: claim.clone(),
        printed: Vec::new(),
        judgements: vec![Judgement {
            machine: machine.clone(),
            runs: Vec::new(),
            verdict: verdict(paper, claim, origin, records, copies),
            stated: Stated::of(plan.claims.get(&paper.key), paper, claim),
        }],
    };
    let of_paper = |paper: &Paper| -> Vec<Sentence> {
        let own = paper.claims.iter();
        let own = own.filter(|claim| experiments.clone().any(|one| is_about(plan, paper, claim, one)));
        own.map(|claim| sentence(paper, claim)).collect()
    };
    keys.into_iter().filter_map(|key| plan.paper(key)).flat_map(of_paper).collect()
}

/// The paper of an experiment, if its claims are at hand.
fn paper_of(plan: &Plan, experiment: usize) -> Option<&Paper> {
    plan.paper(&plan.experiments.get(experiment)?.paper.as_ref()?.key)
}

/// Whether measurements of the experiment decide the claim: the run has all experiments that the claim is from.
fn is_about(plan: &Plan, paper: &Paper, claim: &Claim, experiment: usize) -> bool {
    let is_of = |source: &Source, at: usize| {
        plan.experiments.get(at).is_some_and(|one| {
            let own = one.paper.as_ref().is_some_and(|of| of.key == paper.key);
            own && is_of(plan, paper, source, &one.slug)
        })
    };
    let decided = claim.none.is_none() && claim.needs.is_none();
    let has = |source: &Source| (0..plan.experiments.len()).any(|at| is_of(source, at));
    decided && claim.from.iter().any(|source| is_of(source, experiment)) && claim.from.iter().all(has)
}

fn verdict(paper: &Paper, claim: &Claim, origin: &Origin, records: &[Record], copies: &Copies) -> Verdict {
    let is_wanted = |at: usize| is_about(origin.plan, paper, claim, at);
    let run = (0, claim.from.len() > 1);
    let rows: Vec<Row> = of_records(origin, records, copies, run, is_wanted);
    judge(claim, &rows, |devices| paper.is_named(claim, devices))
        .unwrap_or(Verdict { shape: None, size: None })
}

/// Whether a claim's source means the experiment with this slug. A run knows its own recipe by name, if it is in the folder of the
/// paper, and otherwise by the slugs of what ships.
fn is_of(plan: &Plan, paper: &Paper, source: &Source, slug: &str) -> bool {
    let is_own = plan.paper.as_ref().is_some_and(|own| own.key == paper.key);
    let is_recipe = match plan.recipe.as_ref().filter(|_| is_own) {
        Some(recipe) => *recipe == source.recipe,
        None => slugs(&format!("{}/{}", paper.key, source.recipe)).iter().any(|own| own == slug),
    };
    is_recipe && source.experiment.as_ref().is_none_or(|own| own == slug)
}

/// The slugs of a shipped recipe's experiments. Resolving a recipe for each event of a run would take long.
fn slugs(recipe: &str) -> Vec<String> {
    static KNOWN: LazyLock<Mutex<HashMap<String, Vec<String>>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(slugs) = known.get(recipe) {
        return slugs.clone();
    }
    let plan = shipped::find(recipe)
        .and_then(|found| parse(found.path, found.text).ok())
        .and_then(|parsed| resolve(&parsed, &Overrides::default()).ok());
    let of = |plan: Plan| plan.experiments.into_iter().map(|one| one.slug).collect();
    let slugs: Vec<String> = plan.map(of).unwrap_or_default();
    known.insert(recipe.to_owned(), slugs.clone());
    slugs
}

/// The most claims that a caption or a list has room for.
const MOST: usize = 4;

/// `§3.5, Fig. 9: 16 passes suit the scatter best — here: shape holds (8), size fails (8)`, and how many more there are.
pub fn sentences(of: &[(&Claim, Verdict)], paper: &str) -> Vec<String> {
    let sentence = |(claim, verdict): &(&Claim, Verdict)| {
        format!("{paper} {} claims: {} — here: {}", claim.at, claim.says, verdict.words())
    };
    let more = of.len().saturating_sub(MOST);
    let rest = format!("{more} more of its claims are judged here: scatterlab claims {paper}");
    of.iter().take(MOST).map(sentence).chain((more > 0).then_some(rest)).collect()
}
