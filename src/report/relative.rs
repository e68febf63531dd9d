//! Changes against a baseline: each case is matched with the case that differs from it in a single parameter.

use std::collections::HashMap;

use crate::case::peers::of_backend;
use crate::case::{Case, Value};
use crate::recipe::plan::Quantity;
use crate::run::Record;

/// The key of our methods.
const METHOD: &str = "method";

/// The baselines of one experiment.
pub struct Baseline<'a> {
    key: &'a str,
    value: &'a Value,
    /// Baseline records, by a key of everything that a case shares with its baseline.
    records: HashMap<String, &'a Record>,
}

impl<'a> Baseline<'a> {
    /// Collects the cases of `experiment` whose `key` has `value`.
    pub fn new(key: &'a str, value: &'a Value, experiment: usize, records: &'a [Record]) -> Baseline<'a> {
        let is_baseline = |r: &&Record| r.case.experiment == experiment && is(&r.case, key, value);
        let mut baseline = Baseline { key, value, records: HashMap::new() };
        let records = records.iter().filter(is_baseline).map(|r| (baseline.shared(&r.case), r)).collect();
        baseline.records = records;
        baseline
    }

    /// Whether a case is one of the baselines.
    pub fn contains(&self, case: &Case) -> bool {
        is(case, self.key, self.value)
    }

    /// The quantity of the case's baseline at its median.
    pub fn quantity(&self, case: &Case, quantity: Quantity) -> Option<f64> {
        self.record(case)?.quantity(quantity).filter(|v| v.is_finite() && *v > 0.0)
    }

    /// The record of the case's baseline.
    pub fn record(&self, case: &Case) -> Option<&'a Record> {
        self.records.get(&self.shared(case)).copied()
    }

    /// Everything that determines a case, without the key and the parameters below it (a method's own parameters
    /// do not exist in its baseline). A peer has none of our methods.
    fn shared(&self, case: &Case) -> String {
        let peer = matches!(self.value, Value::Text(word) if of_backend(word).is_some());
        let below = |k: &str, key: &str| {
            k.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let others = case.params.0.iter().filter(|(k, _)| !below(k, self.key));
        let others = others.filter(|(k, _)| !(peer && below(k, METHOD)));
        let words: Vec<String> = others.map(|(k, v)| format!("{k}={v}")).collect();
        format!("{} {} {}", case.primitive, case.seed, words.join(";"))
    }
}

fn is(case: &Case, key: &str, value: &Value) -> bool {
    case.params.get(key) == Some(value)
}
