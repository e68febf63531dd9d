//! The words of charts: an experiment, the axes that it sweeps, and how it is drawn. A recipe says them, a plan holds them,
//! and every report reads them.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::published::Table;
use super::{Case, Measure, Params, Value, units};

/// Scale of a swept axis on a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scale {
    /// Equal distances.
    Linear,
    /// Equal ratios.
    Log,
    /// Category names.
    Category,
}

/// A parameter that takes several values.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Axis {
    /// Full dotted key, as in [`Params`].
    pub key: String,
    /// The short name shown to people: the key's last word, or more words if that is ambiguous.
    pub name: String,
    /// The values in the recipe's order, without repetitions.
    pub values: Vec<Value>,
    /// Scale of the axis on a chart that says nothing else.
    pub scale: Scale,
    /// True if its integers are sizes in bytes.
    pub bytes: bool,
    /// The parameters that each of the `values` sets, if the axis is a choice of one-key maps that differ in several
    /// parameters: the values are then the maps' labels. Else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub maps: Vec<Params>,
}

/// The quantity on a chart's y axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Quantity {
    /// Effective bandwidth, GB/s: [`Work::effective_bytes`](crate::case::Work::effective_bytes) over the time.
    Bandwidth,
    /// System bandwidth, GB/s: [`Work::system_bytes`](crate::case::Work::system_bytes) over the time. For a
    /// gather or scatter these are the data read, the data written, and the array of indices.
    SystemBandwidth,
    /// Time of one execution, seconds.
    Time,
    /// Time of one execution, and of moving its inputs to the device and its results back, seconds.
    TimeWithTransfer,
    /// Elements per second.
    Throughput,
    /// Floating-point operations per second, of a primitive that counts them.
    Flops,
    /// Floating-point operations over the time of one execution and of moving its inputs and results.
    FlopsWithTransfer,
}

impl Quantity {
    /// True if the smaller of two values is the better one.
    pub fn is_time(self) -> bool {
        matches!(self, Quantity::Time | Quantity::TimeWithTransfer)
    }

    /// True if the time of transfers counts, which must be measured and which no model predicts.
    pub fn with_transfer(self) -> bool {
        matches!(self, Quantity::TimeWithTransfer | Quantity::FlopsWithTransfer)
    }

    /// True if only primitives that count floating-point operations have it.
    pub fn counts_flops(self) -> bool {
        matches!(self, Quantity::Flops | Quantity::FlopsWithTransfer)
    }
}

/// The time of a case that a chart's points stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Statistic {
    /// The median of the rounds' medians.
    #[default]
    Median,
    /// The fastest sample of all rounds (lavin2020 §4: the fastest of 10 runs).
    Fastest,
}

impl Statistic {
    /// True if the recipe says nothing.
    pub fn is_default(&self) -> bool {
        *self == Statistic::default()
    }
}

/// Upper limit drawn over a chart's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ceiling {
    /// The rate of a plain copy on the same device in the same run.
    Copy,
    /// The rate of an execution that only moves the bytes of [`SpeedOfLight`](crate::case::SpeedOfLight), at the
    /// copy rate.
    SpeedOfLight,
}

impl Ceiling {
    /// True if the ceiling can be drawn over this quantity: a copy's rate is in GB/s, the speed of light is any rate.
    pub fn suits(self, y: Quantity) -> bool {
        match y {
            Quantity::Bandwidth | Quantity::SystemBandwidth => true,
            Quantity::Throughput => self == Ceiling::SpeedOfLight,
            Quantity::Time | Quantity::TimeWithTransfer | Quantity::Flops | Quantity::FlopsWithTransfer => {
                false
            }
        }
    }
}

/// Bars through the points of a chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Bars {
    /// From the 5th to the 95th percentile of the samples.
    #[serde(rename = "p5-p95")]
    Percentiles,
    /// From the smallest to the largest sample.
    #[serde(rename = "range")]
    Range,
    #[serde(rename = "none")]
    Nothing,
}

impl Bars {
    /// The words for the bars, as recipes and command lines have them.
    pub const WORDS: [(&str, Bars); 3] =
        [("p5-p95", Bars::Percentiles), ("range", Bars::Range), ("none", Bars::Nothing)];
}

/// Spacing of a chart's axes, as far as its recipe gives it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChartScale {
    /// `None`: the swept values tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub x: Option<Scale>,
    /// `None`: the measured values tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<Scale>,
}

impl ChartScale {
    /// True if the recipe says nothing.
    pub fn is_default(&self) -> bool {
        *self == ChartScale::default()
    }
}

