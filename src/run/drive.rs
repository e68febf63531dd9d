//! Drives a plan through an engine: every result is on disk before it is acknowledged
//! or shown.

mod begin;
mod keep;
mod watchdog;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::bail;

use super::checks;
use super::controls::Controls;
use super::folder::{Folder, fresh_path};
use super::interrupted::Interrupted;
use super::layout::Manifest;
use super::runner::{Control, Message, Runner, Running};
use super::{Ledger, Status};
use crate::case::units;
use crate::engine::protocol::{Command, Event, Finished, Level, Pictures};
use crate::engine::{clock, timeout};
use crate::model::Profile;
use crate::recipe::plan::{Plan, slug};
use crate::recipe::with_changes;
use crate::run::client::{Client, EngineCommand, Incoming};

use begin::Beginning;
use keep::{Noise, Refresh};
use watchdog::{Overdue, Watchdog};

/// How long a cancelled engine may take to reach the next sample boundary.
const CANCEL_TIMEOUT: Duration = Duration::from_secs(10);

/// Interval between latency probes of a remote engine, made between two cases.
const PING: Duration = Duration::from_secs(10);

/// An engine that dies this often without a finished round in between is given up.
const MOST_DEATHS: u32 = 3;

/// Longest wait for a silent engine. Any event or request ends the wait.
const LONG: Duration = Duration::from_secs(3600);

/// Writes the tables and charts of a run into its folder.
pub type WriteReports = fn(&Path, &Manifest, &Ledger) -> anyhow::Result<()>;

/// Starts runs in engine processes.
#[derive(Clone, Debug)]
pub struct EngineRunner {
    pub engine: EngineCommand,
    /// The run's folder; `None` creates a new one below `root`.
    pub out: Option<PathBuf>,
    /// Parent of new run folders.
    pub root: PathBuf,
    /// Profiles given by the user, which replace those of the engine for predictions.
    pub profiles: Vec<Profile>,
    /// Writes tables and charts; `None` where the folder is deleted with the run, so that nobody can read the
    /// reports or resume the run.
    pub reports: Option<WriteReports>,
}

impl Runner for EngineRunner {
    fn start(&self, plan: Plan, recipe: &str) -> anyhow::Result<Running> {
        // Check before the folder exists: the setting may not parse as a time.
        timeout::after()?;
        let started = clock::now();
        let path = match &self.out {
            Some(path) => path.clone(),
            None => fresh_path(&self.root, &started, &slug(&plan.title)),
        };
        let lasting = self.reports.is_some();
        let folder = if lasting { Folder::create(&path)? } else { Folder::create_temporary(&path)? };
        let (mut folder, mut plan) = (folder, plan);
        let written = folder.write_recipe(&with_changes(recipe, &plan.overrides));
        let kept =
            written.and_then(|()| folder.keep_indices(&mut plan)).and_then(|()| folder.keep_paper(&plan));
        kept.inspect_err(|_| folder.remove_unused())?;
        let beginning = Beginning::Fresh { started, profiles: self.profiles.clone() };
        drive(&self.engine, folder, Ledger::new(plan), beginning, self.reports)
    }

    fn resume(&self, run: Interrupted) -> anyhow::Result<Running> {
        resume(&self.engine, run, self.reports)
    }

    fn advice(&self, folder: &Path) -> String {
        self.engine.command_line("run --resume", folder)
    }
}

/// Resumes an interrupted run in its own folder.
///
/// # Errors
/// When the driving thread cannot be started.
pub fn resume(
    engine: &EngineCommand,
    run: Interrupted,
    reports: Option<WriteReports>,
) -> anyhow::Result<Running> {
    let Interrupted { stored, folder, retried, strict } = run;
    let again = Beginning::Again { manifest: Box::new(stored.manifest), retried, strict };
    drive(engine, folder, stored.ledger, again, reports)
}

