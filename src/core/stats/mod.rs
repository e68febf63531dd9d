//! Statistics of samples, the rule that decides when a case has enough rounds, signs of noise, the
//! harmonic mean and the correlation of two quantities. Pure.

pub mod comparison;
mod counters;
pub mod interval;
pub mod noise;
pub mod ratio;
mod stopping;

pub use ratio::{Ratio, corrected};
pub use stopping::{Spent, Stop, half_width, verdict};

use serde::{Deserialize, Serialize};

use crate::case::chart::Statistic;

/// Summary of a case's samples, in seconds per execution. `min`, `max`, `mean`, and the 5th and 95th percentiles
/// `p5` and `p95` are over all samples. `median` is the median of the rounds' medians, because samples within a
/// round are not independent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Number of samples over all rounds.
    pub samples: usize,
    pub rounds: usize,
    pub min: f64,
    pub p5: f64,
    pub median: f64,
    pub p95: f64,
    pub max: f64,
    pub mean: f64,
    /// Coefficient of variation of all samples: standard deviation divided by mean. `None` for one sample.
    pub cv: Option<f64>,
    /// 95% confidence interval (Student's t) of the **mean** of the rounds' medians: low and high end, seconds;
    /// missing for one round. The interval is centred on that mean, not on [`median`](Self::median), which may
    /// lie off-centre, and outside the interval if some rounds are far to one side. With few, scattered rounds
    /// the low end may be below 0.
    pub interval: Option<[f64; 2]>,
    /// Range of the rounds' medians, (largest − smallest), divided by `median`. `None` for one round.
    pub spread: Option<f64>,
}

/// A case is unsteady if the spread of its rounds' medians exceeds this share of the median.
const UNSTEADY: f64 = 0.1;

impl Statistics {
    /// The time that a chart's points stand for, seconds.
    pub fn time(&self, statistic: Statistic) -> f64 {
        match statistic {
            Statistic::Median => self.median,
            Statistic::Fastest => self.min,
        }
    }

    /// True if the rounds are so far apart that small differences between cases mean nothing.
    pub fn unsteady(&self) -> bool {
        self.spread.is_some_and(|spread| spread > UNSTEADY)
    }
}

/// Summarises the samples of a case, one slice per round; `None` without samples.
pub fn statistics<'a>(rounds: impl Iterator<Item = &'a [f64]>) -> Option<Statistics> {
    let rounds: Vec<Vec<f64>> = rounds.filter(|r| !r.is_empty()).map(sorted).collect();
    let medians = sorted(&rounds.iter().map(|r| quantile(r, 0.5)).collect::<Vec<_>>());
    let all = sorted(&rounds.concat());
    if all.is_empty() {
        return None;
    }
    let mean = all.iter().sum::<f64>() / all.len() as f64;
    let median = quantile(&medians, 0.5);
    Some(Statistics {
        samples: all.len(),
        rounds: rounds.len(),
        min: all[0],
        p5: quantile(&all, 0.05),
        median,
        p95: quantile(&all, 0.95),
        max: all[all.len() - 1],
        mean,
        interval: interval::interval(&medians, interval::CONFIDENCE),
        cv: deviation(&all, mean).map(|s| s / mean),
        spread: (medians.len() > 1).then(|| (medians[medians.len() - 1] - medians[0]) / median),
    })
}

/// The median of a round's samples; `None` without samples.
pub fn median(samples: &[f64]) -> Option<f64> {
    quantile_of(samples, 0.5)
}

/// The quantile `q`, 0 to 1, of values in any order; `None` without values.
pub fn quantile_of(values: &[f64], q: f64) -> Option<f64> {
    (!values.is_empty()).then(|| quantile(&sorted(values), q))
}

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values = values.to_vec();
    values.sort_by(f64::total_cmp);
    values
}

/// Quantile of sorted values by linear interpolation between order statistics
/// (Hyndman and Fan's type 7).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (low, high) = (at.floor() as usize, at.ceil() as usize);
    sorted[low] + (at - low as f64) * (sorted[high] - sorted[low])
}

/// Sample standard deviation; missing for fewer than two values.
fn deviation(values: &[f64], mean: f64) -> Option<f64> {
    let n = values.len();
    (n > 1).then(|| (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1) as f64).sqrt())
}

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
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_median_is_the_median_of_the_rounds() {
        let rounds = [vec![1.0, 1.0, 1.0], vec![2.0, 2.0, 2.0], vec![2.0, 9.0, 9.0, 9.0, 9.0]];
        let s = statistics(rounds.iter().map(Vec::as_slice)).expect("samples");
        assert_eq!((s.samples, s.rounds, s.min, s.max), (11, 3, 1.0, 9.0));
        assert_eq!(s.median, 2.0);
        assert_eq!(s.spread, Some(4.0));
    }

    #[test]
    fn what_one_sample_cannot_tell_is_missing() {
        let s = statistics([&[3.0][..]].into_iter()).expect("one sample");
        assert_eq!((s.cv, s.spread), (None, None));
        assert_eq!(statistics([&[][..]].into_iter()), None);
    }

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
