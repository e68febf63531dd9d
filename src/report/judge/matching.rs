//! Matches the cases of one run with those of another.

use std::collections::{HashMap, HashSet};

use crate::case::Case;
use crate::recipe::plan::Plan;

/// Properties that two matched cases share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matched {
    /// Primitive, seed and all parameters.
    Identity,
    /// Everything except the backend and its parameters.
    ExceptBackend,
}

impl Matched {
    /// `identity` or `except-backend`, as in files.
    pub fn word(self) -> &'static str {
        match self {
            Matched::Identity => "identity",
            Matched::ExceptBackend => "except-backend",
        }
    }
}

/// Two cases that are compared, by their positions in their plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    pub baseline: usize,
    pub other: usize,
    pub matched: Matched,
}

/// Matching of the cases of two plans: pairs in the baseline's order, and unmatched cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    pub pairs: Vec<Pair>,
    pub only_baseline: Vec<usize>,
    pub only_other: Vec<usize>,
}

/// Matches cases by identity, then the rest by everything except the backend. If several cases on both sides
/// differ only in the backend, the assignment is ambiguous, and they stay unmatched; one against several is
/// compared with each.
pub fn matching(baseline: &Plan, other: &Plan) -> Matching {
    let mut open = Open {
        a: &baseline.cases,
        b: &other.cases,
        free_a: (0..baseline.cases.len()).collect(),
        free_b: (0..other.cases.len()).collect(),
        pairs: Vec::new(),
    };
    open.one_to_one(|case| case.id.clone());
    // A case that belongs to several experiments may match its copy in another experiment.
    open.one_to_one(|case| case.id.split('-').next().unwrap_or_default().to_owned());
    open.across_backends();
    open.pairs.sort_by_key(|pair| (pair.baseline, pair.other));
    Matching { pairs: open.pairs, only_baseline: open.free_a, only_other: open.free_b }
}

struct Open<'a> {
    a: &'a [Case],
    b: &'a [Case],
    free_a: Vec<usize>,
    free_b: Vec<usize>,
    pairs: Vec<Pair>,
}

impl Open<'_> {
    /// Pairs cases of the same name in order: the first with the first, the second with the second …
    fn one_to_one(&mut self, name: impl Fn(&Case) -> String) {
        let mut named = groups(self.b, &self.free_b, &name);
        named.values_mut().for_each(|places| places.reverse());
        for baseline in std::mem::take(&mut self.free_a) {
            match named.get_mut(&name(&self.a[baseline])).and_then(Vec::pop) {
                Some(other) => self.pairs.push(Pair { baseline, other, matched: Matched::Identity }),
                None => self.free_a.push(baseline),
            }
        }
        let left: HashSet<usize> = named.into_values().flatten().collect();
        self.free_b.retain(|at| left.contains(at));
    }

    fn across_backends(&mut self) {
        let (a, b) =
            (groups(self.a, &self.free_a, &without_backend), groups(self.b, &self.free_b, &without_backend));
        for (name, ours) in a {
            let Some(theirs) = b.get(&name).filter(|theirs| ours.len() == 1 || theirs.len() == 1) else {
                continue;
            };
            let matched = Matched::ExceptBackend;
            for &baseline in &ours {
                self.pairs.extend(theirs.iter().map(|&other| Pair { baseline, other, matched }));
            }
        }
        let (used_a, used_b): (HashSet<usize>, HashSet<usize>) =
            self.pairs.iter().map(|pair| (pair.baseline, pair.other)).unzip();
        self.free_a.retain(|at| !used_a.contains(at));
        self.free_b.retain(|at| !used_b.contains(at));
    }
}

/// Positions of cases by a name, in the plan's order.
fn groups(cases: &[Case], free: &[usize], name: &impl Fn(&Case) -> String) -> HashMap<String, Vec<usize>> {
    let mut groups: HashMap<String, Vec<usize>> = HashMap::new();
    free.iter().for_each(|&at| groups.entry(name(&cases[at])).or_default().push(at));
    groups
}

