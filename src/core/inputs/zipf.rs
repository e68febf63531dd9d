//! Zipf-distributed draws without libm: the probability of rank r = 0, 1, … of n is proportional to (r + 1)^−s.
//!
//! A table holds the cumulative probabilities of at most [`MAX_BUCKETS`] buckets of ranks as 64-bit fixed-point
//! fractions. Up to n = [`MAX_BUCKETS`], each rank has its own bucket. For larger n only the first [`HEAD`]
//! ranks do; the others share geometric buckets with a uniform distribution inside, whose mass is (number of
//! ranks) · (middle)^−s.
//!
//! Draw i, as in the CUDA implementation in `kernels/common/inputs.cuh` (`scale` is the upper half of a 128-bit
//! product; `mix64` and `word64` are in [`mix`](super::mix)):
//!
//! ```text
//! u    = word64(seed, i)
//! b    = the first bucket with u < cumulative[b], the last where there is none
//! rank = start[b] + scale(mix64(u ^ 0x5A49_5046), start[b+1] − start[b])
//! draw = spread.apply(rank)
//! ```
//!
//! `guide[g]` is the b of u = g·2^52: an optional starting point of the search.
//!
//! **Error.** The mass of a bucket differs from the exact one by less than 2^−40 in absolute terms, plus
//! s·(s+1)·3e-7 relative for a geometric bucket; the probability of a rank inside a geometric bucket differs by
//! at most s·0.25 % relative.

use super::mix::{mix64, scale, word64};
use super::permutation::Permutation;
use super::real;

/// Largest number of buckets.
pub const MAX_BUCKETS: u64 = 16_384;
/// Number of ranks with their own buckets if there are more than [`MAX_BUCKETS`] ranks.
pub const HEAD: u64 = 8_192;
/// Largest exponent.
pub const MAX_EXPONENT: f64 = 16.0;
/// Number of bits of a draw that select its entry in the guide.
pub const GUIDE_BITS: u32 = 12;

const TAG_DRAW: u64 = 0x5A49_5046_4452_4157;
const TAG_RANK: u64 = 0x5A49_5046;

/// A Zipf distribution over [0, n), whose frequent elements are at random positions.
#[derive(Clone, Debug, PartialEq)]
pub struct Zipf {
    /// Seed of the draws, for [`word64`].
    pub seed: u64,
    /// For each bucket, the probability of this or an earlier one, times 2^64; the last is 2^64 − 1.
    pub cumulative: Vec<u64>,
    /// First rank of each bucket, followed by n.
    pub start: Vec<u64>,
    /// 2^[`GUIDE_BITS`] + 1 entries: the bucket of the draw `g << 52`, and finally the last bucket.
    pub guide: Vec<u32>,
    /// Position of each rank.
    pub spread: Permutation,
}

impl Zipf {
    /// The distribution over `n` elements (1 to 2^40) with this exponent (0 to [`MAX_EXPONENT`]); `None` if out
    /// of range. Takes about a millisecond.
    pub fn new(n: u64, exponent: f64, seed: u64) -> Option<Zipf> {
        if n == 0 || !(0.0..=MAX_EXPONENT).contains(&exponent) {
            return None;
        }
        let spread = Permutation::new(n, seed)?;
        let start = starts(n);
        let cumulative = cumulate(&start, exponent);
        let guide = guide(&cumulative);
        Some(Zipf { seed: seed ^ TAG_DRAW, cumulative, start, guide, spread })
    }

    /// Draw `i`: an element of [0, n).
    #[inline]
    pub fn draw(&self, i: u64) -> u64 {
        self.spread.apply(self.rank(word64(self.seed, i)))
    }

    /// The rank selected by a uniform word.
    #[inline]
    fn rank(&self, u: u64) -> u64 {
        let g = (u >> (64 - GUIDE_BITS)) as usize;
        let (mut low, mut high) = (self.guide[g] as usize, self.guide[g + 1] as usize);
        while low < high {
            let middle = (low + high) / 2;
            if u < self.cumulative[middle] { high = middle } else { low = middle + 1 }
        }
        let first = self.start[low];
        first + scale(mix64(u ^ TAG_RANK), self.start[low + 1] - first)
    }
}

/// First ranks of the buckets, followed by n. The boundary after geometric bucket k of K is
/// HEAD·(n/HEAD)^(k/K), rounded down, but at least one rank after the previous one.
fn starts(n: u64) -> Vec<u64> {
    if n <= MAX_BUCKETS {
        return (0..=n).collect();
    }
    let mut starts: Vec<u64> = (0..=HEAD).collect();
    let buckets = MAX_BUCKETS - HEAD;
    let growth = real::ln(n as f64 / HEAD as f64) / buckets as f64;
    let mut last = HEAD;
    for k in 1..buckets {
        let boundary = (HEAD as f64 * real::exp(growth * k as f64)) as u64;
        last = boundary.max(last + 1).min(n - (buckets - k));
        starts.push(last);
    }
    starts.push(n);
    starts
}

fn cumulate(start: &[u64], exponent: f64) -> Vec<u64> {
    let mass = |w: &[u64]| {
        let middle = (w[0] + w[1] + 1) as f64 / 2.0;
        (w[1] - w[0]) as f64 * real::exp(-exponent * real::ln(middle))
    };
    let mut running = 0.0;
    let sums: Vec<f64> = start
        .windows(2)
        .map(|w| {
            running += mass(w);
            running
        })
        .collect();
    // The cast saturates, so the last sum becomes 2^64 − 1.
    sums.iter().map(|sum| (sum / running * TWO_64) as u64).collect()
}

const TWO_64: f64 = 18_446_744_073_709_551_616.0;

fn guide(cumulative: &[u64]) -> Vec<u32> {
    let last = cumulative.len() - 1;
    (0..=1u64 << GUIDE_BITS)
        .map(|g| {
            let below = match g.checked_shl(64 - GUIDE_BITS) {
                Some(u) if g < 1 << GUIDE_BITS => cumulative.partition_point(|&c| c <= u),
                _ => last,
            };
            below.min(last) as u32
        })
        .collect()
}

#[cfg(test)]
#[path = "zipf_tests.rs"]
mod tests;
