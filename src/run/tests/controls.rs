//! Requests of the user during a run, and what the event log holds of them afterwards.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{attempt, failed, plan, wall_of};
use crate::engine::protocol::Event;
use crate::engine::schedule::Schedule;
use crate::inputs::mix;
use crate::recipe::plan::Plan;
use crate::run::{Ledger, Status};

/// A step in the simulation of a run.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A turn, flagged in a quarter of the cases.
    Measure,
    /// A turn that is abandoned before its end.
    Leave,
    Fail,
    Skip(usize),
    Again(usize),
    /// The engine dies, and a new one continues from the event log.
    Cut,
    /// The client dies, and the run is resumed.
    Resume,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => Just(Step::Measure),
        1 => Just(Step::Leave),
        1 => Just(Step::Fail),
        2 => (0..4usize).prop_map(Step::Skip),
        2 => (0..4usize).prop_map(Step::Again),
        1 => Just(Step::Cut),
        1 => Just(Step::Resume),
    ]
}

/// A run without a machine: the engine's schedule, the event log, and the ledger folded from it.
struct Run {
    plan: Plan,
    schedule: Schedule,
    ledger: Ledger,
    file: Vec<Event>,
    measured: Vec<(usize, u32, u32)>,
    seed: u64,
}

impl Run {
    fn new(measure: &str, seed: u64) -> Run {
        let plan = plan(measure);
        let ledger = Ledger::new(plan.clone());
        let schedule = Schedule::new(&plan, &ledger.finished());
        Run { plan, schedule, ledger, file: Vec::new(), measured: Vec::new(), seed }
    }

    fn say(&mut self, event: Event) {
        self.ledger.apply(&event);
        self.file.push(event);
    }

    /// Executes one turn; `false` if nothing is left to measure.
    fn measure(&mut self) -> bool {
        let Some(turn) = self.schedule.next(0.0) else { return false };
        let key = (turn.case as u64) << 32 | u64::from(turn.round) << 1 | u64::from(turn.attempt);
        let word = mix::word64(self.seed, key);
        let (seconds, doubtful) = (1.0 + (word % 1000) as f64 / 5000.0, (word >> 32).is_multiple_of(4));
        self.schedule.measured(turn, seconds, wall_of(&self.plan, seconds), doubtful);
        self.measured.push((turn.case, turn.round, turn.attempt));
        let event = attempt(&self.plan, turn.case, turn.round, turn.attempt, seconds, doubtful);
        self.say(event);
        true
    }

    fn take(&mut self, step: Step) {
        let id = |at: usize| self.plan.cases[at].id.clone();
        match step {
            Step::Measure => _ = self.measure(),
            Step::Leave => {
                let turn = self.schedule.next(0.0);
                turn.into_iter().for_each(|turn| self.schedule.put_back(turn));
            }
            Step::Fail => {
                let Some(turn) = self.schedule.next(0.0) else { return };
                self.schedule.put_back(turn);
                self.schedule.give_up(turn.case);
                self.say(failed(&self.plan, turn.case, false));
            }
            Step::Skip(at) if self.schedule.due(at) => {
                self.schedule.skip(at);
                self.say(Event::Skipped { seq: 1, case: id(at) });
            }
            Step::Again(at) if !self.schedule.due(at) => {
                let rounds = self.schedule.repeat(at);
                self.say(Event::Retried { case: id(at), rounds });
            }
            Step::Skip(_) | Step::Again(_) => {}
            Step::Cut => self.schedule = Schedule::new(&self.plan, &self.ledger.finished()),
            Step::Resume => self.resume(),
        }
    }

    /// Resumes from the event log alone.
    fn resume(&mut self) {
        self.ledger = self.stored();
        for case in self.ledger.retry() {
            self.file.push(Event::Retried { case, rounds: 0 });
        }
        self.schedule = Schedule::new(&self.plan, &self.ledger.finished());
    }

    /// The ledger that a report, a watch or another program folds from the log.
    fn stored(&self) -> Ledger {
        let mut stored = Ledger::new(self.plan.clone());
        for event in &self.file {
            let line = serde_json::to_string(event).expect("an event");
            stored.file(&serde_json::from_str(&line).expect("the same event"));
        }
        stored.settle();
        stored
    }

