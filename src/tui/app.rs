//! The event loop. It is generic over the terminal, the source of keys and the clock,
//! so that tests run the same loop.

mod effects;
mod events;
mod perform;

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use anyhow::Context;
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::{Position, Rect};

use super::calibration::{Calibration, Calibrator, MakeCalibrator};
use super::commands::Effect;
use super::frame_limiter::{FrameLimiter, POLL};
use super::home::background_lookups::{BackgroundLookups, Lookups};
use super::home::jobs::{Jobs, Resolve};
use super::home::save::{self, Write};
use super::recipes::RecipeEntry;
use super::runs::IoWorker;
use super::state::{Engine, Leaving, State};
use super::theme::Theme;
use super::update::{Input, update, wanted};
use super::view::{settle, view};
use super::waker::Waker;
use super::whatif::SaveProfile;
use crate::run::runner::{Runner, Running};

pub use events::{Incoming, Source};

/// Upper limit on the effects carried out per turn of the loop.
const MOST_WANTED: usize = 200;

/// The state, and the services that its effects act on.
pub struct App {
    pub state: State,
    theme: Theme,
    runner: Box<dyn Runner>,
    resolve: Resolve,
    /// Writes saved recipes.
    pub write: Write,
    /// Writes saved profiles.
    pub save_profile: SaveProfile,
    running: Option<Running>,
    /// Work of the home screen that takes long.
    jobs: Jobs,
    /// Recipes that are still being read.
    pub more_recipes: Option<Receiver<RecipeEntry>>,
    /// Looks up facts about a recipe before it runs.
    background: Option<BackgroundLookups>,
    frame_limiter: FrameLimiter,
    /// Ends the loop's wait when the run sends a message.
    waker: Option<Waker>,
    /// Whether messages or answers are left that the last turn did not take in.
    behind: bool,
    /// Whether the user wants the program suspended.
    suspend: bool,
    /// Area of the last frame.
    screen: Rect,
    /// Whether the terminal may have lost the last frame.
    torn: bool,
    /// Reads stored runs, if there are any.
    pub io_worker: Option<IoWorker>,
    /// Text that the terminal is to copy.
    clip: Option<String>,
    /// Keys that were typed while the pattern view was being prepared.
    deferred: VecDeque<KeyEvent>,
    /// Calibrates devices.
    calibrator: Option<Calibrator>,
    /// Makes the calibrator once an engine has said which devices there are.
    pub make_calibrator: Option<MakeCalibrator>,
}

impl App {
    pub fn new(state: State, theme: Theme, runner: Box<dyn Runner>, resolve: Resolve) -> App {
        App {
            state,
            theme,
            runner,
            resolve,
            write: save::write,
            save_profile: |_| Err("there is no folder for profiles".to_owned()),
            running: None,
            jobs: Jobs::new(),
            more_recipes: None,
            background: None,
            frame_limiter: FrameLimiter::new(),
            waker: None,
            behind: false,
            suspend: false,
            screen: Rect::ZERO,
            torn: false,
            io_worker: None,
            clip: None,
            deferred: VecDeque::new(),
            calibrator: None,
            make_calibrator: None,
        }
    }

    /// Runs until the user leaves.
    ///
    /// # Errors
    /// If the terminal cannot be read or drawn on.
    pub fn run<B: Backend>(
        &mut self,
        terminal: &mut Terminal<B>,
        source: &mut dyn Source,
    ) -> anyhow::Result<()>
    where
        B::Error: Send + Sync + 'static,
    {
        while self.turn(terminal, source, Duration::MAX)? {}
        Ok(())
    }

    /// One turn of the loop: draws a frame if one is due, then waits for input for at most `longest`. Returns
    /// `false` once the user leaves.
    ///
    /// # Errors
    /// As for [`run`](App::run).
    pub fn turn<B: Backend>(
        &mut self,
        terminal: &mut Terminal<B>,
        source: &mut dyn Source,
        longest: Duration,
    ) -> anyhow::Result<bool>
    where
        B::Error: Send + Sync + 'static,
    {
        let now = source.now();
        self.receive(now);
        self.tick(now);
        if self.state.leaving == Leaving::Now {
            return Ok(false);
        }
        let timing = self.state.timing();
        if self.frame_limiter.due(now, timing) {
            self.draw(terminal, now)?;
        }
        let now = source.now();
        let wait = self.frame_limiter.wait(now, timing, self.idle(now)).min(longest);
        match source.next(wait).context("reading the terminal")? {
            Some(Incoming::Continued) => {
                source.take_back().context("taking the terminal back")?;
                self.continued(terminal, source.now())?;
            }
            Some(incoming) => self.take(incoming, source.now()),
            None => {}
        }
        if let Some(text) = self.clip.take() {
            source.copy(&text).context("writing to the terminal")?;
        }
        if std::mem::take(&mut self.suspend) {
            source.suspend(self.parting()).context("taking the terminal back")?;
            self.continued(terminal, source.now())?;
        }
        Ok(true)
    }

    /// From now on, messages of a run end the loop's sleep. Without a waker the loop polls.
    pub fn wake_by(&mut self, waker: Waker) {
        self.background.iter_mut().for_each(|background| background.wake_by(waker.clone()));
        self.jobs.wake_by(waker.clone());
        self.waker = Some(waker);
    }

