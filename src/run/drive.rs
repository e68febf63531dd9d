//! Drives a plan through an engine: every result is on disk before it is acknowledged
//! or shown.

use std::path::PathBuf;
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use super::derived::Derived;
use super::folder::{ENGINE_DIED, EVENTS, Folder, Manifest, SCHEMA, Urgency, fresh_path};
use super::interrupted::{Interrupted, differences, missing};
use super::runner::{Control, Message, Runner, Running, advice};
use super::wishes::Wishes;
use super::{Ledger, clock};
use crate::engine::client::{Client, EngineCommand, Hello, Incoming};
use crate::engine::protocol::{Command, Event, Level, PROTOCOL, Stage};
use crate::plan::{Plan, slug};
use crate::report;

/// How long a cancelled engine may need to reach the next boundary of a sample.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// How often an engine elsewhere is asked how far away it is, between two cases.
const PING: Duration = Duration::from_secs(10);

/// Longest wait for an engine that nobody has cancelled. Whatever happens ends it.
const LONG: Duration = Duration::from_secs(3600);

/// Starts runs in engine processes.
#[derive(Clone, Debug)]
pub struct EngineRunner {
    pub engine: EngineCommand,
    /// The run's folder; without it a fresh one below `root`.
    pub out: Option<PathBuf>,
    /// Where fresh run folders go.
    pub root: PathBuf,
}

impl Runner for EngineRunner {
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running> {
        let started = clock::now();
        let path = match &self.out {
            Some(path) => path.clone(),
            None => fresh_path(&self.root, &started, &slug(&plan.title)),
        };
        let (mut folder, mut plan) = (Folder::create(&path)?, plan);
        let written = folder.write_recipe(&with_overrides(&plan, recipe));
        written.and_then(|()| folder.keep_indices(&mut plan)).inspect_err(|_| folder.remove_unused())?;
        drive(&self.engine, folder, Ledger::new(plan), Beginning::Fresh { started })
    }
}

/// Goes on with an interrupted run in its own folder.
///
/// # Errors
/// When its thread cannot be started.
pub fn resume(engine: &EngineCommand, run: Interrupted) -> anyhow::Result<Running> {
    let Interrupted { stored, folder, retried } = run;
    drive(engine, folder, stored.ledger, Beginning::Again { manifest: Box::new(stored.manifest), retried })
}

fn drive(
    engine: &EngineCommand,
    folder: Folder,
    ledger: Ledger,
    beginning: Beginning,
) -> anyhow::Result<Running> {
    let (messages, received) = mpsc::channel();
    let (control, wishes) = Wishes::new()?;
    let path = folder.path().to_owned();
    let drive = Drive {
        ledger,
        folder,
        engine: engine.clone(),
        beginning: Some(beginning),
        manifest: None,
        messages,
        wishes,
        current: None,
        sampling: false,
        derived: Derived::new(),
        pinged: None,
    };
    thread::Builder::new().name("run".into()).spawn(move || drive.run())?;
    Ok(Running { messages: received, control, folder: path })
}

/// The recipe as the user wrote it, below a comment that says what the command line
/// changed.
fn with_overrides(plan: &Plan, recipe: &str) -> String {
    if plan.overrides.is_empty() {
        return recipe.to_owned();
    }
    // A value may hold a line break; the comment must not end there.
    let changes = plan.overrides.join(" ").replace(['\n', '\r'], " ");
    format!("# Run with: {changes}\n{recipe}")
}

/// This program's command line. A word need not be UTF-8: a path may be anything.
fn command_line() -> Vec<String> {
    std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect()
}

/// How soon an event of an engine must be in the file. Its progress never is: the engine
/// may be timing by the time that it is read. `sampling` says whether it was.
fn urgency(event: &Event, sampling: bool) -> Urgency {
    match event {
        _ if event.seq().is_some() => Urgency::Durable,
        Event::Progress { .. } => Urgency::Held,
        _ if sampling => Urgency::Held,
        _ => Urgency::Written,
    }
}

