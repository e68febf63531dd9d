//! Whole runs on a simulated clock, with simulated noise: what the schedule does, and what is foreseen of it.

use std::time::Duration;

use super::plan;
use crate::case::Verdict;
use crate::engine::protocol::{Event, Finished, RoundResult};
use crate::engine::schedule::{Schedule, Turn};
use crate::inputs::mix;
use crate::recipe::plan::Plan;
use crate::run::eta::{Eta, Left};
use crate::run::{Ledger, Record};
use crate::stats::noise::Flag;
use crate::stats::{self, Stop};

/// A machine that is noisy in its own way.
#[derive(Clone, Copy, Debug)]
struct Machine {
    seed: u64,
    /// Largest relative deviation of a round's median.
    noise: f64,
    /// Share of the rounds that take three times as long, because somebody else works.
    outliers: f64,
    /// Share of the attempts that are flagged.
    flagged: f64,
    /// Largest relative deviation of an attempt's duration.
    jitter: f64,
}

const QUIET: Machine = Machine { seed: 1, noise: 0.005, outliers: 0.0, flagged: 0.0, jitter: 0.05 };
const RESTLESS: Machine = Machine { seed: 2, noise: 0.12, outliers: 0.0, flagged: 0.3, jitter: 0.3 };
const BUSY: Machine = Machine { seed: 3, noise: 0.2, outliers: 0.1, flagged: 0.8, jitter: 0.5 };

