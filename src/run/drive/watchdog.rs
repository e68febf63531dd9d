//! Detection of a hung engine: one whose plan does not advance for far longer than its current stage can take, or
//! whose case is over its time limit. A kernel that never terminates shows no other symptom. What an engine says
//! besides (standard error, messages, an event that it has sent before) is no sign of progress.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use super::LONG;
use crate::engine::protocol::{Event, Stage};
use crate::run::{Ledger, Record, Status, estimate};

/// A stage may take this many times the estimated time of its whole round. The estimate counts accesses, not
/// latencies, so an error of 10x is normal.
const GENEROUS: f64 = 30.0;

/// Assumed copy bandwidth where none was measured, GB/s.
const SLOW_COPY: f64 = 5.0;

/// Number of timed waits (looks) into which the limit is divided. A program suspended by Ctrl-Z or a batch
/// system may wake hours later; each look counts with its nominal length at most, so that some remain in which
/// to receive events queued meanwhile.
const LOOKS: u32 = 8;

/// Most steps that count between two results. The engine takes four in a round; a result that was refused ends none.
const MOST_STEPS: usize = 32;

/// The shortest look, so that an engine out of time is noticed without a busy loop.
const SHORTEST_LOOK: Duration = Duration::from_millis(1);

/// Why an engine is killed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Overdue {
    /// Nothing advanced: an error text that names the stage.
    Hung(String),
    /// The case at this position is over its limit, in this round.
    OverLimit { case: usize, round: u32, error: String },
}

/// What an engine is doing, from its latest progress event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Activity {
    case: usize,
    round: u32,
    stage: Stage,
}

/// Watches the progress of one engine.
pub(super) struct Watchdog {
    least: Duration,
    limit: Duration,
    /// Time since the plan last advanced.
    idle: Duration,
    /// Time since the first progress event after the last result.
    turn: Duration,
    started: bool,
    activity: Option<Activity>,
    /// The steps since the last result, each of which counts once.
    steps: Vec<Activity>,
    /// Backends with a reference copy since the last result.
    referenced: BTreeSet<String>,
    /// Whether the user asked for a pause, and whether the engine is paused.
    pause_asked: bool,
    held: bool,
    /// When time was last counted.
    looked: Instant,
}

impl Watchdog {
    pub fn new(least: Duration) -> Watchdog {
        Watchdog {
            least,
            limit: least,
            idle: Duration::ZERO,
            turn: Duration::ZERO,
            started: false,
            activity: None,
            steps: Vec::new(),
            referenced: BTreeSet::new(),
            pause_asked: false,
            held: false,
            looked: Instant::now(),
        }
    }

    /// How long to wait for the next event.
    pub fn look(&self, ledger: &Ledger) -> Duration {
        if self.held {
            return LONG;
        }
        let left = self.left(ledger).unwrap_or(LONG);
        (self.limit / LOOKS).min(left).max(SHORTEST_LOOK)
    }

    /// The user asks the engine to pause, or no longer does: only then may it wait for as long as it likes.
    pub fn asked_to_pause(&mut self, pause: bool) {
        self.pause_asked = pause;
    }

    /// The user asks the engine for something, after which it may begin its round anew.
    pub fn asked(&mut self) {
        self.steps.clear();
    }

    /// Counts the time since the last call, as a look of this length at most.
    pub fn looks(&mut self, look: Duration) {
        let passed = self.looked.elapsed().min(look);
        self.looked = Instant::now();
        self.pass(passed);
    }

    fn pass(&mut self, time: Duration) {
        if !self.held {
            self.idle += time;
            self.turn += if self.activity.is_some() { time } else { Duration::ZERO };
        }
    }

    /// Takes an event that the ledger has not seen, and returns whether the plan advances by it.
    pub fn hears(&mut self, event: &Event, ledger: &Ledger) -> bool {
        let advances = self.advances(event, ledger);
        match event {
            Event::Paused => self.held = self.pause_asked,
            Event::Continued => {
                (self.held, self.pause_asked) = (false, false);
                if advances {
                    self.steps.clear();
                }
            }
            Event::Started { .. } => self.started = true,
            _ => {}
        }
        if advances {
            self.idle = Duration::ZERO;
        }
        match event {
            Event::Progress { case, round, stage, .. } if advances => {
                let case = ledger.position(case);
                self.activity = case.map(|case| Activity { case, round: *round, stage: *stage });
                self.limit = self.least.max(case.map_or(LONG, |case| generous(case, ledger)));
            }
            _ if advances && event.seq().is_some() => {
                (self.activity, self.limit, self.turn) = (None, self.least, Duration::ZERO);
                self.steps.clear();
                self.referenced.clear();
            }
            _ => {}
        }
        advances
    }

