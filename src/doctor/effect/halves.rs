//! Assigns samples to the stretches of time in which the screen was drawn or not.

use super::statistics::Pair;

/// A stretch of time in which the screen was drawn, or was not; seconds since the epoch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Half {
    pub drawn: bool,
    pub from: f64,
    pub to: f64,
}

/// Back-to-back samples of one case.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timed {
    /// Start of the first sample and end of the last, seconds since the epoch.
    pub started: f64,
    pub ended: f64,
    /// Seconds of one execution, for each sample.
    pub samples: Vec<f64>,
    /// Executions per sample.
    pub batch: u32,
}

/// Fewest samples in a half that are worth summarizing.
pub const FEWEST: usize = 3;

/// Whether the screen is drawn in half `half` of pair `pair`. The order alternates (without, with; with,
/// without; …), so that steady drift affects both kinds alike.
pub fn drawn(pair: usize, half: usize) -> bool {
    (pair + half) % 2 == 1
}

/// Groups the halves into pairs and summarizes each half's samples with `summary`. Only pairs of two whole
/// halves with enough samples each are returned. A sample that reaches beyond its half belongs to none.
pub fn pairs(halves: &[Half], timed: &Timed, summary: fn(&[f64]) -> Option<f64>) -> Vec<Pair> {
    let spans = spans(timed);
    let one = |half: &Half| {
        let inside = |(from, to, _): &&(f64, f64, f64)| half.from <= *from && *to <= half.to;
        let samples: Vec<f64> = spans.iter().filter(inside).map(|span| span.2).collect();
        let whole = half.to <= timed.ended && samples.len() >= FEWEST;
        whole.then(|| summary(&samples)).flatten()
    };
    let pair = |two: &[Half]| {
        let [a, b] = two else { return None };
        let (without, with) = if a.drawn { (b, a) } else { (a, b) };
        (a.drawn != b.drawn).then_some(())?;
        Some(Pair { without: one(without)?, with: one(with)? })
    };
    halves.chunks(2).filter_map(pair).collect()
}

/// Start, end and seconds of each sample. The untimed gaps between samples are spread evenly over them.
fn spans(timed: &Timed) -> Vec<(f64, f64, f64)> {
    let length = |sample: &f64| sample * f64::from(timed.batch);
    let total: f64 = timed.samples.iter().map(length).sum();
    let slack = (timed.ended - timed.started - total).max(0.0) / timed.samples.len().max(1) as f64;
    let mut at = timed.started;
    let span = |sample: &f64| {
        let from = at;
        at += length(sample) + slack;
        (from, at, *sample)
    };
    timed.samples.iter().map(span).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::median;

    fn half(drawn: bool, from: f64) -> Half {
        Half { drawn, from, to: from + 1.0 }
    }

    #[test]
    fn the_order_within_pairs_alternates() {
        let order: Vec<bool> = (0..4).flat_map(|pair| [drawn(pair, 0), drawn(pair, 1)]).collect();
        assert_eq!(order, [false, true, true, false, false, true, true, false]);
    }

    #[test]
    fn samples_belong_to_the_half_that_they_lie_in() {
        // Ten samples of 0.1 s fill a second; samples in the second and third half take longer.
        let samples = [vec![0.1; 10], vec![0.125; 8], vec![0.125; 8], vec![0.1; 10]].concat();
        let timed = Timed { started: 100.0, ended: 104.0, samples, batch: 1 };
        let halves = [half(false, 100.0), half(true, 101.0), half(true, 102.0), half(false, 103.0)];
        let pairs = pairs(&halves, &timed, median);
        assert_eq!(pairs.len(), 2);
        for pair in pairs {
            assert!((pair.with / pair.without - 1.25).abs() < 1e-9, "{pair:?}");
        }
    }

    #[test]
    fn a_half_that_the_samples_did_not_fill_makes_no_pair() {
        let timed = Timed { started: 0.0, ended: 1.5, samples: vec![0.1; 15], batch: 1 };
        assert_eq!(pairs(&[half(false, 0.0), half(true, 1.0)], &timed, median), []);
        let few = Timed { started: 0.0, ended: 2.0, samples: vec![0.5; 4], batch: 1 };
        assert_eq!(pairs(&[half(false, 0.0), half(true, 1.0)], &few, median), []);
    }

    #[test]
    fn time_between_samples_does_not_move_them() {
        let timed = Timed { started: 0.0, ended: 2.0, samples: vec![0.008; 100], batch: 2 };
        let spans = spans(&timed);
        assert!((spans[50].0 - 1.0).abs() < 1e-9 && (spans[99].1 - 2.0).abs() < 1e-9, "{:?}", spans[50]);
    }
}
