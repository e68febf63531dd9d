//! The cases of recipes as a suite: of each computation that a recipe sets up, the largest one that is not too large.

use std::collections::BTreeMap;

use crate::case::{Case, Value};
use crate::inputs::mix::{mix64, word64};
use crate::primitives;
use crate::recipe::plan::Plan;

/// The parameters that hold how much of the same a case computes: two cases that differ in these alone are one computation
/// at two sizes.
const SIZES: [&str; 10] = [
    "tuples",
    "elements",
    "accesses",
    "footprint",
    "keys",
    "records",
    "rows",
    "columns",
    "vertices",
    "count",
];

/// And those of a matrix.
const SIZES_OF_MATRICES: [&str; 3] = ["rows", "side", "scale"];

fn is_size(key: &str) -> bool {
    let of_matrix = key.strip_prefix("matrix.").and_then(|key| key.rsplit('.').next());
    SIZES.contains(&key) || of_matrix.is_some_and(|name| SIZES_OF_MATRICES.contains(&name))
}

/// Bytes of the arrays that a case declares; `None` if that is not known before it runs.
fn bytes(case: &Case) -> Option<u64> {
    primitives::work(case, &[]).map(|work| work.footprint)
}

/// Primitive and parameters without the sizes.
fn computation(case: &Case) -> String {
    let params =
        case.params.0.iter().filter(|(key, value)| !(is_size(key) && matches!(value, Value::Int(_))));
    let words: Vec<String> = params.map(|(key, value)| format!("{key}={value}")).collect();
    format!("{} {}", case.primitive, words.join(" "))
}

/// The place of a case in the order of the seed.
fn draw(case: &Case, seed: u64) -> u64 {
    case.id.bytes().fold(word64(seed, 0), |key, byte| mix64(key ^ u64::from(byte)))
}

/// Joins plans into one of a backend's own cases, in the order of the seed: of each computation the largest case of at most
/// `largest` bytes. Left out are peers, cases that no device can run, and those whose method a model must choose, which becomes
/// one of the other methods.
pub fn joined(plans: impl IntoIterator<Item = Plan>, backend: &str, largest: u64, seed: u64) -> Option<Plan> {
    let mut all: Option<Plan> = None;
    let mut chosen: BTreeMap<String, (u64, Case)> = BTreeMap::new();
    for plan in plans {
        let before = all.as_ref().map_or(0, |all| all.experiments.len());
        for case in &plan.cases {
            let open = !primitives::method_candidates(case).is_empty();
            if case.backend() != backend || case.not_applicable.is_some() || open {
                continue;
            }
            let Some(bytes) = bytes(case).filter(|bytes| *bytes <= largest) else { continue };
            let entry = chosen.entry(computation(case));
            let case = Case { experiment: before + case.experiment, ..case.clone() };
            let known = entry.or_insert_with(|| (bytes, case.clone()));
            if bytes > known.0 {
                *known = (bytes, case);
            }
        }
        match &mut all {
            None => all = Some(Plan { cases: Vec::new(), ..plan }),
            Some(all) => {
                all.experiments.extend(plan.experiments);
                all.indices.extend(plan.indices);
            }
        }
    }
    let mut plan = all?;
    plan.cases = chosen.into_values().map(|(_, case)| case).collect();
    plan.cases.sort_by_key(|case| draw(case, seed));
    Some(plan)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;
    use crate::recipe::plan::{self, Overrides};

    fn plan_of(text: &str) -> Plan {
        let recipe = recipe::parse("x.yaml", text).expect("a recipe");
        plan::resolve(&recipe, &Overrides::default()).expect("a plan")
    }

    fn copies(samples: u32, sizes: &str) -> Plan {
        plan_of(&format!(
            "stream: {{kernel: [copy, scale], elements: {sizes}}}\nbackend: [cpu, scalar]\n\
             chart: {{x: elements, y: time, lines: [kernel, backend]}}\nmeasure: {{samples: {samples}}}\n"
        ))
    }

    fn sizes(plan: &Plan) -> Vec<(u64, u32)> {
        let size = |case: &Case| {
            let samples = plan.experiments[case.experiment].measure.samples;
            (case.params.int("elements").expect("a size"), samples)
        };
        let mut sizes: Vec<_> = plan.cases.iter().map(size).collect();
        sizes.sort_unstable();
        sizes
    }

    #[test]
    fn of_each_computation_the_largest_size_that_is_not_too_large_is_taken_with_its_own_measure() {
        let plans = || [copies(3, "[1000, 4000]"), copies(4, "[2000, 3000, 100000]")];
        let joined_up_to = |largest| joined(plans(), "cpu", largest, 1).expect("plans");
        // Two arrays of 8 bytes an element.
        assert_eq!(sizes(&joined_up_to(16 * 3999)), [(3000, 4), (3000, 4)]);
        assert_eq!(sizes(&joined_up_to(16 * 4000)), [(4000, 3), (4000, 3)]);
        assert_eq!(sizes(&joined_up_to(1 << 30)), [(100_000, 4), (100_000, 4)]);
        assert_eq!(joined_up_to(8).cases, []);
        assert!(joined_up_to(1 << 30).cases.iter().all(|case| case.backend() == "cpu"));
        assert!(joined([], "cpu", 1 << 30, 1).is_none());
    }

    #[test]
    fn the_seed_decides_the_order_and_nothing_else() {
        let ids = |seed| -> Vec<String> {
            let text = "stream: {kernel: [read, write, copy, scale, add, triad], elements: [1000, 2000]}\n\
                        backend: cpu\nchart: {x: elements, y: time, lines: kernel}\n";
            let plan = joined([plan_of(text)], "cpu", 1 << 30, seed).expect("a plan");
            plan.cases.into_iter().map(|case| case.id).collect()
        };
        let sorted = |mut ids: Vec<String>| {
            ids.sort();
            ids
        };
        assert_eq!(ids(1), ids(1));
        assert!((2..9).any(|seed| ids(seed) != ids(1)));
        assert_eq!(sorted(ids(1)), sorted(ids(2)));
    }

    #[test]
    fn the_sizes_of_matrices_are_sizes_and_the_parameters_of_methods_are_not() {
        assert!(is_size("elements") && is_size("matrix.laplace5.side") && is_size("matrix.rmat.scale"));
        assert!(!is_size("method.multipass.passes") && !is_size("locations.partitions.count"));
        assert!(!is_size("steps") && !is_size("matrix.random.entries"));
    }
}
