//! The keys and values of a case as integer functions of (seed, i), counterparts of the functions in
//! `kernels/multisplit/inputs.cuh`.
//!
//! With u = word64(seed, i), m buckets and one of them, hot = scale(word64(seed ^ HOT, 0), m),
//! the bucket of key i is
//!
//! ```text
//! uniform        scale(u, m)
//! alpha-uniform  u mod 2^32 < ⌊α · 2^32⌋:  scale(u, m);  else  hot
//! binomial       how many of the m − 1 lowest bits are set of W = ⌈(m − 1) / 64⌉ words,
//!                word64(seed ^ BITS, i·W), word64(seed ^ BITS, i·W + 1) …
//! skewed         min(leading zeros of u, m − 1)
//! one-bucket     hot
//! ```
//!
//! and the key is the one that mix64(u ^ INSIDE) chooses from this bucket
//! ([`Members::key`](super::buckets::Members::key)). Value i is word32(seed ^ VALUE, i) or
//! word64(seed ^ VALUE, i): no two values are the same.

use super::buckets::Members;
use super::{Distribution, Spec};
use crate::inputs::mix::{mix64, scale, word, word64};

const HOT: u64 = 0x4D53_5F48_4F54_5F42;
/// Tag of the seed for the bits of binomial draws.
pub const BITS: u64 = 0x4D53_5F42_4954_535F;
const INSIDE: u64 = 0x4D53_5F49_4E53_4944;
/// Tag of the seed for the values.
pub const VALUE: u64 = 0x4D53_5F56_414C_5545;

/// The input of a case.
#[derive(Clone, Debug)]
pub struct Keys {
    pub seed: u64,
    /// m.
    pub buckets: u64,
    pub distribution: Distribution,
    /// The bucket of the keys that are not drawn at random.
    pub hot: u32,
    pub members: Members,
}

impl Keys {
    /// The input of a case. Takes time and memory at most proportional to the number of buckets.
    pub fn new(spec: &Spec) -> Keys {
        Keys {
            seed: spec.seed,
            buckets: spec.buckets,
            distribution: spec.distribution,
            hot: scale(word64(spec.seed ^ HOT, 0), spec.buckets) as u32,
            members: Members::new(spec),
        }
    }

    /// The bucket of key `i`.
    #[inline]
    pub fn bucket(&self, i: u64) -> u32 {
        let u = word64(self.seed, i);
        match self.distribution {
            Distribution::Uniform => scale(u, self.buckets) as u32,
            Distribution::AlphaUniform { alpha } if u & 0xFFFF_FFFF < coin(alpha) => {
                scale(u, self.buckets) as u32
            }
            Distribution::AlphaUniform { .. } | Distribution::OneBucket => self.hot,
            Distribution::Binomial => self.set_bits(i),
            Distribution::Skewed => u.leading_zeros().min(self.buckets as u32 - 1),
        }
    }

    /// The number of bits set among m − 1 random bits.
    fn set_bits(&self, i: u64) -> u32 {
        let words = (self.buckets - 1).div_ceil(64);
        let word = |k: u64| word64(self.seed ^ BITS, i * words + k);
        let last = word(words - 1) & u64::MAX >> (64 * words - (self.buckets - 1));
        (0..words - 1).map(|k| word(k).count_ones()).sum::<u32>() + last.count_ones()
    }

    /// Key `i`.
    #[inline]
    pub fn at(&self, i: u64) -> u32 {
        self.members.key(self.bucket(i), mix64(word64(self.seed, i) ^ INSIDE))
    }

    /// A key in another bucket than key 0: the element behind the last key, which only a deliberate mistake
    /// reads.
    pub fn behind(&self) -> u32 {
        self.members.key((self.bucket(0) + 1) % self.buckets as u32, 0)
    }

    /// Value `i` as an integer of `bytes` bytes; 0 if there are no values.
    #[inline]
    pub fn value(&self, i: u64, bytes: u64) -> u64 {
        word(self.seed ^ VALUE, i, bytes)
    }
}

