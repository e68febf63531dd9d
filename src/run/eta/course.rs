//! How many rounds a case's own stopping rule will still take. The rest of the case is played through many times:
//! each coming round deviates like a round that was measured, of this case or, while it has few, of the others.

use crate::case::Measure;
use crate::inputs::mix;
use crate::run::Record;
use crate::stats::interval::{CONFIDENCE, t_quantile};

/// How often a case is played through.
const PLAYS: u32 = 32;
/// The other cases' rounds count as much as this many rounds of the case itself.
const OTHERS: f64 = 3.0;

/// What a case still takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Course {
    /// Expected rounds.
    pub rounds: f64,
    /// Expected attempts: those of the rounds, and second attempts at flagged ones.
    pub attempts: f64,
    /// Variance of the number of attempts.
    pub variance: f64,
}

/// How the rounds of the other cases deviate.
pub trait Others {
    /// The relative deviation of a round that this number draws; `None` while nothing is known.
    fn deviation(&self, drawn: u64) -> Option<f64>;
}

/// The deviations of a case's rounds from their mean, relative to it. With few rounds the mean is close to each of
/// them, which is corrected.
pub fn deviations(medians: &[f64]) -> Vec<f64> {
    let n = medians.len() as f64;
    let mean = medians.iter().sum::<f64>() / n;
    if medians.len() < 2 || mean <= 0.0 {
        return Vec::new();
    }
    let correction = (n / (n - 1.0)).sqrt();
    medians.iter().map(|median| (median / mean - 1.0) * correction).collect()
}

/// What the stopping rule will do with a case of which `each` attempt takes so many seconds, of which a share
/// `flagged` has a second one.
pub fn foresee(
    measure: &Measure,
    record: &Record,
    each: f64,
    flagged: f64,
    own: &[f64],
    others: &dyn Others,
) -> Course {
    let least = measure.rounds.max(record.wanted);
    let mut medians = record.medians();
    let mean = medians.iter().sum::<f64>() / medians.len().max(1) as f64;
    medians.iter_mut().for_each(|median| *median /= mean);
    let spent = record.spent();
    // A budget counts what the attempts alone take, not the time between them.
    let had = record.attempts().count();
    let wall = if had > 0 { spent.total / had as f64 } else { each };
    let longest = spent.longest.max(wall);
    let (mut sum, mut squares, mut looks) = (0.0, 0.0, 0.0);
    for play in 0..PLAYS {
        let key = mix::word64(0x57a7, u64::from(play));
        let (mut total, mut moments) = (spent.total, Moments::of(&medians));
        let (mut rounds, mut attempts) = (0u32, 0.0);
        loop {
            if moments.n >= least && ended(measure, &moments, total + longest) {
                break;
            }
            let drawn = mix::word64(key, u64::from(rounds));
            moments.add((1.0 + draw(own, others, drawn).unwrap_or(0.0)).max(0.01));
            let again = if total + wall + longest <= measure.budget { flagged } else { 0.0 };
            total += wall * (1.0 + again);
            attempts += 1.0 + again;
            rounds += 1;
        }
        looks += f64::from(rounds);
        sum += attempts;
        squares += attempts * attempts;
    }
    let plays = f64::from(PLAYS);
    let attempts = sum / plays;
    Course { rounds: looks / plays, attempts, variance: (squares / plays - attempts * attempts).max(0.0) }
}

/// Whether the rule of [`crate::stats::verdict`] ends a case whose next attempt would bring it to `next` seconds.
fn ended(measure: &Measure, moments: &Moments, next: f64) -> bool {
    let Some(asked) = measure.adaptive() else { return true };
    let precise = moments.n >= measure.precise_from && moments.half_width() <= asked;
    precise || moments.n >= measure.most() || next > measure.budget
}

/// A deviation of the case itself, or of another one.
fn draw(own: &[f64], others: &dyn Others, drawn: u64) -> Option<f64> {
    let (which, word) = (mix::word64(drawn, 0), mix::word64(drawn, 1));
    // The upper 53 bits as a fraction of 1.
    let share = (which >> 11) as f64 / (1u64 << 53) as f64;
    let own_one = || own.get((word % own.len().max(1) as u64) as usize).copied();
    let n = own.len() as f64;
    if share < n / (n + OTHERS) { own_one() } else { others.deviation(word).or_else(own_one) }
}

/// Count, sum and sum of squares of the medians of rounds.
#[derive(Clone, Copy)]
struct Moments {
    n: u32,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn of(medians: &[f64]) -> Moments {
        let mut moments = Moments { n: 0, sum: 0.0, squares: 0.0 };
        medians.iter().for_each(|median| moments.add(*median));
        moments
    }

    fn add(&mut self, median: f64) {
        let Moments { n, sum, squares } = *self;
        *self = Moments { n: n + 1, sum: sum + median, squares: squares + median * median };
    }

    /// As [`crate::stats::half_width`].
    fn half_width(&self) -> f64 {
        let n = f64::from(self.n);
        let (Some(t), true) = (t_quantile(CONFIDENCE, n - 1.0), self.sum > 0.0) else { return f64::INFINITY };
        let variance = ((self.squares - self.sum * self.sum / n) / (n - 1.0)).max(0.0);
        t * (variance / n).sqrt() / (self.sum / n)
    }
}
