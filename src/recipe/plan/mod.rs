//! A resolved recipe, called a plan: experiments, the swept parameters (axes), and one case for each combination
//! of their values, with its identity. Pure.

mod case_filter;
mod catalog;
mod chart;
mod form_model;
mod indices;
mod inline_overrides;
mod maps;
mod overrides;
mod peers;
mod repeats;
mod resolve;
mod title;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::case::peers::Program;
use crate::case::{Case, IndexFile, Params, Value};
use crate::primitives;
use crate::recipe::paper::{self, Known};
use indices::is_whereabouts;

pub use crate::case::chart::{
    Axis, Bars, Ceiling, Chart, ChartScale, Experiment, Paper, Published, Quantity, Scale, Statistic, leads,
};
pub use case_filter::called;
pub use catalog::scale_of;
pub use form_model::{Line as FormLine, Origin, form};
pub use indices::is_of_words;
pub use inline_overrides::{measures_the_same, with_changes_in_titles, with_overrides, with_title};
pub use overrides::Overrides;
pub use resolve::{resolve, resolve_until, resolve_with, slug};

/// Everything that a run will do, in the recipe's order.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The recipe's title.
    pub title: String,
    /// BLAKE3 of the recipe's text, hexadecimal.
    pub recipe_hash: String,
    /// Changes made on the command line, as written there: `--set tuples=1Mi`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// Their cases, experiment by experiment.
    pub cases: Vec<Case>,
    /// The cases that are not measured, because an earlier one is the same measurement in another experiment: the
    /// identity of each, and that of the earlier case.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub repeats: BTreeMap<String, String>,
    /// The claims of each paper that the experiments name, by the paper's key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claims: BTreeMap<String, Known>,
    /// The paper of the recipe's folder, unless it ships with the program. A run keeps a copy of its file.
    #[serde(skip)]
    pub paper: Option<Arc<paper::Paper>>,
    /// The name of the recipe's file, without `.yaml`, in the folder of that paper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The files of indices that the cases name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indices: Vec<IndexFile>,
    /// The peers among the cases that the paper's folder names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<Program>,
}

impl Plan {
    /// The paper with this key, if its file is at hand.
    pub fn paper(&self, key: &str) -> Option<&paper::Paper> {
        self.paper.as_deref().filter(|paper| paper.key == key).or_else(|| paper::find(key))
    }

    /// The quantity on the y axis of a case's chart; the time of a case without an experiment.
    pub fn y_of(&self, case: &Case) -> Quantity {
        self.experiments.get(case.experiment).map_or(Quantity::Time, |one| one.chart.y)
    }

    /// Checks the references between the parts of a plan that somebody else wrote.
    ///
    /// # Errors
    /// Names the key and its value.
    pub fn check(&self) -> Result<(), String> {
        let count = self.experiments.len();
        match self.cases.iter().enumerate().find(|(_, case)| case.experiment >= count) {
            Some((at, case)) => {
                let wrong = case.experiment;
                Err(format!(
                    "plan.cases[{at}].experiment is {wrong}; accepted: below {count}, the number of experiments"
                ))
            }
            None => repeats::check(self),
        }
    }

    /// The start of the recipe's hash, enough to distinguish recipes on a chart or a line.
    pub fn short_hash(&self) -> String {
        const DIGITS: usize = 12;
        self.recipe_hash.chars().take(DIGITS).collect()
    }
}

/// The identity of a case: the first twelve hexadecimal digits of the BLAKE3 hash of its canonical text, with
/// one line each for the version of the definition, the primitive, the seed and every parameter by its full key, sorted.
/// Parameters are written as in the recipe (`threads: auto` keeps the word), so the identity is the same on
/// every machine. A file is represented by the hash of its content, not by its path.
pub fn case_id(primitive: &str, params: &Params, seed: u64) -> String {
    versioned_id(primitives::version(primitive, params), primitive, params, seed)
}

fn versioned_id(version: u32, primitive: &str, params: &Params, seed: u64) -> String {
    let mut text = format!("scatterlab case {version}\nprimitive {primitive}\nseed {seed}\n");
    for (key, value) in params.0.iter().filter(|(key, _)| !is_whereabouts(params, key)) {
        text.push_str(&format!("{key} {}\n", value_text(value)));
    }
    blake3::hash(text.as_bytes()).to_hex()[..12].to_owned()
}

/// The identity that a case's content gives, if the case states another one: then its content is not what it was
/// when the identity was made, by any version of the definition.
pub fn recomputed(case: &Case) -> Option<String> {
    let stated = content_hash(&case.id);
    let of = |version| versioned_id(version, &case.primitive, &case.params, case.seed);
    let current = primitives::version(&case.primitive, &case.params);
    (1..=current).all(|version| of(version) != stated).then(|| of(current))
}

/// A case's identity without the number that makes it unique within its plan.
pub fn content_hash(id: &str) -> &str {
    id.split_once('-').map_or(id, |(hash, _)| hash)
}

/// A value on one line; distinct for distinct values and types.
fn value_text(value: &Value) -> String {
    match value {
        Value::Int(v) => format!("int {v}"),
        Value::Float(v) => format!("float {v:?}"),
        Value::Text(v) => format!("text {v:?}"),
        Value::Indices(v) => format!("indices {}", v.text()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identity_stays_what_it_was() {
        let params = Params::default()
            .with("backend", Value::Text("cpu".to_owned()))
            .with("backend.cpu.threads", Value::Text("auto".to_owned()))
            .with("tuples", Value::Int(16 << 20))
            .with("locations.zipf.exponent", Value::Float(1.0))
            .with("source.custom.indices", Value::Indices(vec![0, 8, 16].into()));
        assert_eq!(case_id("gather", &params, 1), "8c636972cd6a");
    }

    #[test]
    fn everything_that_decides_the_result_is_in_it() {
        let params = Params::default().with("n", Value::Int(1));
        let ids = [
            case_id("gather", &params, 1),
            case_id("scatter", &params, 1),
            case_id("gather", &params, 2),
            case_id("gather", &params.clone().with("m", Value::Int(1)), 1),
            case_id("gather", &params.clone().with("n", Value::Float(1.0)), 1),
            case_id("gather", &params.clone().with("n", Value::Text("1".to_owned())), 1),
            case_id("gather", &params.with("n", Value::Indices(vec![1].into())), 1),
        ];
        let distinct: std::collections::HashSet<&String> = ids.iter().collect();
        assert_eq!(distinct.len(), ids.len());
    }
}
