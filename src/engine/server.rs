//! Runs plans: commands in, events out. The same server runs in the engine's process
//! and, over pipes in memory, in tests.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use super::protocol::{Command, Event, Level, PROTOCOL, RoundResult, Stage};
use super::{environment, sampler};
use crate::backend::{Availability, Cancel, Executor, Failure, Verdict};
use crate::plan::{Case, Measure, Plan};

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
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    executors: Vec<Box<dyn Executor>>,
) -> io::Result<Ending> {
    let (sender, inbox) = mpsc::channel();
    thread::Builder::new().name("commands".into()).spawn(move || read_commands(input, &sender))?;
    let mut server = Server { output, inbox, executors, seq: 0 };
    server.hello()?;
    server.serve()
}

enum Input {
    Run { plan: Box<Plan>, skip: Vec<(String, u32)>, cancel: Cancel },
    Ack(u64),
    Probe(Vec<String>),
    Unreadable(String),
}

/// Turns lines into inputs. Each run gets a cancel flag of its own, raised here the
/// moment the client asks or its end of the pipe closes, whatever the server is doing.
fn read_commands(input: impl BufRead, inbox: &Sender<Input>) {
    let mut running = Cancel::default();
    for line in input.split(b'\n') {
        let Ok(line) = line else { break };
        let item = match serde_json::from_slice(&line) {
            Ok(Command::Run { plan, skip }) => {
                running = Cancel::default();
                Input::Run { plan, skip, cancel: running.clone() }
            }
            Ok(Command::Ack { seq }) => Input::Ack(seq),
            Ok(Command::Probe { backends }) => Input::Probe(backends),
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
    seq: u64,
}

/// What became of one (case, round).
enum Outcome {
    Measured { wrong: bool },
    GivenUp,
    Cancelled,
    Lost,
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
                Input::Run { plan, skip, cancel } => {
                    if self.run(&plan, &skip.into_iter().collect(), &cancel)? == Ending::DeviceLost {
                        return Ok(Ending::DeviceLost);
                    }
                }
                Input::Probe(backends) => self.probe(&backends)?,
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
                Input::Ack(_) => {}
                Input::Run { .. } | Input::Probe(_) => {
                    let text = "a command was ignored: a plan is running".to_owned();
                    self.emit(&Event::Log { level: Level::Error, text })?;
                }
            }
        }
        Ok(())
    }

    fn run(&mut self, plan: &Plan, skip: &HashSet<(String, u32)>, cancel: &Cancel) -> io::Result<Ending> {
        let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
        self.emit(&Event::Started { cases: plan.cases.len(), rounds: rounds as usize })?;
        let stop = self.run_rounds(plan, rounds, skip, cancel)?;
        if matches!(stop, Some(Stop::Lost)) {
            return Ok(Ending::DeviceLost);
        }
        self.emit(&Event::Finished { cancelled: stop.is_some() })?;
        Ok(Ending::InputClosed)
    }

    /// Rounds outside, cases inside: a machine's slow minutes then fall on all cases
    /// alike, and the whole curve is there after the first round.
    fn run_rounds(
        &mut self,
        plan: &Plan,
        rounds: u32,
        skip: &HashSet<(String, u32)>,
        cancel: &Cancel,
    ) -> io::Result<Option<Stop>> {
        let mut given_up = self.sort_out(plan, skip)?;
        for round in 0..rounds {
            for case in &plan.cases {
                let measure = plan.experiments[case.experiment].measure;
                let done = round >= measure.rounds || skip.contains(&(case.id.clone(), round));
                if done || case.not_applicable.is_some() || given_up.contains(&case.id) {
                    continue;
                }
                match self.run_case(case, round, measure, cancel)? {
                    Outcome::Measured { wrong: false } => {}
                    Outcome::Measured { wrong: true } | Outcome::GivenUp => {
                        given_up.insert(case.id.clone());
                    }
                    Outcome::Cancelled => return Ok(Some(Stop::Cancelled)),
                    Outcome::Lost => return Ok(Some(Stop::Lost)),
                }
            }
        }
        Ok(None)
    }

    /// What no device here can run is said first, so that the client knows how much is
    /// left. Returns the cases that it was said of.
    fn sort_out(&mut self, plan: &Plan, skip: &HashSet<(String, u32)>) -> io::Result<HashSet<String>> {
        let backends: BTreeSet<&str> = plan.cases.iter().map(Case::backend).collect();
        let reasons: HashMap<&str, String> =
            backends.into_iter().filter_map(|name| Some((name, self.unavailable(name)?))).collect();
        let mut given_up = HashSet::new();
        for case in plan.cases.iter().filter(|c| c.not_applicable.is_none()) {
            let told = skip.contains(&(case.id.clone(), 0));
            if let (false, Some(reason)) = (told, reasons.get(case.backend()).cloned()) {
                let id = case.id.clone();
                self.emit_result(|seq| Event::NotApplicable { seq, case: id, reason })?;
                given_up.insert(case.id.clone());
            }
        }
        Ok(given_up)
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

    fn run_case(
        &mut self,
        case: &Case,
        round: u32,
        measure: Measure,
        cancel: &Cancel,
    ) -> io::Result<Outcome> {
        match self.measure_case(case, round, measure, cancel)? {
            Ok(result) => {
                let wrong = matches!(result.verdict, Some(Verdict::Wrong { .. }));
                self.emit_result(|seq| Event::Round { seq, result })?;
                Ok(Outcome::Measured { wrong })
            }
            Err(Failure::NotApplicable(reason)) => {
                let case = case.id.clone();
                self.emit_result(|seq| Event::NotApplicable { seq, case, reason })?;
                Ok(Outcome::GivenUp)
            }
            Err(Failure::Cancelled) => Ok(Outcome::Cancelled),
            Err(failure) => {
                let (case, error) = (case.id.clone(), failure.to_string());
                self.emit_result(|seq| Event::Failed { seq, case, round, error })?;
                Ok(if matches!(failure, Failure::Lost(_)) { Outcome::Lost } else { Outcome::GivenUp })
            }
        }
    }

    fn measure_case(
        &mut self,
        case: &Case,
        round: u32,
        measure: Measure,
        cancel: &Cancel,
    ) -> io::Result<Result<RoundResult, Failure>> {
        let Some(at) = self.executors.iter().position(|e| e.backend() == case.backend()) else {
            return Ok(Err(Failure::NotApplicable(format!("no backend {}", case.backend()))));
        };
        self.stage(case, round, Stage::Generate)?;
        let mut prepared = match self.executors[at].prepare(case, None, cancel) {
            Ok(prepared) => prepared,
            Err(failure) => return Ok(Err(failure)),
        };
        self.stage(case, round, Stage::WarmUp)?;
        let batch = match sampler::warm_up(prepared.as_mut(), cancel) {
            Ok(batch) => batch,
            Err(failure) => return Ok(Err(failure)),
        };
        self.stage(case, round, Stage::Sample)?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let samples = match sampler::sample(prepared.as_mut(), batch, measure.samples, cancel) {
            Ok(samples) => samples,
            Err(failure) => return Ok(Err(failure)),
        };
        let verdict = if round == 0 {
            self.stage(case, round, Stage::Certify)?;
            match prepared.certify(cancel) {
                Ok(verdict) => Some(verdict),
                Err(failure) => return Ok(Err(failure)),
            }
        } else {
            None
        };
        Ok(Ok(RoundResult {
            case: case.id.clone(),
            round,
            samples,
            batch,
            verdict,
            memory: prepared.memory(),
            resolved: prepared.resolved(),
            started,
        }))
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
