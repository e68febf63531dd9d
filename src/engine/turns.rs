//! Executes a plan, one turn after another.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::inputs::PlanInputs;
use super::orders::{Order, Orders};
use super::protocol::{Event, Finished, Level, Ranked, RoundResult};
use super::round::TurnError;
use super::schedule::{Schedule, Turn};
use super::server::{Ending, Server, reason};
use super::snapshots::Snapshots;
use crate::case::peers::Program;
use crate::case::{Cache, Case, Failure, Verdict};
use crate::inputs::indices::Store;
use crate::primitives;
use crate::recipe::plan::Plan;
use crate::stats;
use crate::stats::noise::{self, Flag};

/// Note logged with every plan that uses cold caches.
const COLD_CACHES: &str = "cold caches: every sample is one execution after an eviction, because a second \
     one in a batch would find its data cached; samples under 100 µs are flagged `short`";

/// The state of a running plan.
pub(super) struct PlanProgress<'a> {
    pub plan: &'a Plan,
    pub schedule: Schedule,
    pub orders: Orders,
    pub inputs: PlanInputs,
    /// Whether the client was told that the engine is paused.
    held: bool,
    pub clock: RunClock,
}

/// The time that a run has taken.
pub(super) struct RunClock {
    began: Instant,
    paused: Duration,
    /// Seconds taken by earlier engines, and those of them that the run's time bound does not count.
    earlier: f64,
    before: f64,
}

impl RunClock {
    /// Seconds taken by all engines of the run, without pauses.
    pub fn elapsed(&self) -> f64 {
        self.earlier + self.began.elapsed().saturating_sub(self.paused).as_secs_f64()
    }

    /// The seconds that the run's time bound counts.
    fn counted(&self) -> f64 {
        self.elapsed() - self.before
    }
}

/// Why a plan stopped early.
enum Stop {
    Cancelled,
    Lost,
}

impl<W: Write> Server<W> {
    pub(super) fn run(&mut self, plan: &Plan, finished: &Finished, orders: Orders) -> io::Result<Ending> {
        let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
        self.emit(&Event::Started { cases: plan.measured().count(), rounds: rounds as usize })?;
        if plan.experiments.iter().any(|e| e.measure.cache == Cache::Cold) {
            let text = COLD_CACHES.to_owned();
            self.emit(&Event::Log { level: Level::Info, text })?;
        }
        self.host(&plan.programs);
        let indices = Arc::new(Store::of(&plan.indices));
        self.executors.iter_mut().for_each(|executor| executor.set_index_store(&indices));
        let (earlier, before) = (finished.elapsed, finished.before);
        let clock = RunClock { began: self.idle, paused: Duration::ZERO, earlier, before };
        let schedule = Schedule::new(plan, finished);
        let inputs = PlanInputs::of(plan, &indices);
        let mut progress = PlanProgress { plan, schedule, orders, inputs, held: false, clock };
        self.certified.clear();
        self.snapshots = Snapshots::default();
        self.sort_out(&mut progress)?;
        self.compile_ahead(&progress);
        let stop = self.run_turns(&mut progress)?;
        indices.shared().clear();
        self.idle = Instant::now();
        if matches!(stop, Some(Stop::Lost)) {
            return Ok(Ending::DeviceLost);
        }
        if stop.is_none() && progress.schedule.out_of_time() {
            self.emit(&Event::OutOfTime)?;
        }
        self.emit(&Event::Finished { cancelled: stop.is_some() })?;
        self.executors.iter().for_each(|executor| executor.compile_ahead(&[]));
        Ok(Ending::InputClosed)
    }

    /// Replaces the backends of the last plan's peers that a folder names by those of this plan.
    fn host(&mut self, programs: &[Program]) {
        for backend in std::mem::take(&mut self.hosted) {
            self.executors.retain(|executor| executor.backend() != backend);
        }
        for program in programs {
            let hosted = self.executors.iter().find_map(|executor| executor.of_program(program));
            // A name of another backend is taken; its plan was not made by this program.
            if let Some(hosted) = hosted.filter(|hosted| self.executor(hosted.backend()).is_none()) {
                self.hosted.push(hosted.backend());
                self.executors.push(hosted);
            }
        }
    }

    /// Starts compiling the kernels of all cases that have turns left.
    fn compile_ahead(&self, progress: &PlanProgress) {
        let left = progress.schedule.left();
        let cases: Vec<&Case> = left.into_iter().map(|at| &progress.plan.cases[at]).collect();
        self.executors.iter().for_each(|executor| executor.compile_ahead(&cases));
    }

