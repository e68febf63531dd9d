//! Every case of the run with its state. Cases that cannot run or have failed appear here with their reasons,
//! which the chart omits.

use std::time::Duration;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Focus;
use super::case_names::CaseNames;
use crate::report::claims::Outcome;
use crate::report::quantities;
use crate::run::{Record, Status};
use crate::tui::session::{Row, Session};
use crate::tui::state::State;
use crate::tui::theme::{DOUBTFUL, FAILED, Theme};
use crate::tui::widgets::{self, List, below, heading};
use crate::tui::words;

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

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let focused = state.focus == Focus::Cases;
    let title = title(session, state.now, usize::from(area.width), theme);
    let area = heading(&title, focused, theme, area, buffer);
    let rows = session.rows();
    let (experiment, list) = list(session, &rows, area);
    let mut names = experiment.and_then(|experiment| case_names(session, experiment, &rows));
    let columns = usize::from(area.width);
    let head =
        experiment.and_then(|experiment| heading_of(session, experiment, names.as_ref(), theme, columns));
    widgets::lines(head, area, buffer);
    list.draw(theme.selected(focused), buffer, rows.iter(), |row| {
        let line = match row {
            Row::Experiment(index) => {
                names = case_names(session, *index, &rows);
                heading_of(session, *index, names.as_ref(), theme, columns)
            }
            Row::Case(index) => case(session, *index, names.as_ref(), theme, columns),
            Row::Absent { first } => absent(session, *first, theme, columns),
            Row::Claim { experiment, at } => claim(session, *experiment, *at, theme, columns),
        };
        line.unwrap_or_default()
    });
}

/// The list in an area without a heading, below the heading of its first experiment, which never scrolls away, and
/// that experiment.
fn list(session: &Session, rows: &[Row], area: Rect) -> (Option<usize>, List) {
    let list = |area| List::new(rows.len(), session.selected_row(rows), area).marked_in(Some(0));
    let mut lower = list(below(1, area));
    let mut above = rows.iter().enumerate().take(lower.first + 1).rev();
    let head = above.find_map(|(at, row)| match row {
        Row::Experiment(index) => Some((at, *index)),
        _ => None,
    });
    match head.filter(|_| area.height > 1) {
        Some((at, index)) => {
            // The heading may be the first row itself.
            lower.first += usize::from(at == lower.first);
            (Some(index), lower)
        }
        None => (None, list(area)),
    }
}

/// Selects the case at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let Some(session) = &mut state.session else { return };
    let rows = session.rows();
    let row = list(session, &rows, below(1, area)).1.at(at.1);
    if let Some(Row::Case(case) | Row::Absent { first: case }) = row.and_then(|at| rows.get(at)) {
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

/// The names of the listed cases of an experiment.
fn case_names<'p>(session: &'p Session, experiment: usize, rows: &[Row]) -> Option<CaseNames<'p>> {
    let records = session.ledger.records();
    let own = rows.iter().filter_map(|row| match row {
        Row::Case(at) => Some(&records.get(*at)?.case).filter(|case| case.experiment == experiment),
        _ => None,
    });
    let plan = session.ledger.plan();
    Some(CaseNames::among(plan.experiments.get(experiment)?, session.kins.get(experiment)?, own))
}

/// The names of the axes and the unit.
fn heading_of(
    session: &Session,
    index: usize,
    names: Option<&CaseNames>,
    theme: Theme,
    columns: usize,
) -> Option<Line<'static>> {
    let plan = session.ledger.plan();
    let experiment = plan.experiments.get(index)?;
    let axes = names.map(CaseNames::head).unwrap_or_default();
    let title = if plan.experiments.len() > 1 { format!("{}: ", experiment.title) } else { String::new() };
    let room = columns.saturating_sub(4);
    let unit = quantities::column_unit(experiment.chart.y);
    // The axes say what the rows are; the title is cut first.
    let left = room.saturating_sub(words::width(&axes) + words::width(unit) + 1);
    let title =
        if words::width(&title) > left && left < 4 { String::new() } else { words::fit(&title, left, theme) };
    let text = words::apart(&format!("{title}{axes}"), unit, room, theme);
    Some(Line::from(vec![Span::raw("   "), Span::styled(text, theme.dim())]))
}

fn case(
    session: &Session,
    index: usize,
    names: Option<&CaseNames>,
    theme: Theme,
    columns: usize,
) -> Option<Line<'static>> {
    let record = session.ledger.records().get(index)?;
    let running = session.current.is_some_and(|c| c.case == index);
    let text = outcome(session, record, names, columns.saturating_sub(4), theme);
    let absent = matches!(record.status, Status::NotApplicable(_));
    Some(row(mark(record, running, theme), text, if absent { theme.dim() } else { Style::default() }))
}

/// `12 n/a: no CUDA driver`, for all cases of the experiment that cannot run.
fn absent(session: &Session, first: usize, theme: Theme, columns: usize) -> Option<Line<'static>> {
    let record = session.ledger.records().get(first)?;
    let reasons = session.absent_beside(first).filter_map(|record| match &record.status {
        Status::NotApplicable(reason) => Some((reason.as_str(), 1)),
        _ => None,
    });
    let text = words::absent_cases(reasons).unwrap_or_default();
    Some(row(mark(record, false, theme), words::fit(&text, columns.saturating_sub(4), theme), theme.dim()))
}

/// `holds, size fails · §3.5, Fig. 9: 16 passes suit the scatter best`.
fn claim(
    session: &Session,
    experiment: usize,
    at: usize,
    theme: Theme,
    columns: usize,
) -> Option<Line<'static>> {
    let claimed = session.claims.get(experiment)?.get(at)?;
    let style = match claimed.outcome {
        Outcome::Holds => theme.good(),
        Outcome::Fails => theme.bad(),
        Outcome::CannotTell(_) => theme.warning(),
        Outcome::NotApplicable(_) => theme.dim(),
    };
    let room = columns.saturating_sub(4);
    let left = room.saturating_sub(words::width(&claimed.outcomes));
    let says = format!("{}{}", theme.separator(), claimed.says);
    let text = words::fit(&claimed.outcomes, room, theme);
    let mut spans = vec![Span::raw("   "), Span::styled(text, style)];
    spans.extend((left > 6).then(|| Span::styled(words::fit(&says, left, theme), theme.dim())));
    Some(Line::from(spans))
}

fn row((mark, style): (&'static str, Style), text: String, text_style: Style) -> Line<'static> {
    let mark = Span::styled(mark, style);
    Line::from(vec![Span::raw(" "), mark, Span::raw(" "), Span::styled(text, text_style)])
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
fn outcome(
    session: &Session,
    record: &Record,
    names: Option<&CaseNames>,
    room: usize,
    theme: Theme,
) -> String {
    let quantity = session.ledger.plan().y_of(&record.case);
    let reason = match &record.status {
        Status::NotApplicable(reason) => words::absence(reason, record),
        Status::Failed(error) => error.clone(),
        _ => quantities::in_column(record, quantity).unwrap_or_default(),
    };
    let Some(names) = names else { return reason };
    let name = names.of(&record.case, usize::MAX, theme);
    let left = room.saturating_sub(words::width(&name) + 2).max(room / 2);
    let reason = words::fit(&reason, left, theme);
    let name = names.of(&record.case, room.saturating_sub(words::width(&reason) + 1), theme);
    words::apart(&name, &reason, room, theme)
}
