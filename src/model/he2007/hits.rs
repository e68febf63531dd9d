//! Distinct places of random draws, and hit and miss rates of accesses to cached blocks (he2007 §3.3.2).

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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_cache_that_holds_all_misses_each_block_once() {
        assert!((random_misses(1e6, 100.0, 100.0) - 1e-4).abs() < 1e-15);
        // All 400 blocks are touched and a quarter stay: 400 first misses, and ¾ of the other accesses miss.
        assert!((random_misses(1e6, 400.0, 100.0) - (400.0 + 0.75 * 999_600.0) / 1e6).abs() < 1e-12);
    }

    #[test]
    fn a_warp_of_one_stream_misses_each_block_once() {
        assert_eq!(warp_misses(1.0, 32.0, 8.0, 256.0), 1.0 / 32.0);
        assert_eq!(warp_misses(1.0, 32.0, 16.0, 256.0), 2.0 / 32.0);
        assert!(warp_misses(1e9, 32.0, 8.0, 256.0) > 0.999);
        assert_eq!(warp_misses(1.0, 1.0, 32.0, 16.0), 1.0);
    }

    /// The erratum's case: 2^15 tuples of 8 bytes in 8 partitions; the sum is 0.75 + 0.97.
    #[test]
    fn the_printed_sum_exceeds_one() {
        let (intra, inter) =
            (1.0 - warp_misses(8.0, 32.0, 8.0, 256.0), 1.0 - random_misses(32768.0, 1024.0, 1568.0));
        assert!((intra - 0.75).abs() < 0.01 && (inter - 0.97).abs() < 0.01, "{intra} {inter}");
        assert!(Together::Sum.of(intra, inter) > 1.7 && Together::Either.of(intra, inter) < 1.0);
    }

    proptest! {
        #[test]
        fn rates_are_rates(n in 1.0..1e10f64, blocks in 1.0..1e9f64, lines in 1.0..1e9f64, p in 1.0..1e6f64) {
            let misses = random_misses(n, blocks, lines);
            prop_assert!((0.0..=1.0 + 1e-12).contains(&misses));
            prop_assert!(random_misses(n, blocks, 2.0 * lines) <= misses + 1e-12);
            prop_assert!((0.0..=1.0).contains(&warp_misses(p, 32.0, 8.0, 256.0)));
        }

        /// Eq. 6 is continuous where the cache just holds all blocks.
        #[test]
        fn continuous_where_the_cache_fills(n in 1e3..1e9f64, lines in 10.0..500.0f64) {
            let [under, over] = [1.0 - 1e-9, 1.0 + 1e-9].map(|f| random_misses(n, lines * f, lines));
            prop_assert!((under - over).abs() < 1e-6);
        }
    }

    /// S(n, j): the number of ways to partition n things into j nonempty parts.
    fn stirling(n: u32, j: u32) -> f64 {
        match (n, j) {
            (0, 0) => 1.0,
            (0, _) | (_, 0) => 0.0,
            _ => f64::from(j) * stirling(n - 1, j) + stirling(n - 1, j - 1),
        }
    }

    /// Eqs. 4 and 5 as printed.
    fn as_printed(k: u32, n: u32) -> f64 {
        let falling = |j: u32| (0..j).map(|i| f64::from(k) - f64::from(i)).product::<f64>();
        let sum: f64 = (1..=n).map(|j| falling(j) * stirling(n, j) * f64::from(j)).sum();
        sum / f64::from(k).powi(n as i32)
    }

    #[test]
    fn the_closed_form_is_the_printed_sum() {
        for k in 1..=12 {
            for n in 1..=12 {
                let (closed, sum) = (distinct(f64::from(k), f64::from(n)), as_printed(k, n));
                assert!((closed - sum).abs() < 1e-9 * sum, "k {k}, n {n}: {closed} and {sum}");
            }
        }
    }

    #[test]
    fn large_numbers_keep_their_digits() {
        // One access touches one block, however many there are; many accesses touch all blocks.
        assert!((distinct(2f64.powi(40), 1.0) - 1.0).abs() < 1e-12);
        assert!((distinct(1024.0, 2f64.powi(30)) - 1024.0).abs() < 1e-9);
        // n ≪ k: n − n(n−1)/2k; the next term is below n³/k².
        let (k, n) = (2f64.powi(40), 2f64.powi(20));
        assert!((distinct(k, n) - (n - n * (n - 1.0) / 2.0 / k)).abs() < 1e-5);
    }

    proptest! {
        #[test]
        fn more_draws_touch_more_and_never_too_many(k in 1.0..1e12f64, n in 0.0..1e12f64, more in 0.0..1e12f64) {
            let (few, many) = (distinct(k, n), distinct(k, n + more));
            prop_assert!(few >= 0.0 && few <= n && few <= k * (1.0 + 1e-12));
            prop_assert!(many >= few * (1.0 - 1e-12));
        }
    }
}
