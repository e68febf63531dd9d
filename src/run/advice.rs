//! What to do after a run, in one line: the command that helps most, if it is worth its time.

use super::Ledger;
use super::repeat::More;
use super::verdict::{Quality, asked, percent, verdict};
use crate::case::units;
use crate::stats::interval::{CONFIDENCE, mean_and_variance, t_quantile};
use crate::stats::noise::Flag;
use crate::stats::{Stop, half_width};

/// More rounds of a case than this are not advised: whatever makes them so far apart is to be found first.
const MOST_ROUNDS: u32 = 100;

/// Rounds of a run that had one or two of each case: those of a recipe that says nothing.
const FIRST_ROUNDS: u32 = 5;

/// A budget is this many times what the rounds are expected to take.
const SPARE: f64 = 1.2;

/// The commands that the line may advise.
pub struct Commands<'a> {
    /// Resumes the run.
    pub resume: String,
    /// Measures it again, with more rounds.
    pub again: &'a dyn Fn(&More) -> String,
    /// Writes its report.
    pub report: String,
    /// Looks for what disturbs the machine.
    pub doctor: String,
}

/// The [`verdict`] and the line; `None` if nothing was to be measured.
pub fn assess(ledger: &Ledger, commands: &Commands) -> Option<[String; 2]> {
    Some([verdict(ledger.plan(), ledger.records())?, next(ledger, commands)])
}

fn next(ledger: &Ledger, commands: &Commands) -> String {
    if !ledger.is_complete() {
        return format!("to resume: {}", commands.resume);
    }
    let quality = Quality::of(ledger.plan(), ledger.records());
    let count = |flag| quality.noise.get(&flag).copied().unwrap_or(0);
    let (again, goal) = (commands.again, Goal::of(ledger));
    match () {
        () if quality.failed > 0 => format!("next: {}", commands.report),
        () if !quality.has_intervals() => format!("next, for intervals: {}", again(&least(ledger))),
        () if count(Flag::Background) + count(Flag::Steal) > 0 => {
            format!("next, on a quieter machine: {}", again(&least(ledger)))
        }
        () if count(Flag::Clock) + count(Flag::Throttle) > 0 => {
            format!("next, once the device has cooled down: {}", again(&least(ledger)))
        }
        () if goal.rounds > MOST_ROUNDS => {
            let (width, rounds, doctor) = (percent(goal.width), goal.rounds, &commands.doctor);
            format!(
                "next: ±{width} would take about {rounds} rounds; look for what disturbs the machine: {doctor}"
            )
        }
        () if goal.rounds > 0 => {
            let (width, time) = (percent(goal.width), units::fmt_seconds(goal.seconds));
            format!("next, for about ±{width} in about {time}: {}", again(&goal.more()))
        }
        () if quality.is_in_doubt() && quality.is_disturbed() => {
            format!("next, to find what disturbs the machine: {}", commands.doctor)
        }
        () => format!("next: {}", commands.report),
    }
}

/// [`FIRST_ROUNDS`] for a run that had fewer than the three that an interval needs to be of use; else what it had.
fn least(ledger: &Ledger) -> More {
    let had = ledger.records().iter().map(|record| record.rounds.len()).max().unwrap_or(0);
    match had {
        0..3 => More { rounds: FIRST_ROUNDS, settings: vec![rounds(FIRST_ROUNDS)] },
        _ => More::default(),
    }
}

fn rounds(rounds: u32) -> (&'static str, String) {
    ("measure.rounds", rounds.to_string())
}

/// What it would take to bring every interval to the width that is [`asked`].
#[derive(Default)]
struct Goal {
    /// The width that takes the most rounds; 0 if no interval is wider than asked.
    width: f64,
    /// Rounds of the case that needs the most of them.
    rounds: u32,
    /// The largest of the experiments' fewest rounds: the settings hold for all experiments, and lower none.
    least: u32,
    /// The largest of their most rounds.
    most: u32,
    /// Seconds of the whole run.
    seconds: f64,
    /// Whether the recipe fixes the number of rounds of a case that needs more.
    fixed: bool,
    /// Whether the recipe's largest number of rounds is too small.
    bounded: bool,
    /// The budget of a case that these rounds need, seconds, where the recipe's is too small.
    budget: Option<f64>,
}

impl Goal {
    fn of(ledger: &Ledger) -> Goal {
        let (mut goal, mut one_of_each) = (Goal::default(), 0.0);
        for (at, record) in ledger.measured() {
            let Some(had) = record.statistics.as_ref().map(|statistics| statistics.rounds) else { continue };
            let (measure, medians) = (ledger.measure(at), record.medians());
            let (width, round) = (asked(measure), record.spent().total / had.max(1) as f64);
            one_of_each += round;
            if half_width(&medians).is_none_or(|is| is <= width) {
                goal.seconds += round * had as f64;
                continue;
            }
            let rounds = needed(&medians, width);
            goal.seconds += round * f64::from(rounds);
            if rounds > goal.rounds {
                (goal.rounds, goal.width) = (rounds, width);
            }
            match record.stop {
                Some(Stop::Fixed) => goal.fixed = true,
                Some(Stop::Budget) => {
                    let budget = SPARE * round * f64::from(rounds);
                    goal.budget = Some(goal.budget.unwrap_or(0.0).max(budget));
                    goal.bounded |= rounds > measure.most();
                }
                _ => goal.bounded = true,
            }
        }
        if goal.fixed {
            goal.seconds = one_of_each * f64::from(goal.rounds);
        }
        let measures = || ledger.plan().experiments.iter().map(|experiment| &experiment.measure);
        let budget = measures().map(|measure| measure.budget).fold(0.0, f64::max);
        goal.least = measures().map(|measure| measure.rounds).max().unwrap_or(0);
        goal.most = measures().map(|measure| measure.most()).max().unwrap_or(0);
        goal.budget = goal.budget.map(|needed| needed.max(budget));
        goal
    }

