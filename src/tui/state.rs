//! Everything that the screen shows.

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

/// Where the session's events come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// An engine that measures.
    #[default]
    Run,
    /// A run folder: nothing is measured.
    Watch,
    /// A run folder that was read as a whole.
    Stored,
    /// Nowhere: they are invented, so that there is something to draw.
    Rehearsal,
}

/// The panel of the devices, which is there where there is room unless somebody has said
/// otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DevicesPanel {
    pub wanted: Option<bool>,
    /// Whether it was drawn last.
    pub shown: bool,
}

/// What lies over the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Overlay {
    /// The help, from this line; once it is known how long the lines are, from where the panel
    /// with the focus has its keys.
    Help { scroll: Option<usize> },
    /// What was written of a run, with this of its lines selected.
    Export { selected: usize },
}

/// On the way out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaving {
    No,
    /// A run is active; a second `q` confirms.
    Asked,
    /// The run was asked to stop; we leave when its folder is complete, or then.
    Waiting {
        until: Duration,
    },
    /// The loop ends.
    Now,
}

/// An engine that is not our own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remote {
    /// Such as `ssh gpuhost`.
    pub name: String,
    /// How long a word to it and its answer took last.
    pub latency: Option<Duration>,
}

/// The whole state.
#[derive(Clone, Debug)]
pub struct State {
    pub mode: Mode,
    pub recipes: Recipes,
    pub home: Home,
    /// The run that is shown.
    pub session: Option<Session>,
    /// The run as it is, while the one that is shown is frozen.
    pub live: Option<Session>,
    /// The stored runs.
    pub runs: Runs,
    /// Which lines of memory a case touches.
    pub pattern: Option<PatternView>,
    /// A profile that is being changed.
    pub whatif: Option<WhatIf>,
    /// The profiles that are known.
    pub profiles: Vec<Profile>,
    pub focus: Focus,
    pub devices_panel: DevicesPanel,
    pub overlay: Option<Overlay>,
    pub leaving: Leaving,
    /// One line about the last thing asked for, until the next key.
    pub notice: Option<String>,
    /// What the backends run on, in one line.
    pub devices: String,
    /// The engine, where it is not our own.
    pub remote: Option<Remote>,
    /// Which keys mean what.
    pub keymap: Keymap,
    /// Since the program started.
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

    /// The run as it is now, also where a frozen one is shown.
    pub fn run(&self) -> Option<&Session> {
        self.live.as_ref().or(self.session.as_ref())
    }

    /// The same.
    pub fn run_mut(&mut self) -> Option<&mut Session> {
        self.live.as_mut().or(self.session.as_mut())
    }

    /// Keeps what is shown as it is while results arrive, or shows them again.
    pub fn freeze(&mut self) {
        match self.live.take() {
            Some(live) => {
                let frozen = self.session.replace(live);
                // Another run may have begun meanwhile.
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

    /// Whether a run's thread still works: also one that has broken off writes its files.
    pub fn busy(&self) -> bool {
        self.run().is_some_and(|run| !run.told_all)
    }

    /// Where events come from now: of a stored run that is played, from its folder.
    pub fn mode(&self) -> Mode {
        let watched = self.run().is_some_and(|run| run.mode == Mode::Watch && run.active());
        if watched { Mode::Watch } else { self.mode }
    }

    /// Whether a run is active that measures.
    pub fn measuring(&self) -> bool {
        self.active() && self.mode() != Mode::Watch
    }

    /// Whether samples are being timed.
    pub fn timing(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(|run| run.timing(self.now))
    }

    /// Whether nothing but a key may cause drawing now.
    pub fn hushed(&self) -> bool {
        self.mode() != Mode::Watch && self.run().is_some_and(Session::hushed)
    }

    /// Whether the recipes are looked at, and not a run.
    pub fn at_home(&self) -> bool {
        let home = matches!(self.focus, Focus::Recipes | Focus::Editor | Focus::Queue);
        home || (self.session.is_none() && !self.focus.is_aside())
    }

    /// The panels that Tab goes through: those that there are now.
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

    /// Whether `action` would do something now; the hint bar shows only what would.
    pub fn allows(&self, action: Action) -> bool {
        let session = self.session.as_ref();
        match action {
            Action::Control(ask) => controls::allows(self, ask),
            // While a run is active it waits for its turn; a stored run has no turns.
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

/// Whether the chart would look different.
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