/// What there is before the first engine says hello.
enum Beginning {
    /// Nothing. When the run started, `YYYY-MM-DD HH:MM:SS` UTC.
    Fresh { started: String },
    /// A run on disk, and the cases that get another try.
    Again { manifest: Box<Manifest>, retried: Vec<String> },
}

struct Drive {
    ledger: Ledger,
    folder: Folder,
    engine: EngineCommand,
    /// Until the first engine has said hello.
    beginning: Option<Beginning>,
    /// From then on.
    manifest: Option<Manifest>,
    messages: Sender<Message>,
    wishes: Wishes,
    /// The case and round that the engine last said it was working on.
    current: Option<(String, u32)>,
    /// Whether the engine may be timing samples: then nothing is written.
    sampling: bool,
    derived: Derived,
    /// When an engine elsewhere was last asked how far away it is.
    pinged: Option<Instant>,
}

/// How one engine's part of the run ended.
enum Ended {
    Finished,
    Cancelled,
    Died(String),
}

impl Drive {
    fn run(mut self) {
        let trouble = self.run_engines().err();
        let broken = trouble.is_some();
        if let Some(error) = trouble {
            self.tell(Message::Broken(self.with_advice(&error)));
        }
        match (&self.manifest, &self.beginning) {
            // Nothing was measured: leave the name free for the next attempt.
            (None, Some(Beginning::Fresh { .. })) => self.folder.remove_unused(),
            (None, _) => {}
            (Some(_), _) => self.complete(broken),
        }
        self.tell(Message::Over);
    }

    /// Leaves the folder with tables and charts of everything that was measured.
    fn complete(&mut self, broken: bool) {
        match self.folder.flush().and_then(|()| self.write_reports()) {
            Ok(()) => self.tell(Message::Reported(self.folder.path().to_owned())),
            Err(error) => {
                let report = advice("report", self.folder.path(), &EngineCommand::Own);
                let text = format!("{error:#}; what was measured is in {EVENTS}: {report}");
                // One trouble is enough to end a run; the other is good to know.
                self.tell(match broken {
                    true => Message::Event(Event::Log { level: Level::Warn, text }),
                    false => Message::Broken(text),
                });
            }
        }
    }

    /// The error, and how to go on where something is on disk.
    fn with_advice(&self, error: &anyhow::Error) -> String {
        match self.beginning {
            Some(Beginning::Fresh { .. }) => format!("{error:#}"),
            _ => format!("{error:#}; to go on: {}", advice("run --resume", self.folder.path(), &self.engine)),
        }
    }

