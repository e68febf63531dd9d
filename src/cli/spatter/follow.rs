//! Follows a run and prints each row as soon as its case is done.

use std::collections::BTreeSet;

use super::rows::{Rows, remark_below};
use super::say;
use crate::case::Device;
use crate::case::gpus::replicas;
use crate::case::units::ranges;
use crate::cli::out;
use crate::engine::protocol::{Event, Level};
use crate::recipe::plan::Plan;
use crate::run::runner::{Control, Message, Running};
use crate::run::{Ledger, Record, Status};
use crate::spatter::output::{self, Gpu};
use crate::spatter::settings::{Backend, Format};
use crate::spatter::stats::Summary;
use crate::spatter::{Config, Job, Machine, Refused, SETUP, Settings};
use crate::stats::noise::Flag;

/// The state of a run as reported so far.
pub struct Follower {
    job: Job,
    machine: Machine,
    ledger: Ledger,
    rows: Rows,
    /// Configurations whose row or error has been printed.
    told: BTreeSet<usize>,
    begun: bool,
    /// Bandwidths in MB/s.
    bandwidths: Vec<f64>,
    failed: bool,
}

impl Follower {
    /// Expects the plan's cases to be the job's configurations, in order.
    pub fn new(job: Job, machine: Machine, plan: Plan) -> Follower {
        let rows = Rows::new(job.settings.format);
        Follower {
            job,
            machine,
            ledger: Ledger::new(plan),
            rows,
            told: BTreeSet::new(),
            begun: false,
            bandwidths: Vec::new(),
            failed: false,
        }
    }

    /// Prints the run's rows and errors until it is over. Returns the exit status.
    ///
    /// # Errors
    /// Nothing can be run at all.
    pub fn follow(mut self, running: &Running) -> Result<u8, Refused> {
        let (mut refused, mut progressed, mut lost) = (None, false, false);
        for message in &running.messages {
            match message {
                Message::Event(event) => {
                    progressed |= event.seq().is_some();
                    lost |= matches!(event, Event::Failed { lost: true, .. });
                    if let Err(error) = self.event(&event) {
                        refused = refused.or(Some(error));
                        // If the run has ended in the meantime, the messages below report it.
                        let _ = running.control.send(Control::Cancel);
                    }
                }
                Message::Died { reason, case } => {
                    // The line of the case that died with it has reported it already.
                    if !std::mem::take(&mut lost) {
                        say(&format!("the engine died: {reason}"));
                    }
                    // An engine that died before it did anything would die again.
                    let answer = if case.is_some() || progressed { Control::Resume } else { Control::Stop };
                    progressed = false;
                    let _ = running.control.send(answer);
                }
                Message::Broken(reason) if self.begun => {
                    say(&reason);
                    self.failed = true;
                }
                Message::Broken(reason) => refused = refused.or(Some(Refused::setup(reason))),
                Message::Reported(_) | Message::Latency(_) => {}
                Message::Over => break,
            }
        }
        refused.map_or_else(|| Ok(self.end()), Err)
    }

    fn event(&mut self, event: &Event) -> Result<(), Refused> {
        let changed = self.ledger.apply(event);
        match event {
            Event::Hello { devices, .. } if !self.begun => self.begin(devices)?,
            Event::Log { level: Level::Error, text } => say(text),
            _ => {}
        }
        // Before the heading no rows are printed, because the run may be refused as a whole.
        if let Some(at) = changed.filter(|at| self.begun && !self.told.contains(at)) {
            self.tell(at);
        }
        Ok(())
    }

    /// Prints everything that precedes the rows.
    fn begin(&mut self, devices: &[Device]) -> Result<(), Refused> {
        let settings = &self.job.settings;
        let (name, number) = match settings.backend {
            Backend::Cuda { device } => ("cuda", device as usize),
            Backend::AllCuda => ("cuda", 0),
            Backend::Serial | Backend::OpenMp { .. } => ("cpu", 0),
        };
        let known: Vec<&Device> = devices.iter().filter(|device| device.backend == name).collect();
        let Some(device) = known.get(number).or_else(|| known.first()) else {
            return Err(Refused::usage(format!("-b: the engine has no backend {name}")));
        };
        if let Some(reason) = device.reason() {
            return Err(Refused::usage(format!("-b: {name} cannot run here: {reason}")));
        }
        if number >= known.len() {
            let numbers = ranges(&(0..known.len()).collect::<Vec<_>>());
            return Err(Refused::usage(format!("--device: there is no GPU {number}; accepted: {numbers}")));
        }
        self.begun = true;
        if settings.format != Format::Table {
            return Ok(());
        }
        let gpu = (name == "cuda").then(|| gpu(device, known.len()));
        out::text(&preface(&self.job, &self.machine, gpu.as_ref(), &output::header()));
        Ok(())
    }

