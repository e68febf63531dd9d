//! Runs a plan without the user interface. On a terminal one live line tells how far the run is; elsewhere each case
//! gets a line when it is finished. Cases that cannot run, and warnings, are told once for each reason.

mod doubts;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use anyhow::bail;

use self::doubts::Doubts;
use super::interrupt::Interrupt;
use super::out;
use super::waiting::Waiting;
use crate::case::units::{self, number_of};
use crate::case::{Case, Device, Verdict};
use crate::engine::protocol::{Event, Level, Stage};
use crate::recipe::plan::{Plan, Quantity};
use crate::report::quantities;
use crate::run::eta::Eta;
use crate::run::runner::{Control, Message, Runner, Running};
use crate::run::verdict::missed;
use crate::run::{Ledger, Record, Status, reference};
use crate::stats::noise::Flag;
use crate::stats::{self, Statistics};

/// The outcome of a run, in numbers of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub done: usize,
    pub not_applicable: usize,
    pub failed: usize,
    /// Finished cases without a certificate, because certification was turned off.
    pub uncertified: usize,
    /// Cases with some of their rounds, but not all.
    pub partial: usize,
    pub unfinished: usize,
    /// Cases with results whose rounds lie too far apart to resolve small differences.
    pub unsteady: usize,
    /// Whether the run is complete, so that resuming it would do nothing.
    pub complete: bool,
    /// Folder of the results.
    pub folder: PathBuf,
    /// Cases with results, some of whose rounds were measured in noise.
    pub doubtful: usize,
    /// The kinds of noise in the doubtful cases.
    pub noise: BTreeSet<Flag>,
    /// Rounds, not cases, that count nowhere because the machine or the program changed during the run.
    pub superseded: usize,
}

/// Runs a plan to its end and prints its progress.
pub fn run(runner: &impl Runner, plan: Plan, recipe: &str, interrupt: &Interrupt) -> anyhow::Result<Summary> {
    watch(&runner.start(plan.clone(), recipe)?, Ledger::new(plan), interrupt, false)
}

/// Prints the progress of a run until its end, or if `quiet` only what failed and the closing line. The ledger holds
/// the rounds that are already on file.
pub fn watch(
    running: &Running,
    ledger: Ledger,
    interrupt: &Interrupt,
    quiet: bool,
) -> anyhow::Result<Summary> {
    interrupt.attach(running.control.clone());
    let mut printer = Printer::new(ledger);
    if quiet {
        (printer.quiet, printer.live) = (true, false);
    } else {
        printer.headline();
    }
    let ended = follow(running, &mut printer);
    interrupt.detach();
    let summary = Summary::of(&printer.ledger, &running.folder);
    printer.result(printer.lost, "");
    if printer.heard {
        printer.close(&summary);
    }
    ended.map(|()| summary)
}

/// Like [`watch`], but prints a line only for a case that failed; on a terminal it also shows the overall
/// progress. Returns the records, too.
pub fn watch_quietly(
    running: &Running,
    ledger: Ledger,
    interrupt: &Interrupt,
) -> anyhow::Result<(Ledger, Summary)> {
    interrupt.attach(running.control.clone());
    let mut printer = Printer { quiet: true, ..Printer::new(ledger) };
    let ended = follow(running, &mut printer);
    interrupt.detach();
    let summary = Summary::of(&printer.ledger, &running.folder);
    printer.result(printer.lost, "");
    if printer.heard {
        let time = minutes(printer.started.elapsed());
        printer.note(&format!("{} in {time}", summary.words()));
    }
    ended.map(|()| (printer.ledger, summary))
}

/// Interval between two looks at a wait for an engine.
const LOOK: Duration = Duration::from_millis(500);

