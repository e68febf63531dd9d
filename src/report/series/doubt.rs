//! Reasons to trust a point less than others, and how many points have them.

use super::ChartData;
use crate::run::Record;
use crate::stats::Statistics;
use crate::stats::noise::Flag;

/// What is doubtful about a measured value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Doubt {
    /// A round that counts was measured in noise: steal, background load, a slow clock, scattered samples.
    pub doubtful: bool,
    /// The rounds lie more than 10 % apart.
    pub unsteady: bool,
    /// A GPU's driver held its clocks down during a round that counts.
    pub throttled: bool,
}

/// A kind of doubt: its word, its meaning, and whether a value has it.
type Kind = (&'static str, &'static str, fn(Doubt) -> bool);

const KINDS: [Kind; 3] = [
    ("doubtful", "noise while they were measured", |doubt| doubt.doubtful),
    ("unsteady", "rounds more than 10 % apart", |doubt| doubt.unsteady),
    ("throttled", "the driver held the GPU's clocks down", |doubt| doubt.throttled),
];

impl Doubt {
    pub fn of(record: &Record) -> Doubt {
        let flags = record.flags();
        Doubt {
            doubtful: flags.iter().any(|flag| *flag != Flag::Throttle),
            unsteady: record.statistics.as_ref().is_some_and(Statistics::unsteady),
            throttled: flags.contains(&Flag::Throttle),
        }
    }

    /// Whether there is any.
    pub fn any(self) -> bool {
        self != Doubt::default()
    }

    /// Its kinds: `doubtful, throttled`.
    pub fn words(self) -> String {
        KINDS.iter().filter(|(_, _, has)| has(self)).map(|(word, _, _)| *word).collect::<Vec<_>>().join(", ")
    }
}

impl ChartData {
    /// The kinds of doubt on the chart, each with its word.
    pub fn doubts(&self) -> Vec<(Doubt, &'static str)> {
        let only = [
            Doubt { doubtful: true, ..Doubt::default() },
            Doubt { unsteady: true, ..Doubt::default() },
            Doubt { throttled: true, ..Doubt::default() },
        ];
        let kinds = only.into_iter().zip(KINDS);
        let there = |has: fn(Doubt) -> bool| self.measured().any(|value| has(value.doubt));
        kinds.filter(|(_, (_, _, has))| there(*has)).map(|(doubt, (word, _, _))| (doubt, word)).collect()
    }

    /// `doubtful: 27 of 27 points (noise while they were measured: steal)` for each kind of doubt on the chart.
    pub fn doubt_notes(&self) -> Vec<String> {
        let all = self.measured().count();
        let note = |(word, meaning, has): Kind| {
            let count = self.measured().filter(|value| has(value.doubt)).count();
            let noise = match word {
                "doubtful" if !self.noise.is_empty() => format!(": {}", self.noise.join(", ")),
                _ => String::new(),
            };
            let points = if all == 1 { "point" } else { "points" };
            (count > 0).then(|| format!("{word}: {count} of {all} {points} ({meaning}{noise})"))
        };
        KINDS.into_iter().filter_map(note).collect()
    }

    /// The number of points with any doubt, and of all points.
    pub fn doubtful_points(&self) -> (usize, usize) {
        (self.measured().filter(|value| value.doubt.any()).count(), self.measured().count())
    }
}
