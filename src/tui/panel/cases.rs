//! Every case of the run with its state. Cases that cannot run or have failed appear here with their reasons,
//! which the chart omits.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::recipe::plan::Quantity;
use crate::run::{Record, Status};
use crate::tui::command::{self, Command};
use crate::tui::runs::request;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::{DOUBTFUL, FAILED, Theme};
use crate::tui::{pattern, whatif, words};

pub const COMMANDS: &[Command] = &[
    command::MOVE,
    command::SKIP,
    command::AGAIN,
    command::EXPERIMENTS,
    command::PANELS,
    command::FOLLOW,
    request::EXPORT,
    request::COPY_ASIDE,
    pattern::SHOW_ASIDE,
    whatif::OPEN,
    command::ENDS,
    command::PAGES,
];

/// Symbols of the states, in Unicode and in ASCII, and their meanings.
pub const MARKS: &[(&str, &str, &str)] = &[
    ("·", ".", "pending"),
    ("▶", ">", "running"),
    ("…", ":", "some rounds"),
    ("✓", "v", "done"),
    (DOUBTFUL.0, DOUBTFUL.1, "doubtful"),
    (FAILED.0, FAILED.1, "failed"),
    ("–", "-", "n/a"),
];

/// A row of the list.
enum Row {
    Experiment(usize),
    Case(usize),
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let focused = state.focus == Focus::Cases;
    let title = title(session, state.now, usize::from(area.width), theme);
    let area = heading(&title, focused, theme, area, buffer);
    let rows = rows(session);
    let first = first(session, &rows, area);
    for (y, row) in (area.top()..area.bottom()).zip(rows.iter().skip(first)) {
        let area = Rect { y, height: 1, ..area };
        match row {
            Row::Experiment(index) => experiment(session, *index, theme, area, buffer),
            Row::Case(index) => case(session, *index, focused, theme, area, buffer),
        }
    }
}

/// Index of the row at the top of `area`, which has no heading.
fn first(session: &Session, rows: &[Row], area: Rect) -> usize {
    let selected = rows.iter().position(|r| matches!(r, Row::Case(i) if *i == session.selected));
    first_row(selected.unwrap_or(0), rows.len(), usize::from(area.height))
}

/// Selects the case at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    let Some(session) = &mut state.session else { return };
    let area = below_heading(area);
    let rows = rows(session);
    let Some(below) = row.checked_sub(area.y) else { return };
    if let Some(Row::Case(case)) = rows.get(first(session, &rows, area) + usize::from(below)) {
        session.pick(*case);
    }
}

/// The number of cases of each kind and, if there is room, the remaining time of the running case.
fn title(session: &Session, now: Duration, columns: usize, theme: Theme) -> String {
    let records = session.ledger.records();
    let done = records.iter().filter(|r| r.status == Status::Done).count();
    let absent = records.iter().filter(|r| matches!(r.status, Status::NotApplicable(_))).count();
    let rest = if absent > 0 { format!(", {absent} n/a") } else { String::new() };
    let title = format!("Cases {done}/{}{rest}", records.len() - absent);
    let left = session.case_remaining(now).map(|left| words::left(left, theme));
    let left = left.map(|left| format!("{}{} {left}", theme.separator(), theme.symbol("▶", ">")));
    // The heading has a margin of three columns, and a marker if it has the focus.
    let fits = |left: &String| words::width(&title) + words::width(left) + 6 <= columns;
    format!("{title}{}", left.filter(fits).unwrap_or_default())
}

/// The cases, grouped by experiment under a row with the names of the axes and the unit.
fn rows(session: &Session) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut experiment = None;
    for (index, record) in session.ledger.records().iter().enumerate() {
        if experiment != Some(record.case.experiment) {
            experiment = Some(record.case.experiment);
            rows.push(Row::Experiment(record.case.experiment));
        }
        rows.push(Row::Case(index));
    }
    rows
}

fn experiment(session: &Session, index: usize, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let plan = session.ledger.plan();
    let Some(experiment) = plan.experiments.get(index) else { return };
    let axes: Vec<&str> = experiment.axes.iter().map(|a| a.name.as_str()).collect();
    let title = if plan.experiments.len() > 1 { format!("{}: ", experiment.title) } else { String::new() };
    let name = format!("{title}{}", axes.join(" "));
    let room = usize::from(area.width).saturating_sub(4);
    let text = words::apart(&name, words::column_unit(experiment.chart.y), room, theme);
    buffer.set_stringn(area.x + 3, area.y, text, usize::from(area.width).saturating_sub(3), theme.dim());
}

fn case(session: &Session, index: usize, focused: bool, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(record) = session.ledger.records().get(index) else { return };
    let running = session.current.is_some_and(|c| c.case == index);
    let (mark, style) = mark(record, running, theme);
    let selected = session.selected == index;
    let marker = if selected { ">" } else { " " };
    let room = usize::from(area.width).saturating_sub(4);
    let text = outcome(session, record, &session.name(index), room, theme);
    buffer.set_stringn(area.x, area.y, marker, usize::from(area.width), Style::default());
    buffer.set_stringn(area.x + 1, area.y, mark, usize::from(area.width).saturating_sub(1), style);
    let text_style =
        if matches!(record.status, Status::NotApplicable(_)) { theme.dim() } else { Style::default() };
    buffer.set_stringn(area.x + 3, area.y, text, usize::from(area.width).saturating_sub(3), text_style);
    if selected {
        bar(area, area.y, if focused { theme.selected() } else { theme.selected_elsewhere() }, buffer);
    }
}

/// The symbol of a case's state, and its style.
pub fn mark(record: &Record, running: bool, theme: Theme) -> (&'static str, Style) {
    let (index, style) = match record.status {
        Status::NotApplicable(_) => (6, theme.dim()),
        Status::Failed(_) => (5, theme.bad()),
        _ if running => (1, theme.focus()),
        Status::Pending => (0, theme.dim()),
        Status::Partial => (2, theme.warning()),
        Status::Done if !record.flags().is_empty() => (4, theme.warning()),
        Status::Done => (3, theme.good()),
    };
    let (utf8, ascii, _) = MARKS[index];
    (theme.symbol(utf8, ascii), style)
}

/// A case's name and its value on the chart's y axis, or the reason why it has none.
fn outcome(session: &Session, record: &Record, name: &str, room: usize, theme: Theme) -> String {
    let experiment = session.ledger.plan().experiments.get(record.case.experiment);
    let quantity = experiment.map_or(Quantity::Time, |e| e.chart.y);
    let reason = match &record.status {
        Status::NotApplicable(reason) => words::absence(reason, record),
        Status::Failed(error) => error.clone(),
        _ => words::in_column(record, quantity).unwrap_or_default(),
    };
    let left = room.saturating_sub(words::width(name) + 2).max(room / 2);
    let reason = words::fit(&reason, left, theme);
    let name = words::squeeze(name, room.saturating_sub(words::width(&reason) + 1), theme);
    words::apart(&name, &reason, room, theme)
}
