//! A run without the user interface: plain lines, and one live line on a terminal.

use std::io::{self, IsTerminal, Write};
use std::sync::mpsc::Sender;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::out;
use crate::backend::Verdict;
use crate::engine::protocol::{Event, Level, Stage};
use crate::plan::{Plan, Quantity};
use crate::run::runner::{Control, Message, Runner};
use crate::run::{Ledger, Record, Status};
use crate::units;

/// How a run ended, in cases.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub done: usize,
    pub not_applicable: usize,
    pub failed: usize,
    pub unfinished: usize,
}

/// Runs a plan to its end, printing what happens.
pub fn run(runner: &impl Runner, plan: Plan, recipe: &str) -> anyhow::Result<Summary> {
    let running = runner.start(plan.clone(), recipe)?;
    cancel_on_signals(running.control.clone())?;
    let mut printer = Printer::new(plan);
    printer.headline();
    let (mut broken, mut progressed) = (None, false);
    for message in &running.messages {
        match message {
            Message::Event(event) => {
                progressed |= event.seq().is_some();
                printer.event(&event);
            }
            Message::Died { reason, case } => {
                printer.note(&format!("the engine died: {reason}"));
                // An engine that died before it did anything would do so again.
                let answer = if case.is_some() || progressed { Control::Resume } else { Control::Stop };
                progressed = false;
                if running.control.send(answer).is_err() {
                    break;
                }
            }
            Message::Reported(_) => {}
            Message::Broken(reason) => broken = Some(reason),
            Message::Over => break,
        }
    }
    printer.close(&running.folder.display().to_string());
    match broken {
        Some(reason) => bail!(reason),
        None => Ok(printer.summary()),
    }
}

/// The first SIGINT or SIGTERM cancels at the next boundary of a sample; results stay.
fn cancel_on_signals(control: Sender<Control>) -> anyhow::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            let _ = writeln!(
                io::stderr(),
                "\nscatterlab: cancelling at the end of this sample; once more to end at once"
            );
            if control.send(Control::Cancel).is_err() {
                std::process::exit(128 + signal);
            }
            let _ = signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                std::sync::Arc::new(true.into()),
            );
        }
    });
    Ok(())
}

struct Printer {
    ledger: Ledger,
    started: Instant,
    live: bool,
    /// (case, round) pairs of the plan, and how many of them are through.
    total: usize,
    through: usize,
}

impl Printer {
    fn new(plan: Plan) -> Printer {
        let rounds = |case: &crate::plan::Case| plan.experiments[case.experiment].measure.rounds as usize;
        let total = plan.cases.iter().filter(|c| c.not_applicable.is_none()).map(rounds).sum();
        Printer {
            ledger: Ledger::new(plan),
            started: Instant::now(),
            live: io::stdout().is_terminal(),
            total,
            through: 0,
        }
    }

    fn headline(&self) {
        let plan = self.ledger.plan();
        out::line(&format!(
            "{} · {} cases · recipe {}",
            plan.title,
            plan.cases.len(),
            &plan.recipe_hash[..12]
        ));
    }

    fn event(&mut self, event: &Event) {
        let changed = self.ledger.apply(event);
        match event {
            Event::Hello { devices, .. } => {
                for device in devices {
                    self.note(&super::devices::line(device));
                }
            }
            Event::Progress { case, stage, .. } => self.status(case, *stage),
            Event::Round { .. } => {
                self.through += 1;
                if let Some(at) = changed {
                    self.result(at);
                }
            }
            Event::NotApplicable { .. } | Event::Failed { .. } => {
                if let Some(at) = changed {
                    self.through += self.rounds_left(at);
                    self.result(at);
                }
            }
            Event::Log { level: Level::Info, text } => self.note(text),
            Event::Log { text, .. } => self.note(&format!("warning: {text}")),
            _ => {}
        }
    }

    fn rounds_left(&self, at: usize) -> usize {
        let record = &self.ledger.records()[at];
        let rounds = self.ledger.plan().experiments[record.case.experiment].measure.rounds as usize;
        rounds.saturating_sub(record.rounds.len())
    }

    fn result(&self, at: usize) {
        let record = &self.ledger.records()[at];
        let plan = self.ledger.plan();
        let label = plan.experiments[record.case.experiment].label(&record.case);
        self.note(&format!("[{}/{}] {label}: {}", self.through, self.total, outcome(record)));
    }

    /// The live line: what is going on, and how long the rest may take.
    fn status(&self, case: &str, stage: Stage) {
        let Some(at) = self.ledger.position(case).filter(|_| self.live) else { return };
        let plan = self.ledger.plan();
        let case = &plan.cases[at];
        let doing = match stage {
            Stage::Generate => "generating",
            Stage::WarmUp => "warming up",
            Stage::Sample => "sampling",
            Stage::Certify => "certifying",
        };
        let label = plan.experiments[case.experiment].label(case);
        out::live(&format!("[{}/{}, {} left] {label}: {doing}", self.through, self.total, self.left()));
    }

    /// The rest at the pace so far.
    fn left(&self) -> String {
        if self.through == 0 {
            return "?".to_owned();
        }
        let pace = self.started.elapsed().as_secs_f64() / self.through as f64;
        let left = Duration::from_secs_f64(pace * (self.total - self.through.min(self.total)) as f64);
        format!("{}m{:02}s", left.as_secs() / 60, left.as_secs() % 60)
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
                Status::Pending | Status::Partial => summary.unfinished += 1,
            }
        }
        summary
    }

    fn close(&self, folder: &str) {
        let s = self.summary();
        let mut parts = vec![format!("{} certified", s.done)];
        for (count, what) in [(s.not_applicable, "n/a"), (s.failed, "failed"), (s.unfinished, "unfinished")] {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        }
        let seconds = self.started.elapsed().as_secs();
        self.note(&format!("{} in {}m{:02}s → {folder}", parts.join(", "), seconds / 60, seconds % 60));
    }
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
    }
    if let Some(Verdict::Certified { .. }) = record.verdict {
        parts.push("certified".to_owned());
    }
    parts.join(" · ")
}
