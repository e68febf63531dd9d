//! The engine's server: commands in, events out. It runs in the engine's process and, over in-memory pipes, in
//! tests.

use std::collections::HashSet;
use std::io::{self, BufRead, Write};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Instant;

use super::device_profiles::found;
use super::environment;
use super::inbox::{Input, read_commands};
use super::noise_monitor::Watch;
use super::output_sampling::OutputSampling;
use super::protocol::{Event, Level, PROTOCOL, Stage};
use super::schedule::ReferenceSchedule;
use super::snapshots::Snapshots;
use crate::case::{Case, Device, Failure};
use crate::device::timing_lock;
use crate::engine::Executor;
use crate::model::Profiles;
use crate::model::profiles::ProfileStore;
use crate::stats::noise::Clocks;

/// Why serving ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The client closed our input.
    InputClosed,
    /// A device was lost; only a new engine can continue.
    DeviceLost,
}

/// Says hello, including the profiles in `store` that match its devices, and executes commands until the input
/// ends or a device is lost.
///
/// Executors are used only on the calling thread, but their GPU resources may be used from any thread.
///
/// # Errors
/// When the client cannot be reached any more, or when the thread that reads commands cannot be started.
pub fn serve(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    executors: Vec<Box<dyn Executor>>,
    watch: Box<dyn Watch>,
    store: &ProfileStore,
) -> io::Result<Ending> {
    let (sender, inbox) = mpsc::channel();
    thread::Builder::new().name("commands".into()).spawn(move || read_commands(input, &sender))?;
    let (clocks, reference_schedule, born) =
        (Clocks::default(), ReferenceSchedule::default(), Instant::now());
    let (certified, profiles) = (HashSet::new(), Profiles::default());
    let mut server = Server {
        output,
        inbox,
        executors,
        hosted: Vec::new(),
        watch,
        clocks,
        ranking_schedule: ReferenceSchedule::default(),
        reference_schedule,
        profiles,
        born,
        certified,
        output_sampling: OutputSampling::default(),
        snapshots: Snapshots::default(),
        idle: born,
        seq: 0,
    };
    server.hello(store)?;
    server.serve()
}

pub(super) struct Server<W: Write> {
    pub(super) output: W,
    inbox: Receiver<Input>,
    pub(super) executors: Vec<Box<dyn Executor>>,
    /// Backends among them that the current plan has brought.
    pub(super) hosted: Vec<&'static str>,
    pub(super) watch: Box<dyn Watch>,
    pub(super) clocks: Clocks,
    /// Schedule of the rates of ranking, which take longer than copies where kernels must be compiled.
    pub(super) ranking_schedule: ReferenceSchedule,
    /// Schedule of the reference copies.
    pub(super) reference_schedule: ReferenceSchedule,
    /// The profiles announced in the hello.
    pub(super) profiles: Profiles,
    pub(super) born: Instant,
    /// Cases of the current plan certified by this engine. An earlier engine's certificates do not count: they
    /// may be for another device or build.
    pub(super) certified: HashSet<String>,
    pub(super) output_sampling: OutputSampling,
    pub(super) snapshots: Snapshots,
    /// Since when no plan has been running: the time until the next one is part of its run.
    pub(super) idle: Instant,
    seq: u64,
}

impl<W: Write> Server<W> {
    fn hello(&mut self, store: &ProfileStore) -> io::Result<()> {
        let devices: Vec<Device> = self.executors.iter().flat_map(|e| e.devices()).collect();
        let environment = environment::read();
        let profiles = found(store, &devices, &environment);
        self.profiles.add(&profiles);
        self.emit(&Event::Hello {
            protocol: PROTOCOL,
            version: crate::VERSION.to_owned(),
            revision: crate::REVISION.to_owned(),
            profiles,
            devices,
            environment,
        })?;
        let level = Level::Warn;
        store.broken.iter().try_for_each(|why| self.emit(&Event::Log { level, text: why.clone() }))
    }

