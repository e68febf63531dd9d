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