    fn advances(&mut self, event: &Event, ledger: &Ledger) -> bool {
        let open = |case: &str| ledger.position(case).is_some_and(|at| ledger.may_skip(at));
        match event {
            Event::Finished { .. } => true,
            Event::OutOfTime => !ledger.is_out_of_time(),
            Event::Started { .. } => !self.started,
            Event::Paused => self.pause_asked && !self.held,
            Event::Continued => self.held,
            Event::Progress { case, round, stage, .. } => ledger.position(case).is_some_and(|case| {
                let next = Activity { case, round: *round, stage: *stage };
                self.is_step(next, ledger)
            }),
            Event::Reference { backend, .. } => {
                let measured = ledger.plan().cases.iter().any(|case| case.place().0 == backend);
                measured && self.referenced.insert(backend.clone())
            }
            Event::Round { result, .. } => {
                let record = ledger.position(&result.case).and_then(|at| ledger.records().get(at));
                record.is_some_and(|record| !knows(record, result.round, result.attempt))
            }
            Event::Skipped { case, .. } => open(case),
            // A case with all its rounds may fail in a second look.
            Event::NotApplicable { case, .. } | Event::Failed { case, .. } => {
                let record = ledger.position(case).and_then(|at| ledger.records().get(at));
                record.is_some_and(|record| {
                    !matches!(record.status, Status::Failed(_) | Status::NotApplicable(_))
                })
            }
            Event::Retried { case, rounds } => ledger.position(case).is_some_and(|at| {
                let record = &ledger.records()[at];
                ledger.may_repeat(at) && (record.status != Status::Done || *rounds > record.wanted)
            }),
            _ => false,
        }
    }

    /// Whether an engine that follows its plan may have come to this. A program that makes rounds up, or goes from one
    /// stage to another and back, gets nowhere.
    fn is_step(&mut self, next: Activity, ledger: &Ledger) -> bool {
        let planned = next.round < ledger.most_rounds(next.case);
        let counts = planned && self.steps.len() < MOST_STEPS && !self.steps.contains(&next);
        if counts {
            self.steps.push(next);
        }
        counts
    }

    /// Why the engine is out of time, if it is.
    pub fn overdue(&self, ledger: &Ledger) -> Option<Overdue> {
        if self.held {
            return None;
        }
        if let Some(now) = self.activity.filter(|_| self.left(ledger) == Some(Duration::ZERO)) {
            let limit = measure_limit(now.case, ledger);
            let error =
                format!("over its time limit, {limit} s (measure.limit), while {}", now.stage.doing());
            return Some(Overdue::OverLimit { case: now.case, round: now.round, error });
        }
        let doing = self.activity.map_or_else(String::new, |now| format!(" while {}", now.stage.doing()));
        let seconds = self.idle.as_secs_f64();
        (self.idle >= self.limit)
            .then(|| Overdue::Hung(format!("hung{doing}: killed after {seconds:.0} s without progress")))
    }

    /// What is left of the current case's time limit: the time of its finished rounds and of this turn count. A case
    /// that has the rounds that were asked for is not limited any more: it would lose them.
    fn left(&self, ledger: &Ledger) -> Option<Duration> {
        let case = self.activity?.case;
        let record = ledger.records().get(case)?;
        if record.rounds.len() >= ledger.measure(case).rounds as usize {
            return None;
        }
        let left = measure_limit(case, ledger) - record.spent().total - self.turn.as_secs_f64();
        Some(Duration::try_from_secs_f64(left).unwrap_or(if left > 0.0 { LONG } else { Duration::ZERO }))
    }
}

fn knows(record: &Record, round: u32, attempt: u32) -> bool {
    let all = || record.rounds.iter().chain(&record.set_aside);
    all().any(|known| (known.round, known.attempt) == (round, attempt))
}

/// Seconds after which a case fails: the recipe's, or else an hour or ten budgets, and more where its rounds
/// are expected to take longer.
fn measure_limit(case: usize, ledger: &Ledger) -> f64 {
    let measure = ledger.measure(case);
    let rounds = || f64::from(measure.rounds) * generous(case, ledger).as_secs_f64();
    if measure.limit.is_some() { measure.limit() } else { measure.limit().max(rounds()) }
}

