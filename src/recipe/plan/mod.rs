//! What a recipe means: experiments, axes and the cases they multiply to. Pure.

mod case_filter;
mod catalog;
mod chart;
mod form_model;
mod identity;
mod indices;
mod inline_overrides;
mod overrides;
mod peers;
mod resolve;

use serde::{Deserialize, Serialize};

use crate::case::{Case, IndexFile, Measure, Value, units};

pub use form_model::{Line as FormLine, Origin, form};
pub use identity::case_id;
pub use inline_overrides::{fold, same, titled};
pub use overrides::Overrides;
pub use resolve::{resolve, resolve_with, slug};

/// What one axis of a sweep looks like on a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal steps (`a..b +k`, or a list of numbers in no constant ratio).
    Linear,
    /// Equal ratios (`a..b xk`, or a list of numbers in a constant ratio).
    Log,
    /// Names.
    Category,
}

/// A parameter that takes several values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Full dotted key, as in [`Params`](crate::case::Params).
    pub key: String,
    /// The name people use: the key's last word, longer where that is ambiguous.
    pub name: String,
    /// The values in the recipe's order, without repeats.
    pub values: Vec<Value>,
    /// How to draw it.
    pub scale: Scale,
    /// Whether its integers are sizes in bytes.
    pub bytes: bool,
}

/// The quantity on a chart's y axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Effective bandwidth, GB/s.
    Bandwidth,
    /// System bandwidth, GB/s: the data tuples and the locations.
    SystemBandwidth,
    /// Time of one execution, seconds.
    Time,
    /// Elements per second.
    Throughput,
}

/// What lies over a chart's points as a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// What a plain copy reached on the same device in the same run.
    Copy,
    /// The bytes of the primitive's parallel model at that rate.
    SpeedOfLight,
}

/// How an experiment is drawn.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Full key of the parameter on x. Where it belongs to a variant (`passes` of
    /// `multipass`), cases of other variants lack it: each of those is a reference
    /// without a place on x, to be drawn as a horizontal line.
    pub x: String,
    /// What is on y.
    pub y: Quantity,
    /// Keys whose values tell one line from another.
    pub lines: Vec<String>,
    /// Keys whose values tell one panel from another.
    pub panels: Vec<String>,
    /// A key and the value of it that is the baseline: y becomes the change
    /// against the baseline in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<(String, Value)>,
    /// A line across the chart for each backend, where y is a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Names of the models whose predictions are drawn; `None`: the usual one, where there is
    /// a profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
}

/// The paper and the claim that an experiment is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Paper {
    /// `he2007`, `sengupta2007`, `ashkiani2017` or `lavin2020`.
    pub key: String,
    /// Figure number or letter, if the recipe replays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Table number, if the recipe replays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// What the paper says of it, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// One experiment: a primitive, what is swept, and how it is drawn and sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    /// Title over the chart.
    pub title: String,
    /// Lower-case words joined by dashes: the stem of this experiment's files.
    pub slug: String,
    /// Registry name of the primitive.
    pub primitive: String,
    /// The paper it replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Paper>,
    /// Swept parameters, the recipe's order.
    pub axes: Vec<Axis>,
    /// How it is drawn.
    pub chart: Chart,
    /// How it is sampled.
    pub measure: Measure,
}

/// Everything a run will do, in the recipe's order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The recipe's title.
    pub title: String,
    /// BLAKE3 of the recipe's text, hexadecimal.
    pub recipe_hash: String,
    /// What the command line changed of the recipe, as written there: `--set tuples=1Mi`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub overrides: Vec<String>,
    /// The experiments.
    pub experiments: Vec<Experiment>,
    /// Their cases, experiment by experiment.
    pub cases: Vec<Case>,
    /// The files of indices that the cases name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub indices: Vec<IndexFile>,
}

impl Plan {
    /// The start of the recipe's hash, enough to tell recipes apart on a chart or a line.
    pub fn short_hash(&self) -> String {
        const DIGITS: usize = 12;
        self.recipe_hash.chars().take(DIGITS).collect()
    }
}

impl Experiment {
    /// What tells this case from the experiment's others: `cpu · passes 4`.
    pub fn label(&self, case: &Case) -> String {
        let words: Vec<String> = self.axes.iter().filter_map(|axis| axis.label(case)).collect();
        if words.is_empty() {
            format!("{} · {}", case.backend(), case.primitive)
        } else {
            words.join(" · ")
        }
    }
}

impl Axis {
    /// `passes 4`, `tuple 8 B`, `cpu`: a name stands alone, a number with the axis's name.
    fn label(&self, case: &Case) -> Option<String> {
        let value = case.params.get(&self.key)?;
        Some(match value {
            Value::Text(name) => name.clone(),
            Value::Int(bytes) if self.bytes => format!("{} {}", self.name, units::label_bytes(*bytes)),
            Value::Int(count) => format!("{} {}", self.name, units::label_count(*count)),
            other => format!("{} {other}", self.name),
        })
    }
}
