//! Changes against a baseline: each case is matched with the case that differs from it in a single parameter.

use std::collections::HashMap;

use crate::case::peers::of_backend;
use crate::case::{Case, Value};
use crate::recipe::plan::Chart;
use crate::run::Record;

/// The key of our methods.
const METHOD: &str = "method";

/// The baselines of one experiment.
pub struct Baseline<'a> {
    key: &'a str,
    value: &'a Value,
    /// Its y is that of the baseline, which is the best of as many parameters as the points.
    chart: &'a Chart,
    /// Baseline records, by a key of everything that a case shares with its baseline. There are several of a best.
    records: HashMap<String, Vec<&'a Record>>,
}

impl<'a> Baseline<'a> {
    /// Collects the cases of `experiment` that the chart's y is relative to, if it is.
    pub fn new(chart: &'a Chart, experiment: usize, records: &'a [Record]) -> Option<Baseline<'a>> {
        let (key, value) = chart.relative_to.as_ref()?;
        let is_baseline = |r: &&Record| r.case.experiment == experiment && is(&r.case, key, value);
        let mut baseline = Baseline { key, value, chart, records: HashMap::new() };
        for record in records.iter().filter(is_baseline) {
            baseline.records.entry(baseline.shared(&record.case)).or_default().push(record);
        }
        Some(baseline)
    }

    /// Whether a case is one of the baselines.
    pub fn contains(&self, case: &Case) -> bool {
        is(case, self.key, self.value)
    }

    /// What the chart draws of the case's baseline.
    pub fn quantity(&self, case: &Case) -> Option<f64> {
        self.best(case, |record| record.drawn(self.chart))
    }

    /// The best of the values that `of` finds in the case's baselines; positive.
    pub fn best(&self, case: &Case, of: impl Fn(&Record) -> Option<f64>) -> Option<f64> {
        let values = self.records.get(&self.shared(case))?.iter().filter_map(|record| of(record));
        let values = values.filter(|v| v.is_finite() && *v > 0.0);
        values.reduce(if self.chart.y.is_time() { f64::min } else { f64::max })
    }

    /// Everything that determines a case, without the key and the parameters below it (a method's own parameters
    /// do not exist in its baseline), and without what the chart is the best of. A peer has none of our methods.
    fn shared(&self, case: &Case) -> String {
        let peer = matches!(self.value, Value::Text(word) if of_backend(word).is_some());
        let below = |k: &str, key: &str| {
            k.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        let others = case.params.0.iter().filter(|(k, _)| !below(k, self.key));
        let others = others.filter(|(k, _)| !self.chart.best_of.iter().any(|key| below(k, key)));
        let others = others.filter(|(k, _)| !(peer && below(k, METHOD)));
        let words: Vec<String> = others.map(|(k, v)| format!("{k}={v}")).collect();
        format!("{} {} {}", case.primitive, case.seed, words.join(";"))
    }
}

fn is(case: &Case, key: &str, value: &Value) -> bool {
    case.params.get(key) == Some(value)
}
