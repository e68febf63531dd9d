//! The values of the selected recipe, each with the values it accepts.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::{Focus, bar, below_heading, first_row, heading};
use crate::recipe::plan::{FormLine, Origin};
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::home::Request;
use crate::tui::home::editor::Editor;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

pub const COMMANDS: &[Command] = &[
    Command {
        bindings: &[(key(KeyCode::Enter), Action::Home(Request::Change))],
        hinted: 1,
        name: "change",
        help: "type another value, as a recipe would have it: 1..64 x2, [cpu, cuda], 3%",
    },
    Command {
        bindings: &[(char('r'), Action::Home(Request::Run))],
        hinted: 1,
        name: "run",
        help: "run the recipe as it is changed, or let it wait while a run is active",
    },
    Command {
        bindings: &[(char('w'), Action::Home(Request::SaveAs))],
        hinted: 1,
        name: "save as",
        help: "save the changed recipe as a file of its own",
    },
    Command {
        bindings: &[(char('u'), Action::Home(Request::Undo)), (char('U'), Action::Home(Request::UndoAll))],
        hinted: 1,
        name: "undo",
        help: "take back what was changed of this value, or of all",
    },
    Command {
        bindings: &[(char('a'), Action::Home(Request::Enqueue))],
        hinted: 1,
        name: "queue",
        help: "let the changed recipe wait for its turn; where nothing runs it starts, and the form stays",
    },
    command::MOVE,
    command::ENDS,
    command::PAGES,
];

/// Maximum rows below the list: a mistake in the recipe or its cost, and the accepted values of the selected
/// line.
const MOST_UNDER: usize = 6;
/// Maximum width of the names.
const NAMES: usize = 22;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let body = below_heading(area);
    let under = under(state, usize::from(body.width), theme);
    let list = list(body, under.len());
    let editor = &state.home.editor;
    let first = first(editor, list);
    let end = values(editor, first, theme, list, buffer);
    super::lines(under, Rect { y: list.bottom(), height: body.bottom() - list.bottom(), ..body }, buffer);
    let more = more(first, editor.lines.len() - end);
    let entry = state.recipes.entry().map_or("", |entry| entry.path.as_str());
    let room = usize::from(area.width).saturating_sub(6);
    let more = if more.is_empty() { more } else { format!("{}{more}", theme.separator()) };
    let left = room.saturating_sub(words::width(&more));
    let title = format!("{}{more}", words::fit(&format!("Editing {entry}"), left, theme));
    heading(&title, state.focus == Focus::Editor, theme, area, buffer);
}

/// Draws the values from the line `first` on, and returns the index of the first line that does not fit.
fn values(editor: &Editor, first: usize, theme: Theme, list: Rect, buffer: &mut Buffer) -> usize {
    let names = editor.lines.iter().map(|line| words::width(&line.name)).max().unwrap_or(0).min(NAMES);
    let wrong = wrong(editor, usize::from(list.width), theme);
    let mut y = list.top();
    for (at, line) in editor.lines.iter().enumerate().skip(first) {
        if y >= list.bottom() {
            return at;
        }
        row_of(editor, at, line, names, theme, Rect { y, height: 1, ..list }, buffer);
        y += 1;
        if at != editor.selected {
            continue;
        }
        if editor.field.is_none() {
            bar(list, y - 1, theme.selected(), buffer);
        }
        let rest = Rect { y, height: list.bottom() - y, ..list };
        super::lines(wrong.iter().cloned(), rest, buffer);
        y = y.saturating_add(wrong.len() as u16).min(list.bottom());
    }
    editor.lines.len()
}

/// The number of lines that do not fit: `3 above, 19 below`; empty if all lines are shown.
fn more(above: usize, below: usize) -> String {
    let counts = [(above, "above"), (below, "below")];
    let words = counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}"));
    words.collect::<Vec<_>>().join(", ")
}