    /// From now on, devices can be calibrated.
    pub fn calibrate_by(&mut self, calibrator: Calibrator) {
        self.state.calibration = Calibration::by(&calibrator);
        self.calibrator = Some(calibrator);
    }

    /// From now on, the preview shows the results of these lookups, and the header what the engine says.
    pub fn find_out_by(&mut self, lookups: Lookups) {
        self.background = Some(BackgroundLookups::new(lookups));
        self.state.engine = Engine::Unasked;
        self.state.home.facts.found_out = true;
    }

    /// The command line that resumes the run in this folder.
    pub fn advice(&self, folder: &Path) -> String {
        self.runner.advice(folder)
    }

    /// Looks for stored runs below `root`.
    pub fn look_below(&mut self, root: PathBuf) {
        self.io_worker = Some(IoWorker::new(root));
        self.state.runs.there = true;
    }

    /// Starts the first recipe, as a user would with a key.
    pub fn begin(&mut self, now: Duration) {
        self.perform(Effect::Start(0), now);
    }

    /// How long to sleep while nothing needs drawing: until the clock in the header changes, or until a
    /// wake-up.
    fn idle(&self, now: Duration) -> Duration {
        if self.behind {
            return Duration::ZERO;
        }
        let step = self.state.step().as_secs();
        let next = Duration::from_secs((now.as_secs() / step + 1) * step).saturating_sub(now);
        let ticking = self.state.active() || self.waits_for_engine();
        let leaving = matches!(self.state.leaving, Leaving::Waiting { .. });
        match self.waker {
            None => POLL,
            Some(_) if ticking || leaving => next,
            Some(_) => Duration::MAX,
        }
    }

    /// Whether the header counts the seconds until the engine says hello.
    fn waits_for_engine(&self) -> bool {
        matches!(self.state.engine, Engine::Awaited { .. }) && self.state.session.is_none()
    }

    /// The line printed on the terminal while the program is suspended.
    fn parting(&self) -> &'static str {
        match self.state.active() {
            true => "scatterlab: suspended; the engine finishes its round, then waits: fg continues",
            false => "scatterlab: stopped: fg continues",
        }
    }

    /// Another program had the terminal: everything is drawn again.
    fn continued<B: Backend>(&mut self, terminal: &mut Terminal<B>, now: Duration) -> anyhow::Result<()>
    where
        B::Error: Send + Sync + 'static,
    {
        wipe(terminal)?;
        self.apply(Input::Continued, now);
        Ok(())
    }

    /// Leaves no engine behind: an engine that still works, or hangs, is killed, and its run's folder is
    /// completed.
    pub fn abandon(&mut self) {
        if let Some(running) = self.running.take() {
            running.abandon();
        }
    }

    /// Draws one frame.
    ///
    /// # Errors
    /// If the terminal cannot be drawn on.
    pub fn draw<B: Backend>(&mut self, terminal: &mut Terminal<B>, now: Duration) -> anyhow::Result<()>
    where
        B::Error: Send + Sync + 'static,
    {
        if let Some(session) = &mut self.state.session {
            session.refresh();
        }
        if std::mem::take(&mut self.torn) {
            wipe(terminal)?;
        }
        let (state, theme, screen) = (&mut self.state, self.theme, &mut self.screen);
        terminal
            .draw(|frame| {
                *screen = frame.area();
                settle(state, theme, frame.area());
                view(state, theme, frame.area(), frame.buffer_mut());
            })
            .context("drawing on the terminal")?;
        self.frame_limiter.drawn(now);
        Ok(())
    }

    /// Advances the time: updates the clock in the header (unless every core is being timed), and requests a
    /// missing preview.
    pub fn tick(&mut self, now: Duration) {
        let step = self.state.step().as_secs();
        let moved = now.as_secs() / step != self.state.now.as_secs() / step;
        let silent = self.state.run().is_some_and(|run| run.silence(now).is_some());
        if moved && self.state.active() && (silent || !self.state.drawing_paused()) {
            self.frame_limiter.touch();
        }
        if moved && self.waits_for_engine() {
            self.frame_limiter.touch();
        }
        if let Some(effect) = update(&mut self.state, Input::Tick, now) {
            self.frame_limiter.touch();
            self.perform(effect, now);
        }
        // Each effect is carried out once, or marked as requested; the limit guards against a bug in this
        // program.
        for _ in 0..MOST_WANTED {
            let Some(effect) = wanted(&self.state) else { return };
            self.perform(effect, now);
        }
    }

    fn apply(&mut self, input: Input, now: Duration) {
        self.frame_limiter.touch();
        if let Some(effect) = update(&mut self.state, input, now) {
            self.perform(effect, now);
        }
    }
}

/// Clears the terminal so that the next frame draws everything.
fn wipe<B: Backend>(terminal: &mut Terminal<B>) -> anyhow::Result<()>
where
    B::Error: Send + Sync + 'static,
{
    // `clear` would ask the terminal for its cursor position and wait for the answer.
    let size = terminal.size().context("asking for the terminal's size")?;
    terminal.resize(Rect::from((Position::ORIGIN, size))).context("drawing on the terminal")
}
