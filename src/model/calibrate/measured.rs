//! Cases and their times: the input of a calibration.

use crate::case::{Params, Work};
use crate::stats;

/// A case with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub backend: String,
    pub primitive: String,
    pub params: Params,
    pub work: Work,
    /// Seconds of one execution: the median of each round.
    pub rounds: Vec<f64>,
    /// Number of CPU threads.
    pub threads: Option<u64>,
}

impl Measured {
    /// Seconds of one execution. On a GPU: the median of the rounds' medians. Processors share caches, memory
    /// and often cores with others, who only slow a round down, some for minutes: for them the lower quartile
    /// is taken.
    pub fn seconds(&self) -> f64 {
        let q = if self.backend == "cuda" { 0.5 } else { 0.25 };
        stats::quantile_of(&self.rounds, q).unwrap_or(f64::NAN)
    }

    /// The text of a parameter; empty if it is missing.
    pub fn word(&self, key: &str) -> &str {
        self.params.text(key).unwrap_or("")
    }

    pub fn is(&self, primitive: &str, method: &str) -> bool {
        self.primitive == primitive && self.word("method") == method
    }
}
