//! `--only CASE,…`: some of a plan's cases.

use super::{Case, Plan, indices};
use crate::recipe::{Mistake, Place, Problem};

/// So many identities are named where one is unknown.
const NAMED: usize = 3;

/// Keeps the cases with these identities, or whose identities begin so, in the plan's
/// order, and the experiments and the index files that still have any. Nothing wanted keeps
/// all.
///
/// # Errors
/// The first word that no case answers to, with the identities nearest to it.
pub(super) fn keep(plan: &mut Plan, wanted: &[String]) -> Result<(), Mistake> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut chosen = vec![false; plan.cases.len()];
    for (at, word) in wanted.iter().enumerate() {
        let found = answering(&plan.cases, word);
        if found.is_empty() {
            let nearest = nearest(&plan.cases, word);
            return Err(Mistake::new(Place::Only(at), Problem::UnknownCase { id: word.clone(), nearest }));
        }
        found.into_iter().for_each(|case| chosen[case] = true);
    }
    let mut chosen = chosen.into_iter();
    plan.cases.retain(|_| chosen.next().unwrap_or(false));
    let Plan { cases, indices, .. } = plan;
    indices.retain(|file| cases.iter().any(|case| indices::is_used(file, &case.params)));
    drop_empty_experiments(plan);
    Ok(())
}

/// Positions of the case of this identity, or else of all whose identities begin so.
fn answering(cases: &[Case], word: &str) -> Vec<usize> {
    let at = |is: &dyn Fn(&Case) -> bool| -> Vec<usize> {
        cases.iter().enumerate().filter(|(_, case)| is(case)).map(|(at, _)| at).collect()
    };
    let exact = at(&|case| case.id == word);
    if exact.is_empty() && !word.is_empty() { at(&|case| case.id.starts_with(word)) } else { exact }
}

/// The nearest first. Of an identity, as much is compared as was written.
fn nearest(cases: &[Case], word: &str) -> String {
    let word = &word.chars().take(60).collect::<String>();
    let distance = |case: &Case| {
        let start: String = case.id.chars().take(word.chars().count()).collect();
        strsim::damerau_levenshtein(word, &start)
    };
    let mut ids: Vec<(usize, &str)> = cases.iter().map(|case| (distance(case), case.id.as_str())).collect();
    ids.sort_unstable();
    ids.into_iter().take(NAMED).map(|(_, id)| id).collect::<Vec<_>>().join(", ")
}

/// An experiment without cases would be drawn as an empty chart.
fn drop_empty_experiments(plan: &mut Plan) {
    let used: Vec<bool> =
        (0..plan.experiments.len()).map(|at| plan.cases.iter().any(|case| case.experiment == at)).collect();
    let before = |at: usize| used[..at].iter().filter(|used| **used).count();
    plan.cases.iter_mut().for_each(|case| case.experiment = before(case.experiment));
    let mut kept = used.iter();
    plan.experiments.retain(|_| kept.next().is_some_and(|used| *used));
}

#[cfg(test)]
mod tests {
    use crate::plan::{Overrides, Plan, resolve};
    use crate::recipe;

    const RECIPE: &str = "\
title: Two
experiments:
- title: First
  stream: {kernel: [copy, add], elements: 1Ki}
  backend: scalar
  chart: {x: kernel}
- title: Second
  stream: {kernel: [copy, triad], elements: 1Ki}
  backend: scalar
  chart: {x: kernel}
";

    fn only(words: &[&str]) -> Result<Plan, String> {
        let recipe = recipe::parse("two.yaml", RECIPE).expect("a recipe");
        let only = words.iter().map(|word| (*word).to_owned()).collect();
        let overrides = Overrides { only, ..Overrides::default() };
        resolve(&recipe, &overrides).map_err(|error| error.to_string())
    }

    fn ids(plan: &Plan) -> Vec<&str> {
        plan.cases.iter().map(|case| case.id.as_str()).collect()
    }

    #[test]
    fn an_identity_keeps_its_case_and_a_beginning_all_that_begin_so() {
        let all = only(&[]).expect("a plan");
        let (copy, add, again) = (&all.cases[0].id, &all.cases[1].id, &all.cases[2].id);
        assert_eq!(again, &format!("{copy}-2"), "the second experiment repeats the copy");
        assert_eq!(ids(&only(&[copy]).expect("a plan")), [copy]);
        assert_eq!(ids(&only(&[&copy[..8]]).expect("a plan")), [copy, again]);
        assert_eq!(ids(&only(&[add, copy]).expect("a plan")), [copy, add], "the plan's order");
    }

    #[test]
    fn experiments_without_cases_are_left_out_and_the_words_stay_on_file() {
        let all = only(&[]).expect("a plan");
        let triad = &all.cases[3];
        let plan = only(&[&triad.id]).expect("a plan");
        assert_eq!(plan.experiments.len(), 1);
        assert_eq!(plan.experiments[plan.cases[0].experiment].title, "Second");
        assert_eq!(plan.cases[0].params, triad.params);
        assert_eq!(plan.overrides, [format!("--only {}", triad.id)]);
    }

    #[test]
    fn an_unknown_identity_is_answered_with_the_nearest() {
        let all = only(&[]).expect("a plan");
        let id = &all.cases[1].id;
        let wrong = format!("{}z", &id[..5]);
        let error = only(&[&wrong]).expect_err("no such case");
        assert!(error.starts_with(&format!("--only {wrong}: no case")), "{error}");
        assert!(error.contains(&format!("nearest: {id}")), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(only(&[""]).is_err(), "nothing is no beginning");
    }
}