    fn run_turns(&mut self, progress: &mut PlanProgress) -> io::Result<Option<Stop>> {
        let mut passes = progress.schedule.passes();
        loop {
            self.hold(progress)?;
            let Some(turn) = progress.schedule.next(progress.clock.counted()) else { return Ok(None) };
            if progress.orders.ended() {
                return Ok(Some(Stop::Cancelled));
            }
            if progress.schedule.passes() != passes {
                if let Some(stop) = self.measure_references(progress.plan, &progress.schedule, passes)? {
                    return Ok(Some(stop));
                }
                passes = progress.schedule.passes();
            }
            if let Some(stop) = self.run_turn(progress, turn)? {
                return Ok(Some(stop));
            }
            if progress.inputs.has(turn.case) && !progress.schedule.due(turn.case) {
                progress.inputs.keep_for(&progress.schedule.left());
            }
        }
    }

    /// Executes pending orders and blocks while paused. Returns the time taken, or `None` if there was nothing
    /// to do.
    pub(super) fn hold(&mut self, progress: &mut PlanProgress) -> io::Result<Option<Duration>> {
        let began = Instant::now();
        let (mut busy, mut held) = (false, false);
        loop {
            while let Some(order) = progress.orders.next() {
                self.apply(progress, order)?;
                busy = true;
            }
            let paused = progress.orders.paused();
            if paused != progress.held {
                self.emit(if paused { &Event::Paused } else { &Event::Continued })?;
                progress.held = paused;
            }
            busy |= paused;
            held |= paused;
            if !paused || !progress.orders.waits() {
                progress.clock.paused += if held { began.elapsed() } else { Duration::ZERO };
                return Ok(busy.then(|| began.elapsed()));
            }
        }
    }

    fn apply(&mut self, progress: &mut PlanProgress, order: Order) -> io::Result<()> {
        let (Order::Skip(id) | Order::Again(id)) = &order;
        let Some(at) = progress.plan.cases.iter().position(|case| case.id == *id) else { return Ok(()) };
        let case = id.clone();
        match order {
            Order::Skip(_) if progress.schedule.due(at) => {
                progress.schedule.skip(at);
                self.emit_result(|seq| Event::Skipped { seq, case })
            }
            Order::Again(_)
                if !progress.schedule.due(at) && progress.plan.cases[at].not_applicable.is_none() =>
            {
                let rounds = progress.schedule.repeat(at);
                self.emit(&Event::Retried { case, rounds })
            }
            // The order came too late or too early to have an effect.
            Order::Skip(_) | Order::Again(_) => Ok(()),
        }
    }

    /// Measures a plain copy on every backend that has turns left in an experiment with references, on the device
    /// of its first case, to record changes of the machine's performance over time, and how fast it ranks keys, if cases do.
    /// Skipped in some passes if it takes long compared with a pass. Returns `Some` if it loses a device, for which no case is to blame.
    fn measure_references(
        &mut self,
        plan: &Plan,
        schedule: &Schedule,
        pass: u32,
    ) -> io::Result<Option<Stop>> {
        let from = self.born.elapsed().as_secs_f64();
        if !self.reference_schedule.due(from) {
            return Ok(None);
        }
        let mut devices: BTreeMap<&str, u64> = BTreeMap::new();
        let left: Vec<&Case> = schedule.left().into_iter().map(|at| &plan.cases[at]).collect();
        let left = || left.iter().copied().filter(|c| plan.experiments[c.experiment].measure.reference);
        for case in left() {
            let (backend, device) = case.place();
            devices.entry(backend).or_insert(device);
        }
        let (ranks, mut ranking) = (self.ranking_schedule.due(from), 0.0);
        for (backend, device) in devices {
            let copy = match self.copy_on(backend, device) {
                Ok(copy) => copy,
                Err(failure) if self.no_reference("reference copy", backend, &failure)? => {
                    return Ok(Some(Stop::Lost));
                }
                Err(_) => continue,
            };
            let own = left().filter(|case| case.place() == (backend, device));
            let began = Instant::now();
            let Some(ranked) = self.rankings(backend, own.filter(|_| ranks))? else {
                return Ok(Some(Stop::Lost));
            };
            ranking += began.elapsed().as_secs_f64();
            self.emit(&Event::Reference { pass, backend: backend.to_owned(), copy, ranked })?;
        }
        let to = self.born.elapsed().as_secs_f64();
        self.reference_schedule.measured(from, to - ranking);
        if ranks {
            self.ranking_schedule.measured(to - ranking, to);
        }
        Ok(None)
    }