/// A key of everything that determines a case except the backend and its parameters.
fn without_backend(case: &Case) -> String {
    let others = case.params.0.iter().filter(|(key, _)| *key != "backend" && !key.starts_with("backend."));
    let words: Vec<String> = others.map(|(key, value)| format!("{key} {value:?}")).collect();
    format!("{} {} {}", case.primitive, case.seed, words.join("\n"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::case::{Params, Value};
    use crate::recipe::plan::case_id;
    use crate::report::series::tests::plan;

    fn case(backend: &str, n: u64) -> Case {
        let params = Params::default()
            .with("backend", Value::Text(backend.to_owned()))
            .with(&format!("backend.{backend}.threads"), Value::Int(4))
            .with("n", Value::Int(n));
        let (id, primitive) = (case_id("gather", &params, 1), "gather".to_owned());
        Case { id, experiment: 0, primitive, params, seed: 1, not_applicable: None }
    }

    fn of(cases: &[(&str, u64)]) -> Plan {
        let cases = cases.iter().map(|(backend, n)| case(backend, *n)).collect();
        Plan { cases, ..plan(vec![], "n", &[]) }
    }

    fn pairs(m: &Matching) -> Vec<(usize, usize, Matched)> {
        m.pairs.iter().map(|p| (p.baseline, p.other, p.matched)).collect()
    }

    #[test]
    fn identity_comes_first_and_the_backend_may_differ() {
        use Matched::{ExceptBackend, Identity};
        let (a, b) =
            (of(&[("cpu", 1), ("cpu", 2), ("scalar", 3)]), of(&[("cuda", 2), ("cpu", 1), ("cpu", 4)]));
        let m = matching(&a, &b);
        assert_eq!(pairs(&m), [(0, 1, Identity), (1, 0, ExceptBackend)]);
        assert_eq!((m.only_baseline, m.only_other), (vec![2], vec![2]));
    }

    #[test]
    fn one_is_compared_with_several_and_several_with_several_are_not_guessed() {
        let m = matching(&of(&[("cpu", 1)]), &of(&[("cuda", 1), ("scalar", 1)]));
        assert_eq!(m.pairs.len(), 2);
        let m = matching(&of(&[("cpu", 1), ("other", 1)]), &of(&[("cuda", 1), ("scalar", 1)]));
        assert!(m.pairs.is_empty());
        assert_eq!((m.only_baseline, m.only_other), (vec![0, 1], vec![0, 1]));
        let m = matching(&of(&[("cpu", 1)]), &of(&[("cpu", 1), ("cuda", 1)]));
        assert_eq!((m.pairs.len(), m.only_other), (1, vec![1]), "what is matched already is not used again");
    }

    #[test]
    fn a_repeated_case_is_found_under_another_number() {
        let mut a = of(&[("cpu", 1), ("cpu", 1)]);
        a.cases[1].id.push_str("-2");
        let mut b = a.clone();
        b.cases[1].id = b.cases[1].id.replace("-2", "-5");
        assert_eq!(pairs(&matching(&a, &b)), [(0, 0, Matched::Identity), (1, 1, Matched::Identity)]);
    }

    proptest! {
        #[test]
        fn no_case_is_lost_or_used_for_two(
            a in proptest::collection::vec((0usize..3, 0u64..6), 0..12),
            b in proptest::collection::vec((0usize..3, 0u64..6), 0..12),
        ) {
            let plan = |cases: &[(usize, u64)]| {
                let named: Vec<(&str, u64)> = cases.iter().map(|(k, n)| (["scalar", "cpu", "cuda"][*k], *n)).collect();
                of(&named)
            };
            let m = matching(&plan(&a), &plan(&b));
            let count = |places: Vec<usize>, n: usize| (0..n).all(|at| places.contains(&at));
            let all_a = m.pairs.iter().map(|p| p.baseline).chain(m.only_baseline.clone()).collect();
            let all_b = m.pairs.iter().map(|p| p.other).chain(m.only_other.clone()).collect();
            prop_assert!(count(all_a, a.len()) && count(all_b, b.len()));
            for pair in m.pairs.iter().filter(|p| p.matched == Matched::Identity) {
                let uses = m.pairs.iter().filter(|p| p.baseline == pair.baseline || p.other == pair.other);
                prop_assert_eq!(uses.count(), 1);
            }
        }
    }
}