fn drive(
    engine: &EngineCommand,
    folder: Folder,
    ledger: Ledger,
    beginning: Beginning,
    reports: Option<WriteReports>,
) -> anyhow::Result<Running> {
    let patience = timeout::after()?;
    let (messages, received) = mpsc::channel();
    let (control, controls) = Controls::new()?;
    let path = folder.path().to_owned();
    let before = ledger.elapsed().unwrap_or(0.0);
    let drive = Drive {
        ledger,
        folder,
        engine: engine.clone(),
        reports,
        beginning: Some(beginning),
        manifest: None,
        messages,
        controls,
        current: None,
        sampling: false,
        refresh: Refresh::new(),
        pinged: None,
        patience,
        pictures: Pictures::Few,
        kept_pictures: HashMap::new(),
        noise: Noise::new(),
        deaths: 0,
        device_lost: false,
        pause: false,
        again: BTreeSet::new(),
        strict: false,
        before,
    };
    thread::Builder::new().name("run".into()).spawn(move || drive.run())?;
    Ok(Running { messages: received, control, folder: path })
}

struct Drive {
    ledger: Ledger,
    folder: Folder,
    engine: EngineCommand,
    /// As [`EngineRunner::reports`].
    reports: Option<WriteReports>,
    /// `Some` until the first engine has sent its hello.
    beginning: Option<Beginning>,
    /// `Some` after the first hello.
    manifest: Option<Manifest>,
    messages: Sender<Message>,
    controls: Controls,
    /// The case and round of the engine's latest progress event.
    current: Option<(String, u32)>,
    /// Whether the engine may be timing samples, in which case nothing is written.
    sampling: bool,
    refresh: Refresh,
    /// When the latency of a remote engine was last probed.
    pinged: Option<Instant>,
    /// The shortest time without progress after which an engine counts as hung.
    patience: Duration,
    /// The pictures that the user interface wants.
    pictures: Pictures,
    /// Pictures recorded of each case by its id.
    kept_pictures: HashMap<String, u32>,
    /// Bounds what is kept of an engine's chatter.
    noise: Noise,
    /// Deaths of engines since the last finished round. An engine that says that its device is lost does not count:
    /// its case fails, and a fresh one may find the device again.
    deaths: u32,
    /// Whether the engine has said that its device is lost.
    device_lost: bool,
    /// Whether the user wants a pause.
    pause: bool,
    /// The cases that the user wants measured again and this engine has not reopened yet.
    again: BTreeSet<String>,
    /// As [`Interrupted::strict`].
    strict: bool,
    /// Seconds that the run had taken before it was resumed.
    before: f64,
}

