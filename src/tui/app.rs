//! The event loop. It is generic over the terminal, the source of keys and the clock,
//! so that tests run the same loop.

use std::io;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use anyhow::Context;
use ratatui::Terminal;
use ratatui::backend::Backend;
use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

use super::command;
use super::pacer::Pacer;
use super::recipes::RecipeEntry;
use super::state::{Leaving, State};
use super::theme::Theme;
use super::update::{Effect, Input, update, wanted};
use super::view::{settle, view};
use crate::plan::Plan;
use crate::run::runner::{Message, Runner, Running};

/// Messages taken in before keys are looked at again.
const BURST: usize = 500;

/// What a recipe means, or what is wrong with it.
pub type Resolve = Box<dyn Fn(&RecipeEntry) -> Result<Plan, String>>;

/// What the terminal can tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incoming {
    Key(KeyEvent),
    /// Its size changed.
    Resized,
    /// The process was asked to end.
    Terminate,
}

/// Where keys come from.
pub trait Source {
    /// Waits for at most `timeout`.
    ///
    /// # Errors
    /// When the terminal is gone.
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>>;

    /// Time since the program started.
    fn now(&self) -> Duration;
}

/// The state and what it acts on.
pub struct App {
    pub state: State,
    theme: Theme,
    runner: Box<dyn Runner>,
    resolve: Resolve,
    running: Option<Running>,
    pacer: Pacer,
}

impl App {
    pub fn new(state: State, theme: Theme, runner: Box<dyn Runner>, resolve: Resolve) -> App {
        App { state, theme, runner, resolve, running: None, pacer: Pacer::new() }
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
        let wait = self.pacer.wait(source.now(), timing).min(longest);
        if let Some(incoming) = source.next(wait).context("reading the terminal")? {
            self.take(incoming, source.now());
        }
        Ok(true)
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
        let (state, theme) = (&mut self.state, self.theme);
        terminal
            .draw(|frame| {
                settle(state, theme, frame.area());
                view(state, theme, frame.area(), frame.buffer_mut());
            })
            .context("drawing on the terminal")?;
        self.pacer.drawn(now);
        Ok(())
    }

    /// Takes in what the terminal says.
    pub fn take(&mut self, incoming: Incoming, now: Duration) {
        let input = match incoming {
            Incoming::Key(key) if key.kind == KeyEventKind::Release => return,
            Incoming::Key(key) => command::action(&self.state, key).map_or(Input::OtherKey, Input::Act),
            Incoming::Resized => Input::Tick,
            Incoming::Terminate => Input::Terminate,
        };
        self.apply(input, now);
    }

    /// Takes in what the run has said, without waiting for more.
    pub fn receive(&mut self, now: Duration) {
        for _ in 0..BURST {
            let Some(running) = &self.running else { return };
            match running.messages.try_recv() {
                Ok(message) => {
                    let last = message == Message::Over;
                    self.apply(Input::Message(message), now);
                    if last {
                        self.running = None;
                    }
                }
                Err(TryRecvError::Empty) => return,
                Err(TryRecvError::Disconnected) => {
                    self.running = None;
                    self.apply(Input::Disconnected, now);
                }
            }
        }
    }

    /// Lets time go by: the clock in the header moves (unless every core is being timed), a
    /// missing preview is made.
    pub fn tick(&mut self, now: Duration) {
        let second = now.as_secs() != self.state.now.as_secs();
        if second && self.state.active() && !self.state.hushed() {
            self.pacer.touch();
        }
        update(&mut self.state, Input::Tick, now);
        if let Some(effect) = wanted(&self.state) {
            self.perform(effect, now);
        }
    }

    fn apply(&mut self, input: Input, now: Duration) {
        self.pacer.touch();
        if let Some(effect) = update(&mut self.state, input, now) {
            self.perform(effect, now);
        }
    }

    fn perform(&mut self, effect: Effect, now: Duration) {
        match effect {
            Effect::Resolve(index) => {
                let Some(entry) = self.state.recipes.entries().get(index) else { return };
                let plan = (self.resolve)(entry);
                self.apply(Input::Resolved(index, plan), now);
            }
            Effect::Start(index) => {
                let input = self.start(index).unwrap_or_else(Input::NotStarted);
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

    /// Starts a recipe: resolved anew, because the world may have changed since its
    /// preview was made.
    fn start(&mut self, index: usize) -> Result<Input, String> {
        let entry = self.state.recipes.entries().get(index).ok_or("there is no such recipe")?;
        let plan = (self.resolve)(entry)?;
        let running = self.runner.start(plan.clone(), &entry.text).map_err(|e| format!("{e:#}"))?;
        let folder = running.folder.clone();
        self.running = Some(running);
        Ok(Input::Started { recipe: index, plan: Box::new(plan), folder })
    }
}