/// Chart of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Chart {
    /// Full key of the parameter on x. If it belongs to a variant (`passes` of `multipass`), cases of other
    /// variants lack it: each of these is a reference without an x value, drawn as a horizontal line.
    pub x: String,
    /// Quantity on y.
    pub y: Quantity,
    /// The time of each case from which y follows.
    #[serde(default, skip_serializing_if = "Statistic::is_default")]
    pub statistic: Statistic,
    /// Keys of the swept parameters that split the cases into lines: one line per combination of values.
    pub lines: Vec<String>,
    /// Keys of the swept parameters that split the cases into panels: one panel per combination of values.
    pub panels: Vec<String>,
    /// Keys of the swept parameters over which each point is the best case: the one with the shortest time or the
    /// highest rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub best_of: Vec<String>,
    /// Spacing of the axes.
    #[serde(default, skip_serializing_if = "ChartScale::is_default")]
    pub scale: ChartScale,
    /// A key and its baseline value: y becomes the change against the baseline in per cent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relative_to: Option<(String, Value)>,
    /// True if y is the ratio to the baseline instead.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ratio: bool,
    /// The ceiling to draw for each backend, if y is a rate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ceiling: Option<Ceiling>,
    /// Names of the models whose predictions are drawn; `None`: `model::DEFAULT_MODEL`, if there is a
    /// profile of the device.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub models: Option<Vec<String>>,
    /// The bars through the points; `None`: percentiles of a case with enough samples for them, else the range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bars: Option<Bars>,
    /// Values that a paper prints of the same cases, drawn beside the points.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overlay: Option<Published>,
}

/// Values that a paper prints.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Published {
    /// The paper's key, and the table in its folder: `ashkiani2017/published/table05.csv`.
    pub file: String,
    /// The machine in the table: `GTX 1080`.
    pub platform: String,
    /// The table, if it is in the recipe's folder or in that of a run; tables that ship with the program are found by
    /// their names.
    #[serde(skip)]
    pub table: Option<Arc<Table>>,
}

impl PartialEq for Published {
    /// Whether the same is drawn, wherever its table was found.
    fn eq(&self, other: &Published) -> bool {
        (&self.file, &self.platform) == (&other.file, &other.platform)
    }
}

/// The paper and the claim that an experiment examines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paper {
    /// The paper's citation key, which is the name of its folder: `he2007`.
    pub key: String,
    /// Figure number or letter, if the recipe replays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub figure: Option<String>,
    /// Table number, if the recipe replays one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub table: Option<String>,
    /// The paper's claim, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

/// One experiment: a primitive, what is swept, and how it is drawn and sampled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Experiment {
    /// Title over the chart.
    pub title: String,
    /// Lower-case words joined by hyphens: the stem of this experiment's files.
    pub slug: String,
    /// Name of the primitive, as in [`registry()`](fn@crate::primitives::registry).
    pub primitive: String,
    /// The paper that the experiment replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paper: Option<Paper>,
    /// Swept parameters, in the recipe's order.
    pub axes: Vec<Axis>,
    /// The quantities on x and y, and how cases form lines and panels.
    pub chart: Chart,
    /// How often each case is sampled, in what order, and when it is done.
    pub measure: Measure,
}

impl Experiment {
    /// A label that distinguishes this case within its experiment: `cpu · passes 4`.
    pub fn label(&self, case: &Case) -> String {
        let told = |axis: &&Axis| !leads(case, &axis.key, self.axes.iter());
        let words: Vec<String> = self.axes.iter().filter(told).filter_map(|axis| axis.label(case)).collect();
        if words.is_empty() {
            format!("{} · {}", case.backend(), case.primitive)
        } else {
            words.join(" · ")
        }
    }
}

/// True of a key whose value is a word that one of these axes repeats before its number: `he2007` before `he2007 4`.
pub fn leads<'a>(case: &Case, key: &str, axes: impl Iterator<Item = &'a Axis>) -> bool {
    let Some(word) = case.params.text(key) else { return false };
    let below = format!("{key}.{word}.");
    axes.filter(|axis| axis.key.starts_with(&below) && axis.name == word)
        .any(|axis| matches!(case.params.get(&axis.key), Some(Value::Int(_) | Value::Float(_))))
}

impl Axis {
    /// The case's value of this axis.
    pub fn value<'a>(&'a self, case: &'a Case) -> Option<&'a Value> {
        if self.maps.is_empty() {
            return case.params.get(&self.key);
        }
        let sets = |map: &Params| map.0.iter().all(|(key, value)| case.params.get(key) == Some(value));
        let chosen = self.maps.iter().enumerate().filter(|(_, map)| sets(map));
        // A map may set all that another one sets, and more.
        chosen.max_by_key(|(_, map)| map.0.len()).and_then(|(at, _)| self.values.get(at))
    }

    /// `passes 4`, `tuple 8 B`, `cpu`: a word stands alone, a number follows the axis's name.
    fn label(&self, case: &Case) -> Option<String> {
        Some(match self.value(case)? {
            Value::Text(name) => name.clone(),
            Value::Int(bytes) if self.bytes => format!("{} {}", self.name, units::label_bytes(*bytes)),
            Value::Int(count) => format!("{} {}", self.name, units::label_count(*count)),
            other => format!("{} {other}", self.name),
        })
    }
}

/// All models, in the order of the documentation.
pub const MODELS: [&str; 2] = ["he2007", "sector"];
