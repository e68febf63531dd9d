//! A run without the user interface: plain lines, and one live line on a terminal.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::time::{Duration, Instant};

use anyhow::bail;

use super::interrupt::Interrupt;
use super::out;
use crate::backend::Verdict;
use crate::engine::protocol::{Event, Level, Stage};
use crate::measure::noise::Flag;
use crate::measure::{self, Statistics};
use crate::plan::{Case, Plan, Quantity};
use crate::run::eta::{self, Eta};
use crate::run::runner::{Control, Message, Runner, Running};
use crate::run::{Ledger, Record, Status, reference};
use crate::units;

/// How a run ended, in cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub done: usize,
    pub not_applicable: usize,
    pub failed: usize,
    /// Some rounds arrived, not all.
    pub partial: usize,
    pub unfinished: usize,
    /// Of those with results: rounds too far apart to tell small differences.
    pub unsteady: usize,
    /// Of those with results: some of their rounds were measured in noise.
    pub doubtful: usize,
}

/// Runs a plan to its end, printing what happens.
pub fn run(runner: &impl Runner, plan: Plan, recipe: &str, interrupt: &Interrupt) -> anyhow::Result<Summary> {
    let running = runner.start(plan.clone(), recipe)?;
    interrupt.attach(running.control.clone());
    let mut printer = Printer::new(plan);
    printer.headline();
    let ended = follow(&running, &mut printer);
    interrupt.detach();
    if printer.heard {
        printer.close(&running.folder.display().to_string());
    }
    ended.map(|()| printer.summary())
}

/// Prints what the run says until it is over; its first trouble is the error.
fn follow(running: &Running, printer: &mut Printer) -> anyhow::Result<()> {
    let (mut broken, mut progressed) = (None, false);
    for message in &running.messages {
        match message {
            Message::Event(event) => {
                progressed |= event.seq().is_some();
                printer.event(&event);
            }
            Message::Died { reason, case } => {
                printer.died(&reason);
                // An engine that died before it did anything would do so again.
                let answer = if case.is_some() || progressed { Control::Resume } else { Control::Stop };
                progressed = false;
                // A run that has ended meanwhile says so below.
                let _ = running.control.send(answer);
            }
            Message::Reported(_) => {}
            Message::Broken(reason) => broken = broken.or(Some(reason)),
            Message::Over => return broken.map_or(Ok(()), |reason| bail!(reason)),
        }
    }
    bail!(broken.unwrap_or_else(|| "the run ended without saying why".to_owned()))
}

struct Printer {
    ledger: Ledger,
    eta: Eta,
    started: Instant,
    live: bool,
    /// Whether an engine has said anything.
    heard: bool,
}

impl Printer {
    fn new(plan: Plan) -> Printer {
        let live = io::stdout().is_terminal();
        let (eta, started) = (Eta::default(), Instant::now());
        Printer { ledger: Ledger::new(plan), eta, started, live, heard: false }
    }

    fn headline(&self) {
        let plan = self.ledger.plan();
        let hash = plan.short_hash();
        out::line(&format!("{} · {} cases · recipe {hash}", plan.title, plan.cases.len()));
    }

    fn event(&mut self, event: &Event) {
        let changed = self.ledger.apply(event);
        let now = self.started.elapsed();
        self.heard = true;
        match event {
            Event::Hello { devices, .. } => {
                self.eta.begin(now);
                devices.iter().for_each(|device| self.note(&super::devices::line(device)));
            }
            Event::Progress { case, stage, .. } => self.status(case, *stage),
            Event::Round { .. } => {
                changed.inspect(|at| self.eta.finish(*at, now));
                self.result(changed);
            }
            Event::NotApplicable { .. } | Event::Failed { .. } => {
                self.eta.begin(now);
                self.result(changed);
            }
            Event::Log { level: Level::Info, text } => self.note(text),
            Event::Log { text, .. } => self.note(&format!("warning: {text}")),
            Event::Reference { backend, .. } => {
                if let Some(text) = reference::news(&self.ledger, backend) {
                    self.note(&text);
                }
            }
            _ => {}
        }
    }

    fn died(&mut self, reason: &str) {
        self.eta.pause();
        self.note(&format!("the engine died: {reason}"));
    }