    /// Prints a case's row, or the reason why it has none.
    fn tell(&mut self, at: usize) {
        let Some((record, config)) = self.ledger.records().get(at).zip(self.job.configs.get(at)) else {
            return;
        };
        let trouble = match &record.status {
            Status::Pending | Status::Partial => return,
            Status::NotApplicable(reason) => Some(format!("n/a: {reason}")),
            Status::Failed(error) => Some(error.clone()),
            Status::Done => None,
        };
        self.told.insert(at);
        match (trouble, fastest(record)) {
            (None, Some(seconds)) => {
                let bytes = bytes_of_all(config, record);
                self.bandwidths.push(output::bandwidth(bytes, seconds));
                self.rows.write(config, bytes, record, seconds);
            }
            (trouble, _) => {
                self.failed = true;
                say(&format!(
                    "{}: {}",
                    called(config),
                    trouble.unwrap_or_else(|| "no run was timed".to_owned())
                ));
            }
        }
    }

    /// Prints everything that follows the rows. Returns the exit status.
    fn end(self) -> u8 {
        self.rows.end();
        let settings = &self.job.settings;
        summarize(settings, &self.bandwidths);
        let flags = self.ledger.records().iter().map(Record::flags);
        in_noise(settings, flags.map(|flags| flags.into_iter().collect()));
        let left = self.job.configs.len() - self.told.len();
        if left > 0 {
            say(&format!("{left} of {} configurations were not run to the end", self.job.configs.len()));
        }
        if self.failed || left > 0 { SETUP } else { 0 }
    }
}

/// The text before the rows, as detailed as the verbosity asks for.
pub(super) fn preface(job: &Job, machine: &Machine, gpu: Option<&Gpu>, header: &str) -> String {
    let (settings, configs) = (&job.settings, &job.configs);
    let parts = [
        (3, output::sizes(configs)),
        (1, output::heading(settings, &format!("rustc ver. {}", crate::COMPILER), gpu)),
        (2, output::configurations(configs, settings, machine)),
        (0, header.to_owned()),
    ];
    parts.into_iter().filter(|(level, _)| settings.verbosity >= *level).map(|(_, text)| text).collect()
}

/// Prints the summary of the bandwidths, in MB/s, if it is requested.
pub(super) fn summarize(settings: &Settings, bandwidths: &[f64]) {
    let asked = settings.stats && settings.format == Format::Table;
    if let Some(summary) = Summary::of(bandwidths).filter(|_| asked) {
        out::text(&summary.lines());
    }
}

/// Lists the configurations that were measured in noise, given the flags of each.
pub(super) fn in_noise(settings: &Settings, flags: impl Iterator<Item = Vec<Flag>>) {
    let flagged: Vec<(usize, Vec<Flag>)> = flags.enumerate().filter(|(_, flags)| !flags.is_empty()).collect();
    let ids: Vec<usize> = flagged.iter().map(|(id, _)| *id).collect();
    let words: BTreeSet<&str> = flagged.iter().flat_map(|(_, flags)| flags).map(|flag| flag.word()).collect();
    if !ids.is_empty() {
        let words: Vec<&str> = words.into_iter().collect();
        let several = if ids.len() > 1 { "s" } else { "" };
        let text =
            format!("measured in noise: configuration{several} {} ({})", ranges(&ids), words.join(", "));
        remark_below(settings, &text);
    }
}

fn called(config: &Config) -> String {
    match config.name.as_str() {
        "" => format!("configuration {}", config.id),
        name => format!("configuration {} ({})", config.id, crate::case::units::shown(name)),
    }
}

/// Bytes that all GPUs of a configuration move together, summed as over ranks.
fn bytes_of_all(config: &Config, record: &Record) -> u64 {
    let resolved = record.rounds.last().map(|round| round.resolved.as_slice()).unwrap_or_default();
    config.bytes() * replicas(&record.case.params, resolved)
}

/// Seconds of the fastest run.
fn fastest(record: &Record) -> Option<f64> {
    record.statistics.as_ref().map(|statistics| statistics.min)
}

/// The facts for the heading about a GPU, one of `devices`.
pub(super) fn gpu(device: &Device, devices: usize) -> Gpu {
    let number = |wanted: &str| {
        let (_, text) = device.facts.iter().find(|(name, _)| name == wanted)?;
        text.split(' ').next()?.parse::<u64>().ok()
    };
    Gpu {
        devices: devices as u64,
        name: device.name.clone(),
        memory_clock_khz: number("memory clock").map(|megahertz| megahertz * 1000),
        bus_bits: number("memory bus"),
    }
}
