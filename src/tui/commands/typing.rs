//! Text fields: while one is open, characters go into the field, and a few fixed keys are commands. The
//! configuration cannot change those keys, because a letter must be typed.

use super::everywhere::{MOVE_FIELD, QUIT_FIELD, SUSPEND_FIELD};
use super::{Command, Effect, always, form, recipes, runs, whatif};
use crate::tui::field::{Field, Stroke};
use crate::tui::focus::Focus;
use crate::tui::home::Errand;
use crate::tui::state::State;

/// The text field that is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextInput {
    Filter,
    Value,
    FileName,
    /// A search of stored runs, or a note on one.
    OfRuns,
    /// The name under which a profile is saved.
    ProfileName,
}

impl TextInput {
    /// The open field; `None` while an overlay covers it.
    pub fn now(state: &State) -> Option<TextInput> {
        let home = &state.home;
        match state.focus {
            _ if state.overlay.is_some() => None,
            _ if home.saving.is_some() => Some(TextInput::FileName),
            Focus::WhatIf => state.whatif.as_ref()?.field.as_ref().map(|_| TextInput::ProfileName),
            focus if focus.is_runs() && state.runs.typing.is_some() => Some(TextInput::OfRuns),
            Focus::Editor if home.editor.field.is_some() => Some(TextInput::Value),
            Focus::Recipes if home.filter.typing => Some(TextInput::Filter),
            _ => None,
        }
    }

    /// The commands of the field's keys, besides typing.
    pub fn commands(self) -> &'static [Command] {
        match self {
            TextInput::Filter => FILTER,
            TextInput::Value => VALUE,
            TextInput::FileName => FILE_NAME,
            TextInput::OfRuns => OF_RUNS,
            TextInput::ProfileName => PROFILE_NAME,
        }
    }

    fn field(self, state: &mut State) -> Option<&mut Field> {
        match self {
            TextInput::Filter => Some(&mut state.home.filter.field),
            TextInput::Value => state.home.editor.field.as_mut(),
            TextInput::FileName => state.home.saving.as_mut().map(|saving| &mut saving.field),
            TextInput::OfRuns => state.runs.typing.as_mut().map(|typing| &mut typing.field),
            TextInput::ProfileName => state.whatif.as_mut().and_then(|view| view.field.as_mut()),
        }
    }
}

lists! {
    FILTER: KEEP_FILTER, CLEAR_FILTER, MOVE_FIELD;
    VALUE: SET_VALUE, LEAVE_VALUE;
    FILE_NAME: SAVE_RECIPE, CANCEL_RECIPE;
    OF_RUNS: KEEP_OF_RUNS, LEAVE_OF_RUNS;
    PROFILE_NAME: SAVE_PROFILE, CANCEL_PROFILE;
    /// Commands in every text field.
    FIELD: QUIT_FIELD, SUSPEND_FIELD;
}

rows! {
    KEEP_FILTER = ("keep", 1, "keep the filter and go back to the list") {
        "accept" "Enter": always => |state| state.home.filter.typing = false
    }
    CLEAR_FILTER = ("clear", 1, "show all recipes again") {
        "abandon" "Esc": always => recipes::clear_filter
    }
    SET_VALUE = ("set", 1, "take the value; an empty value restores the recipe's") {
        "accept" "Enter": always => form::accept
    }
    LEAVE_VALUE = ("leave", 1, "leave the value as it was") {
        "abandon" "Esc": always => |state| state.home.editor.close()
    }
    SAVE_RECIPE = ("save", 1, "save the recipe; asks before it replaces a file") {
        "accept" "Enter": always => |_| Some(Effect::Home(Errand::Save))
    }
    CANCEL_RECIPE = ("cancel", 1, "do not save") {
        "abandon" "Esc": always => |state| state.home.saving = None
    }
    KEEP_OF_RUNS = ("keep", 1, "keep the search or the note") {
        "accept" "Enter": always => runs::keep
    }
    LEAVE_OF_RUNS = ("leave", 1, "leave it as it was") {
        "abandon" "Esc": always => runs::discard
    }
    SAVE_PROFILE = ("save", 1, "save the profile under this name; replaces a profile of yours that has it") {
        "accept" "Enter": always => whatif::accept
    }
    CANCEL_PROFILE = ("cancel", 1, "do not save") {
        "abandon" "Esc": always => |state| state.whatif.iter_mut().for_each(|view| view.keep_unsaved())
    }
}

/// Applies an editing key to the open field.
pub fn typed(state: &mut State, stroke: Stroke) {
    let Some(input) = TextInput::now(state) else { return };
    if let Some(field) = input.field(state) {
        field.take(stroke);
    }
    match input {
        TextInput::Filter => state.home.filter.apply(&mut state.recipes),
        TextInput::Value => state.home.editor.error = None,
        TextInput::FileName => state.home.saving.iter_mut().for_each(|saving| saving.error = None),
        TextInput::OfRuns => runs::typed(&mut state.runs),
        TextInput::ProfileName => state.whatif.iter_mut().for_each(|view| view.error = None),
    }
}
