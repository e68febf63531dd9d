//! How an experiment is sampled.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The sampling of an experiment: rounds with fresh allocations, until the medians of the rounds agree well
/// enough ([`crate::stats::verdict`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub struct Measure {
    /// Least number of rounds of every case.
    pub rounds: u32,
    /// Largest number of rounds of any case.
    pub max_rounds: u32,
    /// Samples per round, after an untimed warm-up.
    pub samples: u32,
    /// Least number of untimed executions before the samples; `None`: the one or two that the engine needs to
    /// estimate their duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<u32>,
    /// Relative half-width of the 95% confidence interval of the rounds' medians at which a case is done;
    /// `None`: always `rounds` rounds.
    pub ci: Option<f64>,
    /// The fewest rounds whose interval may end a case, though the recipe asks for fewer: one over three or four rounds
    /// is narrow by chance too often. Plans of older versions ended a case from three rounds on.
    #[serde(default = "three", skip_serializing_if = "is_three")]
    pub precise_from: u32,
    /// Seconds per case, including preparation, that no round beyond the first `rounds` and no second attempt may
    /// exceed if it takes as long as the longest before it.
    pub budget: f64,
    /// Seconds, preparation included, at which a case that does not have its `rounds` yet fails, even in the middle of
    /// one; `None`: [`Measure::limit()`] decides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// Seconds of the whole run after which no case of this experiment gets another round; the cases whose intervals
    /// are widest get theirs first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_time: Option<f64>,
    pub order: Order,
    pub cache: Cache,
    /// True if each round also times the transfer of the case's inputs to its device and of its results back, from
    /// and to this memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transfer: Option<HostMemory>,
    /// True if a flagged round gets a second attempt.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub second_look: bool,
    /// True if each engine that times a case certifies it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub certify: bool,
    /// A plain copy is measured between the cases, for charts and comparisons.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub reference: bool,
    /// Pictures that a run keeps of what each case computes, where the case has any: of its first round, the last one
    /// after its last sample and the others before samples, evenly spread.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub snapshots: u32,
}

fn three() -> u32 {
    FEWEST
}

fn is_three(number: &u32) -> bool {
    *number == FEWEST
}

fn one() -> u32 {
    1
}

fn is_one(number: &u32) -> bool {
    *number == 1
}

fn yes() -> bool {
    true
}

fn is_yes(answer: &bool) -> bool {
    *answer
}

/// The order of cases and rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// One round of every case, then the next round, so that slow phases of the machine affect all cases alike.
    #[default]
    Interleaved,
    /// All rounds of a case, then the next case.
    Sequential,
    /// Interleaved, but the cases of each round are in random order, drawn from the seed.
    Random,
}

/// Cache contents at the start of a sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// Whatever the previous execution left.
    #[default]
    Hot,
    /// None of the case's data: each sample is a single execution after an eviction.
    Cold,
}

/// The host's memory in a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HostMemory {
    /// Page-locked, which the device reads and writes itself.
    Pinned,
    /// Ordinary memory, which the driver copies through page-locked memory of its own.
    Pageable,
}

/// The transfer of a case's inputs to its device, and of its results back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// Bytes of the inputs.
    pub in_bytes: u64,
    /// Bytes of the results.
    pub out_bytes: u64,
    pub in_seconds: f64,
    pub out_seconds: f64,
}

impl Transfer {
    /// Seconds of both ways.
    pub fn seconds(&self) -> f64 {
        self.in_seconds + self.out_seconds
    }
}

impl HostMemory {
    pub const NAMES: [(&str, Option<HostMemory>); 3] =
        [("none", None), ("pinned", Some(HostMemory::Pinned)), ("pageable", Some(HostMemory::Pageable))];
}

impl Order {
    pub const NAMES: [(&str, Order); 3] =
        [("interleaved", Order::Interleaved), ("sequential", Order::Sequential), ("random", Order::Random)];
}

impl Cache {
    pub const NAMES: [(&str, Cache); 2] = [("hot", Cache::Hot), ("cold", Cache::Cold)];
    /// Key of the parameter that marks cold cases. Hot cases lack it, so that their ids are unchanged from
    /// before this option existed.
    pub const KEY: &str = "cache";
}

impl Measure {
    /// Exactly this many rounds and samples.
    pub const fn fixed(rounds: u32, samples: u32) -> Measure {
        Measure { rounds, max_rounds: rounds, samples, ci: None, ..DEFAULT }
    }

    /// The interval width that ends a case; `None` if every case gets exactly `rounds` rounds. An interval over
    /// fewer than three rounds is meaningless: such a recipe asks for a quick look.
    pub fn adaptive(&self) -> Option<f64> {
        self.ci.filter(|_| self.rounds >= FEWEST && self.most() > self.rounds)
    }

    /// Seconds after which a case without all its `rounds` fails. Without a limit of the recipe that is generous: an hour, or ten times the
    /// budget where that is longer.
    pub fn limit(&self) -> f64 {
        const HOUR: f64 = 3600.0;
        self.limit.unwrap_or_else(|| HOUR.max(10.0 * self.budget))
    }

    /// The largest number of rounds of a case: `max_rounds` applies only if it exceeds `rounds`.
    pub fn most(&self) -> u32 {
        self.max_rounds.max(self.rounds)
    }
}

/// Fewest rounds for which an interval is computed.
const FEWEST: u32 = 3;

const DEFAULT: Measure = Measure {
    rounds: 5,
    max_rounds: 30,
    samples: 5,
    warm_up: None,
    ci: Some(0.03),
    precise_from: 5,
    budget: 10.0,
    limit: None,
    max_time: None,
    order: Order::Interleaved,
    cache: Cache::Hot,
    transfer: None,
    second_look: true,
    certify: true,
    reference: true,
    snapshots: 1,
};

impl Default for Measure {
    fn default() -> Self {
        DEFAULT
    }
}
