//! Expected number of distinct places that random accesses touch (he2007 Eqs. 4, 5 and 7).

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
