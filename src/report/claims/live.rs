//! The claims that are about an experiment of one run, with their verdicts on what is measured so far.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::rows::{Row, of_records};
use super::{Verdict, judge};
use crate::recipe::paper::{self, Claim, Paper, Source};
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::recipe::{parse, shipped};
use crate::report::copies::Copies;
use crate::report::origin::Origin;
use crate::run::Record;

/// The claims from the experiment that something can be said of, in the paper's order.
pub fn of_experiment(
    origin: &Origin,
    records: &[Record],
    copies: &Copies,
    experiment: usize,
) -> Vec<(&'static Claim, Verdict)> {
    let plan = origin.plan;
    let key = plan.experiments.get(experiment).and_then(|one| Some(&one.paper.as_ref()?.key));
    let Some(paper) = key.and_then(|key| paper::find(key)) else { return Vec::new() };
    let slug = &plan.experiments[experiment].slug;
    let about = |claim: &&Claim| {
        let decided = claim.none.is_none() && claim.needs.is_none();
        decided && claim.from.iter().any(|source| is_of(paper, source, slug))
    };
    let judged = |claim: &'static Claim| {
        let verdict = verdict(paper, claim, origin, records, copies);
        (!verdict.is_not_applicable()).then_some((claim, verdict))
    };
    paper.claims.iter().filter(about).filter_map(judged).collect()
}

fn verdict(paper: &Paper, claim: &Claim, origin: &Origin, records: &[Record], copies: &Copies) -> Verdict {
    let is_wanted = |at: usize| {
        let own = origin.plan.experiments.get(at);
        let own = own.filter(|one| one.paper.as_ref().is_some_and(|of| of.key == paper.key));
        own.is_some_and(|one| claim.from.iter().any(|source| is_of(paper, source, &one.slug)))
    };
    let run = (0, claim.from.len() > 1);
    let rows: Vec<Row> = of_records(origin, records, copies, run, is_wanted);
    judge(claim, &rows, |devices| paper.is_named(claim, devices))
        .unwrap_or(Verdict { shape: None, size: None })
}

/// Whether a source of a shipped paper's claim means the experiment with this slug.
fn is_of(paper: &Paper, source: &Source, slug: &str) -> bool {
    match &source.experiment {
        Some(own) => own == slug,
        None => slugs(&format!("{}/{}", paper.key, source.recipe)).iter().any(|own| own == slug),
    }
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
