//! Runs plans: commands in, events out. The same server runs in the engine's process
//! and, over pipes in memory, in tests.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::pace::Pace;
use super::protocol::{Command, Event, Finished, Level, PROTOCOL, RoundResult, Stage};
use super::schedule::{Schedule, Turn};
use super::watch::Watch;
use super::{environment, sampler};
use crate::backend::{Availability, Cancel, Executor, Failure, Verdict};
use crate::indices::Store;
use crate::measure;
use crate::measure::noise::{self, Clocks, Conditions, Flag};
use crate::plan::{Cache, Case, Measure, Plan};

/// What a person should know of every plan with cold caches.
const COLD_CACHES: &str = "cold caches: every sample is one execution after an eviction, because a second \
     one in a batch would find its data cached; samples under 100 µs are flagged `short`";

/// How serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client closed our input.
    InputClosed,
    /// A device was lost: only a fresh engine can go on.
    DeviceLost,
}

/// Says hello and carries out commands until the input ends or a device is lost.
///
/// Executors are used on the calling thread only, because a CUDA context belongs to
/// the thread that made it.
///
/// # Errors
/// When the client cannot be told any more, and when there is no thread left to listen.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    executors: Vec<Box<dyn Executor>>,
    watch: Box<dyn Watch>,
) -> io::Result<Ending> {
    let (sender, inbox) = mpsc::channel();
    thread::Builder::new().name("commands".into()).spawn(move || read_commands(input, &sender))?;
    let (clocks, pace, born) = (Clocks::default(), Pace::default(), Instant::now());
    let certified = HashSet::new();
    let mut server = Server { output, inbox, executors, watch, clocks, pace, born, certified, seq: 0 };
    server.hello()?;
    server.serve()
}

enum Input {
    Run { plan: Box<Plan>, finished: Finished, cancel: Cancel },
    Ack(u64),
    Probe(Vec<String>),
    Ping(u64),
    Unreadable(String),
}

/// Turns lines into inputs. Each run gets a cancel flag of its own, raised here the
/// moment the client asks or its end of the pipe closes, whatever the server is doing.
fn read_commands(input: impl BufRead, inbox: &Sender<Input>) {
    let mut running = Cancel::default();
    for line in input.split(b'\n') {
        let Ok(line) = line else { break };
        let item = match serde_json::from_slice(&line) {
            Ok(Command::Run { plan, finished }) => {
                running = Cancel::default();
                Input::Run { plan, finished, cancel: running.clone() }
            }
            Ok(Command::Ack { seq }) => Input::Ack(seq),
            Ok(Command::Probe { backends }) => Input::Probe(backends),
            Ok(Command::Ping { number }) => Input::Ping(number),
            Ok(Command::Cancel) => {
                running.request();
                continue;
            }
            Err(error) => Input::Unreadable(format!("unreadable command: {error}")),
        };
        if inbox.send(item).is_err() {
            return;
        }
    }
    running.request();
}

struct Server<W: Write> {
    output: W,
    inbox: Receiver<Input>,
    executors: Vec<Box<dyn Executor>>,
    watch: Box<dyn Watch>,
    clocks: Clocks,
    /// Of the reference copies.
    pace: Pace,
    born: Instant,
    /// Cases of the plan that runs now. What an earlier engine certified may have been
    /// another device's or another build's work.
    certified: HashSet<String>,
    seq: u64,
}

/// Why a turn has no result.
enum Trouble {
    Failure(Failure),
    /// The client cannot be told any more.
    Io(io::Error),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Self {
        Trouble::Failure(failure)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Trouble::Io(error)
    }
}

/// Why a plan stopped before its end.
enum Stop {
    Cancelled,
    Lost,
}

impl<W: Write> Server<W> {
    fn hello(&mut self) -> io::Result<()> {
        let devices = self.executors.iter().map(|e| e.device()).collect();
        self.emit(&Event::Hello {
            protocol: PROTOCOL,
            version: crate::VERSION.to_owned(),
            revision: crate::REVISION.to_owned(),
            devices,
            environment: environment::read(),
        })
    }

    fn serve(&mut self) -> io::Result<Ending> {
        while let Ok(input) = self.inbox.recv() {
            match input {
                Input::Run { plan, finished, cancel } => {
                    if self.run(&plan, &finished, &cancel)? == Ending::DeviceLost {
                        return Ok(Ending::DeviceLost);
                    }
                }
                Input::Probe(backends) => self.probe(&backends)?,
                Input::Ping(number) => self.emit(&Event::Pong { number })?,
                Input::Unreadable(text) => self.emit(&Event::Log { level: Level::Error, text })?,
                // An acknowledgement after a cancelled run has nobody waiting for it.
                Input::Ack(_) => {}
            }
        }
        Ok(Ending::InputClosed)
    }

