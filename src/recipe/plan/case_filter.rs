//! `--only CASE,…`: restricts a plan to some cases.

use std::collections::BTreeSet;

use super::{Case, Plan, indices, slug};
use crate::recipe::{ErrorKind, Mistake, Place};

/// Most words that are parts of one label or title, which may have commas.
const PARTS: usize = 4;

/// Number of similar cases that are named if one is unknown.
const NAMED: usize = 3;

/// The cases that a word of `--only` keeps, in the plan's order.
///
/// # Errors
/// No case answers to the word; the error has similar ones.
pub fn called<'p>(plan: &'p Plan, word: &str) -> Result<Vec<&'p Case>, ErrorKind> {
    match answering(plan, word) {
        found if found.is_empty() => Err(unknown(plan, word)),
        found => Ok(found.into_iter().map(|at| &plan.cases[at]).collect()),
    }
}

fn unknown(plan: &Plan, word: &str) -> ErrorKind {
    ErrorKind::UnknownCase { id: word.to_owned(), nearest: nearest(plan, word) }
}

/// Keeps the cases with these identities or labels, those of experiments with these titles, or those whose identities begin
/// with these words, in the plan's order, together with their experiments and index files. An empty list keeps all.
///
/// # Errors
/// The first word that matches no case, with similar ones.
pub(super) fn keep(plan: &mut Plan, wanted: &[String]) -> Result<(), Mistake> {
    if wanted.is_empty() {
        return Ok(());
    }
    let mut chosen = vec![false; plan.cases.len()];
    let mut at = 0;
    while let Some(word) = wanted.get(at) {
        // The longest label or title that begins here counts.
        let ends = (at + 1..=wanted.len().min(at + PARTS)).rev();
        let mut answers = ends.map(|end| (end, answering(plan, &wanted[at..end].join(","))));
        let Some((end, found)) = answers.find(|(_, found)| !found.is_empty()) else {
            return Err(Mistake::new(Place::Only(at), unknown(plan, word)));
        };
        found.into_iter().for_each(|case| chosen[case] = true);
        at = end;
    }
    let mut chosen = chosen.into_iter();
    plan.cases.retain(|_| chosen.next().unwrap_or(false));
    let Plan { cases, indices, .. } = plan;
    indices.retain(|file| cases.iter().any(|case| indices::is_used(file, &case.params)));
    drop_empty_experiments(plan);
    Ok(())
}

/// Positions of the case with this identity, else of all cases with this label or of the experiment with this title,
/// else of all cases whose identities begin with the word.
fn answering(plan: &Plan, word: &str) -> Vec<usize> {
    let at = |is: &dyn Fn(&Case) -> bool| -> Vec<usize> {
        plan.cases.iter().enumerate().filter(|(_, case)| is(case)).map(|(at, _)| at).collect()
    };
    let named = slug(word);
    let ways: [&dyn Fn(&Case) -> bool; 4] = [
        &|case| case.id == word,
        &|case| labels(plan, case).iter().any(|label| label == word),
        &|case| !word.is_empty() && case.id.starts_with(word),
        // The title as it is without changes.
        &|case| plan.experiments.get(case.experiment).is_some_and(|experiment| experiment.slug == named),
    ];
    ways.into_iter().map(at).find(|found| !found.is_empty()).unwrap_or_default()
}

/// Labels of a case: its parameter `label`, the label that distinguishes it within its experiment, this after the
/// experiment's title as runs print it, and the title alone.
fn labels(plan: &Plan, case: &Case) -> Vec<String> {
    let own = case.params.get("label").map(ToString::to_string);
    let told = plan.experiments.get(case.experiment).map(|experiment| {
        let (title, label) = (&experiment.title, experiment.label(case));
        [format!("{title}: {label}"), title.clone(), label]
    });
    own.into_iter().chain(told.into_iter().flatten()).collect()
}

/// Identities and labels whose edit distance is within a third of the word's letters, the nearest first. Of
/// an identity, only a prefix of the word's length is compared.
fn nearest(plan: &Plan, word: &str) -> Vec<String> {
    let word = &word.chars().take(60).collect::<String>().to_lowercase();
    let letters = word.chars().count();
    let distance = |name: &str| strsim::damerau_levenshtein(word, &name.to_lowercase());
    let names = |case: &Case| {
        let start: String = case.id.chars().take(letters).collect();
        let labels = labels(plan, case).into_iter().map(|label| (distance(&label), label));
        labels.chain([(distance(&start), case.id.clone())]).collect::<Vec<_>>()
    };
    let near = plan.cases.iter().flat_map(names).filter(|(distance, _)| *distance <= letters / 3);
    let near: BTreeSet<(usize, String)> = near.collect();
    near.into_iter().take(NAMED).map(|(_, name)| name).collect()
}

/// Removes experiments without cases, which would be drawn as empty charts.
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
    use crate::recipe;
    use crate::recipe::plan::{Overrides, Plan, resolve};

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

    /// Both kinds of labels, which take precedence over the beginning of an identity.
    #[test]
    fn a_label_keeps_the_cases_that_are_called_so() {
        let all = only(&[]).expect("a plan");
        assert_eq!(ids(&only(&["triad"]).expect("a plan")), [&all.cases[3].id]);
        assert_eq!(ids(&only(&["copy"]).expect("a plan")), [&all.cases[0].id, &all.cases[2].id]);
        let labelled = |word: &str| {
            let suite =
                r#"[{"pattern": [0]}, {"pattern": [1]}, {"pattern": [1], "nruns": 2, "name": "far"}]"#;
            let text = crate::spatter::recipe::of_suite("s.json", suite).expect("a suite");
            let recipe = recipe::parse("s.json", &text).expect("a recipe");
            let plan = resolve(&recipe, &Overrides { only: vec![word.to_owned()], ..Overrides::default() });
            plan.map(|plan| {
                plan.cases.iter().map(|case| case.params.get("label").map(ToString::to_string)).collect()
            })
        };
        for word in ["0", "1", "far"] {
            assert_eq!(labelled(word), Ok(vec![Some(word.to_owned())]), "{word}");
        }
    }

    /// Alone it keeps the experiment's cases, with a label the case that runs print so; it may have commas.
    #[test]
    fn a_title_keeps_its_experiment() {
        let all = only(&[]).expect("a plan");
        let second: Vec<&str> = ids(&all)[2..].to_vec();
        assert_eq!(ids(&only(&["Second"]).expect("a plan")), second);
        assert_eq!(ids(&only(&["Second: copy"]).expect("a plan")), second[..1]);
        let text = RECIPE.replace("Second", "Copy, triad, and again");
        let recipe = recipe::parse("two.yaml", &text).expect("a recipe");
        let only = "add,Copy, triad, and again: triad".split(',').map(str::to_owned).collect();
        let plan = resolve(&recipe, &Overrides { only, ..Overrides::default() }).expect("a plan");
        assert_eq!(ids(&plan), [&all.cases[1].id, &all.cases[3].id]);
    }

    #[test]
    fn only_what_is_near_is_called_nearest() {
        let error = |word: &str| only(&[word]).expect_err("no such case");
        assert_eq!(
            error("triadd"),
            "--only triadd: no case `triadd`; nearest: triad (--dry-run lists them all)"
        );
        assert_eq!(error("zzzzzz"), "--only zzzzzz: no case `zzzzzz` (--dry-run lists them all)");
        assert_eq!(error("?"), "--only ?: no case `?` (--dry-run lists them all)");
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
