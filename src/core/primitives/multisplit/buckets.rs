//! The bucket functions, counterparts of those in `kernels/multisplit/inputs.cuh`, and for each function the
//! keys of a bucket.

use super::{By, Spec};
use crate::inputs::mix::{mix32, scale, unmix32, word64};
use std::iter::successors;

const TAG: u64 = 0x5350_4C49_545F_4259;

/// A bucket function.
pub trait Function {
    /// The bucket of `key`, below m for the keys of a case.
    fn of(&self, key: u32) -> u32;
}

/// ⌊u / Δ⌋ as the upper half of a product.
#[derive(Clone, Copy, Debug)]
pub struct Delta {
    /// ⌈2^64 / Δ⌉: exact for 32-bit keys and Δ < 2^32, as u / 2^64 < 1 / Δ.
    pub reciprocal: u64,
}

/// A field of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    pub shift: u32,
    pub mask: u32,
}

/// The number of splitters that are ≤ the key.
#[derive(Clone, Debug)]
pub struct Splitters(pub Vec<u32>);

/// ⌊h(u) · m / 2^32⌋ with h = [`mix32`].
#[derive(Clone, Copy, Debug)]
pub struct Hash {
    pub buckets: u64,
}

/// Bucket 0 for primes, 1 for all others.
#[derive(Clone, Copy, Debug)]
pub struct Primes;

macro_rules! function {
    ($name:ident, |$self:ident, $key:ident| $bucket:expr) => {
        impl Function for $name {
            #[inline(always)]
            fn of(&$self, $key: u32) -> u32 {
                $bucket
            }
        }
    };
}

function!(Delta, |self, key| scale(self.reciprocal, u64::from(key)) as u32);
function!(Field, |self, key| key >> self.shift & self.mask);
function!(Splitters, |self, key| self.0.partition_point(|&splitter| splitter <= key) as u32);
function!(Hash, |self, key| ((u64::from(mix32(key)) * self.buckets) >> 32) as u32);
function!(Primes, |self, key| u32::from(!is_prime(key)));

/// The function of a case.
#[derive(Clone, Debug)]
pub enum Buckets {
    Delta(Delta),
    Identity(Field),
    Range(Splitters),
    Hash(Hash),
    Prime(Primes),
}

/// Evaluates an expression with the function of a case, monomorphised for each type of function.
macro_rules! by_function {
    ($buckets:expr, |$function:ident| $value:expr) => {
        match $buckets {
            Buckets::Delta($function) => $value,
            Buckets::Identity($function) => $value,
            Buckets::Range($function) => $value,
            Buckets::Hash($function) => $value,
            Buckets::Prime($function) => $value,
        }
    };
}
pub(super) use by_function;

impl Buckets {
    /// The function of a case. Takes time and memory at most proportional to the number of buckets.
    pub fn new(spec: &Spec) -> Buckets {
        match spec.by {
            By::DeltaBuckets { .. } => Buckets::Delta(Delta { reciprocal: u64::MAX / spec.delta() + 1 }),
            By::Identity { shift } => {
                Buckets::Identity(Field { shift, mask: (spec.buckets.next_power_of_two() - 1) as u32 })
            }
            By::Range => Buckets::Range(Splitters(splitters(spec))),
            By::Hash => Buckets::Hash(Hash { buckets: spec.buckets }),
            By::Prime => Buckets::Prime(Primes),
        }
    }

    /// The same function in fewer steps: if Δ is a power of two, the quotient is a field of the key, so that a
    /// shift replaces the double-width product.
    pub fn strength_reduced(self) -> Buckets {
        match self {
            Buckets::Delta(Delta { reciprocal }) if reciprocal.is_power_of_two() => {
                Buckets::Identity(Field { shift: u64::BITS - reciprocal.trailing_zeros(), mask: u32::MAX })
            }
            other => other,
        }
    }

    /// The bucket of a key.
    pub fn of(&self, key: u32) -> u32 {
        by_function!(self, |function| function.of(key))
    }
}

/// The splitters s_1 < … < s_(m-1) of range buckets, each from 1 to 2^32 − 1: s_j = r_j + j, where
/// r_1 ≤ … ≤ r_(m-1) are the sorted scale(word64(seed ^ TAG, j), 2^32 − m), j from 1.
pub fn splitters(spec: &Spec) -> Vec<u32> {
    let room = (1u64 << 32) - spec.buckets;
    let mut all: Vec<u64> = (1..spec.buckets).map(|j| scale(word64(spec.seed ^ TAG, j), room)).collect();
    all.sort_unstable();
    all.into_iter().zip(1..).map(|(r, j)| (r + j) as u32).collect()
}