    fn emit(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.output, event)?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }

    /// Emits a result and waits until the client has it on disk. An end of the input
    /// while waiting is not an error here: the cancel flag is up by then.
    fn emit_result(&mut self, make: impl FnOnce(u64) -> Event) -> io::Result<()> {
        self.seq += 1;
        let seq = self.seq;
        self.emit(&make(seq))?;
        while let Ok(input) = self.inbox.recv() {
            match input {
                Input::Ack(n) if n >= seq => break,
                Input::Unreadable(text) => self.emit(&Event::Log { level: Level::Error, text })?,
                Input::Ping(number) => self.emit(&Event::Pong { number })?,
                Input::Ack(_) => {}
                Input::Run { .. } | Input::Probe(_) => {
                    let text = "a command was ignored: a plan is running".to_owned();
                    self.emit(&Event::Log { level: Level::Error, text })?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, plan: &Plan, finished: &Finished, cancel: &Cancel) -> io::Result<Ending> {
        let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
        self.emit(&Event::Started { cases: plan.cases.len(), rounds: rounds as usize })?;
        if plan.experiments.iter().any(|e| e.measure.cache == Cache::Cold) {
            let text = COLD_CACHES.to_owned();
            self.emit(&Event::Log { level: Level::Info, text })?;
        }
        let indices = Arc::new(Store::of(plan));
        self.executors.iter_mut().for_each(|executor| executor.bring(&indices));
        let mut schedule = Schedule::new(plan, finished);
        self.certified.clear();
        self.sort_out(plan, &mut schedule, cancel)?;
        let stop = self.run_turns(plan, &mut schedule, cancel)?;
        if matches!(stop, Some(Stop::Lost)) {
            return Ok(Ending::DeviceLost);
        }
        self.emit(&Event::Finished { cancelled: stop.is_some() })?;
        Ok(Ending::InputClosed)
    }

    fn run_turns(
        &mut self,
        plan: &Plan,
        schedule: &mut Schedule,
        cancel: &Cancel,
    ) -> io::Result<Option<Stop>> {
        let mut passes = schedule.passes();
        while let Some(turn) = schedule.next() {
            if cancel.requested() {
                return Ok(Some(Stop::Cancelled));
            }
            if schedule.passes() != passes {
                self.measure_references(plan, schedule, passes)?;
                passes = schedule.passes();
            }
            if let Some(stop) = self.run_turn(plan, turn, schedule, cancel)? {
                return Ok(Some(stop));
            }
        }
        Ok(None)
    }

    /// What no device here can run is said first, so that the client knows how much is
    /// left. A case that is done stays so.
    fn sort_out(&mut self, plan: &Plan, schedule: &mut Schedule, cancel: &Cancel) -> io::Result<()> {
        let left = schedule.left();
        let backends: BTreeSet<&str> = left.iter().map(|at| plan.cases[*at].backend()).collect();
        let reasons: HashMap<&str, String> =
            backends.into_iter().filter_map(|name| Some((name, self.unavailable(name)?))).collect();
        for at in left.into_iter().take_while(|_| !cancel.requested()) {
            let case = &plan.cases[at];
            if let Some(reason) = reasons.get(case.backend()).cloned() {
                let id = case.id.clone();
                self.emit_result(|seq| Event::NotApplicable { seq, case: id, reason })?;
                schedule.give_up(at);
            }
        }
        Ok(())
    }

    /// Why no executor here can run this backend's cases at all. Asks the device, which
    /// costs more than a short case: once a run.
    fn unavailable(&self, backend: &str) -> Option<String> {
        let Some(executor) = self.executors.iter().find(|e| e.backend() == backend) else {
            return Some(format!("no backend {backend}"));
        };
        match executor.device().availability {
            Availability::Unavailable { reason } => Some(reason),
            Availability::Available => None,
        }
    }

    /// A plain copy on every backend that still has turns, so that a change of the
    /// machine's own pace between two runs is on file; not before every pass where that
    /// would take long beside the passes.
    fn measure_references(&mut self, plan: &Plan, schedule: &Schedule, pass: u32) -> io::Result<()> {
        let from = self.born.elapsed().as_secs_f64();
        if !self.pace.due(from) {
            return Ok(());
        }
        let backends: BTreeSet<&str> = schedule.left().iter().map(|at| plan.cases[*at].backend()).collect();
        for backend in backends {
            match self.copy_on(backend) {
                Ok(copy) => self.emit(&Event::Reference { pass, backend: backend.to_owned(), copy })?,
                Err(reason) => {
                    let text = format!("no reference copy on {backend}: {reason}");
                    self.emit(&Event::Log { level: Level::Info, text })?;
                }
            }
        }
        self.pace.measured(from, self.born.elapsed().as_secs_f64());
        Ok(())
    }

    /// Measures one turn and tells the schedule; `Some` where the plan stops here.
    fn run_turn(
        &mut self,
        plan: &Plan,
        turn: Turn,
        schedule: &mut Schedule,
        cancel: &Cancel,
    ) -> io::Result<Option<Stop>> {
        let case = &plan.cases[turn.case];
        let failure = match self.measure(case, turn, plan.experiments[case.experiment].measure, cancel) {
            Ok((result, doubts)) => {
                self.deliver(plan, turn, result, &doubts, schedule)?;
                return Ok(None);
            }
            Err(Trouble::Failure(failure)) => failure,
            Err(Trouble::Io(error)) => return Err(error),
        };
        schedule.give_up(turn.case);
        let (id, round) = (case.id.clone(), turn.round);
        match failure {
            Failure::Cancelled => return Ok(Some(Stop::Cancelled)),
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
        plan: &Plan,
        turn: Turn,
        result: RoundResult,
        doubts: &[(Flag, String)],
        schedule: &mut Schedule,
    ) -> io::Result<()> {
        let wrong = matches!(result.verdict, Some(Verdict::Wrong { .. }));
        let median = measure::median(&result.samples);
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
        let what = if turn.attempt == 0 { "measured again later" } else { "kept as it is" };
        let text = format!("{}{}: {what}", noise::preamble(&label, turn.round), words.join("; "));
        self.emit(&Event::Log { level: Level::Warn, text })
    }

    /// One attempt at one round: prepared afresh, warmed up, sampled, and certified the
    /// first time that this engine measures the case.
    fn measure(
        &mut self,
        case: &Case,
        turn: Turn,
        measure: Measure,
        cancel: &Cancel,
    ) -> Result<(RoundResult, Vec<(Flag, String)>), Trouble> {
        let began = Instant::now();
        let Some(at) = self.executors.iter().position(|e| e.backend() == case.backend()) else {
            return Err(Failure::NotApplicable(format!("no backend {}", case.backend())).into());
        };
        self.watch.begin();
        self.stage(case, turn.round, Stage::Generate)?;
        let mut prepared = self.executors[at].prepare(case, None, cancel)?;
        self.stage(case, turn.round, Stage::WarmUp)?;
        let cold = measure.cache == Cache::Cold;
        let batch = sampler::warm_up(prepared.as_mut(), cold, cancel)?;
        self.stage(case, turn.round, Stage::Sample)?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let executor = &self.executors[at];
        let mut held = 0;
        let mut evict = || {
            held = if cold { executor.evict()? } else { 0 };
            Ok(())
        };
        let samples = sampler::sample(prepared.as_mut(), batch, measure.samples, &mut evict, cancel)?;
        let conditions = conditions(self.watch.as_mut(), executor.as_ref());
        let resolved = prepared.resolved();
        let usual = self.clocks.usual(case.backend(), &resolved, conditions.clock);
        let doubts = noise::doubts(&samples, &conditions, usual);
        let verdict = if self.certified.insert(case.id.clone()) {
            self.stage(case, turn.round, Stage::Certify)?;
            Some(prepared.certify(cancel)?)
        } else {
            None
        };
        let result = RoundResult {
            case: case.id.clone(),
            round: turn.round,
            attempt: turn.attempt,
            samples,
            batch,
            verdict,
            memory: prepared.memory() + held,
            resolved,
            started,
            wall: began.elapsed().as_secs_f64(),
            conditions,
            flags: doubts.iter().map(|(flag, _)| *flag).collect(),
        };
        Ok((result, doubts))
    }

    fn stage(&mut self, case: &Case, round: u32, stage: Stage) -> io::Result<()> {
        self.emit(&Event::Progress { case: case.id.clone(), round, stage })
    }

    fn probe(&mut self, backends: &[String]) -> io::Result<()> {
        for backend in backends {
            let probed = self.copy_on(backend);
            let (copy, reason) = probed.map_or_else(|reason| (None, Some(reason)), |copy| (Some(copy), None));
            self.emit(&Event::Probed { backend: backend.clone(), copy, reason })?;
        }
        Ok(())
    }

    fn copy_on(&self, backend: &str) -> Result<f64, String> {
        let executor = self.executors.iter().find(|e| e.backend() == backend);
        let executor = executor.ok_or_else(|| "no such backend".to_owned())?;
        match executor.device().availability {
            Availability::Unavailable { reason } => Err(reason),
            Availability::Available => executor.copy_probe().map_err(|failure| failure.to_string()),
        }
    }
}

/// What went on around the samples. The CPU's clock is left out for a GPU's cases: they
/// give the CPU nothing to run at full clock for.
fn conditions(watch: &mut dyn Watch, executor: &dyn Executor) -> Conditions {
    let gpu = executor.gpu_conditions();
    let seen = watch.end();
    Conditions { clock: seen.clock.filter(|_| gpu.is_none()), gpu, ..seen }
}
