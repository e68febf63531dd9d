//! The typed parameters of a histogram case, and its splitters.

use crate::case::table::{choice, count, float, parameters, words};
use crate::case::{Params, Refusal, reader};
use crate::inputs::mix::{scale, word64};
use crate::inputs::zipf::MAX_EXPONENT;

/// Bits of a value k · 2^-14 with k < 2^24, so that every value is an f32.
pub const BITS: u32 = 24;
/// Values lie in [0, DOMAIN).
pub const DOMAIN: f32 = 1024.0;
/// Upper limit on the number of bins.
pub const MAX_BINS: u64 = 4096;
/// Upper limit on the bins whose counts the lanes of a warp keep in registers, eight per lane (ashkiani2017
/// §5.5, for m > 32).
pub const MAX_BALLOT_BINS: u64 = 256;
/// Elements per subproblem of the method `ballot`: the share that a block counts.
pub const SUBPROBLEM: u64 = 1 << 16;

const TAG: u64 = 0x5350_4C49_5454_4552;

words! {
    /// The placement of the bounds between bins.
    pub enum By {
        /// Evenly spaced splitters.
        Even = "even",
        /// Random ones.
        Range = "range",
    }
}

words! {
    /// How the counts of the subproblems become those of all (ashkiani2017 §7.3).
    pub enum Ending {
        /// Added to the result in place.
        Atomics = "atomics",
        /// Stored, and each bin's summed.
        Reduction = "reduction",
    }
}

choice! {
    /// Where the values lie.
    pub enum Distribution {
        /// everywhere alike
        Uniform = "uniform",
        /// 15 of 16 in one 4096th of the domain, the others everywhere
        Skewed = "skewed",
        /// 4096ths of the domain by Zipf's law
        Zipf = "zipf" main "exponent" {
            /// the 4096th of rank r is drawn in proportion to r^-exponent
            exponent: f64 [float(0.0, MAX_EXPONENT)],
        },
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// ours: as many copies of the counts as fit in cache or shared memory
        Best = "best",
        /// warps vote on each bit of their elements' bins (ashkiani2017 Algorithm 2), on GPUs, up to 256 bins
        Ballot = "ballot" main "ending" {
            /// atomics: the counts of 2^16 elements are added to the result in place; reduction: they are stored, and
            /// each bin's summed (ashkiani2017 §7.3)
            ending: Ending = "atomics",
        },
    }
}

parameters! {
    /// A histogram case, typed.
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct Spec {
        /// f32 values (ashkiani2017's n)
        elements: u64 [count(1, 1 << 45)],
        /// bins (ashkiani2017's m)
        bins: u64 [count(2, MAX_BINS)],
        /// even: bins of the same width; range: between random splitters
        by: By = "even",
        /// where in [0, 1024) the values lie
        distribution: Distribution = "uniform",
        /// how it is computed
        method: Method = "best",
    }
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let spec = Spec::of_table(params, seed)?;
        reader::bytes("elements", &[spec.elements, 4])?;
        match spec.method {
            Method::Ballot { .. } if spec.backend.is_cpu() => {
                Err(Refusal::NotApplicable("ballots are a method of GPUs".to_owned()))
            }
            Method::Ballot { .. } if spec.bins > MAX_BALLOT_BINS => Err(Refusal::NotApplicable(format!(
                "the lanes of a warp keep the counts of at most {MAX_BALLOT_BINS} bins"
            ))),
            _ => Ok(spec),
        }
    }

    /// Bytes of the values.
    pub fn input(&self) -> u64 {
        self.elements * 4
    }

    /// Bytes of the counts, 8 per bin.
    pub fn output(&self) -> u64 {
        self.bins * 8
    }

    /// The number of subproblems of the method `ballot`.
    pub fn subproblems(&self) -> u64 {
        self.elements.div_ceil(SUBPROBLEM)
    }

    /// Bytes of the counts of all subproblems; 0 if they are not stored.
    pub fn stored(&self) -> u64 {
        match self.method {
            Method::Ballot { ending: Ending::Reduction } => 4 * self.bins * self.subproblems(),
            _ => 0,
        }
    }

    /// The splitters s_1 … s_(m-1) in units of 2^-14, ascending, each in [1, 2^24); for even bins, s_j is the
    /// least such value in bin j.
    pub fn splitters(&self) -> Vec<u32> {
        let top = 1u64 << BITS;
        let all = 1..self.bins;
        let mut splitters: Vec<u32> = match self.by {
            By::Even => all.map(|j| (j * top).div_ceil(self.bins) as u32).collect(),
            By::Range => all.map(|j| 1 + scale(word64(self.seed ^ TAG, j), top - 1) as u32).collect(),
        };
        splitters.sort_unstable();
        splitters
    }

    /// The least f32 of each bin from the second on: any f32 x lies in bin j or above if and only if x is at
    /// least entry j − 1.
    pub fn bounds(&self) -> Vec<f32> {
        match self.by {
            By::Even => (1..self.bins).map(|j| least(j, self.bins)).collect(),
            By::Range => self.splitters().into_iter().map(real).collect(),
        }
    }
}

/// The least f32 that is at least 1024 · j / m.
fn least(j: u64, m: u64) -> f32 {
    let nearest = (f64::from(DOMAIN) * j as f64 / m as f64) as f32;
    // The product is exact in f64: 24 bits times 13 bits.
    if f64::from(nearest) * (m as f64) < f64::from(DOMAIN) * j as f64 { nearest.next_up() } else { nearest }
}

/// k · 2^-14, exactly.
#[inline(always)]
pub fn real(k: u32) -> f32 {
    k as f32 * (DOMAIN / (1u32 << BITS) as f32)
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