/// The keys of each bucket: an interval of numbers, mapped to keys.
#[derive(Clone, Debug)]
pub struct Members {
    /// If buckets are intervals of keys or of hashes: the first number of each bucket, then 2^32.
    pub first: Vec<u64>,
    pub image: Image,
}

/// The mapping from a number of a bucket's interval to a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Image {
    /// The number is the key.
    Key,
    /// The number is the key's hash.
    Hash,
    /// Any number, whose field is replaced by the bucket.
    Field(Field),
    /// Any number up to the last prime; the key is the first prime, or the first other number, from there on.
    Prime,
}

impl Members {
    /// The members of a case's buckets.
    pub fn new(spec: &Spec) -> Members {
        let (m, end) = (spec.buckets, 1u64 << 32);
        let (first, image): (Vec<u64>, _) = match Buckets::new(spec) {
            Buckets::Delta(_) => ((0..m).map(|b| b * spec.delta()).collect(), Image::Key),
            Buckets::Range(s) => {
                ([0].into_iter().chain(s.0.into_iter().map(u64::from)).collect(), Image::Key)
            }
            Buckets::Hash(_) => ((0..m).map(|b| (b * end).div_ceil(m)).collect(), Image::Hash),
            Buckets::Identity(field) => (Vec::new(), Image::Field(field)),
            Buckets::Prime(_) => (Vec::new(), Image::Prime),
        };
        let end = if first.is_empty() { None } else { Some(end) };
        Members { first: first.into_iter().chain(end).collect(), image }
    }

    /// The key of `bucket` that a random word chooses.
    pub fn key(&self, bucket: u32, word: u64) -> u32 {
        let at = |bucket: usize| self.first[bucket];
        let inside = || {
            let low = at(bucket as usize);
            (low + scale(word, at(bucket as usize + 1) - low)) as u32
        };
        match self.image {
            Image::Key => inside(),
            Image::Hash => unmix32(inside()),
            Image::Field(Field { shift, mask }) => (word >> 32) as u32 & !(mask << shift) | bucket << shift,
            Image::Prime => {
                let from = scale(word, u64::from(LAST_PRIME) + 1) as u32;
                (from..).find(|&key| is_prime(key) == (bucket == 0)).unwrap_or(LAST_PRIME)
            }
        }
    }
}

/// The greatest prime below 2^32.
const LAST_PRIME: u32 = 4_294_967_291;

/// The least strong pseudoprime to all of these bases is 4 759 123 141 (G. Jaeschke, *On strong pseudoprimes to
/// several bases*, 1993).
const BASES: [u32; 3] = [2, 7, 61];

fn power(base: u32, mut exponent: u32, modulus: u32) -> u32 {
    let modulo = |x: u64| x % u64::from(modulus);
    let (mut square, mut product) = (modulo(u64::from(base)), 1);
    while exponent > 0 {
        if exponent & 1 == 1 {
            product = modulo(product * square);
        }
        square = modulo(square * square);
        exponent >>= 1;
    }
    product as u32
}

/// True if an odd n > 2 is a prime or a strong pseudoprime to `base`.
fn passes(n: u32, base: u32) -> bool {
    let twos = (n - 1).trailing_zeros();
    let first = power(base, (n - 1) >> twos, n);
    let square = |x: &u32| Some((u64::from(*x) * u64::from(*x) % u64::from(n)) as u32);
    let mut squares = successors(Some(first), square).take(twos as usize);
    first == 1 || base.is_multiple_of(n) || squares.any(|x| x == n - 1)
}

