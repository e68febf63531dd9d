//! Mouse events: a click goes to the hint or the panel under the pointer, the wheel to the panel.

use ratatui::crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::layout::{Position, Rect};

use super::layout::Areas;
use super::panel::hints;
use super::state::State;
use super::theme::Theme;
use super::update::Input;

/// Rows that one notch of the wheel moves.
const NOTCH: isize = 3;

/// The input that `event` stands for on this screen; `None` if it has no effect.
pub fn input(state: &State, theme: Theme, screen: Rect, event: MouseEvent) -> Option<Input> {
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
