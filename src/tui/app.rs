//! The event loop. It is generic over the terminal, the source of keys and the clock,
//! so that tests run the same loop.

mod effects;
mod events;
mod perform;
mod resume;
mod source;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::layout::{Position, Rect};

use super::home::background_lookups::{BackgroundLookups, Lookups};
use super::home::save::{self, Write};
use super::pacer::{POLL, Pacer};
use super::recipes::RecipeEntry;
use super::runs::IoWorker;
use super::state::{Leaving, State};
use super::theme::Theme;
use super::update::{Effect, Input, update, wanted};
use super::view::{settle, view};
use super::wake::Waker;
use super::whatif::SaveProfile;
use crate::recipe::plan::{Overrides, Plan};
use crate::run::runner::{Runner, Running};

pub use source::{Incoming, Source};

/// What is done in one turn of what the state wants, at most.
const MOST_WANTED: usize = 200;

/// What a recipe with these changes means, or what is wrong with it.
pub type Resolve = Box<dyn Fn(&RecipeEntry, &Overrides) -> Result<Plan, String>>;

/// The state and what it acts on.
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
    /// Finds out what is known of a recipe before it runs.
    background: Option<BackgroundLookups>,
    pacer: Pacer,
    /// Ends the loop's wait when the run says something.
    waker: Option<Waker>,
    /// Whether the run or the desk has said more than was taken in.
    behind: bool,
    /// Whether the person wants the program stopped.
    suspend: bool,
    /// What was drawn on last.
    screen: Rect,
    /// Whether the terminal may have lost what was drawn.
    torn: bool,
    /// Where stored runs are read, if there are any.
    pub io_worker: Option<IoWorker>,
    /// What the terminal is to copy.
    clip: Option<String>,
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
            background: None,
            pacer: Pacer::new(),
            waker: None,
            behind: false,
            suspend: false,
            screen: Rect::ZERO,
            torn: false,
            io_worker: None,
            clip: None,
        }
    }

    /// Runs until the person leaves.
    ///
    /// # Errors
    /// When the terminal cannot be read or drawn on.
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

    /// One turn of the loop, which draws what is due and then waits for input, for at
    /// most `longest`; `false` when the person leaves.
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
        if self.pacer.due(now, timing) {
            self.draw(terminal, now)?;
        }
        let now = source.now();
        let wait = self.pacer.wait(now, timing, self.idle(now)).min(longest);
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

    /// From now on what a run says ends the loop's sleep. Without it the loop looks around
    /// every now and then.
    pub fn wake_by(&mut self, waker: Waker) {
        self.background.iter_mut().for_each(|background| background.wake_by(waker.clone()));
        self.waker = Some(waker);
    }

    /// From now on the preview tells what these find out.
    pub fn find_out_by(&mut self, lookups: Lookups) {
        self.background = Some(BackgroundLookups::new(lookups));
        self.state.home.facts.found_out = true;
    }

    /// The command line that goes on with the run in this folder.
    pub fn advice(&self, folder: &Path) -> String {
        self.runner.advice(folder)
    }

    /// Stored runs are those below `root`.
    pub fn look_below(&mut self, root: PathBuf) {
        self.io_worker = Some(IoWorker::new(root));
        self.state.runs.there = true;
    }

    /// Starts the first recipe, as a person would with a key.
    pub fn begin(&mut self, now: Duration) {
        self.perform(Effect::Start(0), now);
    }

    /// Shows a line until the next key.
    pub fn notify(&mut self, notice: &str) {
        self.state.notice = Some(notice.to_owned());
        self.pacer.touch();
    }

    /// How long to sleep where nothing is to be drawn: until the clock in the header
    /// moves, or until somebody wakes us.
    fn idle(&self, now: Duration) -> Duration {
        if self.behind {
            return Duration::ZERO;
        }
        let next = Duration::from_secs(now.as_secs() + 1).saturating_sub(now);
        let ticking = self.state.active() && !self.state.hushed();
        let leaving = matches!(self.state.leaving, Leaving::Waiting { .. });
        match self.waker {
            None => POLL,
            Some(_) if ticking || leaving => next,
            Some(_) => Duration::MAX,
        }
    }

    /// What to say on the terminal while the program is stopped.
    fn parting(&self) -> &'static str {
        match self.state.active() {
            true => "scatterlab: stopped; the engine ends the round it is in, then waits: fg goes on",
            false => "scatterlab: stopped: fg goes on",
        }
    }

    /// Somebody else had the terminal: everything is drawn again.
    fn continued<B: Backend>(&mut self, terminal: &mut Terminal<B>, now: Duration) -> anyhow::Result<()>
    where
        B::Error: Send + Sync + 'static,
    {
        wipe(terminal)?;
        self.apply(Input::Continued, now);
        Ok(())
    }

    /// Leaves no engine behind: one that still works, or hangs, is killed, and its
    /// run's folder completed.
    pub fn abandon(&mut self) {
        if let Some(running) = self.running.take() {
            running.abandon();
        }
    }

    /// Draws one frame.
    ///
    /// # Errors
    /// When the terminal cannot be drawn on.
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
        self.pacer.drawn(now);
        Ok(())
    }

    /// Lets time go by: the clock in the header moves (unless every core is being timed), a
    /// missing preview is made.
    pub fn tick(&mut self, now: Duration) {
        let second = now.as_secs() != self.state.now.as_secs();
        if second && self.state.active() && !self.state.hushed() {
            self.pacer.touch();
        }
        if let Some(effect) = update(&mut self.state, Input::Tick, now) {
            self.pacer.touch();
            self.perform(effect, now);
        }
        // Each is done once, or marked as asked for; the limit is against a mistake of ours.
        for _ in 0..MOST_WANTED {
            let Some(effect) = wanted(&self.state) else { return };
            self.perform(effect, now);
        }
    }

    fn apply(&mut self, input: Input, now: Duration) {
        self.pacer.touch();
        if let Some(effect) = update(&mut self.state, input, now) {
            self.perform(effect, now);
        }
    }
}

/// Clears the terminal, so that the next frame draws everything.
fn wipe<B: Backend>(terminal: &mut Terminal<B>) -> anyhow::Result<()>
where
    B::Error: Send + Sync + 'static,
{
    // Not `clear`: it asks the terminal where its cursor is, and waits for the answer.
    let size = terminal.size().context("asking for the terminal's size")?;
    terminal.resize(Rect::from((Position::ORIGIN, size))).context("drawing on the terminal")
}