/// True if n is a prime: trial division by small divisors, then the Miller–Rabin test.
fn is_prime(n: u32) -> bool {
    if n < 2 {
        return false;
    }
    for divisor in [2, 3, 5, 7, 11, 13] {
        if n.is_multiple_of(divisor) {
            return n == divisor;
        }
    }
    BASES.into_iter().all(|base| passes(n, base))
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;
    use proptest::prelude::*;

    /// A stable split: the keys of each bucket after those of the bucket before.
    fn split(keys: &[u32], bucket: impl Fn(u32) -> u32, buckets: u32) -> Vec<u32> {
        let of = |b| {
            keys.iter().copied().filter(move |_| true).filter(|&key| bucket(key) == b).collect::<Vec<_>>()
        };
        (0..buckets).flat_map(of).collect()
    }

    /// ashkiani2017 Fig. 1 (a) and (b).
    #[test]
    fn the_papers_examples() {
        let keys = [9, 12, 4, 11, 3, 5, 16, 2, 1, 10, 13, 6, 15, 8, 14, 7];
        let by_prime = [11, 3, 5, 2, 13, 7, 9, 12, 4, 16, 1, 10, 6, 15, 8, 14];
        assert_eq!(split(&keys, |key| Primes.of(key), 2), by_prime);
        let ranges = Splitters(vec![6, 14]);
        let by_range = [4, 3, 5, 2, 1, 9, 12, 11, 10, 13, 6, 8, 7, 16, 15, 14];
        assert_eq!(split(&keys, |key| ranges.of(key), 3), by_range);
    }

    #[test]
    fn deltas_are_quotients() {
        for m in [2, 3, 5, 7, 31, 32, 33, 255, 256, 257, 1000, 65_521, 65_535, 65_536] {
            let spec = spec(&format!("keys=1 buckets={m}"));
            let (delta, buckets) = (spec.delta() as u32, Buckets::new(&spec));
            let few = buckets.clone().strength_reduced();
            assert_eq!(matches!(few, Buckets::Identity(_)), delta.is_power_of_two());
            assert_eq!((buckets.of(0), u64::from(buckets.of(u32::MAX))), (0, m - 1));
            for b in 1..m as u32 {
                for key in [b * delta - 1, b * delta, u32::MAX] {
                    assert_eq!(buckets.of(key), few.of(key), "{m}");
                }
                assert_eq!((buckets.of(b * delta - 1), buckets.of(b * delta)), (b - 1, b), "{m}");
            }
        }
    }

    #[test]
    fn splitters_ascend() {
        for m in [2, 3, 4096, 65_536] {
            let splitters = splitters(&spec(&format!("keys=1 buckets={m} by=range")));
            assert_eq!(splitters.len() as u64, m - 1);
            assert!(splitters.windows(2).all(|pair| pair[0] < pair[1]) && splitters[0] > 0);
        }
    }

    proptest! {
        #[test]
        fn members_lie_in_their_bucket(
            by in prop::sample::select(vec!["delta-buckets", "identity", "range", "hash"]),
            m in 2u64..=65_536, at in 0u64..65_536, word: u64,
        ) {
            let spec = spec(&format!("keys=1 buckets={m} by={by}"));
            let bucket = (at % m) as u32;
            let (buckets, members) = (Buckets::new(&spec), Members::new(&spec));
            for word in [word, 0, u64::MAX] {
                prop_assert_eq!(buckets.of(members.key(bucket, word)), bucket);
            }
        }
    }

    #[test]
    fn primes_and_others_are_found() {
        let spec = spec("keys=1 buckets=2 by=prime");
        let (buckets, members) = (Buckets::new(&spec), Members::new(&spec));
        for (bucket, word) in [0, 1].into_iter().flat_map(|b| [0, 1, u64::MAX / 3, u64::MAX].map(|w| (b, w)))
        {
            assert_eq!(buckets.of(members.key(bucket, word)), bucket);
        }
    }

    #[test]
    fn primes_agree_with_a_sieve() {
        const N: usize = 1 << 17;
        let mut composite = vec![false; N];
        for d in 2..N {
            if !composite[d] {
                (d * d..N).step_by(d).for_each(|k| composite[k] = true);
            }
        }
        for (n, &composite) in composite.iter().enumerate() {
            assert_eq!(is_prime(n as u32), n > 1 && !composite, "{n}");
        }
    }

    /// Strong pseudoprimes to base 2, to 2 and 7, and the ends of the range.
    #[test]
    fn large_primes_are_told_apart() {
        assert!([2_147_483_647, LAST_PRIME, 4_294_967_279].into_iter().all(is_prime));
        assert!((LAST_PRIME + 1..=u32::MAX).all(|n| !is_prime(n)));
        assert!(
            ![2047, 3_215_031_751, 2_284_453, 314_821, 65_535 * 65_537, 65_521 * 65_521]
                .into_iter()
                .any(is_prime)
        );
    }
}