    /// Which cases have rounds left, according to the engine and to a reader of the log.
    fn due(&self) -> [Vec<bool>; 2] {
        let all = |schedule: &Schedule| (0..self.plan.cases.len()).map(|at| schedule.due(at)).collect();
        [all(&self.schedule), all(&Schedule::new(&self.plan, &self.ledger.finished()))]
    }
}

const MEASURES: [&str; 3] = [
    "rounds: 3, max-rounds: 9, ci: 3%, budget: 1000s",
    "rounds: 3, max-rounds: 5, ci: 3%, budget: 2s, order: random",
    "rounds: 2, ci: none, order: sequential",
];

proptest! {
    /// For all requests and interruptions: the log agrees with the engine and the screen, nothing is measured
    /// twice, and a resumed run measures the skipped cases.
    #[test]
    fn the_file_tells_what_was_asked(
        seed in 0u64..1000,
        measure in 0..MEASURES.len(),
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut run = Run::new(MEASURES[measure], seed);
        for step in steps {
            run.take(step);
            let [engine, file] = run.due();
            prop_assert_eq!(engine, file, "after {:?}", step);
            let stored = run.stored();
            prop_assert!(stored.records() == run.ledger.records(), "after {:?}", step);
        }
        run.resume();
        while run.measure() {}
        let distinct: BTreeSet<_> = run.measured.iter().collect();
        prop_assert_eq!(distinct.len(), run.measured.len(), "measured twice: {:?}", run.measured);
        prop_assert!(run.ledger.is_complete());
        for record in run.ledger.records() {
            prop_assert!(matches!(record.status, Status::Done | Status::Failed(_)), "{:?}", record.status);
        }
    }
}

#[test]
fn a_skipped_case_says_so_and_its_rounds_count_again_once_it_is_taken_up() {
    let plan = plan("rounds: 2, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    ledger.apply(&attempt(&plan, 0, 0, 0, 1.0, false));
    let skipped = ledger.skipped(0).expect("a round is due");
    ledger.apply(&skipped);
    let record = &ledger.records()[0];
    assert_eq!(record.status, Status::NotApplicable("skipped".into()));
    assert!(record.statistics.is_none() && record.rounds.len() == 1, "its round is on file");
    assert_eq!((ledger.may_skip(0), ledger.may_repeat(0)), (false, true));
    let again = ledger.repeated(0).expect("it was skipped");
    assert_eq!(again, Event::Retried { case: plan.cases[0].id.clone(), rounds: 0 });
    ledger.apply(&again);
    ledger.apply(&attempt(&plan, 0, 1, 0, 1.0, false));
    assert_eq!(ledger.records()[0].status, Status::Done);
    assert_eq!(ledger.repeated(0), Some(Event::Retried { case: plan.cases[0].id.clone(), rounds: 4 }));
}

#[test]
fn a_skip_of_further_rounds_leaves_the_result() {
    let mut run = Run::new(MEASURES[2], 1);
    while run.measure() {}
    let before = run.ledger.records()[0].clone();
    for asked in [0, 1] {
        run.take(Step::Again(0));
        (0..asked).for_each(|_| assert!(run.measure()));
        assert_eq!(run.ledger.records()[0].status, Status::Partial);
        run.take(Step::Skip(0));
        let record = &run.ledger.records()[0];
        assert_eq!((&record.status, record.wanted, record.rounds.len()), (&Status::Done, 0, 2 + asked));
        assert!(record.statistics.is_some() && record.stop == before.stop);
        while run.measure() {}
        assert_eq!(run.ledger.records()[0].rounds.len(), 2 + asked, "nothing is left of it");
    }
}

#[test]
fn what_cannot_run_is_neither_skipped_nor_repeated() {
    let plan = plan("rounds: 1, ci: none");
    let mut ledger = Ledger::new(plan.clone());
    let case = plan.cases[0].id.clone();
    ledger.apply(&Event::NotApplicable { seq: 1, case, reason: "no memory".into() });
    assert_eq!((ledger.skipped(0), ledger.repeated(0), ledger.repeated(99)), (None, None, None));
}