impl Machine {
    /// A number from 0 to 1.
    fn share(self, of: &str, turn: Turn) -> f64 {
        let name = of.bytes().fold(self.seed, |key, byte| mix::mix64(key ^ u64::from(byte)));
        let turn = (turn.case as u64) << 40 | u64::from(turn.round) << 8 | u64::from(turn.attempt);
        (mix::word64(name, turn) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// The median of a round and the duration of the attempt at it, seconds. The first round has a certificate.
    fn measures(self, turn: Turn) -> (f64, f64) {
        let around = |of, by: f64| 1.0 + by * (2.0 * self.share(of, turn) - 1.0);
        let other = if self.share("outlier", turn) < self.outliers { 3.0 } else { 1.0 };
        let base = 0.05 * (1 << turn.case) as f64;
        let certificate = if (turn.round, turn.attempt) == (0, 0) { 2.0 } else { 1.0 };
        (
            0.05 * base * other * around("median", self.noise),
            certificate * base * other * around("wall", self.jitter),
        )
    }
}

/// A moment of a run, after an attempt.
struct Moment {
    at: f64,
    turn: Turn,
    left: Option<Left>,
    progress: (u32, u32),
    /// The widths of all cases' intervals, over what is asked.
    widths: Vec<f64>,
}

struct Simulated {
    moments: Vec<Moment>,
    ledger: Ledger,
}

impl Simulated {
    fn of(plan: &Plan, machine: Machine) -> Simulated {
        let mut ledger = Ledger::new(plan.clone());
        let mut schedule = Schedule::new(plan, &Finished::default());
        let mut eta = Eta::new(&ledger);
        let (mut at, mut moments) = (0.0, Vec::new());
        eta.begin(Duration::ZERO);
        while let Some(turn) = schedule.next(at) {
            let widths = ledger.records().iter().map(|record| width(&ledger, record)).collect();
            let (median, wall) = machine.measures(turn);
            let flagged = machine.share("flag", turn) < machine.flagged;
            at += wall;
            ledger.apply(&round(plan, turn, median, wall, at, flagged));
            schedule.measured(turn, median, wall, flagged);
            let now = Duration::from_secs_f64(at);
            if (turn.round, turn.attempt) == (0, 0) {
                // The last half is the certificate, which follows the five samples.
                eta.sample(Duration::from_secs_f64((at - 0.5 * wall - 5.0 * median).max(at - wall)));
            }
            eta.finish(turn.case, &ledger, now);
            let (left, progress) = (eta.remaining(now), eta.progress(now));
            moments.push(Moment { at, turn, left, progress, widths });
            assert!(moments.len() < 10_000, "the schedule never ends");
        }
        if schedule.out_of_time() {
            ledger.apply(&Event::OutOfTime);
        }
        Simulated { moments, ledger }
    }

    fn end(&self) -> f64 {
        self.moments.last().expect("a moment").at
    }
}

fn width(ledger: &Ledger, record: &Record) -> f64 {
    let at = ledger.position(&record.case.id).expect("in the plan");
    let asked = ledger.measure(at).adaptive().unwrap_or(f64::INFINITY);
    stats::half_width(&record.medians()).map_or(f64::INFINITY, |width| width / asked)
}

fn round(plan: &Plan, turn: Turn, median: f64, wall: f64, elapsed: f64, flagged: bool) -> Event {
    let certifies = (turn.round, turn.attempt) == (0, 0);
    let result = RoundResult {
        case: plan.cases[turn.case].id.clone(),
        round: turn.round,
        attempt: turn.attempt,
        samples: vec![median; plan.experiments[0].measure.samples as usize],
        batch: 1,
        verdict: certifies.then_some(Verdict::Certified { checked: 1 }),
        wall,
        elapsed,
        flags: if flagged { vec![Flag::Background] } else { Vec::new() },
        ..RoundResult::default()
    };
    Event::Round { seq: 1, result }
}

const RULES: [&str; 4] = [
    "rounds: 5",
    "rounds: 5, order: sequential",
    "rounds: 3, max-rounds: 10, budget: 3s",
    "rounds: 8, ci: none",
];

/// Every rule on every machine.
fn all() -> Vec<(String, Simulated)> {
    let mut all = Vec::new();
    for rule in RULES {
        for machine in [QUIET, RESTLESS, BUSY] {
            all.push((format!("{rule}, {machine:?}"), Simulated::of(&plan(rule), machine)));
        }
    }
    all
}

#[test]
fn the_time_left_is_a_narrow_range_around_what_is_left() {
    for (name, run) in all() {
        let end = run.end();
        let (mut moments, mut near) = (0, 0);
        for moment in run.moments.iter().filter(|moment| moment.at < end) {
            let left = moment.left.expect("something is timed");
            let [low, high] = left.seconds();
            assert!(low <= high && high <= 2.0 * low + 1e-9, "{name}: {left:?}");
            let rest = end - moment.at;
            // In sequential order, how long the cases ahead take rests on estimates, which know nothing of these.
            let known = !name.contains("sequential");
            if known && moment.at > end / 4.0 && rest > 1.0 {
                let off = f64::midpoint(low, high) / rest;
                let place = format!("{name}: {left} of {rest} s at {} of {end}", moment.at);
                assert!((0.33..3.0).contains(&off), "{place}");
                moments += 1;
                near += usize::from((1.0 / 1.5..1.5).contains(&off));
            }
        }
        assert!(near * 10 >= moments * 7, "{name}: {near} of {moments} within a factor of 1.5");
    }
}

#[test]
fn as_many_rounds_are_done_as_were_to_be_done() {
    for (name, run) in all() {
        assert!(run.moments.iter().all(|moment| moment.progress.0 <= moment.progress.1), "{name}");
        let (done, all) = run.moments.last().expect("a moment").progress;
        let had: usize = run.ledger.records().iter().map(|record| record.rounds.len()).sum();
        assert_eq!((done, all), (had as u32, had as u32), "{name}");
        let late = run.moments.iter().filter(|moment| moment.at > run.end() / 2.0);
        for moment in late {
            let off = f64::from(moment.progress.1) / f64::from(all);
            assert!((0.5..2.0).contains(&off), "{name}: {:?} of {all}", moment.progress);
        }
    }
}

#[test]
fn no_case_exceeds_its_budget_but_for_the_rounds_that_it_gets_in_any_event() {
    let even = Machine { jitter: 0.0, outliers: 0.0, ..BUSY };
    for budget in [0.5, 2.0, 7.0] {
        let plan = plan(&format!("rounds: 3, max-rounds: 100, ci: 1%, budget: {budget}s"));
        let run = Simulated::of(&plan, even);
        let mut ended = 0;
        for record in run.ledger.records() {
            let total = record.spent().total;
            let bare = record.rounds.len() == 3 && record.set_aside.is_empty();
            let promised = record.rounds.len() == 3;
            assert!(total <= budget + 1e-9 || promised, "{total} s of {budget} s: {}", record.rounds.len());
            let fewest: f64 = record.rounds.iter().map(|round| round.wall).sum();
            assert!(total <= budget.max(fewest) + 1e-9 || bare, "second looks: {total} s of {budget} s");
            ended += usize::from(record.stop == Some(Stop::Budget));
        }
        assert!(ended > 0, "{budget} s end at least one");
    }
}

#[test]
fn a_bounded_run_gives_its_time_to_the_widest_intervals_and_ends_with_its_bound() {
    let rule = "rounds: 3, max-rounds: 100, ci: 1%, budget: 100s";
    let free = Simulated::of(&plan(rule), RESTLESS);
    for bound in [3.0, 10.0, 20.0] {
        assert!(free.end() > bound, "{} s", free.end());
        let even = Machine { jitter: 0.0, ..RESTLESS };
        let run = Simulated::of(&plan(&format!("{rule}, max-time: {bound}s")), even);
        assert!(run.end() <= bound, "{} s of {bound} s", run.end());
        let further = |moment: &&Moment| moment.turn.round >= 3 && moment.turn.attempt == 0;
        let mut turns = 0;
        for moment in run.moments.iter().filter(further) {
            // A case whose rounds do not fit any more leaves its time to the others.
            let spent = |case: usize| {
                let done = run.moments.iter().filter(|m| m.turn.case == case && m.at < moment.at);
                done.count()
            };
            let first = bound < 5.0 || (0..4).all(|case| spent(case) >= 3);
            assert!(first, "the rounds of every case come first, if the bound allows them");
            let own = moment.widths[moment.turn.case];
            let before = moment.at - even.measures(moment.turn).1;
            let longest = |case: usize| {
                let certificate = even.measures(Turn { case, round: 0, attempt: 0 }).1;
                before + certificate <= bound
            };
            let wider = (0..4).filter(|case| moment.widths[*case] > own && longest(*case)).count();
            assert_eq!(wider, 0, "{:?} of {:?} at {before}", moment.turn, moment.widths);
            turns += 1;
        }
        assert!(turns > 0 || bound < 5.0);
        assert!(run.ledger.is_out_of_time());
        let ends: Vec<_> = run.ledger.records().iter().filter_map(|record| record.stop).collect();
        assert!(ends.contains(&Stop::Time), "{ends:?}");
        assert!(!run.ledger.is_complete(), "a resumed run goes on");
    }
}

#[test]
fn a_bounded_run_is_expected_to_end_with_its_bound() {
    let run =
        Simulated::of(&plan("rounds: 3, max-rounds: 100, ci: 1%, budget: 100s, max-time: 20s"), RESTLESS);
    for moment in &run.moments {
        let [_, high] = moment.left.expect("timed").seconds();
        assert!(high <= 20.0 - moment.at + 1e-9, "{high} s at {}", moment.at);
    }
    let late = run.moments.iter().filter(|moment| moment.at > 5.0 && moment.at < 15.0);
    for moment in late {
        let [low, high] = moment.left.expect("timed").seconds();
        let rest = run.end() - moment.at;
        assert!((1.0 / 1.5..1.5).contains(&(f64::midpoint(low, high) / rest)), "{low} to {high} of {rest} s");
    }
}

#[test]
fn a_resumed_run_knows_what_it_has_taken() {
    let rules = plan("rounds: 3, ci: none");
    let run = Simulated::of(&rules, QUIET);
    let elapsed = run.ledger.elapsed().expect("told");
    assert!((elapsed - run.end()).abs() < 1e-9);
    assert!((run.ledger.finished().elapsed - elapsed).abs() < 1e-9, "the next engine is told");
    assert_eq!(Ledger::new(rules).elapsed(), None);
}
