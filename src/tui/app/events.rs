//! Incoming events: keys, the mouse, and messages from a run and from background threads.

use std::io;
use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind, MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::App;
use crate::run::runner::Message;
use crate::tui::commands;
use crate::tui::commands::everywhere::{BACK, QUIT, SUSPEND};
use crate::tui::commands::typing::TextInput;
use crate::tui::field::Stroke;
use crate::tui::home::background_lookups::{BackgroundLookups, BackgroundResult, Greeting};
use crate::tui::layout::Areas;
use crate::tui::panel::hints;
use crate::tui::runs::{self, Answer, IoWorker};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::update::Input;

/// Maximum number of messages processed before keys are read again.
const BURST: usize = 500;

impl App {
    /// Processes an event from the terminal.
    pub fn take(&mut self, incoming: Incoming, now: Duration) {
        // A terminal that shrank and grew back between two frames has its old size, but has lost part of the
        // frame.
        self.torn |= incoming == Incoming::Resized;
        let input = match incoming {
            Incoming::Key(key) if key.kind == KeyEventKind::Release => return,
            Incoming::Key(key) if self.waits_for_pattern(key) => return self.deferred.push_back(key),
            Incoming::Key(key) => self.meaning(key),
            Incoming::Paste(text) => Input::Pasted(text),
            Incoming::Mouse(event) => match pointed(&self.state, self.theme, self.screen, event) {
                Some(input) => input,
                None => return,
            },
            Incoming::Suspend => Input::Act(SUSPEND.actions[0]),
            Incoming::Resized | Incoming::Continued => Input::Tick,
            Incoming::Terminate => Input::Terminate,
        };
        self.apply(input, now);
    }

    /// A key for the text being typed, or a command.
    fn meaning(&self, key: KeyEvent) -> Input {
        let typed = TextInput::now(&self.state).and_then(|_| Stroke::of(key)).map(Input::Typed);
        let act = || commands::action(&self.state, key).map_or(Input::OtherKey(key), Input::Act);
        typed.unwrap_or_else(act)
    }

    /// Whether this key must wait for the pattern view that was just asked for: typed ahead, it is meant for the
    /// view. Leaving does not wait.
    fn waits_for_pattern(&mut self, key: KeyEvent) -> bool {
        let leaves = matches!(self.meaning(key), Input::Act(action) if [QUIT, BACK, SUSPEND].iter().any(|out| out.is(&action)));
        let waits = self.state.runs.awaits(runs::Awaited::Touching) && self.deferred.len() < BURST;
        if leaves {
            self.deferred.clear();
        }
        waits && !leaves
    }

    /// Acts on the keys that waited for the pattern view.
    fn catch_up(&mut self, now: Duration) {
        while !self.state.runs.awaits(runs::Awaited::Touching)
            && let Some(key) = self.deferred.pop_front()
        {
            let input = self.meaning(key);
            self.apply(input, now);
        }
    }

    /// Processes everything that the run and the background lookups have sent, without waiting for more.
    pub fn receive(&mut self, now: Duration) {
        while let Some(result) = self.background.as_ref().and_then(BackgroundLookups::next) {
            if let BackgroundResult::Greeted(Some(Greeting { hello: Some(hello), .. })) = &result
                && let Some(make) = &self.make_calibrator
            {
                let calibrator = make(hello.clone());
                self.calibrate_by(calibrator);
            }
            self.apply(Input::Home(result), now);
        }
        self.receive_outcomes(now);
        while let Some(entry) = self.more_recipes.as_ref().and_then(|entries| entries.try_recv().ok()) {
            self.state.recipes.add(entry);
            self.state.home.filter.apply(&mut self.state.recipes);
            self.frame_limiter.touch();
        }
        self.behind = false;
        self.receive_answers(now);
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
        self.behind = true;
    }

    fn receive_answers(&mut self, now: Duration) {
        for _ in 0..BURST {
            let Some((ticket, answer)) = self.io_worker.as_ref().and_then(IoWorker::next) else {
                return self.catch_up(now);
            };
            match answer {
                Answer::Reopened(run) => self.begin_with(ticket, now, |app| app.go_on(*run)),
                Answer::Replayable(run) => self.begin_with(ticket, now, |app| app.replay(*run)),
                answer => self.apply(Input::Answer(ticket, answer), now),
            }
        }
        // The messages that are already here will not wake the loop again.
        self.behind = true;
    }
}

/// Events from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Incoming {
    Key(KeyEvent),
    /// A text was pasted; its letters are not keys.
    Paste(String),
    Mouse(MouseEvent),
    /// The terminal's size changed.
    Resized,
    /// The process was asked to suspend.
    Suspend,
    /// The process continues after a suspension.
    Continued,
    /// The process was asked to end.
    Terminate,
}

/// A source of terminal events.
pub trait Source {
    /// Waits for at most `timeout`.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn next(&mut self, timeout: Duration) -> io::Result<Option<Incoming>>;

    /// Time since the program started.
    fn now(&self) -> Duration;

    /// Gives the terminal back, prints `note` on it, and suspends the program until it is continued; then takes
    /// the terminal again.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn suspend(&mut self, _note: &str) -> io::Result<()> {
        Ok(())
    }

    /// Asks the terminal to copy a text.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn copy(&mut self, _text: &str) -> io::Result<()> {
        Ok(())
    }

    /// Takes the terminal again after another process has suspended the program.
    ///
    /// # Errors
    /// If the terminal is gone.
    fn take_back(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Rows that one notch of the wheel moves.
const NOTCH: isize = 3;

/// The input that `event` stands for on this screen; `None` if it has no effect.
fn pointed(state: &State, theme: Theme, screen: Rect, event: MouseEvent) -> Option<Input> {
    let areas = Areas::new(state, screen)?;
    match event.kind {
        MouseEventKind::Down(MouseButton::Left) => click(state, theme, &areas, event),
        MouseEventKind::ScrollDown => wheel(state, &areas, event, NOTCH),
        MouseEventKind::ScrollUp => wheel(state, &areas, event, -NOTCH),
        _ => None,
    }
}

fn click(state: &State, theme: Theme, areas: &Areas, event: MouseEvent) -> Option<Input> {
    let (column, row) = (event.column, event.row);
    if areas.hints.contains(Position { x: column, y: row }) {
        return hints::at(state, theme, areas.hints, column).map(Input::Act);
    }
    let (panel, area) = areas.at(column, row).filter(|_| state.overlay.is_none())?;
    Some(Input::Click { panel, area, column, row })
}

fn wheel(state: &State, areas: &Areas, event: MouseEvent, by: isize) -> Option<Input> {
    let (column, row) = (event.column, event.row);
    // While the help is open, it receives all wheel events.
    let help = state.overlay.is_some().then_some((state.focus, areas.help));
    let (panel, area) = help.or_else(|| areas.at(column, row))?;
    Some(Input::Wheel { panel, area, column, row, by })
}