    /// One engine after the other, until the plan is through or somebody ends it.
    fn run_engines(&mut self) -> anyhow::Result<()> {
        loop {
            let wishes = &mut self.wishes;
            let mut given_up = || wishes.end();
            let Some((mut client, hello)) = Client::spawn_unless(&self.engine, &mut given_up)? else {
                return Ok(());
            };
            self.wishes.ring_at(client.bell());
            self.greet(hello)?;
            self.pinged = None;
            self.ping(&mut client);
            client.send(&Command::Run {
                plan: Box::new(self.ledger.plan().clone()),
                finished: self.ledger.finished(),
            })?;
            match self.follow(&mut client)? {
                Ended::Finished | Ended::Cancelled => return Ok(()),
                Ended::Died(reason) => {
                    self.bury(&reason)?;
                    if !self.goes_on()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// The manifest keeps the first engine's machine; whatever is different later stands
    /// in the events.
    fn greet(&mut self, hello: Hello) -> anyhow::Result<()> {
        let (manifest, retried) = match self.beginning.take() {
            Some(Beginning::Fresh { started }) => {
                let manifest = self.manifest(&hello, &started);
                if let Err(error) = self.folder.write_manifest(&manifest) {
                    self.beginning = Some(Beginning::Fresh { started });
                    return Err(error);
                }
                (manifest, None)
            }
            Some(Beginning::Again { manifest, retried }) => (*manifest, Some(retried)),
            None => (self.manifest.take().context("an engine without a run")?, None),
        };
        let differences = differences(&manifest, &hello);
        let missing = missing(&manifest, &hello, &self.ledger);
        self.manifest = Some(manifest);
        self.record(&Event::Hello {
            protocol: PROTOCOL,
            version: hello.version,
            revision: hello.revision,
            devices: hello.devices,
            environment: hello.environment,
        })?;
        // Before the engine is told to run: it would say `n/a`, for good, of cases that a
        // machine with the device can still measure.
        if let Some(missing) = missing {
            bail!(missing);
        }
        if let Some(retried) = retried {
            self.hear(Level::Info, format!("the run goes on: {}", command_line().join(" ")))?;
            retried.into_iter().try_for_each(|case| self.record(&Event::Retried { case, rounds: 0 }))?;
        }
        differences.into_iter().try_for_each(|text| self.hear(Level::Warn, text))
    }

    fn manifest(&self, hello: &Hello, started: &str) -> Manifest {
        Manifest {
            schema: SCHEMA,
            version: hello.version.clone(),
            revision: hello.revision.clone(),
            started: started.to_owned(),
            command_line: command_line(),
            environment: hello.environment.clone(),
            devices: hello.devices.clone(),
            plan: self.ledger.plan().clone(),
        }
    }

    /// Follows an engine until it finishes, dies, or is cancelled.
    fn follow(&mut self, client: &mut Client) -> anyhow::Result<Ended> {
        let mut cancelled: Option<Instant> = None;
        loop {
            while let Some(wish) = self.wishes.next() {
                match wish {
                    Control::Kill => return self.kill(client, "on request"),
                    Control::Cancel | Control::Stop if cancelled.is_none() => {
                        client.send(&Command::Cancel)?;
                        cancelled = Some(Instant::now());
                    }
                    // Who is gone has nothing else to say.
                    Control::Cancel | Control::Stop => break,
                    other => self.pass_on(other, client)?,
                }
            }
            let left = cancelled.map_or(LONG, |since| CANCEL_TIMEOUT.saturating_sub(since.elapsed()));
            if left.is_zero() {
                return self.kill(client, "because it did not stop by itself");
            }
            match client.next(left) {
                None | Some(Incoming::Rung) => {}
                Some(Incoming::Noise(text)) => self.hear(Level::Info, text)?,
                Some(Incoming::Closed) => {
                    let ending = client.ending();
                    client.last_words().into_iter().try_for_each(|text| self.hear(Level::Info, text))?;
                    return Ok(if cancelled.is_some() { Ended::Cancelled } else { Ended::Died(ending) });
                }
                Some(Incoming::Event(event)) => {
                    self.take(&event, client)?;
                    if let Event::Finished { cancelled } = event {
                        return Ok(if cancelled { Ended::Cancelled } else { Ended::Finished });
                    }
                }
            }
        }
    }

    /// Tells the engine what a person asks of it.
    fn pass_on(&self, wish: Control, client: &mut Client) -> anyhow::Result<()> {
        let id = |at: usize| self.ledger.records().get(at).map(|record| record.case.id.clone());
        let command = match wish {
            Control::Pause => Some(Command::Pause),
            Control::Continue => Some(Command::Continue),
            Control::Skip(at) => id(at).map(|case| Command::Skip { case }),
            Control::Again(at) if self.ledger.may_repeat(at) => id(at).map(|case| Command::Again { case }),
            _ => None,
        };
        command.map_or(Ok(()), |command| client.send(&command))
    }

    /// Without an engine: whether a fresh one is to be started. What is asked of a case
    /// meanwhile is taken down for it.
    fn goes_on(&mut self) -> anyhow::Result<bool> {
        loop {
            let event = match self.wishes.wait() {
                Ok(Control::Resume) => return Ok(true),
                Ok(Control::Skip(at)) => self.ledger.skipped(at),
                Ok(Control::Again(at)) => self.ledger.repeated(at),
                Ok(Control::Pause | Control::Continue) => None,
                Ok(Control::Cancel | Control::Kill | Control::Stop) | Err(_) => return Ok(false),
            };
            event.map_or(Ok(()), |event| self.record(&event))?;
        }
    }

    fn kill(&mut self, client: &mut Client, why: &str) -> anyhow::Result<Ended> {
        client.kill();
        self.hear(Level::Warn, format!("the engine was killed {why}"))?;
        Ok(Ended::Cancelled)
    }

    fn hear(&mut self, level: Level, text: String) -> anyhow::Result<()> {
        self.record(&Event::Log { level, text })
    }

    /// Puts an event on disk, passes it on, and only then acknowledges it.
    fn take(&mut self, event: &Event, client: &mut Client) -> anyhow::Result<()> {
        match event {
            Event::Progress { case, round, .. } => self.current = Some((case.clone(), *round)),
            // Another case may be skipped in the middle of this one.
            Event::Skipped { case, .. } if self.current.as_ref().is_some_and(|(id, _)| id != case) => {}
            _ if event.seq().is_some() => self.current = None,
            _ => {}
        }
        self.record(event)?;
        if let Some(seq) = event.seq() {
            if self.derived.is_due() {
                self.refresh_reports()?;
            }
            self.ping(client);
            client.send(&Command::Ack { seq })?;
        }
        Ok(())
    }

    /// Asks an engine elsewhere how far away it is, now that it waits for us.
    fn ping(&mut self, client: &mut Client) {
        let due = self.pinged.is_none_or(|at| at.elapsed() > PING);
        if self.engine == EngineCommand::Own || !due {
            return;
        }
        self.pinged = Some(Instant::now());
        if let Some(time) = client.round_trip() {
            self.tell(Message::Latency(time));
        }
    }

    fn record(&mut self, event: &Event) -> anyhow::Result<()> {
        self.sampling = match event {
            Event::Progress { stage, .. } => matches!(stage, Stage::WarmUp | Stage::Sample),
            Event::Log { .. } => self.sampling,
            _ => false,
        };
        self.folder.append(event, urgency(event, self.sampling))?;
        self.ledger.apply(event);
        self.tell(Message::Event(event.clone()));
        Ok(())
    }

    /// The engine is gone: the case it was working on has failed; the rest may go on.
    fn bury(&mut self, reason: &str) -> anyhow::Result<()> {
        let lost = self.current.take();
        if let Some((case, round)) = lost.clone() {
            let error = format!("{ENGINE_DIED}{reason}");
            self.record(&Event::Failed { seq: 0, case, round, error, lost: true })?;
        }
        if self.derived.is_due() {
            self.refresh_reports()?;
        }
        self.tell(Message::Died { reason: reason.to_owned(), case: lost.map(|(case, _)| case) });
        Ok(())
    }

    /// Along the way, tables and charts that cannot be written are worth a warning: the
    /// results are safe in the events, and the next attempt may succeed.
    fn refresh_reports(&mut self) -> anyhow::Result<()> {
        let Err(error) = self.write_reports() else { return Ok(()) };
        match self.derived.news(format!("{error:#}")) {
            Some(text) => self.hear(Level::Warn, text),
            None => Ok(()),
        }
    }

    fn write_reports(&mut self) -> anyhow::Result<()> {
        let Some(manifest) = &self.manifest else { return Ok(()) };
        let (folder, records) = (self.folder.path(), self.ledger.records());
        self.derived.timed(|| report::write_all(folder, manifest, records)).map(|_| ())
    }

    fn tell(&self, message: Message) {
        // A user interface that is gone has nothing to be told; the files are complete.
        let _ = self.messages.send(message);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_while_a_sample_may_be_timed() {
        let progress = |stage| Event::Progress { case: "a".into(), round: 0, stage };
        for stage in [Stage::Generate, Stage::WarmUp, Stage::Sample, Stage::Certify] {
            assert_eq!(urgency(&progress(stage), false), Urgency::Held, "{stage:?}");
        }
        let log = Event::Log { level: Level::Info, text: String::new() };
        assert_eq!([urgency(&log, true), urgency(&log, false)], [Urgency::Held, Urgency::Written]);
        let result = Event::NotApplicable { seq: 1, case: "a".into(), reason: String::new() };
        assert_eq!(urgency(&result, true), Urgency::Durable);
    }
}
