//! The values of the selected recipe, each with the values it accepts.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::recipe::plan::{FormLine, Origin};
use crate::tui::field::Field;
use crate::tui::home::editor::Editor;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, List, below, heading};
use crate::tui::words;

/// Maximum rows below the list: a mistake in the recipe or its cost, and the accepted values of the selected
/// line.
const MOST_UNDER: usize = 6;
/// Maximum width of the names.
const NAMES: usize = 22;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let focused = state.focus == Focus::Editor;
    let (list, under) = parts(state, theme, area);
    let editor = &state.home.editor;
    let end = values(editor, list, focused, theme, buffer);
    widgets::lines(under, below(list.area.bottom() - area.y, area), buffer);
    let more = more(list.first, editor.lines.len() - end);
    let entry = state.recipes.entry().map_or("", |entry| entry.path.as_str());
    let room = usize::from(area.width).saturating_sub(6);
    let more = if more.is_empty() { more } else { format!("{}{more}", theme.separator()) };
    let left = room.saturating_sub(words::width(&more));
    let title = format!("{}{more}", words::fit(&format!("Editing {entry}"), left, theme));
    heading(&title, focused, theme, area, buffer);
}

/// The list in the panel's area, and the lines below it.
fn parts(state: &State, theme: Theme, area: Rect) -> (List, Vec<Line<'static>>) {
    let body = below(1, area);
    let under = under(state, usize::from(body.width), theme);
    let height = body.height - u16::try_from(under.len()).unwrap_or(u16::MAX).min(body.height / 2);
    let editor = &state.home.editor;
    let list = List::new(editor.lines.len(), editor.selected, Rect { height, ..body }).marked_in(Some(0));
    let wrong = wrong(editor, usize::from(body.width), theme);
    (list.with_lines_under(wrong.len()), under)
}

/// Draws the values, and returns the index of the first one that does not fit.
fn values(editor: &Editor, list: List, focused: bool, theme: Theme, buffer: &mut Buffer) -> usize {
    let names = editor.lines.iter().map(|line| words::width(&line.name)).max().unwrap_or(0).min(NAMES);
    let bar = if editor.field.is_none() { theme.selected(focused) } else { Style::default() };
    let columns = usize::from(list.area.width);
    list.draw(bar, buffer, editor.lines.iter().enumerate(), |(at, line)| {
        let selected = at == editor.selected;
        let field = editor.field.as_ref().filter(|_| selected);
        let row = row(line, field, names, columns, theme);
        let wrong = if selected { wrong(editor, columns, theme) } else { Vec::new() };
        [vec![row], wrong].concat()
    })
}

/// The number of lines that do not fit: `3 above, 19 below`; empty if all lines are shown.
fn more(above: usize, below: usize) -> String {
    let counts = [(above, "above"), (below, "below")];
    let words = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    words.collect::<Vec<_>>().join(", ")
}

/// A value, or the field in which it is typed.
fn row(line: &FormLine, field: Option<&Field>, names: usize, columns: usize, theme: Theme) -> Line<'static> {
    let changed = if line.origin == Origin::Changed { "*" } else { " " };
    let name = words::fit(&line.name, names, theme);
    let lead = format!(" {changed}{name:<names$} ");
    let room = columns.saturating_sub(words::width(&lead));
    let (value, style) = match (field, line.origin) {
        (Some(field), _) => (field.shown(room, theme), theme.focus()),
        (None, _) if line.value.is_empty() => (theme.missing().to_owned(), theme.dim()),
        (None, Origin::Default) => (line.value.clone(), theme.dim()),
        (None, _) => (line.value.clone(), Style::default()),
    };
    Line::from(vec![Span::raw(lead), Span::styled(words::fit(&value, room, theme), style)])
}

/// The reason why the typed value was not accepted, shown under its line. The line names the key, so it is
/// stripped from the message.
fn wrong(editor: &Editor, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let Some(error) = &editor.error else { return Vec::new() };
    let path = |lead: &str| !lead.contains([' ', '`']);
    let error =
        error.split_once(": ").filter(|(lead, _)| path(lead)).map_or(error.as_str(), |(_, rest)| rest);
    paragraph("  ! ", error, columns + 1, theme.bad())
}

/// The mistake in the recipe as a whole, or its cost; then the accepted values and the meaning of the selected
/// line.
fn under(state: &State, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let editor = &state.home.editor;
    let Some(line) = editor.line() else { return Vec::new() };
    let wrapped = |text: &str, style| paragraph(" ", text, columns.saturating_sub(1), style);
    let mut lines = Vec::new();
    match state.recipes.plan() {
        Some(Err(error)) => lines.extend(wrapped(&format!("! {error}"), theme.bad())),
        Some(Ok(plan)) => {
            let cases = plan.case_count();
            let estimate =
                super::preview::estimate(state, theme).map(|text| format!("{}{text}", theme.separator()));
            lines.extend(wrapped(&format!("{cases}{}", estimate.unwrap_or_default()), theme.good()));
        }
        None => {}
    }
    lines.extend(wrapped(&format!("{}: {}", line.name, line.accepts), Style::default()));
    if line.differs {
        lines.extend(wrapped("experiments differ; a value set here applies to all", Style::default()));
    }
    lines.extend(wrapped(&line.doc, theme.dim()));
    lines.truncate(MOST_UNDER);
    lines
}

/// Selects the value at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    // Line breaks do not depend on colours and symbols.
    if let Some(at) = parts(state, Theme::PLAIN, area).0.at(at.1) {
        state.home.editor.selected = at;
    }
}
