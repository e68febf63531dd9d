//! Text fields: while one is open, characters go into the field, and a few fixed keys are commands. The
//! configuration cannot change those keys, because a letter must be typed.

use ratatui::crossterm::event::KeyCode;

use super::{Errand, Request, editor};
use crate::tui::command::{Action, Command, Key, control, key};
use crate::tui::field::{Field, Stroke};
use crate::tui::panel::Focus;
use crate::tui::runs;
use crate::tui::state::State;
use crate::tui::update::Effect;
use crate::tui::whatif::{self, WhatIf};

/// The text field that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entering {
    Filter,
    Value,
    FileName,
    /// A search of stored runs, or a note on one.
    OfRuns,
    /// The name under which a profile is saved.
    ProfileName,
}

impl Entering {
    /// The open field; `None` while an overlay covers it.
    pub fn now(state: &State) -> Option<Entering> {
        let home = &state.home;
        match state.focus {
            _ if state.overlay.is_some() => None,
            _ if home.saving.is_some() => Some(Entering::FileName),
            Focus::WhatIf => state.whatif.as_ref()?.field.as_ref().map(|_| Entering::ProfileName),
            focus if focus.is_runs() && state.runs.typing.is_some() => Some(Entering::OfRuns),
            Focus::Editor if home.editor.field.is_some() => Some(Entering::Value),
            Focus::Recipes if home.filter.typing => Some(Entering::Filter),
            _ => None,
        }
    }

    /// The commands of the field's keys, besides typing.
    pub fn commands(self) -> &'static [Command] {
        match self {
            Entering::Filter => FILTER,
            Entering::Value => VALUE,
            Entering::FileName => FILE_NAME,
            Entering::OfRuns => OF_RUNS,
            Entering::ProfileName => PROFILE_NAME,
        }
    }

    fn field(self, state: &mut State) -> Option<&mut Field> {
        match self {
            Entering::Filter => Some(&mut state.home.filter.field),
            Entering::Value => state.home.editor.field.as_mut(),
            Entering::FileName => state.home.saving.as_mut().map(|saving| &mut saving.field),
            Entering::OfRuns => state.runs.typing.as_mut().map(|typing| &mut typing.field),
            Entering::ProfileName => state.whatif.as_mut().and_then(|view| view.field.as_mut()),
        }
    }
}

const ENTER: &[(Key, Action)] = &[(key(KeyCode::Enter), Action::Home(Request::Accept))];
const ESCAPE: &[(Key, Action)] = &[(key(KeyCode::Esc), Action::Home(Request::Abandon))];

const fn enter(name: &'static str, help: &'static str) -> Command {
    Command { bindings: ENTER, hinted: 1, name, help }
}

const fn escape(name: &'static str, help: &'static str) -> Command {
    Command { bindings: ESCAPE, hinted: 1, name, help }
}

/// Commands while a filter is typed.
pub const FILTER: &[Command] = &[
    enter("keep", "keep the filter and go back to the list"),
    escape("clear", "show all recipes again"),
    Command {
        bindings: &[(key(KeyCode::Down), Action::Down), (key(KeyCode::Up), Action::Up)],
        hinted: 2,
        name: "move",
        help: "one down or up",
    },
];

/// Commands while a value is typed.
pub const VALUE: &[Command] = &[
    enter("set", "take the value; an empty value restores the recipe's"),
    escape("leave", "leave the value as it was"),
];

/// Commands while a file name is typed.
pub const FILE_NAME: &[Command] =
    &[enter("save", "save the recipe; a file that exists is asked about"), escape("cancel", "do not save")];

/// Commands while a search of stored runs, or a note on one, is typed.
pub const OF_RUNS: &[Command] =
    &[enter("keep", "keep the search or the note"), escape("leave", "leave it as it was")];

/// Commands while a profile's name is typed.
pub const PROFILE_NAME: &[Command] = &[
    enter("save", "save the profile under this name; an existing profile of yours is replaced"),
    escape("cancel", "do not save"),
];

/// Commands in every text field.
pub const FIELD: &[Command] = &[
    Command {
        bindings: &[(control('c'), Action::Quit)],
        hinted: 1,
        name: "quit",
        help: "quit; asks while a run is active",
    },
    Command {
        bindings: &[(control('z'), Action::Suspend)],
        hinted: 0,
        name: "suspend",
        help: "stop this program until the shell's fg",
    },
];

/// Applies an editing key to the open field.
pub fn typed(state: &mut State, stroke: Stroke) {
    let Some(entering) = Entering::now(state) else { return };
    if let Some(field) = entering.field(state) {
        field.take(stroke);
    }
    match entering {
        Entering::Filter => state.home.filter.apply(&mut state.recipes),
        Entering::Value => state.home.editor.error = None,
        Entering::FileName => state.home.saving.iter_mut().for_each(|saving| saving.error = None),
        Entering::OfRuns => runs::typed(&mut state.runs),
        Entering::ProfileName => state.whatif.iter_mut().for_each(|view| view.error = None),
    }
}

/// Handles Enter in the open field.
pub fn accept(state: &mut State) -> Option<Effect> {
    match Entering::now(state)? {
        Entering::Filter => state.home.filter.typing = false,
        Entering::Value => editor::accept(state),
        Entering::FileName => return Some(Effect::Home(Errand::Save)),
        Entering::OfRuns => return runs::keep(state),
        Entering::ProfileName => return whatif::accept(state),
    }
    None
}

/// Handles Esc in the open field.
pub fn abandon(state: &mut State) {
    match Entering::now(state) {
        Some(Entering::Filter) => clear_filter(state),
        Some(Entering::Value) => state.home.editor.close(),
        Some(Entering::FileName) => state.home.saving = None,
        Some(Entering::OfRuns) => runs::discard(&mut state.runs),
        Some(Entering::ProfileName) => state.whatif.iter_mut().for_each(WhatIf::keep_unsaved),
        None => {}
    }
}

/// Clears the filter, so that all recipes are shown.
pub fn clear_filter(state: &mut State) {
    state.home.filter = super::filter::Filter::default();
    state.home.filter.apply(&mut state.recipes);
}
