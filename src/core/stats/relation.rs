//! The harmonic mean, and the correlation of two quantities. Pure.

/// Fewest pairs for which a correlation is meaningful: two points always lie on a line.
pub const LEAST_PAIRS: usize = 3;

/// The harmonic mean of positive values: for rates over equal amounts of work, the overall rate. `None`
/// without values, and if one is not positive.
pub fn harmonic_mean(values: &[f64]) -> Option<f64> {
    let positive = values.iter().all(|v| v.is_finite() && *v > 0.0);
    (positive && !values.is_empty())
        .then(|| values.len() as f64 / values.iter().map(|v| 1.0 / v).sum::<f64>())
}

/// Pearson's correlation coefficient R, −1 to 1. `None` for fewer than [`LEAST_PAIRS`] pairs, and if one side
/// does not vary.
pub fn pearson(pairs: &[(f64, f64)]) -> Option<f64> {
    if pairs.len() < LEAST_PAIRS {
        return None;
    }
    let n = pairs.len() as f64;
    let mean = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
    let covariance = sum(&|p| (p.0 - x) * (p.1 - y));
    let r = covariance / (sum(&|p| (p.0 - x).powi(2)) * sum(&|p| (p.1 - y).powi(2))).sqrt();
    r.is_finite().then(|| r.clamp(-1.0, 1.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_harmonic_mean_is_that_of_rates() {
        assert!((harmonic_mean(&[40.0, 60.0]).expect("two") - 48.0).abs() < 1e-12);
        assert_eq!(
            (harmonic_mean(&[]), harmonic_mean(&[1.0, 0.0]), harmonic_mean(&[5.0])),
            (None, None, Some(5.0))
        );
    }

    /// Anscombe's first data set, whose published R is 0.816.
    #[test]
    fn pearsons_r_of_a_published_set() {
        let x = [10.0, 8.0, 13.0, 9.0, 11.0, 14.0, 6.0, 4.0, 12.0, 7.0, 5.0];
        let y = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
        let pairs: Vec<(f64, f64)> = x.into_iter().zip(y).collect();
        assert!((pearson(&pairs).expect("eleven pairs") - 0.816_42).abs() < 1e-5);
        assert_eq!(pearson(&pairs[..2]), None);
        assert_eq!(pearson(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]), None, "nothing varies with nothing");
    }

    proptest! {
        #[test]
        fn r_knows_neither_scale_nor_order(
            pairs in prop::collection::vec((1.0..1e3f64, 1.0..1e3f64), 3..20),
            (a, b) in (0.1..10.0f64, -5.0..5.0f64),
        ) {
            let swapped: Vec<(f64, f64)> = pairs.iter().map(|(x, y)| (*y, a * x + b)).collect();
            if let (Some(one), Some(other)) = (pearson(&pairs), pearson(&swapped)) {
                prop_assert!((one - other).abs() < 1e-6, "{one} {other}");
            }
        }

        #[test]
        fn the_harmonic_mean_lies_between_the_least_and_the_arithmetic(
            values in prop::collection::vec(1e-3..1e3f64, 1..20),
        ) {
            let mean = harmonic_mean(&values).expect("positive values");
            let least = values.iter().copied().fold(f64::INFINITY, f64::min);
            let arithmetic = values.iter().sum::<f64>() / values.len() as f64;
            prop_assert!(least * (1.0 - 1e-9) <= mean && mean <= arithmetic * (1.0 + 1e-9));
        }
    }
}