/// The area that is left for the list above `under` rows.
fn list(area: Rect, under: usize) -> Rect {
    let under = u16::try_from(under).unwrap_or(u16::MAX).min(area.height / 2);
    Rect { height: area.height - under, ..area }
}

/// Index of the line at the top.
fn first(editor: &Editor, list: Rect) -> usize {
    first_row(editor.selected, editor.lines.len(), usize::from(list.height))
}

fn row_of(
    editor: &Editor,
    at: usize,
    line: &FormLine,
    names: usize,
    theme: Theme,
    area: Rect,
    buffer: &mut Buffer,
) {
    let columns = usize::from(area.width);
    let marker = if at == editor.selected { ">" } else { " " };
    let changed = if line.origin == Origin::Changed { "*" } else { " " };
    let name = words::fit(&line.name, names, theme);
    let lead = format!("{marker}{changed}{name:<names$} ");
    let room = columns.saturating_sub(words::width(&lead));
    let field = editor.field.as_ref().filter(|_| at == editor.selected);
    let (value, style) = match (field, line.origin) {
        (Some(field), _) => (field.shown(room, theme), theme.focus()),
        (None, _) if line.value.is_empty() => (theme.missing().to_owned(), theme.dim()),
        (None, Origin::Default) => (line.value.clone(), theme.dim()),
        (None, _) => (line.value.clone(), Style::default()),
    };
    let spans = [Span::raw(lead), Span::styled(words::fit(&value, room, theme), style)];
    buffer.set_line(area.x, area.y, &Line::from(spans.to_vec()), area.width);
}

/// The reason why the typed value was not accepted, shown under its line. The line names the key, so it is
/// stripped from the message.
fn wrong(editor: &Editor, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let Some(error) = &editor.error else { return Vec::new() };
    let path = |lead: &str| !lead.contains([' ', '`']);
    let error =
        error.split_once(": ").filter(|(lead, _)| path(lead)).map_or(error.as_str(), |(_, rest)| rest);
    let rows = words::wrap(error, columns.saturating_sub(4).max(1)).into_iter().enumerate();
    let sign = |at| if at == 0 { "!" } else { " " };
    rows.map(|(at, row)| Line::styled(format!("  {} {row}", sign(at)), theme.bad())).collect()
}

/// The mistake in the recipe as a whole, or its cost; then the accepted values and the meaning of the selected
/// line.
fn under(state: &State, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let editor = &state.home.editor;
    let Some(line) = editor.line() else { return Vec::new() };
    let room = columns.saturating_sub(3).max(1);
    let wrapped = |text: String, style: Style| {
        let rows = words::wrap(&text, room).into_iter();
        rows.map(move |row| Line::styled(format!(" {row}"), style))
    };
    let mut lines: Vec<Line> = Vec::new();
    match state.recipes.plan() {
        Some(Err(error)) => lines.extend(wrapped(format!("! {error}"), theme.bad())),
        Some(Ok(plan)) => {
            let cases = words::number_of(plan.cases.len(), "case");
            let estimate =
                super::preview::estimate(state, theme).map(|text| format!("{}{text}", theme.separator()));
            lines.extend(wrapped(format!("{cases}{}", estimate.unwrap_or_default()), theme.good()));
        }
        None => {}
    }
    lines.extend(wrapped(format!("{}: {}", line.name, line.accepts), Style::default()));
    if line.differs {
        lines
            .extend(wrapped("experiments differ; one value here holds for all".to_owned(), Style::default()));
    }
    lines.extend(wrapped(line.doc.clone(), theme.dim()));
    lines.truncate(MOST_UNDER);
    lines
}

/// Selects the value at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    // Line breaks do not depend on colours and symbols.
    let under = under(state, usize::from(area.width), Theme::PLAIN).len();
    let list = list(below_heading(area), under);
    if let Some(below) = row.checked_sub(list.y).filter(|_| row < list.bottom()) {
        let at = first(&state.home.editor, list) + usize::from(below);
        state.home.editor.select(at);
    }
}
