//! What a person asks for with the mouse.

use ratatui::layout::Rect;

use super::act::{dismiss, step, step_in};
use crate::tui::panel::{self, Focus};
use crate::tui::state::State;

/// Brings the focus to the panel, and what stands under the pointer into the selection.
pub(super) fn click(state: &mut State, panel: Focus, area: Rect, at: (u16, u16)) {
    if state.runs.typing.is_some() {
        return;
    }
    dismiss(state);
    state.home.stop_typing();
    match panel {
        Focus::Editor => panel::editor::click(state, area, at.1),
        Focus::Queue => panel::queue::click(state, area, at.1),
        Focus::Runs => panel::runs::click(state, area, at.1),
        Focus::Comparison => panel::compare::click(state, area, at.1),
        Focus::Recipes => panel::recipes::click(state, area, at.1),
        Focus::Cases => panel::cases::click(state, area, at.1),
        Focus::Chart => panel::chart::click(state, area, at),
        Focus::WhatIf => panel::whatif::click(state, area, at),
        Focus::Samples | Focus::Log | Focus::Details | Focus::Pattern => {}
    }
    state.focus = panel;
}

/// Turns the wheel: texts scroll, lists move their selection, the chart is zoomed.
pub(super) fn turn(state: &mut State, panel: Focus, area: Rect, at: (u16, u16), by: isize) {
    match panel {
        _ if state.overlay.is_some() => return step(state, by),
        Focus::Chart => panel::chart::wheel(state, area, at, by),
        _ => step_in(state, panel, by),
    }
    // The form is that of the selected recipe.
    if panel == Focus::Recipes && state.focus == Focus::Editor {
        state.home.stop_typing();
        state.focus = Focus::Recipes;
    }
}
