//! The recipes, grouped by paper or folder.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::tui::command::{self, Action, Command, key};
use crate::tui::recipes::Row;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

pub const COMMANDS: &[Command] = &[
    Command {
        bindings: &[(key(KeyCode::Enter), Action::Start)],
        hinted: 1,
        name: "start",
        help: "start the selected recipe, or show its run while that is active",
    },
    command::MOVE,
    command::ENDS,
    command::PAGES,
];

/// Rows that the whole list needs, its heading included.
pub fn rows_needed(state: &State) -> u16 {
    u16::try_from(state.recipes.rows().len() + 1).unwrap_or(u16::MAX)
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let focused = state.focus == Focus::Recipes;
    let area = heading("Recipes", focused, theme, area, buffer);
    let rows = state.recipes.rows();
    if rows.is_empty() {
        buffer.set_stringn(area.x, area.y, "  no recipes", usize::from(area.width), theme.dim());
    }
    let first = first(state, &rows, area);
    for (y, row) in (area.top()..area.bottom()).zip(rows.iter().skip(first)) {
        match row {
            Row::Group(name) => {
                let text = words::fit(&format!(" {name}"), usize::from(area.width), theme);
                buffer.set_string(area.x, y, text, theme.dim());
            }
            Row::Entry(index) => entry(state, *index, theme, Rect { y, height: 1, ..area }, buffer),
        }
    }
}

/// Index of the row at the top of `area`, which has no heading.
fn first(state: &State, rows: &[Row], area: Rect) -> usize {
    let selected = state.recipes.selected();
    let selected = rows.iter().position(|r| matches!(r, Row::Entry(i) if Some(*i) == selected));
    first_row(selected.unwrap_or(0), rows.len(), usize::from(area.height))
}

/// Selects the recipe at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    let area = below_heading(area);
    let rows = state.recipes.rows();
    let Some(below) = row.checked_sub(area.y) else { return };
    if let Some(Row::Entry(index)) = rows.get(first(state, &rows, area) + usize::from(below)) {
        let index = *index;
        state.recipes.select(index);
    }
}

fn entry(state: &State, index: usize, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(entry) = state.recipes.entries().get(index) else { return };
    let selected = state.recipes.selected() == Some(index);
    let shown = state.session.as_ref().is_some_and(|s| s.recipe == index && s.active());
    let marker = match (selected, shown) {
        (true, _) => "> ",
        (_, true) => theme.symbol("▶ ", "* "),
        _ => "  ",
    };
    let text = words::fit(&format!(" {marker}{}", entry.name()), usize::from(area.width), theme);
    buffer.set_string(area.x, area.y, text, Style::default());
    if selected {
        let focused = state.focus == Focus::Recipes;
        let style = if focused { theme.selected() } else { theme.selected_elsewhere() };
        bar(area, area.y, style, buffer);
    }
}
