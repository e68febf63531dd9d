//! Random partitions (he2007 §3.3.2 Case II and §3.5): the partitions of the tuples are independent, and the
//! location of a tuple is the start of its partition plus its rank, in input order, among the tuples of the
//! same partition.
//!
//! With c(q) the number of tuples in partition q,
//! `L[i] = Σ_{q < partition(i)} c(q) + #{h < i : partition(h) = partition(i)}`. L is a permutation, ascending
//! within each partition. It has no closed form: the backends count on the device, and the tests use
//! [`locations`].

use super::mix::{scale, word64};

/// The partition of tuple `i` among `p` (at least 1): `floor(word64(seed, i) * p / 2^64)`.
#[inline(always)]
pub const fn partition_of(seed: u64, i: u64, p: u64) -> u64 {
    scale(word64(seed, i), p)
}

/// Reference implementation: the location of every tuple in order. Needs O(n + p) memory. `p` = 0 is treated as
/// a single partition.
pub fn locations(seed: u64, n: u64, p: u64) -> Vec<u64> {
    let p = p.max(1);
    let mut next = vec![0u64; p as usize];
    for i in 0..n {
        next[partition_of(seed, i, p) as usize] += 1;
    }
    let mut start = 0;
    for slot in &mut next {
        start += std::mem::replace(slot, start);
    }
    (0..n)
        .map(|i| {
            let slot = &mut next[partition_of(seed, i, p) as usize];
            *slot += 1;
            *slot - 1
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn locations_follow_the_definition(seed: u64, n in 0u64..300, p in 1u64..40) {
            let part: Vec<u64> = (0..n).map(|i| partition_of(seed, i, p)).collect();
            for (i, &location) in locations(seed, n, p).iter().enumerate() {
                let before = part.iter().filter(|&&q| q < part[i]).count();
                let rank = part[..i].iter().filter(|&&q| q == part[i]).count();
                prop_assert!(part[i] < p);
                prop_assert_eq!(location, (before + rank) as u64);
            }
        }
    }

    #[test]
    fn one_partition_is_the_identity() {
        assert_eq!(locations(3, 5, 1), [0, 1, 2, 3, 4]);
        assert!(locations(3, 0, 4).is_empty());
    }

    /// Partitions are drawn independently: the mean number of distinct ones in a
    /// warp is p·(1 − (1 − 1/p)^32) (he2007 Eq. 7, closed form).
    #[test]
    fn warps_see_as_many_partitions_as_eq_7_says() {
        for p in [2u64, 32, 256] {
            let warps = 2000;
            let distinct: usize = (0..warps)
                .map(|w| {
                    let mut seen: Vec<u64> = (0..32).map(|t| partition_of(9, w * 32 + t, p)).collect();
                    seen.sort_unstable();
                    seen.dedup();
                    seen.len()
                })
                .sum();
            let expected = p as f64 * (1.0 - (1.0 - 1.0 / p as f64).powi(32));
            let mean = distinct as f64 / warps as f64;
            assert!((mean / expected - 1.0).abs() < 0.01, "p {p}: {mean} against {expected}");
        }
    }
}