    fn result(&self, changed: Option<usize>) {
        let Some(record) = changed.and_then(|at| self.ledger.records().get(at)) else { return };
        let round = match record.rounds.last() {
            Some(last) if last.round > 0 => format!(" (round {})", last.round + 1),
            _ => String::new(),
        };
        self.note(&format!("[{}] {}{round}: {}", self.place(), self.label(&record.case), outcome(record)));
    }

    /// The live line: what is going on, and how long the rest may take.
    fn status(&self, case: &str, stage: Stage) {
        let Some(at) = self.ledger.position(case).filter(|_| self.live) else { return };
        let doing = match stage {
            Stage::Generate => "generating",
            Stage::WarmUp => "warming up",
            Stage::Sample => "sampling",
            Stage::Certify => "certifying",
        };
        out::live(&format!("[{}] {}: {doing}", self.place(), self.label(&self.ledger.plan().cases[at])));
    }

    fn label(&self, case: &Case) -> String {
        let experiments = &self.ledger.plan().experiments;
        match experiments.get(case.experiment) {
            Some(only) if experiments.len() == 1 => only.label(case),
            Some(one) => format!("{}: {}", one.title, one.label(case)),
            None => case.id.clone(),
        }
    }

    /// `12/48, 1m05s left`: finished and all (case, round) pairs, and how long the rest
    /// may take.
    fn place(&self) -> String {
        let (done, all) = eta::progress(&self.ledger);
        match self.eta.remaining(&self.ledger, self.started.elapsed()) {
            Some(left) if done < all => format!("{done}/{all}, {} left", minutes(left)),
            _ => format!("{done}/{all}"),
        }
    }

    fn note(&self, text: &str) {
        if self.live {
            out::live("");
        }
        out::line(text);
    }

    fn summary(&self) -> Summary {
        let mut summary = Summary::default();
        for record in self.ledger.records() {
            match record.status {
                Status::Done => summary.done += 1,
                Status::NotApplicable(_) => summary.not_applicable += 1,
                Status::Failed(_) => summary.failed += 1,
                Status::Partial => summary.partial += 1,
                Status::Pending => summary.unfinished += 1,
            }
            summary.doubtful += usize::from(record.statistics.is_some() && !record.flags().is_empty());
            summary.unsteady += usize::from(record.statistics.as_ref().is_some_and(Statistics::unsteady));
        }
        summary
    }

    /// What made rounds doubtful, in words.
    fn noise(&self) -> String {
        let flags = self.ledger.records().iter().filter(|r| r.statistics.is_some()).flat_map(Record::flags);
        let words: BTreeSet<Flag> = flags.collect();
        words.into_iter().map(Flag::word).collect::<Vec<_>>().join(", ")
    }

    fn close(&self, folder: &str) {
        let s = self.summary();
        let mut parts = vec![format!("{} certified", s.done)];
        let doubtful = format!("doubtful ({})", self.noise());
        let others = [
            (s.partial, "with some of their rounds"),
            (s.not_applicable, "n/a"),
            (s.failed, "failed"),
            (s.unfinished, "not started"),
            (s.doubtful, doubtful.as_str()),
            (s.unsteady, "unsteady (rounds more than 10 % apart)"),
        ];
        parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")));
        self.note(&format!("{} in {} → {folder}", parts.join(", "), minutes(self.started.elapsed())));
    }
}

fn minutes(time: Duration) -> String {
    format!("{}m{:02}s", time.as_secs() / 60, time.as_secs() % 60)
}

/// `8.31 GB/s · 12.9 ms · certified`, or why there is no figure.
fn outcome(record: &Record) -> String {
    match &record.status {
        Status::NotApplicable(reason) => return format!("n/a: {reason}"),
        Status::Failed(error) => return format!("FAILED: {error}"),
        _ => {}
    }
    let mut parts = Vec::new();
    if let Some(bandwidth) = record.quantity(Quantity::Bandwidth) {
        parts.push(units::fmt_rate(bandwidth));
    }
    if let Some(statistics) = &record.statistics {
        parts.push(units::fmt_seconds(statistics.median));
        let half = measure::half_width(&record.medians());
        parts.extend(half.map(|half| format!("±{:.1} %", half * 100.0)));
    }
    if let Some(Verdict::Certified { .. }) = record.verdict {
        parts.push("certified".to_owned());
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests;
