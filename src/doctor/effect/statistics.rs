//! The cost of drawing, computed from pairs of neighbouring stretches of time.

use serde::Serialize;

use crate::stats::interval::{CONFIDENCE, interval, mean_and_variance};

/// Seconds of one execution in two neighbouring halves, one without drawing and one with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub without: f64,
    pub with: f64,
}

impl Pair {
    /// The logarithm of the bandwidth without drawing over the bandwidth with drawing: positive where drawing
    /// costs something.
    fn loss(&self) -> f64 {
        (self.with / self.without).ln()
    }
}

/// The share of the bandwidth that drawing takes: 0.01 is one per cent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Cost {
    pub pairs: usize,
    pub mean: f64,
    /// 95% confidence interval of the mean.
    pub interval: [f64; 2],
}

impl Cost {
    /// Half the width of the interval.
    pub fn half_width(&self) -> f64 {
        (self.interval[1] - self.interval[0]) / 2.0
    }
}

/// The mean of the pairs' losses with its t interval, as shares; `None` for fewer than two pairs. Anything that
/// changes slowly affects both halves of a pair alike and cancels in their ratio.
pub fn cost(pairs: &[Pair]) -> Option<Cost> {
    let losses: Vec<f64> = pairs.iter().map(Pair::loss).collect();
    let (mean, _) = mean_and_variance(&losses)?;
    let share = |loss: f64| 1.0 - (-loss).exp();
    let [low, high] = interval(&losses, CONFIDENCE)?;
    Some(Cost { pairs: pairs.len(), mean: share(mean), interval: [share(low), share(high)] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix;

    /// The sum of twelve uniform numbers is nearly normal.
    fn normal(seed: u64, i: u64) -> f64 {
        let uniform = |k| mix::word64(seed, 12 * i + k) as f64 / 2f64.powi(64);
        (0..12).map(uniform).sum::<f64>() - 6.0
    }

    /// Simulates a machine whose pace wanders by tens of per cent overall and by one per cent within a pair,
    /// and on which drawing takes the share `cost`.
    fn simulated(seed: u64, count: u64, cost: f64) -> Vec<Pair> {
        let pair = |i: u64| {
            let pace = 1.0 + 0.3 * ((i + seed) as f64 / 9.0).sin();
            let noise = |k| 1.0 + 0.01 * normal(seed, 2 * i + k);
            Pair { without: pace * noise(0), with: pace * noise(1) / (1.0 - cost) }
        };
        (0..count).map(pair).collect()
    }

    #[test]
    fn the_interval_holds_the_cost_as_often_as_it_says() {
        for truth in [0.0, 0.02] {
            let holds = (0..2000).filter(|seed| {
                let found = cost(&simulated(*seed, 24, truth)).expect("many pairs");
                found.interval[0] <= truth && truth <= found.interval[1]
            });
            let share = holds.count() as f64 / 2000.0;
            assert!((0.93..0.97).contains(&share), "{truth}: {share}");
        }
    }

    #[test]
    fn a_cost_beyond_the_noise_is_seen() {
        let found = cost(&simulated(1, 24, 0.02)).expect("many pairs");
        assert!(found.interval[0] > 0.0 && found.half_width() < 0.01, "{found:?}");
        assert_eq!(found.pairs, 24);
        let exact = vec![Pair { without: 1.0, with: 1.25 }; 3];
        let found = cost(&exact).expect("three pairs");
        assert!((found.mean - 0.2).abs() < 1e-12, "a quarter more time is a fifth of the bandwidth");
    }

    #[test]
    fn one_pair_tells_nothing() {
        assert_eq!(cost(&simulated(1, 1, 0.0)), None);
        assert_eq!(cost(&[]), None);
    }
}
