//! Carries out the effects that the state requests.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::App;
use crate::recipe::plan::{Overrides, Plan};
use crate::run::Interrupted;
use crate::run::playback::{Speed, WatchRunner};
use crate::run::runner::{Runner, Running};
use crate::tui::commands::Effect;
use crate::tui::home::background_lookups::BackgroundLookups;
use crate::tui::home::jobs::{Kind, Outcome};
use crate::tui::panel::samples;
use crate::tui::recipes::RecipeEntry;
use crate::tui::runs::Replayable;
use crate::tui::runs::{Answer, IoWorker, Job};
use crate::tui::update::Input;
use crate::tui::waker;

impl App {
    pub(super) fn perform(&mut self, effect: Effect, now: Duration) {
        match effect {
            Effect::Start(index) => {
                let Some(entry) = self.state.recipes.entries().get(index).cloned() else { return };
                let overrides = self.state.home.edits.of(index);
                self.prepare(index, entry, overrides, now);
            }
            Effect::Home(errand) => self.run_errand(errand, now),
            Effect::Suspend => self.suspend = true,
            Effect::Request(ticket, job) => self.ask(ticket, job, now),
            Effect::SaveProfile(profile) => {
                let outcome = (self.save_profile)(&profile);
                self.apply(Input::ProfileSaved(profile, outcome), now);
            }
            Effect::Calibrate(backend) => {
                let input = self.calibrate(backend).unwrap_or_else(Input::NotStarted);
                self.apply(input, now);
            }
            Effect::KeepProfile => {
                let records = self.state.run().map(|run| run.ledger.records().to_vec()).unwrap_or_default();
                if let Some(calibrator) = &mut self.calibrator {
                    let made = (calibrator.finish)(&records);
                    self.apply(Input::Calibrated(made), now);
                }
            }
            Effect::TakeBack => {
                if let Some(calibrator) = &mut self.calibrator {
                    let standing = (calibrator.take_back)();
                    self.apply(Input::TakenBack(standing), now);
                }
            }
            Effect::Copy(text) => self.clip = Some(text),
            Effect::CopyValues => self.clip = self.state.session.as_ref().and_then(samples::text),
            Effect::Play { path, plan, times } => {
                let input = self.play(path, plan, times).unwrap_or_else(Input::NotStarted);
                self.apply(input, now);
            }
            Effect::Send(control) => {
                if let Some(running) = &self.running {
                    // A run that has just ended no longer listens; its end arrives as a message.
                    let _ = running.control.send(control);
                }
            }
        }
    }

    /// Resolves a recipe in order to start it: again, because the world may have changed since the preview.
    pub(super) fn prepare(&mut self, recipe: usize, entry: RecipeEntry, overrides: Overrides, now: Duration) {
        // The old run's thread would disturb the timing.
        if self.running.is_some() {
            let reason = "the previous run is still writing its files".to_owned();
            return self.apply(Input::NotStarted(reason), now);
        }
        self.apply(Input::Preparing(entry.path.clone()), now);
        let resolve = Arc::clone(&self.resolve);
        self.jobs.run(Kind::Start, move |wanted| {
            let plan = resolve(&entry, &overrides, wanted);
            Outcome::Ready { recipe, text: entry.text, plan }
        });
        self.receive_outcomes(now);
    }

    /// Starts a recipe that was resolved.
    pub(super) fn start(&mut self, recipe: usize, text: &str, plan: Plan) -> Result<Input, String> {
        self.make_way()?;
        let running = self.runner.start(plan.clone(), text).map_err(|e| format!("{e:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::Started { recipe, plan: Box::new(plan), folder })
    }

    /// Starts to measure the device of a backend.
    fn calibrate(&mut self, backend: String) -> Result<Input, String> {
        self.make_way()?;
        let calibrator = self.calibrator.as_mut().ok_or("nothing can be calibrated here")?;
        let (plan, running) = (calibrator.start)(&backend)?;
        let folder = self.listen(running)?;
        Ok(Input::Calibrating { backend, plan: Box::new(plan), folder })
    }

    /// Stops all work of this process that would disturb what is timed; refused while an older run writes its files.
    pub(super) fn make_way(&mut self) -> Result<(), String> {
        if self.running.is_some() {
            return Err("the previous run is still writing its files".to_owned());
        }
        self.jobs.stop(Kind::Preview);
        self.state.recipes.stopped();
        self.jobs.stop(Kind::Estimate);
        self.background.iter_mut().for_each(BackgroundLookups::hush);
        self.io_worker.iter().for_each(IoWorker::stop);
        Ok(())
    }

    /// Plays a stored run; nothing is measured.
    fn play(&mut self, path: PathBuf, plan: Box<Plan>, times: f64) -> Result<Input, String> {
        let runner = WatchRunner { folder: path, speed: Speed::Times(times) };
        let running = runner.start((*plan).clone(), "").map_err(|e| format!("{e:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::Played { plan, folder, times })
    }

    /// Receives the messages of a run from now on; returns its folder.
    pub(super) fn listen(&mut self, running: Running) -> Result<PathBuf, String> {
        let running = match &self.waker {
            Some(waker) => waker::watched(running, waker.clone()).map_err(|e| e.to_string())?,
            None => running,
        };
        let folder = running.folder.clone();
        self.running = Some(running);
        Ok(folder)
    }

    fn ask(&mut self, ticket: u64, job: Job, now: Duration) {
        let waker = self.waker.clone();
        // Access patterns can be requested without a folder of stored runs.
        let io_worker = self.io_worker.get_or_insert_with(|| IoWorker::new(PathBuf::new()));
        if let Err(error) = io_worker.ask(ticket, job, waker) {
            self.apply(Input::Answer(ticket, Answer::Refused(format!("no thread: {error}"))), now);
        }
    }
}

impl App {
    /// Begins with a run that was read for it, unless nothing waits for it any more: something may have been
    /// started since.
    pub(super) fn begin_with(
        &mut self,
        ticket: u64,
        now: Duration,
        begin: impl FnOnce(&mut App) -> Result<Input, String>,
    ) {
        if self.state.runs.awaited(ticket) && !self.state.busy() {
            self.state.notice = None;
            let input = begin(self).unwrap_or_else(Input::NotStarted);
            self.apply(input, now);
        }
    }

    /// Resumes a run in its own folder.
    pub(super) fn go_on(&mut self, run: Interrupted) -> Result<Input, String> {
        self.make_way()?;
        let ledger = Box::new(run.stored.ledger.clone());
        let running = self.runner.resume(run).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::WentOn { ledger, folder })
    }

    /// Runs the plan of a stored run again, in a folder of its own.
    pub(super) fn replay(&mut self, run: Replayable) -> Result<Input, String> {
        self.make_way()?;
        let Replayable { plan, recipe, baseline, remark } = run;
        let running = self.runner.start(plan.clone(), &recipe).map_err(|error| format!("{error:#}"))?;
        let folder = self.listen(running)?;
        Ok(Input::Replaying { plan: Box::new(plan), folder, baseline, remark })
    }
}
