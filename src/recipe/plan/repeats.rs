//! Cases that experiments of a plan share are measured once and shown in each.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Case, Plan, content_hash};
use crate::case::units::number_of;

impl Plan {
    /// Whether an earlier case is the same measurement, so that this one is only shown.
    pub fn is_repeat(&self, case: &Case) -> bool {
        self.repeats.contains_key(&case.id)
    }

    /// The cases that are measured.
    pub fn measured(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| !self.is_repeat(case))
    }

    /// `7 cases`, or `7 cases (14 with repeats)` if experiments share some.
    pub fn case_count(&self) -> String {
        let (measured, all) = (self.measured().count(), self.cases.len());
        let measured = number_of(measured, "case");
        if self.repeats.is_empty() { measured } else { format!("{measured} ({all} with repeats)") }
    }
}

/// The cases that repeat an earlier one: they are equal in all but their experiment, and both experiments sample alike.
pub(super) fn repeats(plan: &Plan) -> BTreeMap<String, String> {
    let measure = |case: &Case| plan.experiments.get(case.experiment).map(|experiment| &experiment.measure);
    let mut earlier: HashMap<&str, Vec<&Case>> = HashMap::new();
    let mut repeats = BTreeMap::new();
    for case in &plan.cases {
        let known = earlier.entry(content_hash(&case.id)).or_default();
        match known.iter().find(|one| is_same(one, case) && measure(one) == measure(case)) {
            Some(first) => _ = repeats.insert(case.id.clone(), first.id.clone()),
            None => known.push(case),
        }
    }
    repeats
}

fn is_same(one: &Case, other: &Case) -> bool {
    one.primitive == other.primitive && one.params == other.params && one.seed == other.seed
}

/// Checks the repeats of a plan that somebody else wrote. Whether cases of one identity have equal parameters is checked
/// with the identities.
pub(super) fn check(plan: &Plan) -> Result<(), String> {
    let ids: HashSet<&str> = plan.cases.iter().map(|case| case.id.as_str()).collect();
    let fits = |(case, first): &(&String, &String)| {
        let known = ids.contains(case.as_str()) && ids.contains(first.as_str());
        known && content_hash(case) == content_hash(first) && !plan.repeats.contains_key(*first)
    };
    match plan.repeats.iter().find(|pair| !fits(pair)) {
        Some((case, first)) => Err(format!(
            "plan.repeats has {case:?}: {first:?}; accepted: a case, and a measured one of the same identity"
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    fn plan(second: &str, only: &[&str]) -> Plan {
        let experiment = |title: &str, more: &str| {
            format!(
                "- title: {title}\n  stream: {{kernel: [copy, add], elements: 1Ki}}\n  chart: {{x: kernel}}\n{more}"
            )
        };
        let (first, second) = (experiment("First", ""), experiment("Second", second));
        let recipe = recipe::parse("a.yaml", &format!("backend: scalar\nexperiments:\n{first}{second}"));
        let overrides =
            Overrides { only: only.iter().map(|word| word.to_string()).collect(), ..Overrides::default() };
        resolve(&recipe.expect("a recipe"), &overrides).expect("a plan")
    }

    #[test]
    fn what_experiments_share_is_measured_once() {
        let shared = plan("", &[]);
        let ids: Vec<&str> = shared.cases.iter().map(|case| case.id.as_str()).collect();
        let pairs: Vec<(&str, &str)> = shared.repeats.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
        let mut wanted = vec![(ids[2], ids[0]), (ids[3], ids[1])];
        wanted.sort_unstable();
        assert_eq!((pairs, shared.case_count().as_str()), (wanted, "2 cases (4 with repeats)"));
        assert_eq!(shared.check(), Ok(()));
        for other in ["  seed: 7\n", "  measure: {rounds: 9}\n", "  measure: {cache: cold}\n"] {
            let plan = plan(other, &[]);
            assert_eq!((plan.repeats.len(), plan.case_count().as_str()), (0, "4 cases"), "{other}");
        }
        let second = plan("", &["Second"]);
        assert_eq!((second.repeats.len(), second.measured().count()), (0, 2), "the first is not there");
    }

    #[test]
    fn repeats_of_another_hand_are_checked() {
        let mut forged = plan("", &[]);
        let (case, other) = (forged.cases[2].id.clone(), forged.cases[1].id.clone());
        for (case, first) in [(case.clone(), other), ("0123456789ab-2".to_owned(), "0123456789ab".to_owned())]
        {
            forged.repeats = BTreeMap::from([(case.clone(), first)]);
            let error = forged.check().expect_err("refused");
            assert!(error.starts_with(&format!("plan.repeats has {case:?}: ")), "{error}");
        }
    }
}