    fn more(&self) -> More {
        let mut settings = Vec::new();
        settings.extend(self.fixed.then(|| rounds(self.rounds.max(self.least))));
        settings.extend(self.bounded.then(|| ("measure.max-rounds", self.rounds.max(self.most).to_string())));
        settings.extend(self.budget.map(|budget| ("measure.budget", format!("{:.0}s", budget.ceil()))));
        More { rounds: self.rounds, settings }
    }
}

/// The fewest rounds n whose interval would have this relative half-width, if further rounds scatter as these do: the least
/// n with t(n − 1) · s / √n ≤ width · mean.
fn needed(medians: &[f64], width: f64) -> u32 {
    let Some((mean, variance)) = mean_and_variance(medians) else { return FIRST_ROUNDS };
    let scatter = variance * medians.len() as f64 / (width * mean).powi(2);
    let enough = |n: &f64| t_quantile(CONFIDENCE, n - 1.0).is_none_or(|t| t * t * scatter <= *n);
    // The t quantile falls with n towards that of the normal distribution.
    let normal = t_quantile(CONFIDENCE, 1e6).unwrap_or(2.0);
    let first = (normal * normal * scatter).ceil().max(medians.len() as f64 + 1.0);
    (0..).map(|more| first + f64::from(more)).find(enough).unwrap_or(first).min(f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::Event;
    use crate::recipe::plan::Plan;
    use crate::run::tests::{attempt, in_half_a_second, plan};

    /// The line about four cases under this rule, with these medians of their rounds.
    fn said(rule: &str, medians: &[f64], flagged: bool) -> String {
        let plan = plan(rule);
        let mut ledger = Ledger::new(plan.clone());
        events(&plan, medians, flagged).iter().for_each(|event| _ = ledger.apply(event));
        let again = |more: &More| {
            let settings = more.settings.iter().map(|(key, value)| format!(" {key}={value}"));
            format!("AGAIN{}", settings.collect::<String>())
        };
        let [resume, report, doctor] = ["RESUME", "REPORT", "DOCTOR"].map(str::to_owned);
        let [_, next] = assess(&ledger, &Commands { resume, again: &again, report, doctor }).expect("cases");
        next
    }

    fn events(plan: &Plan, medians: &[f64], flagged: bool) -> Vec<Event> {
        let of = |case| {
            (0..)
                .zip(medians)
                .map(move |(round, median)| in_half_a_second(attempt(plan, case, round, 0, *median, flagged)))
        };
        (0..4).flat_map(of).collect()
    }

    #[test]
    fn a_precise_run_is_reported_and_a_disturbed_one_repeated() {
        assert_eq!(said("rounds: 3", &[1.0; 5], false), "next: REPORT");
        assert_eq!(
            said("rounds: 3, second-look: never", &[1.0; 5], true),
            "next, on a quieter machine: AGAIN"
        );
        assert_eq!(said("rounds: 3", &[1.0; 2], false), "to resume: RESUME");
    }

    #[test]
    fn the_rounds_that_reach_a_useful_width_are_estimated() {
        assert_eq!(said("rounds: 1", &[1.0], false), "next, for intervals: AGAIN measure.rounds=5");
        assert_eq!(
            said("rounds: 2", &[1.0, 1.05], false),
            "next, for about ±10 % in about 6.00 s: AGAIN measure.rounds=3"
        );
        assert_eq!(
            said("rounds: 3, max-rounds: 4", &[1.0, 1.05, 1.0, 1.05], false),
            "next, for about ±3 % in about 12.0 s: AGAIN measure.max-rounds=6"
        );
        assert_eq!(
            said("rounds: 3, budget: 2s", &[1.0, 1.05, 1.0, 1.05], false),
            "next, for about ±3 % in about 12.0 s: AGAIN measure.budget=4s"
        );
    }

    #[test]
    fn rounds_that_would_take_too_long_are_not_advised() {
        let next = said("rounds: 3, max-rounds: 6", &[1.0, 4.0, 1.0, 9.0, 1.0, 1.0], false);
        assert!(next.starts_with("next: ±3 % would take about 5"), "{next}");
        assert!(next.ends_with(" rounds; look for what disturbs the machine: DOCTOR"), "{next}");
    }

    #[test]
    fn an_interval_of_the_needed_rounds_is_as_narrow_as_asked() {
        let medians = [1.0, 1.05, 1.0, 1.05];
        for width in [0.1, 0.03, 0.01] {
            let n = needed(&medians, width) as usize;
            let of = |rounds: usize| {
                let (mean, variance) = mean_and_variance(&medians).expect("medians");
                let t = t_quantile(CONFIDENCE, rounds as f64 - 1.0).expect("a quantile");
                t * (variance * medians.len() as f64 / rounds as f64).sqrt() / mean
            };
            assert!(of(n) <= width, "{n} rounds: {}", of(n));
            assert!(n == medians.len() + 1 || of(n - 1) > width, "{n} rounds are not the fewest");
        }
    }
}
