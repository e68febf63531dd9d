//! The model of he2007 (§3.3 and §3.4), Eqs. 1 to 11: one cache, memory blocks, and two bandwidths.
//!
//! | file | part of the paper |
//! |---|---|
//! | `hits` | Eqs. 4, 5, 7: distinct places of random draws, in closed form; Eqs. 6 and 8, Case I and Case II: hit rates |
//! | `passes` | Eqs. 1, 2, 3: B_seq and B_rand; Eqs. 9, 10, 11: the time of a gather or a scatter in passes |
//!
//! Assumptions: the cache is empty before each execution, and all blocks are equally likely to stay in it; a
//! write costs no more than a read; launches, latency and address translation cost nothing.
//! Skewed locations, strides and patterns are outside the model and get no prediction.

mod hits;
mod passes;

pub use hits::{Together, distinct};
pub use passes::{Parts, hit_rate, random as random_bandwidth, sequential as sequential_bandwidth, time};

use super::prediction::covered;
use super::{Model, Prediction, Profile};
use crate::case::{Case, Work};

/// The model, with one of two readings of Case II.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct He2007Model {
    pub together: Together,
}

impl He2007Model {
    /// With a combined hit rate that stays below one.
    pub const STANDARD: He2007Model = He2007Model { together: Together::Either };
    /// With the sum of the two hit rates, as printed.
    pub const AS_PRINTED: He2007Model = He2007Model { together: Together::Sum };
}

impl Model for He2007Model {
    fn name(&self) -> &'static str {
        "he2007"
    }

    fn predict(&self, profile: &Profile, case: &Case, work: &Work) -> Result<Prediction, String> {
        covered(profile, case)?;
        let (backend, _) = case.place();
        let device = profile.he2007.get(backend).ok_or_else(|| {
            format!(
                "the profile {} has no parameters of he2007 for {backend} (b_seq, cache, block, transfer, delta, warp): \
                 scatterlab calibrate --backend {} finds them, --profile g80 has the paper's",
                profile.name,
                if backend == "cuda" { "cuda" } else { "cpu" }
            )
        })?;
        let parts = time(device, self.together, work)?;
        let seconds = parts.seconds();
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err("the sum printed for Case II gives a hit rate above 1, so no time; the standard reading does not".to_owned());
        }
        let terms = vec![("sequential", parts.sequential), ("misses", parts.misses), ("hits", parts.hits)];
        Ok(Prediction::of(self.name(), seconds, terms))
    }
}

#[cfg(test)]
mod tests;