/// How one engine's part of the run ended.
enum Ended {
    Finished,
    Cancelled,
    Died(String),
    /// Killed because a case was over its time limit. The case has failed, the others go on.
    OverLimit,
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
            (Some(_), _) if self.reports.is_none() => {}
            (Some(_), _) => self.complete(broken),
        }
        self.tell(Message::Over);
    }

    /// The error, followed by how to resume where results are on disk.
    fn with_advice(&self, error: &anyhow::Error) -> String {
        match self.beginning {
            Some(Beginning::Fresh { .. }) => format!("{error:#}"),
            _ if self.reports.is_none() => format!("{error:#}"),
            _ => {
                format!(
                    "{error:#}; to resume: {}",
                    self.engine.command_line("run --resume", self.folder.path())
                )
            }
        }
    }

    /// Runs one engine after another until the plan is complete or the user ends the run.
    fn run_engines(&mut self) -> anyhow::Result<()> {
        loop {
            let controls = &mut self.controls;
            let mut given_up = || controls.end();
            let Some((mut client, hello)) = Client::spawn_unless(&self.engine, &mut given_up)? else {
                return Ok(());
            };
            self.controls.ring_at(client.waker());
            self.greet(hello)?;
            self.pinged = None;
            self.again.clear();
            self.ping(&mut client);
            client.send(&Command::Run {
                plan: Box::new(self.ledger.plan().clone()),
                finished: Finished { before: self.before, ..self.ledger.finished() },
                pictures: self.pictures,
            })?;
            match self.follow(&mut client)? {
                Ended::Finished | Ended::Cancelled => return Ok(()),
                Ended::OverLimit => {}
                Ended::Died(reason) => {
                    let case = self.bury(&reason)?;
                    if self.deaths >= MOST_DEATHS {
                        bail!(
                            "given up: the engine died {MOST_DEATHS} times without a finished round in between, most \
                             recently: {reason}"
                        );
                    }
                    self.tell(Message::Died { reason, case });
                    if !self.goes_on()? {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Follows an engine until it finishes, dies, or is cancelled.
    fn follow(&mut self, client: &mut Client) -> anyhow::Result<Ended> {
        let mut cancelled: Option<Instant> = None;
        let mut watchdog = Watchdog::new(self.patience);
        if self.pause {
            watchdog.asked_to_pause(true);
            client.send(&Command::Pause)?;
        }
        loop {
            while let Some(asked) = self.controls.next() {
                match asked {
                    Control::Kill => return self.kill(client, "on request"),
                    Control::Cancel | Control::Stop if cancelled.is_none() => {
                        client.send(&Command::Cancel)?;
                        cancelled = Some(Instant::now());
                    }
                    // Nothing can follow the cancellation by a disconnected user interface.
                    Control::Cancel | Control::Stop => break,
                    other => {
                        if matches!(other, Control::Pause | Control::Continue) {
                            self.pause = other == Control::Pause;
                            watchdog.asked_to_pause(self.pause);
                        }
                        if let Control::Show(pictures) = other {
                            self.pictures = pictures;
                        }
                        watchdog.asked();
                        self.pass_on(other, client)?;
                    }
                }
            }
            let left = cancelled.map(|since| CANCEL_TIMEOUT.saturating_sub(since.elapsed()));
            if left.is_some_and(|left| left.is_zero()) {
                return self.kill(client, "because it did not stop by itself");
            }
            let look = left.unwrap_or_else(|| watchdog.look(&self.ledger));
            let incoming = client.next(look);
            watchdog.looks(look);
            match incoming {
                Some(Incoming::Woken) | None => {}
                Some(Incoming::NotAnEvent(text)) => self.keep_noise(text)?,
                Some(Incoming::Closed) => {
                    let ending = client.ending();
                    client.last_words().into_iter().try_for_each(|text| self.keep_noise(text))?;
                    return Ok(if cancelled.is_some() { Ended::Cancelled } else { Ended::Died(ending) });
                }
                Some(Incoming::Event(event)) => {
                    if let Some(ended) = self.hear(event, &mut watchdog, client)? {
                        return Ok(ended);
                    }
                }
            }
            let overdue = if cancelled.is_none() { watchdog.overdue(&self.ledger) } else { None };
            if let Some(overdue) = overdue {
                client.kill();
                return self.end_overdue(overdue);
            }
        }
    }

    /// Checks an event and takes it. `Some` if the engine's part of the run ends with it.
    fn hear(
        &mut self,
        event: Event,
        watchdog: &mut Watchdog,
        client: &mut Client,
    ) -> anyhow::Result<Option<Ended>> {
        let case = match &event {
            Event::Progress { case, .. } | Event::Snapshot { case, .. } => Some(case.as_str()),
            result => result.result_of(),
        };
        if let Some(case) = case.filter(|case| self.ledger.position(case).is_none()) {
            let case = units::shown(case);
            client.kill();
            return Ok(Some(Ended::Died(format!(
                "it reported on a case that is not in the plan, {case}: killed"
            ))));
        }
        if self.is_refused(&event) {
            return self.acknowledge(&event, client).map(|()| None);
        }
        if matches!(event, Event::Snapshot { .. }) {
            return self.picture(event).map(|()| None);
        }
        let reported = matches!(event, Event::Round { .. });
        let event = checks::checked(event, &self.ledger, &BTreeMap::new());
        let advances = watchdog.hears(&event, &self.ledger);
        self.device_lost |= advances && matches!(event, Event::Failed { lost: true, .. });
        if advances {
            self.tell_dropped()?;
            self.deaths = if matches!(event, Event::Round { .. }) { 0 } else { self.deaths };
            self.take(&event, client)?;
        } else if self.noise.takes() {
            self.take(&event, client)?;
        } else {
            self.acknowledge(&event, client)?;
        }
        Ok(match event {
            Event::Finished { cancelled: true } => Some(Ended::Cancelled),
            Event::Finished { cancelled: false } => Some(Ended::Finished),
            // The engine does not know that its report was refused.
            Event::Failed { case, .. } if reported => {
                client.send(&Command::Skip { case })?;
                None
            }
            _ => None,
        })
    }

    /// Whether an engine skips a case whose report was refused, which has failed already, or does what is not for it to
    /// decide: sets aside what is on file, or has a case measured further that nobody asked for.
    fn is_refused(&mut self, event: &Event) -> bool {
        let case = match event {
            Event::SetAside { .. } => return true,
            Event::Retried { case, .. } => return !self.again.remove(case),
            Event::Skipped { case, .. } => case,
            _ => return false,
        };
        let record = self.ledger.position(case).and_then(|at| self.ledger.records().get(at));
        record.is_some_and(|record| matches!(record.status, Status::Failed(_)))
    }

    /// Ends the part of an engine that was killed because it is out of time.
    fn end_overdue(&mut self, overdue: Overdue) -> anyhow::Result<Ended> {
        let (case, round, error) = match overdue {
            Overdue::Hung(reason) => return Ok(Ended::Died(reason)),
            Overdue::OverLimit { case, round, error } => (case, round, error),
        };
        self.current = None;
        self.tell_dropped()?;
        if let Some(case) = self.ledger.plan().cases.get(case).map(|case| case.id.clone()) {
            self.record(&Event::Failed { seq: 0, case, round, error, lost: false })?;
            self.keep_log(
                Level::Warn,
                "the engine was killed; the run continues in a fresh engine".to_owned(),
            )?;
        }
        Ok(Ended::OverLimit)
    }

    /// Forwards a request of the user to the engine.
    fn pass_on(&mut self, asked: Control, client: &mut Client) -> anyhow::Result<()> {
        let own = |at: usize| self.ledger.records().get(self.ledger.original(at));
        let id = |at: usize| own(at).map(|record| record.case.id.clone());
        let command = match asked {
            Control::Pause => Some(Command::Pause),
            Control::Continue => Some(Command::Continue),
            Control::Show(pictures) => Some(Command::Show { pictures }),
            Control::Disturb(at) => Some(Command::Disturb { at }),
            Control::Skip(at) => id(at).map(|case| Command::Skip { case }),
            Control::Again(at) if self.ledger.may_repeat(at) => {
                let case = id(at);
                self.again.extend(case.clone());
                case.map(|case| Command::Again { case })
            }
            _ => None,
        };
        command.map_or(Ok(()), |command| client.send(&command))
    }

    /// Waits without an engine and returns whether to start a new one. Requests about cases that arrive
    /// meanwhile are recorded for it.
    fn goes_on(&mut self) -> anyhow::Result<bool> {
        loop {
            let event = match self.controls.wait() {
                Ok(Control::Resume) => {
                    self.pause = false;
                    return Ok(true);
                }
                Ok(Control::Skip(at)) => self.ledger.skipped(at),
                Ok(Control::Again(at)) => self.ledger.repeated(at),
                Ok(Control::Show(pictures)) => {
                    self.pictures = pictures;
                    None
                }
                Ok(Control::Pause | Control::Continue | Control::Disturb(_)) => None,
                Ok(Control::Cancel | Control::Kill | Control::Stop) | Err(_) => return Ok(false),
            };
            event.map_or(Ok(()), |event| self.record(&event))?;
        }
    }

    fn kill(&mut self, client: &mut Client, why: &str) -> anyhow::Result<Ended> {
        client.kill();
        self.keep_log(Level::Warn, format!("the engine was killed {why}"))?;
        Ok(Ended::Cancelled)
    }

    /// Probes the latency of a remote engine while it waits for us.
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
}
