//! The claims that are about an experiment of one run, with their verdicts on what is measured so far.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::rows::{Row, of_records};
use super::sentences::{Judgement, Sentence, Stated, machine};
use super::{Verdict, judge};
use crate::case::distinct;
use crate::recipe::paper::{Claim, Paper, Source};
use crate::recipe::plan::{Experiment, Overrides, Plan, resolve};
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
    let Some(paper) = paper_of(origin.plan, experiment) else { return Vec::new() };
    let all = verdicts(paper, origin, records, copies, |own| own.contains(&experiment));
    all.into_iter().filter(|(_, verdict)| !verdict.is_not_applicable()).collect()
}

/// Every claim from an experiment of the run with its verdict, paper by paper.
pub fn of_plan(origin: &Origin, records: &[Record], copies: &Copies) -> Vec<Sentence> {
    let plan = origin.plan;
    let papers = (0..plan.experiments.len()).filter_map(|experiment| paper_of(plan, experiment));
    let keys = distinct(papers.map(|paper| paper.key.as_str()));
    let machine = machine(origin.devices, origin.environment);
    let sentence = |paper: &Paper, (claim, verdict): (&Claim, Verdict)| Sentence {
        paper: paper.key.clone(),
        claim: claim.clone(),
        printed: Vec::new(),
        judgements: vec![Judgement {
            machine: machine.clone(),
            runs: Vec::new(),
            verdict,
            stated: Stated::of(plan.claims.get(&paper.key), paper, claim),
        }],
    };
    let of_paper = |paper: &Paper| -> Vec<Sentence> {
        let all = verdicts(paper, origin, records, copies, |own| !own.is_empty());
        all.into_iter().map(|judged| sentence(paper, judged)).collect()
    };
    keys.into_iter().filter_map(|key| plan.paper(key)).flat_map(of_paper).collect()
}

/// The paper of an experiment, if its claims are at hand.
fn paper_of(plan: &Plan, experiment: usize) -> Option<&Paper> {
    plan.paper(&plan.experiments.get(experiment)?.paper.as_ref()?.key)
}

/// The verdicts on those claims of a paper whose experiments `is_wanted`. The table of the cases is made once for all of them.
fn verdicts<'p>(
    paper: &'p Paper,
    origin: &Origin,
    records: &[Record],
    copies: &Copies,
    is_wanted: impl Fn(&[usize]) -> bool,
) -> Vec<(&'p Claim, Verdict)> {
    let from = |claim: &'p Claim| (claim, experiments(origin.plan, paper, claim));
    let wanted: Vec<(&Claim, Vec<usize>)> =
        paper.claims.iter().map(from).filter(|(_, own)| is_wanted(own)).collect();
    let rows = |together: bool| {
        let is_read = |at: usize| wanted.iter().any(|(_, own)| own.contains(&at));
        of_records(origin, records, copies, (0, together), is_read)
    };
    let (apart, together) = (LazyCell::new(|| rows(false)), LazyCell::new(|| rows(true)));
    let verdict = |(claim, own): &(&'p Claim, Vec<usize>)| {
        let all: &[Row] = if claim.from.len() > 1 { &together } else { &apart };
        let rows: Vec<Row> = all.iter().filter(|row| own.contains(&row.place.1)).cloned().collect();
        let verdict = judge(claim, &rows, |devices| paper.is_named(claim, devices));
        (*claim, verdict.unwrap_or(Verdict { shape: None, size: None }))
    };
    wanted.iter().map(verdict).collect()
}

/// The experiments of the run that a claim is from; none unless the run has all that it is from.
fn experiments(plan: &Plan, paper: &Paper, claim: &Claim) -> Vec<usize> {
    if claim.none.is_some() || claim.needs.is_some() {
        return Vec::new();
    }
    let of_paper = |one: &Experiment| one.paper.as_ref().is_some_and(|of| of.key == paper.key);
    let of_source = |source: &Source| -> Vec<usize> {
        let own = plan.experiments.iter().enumerate().filter(|(_, one)| of_paper(one));
        own.filter(|(_, one)| is_of(plan, paper, source, &one.slug)).map(|(at, _)| at).collect()
    };
    let found: Vec<Vec<usize>> = claim.from.iter().map(of_source).collect();
    if found.iter().any(Vec::is_empty) { Vec::new() } else { found.concat() }
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
