//! Confidence intervals of the mean of the rounds' medians.

use std::sync::OnceLock;

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The confidence of every interval that is not corrected for a number of cases.
pub const CONFIDENCE: f64 = 0.95;

/// So many degrees of freedom have a quantile that is computed once.
const TABLE: usize = 200;

/// The quantile of Student's t distribution that leaves `(1 − confidence) / 2` above it;
/// `None` without a degree of freedom, or for a confidence outside (0, 1).
pub fn t_quantile(confidence: f64, freedom: f64) -> Option<f64> {
    static QUANTILES: [OnceLock<Option<f64>>; TABLE] = [const { OnceLock::new() }; TABLE];
    let whole = confidence == CONFIDENCE && freedom >= 1.0 && freedom.fract() == 0.0;
    let place = QUANTILES.get(freedom as usize).filter(|_| whole);
    place.map_or_else(
        || computed(confidence, freedom),
        |place| *place.get_or_init(|| computed(confidence, freedom)),
    )
}

fn computed(confidence: f64, freedom: f64) -> Option<f64> {
    let inside = confidence > 0.0 && confidence < 1.0 && freedom > 0.0 && freedom.is_finite();
    let t = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| inside)?;
    let quantile = t.inverse_cdf(0.5 + confidence / 2.0);
    quantile.is_finite().then_some(quantile)
}

/// Mean, and variance of the mean (s²/n), of at least two values.
pub fn mean_and_variance(values: &[f64]) -> Option<(f64, f64)> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (values.len() > 1).then(|| (mean, squares / (n - 1.0) / n))
}

/// The t interval of the mean of `values`: low and high end; `None` for fewer than two values.
///
/// The values are the medians of rounds with fresh allocations: samples within a round share their pages and
/// are not independent.
pub fn interval(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let (mean, variance) = mean_and_variance(values)?;
    let half = t_quantile(confidence, values.len() as f64 - 1.0)? * variance.sqrt();
    Some([mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Two-sided quantiles of Student's t from a printed table.
        for (confidence, freedom, expected) in [
            (0.95, 1.0, 12.706),
            (0.95, 4.0, 2.776),
            (0.95, 30.0, 2.042),
            (0.99, 8.0, 3.355),
            (0.999, 5.0, 6.869),
        ] {
            let found = t_quantile(confidence, freedom).expect("inside the limits");
            assert!((found - expected).abs() < 6e-4, "{confidence} {freedom}: {found}");
        }
        assert_eq!(t_quantile(0.95, 0.0), None);
        assert_eq!(t_quantile(1.0, 3.0), None);
    }

    #[test]
    fn two_values_are_the_fewest() {
        assert_eq!(interval(&[1.0], 0.95), None);
        let [low, high] = interval(&[1.0, 3.0], 0.95).expect("two values");
        assert!((low + 10.706).abs() < 1e-2 && (high - 14.706).abs() < 1e-2, "{low} {high}");
    }

    /// The sum of twelve uniform numbers is nearly normal.
    fn normal(seed: u64, i: u64) -> f64 {
        let uniform = |k| mix::word64(seed, 12 * i + k) as f64 / 2f64.powi(64);
        (0..12).map(uniform).sum::<f64>() - 6.0
    }

    #[test]
    fn an_interval_holds_the_truth_as_often_as_it_says() {
        let trials = 4000;
        let covered = (0..trials).filter(|trial| {
            let medians: Vec<f64> = (0..5).map(|i| 1.0 + 0.02 * normal(7, trial * 5 + i)).collect();
            interval(&medians, CONFIDENCE).is_some_and(|[low, high]| low <= 1.0 && 1.0 <= high)
        });
        let share = covered.count() as f64 / trials as f64;
        assert!((0.94..0.96).contains(&share), "{share}");
    }
}
