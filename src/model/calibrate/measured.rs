//! Cases and their times: what a calibration follows from.

use crate::case::{Params, Work};
use crate::stats;

/// A case with its times.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub backend: String,
    pub primitive: String,
    pub params: Params,
    pub work: Work,
    /// Of one execution: each round's median.
    pub rounds: Vec<f64>,
    /// Threads of a CPU.
    pub threads: Option<u64>,
}

impl Measured {
    /// Seconds of an execution: the median of the rounds' medians. Processors share caches, memory and
    /// often cores with others, who only slow a round down, some for minutes: of theirs it is the lower
    /// quartile.
    pub fn seconds(&self) -> f64 {
        let q = if self.backend == "cuda" { 0.5 } else { 0.25 };
        stats::quantile_of(&self.rounds, q).unwrap_or(f64::NAN)
    }

    /// The parameter's word.
    pub fn word(&self, key: &str) -> &str {
        self.params.text(key).unwrap_or("")
    }

    pub fn is(&self, primitive: &str, method: &str) -> bool {
        self.primitive == primitive && self.word("method") == method
    }
}