    fn serve(&mut self) -> io::Result<Ending> {
        while let Ok(input) = self.inbox.recv() {
            match input {
                Input::Run { plan, finished, orders } => {
                    if self.run(&plan, &finished, orders)? == Ending::DeviceLost {
                        return Ok(Ending::DeviceLost);
                    }
                }
                Input::Probe { backends, device } => self.probe(&backends, device)?,
                Input::Ping(number) => self.emit(&Event::Pong { number })?,
                Input::Unreadable(text) => self.emit(&Event::Log { level: Level::Error, text })?,
                // A late acknowledgement after a cancelled run.
                Input::Ack(_) => {}
            }
        }
        Ok(Ending::InputClosed)
    }

    pub(super) fn emit(&mut self, event: &Event) -> io::Result<()> {
        emit(&mut self.output, event)
    }

    /// Emits a result and waits until the client has it on disk. The end of the input is not an error here: the
    /// plan was told to end by then.
    pub(super) fn emit_result(&mut self, make: impl FnOnce(u64) -> Event) -> io::Result<()> {
        self.seq += 1;
        let seq = self.seq;
        self.emit(&make(seq))?;
        while let Ok(input) = self.inbox.recv() {
            match input {
                Input::Ack(n) if n >= seq => break,
                Input::Unreadable(text) => self.emit(&Event::Log { level: Level::Error, text })?,
                Input::Ping(number) => self.emit(&Event::Pong { number })?,
                Input::Ack(_) => {}
                Input::Run { .. } | Input::Probe { .. } => {
                    let text = "a command was ignored: a plan is running".to_owned();
                    self.emit(&Event::Log { level: Level::Error, text })?;
                }
            }
        }
        Ok(())
    }

    fn probe(&mut self, backends: &[String], device: u64) -> io::Result<()> {
        for backend in backends {
            let probed = self.copy_on(backend, device).map_err(reason);
            let free = self.executor(backend).and_then(|executor| executor.device().memory);
            let (copy, reason) = probed.map_or_else(|reason| (None, Some(reason)), |copy| (Some(copy), None));
            self.emit(&Event::Probed { backend: backend.clone(), copy, reason, free })?;
        }
        Ok(())
    }

    pub(super) fn copy_on(&self, backend: &str, device: u64) -> Result<f64, Failure> {
        let missing = || Failure::NotApplicable("no such backend".to_owned());
        let executor = self.executor(backend).ok_or_else(missing)?;
        executor.select_device(device);
        if let Some(reason) = executor.device().reason() {
            return Err(Failure::NotApplicable(reason.to_owned()));
        }
        let _alone = timing_lock::timing();
        executor.copy_probe()
    }

    pub(super) fn executor(&self, backend: &str) -> Option<&dyn Executor> {
        self.executors.iter().find(|e| e.backend() == backend).map(Box::as_ref)
    }
}

/// Writes an event at once.
pub(super) fn emit(mut output: &mut dyn Write, event: &Event) -> io::Result<()> {
    serde_json::to_writer(&mut output, event)?;
    output.write_all(b"\n")?;
    output.flush()
}

/// Tells what happens to a case.
pub(super) fn stage(output: &mut dyn Write, case: &Case, round: u32, stage: Stage) -> io::Result<()> {
    emit(output, &Event::Progress { case: case.id.clone(), round, stage, making: None })
}

/// Tells that the inputs of a case are generated, and which shared one is missing.
pub(super) fn generating(
    output: &mut dyn Write,
    case: &Case,
    round: u32,
    making: Option<String>,
) -> io::Result<()> {
    emit(output, &Event::Progress { case: case.id.clone(), round, stage: Stage::Generate, making })
}

/// Why there is no copy, without the prefix `n/a`.
pub(super) fn reason(failure: Failure) -> String {
    match failure {
        Failure::NotApplicable(reason) => reason,
        other => other.to_string(),
    }
}