/// Prints the run's messages until it is over. The first error is returned.
fn follow(running: &Running, printer: &mut Printer) -> anyhow::Result<()> {
    let (mut broken, mut progressed) = (None, false);
    let mut waiting = Some(Waiting::new("the engine"));
    loop {
        // Once the engine has answered, nothing wakes this thread beside what is measured.
        let received = match waiting {
            Some(_) => running.messages.recv_timeout(LOOK),
            None => running.messages.recv().map_err(RecvTimeoutError::from),
        };
        let message = match received {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => {
                waiting.iter_mut().for_each(Waiting::look);
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => break,
        };
        match message {
            Message::Event(event) => {
                waiting.take_if(|_| matches!(event, Event::Hello { .. }));
                progressed |= event.seq().is_some();
                printer.event(&event);
            }
            Message::Died { reason, case } => {
                // An engine that died before it did anything would die again.
                let answer = if case.is_some() || progressed { Control::Resume } else { Control::Stop };
                printer.died(&reason, answer);
                progressed = false;
                waiting = Some(Waiting::new("a fresh engine"));
                // If the run has ended in the meantime, the messages below report it.
                let _ = running.control.send(answer);
            }
            Message::Reported(_) | Message::Latency(_) => {}
            Message::Broken(reason) => broken = broken.or(Some(reason)),
            Message::Over => return broken.map_or(Ok(()), |reason| bail!(reason)),
        }
    }
    bail!(broken.unwrap_or_else(|| "the run ended without giving a reason".to_owned()))
}

struct Printer {
    ledger: Ledger,
    eta: Eta,
    started: Instant,
    live: bool,
    /// Whether an engine has sent any event.
    heard: bool,
    doubts: Doubts,
    /// Whether to print a line only for failures.
    quiet: bool,
    /// The cases that had their line.
    finished: BTreeSet<usize>,
    /// The position of a case that was lost with its engine, until it is known whether the run continues.
    lost: Option<usize>,
    /// The lack of profiles has been said.
    told_of_profiles: bool,
}

/// Announces the engine's replacement after its death.
const GOES_ON: &str = "; the run continues in a fresh engine";

impl Printer {
    fn new(ledger: Ledger) -> Printer {
        let (eta, started) = (Eta::new(&ledger), Instant::now());
        let (live, doubts) = (out::is_terminal(), Doubts::default());
        let finished = ledger.measured().filter(|(_, record)| record.status == Status::Done);
        let finished = finished.map(|(at, _)| at).collect();
        Printer {
            ledger,
            eta,
            started,
            live,
            heard: false,
            doubts,
            quiet: false,
            finished,
            lost: None,
            told_of_profiles: false,
        }
    }

    fn headline(&self) {
        let plan = self.ledger.plan();
        let hash = plan.short_hash();
        let (done, _) = self.eta.progress(Duration::ZERO);
        let on_file = if done > 0 {
            format!(" · {} on file", number_of(done as usize, "round"))
        } else {
            String::new()
        };
        let cases = plan.case_count();
        out::line(&format!("{} · {cases} · recipe {hash}{on_file}", plan.title));
    }

    fn event(&mut self, event: &Event) {
        let changed = self.ledger.apply(event);
        let now = self.started.elapsed();
        self.heard = true;
        changed.inspect(|at| self.eta.note(*at, &self.ledger));
        match event {
            Event::Hello { devices, .. } => {
                self.eta.begin(now);
                let shown = devices.iter().filter(|_| !self.quiet);
                shown.for_each(|device| self.note(&super::devices::line(device)));
                self.uncalibrated(devices);
            }
            Event::Progress { case, stage, making, .. } => {
                if *stage == Stage::Sample {
                    self.eta.sample(now);
                }
                self.status(case, *stage, making.as_deref());
            }
            Event::Round { result, .. } => {
                changed.inspect(|at| self.eta.finish(*at, &self.ledger, now));
                changed.inspect(|at| self.doubts.round(&self.short_label(*at), result));
                self.result(changed, "");
            }
            Event::NotApplicable { .. } | Event::Failed { .. } | Event::Skipped { .. } => {
                self.eta.begin(now);
                if matches!(event, Event::Failed { lost: true, .. }) {
                    self.result(self.lost, "");
                    self.lost = changed;
                } else {
                    self.result(changed, "");
                }
            }
            Event::Paused => self.note("held"),
            Event::Continued => {
                self.eta.begin(now);
                self.note("going on");
            }
            Event::Retried { rounds, .. } => {
                let what = if *rounds > 0 { "further rounds" } else { "another try" };
                let record = changed.and_then(|at| self.ledger.records().get(at));
                record.inspect(|record| self.note(&format!("{}: {what}", self.label(&record.case))));
            }
            Event::SetAside { .. } => self.eta.begin(now),
            Event::Log { level: Level::Info | Level::Warn, .. } if self.quiet => {}
            Event::Log { level: Level::Info, text } => self.note(text),
            Event::Log { text, .. } => self.warn(text),
            Event::Reference { backend, ranked, .. } if !self.quiet => {
                let first = self.ledger.references().get(backend).is_some_and(|copies| copies.len() == 1);
                let news = reference::news(&self.ledger, backend, ranked).filter(|_| first);
                news.inspect(|text| self.note(text));
            }
            _ => {}
        }
    }

    /// Says once how to get predictions where there is no profile.
    fn uncalibrated(&mut self, devices: &[Device]) {
        let lacking = self.ledger.uncalibrated(devices);
        if self.quiet || lacking.is_empty() || std::mem::replace(&mut self.told_of_profiles, true) {
            return;
        }
        let commands: Vec<String> =
            lacking.iter().map(|backend| format!("scatterlab calibrate --backend {backend}")).collect();
        let (of, commands) = (lacking.join(" and "), commands.join(" and "));
        let makes = if lacking.len() == 1 { "makes one" } else { "make them" };
        self.note(&format!("no profile of {of}, so no model predicts such cases; {commands} {makes}"));
    }

    fn warn(&mut self, text: &str) {
        let labels: Vec<String> = (0..self.ledger.records().len()).map(|at| self.short_label(at)).collect();
        if self.doubts.is_news(text, labels.iter().map(String::as_str)) {
            self.note(&format!("warning: {text}"));
        }
    }

    /// Reports the engine's death, unless the line of the case that died with it already has.
    fn died(&mut self, reason: &str, answer: Control) {
        self.eta.pause();
        let goes_on = answer == Control::Resume;
        match self.lost.take() {
            Some(at) => self.result(Some(at), if goes_on { GOES_ON } else { "" }),
            None => {
                let next = if goes_on { GOES_ON } else { ", before it did anything" };
                self.note(&format!("the engine died: {reason}{next}"));
            }
        }
    }

    /// The line of a case that has changed, if it has failed or, where nobody watches a live line, is finished.
    fn result(&mut self, changed: Option<usize>, next: &str) {
        let Some((at, record)) = changed.and_then(|at| Some((at, self.ledger.records().get(at)?))) else {
            return;
        };
        let told = match record.status {
            Status::Failed(_) => true,
            Status::Done => !self.quiet && !self.live && self.finished.insert(at),
            _ => false,
        };
        if told {
            let record = &self.ledger.records()[at];
            let y = self.ledger.plan().y_of(&record.case);
            let (label, outcome) = (self.label(&record.case), outcome(record, y));
            self.note(&format!("[{}] {label}: {outcome}{next}", self.place()));
        }
    }

    /// The live line: the current activity, and the time that the rest may take.
    fn status(&self, case: &str, stage: Stage, making: Option<&str>) {
        let Some(at) = self.ledger.position(case).filter(|_| self.live) else { return };
        let (label, doing) = (self.label(&self.ledger.plan().cases[at]), stage.doing());
        let making = making.map(|what| format!(" {what}")).unwrap_or_default();
        out::progress(&format!("[{}] {label}: {doing}{making}", self.place()));
    }

    fn label(&self, case: &Case) -> String {
        let experiments = &self.ledger.plan().experiments;
        match experiments.get(case.experiment) {
            Some(only) if experiments.len() == 1 => only.label(case),
            Some(one) => format!("{}: {}", one.title, one.label(case)),
            None => case.id.clone(),
        }
    }

    /// A case's label as the engine prints it; the engine sees one experiment at a time.
    fn short_label(&self, at: usize) -> String {
        let plan = self.ledger.plan();
        let case = &plan.cases[at];
        plan.experiments.get(case.experiment).map_or_else(|| case.id.clone(), |one| one.label(case))
    }

    /// A text such as `12/48 rounds, 40–70 s left`: (case, round) pairs that are finished and that will be, and the
    /// time that the rest may take.
    fn place(&self) -> String {
        let now = self.started.elapsed();
        let (done, all) = self.eta.progress(now);
        match self.eta.remaining(now).filter(|_| done < all) {
            Some(left) => format!("{done}/{all} rounds, {left} left"),
            None => format!("{done}/{all} rounds"),
        }
    }

    fn note(&self, text: &str) {
        if self.live {
            out::progress("");
        }
        out::line(text);
    }

    fn close(&self, summary: &Summary) {
        if !self.quiet {
            self.explain();
        }
        // The time on file is what the list of runs and a resumed run tell.
        let taken = self.ledger.elapsed().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        let time = minutes(taken.unwrap_or_else(|| self.started.elapsed()));
        self.note(&format!("{} in {time} → {}", summary.words(), summary.folder.display()));
    }

    /// Why cases have no result, were measured in noise, or missed their target.
    fn explain(&self) {
        for (reason, cases) in self.absent() {
            self.note(&format!("{} n/a: {reason}", number_of(cases, "case")));
        }
        self.doubts.summary().for_each(|text| self.note(&text));
        if self.ledger.is_out_of_time() {
            for (at, record) in self.ledger.measured() {
                let none = || matches!(record.status, Status::Pending).then(|| "not measured".to_owned());
                if let Some(missed) = missed(&self.ledger, at).or_else(none) {
                    self.note(&format!("out of time: {}: {missed}", self.label(&record.case)));
                }
            }
        }
    }

    /// Reasons why cases cannot run, each with the number of cases.
    fn absent(&self) -> BTreeMap<&str, usize> {
        let mut absent = BTreeMap::new();
        for (_, record) in self.ledger.measured() {
            if let Status::NotApplicable(reason) = &record.status {
                *absent.entry(reason.as_str()).or_default() += 1;
            }
        }
        absent
    }
}

impl Summary {
    /// The summary of the run in a folder.
    pub fn of(ledger: &Ledger, folder: &Path) -> Summary {
        let (complete, folder) = (ledger.is_complete(), folder.to_owned());
        let mut summary = Summary { complete, folder, ..Summary::default() };
        for (_, record) in ledger.measured() {
            match record.status {
                Status::Done => {
                    summary.done += 1;
                    summary.uncertified += usize::from(record.verdict.is_none());
                }
                Status::NotApplicable(_) => summary.not_applicable += 1,
                Status::Failed(_) => summary.failed += 1,
                Status::Partial => summary.partial += 1,
                Status::Pending => summary.unfinished += 1,
            }
            summary.superseded += record.superseded.len();
            let flags = if record.statistics.is_some() { record.flags() } else { Vec::new() };
            summary.doubtful += usize::from(!flags.is_empty());
            summary.noise.extend(flags);
            summary.unsteady += usize::from(record.statistics.as_ref().is_some_and(Statistics::unsteady));
        }
        summary
    }

    /// A text such as `12 certified, 3 n/a`.
    pub fn words(&self) -> String {
        let noise: Vec<&str> = self.noise.iter().map(|flag| flag.word()).collect();
        let doubtful = format!("doubtful ({})", noise.join(", "));
        let others = [
            (self.uncertified, "not certified"),
            (self.partial, "with some of their rounds"),
            (self.not_applicable, "n/a"),
            (self.failed, "failed"),
            (self.unfinished, "not started"),
            (self.doubtful, &doubtful),
            (self.unsteady, "unsteady (rounds more than 10 % apart)"),
            (self.superseded, "rounds set aside (measured before the machine or the program changed)"),
        ];
        let others = others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}"));
        let words: Vec<String> =
            std::iter::once(format!("{} certified", self.done - self.uncertified)).chain(others).collect();
        words.join(", ")
    }

    /// Whether a script may treat the run as a success. A run that measured nothing must not look like one.
    pub fn is_success(&self) -> bool {
        self.failed + self.partial + self.unfinished == 0 && self.done > 0
    }
}

fn minutes(time: Duration) -> String {
    format!("{}m{:02}s", time.as_secs() / 60, time.as_secs() % 60)
}

/// A text such as `8.31 GB/s · 12.9 ms · certified`, with the rate that suits a chart of `y`, or the reason why there is
/// no figure.
fn outcome(record: &Record, y: Quantity) -> String {
    match &record.status {
        Status::NotApplicable(reason) => return format!("n/a: {reason}"),
        Status::Failed(error) => return format!("FAILED: {error}"),
        _ => {}
    }
    let mut parts = Vec::from_iter(quantities::of(record, quantities::rate(y)));
    if let Some(statistics) = &record.statistics {
        parts.push(units::fmt_seconds(statistics.median));
        let half = stats::half_width(&record.medians());
        parts.extend(half.map(|half| format!("±{:.1} %", half * 100.0)));
    }
    if let Some(Verdict::Certified { .. }) = record.verdict {
        parts.push("certified".to_owned());
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests;
