//! Requests of the user with the mouse.

use ratatui::layout::Rect;

use super::dismiss;
use crate::case::Snapshot;
use crate::tui::commands::everywhere::step;
use crate::tui::commands::live::drop_at;
use crate::tui::commands::{Effect, step_in};
use crate::tui::panel::{self, Face, Focus};
use crate::tui::state::State;

/// Focuses the panel and selects the item under the pointer.
pub(super) fn click(state: &mut State, panel: Focus, area: Rect, at: (u16, u16)) -> Option<Effect> {
    if state.runs.typing.is_some() {
        return None;
    }
    dismiss(state);
    state.home.stop_typing();
    (Face::of(panel).click)(state, area, at);
    state.focus = panel;
    if panel == Focus::Live { drop_stone(state, area, at) } else { None }
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
