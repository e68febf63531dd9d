//! The state of the screen.

use std::time::Duration;

use super::chart::Ask;
use super::command::Action;
use super::controls;
use super::home::{self, Home};
use super::keymap::Keymap;
use super::panel::Focus;
use super::pattern::{self, PatternView};
use super::recipes::{RecipeEntry, Recipes};
use super::runs::{self, Runs};
use super::session::Session;
use super::whatif::{self, WhatIf};
use crate::model::Profile;

/// Source of a session's events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An engine that measures.
    #[default]
    Run,
    /// A run's folder that is played; nothing is measured.
    Watch,
    /// A run's folder that was read as a whole.
    Stored,
    /// A rehearsal: the results are invented, so that there is something to draw.
    Rehearsal,
}

/// The devices panel, which is shown if there is room, unless the user has decided otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicesPanel {
    pub wanted: Option<bool>,
    /// Whether the last frame contained the panel.
    pub shown: bool,
}

/// An overlay on top of the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// The help, from line `scroll`. `None` until the length of the help is known; then it starts at the keys
    /// of the focused panel.
    Help { scroll: Option<usize> },
    /// The files written for a run, with line `selected` selected.
    Export { selected: usize },
}

/// State of leaving the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    No,
    /// A run is active; a second `q` confirms.
    Asked,
    /// The run was asked to stop. The program leaves when the run's folder is complete, or at `until`.
    Waiting {
        until: Duration,
    },
    /// The loop ends.
    Now,
}

/// A remote engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Name of the connection, such as `ssh gpuhost`.
    pub name: String,
    /// Last measured round-trip time.
    pub latency: Option<Duration>,
}

/// The state of the user interface.
#[derive(Clone, Debug)]
pub struct State {
    pub mode: Mode,
    pub recipes: Recipes,
    pub home: Home,
    /// The run that is shown.
    pub session: Option<Session>,
    /// The run's current state while the shown one is frozen.
    pub live: Option<Session>,
    /// The stored runs.
    pub runs: Runs,
    /// The pattern view: the lines of memory that a case touches.
    pub pattern: Option<PatternView>,
    /// A profile that is being changed.
    pub whatif: Option<WhatIf>,
    /// The known profiles.
    pub profiles: Vec<Profile>,
    pub focus: Focus,
    pub devices_panel: DevicesPanel,
    pub overlay: Option<Overlay>,
    pub leaving: Leaving,
    /// A line about the last request, until the next key.
    pub notice: Option<String>,
    /// The backends' devices, in one line.
    pub devices: String,
    /// The engine, if it is remote.
    pub remote: Option<Remote>,
    /// The bindings of keys to actions.
    pub keymap: Keymap,
    /// Time since the program started.
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
            notice: None,
            devices,
            remote: None,
            keymap: Keymap::default(),
            now: Duration::ZERO,
        }
    }

    /// The run's current state, even while a frozen one is shown.
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

    /// Whether a run could be cancelled.
    pub fn active(&self) -> bool {
        self.run().is_some_and(Session::active)
    }

    /// Whether a run's thread is still working: even after a failure it still writes files.
    pub fn busy(&self) -> bool {
        self.run().is_some_and(|run| !run.told_all)
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

    /// Whether samples are being timed.
    pub fn timing(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(|run| run.timing(self.now))
    }

    /// Whether only a key may cause drawing now.
    pub fn hushed(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(Session::hushed)
    }

    /// Whether the home screen is shown rather than a run.
    pub fn at_home(&self) -> bool {
        let home = matches!(self.focus, Focus::Recipes | Focus::Editor | Focus::Queue);
        home || (self.session.is_none() && !self.focus.is_aside())
    }

    /// The panels that Tab cycles through: those that exist now.
    pub fn present(&self) -> Vec<Focus> {
        if self.focus.is_aside() {
            return self.focus.aside().to_vec();
        }
        let there = |focus: &Focus| match focus {
            Focus::Recipes => true,
            Focus::Queue => !self.home.queue.is_empty(),
            focus if focus.is_run() => self.session.is_some(),
            _ => false,
        };
        Focus::ALL.into_iter().filter(there).collect()
    }

    /// Whether `action` is possible now; the hint bar shows only such actions.
    pub fn allows(&self, action: Action) -> bool {
        let session = self.session.as_ref();
        match action {
            Action::Control(ask) => controls::allows(self, ask),
            // While a run is active, the recipe is queued; a stored run has no queue.
            Action::Start => {
                (!self.active() || self.mode() == Mode::Run) && matches!(self.recipes.plan(), Some(Ok(_)))
            }
            Action::Devices => self.focus.is_run() && session.is_some(),
            Action::Chart(ask) => !self.focus.is_aside() && session.is_some_and(|s| allows(s, ask)),
            Action::Home(ask) => home::allows(self, ask),
            Action::Runs(ask) => runs::allows(self, ask),
            Action::Pattern(look) => pattern::allows(self, look),
            Action::WhatIf(ask) => whatif::allows(self, ask),
            Action::FocusNext | Action::FocusPrevious => self.present().len() > 1,
            Action::Back => {
                self.focus != Focus::Recipes
                    || self.home.filter.shows()
                    || self.overlay.is_some()
                    || self.leaving == Leaving::Asked
            }
            Action::Follow => session.is_some_and(|s| s.active() && !s.follow),
            Action::NextPanel | Action::PreviousPanel => session.is_some_and(|s| s.chart().panels.len() > 1),
            Action::NextExperiment | Action::PreviousExperiment => {
                session.is_some_and(|s| s.ledger.plan().experiments.len() > 1)
            }
            _ => true,
        }
    }
}

/// Whether the request would change the chart.
fn allows(session: &Session, ask: Ask) -> bool {
    let look = session.view.look(session.experiment());
    let zoomed = look.x_part.is_some() || look.y_part.is_some();
    match ask {
        Ask::ZoomOut | Ask::ZoomReset | Ask::PanUp | Ask::PanDown | Ask::PanLeft | Ask::PanRight => zoomed,
        Ask::Left | Ask::Right => zoomed || session.view.cursor,
        Ask::Line(number) => number <= session.chart().styles(),
        Ask::Before => session.view.overlay().is_some() || session.view.baseline.is_some(),
        Ask::Differences => session.view.overlay().is_some() || session.predicts(),
        _ => true,
    }
}
