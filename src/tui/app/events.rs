//! Incoming events: keys, and messages from a run and from background threads.

use std::sync::mpsc::TryRecvError;
use std::time::Duration;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

use super::{App, Incoming};
use crate::run::runner::Message;
use crate::tui::commands;
use crate::tui::commands::everywhere::{BACK, QUIT, SUSPEND};
use crate::tui::commands::typing::TextInput;
use crate::tui::field::Stroke;
use crate::tui::home::background_lookups::BackgroundLookups;
use crate::tui::mouse;
use crate::tui::runs::{self, Answer, IoWorker};
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
            Incoming::Mouse(event) => match mouse::input(&self.state, self.theme, self.screen, event) {
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