/// ⌊α · 2^32⌋. The product is exact, since the factor is a power of two.
#[inline]
pub fn coin(alpha: f64) -> u64 {
    (alpha * (1u64 << 32) as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::super::buckets::Buckets;
    use super::super::tests::spec;
    use super::*;

    const N: u64 = 1 << 16;

    fn counts(words: &str) -> Vec<u64> {
        let spec = spec(&format!("keys=1 {words}"));
        let (keys, buckets) = (Keys::new(&spec), Buckets::new(&spec));
        let mut counts = vec![0; spec.buckets as usize];
        for i in 0..N {
            assert_eq!(buckets.of(keys.at(i)), keys.bucket(i), "{words}");
            counts[keys.bucket(i) as usize] += 1;
        }
        counts
    }

    #[test]
    fn buckets_have_the_sizes_that_they_should() {
        for by in ["delta-buckets", "identity", "range", "hash"] {
            let of = |distribution: &str| counts(&format!("buckets=20 by={by} distribution={distribution}"));
            assert!(of("uniform").iter().all(|count| (3_000..3_600).contains(count)), "{by}");
            let quarter = of("alpha-uniform");
            assert_eq!(quarter.iter().filter(|count| (700..950).contains(*count)).count(), 19, "{by}");
            let skewed = of("skewed");
            assert!((32_000..33_500).contains(&skewed[0]) && (15_900..16_900).contains(&skewed[1]), "{by}");
            let one = of("one-bucket");
            assert_eq!((one.iter().max(), one.iter().sum()), (Some(&N), N), "{by}");
        }
        let primes = counts("buckets=2 by=prime");
        assert!((32_000..33_500).contains(&primes[0]), "{primes:?}");
    }

    /// Mean (m − 1)/2 and variance (m − 1)/4.
    #[test]
    fn binomial_draws_have_their_moments() {
        for m in [2u64, 3, 64, 65, 66, 256, 1000] {
            let counts = counts(&format!("buckets={m} distribution=binomial"));
            let moment = |power: i32, centre: f64| {
                let terms =
                    counts.iter().enumerate().map(|(b, &c)| (b as f64 - centre).powi(power) * c as f64);
                terms.sum::<f64>() / N as f64
            };
            let (mean, variance) = ((m - 1) as f64 / 2.0, (m - 1) as f64 / 4.0);
            assert!((moment(1, 0.0) - mean).abs() < 0.03 * variance.sqrt().max(0.5), "{m}");
            assert!((moment(2, mean) / variance - 1.0).abs() < 0.03, "{m}");
        }
    }

    #[test]
    fn all_or_nothing_is_uniform() {
        let alpha = |alpha: &str| {
            let keys = format!("distribution=alpha-uniform distribution.alpha-uniform.alpha={alpha}");
            counts(&format!("buckets=4 {keys}"))
        };
        assert!(alpha("1.0").iter().all(|count| *count > 16_000));
        assert!(alpha("0.0").contains(&N));
    }

    /// The CUDA counterpart must give the same values.
    #[test]
    fn golden() {
        let mut all = Vec::new();
        for by in ["delta-buckets", "identity by.identity.shift=5", "range", "hash"] {
            for distribution in ["uniform", "alpha-uniform", "binomial", "skewed", "one-bucket"] {
                let keys =
                    Keys::new(&spec(&format!("keys=1 buckets=200 by={by} distribution={distribution}")));
                all.push([0, 1, 2, 1 << 30].map(|i| keys.at(i)));
            }
        }
        let keys = Keys::new(&spec("keys=1 buckets=2 by=prime"));
        all.push([0, 1, 2, 1 << 30].map(|i| keys.at(i)));
        all.push([0, 1, 2, 1 << 30].map(|i| keys.value(i, 4) as u32));
        insta::assert_debug_snapshot!((all, [0, 1, 1 << 30].map(|i| keys.value(i, 8))));
    }
}
