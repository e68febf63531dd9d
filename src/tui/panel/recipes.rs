//! The recipes, grouped by paper or folder.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::Focus;
use crate::tui::recipes::Row;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, List, below, heading};
use crate::tui::words;

/// Rows that the whole list needs, including its heading.
pub fn rows_needed(state: &State) -> u16 {
    let filter = usize::from(state.home.filter.shows());
    u16::try_from(state.recipes.rows().len() + 1 + filter).unwrap_or(u16::MAX)
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let focused = state.focus == Focus::Recipes;
    let area = heading("Recipes", focused, theme, area, buffer);
    filter(state, theme, area, buffer);
    let rows = state.recipes.rows();
    let list = list(state, &rows, area);
    if rows.is_empty() {
        let text = if state.home.filter.shows() { "  no match" } else { "  no recipes" };
        widgets::lines([Line::styled(text, theme.dim())], list.area, buffer);
    }
    let columns = usize::from(area.width);
    list.draw(theme.selected(focused), buffer, rows.into_iter(), |row| match row {
        Row::Group(name) => Line::styled(words::fit(&format!(" {name}"), columns, theme), theme.dim()),
        Row::Entry(index) => entry(state, index, theme, columns),
    });
}

/// `/ scatter fig`, and how many of the recipes match.
fn filter(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let filter = &state.home.filter;
    if !filter.shows() || area.is_empty() {
        return;
    }
    let count = format!("{}/{} ", state.recipes.shown().len(), state.recipes.entries().len());
    let columns = usize::from(area.width);
    let room = columns.saturating_sub(words::width(&count) + 4);
    let text = match filter.typing {
        true => filter.field.shown(room, theme),
        false => words::fit(&filter.field.text(), room, theme),
    };
    let text = words::apart(&format!(" / {text}"), &count, columns, theme);
    let style = if filter.typing { theme.focus() } else { theme.title() };
    buffer.set_stringn(area.x, area.y, text, columns, style);
}

/// The list below the filter, in an area without a heading.
fn list(state: &State, rows: &[Row], area: Rect) -> List {
    let selected = state.recipes.selected();
    let selected = rows.iter().position(|r| matches!(r, Row::Entry(i) if Some(*i) == selected));
    let filter = u16::from(state.home.filter.shows());
    List::new(rows.len(), selected.unwrap_or(0), below(filter, area))
}

/// Selects the recipe at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let rows = state.recipes.rows();
    let row = list(state, &rows, below(1, area)).at(at.1);
    if let Some(Row::Entry(index)) = row.and_then(|at| rows.get(at)) {
        let index = *index;
        state.recipes.select(index);
    }
}

fn entry(state: &State, index: usize, theme: Theme, columns: usize) -> Line<'static> {
    let name = state.recipes.entries().get(index).map_or("", |entry| entry.name());
    let shown = state.run().is_some_and(|s| s.recipe == Some(index) && s.active());
    let marker = if shown { theme.symbol("▶ ", "* ") } else { "  " };
    let changed = if state.home.edits.any(index) { " *" } else { "" };
    let (mistaken, style) = match state.recipes.is_mistaken(index) {
        true => (format!(" {}", theme.failed()), theme.bad()),
        false => (String::new(), Style::default()),
    };
    let room = columns.saturating_sub(words::width(&mistaken));
    let text = words::fit(&format!(" {marker}{name}{changed}"), room, theme);
    Line::styled(format!("{text}{mistaken}"), style)
}
