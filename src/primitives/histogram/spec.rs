//! What a histogram case computes: its parameters, typed, and its splitters.

use crate::case::tuning::{Offered, Tuning};
use crate::case::{Params, Refusal, reader};
use crate::inputs::mix::{scale, word64};

/// Bits of a value: it is k · 2^-14 with k < 2^24, so that every value is an f32.
pub const BITS: u32 = 24;
/// Values lie in [0, DOMAIN).
pub const DOMAIN: f32 = 1024.0;
/// Most bins.
pub const MAX_BINS: u64 = 4096;
/// Most bins whose counts a warp's lanes keep in registers, eight a lane (ashkiani2017 §5.5,
/// for m > 32).
pub const MAX_BALLOT_BINS: u64 = 256;
/// Elements of a subproblem of the method `ballot`: what a block counts.
pub const SUBPROBLEM: u64 = 1 << 16;

const TAG: u64 = 0x5350_4C49_5454_4552;

/// What the kernels of a GPU leave open.
const OFFERED: Offered = Offered { fetch: &[32, 64, 128], ..Offered::NOTHING };

/// What bounds the bins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    /// Evenly spaced splitters.
    Even,
    /// Random ones.
    Range,
}

/// Where the values lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    Uniform,
    /// 15 of 16 in one 4096th of the domain, the others uniform.
    Skewed,
    /// 4096ths of the domain by Zipf's law, uniform within.
    Zipf {
        exponent: f64,
    },
}

/// How the counts of the subproblems become those of all (ashkiani2017 §7.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Added to the result in place.
    Atomics,
    /// Stored, and each bin's summed.
    Reduction,
}

/// How it is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Ours.
    Best,
    /// By warps that vote on each bit of their elements' bins (ashkiani2017 Algorithm 2).
    Ballot(Ending),
}

/// A histogram case, typed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spec {
    pub by: By,
    pub distribution: Distribution,
    pub method: Method,
    /// n. A recipe asks for at least 1; `verify` runs 0 as well.
    pub elements: u64,
    /// m.
    pub bins: u64,
    pub seed: u64,
}

impl Spec {
    /// Reads and checks a case's parameters.
    pub fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Tuning::of(params)?.within("histogram", &OFFERED)?;
        let spec = Spec {
            by: reader::word_or(params, "by", &[("even", By::Even), ("range", By::Range)], By::Even)?,
            distribution: distribution(params)?,
            method: method(params)?,
            elements: reader::int(params, "elements")?,
            bins: reader::int(params, "bins")?,
            seed,
        };
        reader::bytes("elements", &[spec.elements, 4])?;
        if !(2..=MAX_BINS).contains(&spec.bins) {
            return Err(Refusal::invalid("bins", format!("{} is not from 2 to {MAX_BINS}", spec.bins)));
        }
        if spec.method != Method::Best {
            spec.check_ballot(params)?;
        }
        Ok(spec)
    }

    fn check_ballot(&self, params: &Params) -> Result<(), Refusal> {
        let reason = if matches!(params.text("backend"), Some("scalar" | "cpu")) {
            "ballots are a method of GPUs".to_owned()
        } else if self.bins > MAX_BALLOT_BINS {
            format!("the lanes of a warp keep the counts of at most {MAX_BALLOT_BINS} bins")
        } else {
            return Ok(());
        };
        Err(Refusal::NotApplicable(reason))
    }

    /// Bytes of the values.
    pub fn input(&self) -> u64 {
        self.elements * 4
    }

    /// Bytes of the counts, 8 a bin.
    pub fn output(&self) -> u64 {
        self.bins * 8
    }

    /// Subproblems of the method `ballot`.
    pub fn subproblems(&self) -> u64 {
        self.elements.div_ceil(SUBPROBLEM)
    }

    /// Bytes of the counts of all subproblems, where they are stored.
    pub fn stored(&self) -> u64 {
        match self.method {
            Method::Ballot(Ending::Reduction) => 4 * self.bins * self.subproblems(),
            _ => 0,
        }
    }

    /// The splitters s_1 … s_(m-1) in units of 2^-14, ascending, each in [1, 2^24); for even
    /// bins the least such value that lies in bin j.
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

    /// The least f32 of each bin from the second on: x lies in bin j or above where x is at
    /// least the `j - 1`st of them, whatever f32 it is.
    pub fn bounds(&self) -> Vec<f32> {
        match self.by {
            By::Even => (1..self.bins).map(|j| least(j, self.bins)).collect(),
            By::Range => self.splitters().into_iter().map(real).collect(),
        }
    }
}

/// The least f32 that is not below 1024 · j / m.
fn least(j: u64, m: u64) -> f32 {
    let nearest = (f64::from(DOMAIN) * j as f64 / m as f64) as f32;
    // In f64 the product is exact: 24 bits times 13.
    if f64::from(nearest) * (m as f64) < f64::from(DOMAIN) * j as f64 { nearest.next_up() } else { nearest }
}

/// k · 2^-14, exactly.
#[inline(always)]
pub fn real(k: u32) -> f32 {
    k as f32 * (DOMAIN / (1u32 << BITS) as f32)
}

fn distribution(params: &Params) -> Result<Distribution, Refusal> {
    match params.text("distribution") {
        Some("zipf") => exponent(params).map(|exponent| Distribution::Zipf { exponent }),
        _ => {
            let names = [("uniform", Distribution::Uniform), ("skewed", Distribution::Skewed)];
            reader::word_or(params, "distribution", &names, Distribution::Uniform)
        }
    }
}

fn exponent(params: &Params) -> Result<f64, Refusal> {
    const KEY: &str = "distribution.zipf.exponent";
    let given = params.float(KEY).ok_or_else(|| Refusal::Missing { key: KEY.to_owned() })?;
    match (0.0..=crate::inputs::zipf::MAX_EXPONENT).contains(&given) {
        true => Ok(given),
        false => Err(Refusal::invalid(KEY, format!("{given} is not from 0 to 16"))),
    }
}

fn method(params: &Params) -> Result<Method, Refusal> {
    let endings = [("atomics", Ending::Atomics), ("reduction", Ending::Reduction)];
    match params.text("method") {
        Some("ballot") => {
            reader::word_or(params, "method.ballot.ending", &endings, Ending::Atomics).map(Method::Ballot)
        }
        _ => reader::word_or(params, "method", &[("best", Method::Best)], Method::Best),
    }
}

#[cfg(test)]
#[path = "spec_tests.rs"]
mod tests;
