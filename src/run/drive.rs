//! Drives a plan through an engine: every result is on disk before it is acknowledged
//! or shown.

use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};

use super::folder::{Folder, Manifest, SCHEMA, Urgency, fresh_path};
use super::runner::{Control, Message, Runner, Running};
use super::{Ledger, clock};
use crate::engine::client::{Client, EngineCommand, Hello, Incoming};
use crate::engine::protocol::{Command, Event, Level, PROTOCOL, Stage};
use crate::plan::{Plan, slug};
use crate::report;

/// How long a cancelled engine may need to reach the next boundary of a sample.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// How often the derived files are brought up to date while the run goes on. It happens
/// before an acknowledgement, so never while a sample is timed.
const REFRESH: Duration = Duration::from_secs(5);

/// How often the user interface's wishes are looked at.
const POLL: Duration = Duration::from_millis(50);

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
        let folder = Folder::create(&path)?;
        folder.write_recipe(&with_overrides(&plan, recipe))?;
        let (message_sender, messages) = mpsc::channel();
        let (control, wishes) = mpsc::channel();
        let drive = Drive {
            ledger: Ledger::new(plan),
            folder,
            engine: self.engine.clone(),
            started,
            messages: message_sender,
            wishes,
            hello: None,
            current: None,
            sampling: false,
            refreshed: Instant::now(),
        };
        thread::Builder::new().name("run".into()).spawn(move || drive.run())?;
        Ok(Running { messages, control, folder: path })
    }
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

struct Drive {
    ledger: Ledger,
    folder: Folder,
    engine: EngineCommand,
    started: String,
    messages: Sender<Message>,
    wishes: Receiver<Control>,
    hello: Option<Hello>,
    /// The case and round that the engine last said it was working on.
    current: Option<(String, u32)>,
    /// Whether the engine times samples: then nothing is written.
    sampling: bool,
    refreshed: Instant,
}

/// How one engine's part of the run ended.
enum Ended {
    Finished,
    Cancelled,
    Died(String),
}

/// What the user interface asks for that ends an engine. One that is gone asks for
/// the same as one that cancels.
fn wish(wishes: &Receiver<Control>) -> Option<Control> {
    match wishes.try_recv() {
        Ok(Control::Resume | Control::Pause) | Err(TryRecvError::Empty) => None,
        Ok(control) => Some(control),
        Err(TryRecvError::Disconnected) => Some(Control::Cancel),
    }
}

impl Drive {
    fn run(mut self) {
        if let Err(error) = self.run_engines() {
            self.tell(Message::Broken(format!("{error:#}")));
        }
        if self.hello.is_none() {
            // Nothing was measured: leave the name free for the next attempt.
            self.folder.remove_unused();
        } else {
            match self.folder.flush().and_then(|()| self.write_reports()) {
                Ok(folder) => self.tell(Message::Reported(folder)),
                Err(error) => self.tell(Message::Broken(format!("{error:#}"))),
            }
        }
        self.tell(Message::Over);
    }

    /// One engine after the other, until the plan is through or somebody ends it.
    fn run_engines(&mut self) -> anyhow::Result<()> {
        loop {
            let wishes = &self.wishes;
            let mut given_up = || wish(wishes).is_some();
            let Some((mut client, hello)) = Client::spawn_unless(&self.engine, &mut given_up)? else {
                return Ok(());
            };
            self.greet(hello)?;
            client.send(&Command::Run {
                plan: Box::new(self.ledger.plan().clone()),
                finished: self.ledger.finished(),
            });
            match self.follow(&mut client)? {
                Ended::Finished | Ended::Cancelled => return Ok(()),
                Ended::Died(reason) => {
                    self.bury(&reason)?;
                    if !matches!(self.wishes.recv(), Ok(Control::Resume)) {
                        return Ok(());
                    }
                }
            }
        }
    }

    fn greet(&mut self, hello: Hello) -> anyhow::Result<()> {
        self.folder.write_manifest(&Manifest {
            schema: SCHEMA,
            version: hello.version.clone(),
            revision: hello.revision.clone(),
            started: self.started.clone(),
            command_line: std::env::args().collect(),
            environment: hello.environment.clone(),
            devices: hello.devices.clone(),
            plan: self.ledger.plan().clone(),
        })?;
        self.hello = Some(hello.clone());
        self.record(&Event::Hello {
            protocol: PROTOCOL,
            version: hello.version,
            revision: hello.revision,
            devices: hello.devices,
            environment: hello.environment,
        })
    }

    /// Follows an engine until it finishes, dies, or is cancelled.
    fn follow(&mut self, client: &mut Client) -> anyhow::Result<Ended> {
        let mut cancelled: Option<Instant> = None;
        loop {
            match wish(&self.wishes) {
                Some(Control::Kill) => return self.kill(client, "on request"),
                Some(_) if cancelled.is_none() => {
                    client.send(&Command::Cancel);
                    cancelled = Some(Instant::now());
                }
                _ => {}
            }
            if cancelled.is_some_and(|since| since.elapsed() > CANCEL_TIMEOUT) {
                return self.kill(client, "because it did not stop by itself");
            }
            match client.next(POLL) {
                None => {}
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
            _ if event.seq().is_some() => self.current = None,
            _ => {}
        }
        self.record(event)?;
        if let Some(seq) = event.seq() {
            if self.refreshed.elapsed() > REFRESH {
                self.write_reports()?;
            }
            client.send(&Command::Ack { seq });
        }
        Ok(())
    }

    fn record(&mut self, event: &Event) -> anyhow::Result<()> {
        self.sampling = match event {
            Event::Progress { stage, .. } => *stage == Stage::Sample,
            Event::Log { .. } => self.sampling,
            _ => false,
        };
        let urgency = match event.seq() {
            Some(_) => Urgency::Durable,
            None if self.sampling => Urgency::Held,
            None => Urgency::Written,
        };
        self.folder.append(event, urgency)?;
        self.ledger.apply(event);
        self.tell(Message::Event(event.clone()));
        Ok(())
    }

    /// The engine is gone: the case it was working on has failed; the rest may go on.
    fn bury(&mut self, reason: &str) -> anyhow::Result<()> {
        let lost = self.current.take();
        if let Some((case, round)) = lost.clone() {
            let error = format!("the engine died: {reason}");
            self.record(&Event::Failed { seq: 0, case, round, error })?;
        }
        self.write_reports()?;
        self.tell(Message::Died { reason: reason.to_owned(), case: lost.map(|(case, _)| case) });
        Ok(())
    }

    fn write_reports(&mut self) -> anyhow::Result<PathBuf> {
        self.refreshed = Instant::now();
        let folder = self.folder.path();
        if let Some(hello) = &self.hello {
            report::write_all(
                folder,
                self.ledger.plan(),
                self.ledger.records(),
                &hello.environment,
                &hello.devices,
                &self.started,
            )?;
        }
        Ok(folder.to_owned())
    }

    fn tell(&self, message: Message) {
        // A user interface that is gone has nothing to be told; the files are complete.
        let _ = self.messages.send(message);
    }
}