/// How long a stage of a round of this case may take.
fn generous(case: usize, ledger: &Ledger) -> Duration {
    let plan = ledger.plan();
    let seconds = plan.cases.get(case).and_then(|case| {
        let copies = ledger.references().get(case.place().0);
        let copy = copies.and_then(|copies| copies.last()).copied().unwrap_or(SLOW_COPY);
        estimate::round_of(plan, case, copy)
    });
    // A round without an estimate may take an hour.
    seconds.map_or(LONG, |seconds| Duration::try_from_secs_f64(GENEROUS * seconds).unwrap_or(LONG))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::protocol::{Level, RoundResult};
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    const LEAST: Duration = Duration::from_secs(120);
    const SECOND: Duration = Duration::from_secs(1);

    fn ledger(measure: &str) -> Ledger {
        let text = format!(
            "gather: {{tuples: [1Ki, 1Gi], locations: random}}\nbackend: scalar\nchart: {{x: tuples}}\n{measure}"
        );
        let recipe = recipe::parse("a.yaml", &text).expect("a recipe");
        Ledger::new(resolve(&recipe, &Overrides::default()).expect("a plan"))
    }

    fn progress(ledger: &Ledger, case: usize, stage: Stage) -> Event {
        Event::Progress { case: ledger.plan().cases[case].id.clone(), round: 0, stage, making: None }
    }

    fn log() -> Event {
        Event::Log { level: Level::Info, text: "still here".to_owned() }
    }

    fn round(ledger: &Ledger, case: usize, round: u32) -> Event {
        let case = ledger.plan().cases[case].id.clone();
        let result = RoundResult { case, round, samples: vec![1.0], batch: 1, ..RoundResult::default() };
        Event::Round { seq: 1, result }
    }

    #[test]
    fn a_short_case_is_given_the_least_and_a_long_one_more() {
        let ledger = ledger("");
        let mut dog = Watchdog::new(LEAST);
        dog.hears(&progress(&ledger, 0, Stage::Sample), &ledger);
        assert_eq!(dog.limit, LEAST);
        dog.hears(&progress(&ledger, 1, Stage::Sample), &ledger);
        assert!(dog.limit > LEAST * 5, "{:?}", dog.limit);
        dog.hears(&log(), &ledger);
        assert!(dog.limit > LEAST, "it is still about that case");
    }

    #[test]
    fn chatter_does_not_restart_the_wait_and_progress_does() {
        let ledger = ledger("");
        let mut dog = Watchdog::new(Duration::from_secs(60));
        assert!(dog.hears(&progress(&ledger, 0, Stage::Sample), &ledger));
        for _ in 0..59 {
            dog.pass(SECOND);
            assert!(!dog.hears(&log(), &ledger) && !dog.hears(&progress(&ledger, 0, Stage::Sample), &ledger));
            let unknown =
                Event::Progress { case: "nowhere".to_owned(), round: 0, stage: Stage::Certify, making: None };
            assert!(!dog.advances(&unknown, &ledger) && !dog.hears(&Event::Paused, &ledger));
            assert_eq!(dog.overdue(&ledger), None);
        }
        dog.pass(SECOND);
        let words = "hung while sampling: killed after 60 s without progress";
        assert_eq!(dog.overdue(&ledger), Some(Overdue::Hung(words.to_owned())));
        assert!(dog.hears(&progress(&ledger, 0, Stage::Certify), &ledger));
        assert_eq!(dog.overdue(&ledger), None, "another stage begins it anew");
    }

    #[test]
    fn steps_beyond_the_plan_or_back_and_forth_are_no_progress() {
        let ledger = ledger("measure: {rounds: 3, max-rounds: 5}\n");
        let at = |case: usize, round, stage| Event::Progress {
            case: ledger.plan().cases[case].id.clone(),
            round,
            stage,
            making: None,
        };
        let mut dog = Watchdog::new(Duration::from_secs(60));
        assert!(dog.hears(&at(0, 4, Stage::Sample), &ledger), "max-rounds");
        for round in [5, 6, 77, u32::MAX] {
            assert!(!dog.hears(&at(0, round, Stage::Sample), &ledger), "round {round}");
        }
        for (stage, counts) in
            [(Stage::WarmUp, true), (Stage::Sample, false), (Stage::WarmUp, false), (Stage::Certify, true)]
        {
            assert_eq!(dog.hears(&at(0, 4, stage), &ledger), counts, "{stage:?}");
        }
        dog.asked();
        assert!(dog.hears(&at(0, 4, Stage::WarmUp), &ledger), "the user's request interrupts a round");
        let stages = [Stage::Generate, Stage::WarmUp, Stage::Sample, Stage::Certify];
        let all = (0..2).flat_map(|case| (0..5).map(move |round| (case, round)));
        let all = all.flat_map(|(case, round)| stages.map(|stage| at(case, round, stage)));
        let counted = all.filter(|event| dog.hears(event, &ledger)).count();
        assert_eq!(counted, MOST_STEPS - 1, "an engine that never has a result");
        dog.pass(Duration::from_secs(50_000));
        assert!(dog.overdue(&ledger).is_some());
        assert!(dog.hears(&round(&ledger, 0, 0), &ledger));
        assert!(dog.hears(&at(0, 4, Stage::WarmUp), &ledger), "the next round");
    }

    #[test]
    fn a_result_counts_once_and_a_reference_once_before_the_next_result() {
        let mut ledger = ledger("");
        let mut dog = Watchdog::new(LEAST);
        let reference =
            Event::Reference { pass: 0, backend: "scalar".to_owned(), copy: 10.0, ranked: Vec::new() };
        let foreign =
            Event::Reference { pass: 0, backend: "elsewhere".to_owned(), copy: 10.0, ranked: Vec::new() };
        assert!(dog.hears(&reference, &ledger) && !dog.hears(&reference, &ledger));
        assert!(!dog.hears(&foreign, &ledger));
        let result = round(&ledger, 0, 0);
        assert!(dog.hears(&result, &ledger));
        ledger.apply(&result);
        assert!(!dog.hears(&result, &ledger), "the same result again");
        assert!(dog.hears(&reference, &ledger) && dog.hears(&round(&ledger, 0, 1), &ledger));
        let failed = Event::Failed {
            seq: 3,
            case: ledger.plan().cases[1].id.clone(),
            round: 0,
            error: "no".to_owned(),
            lost: false,
        };
        assert!(dog.hears(&failed, &ledger));
        ledger.apply(&failed);
        assert!(!dog.hears(&failed, &ledger));
    }

    #[test]
    fn an_engine_that_was_asked_to_pause_has_nothing_to_say() {
        let ledger = ledger("");
        let mut dog = Watchdog::new(Duration::from_secs(60));
        dog.asked_to_pause(true);
        dog.hears(&Event::Paused, &ledger);
        dog.pass(Duration::from_secs(7200));
        assert_eq!((dog.overdue(&ledger), dog.look(&ledger)), (None, LONG));
        dog.hears(&Event::Continued, &ledger);
        dog.hears(&Event::Paused, &ledger);
        dog.pass(Duration::from_secs(60));
        assert!(dog.overdue(&ledger).is_some(), "nobody asked for this pause");
    }

    #[test]
    fn a_case_is_over_its_limit_with_all_its_rounds_and_whatever_the_engine_says() {
        let mut ledger = ledger("measure: {limit: 100s}\n");
        let mut dog = Watchdog::new(LEAST);
        let Event::Round { result, .. } = round(&ledger, 0, 0) else { panic!("a round") };
        ledger.apply(&Event::Round { seq: 1, result: RoundResult { wall: 70.0, ..result } });
        for stage in [Stage::WarmUp, Stage::Sample].repeat(10) {
            dog.hears(&progress(&ledger, 0, stage), &ledger);
            assert_eq!(dog.overdue(&ledger), None);
            dog.pass(Duration::from_millis(1500));
        }
        let case = 0;
        let error = "over its time limit, 100 s (measure.limit), while sampling".to_owned();
        assert_eq!(dog.overdue(&ledger), Some(Overdue::OverLimit { case, round: 0, error }));
        dog.hears(&progress(&ledger, 1, Stage::Sample), &ledger);
        assert_eq!(dog.overdue(&ledger), None, "another case has its own limit");
        assert_eq!(Watchdog::new(LEAST).overdue(&ledger), None);
    }

    #[test]
    fn without_a_limit_a_case_has_an_hour_or_ten_budgets() {
        for (measure, limit) in [("", 3600.0), ("measure: {budget: 1000s}\n", 10_000.0)] {
            assert_eq!(measure_limit(0, &ledger(measure)), limit);
        }
    }
}
