//! The whole state of the terminal user interface: commands change it, and the view draws it.

use std::time::Duration;

use super::calibration::Calibration;
use super::focus::{Focus, Screen};
use super::home::Home;
use super::key::Keymap;
use super::pattern::PatternView;
use super::recipes::{RecipeEntry, Recipes};
use super::runs::Runs;
use super::session::{Mode, SILENCE, Session};
use super::whatif::WhatIf;
use crate::model::Profile;

/// Whether the devices panel is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicesPanel {
    /// The user's choice; `None`: shown if the screen is high enough.
    pub wanted: Option<bool>,
    /// Whether the last frame contained the panel.
    pub shown: bool,
}

/// A window on top of the panels. (An overlay of a chart, in contrast, is a second run drawn behind the first.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// The help, from line `scroll`. `None` until the help is first drawn, which scrolls to the keys of the
    /// focused panel.
    Help { scroll: Option<usize> },
    /// The words of the lab, from line `scroll`. `None` until they are first drawn, from those of the focused panel.
    Words { scroll: Option<usize> },
    /// The files written for a run, with line `selected` selected.
    Export { selected: usize },
}

/// How far the user is on the way out of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    No,
    /// `q` was pressed while a run is active; a second `q` confirms.
    Asked,
    /// The run was asked to stop. The program exits when the run's folder is complete, or at `until`, a time
    /// since the program started.
    Waiting {
        until: Duration,
    },
    /// The event loop ends and the program exits.
    Now,
}

/// What is known of the engine that is asked for the devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// It is to be asked.
    Unasked,
    /// It has not said hello since this time.
    Awaited { since: Duration },
    /// It has answered, or it is known why it does not.
    Known,
}

/// The connection to an engine on another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Name of the connection, such as `ssh gpuhost`.
    pub name: String,
    /// Last measured round-trip time.
    pub latency: Option<Duration>,
}

/// All that the view needs to draw a frame, and that actions change.
#[derive(Clone, Debug)]
pub struct State {
    pub mode: Mode,
    pub recipes: Recipes,
    pub home: Home,
    /// The run as it is shown.
    pub session: Option<Session>,
    /// The newest run as it is now, while `session` is a frozen copy of it or of the run before; `None` unless
    /// frozen.
    pub live: Option<Session>,
    /// The stored runs.
    pub runs: Runs,
    /// The pattern view, if it is open: the cache lines that a case touches, or its sparse matrix.
    pub pattern: Option<PatternView>,
    /// The what-if view, if it is open: predictions while the user changes figures of a profile.
    pub whatif: Option<WhatIf>,
    /// The known device profiles, from which the what-if view starts.
    pub profiles: Vec<Profile>,
    pub focus: Focus,
    pub devices_panel: DevicesPanel,
    pub overlay: Option<Overlay>,
    pub leaving: Leaving,
    /// The action that the user must ask for twice, after the first time.
    pub asked: Option<&'static str>,
    /// The response to the last key, such as why an action is impossible; shown until the next key.
    pub notice: Option<String>,
    /// What is known about calibrating the devices.
    pub calibration: Calibration,
    /// The devices of all backends, as one line of text.
    pub devices: String,
    /// Whether `devices` is the engine's answer.
    pub engine: Engine,
    /// The engine, if it is remote.
    pub remote: Option<Remote>,
    /// The bindings of keys to actions.
    pub keymap: Keymap,
    /// The current time, as the time since the program started.
    pub now: Duration,
}

impl State {
    pub fn new(recipes: Vec<RecipeEntry>, devices: String) -> State {
        State {
            mode: Mode::Run,
            recipes: Recipes::new(recipes),
            home: Home::default(),
            session: None,
            live: None,
            runs: Runs::default(),
            pattern: None,
            whatif: None,
            profiles: Vec::new(),
            focus: Focus::Recipes,
            devices_panel: DevicesPanel::default(),
            overlay: None,
            leaving: Leaving::No,
            asked: None,
            notice: None,
            calibration: Calibration::default(),
            devices,
            engine: Engine::Known,
            remote: None,
            keymap: Keymap::default(),
            now: Duration::ZERO,
        }
    }

    /// The run as it is now, even while a frozen copy is shown.
    pub fn run(&self) -> Option<&Session> {
        self.live.as_ref().or(self.session.as_ref())
    }

    /// Mutable version of [`run`](Self::run).
    pub fn run_mut(&mut self) -> Option<&mut Session> {
        self.live.as_mut().or(self.session.as_mut())
    }

    /// Freezes the screen while results arrive, or unfreezes it.
    pub fn freeze(&mut self) {
        match self.live.take() {
            Some(live) => {
                let frozen = self.session.replace(live);
                // The next run may have begun in the meantime.
                let same =
                    |frozen: &Session| self.session.as_ref().is_some_and(|s| s.folder == frozen.folder);
                if let (Some(frozen), Some(live)) = (frozen.filter(same), &mut self.session) {
                    live.look_as(frozen);
                }
            }
            None => {
                self.live = self.session.clone();
                if let Some(shown) = &mut self.session {
                    shown.frozen = Some(self.now);
                }
            }
        }
    }

    /// Whether there is a run that has not ended, so that it can be cancelled.
    pub fn active(&self) -> bool {
        self.run().is_some_and(Session::active)
    }

    /// Whether a run is about to start, or the thread that drives one is still working: after the run has ended or
    /// failed, it still writes files.
    pub fn busy(&self) -> bool {
        self.home.preparing.is_some() || self.run().is_some_and(|run| !run.all_events_seen)
    }

    /// Source of the current events; [`Mode::Watch`] while a stored run is being played.
    pub fn mode(&self) -> Mode {
        let watched = self.run().is_some_and(|run| run.mode == Mode::Watch && run.active());
        if watched { Mode::Watch } else { self.mode }
    }

    /// Whether an active run is measuring.
    pub fn measuring(&self) -> bool {
        self.active() && self.mode() != Mode::Watch
    }

    /// Whether samples are being timed, so that drawing would disturb them.
    pub fn timing(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(|run| run.timing(self.now))
    }

    /// Whether nothing but a key may cause drawing now, because the samples being timed need every core.
    pub fn drawing_paused(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(Session::drawing_paused)
    }

    /// How often the clock in the header moves. While every core is timed it stands still, and only an engine's
    /// silence is looked for.
    pub fn step(&self) -> Duration {
        if self.drawing_paused() { SILENCE } else { Duration::from_secs(1) }
    }

    /// Whether the home screen is shown rather than a run.
    pub fn at_home(&self) -> bool {
        let screen = self.focus.screen();
        screen == Screen::Home || (self.session.is_none() && screen == Screen::Run)
    }

    /// The panels that exist on the current screen, in the order in which Tab cycles through them.
    pub fn panels(&self) -> Vec<Focus> {
        let there = |panel: &Focus| match panel.screen() {
            Screen::Own => *panel == self.focus,
            Screen::Runs => self.focus.is_runs(),
            Screen::Run => !self.focus.is_apart() && self.session.is_some(),
            Screen::Home if self.focus.is_apart() || *panel == Focus::Editor => false,
            Screen::Home => *panel != Focus::Queue || !self.home.queue.is_empty(),
        };
        Focus::ALL.iter().copied().filter(there).collect()
    }
}
