//! The rule that decides when a case has been measured often enough.

use serde::{Deserialize, Serialize};

use super::interval::{CONFIDENCE, interval};
use crate::case::Measure;

/// Why a case gets no more rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// The recipe asks for a fixed number of rounds.
    Fixed,
    /// The interval of the rounds' medians is as narrow as the recipe asks.
    Precise,
    /// The interval is still too wide, but another round would exceed the case's time budget.
    Budget,
    /// The interval is still too wide, but the case has had the most rounds that the recipe allows.
    Rounds,
    /// Rounds are missing or the interval is still too wide, but the run's time bound has ended it. Resuming the run
    /// goes on with the case.
    Time,
}

impl Stop {
    /// `precise`, `budget` … as in files.
    pub fn word(self) -> &'static str {
        match self {
            Stop::Fixed => "fixed",
            Stop::Precise => "precise",
            Stop::Budget => "budget",
            Stop::Rounds => "rounds",
            Stop::Time => "time",
        }
    }
}

/// The seconds that a case's attempts have taken.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// Seconds of all attempts.
    pub total: f64,
    /// Seconds of the longest attempt, which the next one is expected to take at most.
    pub longest: f64,
}

impl Spent {
    pub fn add(&mut self, seconds: f64) {
        *self = Spent { total: self.total + seconds, longest: self.longest.max(seconds) };
    }

    /// True if one more attempt as long as the longest keeps the case within its budget, seconds.
    pub fn affords(&self, budget: f64) -> bool {
        self.total + self.longest <= budget
    }
}

/// The reason why a case with these rounds' medians, on which so much time was `spent`, is measured often
/// enough; `None` while another round is due. A case gets at least the recipe's minimum number of rounds and
/// the `wanted` rounds that the user asked for.
///
/// The rule is evaluated after every round (optional stopping), so its intervals cover the true value less often than
/// 95% of the time: a case stops where its interval happens to be narrow. `docs/trust.md` has the shares of simulated
/// cases, which a test computes with this function.
pub fn verdict(measure: &Measure, wanted: u32, medians: &[f64], spent: Spent) -> Option<Stop> {
    let rounds = medians.len() as u32;
    if rounds < measure.rounds.max(wanted) {
        return None;
    }
    let Some(wanted) = measure.adaptive() else {
        return Some(Stop::Fixed);
    };
    let counts = rounds >= measure.precise_from;
    if counts && half_width(medians).is_some_and(|width| width <= wanted) {
        Some(Stop::Precise)
    } else if rounds >= measure.most() {
        Some(Stop::Rounds)
    } else if !spent.affords(measure.budget) {
        Some(Stop::Budget)
    } else {
        None
    }
}

/// Half the width of the 95% interval of the mean of the rounds' medians, over that mean.
pub fn half_width(medians: &[f64]) -> Option<f64> {
    let [low, high] = interval(medians, CONFIDENCE)?;
    let width = (high - low) / (high + low);
    width.is_finite().then_some(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(rounds: u32, max_rounds: u32) -> Measure {
        Measure { rounds, max_rounds, ci: Some(0.03), budget: 10.0, ..Measure::default() }
    }

    /// So many seconds, of which the longest attempt took a tenth.
    fn spent(total: f64) -> Spent {
        Spent { total, longest: total / 10.0 }
    }

    #[test]
    fn narrow_intervals_stop_and_wide_ones_go_on() {
        let (steady, wild) = ([1.0, 1.01, 1.0, 0.99, 1.0], [1.0, 2.0, 1.0, 2.0, 1.0]);
        assert_eq!(
            verdict(&measure(5, 30), 0, &steady[..4], spent(99.0)),
            None,
            "the rounds of every case come first"
        );
        assert_eq!(verdict(&measure(5, 30), 0, &steady, spent(0.1)), Some(Stop::Precise));
        assert_eq!(verdict(&measure(5, 30), 0, &wild, spent(0.1)), None);
        assert_eq!(verdict(&measure(5, 30), 0, &wild, spent(9.9)), Some(Stop::Budget));
        assert_eq!(verdict(&measure(3, 5), 0, &wild, spent(0.1)), Some(Stop::Rounds));
        assert_eq!(verdict(&measure(3, 30), 0, &steady[..3], spent(0.1)), None, "narrow by chance");
        assert_eq!(verdict(&measure(3, 30), 0, &steady[..3], spent(9.9)), Some(Stop::Budget));
        assert_eq!(verdict(&measure(3, 4), 0, &steady[..4], spent(0.1)), Some(Stop::Rounds));
        let older = Measure { precise_from: 3, ..measure(3, 30) };
        assert_eq!(verdict(&older, 0, &steady[..3], spent(0.1)), Some(Stop::Precise));
        assert_eq!(
            verdict(&measure(5, 1), 0, &wild, spent(0.1)),
            Some(Stop::Fixed),
            "max-rounds takes no rounds away"
        );
    }

    #[test]
    fn a_quick_look_stays_quick() {
        for rounds in [1, 2] {
            let medians = [1.0, 5.0];
            let verdict = verdict(&measure(rounds, 30), 0, &medians[..rounds as usize], spent(0.0));
            assert_eq!(verdict, Some(Stop::Fixed));
        }
        assert_eq!(
            verdict(&Measure::fixed(5, 5), 0, &[1.0, 2.0, 3.0, 4.0, 5.0], spent(0.0)),
            Some(Stop::Fixed)
        );
    }
}
