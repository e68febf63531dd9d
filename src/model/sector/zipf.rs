//! Independent draws of Zipf-distributed ranks.
//!
//! Equation: rank r is drawn with probability proportional to r^−s, so the first m ranks receive the share
//! H(m) / H(N) of all draws, H(m) = Σ r^−s. The cache keeps the most popular elements; ranks are placed at
//! random, so each occupies a granule of its own: m = capacity / granule. All other draws are random accesses
//! to the whole footprint. Assumes that popularity alone determines which elements the cache keeps.

/// Share of the draws that go to the `m` first of `n` ranks.
pub fn share(m: f64, n: f64, exponent: f64) -> f64 {
    if m >= n { 1.0 } else { harmonic(m, exponent) / harmonic(n, exponent) }
}

/// Σ r^−s for r up to m: the first terms exactly, the others by the integral between the midpoints before the
/// first and after the last of them. O(1).
fn harmonic(m: f64, s: f64) -> f64 {
    const FIRST: u32 = 64;
    let whole = m.min(f64::from(FIRST)).floor();
    let first: f64 = (1..=whole as u32).map(|r| f64::from(r).powf(-s)).sum();
    if m <= f64::from(FIRST) {
        return first + (m - whole) * (whole + 1.0).powf(-s);
    }
    let (low, high) = (f64::from(FIRST) + 0.5, m + 0.5);
    let rest = if (s - 1.0).abs() < 1e-9 {
        (high / low).ln()
    } else {
        (high.powf(1.0 - s) - low.powf(1.0 - s)) / (1.0 - s)
    };
    first + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_sum_is_the_sum() {
        for s in [0.0, 0.5, 1.0, 1.5, 3.0] {
            for m in [1u32, 10, 64, 65, 1000, 100_000] {
                let sum: f64 = (1..=m).map(|r| f64::from(r).powf(-s)).sum();
                assert!((harmonic(f64::from(m), s) / sum - 1.0).abs() < 1e-4, "s {s}, m {m}");
            }
        }
    }

    proptest! {
        #[test]
        fn a_share_grows_with_the_ranks(m in 1.0..1e9f64, more in 1.0..1e9f64, n in 1.0..1e9f64, s in 0.0..4.0f64) {
            let few = share(m, n, s);
            prop_assert!((0.0..=1.0).contains(&few) && share(m + more, n, s) >= few - 1e-9);
        }
    }
}