    /// Measures how fast the device that was selected last ranks keys, of each kind that these cases rank; `None` if it
    /// is lost.
    fn rankings<'c>(
        &mut self,
        backend: &str,
        cases: impl Iterator<Item = &'c Case>,
    ) -> io::Result<Option<Vec<Ranked>>> {
        let kinds = cases.filter_map(|case| Some((primitives::ranking(case)?.kind, case)));
        let (kinds, mut ranked): (BTreeMap<String, &Case>, _) = (kinds.collect(), Vec::new());
        for (kind, case) in kinds {
            let Some(probed) = self.executor(backend).map(|executor| executor.ranking_probe(case)) else {
                break;
            };
            match probed {
                Ok(rate) => ranked.push(Ranked { kind, rate }),
                Err(failure)
                    if self.no_reference(&format!("rate of ranking {kind}"), backend, &failure)? =>
                {
                    return Ok(None);
                }
                Err(_) => {}
            }
        }
        Ok(Some(ranked))
    }

    /// Tells why a reference is missing; returns whether the device is lost.
    fn no_reference(&mut self, what: &str, backend: &str, failure: &Failure) -> io::Result<bool> {
        let lost = matches!(failure, Failure::Lost(_));
        let level = if lost { Level::Error } else { Level::Info };
        let text = format!("no {what} on {backend}: {}", reason(failure.clone()));
        self.emit(&Event::Log { level, text })?;
        Ok(lost)
    }

    /// Measures one turn and updates the schedule; `Some` if the plan stops here.
    fn run_turn(&mut self, progress: &mut PlanProgress, turn: Turn) -> io::Result<Option<Stop>> {
        let case = &progress.plan.cases[turn.case];
        // Skippable only while the case has rounds left: skipping a second attempt would discard the result of
        // a finished case.
        let skippable = progress.schedule.due(turn.case).then_some(case.id.as_str());
        let cancel = progress.orders.begin(skippable);
        let bound = progress.plan.experiments[case.experiment].measure.max_time;
        let left = bound.map(|bound| (bound - progress.clock.counted()).max(0.0));
        let left = left.and_then(|left| Duration::try_from_secs_f64(left).ok());
        let cancel = cancel.until(left.and_then(|left| Instant::now().checked_add(left)));
        let measured = self.measure(progress, turn, &cancel);
        progress.orders.begin(None);
        let failure = match measured {
            Ok((result, doubts)) => {
                self.deliver(progress, turn, result, &doubts)?;
                return Ok(None);
            }
            Err(TurnError::Failure(failure)) => failure,
            Err(TurnError::Io(error)) => return Err(error),
        };
        match failure {
            Failure::Cancelled => progress.schedule.put_back(turn),
            _ => progress.schedule.give_up(turn.case),
        }
        let (id, round) = (case.id.clone(), turn.round);
        match failure {
            // Either the plan ends or the case is skipped; both are handled before the next turn.
            Failure::Cancelled => return Ok((!cancel.requested()).then_some(Stop::Cancelled)),
            Failure::NotApplicable(reason) => {
                self.emit_result(|seq| Event::NotApplicable { seq, case: id, reason })?;
            }
            Failure::Failed(error) => {
                self.emit_result(|seq| Event::Failed { seq, case: id, round, error, lost: false })?
            }
            Failure::Lost(error) => {
                self.emit_result(|seq| Event::Failed { seq, case: id, round, error, lost: true })?;
                return Ok(Some(Stop::Lost));
            }
        }
        Ok(None)
    }

    fn deliver(
        &mut self,
        progress: &mut PlanProgress,
        turn: Turn,
        result: RoundResult,
        doubts: &[(Flag, String)],
    ) -> io::Result<()> {
        let PlanProgress { plan, schedule, .. } = progress;
        let wrong = matches!(result.verdict, Some(Verdict::Wrong { .. }));
        let median = stats::median(&result.samples);
        let again = !wrong && schedule.looks_again(turn, !doubts.is_empty());
        schedule.measured(turn, median.unwrap_or(f64::NAN), result.wall, !doubts.is_empty());
        if wrong {
            schedule.give_up(turn.case);
        }
        self.emit_result(|seq| Event::Round { seq, result })?;
        if doubts.is_empty() || wrong {
            return Ok(());
        }
        let case = &plan.cases[turn.case];
        let label = plan.experiments[case.experiment].label(case);
        let words: Vec<&str> = doubts.iter().map(|(_, words)| words.as_str()).collect();
        let what = if again { "measured again later" } else { "kept as it is" };
        let text = format!("{}{}: {what}", noise::preamble(&label, turn.round), words.join("; "));
        self.emit(&Event::Log { level: Level::Warn, text })
    }
}
