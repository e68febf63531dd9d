//! How an experiment is sampled.

use serde::{Deserialize, Serialize};

/// How an experiment is sampled: rounds, each with fresh allocations, until the rounds'
/// medians agree well enough ([`crate::stats::verdict`]).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measure {
    /// Rounds that every case gets.
    pub rounds: u32,
    /// Rounds that no case exceeds.
    pub max_rounds: u32,
    /// Samples in a round, after an untimed warm-up.
    pub samples: u32,
    /// Untimed executions before them, at least; `None`: one or two, as the engine finds
    /// out how long they last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_up: Option<u32>,
    /// Relative half-width of the 95% interval of the rounds' medians that is narrow
    /// enough; `None`: always `rounds` rounds.
    pub ci: Option<f64>,
    /// Seconds that a case may take in all, with preparation; beyond them no round
    /// follows those that every case gets.
    pub budget: f64,
    pub order: Order,
    pub cache: Cache,
    /// Whether a round that is flagged gets a second look.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub second_look: bool,
    /// Whether a case is certified by each engine that times it.
    #[serde(default = "yes", skip_serializing_if = "is_yes")]
    pub certify: bool,
}

fn yes() -> bool {
    true
}

fn is_yes(answer: &bool) -> bool {
    *answer
}

/// In which order cases and rounds follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// A round of every case, then the next round: a machine's slow minutes fall on all
    /// cases alike.
    #[default]
    Interleaved,
    /// All rounds of a case, then the next case.
    Sequential,
    /// As interleaved, with the cases of each round in an order drawn from the seed.
    Random,
}

/// What the caches hold when a sample starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cache {
    /// What the execution before left there.
    #[default]
    Hot,
    /// None of the case's data: each sample is one execution after an eviction.
    Cold,
}

impl Order {
    pub(crate) const NAMES: [(&str, Order); 3] =
        [("interleaved", Order::Interleaved), ("sequential", Order::Sequential), ("random", Order::Random)];
}

impl Cache {
    pub(crate) const NAMES: [(&str, Cache); 2] = [("hot", Cache::Hot), ("cold", Cache::Cold)];
    /// Key of the parameter that cold cases have; hot ones lack it, so that their
    /// identities are those of before there was a choice.
    pub const KEY: &str = "cache";
}

impl Measure {
    /// Exactly so many rounds of so many samples.
    pub const fn fixed(rounds: u32, samples: u32) -> Measure {
        Measure { rounds, max_rounds: rounds, samples, ci: None, ..DEFAULT }
    }

    /// The width that ends a case early or late; `None` where every case gets just its
    /// `rounds`. Fewer than three have no interval worth the name: whoever asks for so
    /// few wants a quick look.
    pub fn adaptive(&self) -> Option<f64> {
        self.ci.filter(|_| self.rounds >= FEWEST && self.most() > self.rounds)
    }

    /// The rounds that a case may have: `max_rounds` counts only where it is the larger.
    pub fn most(&self) -> u32 {
        self.max_rounds.max(self.rounds)
    }
}

/// Fewer rounds get no interval to wait for.
const FEWEST: u32 = 3;

const DEFAULT: Measure = Measure {
    rounds: 5,
    max_rounds: 30,
    samples: 5,
    warm_up: None,
    ci: Some(0.03),
    budget: 10.0,
    order: Order::Interleaved,
    cache: Cache::Hot,
    second_look: true,
    certify: true,
};

impl Default for Measure {
    fn default() -> Self {
        DEFAULT
    }
}
