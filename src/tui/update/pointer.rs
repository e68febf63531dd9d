//! Requests of the user with the mouse.

use ratatui::layout::Rect;

use super::dismiss;
use crate::case::Snapshot;
use crate::tui::commands::Effect;
use crate::tui::commands::everywhere::{step, step_in};
use crate::tui::commands::live::drop_at;
use crate::tui::focus::Focus;
use crate::tui::panel;
use crate::tui::state::State;

/// Focuses the panel and selects the item under the pointer.
pub(super) fn click(state: &mut State, panel: Focus, area: Rect, at: (u16, u16)) -> Option<Effect> {
    if state.runs.typing.is_some() {
        return None;
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
        Focus::Live => {
            state.focus = panel;
            return drop_stone(state, area, at);
        }
        Focus::Samples | Focus::Log | Focus::Details | Focus::Pattern => {}
    }
    state.focus = panel;
    None
}

/// Drops a stone at this place of the field.
fn drop_stone(state: &mut State, area: Rect, at: (u16, u16)) -> Option<Effect> {
    let shown = state.session.as_ref().and_then(|session| session.pictures.of(session.selected))?;
    let Snapshot::Field { columns, rows, .. } = &*shown.picture else { return None };
    let at = panel::live::place(*columns, *rows, area, at)?;
    drop_at(state, at)
}

/// Turns the wheel: texts scroll, lists move their selection, the chart is zoomed.
pub(super) fn turn(state: &mut State, panel: Focus, area: Rect, at: (u16, u16), by: isize) {
    match panel {
        _ if state.overlay.is_some() => return step(state, by),
        Focus::Chart => panel::chart::wheel(state, area, at, by),
        _ => step_in(state, panel, by),
    }
    // The form belongs to the selected recipe, which has just changed.
    if panel == Focus::Recipes && state.focus == Focus::Editor {
        state.home.stop_typing();
        state.focus = Focus::Recipes;
    }
}
