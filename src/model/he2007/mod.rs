//! The model of he2007 (§3.3 and §3.4), Eqs. 1 to 11: one cache, memory blocks, and two bandwidths.
//!
//! Here are Eqs. 4 to 8: distinct places of random draws, in closed form, and the hit and miss rates of accesses to cached
//! blocks (§3.3.2) by Case I and Case II. `passes` has Eqs. 1, 2 and 3, B_seq and B_rand, and Eqs. 9, 10 and 11, the time of
//! a gather or a scatter in passes.
//!
//! Assumptions: the cache is empty before each execution, and all blocks are equally likely to stay in it; a
//! write costs no more than a read; launches, latency and address translation cost nothing.
//! Skewed locations, strides and patterns are outside the model and get no prediction.

mod passes;

pub use passes::{Parts, hit_rate, random as random_bandwidth, sequential as sequential_bandwidth, time};

use super::{Model, Prediction, Profile, covered};
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

/// Case I, totally random accesses: the miss rate of `n` accesses to `blocks` memory blocks with a cache of
/// `lines` lines (Eq. 6). The first case is E/n: of the two printed forms, the one that is continuous at E =
/// N.
pub fn random_misses(n: f64, blocks: f64, lines: f64) -> f64 {
    let touched = distinct(blocks, n);
    if touched <= lines {
        return touched / n;
    }
    (touched + (1.0 - lines / touched) * (n - touched)) / n
}

/// Case II: the miss rate within a warp of `warp` threads that write tuples of `z` bytes to `partitions`
/// streams, with blocks of `l` bytes (Eqs. 7 and 8). A tuple larger than a block counts as one miss, because
/// Eq. 2 charges all its blocks; so the rate is at most 1.
pub fn warp_misses(partitions: f64, warp: f64, z: f64, l: f64) -> f64 {
    let streams = distinct(partitions, warp);
    // 1e-9: rounding must not turn a whole number of blocks into one more.
    let blocks = (warp * z / (streams * l) - 1e-9).ceil().max(1.0);
    (streams * blocks / warp).min(1.0)
}

/// How Case II combines the hit rates within and between warps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Together {
    /// A miss within the warp may still hit between warps: intra + (1 − intra)·inter.
    Either,
    /// As printed, intra + inter, which can exceed 1.
    Sum,
}

impl Together {
    /// The combined hit rate.
    pub fn of(self, intra: f64, inter: f64) -> f64 {
        match self {
            Together::Either => intra + (1.0 - intra) * inter,
            Together::Sum => intra + inter,
        }
    }
}

/// Expected number of distinct places that `draws` independent uniform draws from `places` touch.
///
/// he2007 sums C(k, j)·S(n, j)·j!·j over j and divides by kⁿ (Eqs. 4 and 5; 7 with p for k and w for n). The
/// sum is k·(1 − (1 − 1/k)ⁿ): a place is missed by all n draws with probability (1 − 1/k)ⁿ. O(1); at most
/// `draws` and `places`. Either may be a fraction, such as a chunk's share of the blocks; fewer than one
/// place counts as one.
pub fn distinct(places: f64, draws: f64) -> f64 {
    if places <= 1.0 {
        return draws.min(1.0);
    }
    (places * -f64::exp_m1(draws * f64::ln_1p(-1.0 / places))).min(draws)
}

#[cfg(test)]
mod tests;
