//! A multisplit among more buckets than one pass supports, in two rounds (ashkiani2017 §6.3). Pure.
//!
//! As many neighbouring buckets as a digit has values make up a super-bucket. Keys are split by their bucket's
//! place in its super-bucket, and then by the super-bucket: since both rounds are stable, the keys of a
//! super-bucket come out of the second round in the order of their buckets. The paper's order of the rounds is
//! the reverse, first the super-buckets and then each of them separately, which leaves as many splits of
//! unknown size as there are super-buckets. Each round recomputes its digit of the bucket's number from the
//! key: for delta-buckets at the cost of a product, for fields at no cost.

use super::Spec;
use super::labels::digits;
use super::spec::By;
use super::subproblems::MOST_BUCKETS;
use super::tiles::field;

/// The rounds of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rounds {
    /// Bits of a bucket's place in its super-bucket.
    pub bits: u32,
    /// The number of super-buckets.
    pub supers: u64,
}

impl Rounds {
    /// The rounds of a case; `None` if a single pass is enough.
    pub fn of(spec: &Spec) -> Option<Rounds> {
        let bits = digits(spec.bits()).1;
        (spec.buckets > MOST_BUCKETS).then(|| Rounds { bits, supers: spec.buckets.div_ceil(1 << bits) })
    }

    /// The number of buckets that each round distinguishes.
    pub fn buckets(&self) -> [u64; 2] {
        [1 << self.bits, self.supers]
    }
}

/// Whether a digit of the bucket's number can be computed without the whole number.
pub fn has_digits(spec: &Spec) -> bool {
    spec.by == By::DeltaBuckets || field(spec).is_some()
}

/// Bytes of the arrays between the rounds.
pub fn bytes(spec: &Spec) -> u64 {
    if Rounds::of(spec).is_some() { spec.input() } else { 0 }
}

/// Keys that a warp reads, 32 at a time, to find where a bucket begins among `n` keys.
pub fn looks(n: u64) -> u64 {
    let mut left = n;
    let mut looks = 0;
    while left > 0 {
        left = left.div_ceil(32) - 1;
        looks += 32;
    }
    looks
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn two_rounds_tell_all_buckets_apart() {
        let of = |m: u64| Rounds::of(&spec(&format!("keys=1 buckets={m}")));
        assert_eq!([of(2), of(256)], [None, None]);
        assert_eq!(of(257), Some(Rounds { bits: 5, supers: 9 }));
        assert_eq!(of(65_536), Some(Rounds { bits: 8, supers: 256 }));
        for m in 257..=65_536 {
            let [places, supers] = of(m).expect("two rounds").buckets();
            assert!(places * supers >= m && places * (supers - 1) < m, "{m}");
            assert!(places <= 256 && supers <= places, "{m}");
        }
    }

    #[test]
    fn a_search_ends_with_the_last_few_keys() {
        assert_eq!([0, 1, 31, 32, 33, 64, 1024, 1025].map(looks), [0, 32, 32, 32, 64, 64, 64, 64]);
    }

    #[test]
    fn fields_and_deltas_have_digits() {
        let has = |by: &str, m: u64| has_digits(&spec(&format!("keys=1 buckets={m} by={by}")));
        assert!(has("delta-buckets", 300) && has("delta-buckets", 512) && has("identity", 300));
        assert!(!has("range", 300) && !has("hash", 512));
    }
}
