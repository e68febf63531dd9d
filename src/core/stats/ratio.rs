//! The ratio of two times, with its confidence interval.

use crate::stats::interval::{mean_and_variance, t_quantile};

/// Time of the other run over that of the baseline: above 1, the other run is slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Ratio of the geometric means of the rounds' medians.
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// Mean of the logarithms of one side, variance of that mean, and the number of rounds.
struct Side {
    mean: f64,
    variance: f64,
    rounds: f64,
}

impl Side {
    fn of(medians: &[f64]) -> Option<Side> {
        let logs: Vec<f64> = medians.iter().map(|m| m.ln()).collect();
        let (mean, variance) = mean_and_variance(&logs)?;
        (mean.is_finite() && variance.is_finite()).then_some(Side {
            mean,
            variance,
            rounds: logs.len() as f64,
        })
    }
}

/// The ratio of the times `other` to those of `baseline` (medians of rounds, seconds), with its interval at
/// this confidence. The interval is Welch's t for the difference of the means of the logarithms, which
/// requires neither equal variances nor equal numbers of rounds (B. L. Welch, *Biometrika* 34, 1947).
///
/// `None` for fewer than two rounds on a side, and for times that are not positive.
pub fn ratio(baseline: &[f64], other: &[f64], confidence: f64) -> Option<Ratio> {
    let (a, b) = (Side::of(baseline)?, Side::of(other)?);
    let difference = b.mean - a.mean;
    let variance = a.variance + b.variance;
    // Without spread there is no uncertainty.
    let half = match variance > 0.0 {
        true => t_quantile(confidence, freedom(&a, &b))? * variance.sqrt(),
        false => 0.0,
    };
    let [value, low, high] = [difference, difference - half, difference + half].map(f64::exp);
    high.is_finite().then_some(Ratio { value, low, high })
}

/// Welch–Satterthwaite degrees of freedom: between those of the smaller side and the sum of both.
fn freedom(a: &Side, b: &Side) -> f64 {
    // Divide before squaring: the squares of small variances would underflow.
    let all = a.variance + b.variance;
    let part = |side: &Side| (side.variance / all).powi(2) / (side.rounds - 1.0);
    1.0 / (part(a) + part(b))
}

/// The confidence that each of `comparisons` intervals needs for all of them to hold at once with
/// `confidence` (Bonferroni; the comparisons may depend on each other).
pub fn corrected(confidence: f64, comparisons: usize) -> f64 {
    1.0 - (1.0 - confidence) / comparisons.max(1) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computed by hand: Welch's formula as printed, and the quantile 2.3653 of Student's t at 6.9896 degrees
    /// of freedom by numerical integration of its density.
    #[test]
    fn a_ratio_is_the_one_of_the_formula() {
        let a = [1.00, 1.01, 0.99, 1.02];
        let b = [1.10, 1.12, 1.09, 1.11, 1.14];
        let (sides, r) =
            (Side::of(&a).zip(Side::of(&b)).expect("sides"), ratio(&a, &b, 0.95).expect("a ratio"));
        assert!((freedom(&sides.0, &sides.1) - 6.989_602_627).abs() < 1e-8);
        for (found, expected) in [(r.value, 1.106_404), (r.low, 1.080_444), (r.high, 1.132_988)] {
            assert!((found - expected).abs() < 2e-6, "{r:?}");
        }
    }

    #[test]
    fn what_has_no_interval_has_no_ratio() {
        assert_eq!(ratio(&[1.0], &[1.0, 1.0], 0.95), None);
        assert_eq!(ratio(&[1.0, 0.0], &[1.0, 1.0], 0.95), None);
        assert_eq!(ratio(&[1.0, f64::NAN], &[1.0, 1.0], 0.95), None);
        let same = ratio(&[2.0; 3], &[2.0; 4], 0.95);
        assert_eq!(same, Some(Ratio { value: 1.0, low: 1.0, high: 1.0 }));
    }

    #[test]
    fn quantiles_far_out_are_those_of_the_tables() {
        // Two-sided quantiles of Student's t at the confidence that 50 comparisons require.
        for (comparisons, freedom, expected) in [(50, 4.0, 8.610), (50, 8.0, 5.041), (50, 2.0, 31.599)] {
            let t = t_quantile(corrected(0.95, comparisons), freedom).expect("inside the limits");
            assert!((t - expected).abs() < 5e-3, "{comparisons} {freedom}: {t}");
        }
        assert!(t_quantile(corrected(0.95, 10_000), 4.0).is_some_and(|t| t > 20.0 && t < 50.0));
    }

    fn times() -> impl Strategy<Value = Vec<f64>> {
        proptest::collection::vec(1e-6..1e3f64, 2..12)
    }

    proptest! {
        #[test]
        fn exchanging_the_sides_inverts_the_ratio(a in times(), b in times()) {
            let (r, s) = (ratio(&a, &b, 0.95), ratio(&b, &a, 0.95));
            prop_assert_eq!(r.is_some(), s.is_some());
            if let (Some(r), Some(s)) = (r, s) {
                for (x, y) in [(r.value, s.value), (r.low, s.high), (r.high, s.low)] {
                    prop_assert!((x.ln() + y.ln()).abs() < 1e-6, "{x} {y}");
                }
            }
        }

        #[test]
        fn the_unit_of_time_does_not_matter(a in times(), b in times(), factor in 1e-3..1e3f64) {
            let scaled = |v: &[f64]| v.iter().map(|x| x * factor).collect::<Vec<f64>>();
            if let (Some(r), Some(s)) = (ratio(&a, &b, 0.95), ratio(&scaled(&a), &scaled(&b), 0.95)) {
                prop_assert!((r.low.ln() - s.low.ln()).abs() < 1e-6 && (r.high.ln() - s.high.ln()).abs() < 1e-6);
            }
        }

        #[test]
        fn more_comparisons_make_wider_intervals(a in times(), b in times(), n in 2usize..500) {
            let of = |n| ratio(&a, &b, corrected(0.95, n));
            if let (Some(one), Some(many)) = (of(1), of(n)) {
                prop_assert!(many.low <= one.low && one.high <= many.high);
            }
        }
    }
}
