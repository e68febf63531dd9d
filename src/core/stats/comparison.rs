//! The decision rule for a pair of cases: from the evidence to an answer.

use std::fmt;

use super::Ratio;
use crate::stats::quantile_of;

/// The fewest rounds from which an interval is computed.
pub const FEWEST: usize = 3;

/// Which way a time changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Slower,
    Faster,
}

/// The outcome of comparing two records of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Agree,
    Differ(Direction),
    CannotTell,
    /// Neither side has a result: there is nothing to judge.
    NotMeasured,
}

impl Answer {
    /// `agree`, `differ`, `cannot tell` or `not measured`, as on screen and in files.
    pub fn word(self) -> &'static str {
        match self {
            Answer::Agree => "agree",
            Answer::Differ(_) => "differ",
            Answer::CannotTell => "cannot tell",
            Answer::NotMeasured => "not measured",
        }
    }
}

impl Direction {
    /// `slower` or `faster`.
    pub fn word(self) -> &'static str {
        match self {
            Direction::Slower => "slower",
            Direction::Faster => "faster",
        }
    }
}

/// The side of a comparison that a reason refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    Baseline,
    Other,
    Both,
}

/// Why a pair of cases cannot be decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// A side has no result; the text is the reason that its record gives.
    NoResult(Which, String),
    /// A side has too few rounds: this many.
    FewRounds(Which, usize),
    /// Each side has a reason of its own.
    Each(Box<[Reason; 2]>),
    /// The interval straddles a limit of the margin.
    Wide,
    /// The machine's own copy rate changed by this share between the runs, and nothing on file explains the
    /// change.
    Machine(f64),
    /// The machine's own copy rate varied by this share within one of the runs.
    Restless(f64),
    /// Every round of both sides is flagged, and the samples overlap.
    Doubtful,
    /// The means and the medians of the rounds lead to different answers.
    Uneven,
    /// The times are not positive numbers.
    NoRatio,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |which: &Which| match which {
            Which::Baseline => "the baseline: ",
            Which::Other => "the run: ",
            Which::Both => "",
        };
        match self {
            Reason::NoResult(which, words) => write!(f, "{}{words}", side(which)),
            Reason::FewRounds(which, 1) => write!(f, "{}1 round, {FEWEST} are needed", side(which)),
            Reason::FewRounds(which, n) => write!(f, "{}{n} rounds, {FEWEST} are needed", side(which)),
            Reason::Each(each) => write!(f, "{}; {}", each[0], each[1]),
            Reason::Wide => f.write_str(
                "the interval straddles the margin: more rounds or a quieter machine may decide it",
            ),
            Reason::Machine(change) => {
                write!(f, "the machine's own copy changed by {}", crate::case::units::fmt_change(*change))
            }
            Reason::Restless(range) => {
                let range = range * 100.0;
                write!(f, "the machine's own copy ranged over {range:.0} % within a run")
            }
            Reason::Doubtful => f.write_str("every round of both sides is flagged as noisy"),
            Reason::Uneven => f.write_str("a few outlying rounds dominate"),
            Reason::NoRatio => f.write_str("the times are not positive"),
        }
    }
}

/// Change of the machine's own copy rate, in logarithms, where nothing on file explains it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// Log ratio of the baseline's median copy rate to the other run's: above 0, the other run copies more
    /// slowly.
    pub pace: f64,
    /// The larger of the two runs' ranges: ln(high / low) of their copies.
    pub range: f64,
}

impl Machine {
    /// `None` if a copy rate is not a positive number.
    pub fn between(baseline: &Copied, other: &Copied) -> Option<Machine> {
        let range = |copied: &Copied| (copied.high / copied.low).ln();
        let machine =
            Machine { pace: (baseline.median / other.median).ln(), range: range(baseline).max(range(other)) };
        (machine.pace.is_finite() && machine.range.is_finite()).then_some(machine)
    }

    /// The part of a change in this direction that the machine may account for, and the reason to report.
    fn share(&self, direction: Direction) -> (f64, Reason) {
        let between = match direction {
            Direction::Slower => self.pace,
            Direction::Faster => -self.pace,
        };
        match between >= self.range {
            true => (between, Reason::Machine((-self.pace).exp_m1())),
            false => (self.range, Reason::Restless(self.range.exp_m1())),
        }
    }
}

/// The evidence about a pair, before a margin is applied.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evidence {
    pub ratio: Ratio,
    /// The ratio of the medians of the rounds' medians.
    pub typical: f64,
    /// Missing if a run has no copies, or if something on file explains their change.
    pub machine: Option<Machine>,
    /// Every round of both sides is flagged, and their samples overlap.
    pub doubtful: bool,
}

impl Evidence {
    /// The answer for a margin δ, a share above 0.
    pub fn answer(&self, margin: f64) -> (Answer, Option<Reason>) {
        let (low, high, limit) = (self.ratio.low.ln(), self.ratio.high.ln(), margin.ln_1p());
        let found = within(low, high, limit);
        let direction = match found {
            Some(_) if within(self.typical.ln(), self.typical.ln(), limit) != found => {
                return (Answer::CannotTell, Some(Reason::Uneven));
            }
            Some(Answer::Differ(direction)) => direction,
            Some(answer) => return (answer, None),
            None => return (Answer::CannotTell, Some(Reason::Wide)),
        };
        let nearest = match direction {
            Direction::Slower => low,
            Direction::Faster => -high,
        };
        let machine = self.machine.map(|machine| machine.share(direction));
        // The margin is added to the machine's share, so that a wider margin never lets more through.
        match machine.filter(|(share, _)| nearest <= share + limit) {
            Some((_, reason)) => (Answer::CannotTell, Some(reason)),
            None if self.doubtful => (Answer::CannotTell, Some(Reason::Doubtful)),
            None => (Answer::Differ(direction), None),
        }
    }
}

/// The answer whose region contains the whole interval (in logarithms); `None` if it straddles a limit.
fn within(low: f64, high: f64, limit: f64) -> Option<Answer> {
    match () {
        () if low >= -limit && high <= limit => Some(Answer::Agree),
        () if low > limit => Some(Answer::Differ(Direction::Slower)),
        () if high < -limit => Some(Answer::Differ(Direction::Faster)),
        () => None,
    }
}

/// Copy rates of one backend in both runs, GB/s.
#[derive(Clone, Debug, PartialEq)]
pub struct Copies {
    pub backend: String,
    pub baseline: Copied,
    pub other: Copied,
}

/// Copy rates of one run, GB/s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Copied {
    pub median: f64,
    /// The 10 % and the 90 % quantile.
    pub low: f64,
    pub high: f64,
}

impl Copied {
    pub fn of(copies: &[f64]) -> Option<Copied> {
        let at = |q| quantile_of(copies, q);
        Some(Copied { median: at(0.5)?, low: at(0.1)?, high: at(0.9)? })
    }
}
