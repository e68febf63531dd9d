//! The stored runs, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::run::summary::{Summary, Tally};
use crate::tui::runs::{Entry, Listing, Runs};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Optional columns: the minimum width of the screen, the content, and the column's maximum width.
const COLUMNS: &[(u16, Column, usize)] =
    &[(0, Column::Cases, 9), (110, Column::Host, 12), (90, Column::Backends, 15), (130, Column::Revision, 9)];

#[derive(Clone, Copy)]
enum Column {
    Host,
    Backends,
    Cases,
    Revision,
}

/// Columns of a date, with and without the year. Seconds tell apart successive runs of a recipe.
const DATE: (usize, usize) = (19, 14);
/// Minimum width for dates with years.
const WITH_YEAR: u16 = 70;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let (runs, focused) = (&state.runs, state.focus == Focus::Runs);
    let area = heading(&title(runs, theme), focused, theme, area, buffer);
    if runs.shown().len() == 0 {
        let text = words::wrap(nothing(runs), usize::from(area.width).saturating_sub(3).max(1)).into_iter();
        return super::lines(text.map(|row| Line::styled(format!("  {row}"), theme.dim())), area, buffer);
    }
    let first = first(runs, area);
    for (at, (y, entry)) in (area.top()..area.bottom()).zip(runs.shown().skip(first)).enumerate() {
        let row = Rect { y, height: 1, ..area };
        let selected = first + at == runs.position();
        draw_entry(runs, entry, selected, theme, row, buffer);
        if selected {
            bar(area, y, if focused { theme.selected() } else { theme.selected_elsewhere() }, buffer);
        }
    }
}

/// Index of the row at the top of `area`, which has no heading.
fn first(runs: &Runs, area: Rect) -> usize {
    first_row(runs.position(), runs.shown().len(), usize::from(area.height))
}

/// Selects the run at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    let area = below_heading(area);
    let Some(below) = row.checked_sub(area.y) else { return };
    let at = first(&state.runs, area) + usize::from(below);
    if at < state.runs.shown().len() {
        state.runs.select(at);
    }
}

fn title(runs: &Runs, theme: Theme) -> String {
    let count = match runs.search().is_empty() {
        true => runs.count().to_string(),
        false => format!("{} of {}", runs.shown().len(), runs.count()),
    };
    let mut parts = vec![format!("Runs {count}")];
    if !runs.search().is_empty() {
        parts.push(format!("search: {}", runs.search()));
    }
    match runs.listing {
        Listing::Reading => parts.push(theme.symbol("reading …", "reading ...").to_owned()),
        Listing::Done { more } if more > 0 => parts.push(format!("and {more} older ones")),
        Listing::Done { .. } | Listing::Never => {}
    }
    parts.join(theme.separator())
}

fn nothing(runs: &Runs) -> &'static str {
    match runs.listing {
        Listing::Reading => "",
        _ if runs.count() > 0 => "no run has these words",
        Listing::Never => "not read yet",
        Listing::Done { .. } => "no runs are stored here: each run that is started makes a folder in reports",
    }
}

/// Draws the mark, the date, the name with the note, and the columns.
fn draw_entry(runs: &Runs, entry: &Entry, selected: bool, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let marker = if selected { ">" } else { " " };
    let baseline = runs.baseline.as_ref() == Some(&entry.path);
    let (mark, style) = mark(entry, baseline, theme);
    let right = columns(entry, area.width, theme);
    let width = usize::from(area.width);
    buffer.set_stringn(area.x, area.y, marker, width, Style::default());
    buffer.set_stringn(area.x + 1, area.y, mark, width.saturating_sub(1), style);
    let date = date(entry, area.width);
    buffer.set_stringn(area.x + 3, area.y, &date, width.saturating_sub(3), theme.dim());
    let x = 4 + words::width(&date);
    let room = width.saturating_sub(x + words::width(&right) + 1);
    buffer.set_stringn(area.x + x as u16, area.y, name(entry, room, theme), room, name_style(entry, theme));
    let x = area.right().saturating_sub(words::width(&right) as u16);
    buffer.set_stringn(x, area.y, right, width, Style::default());
}

/// `2026-11-20 22:37:58`, or `11-20 22:37:58`; blanks if unknown.
fn date(entry: &Entry, width: u16) -> String {
    let (long, short) = DATE;
    let seconds: String = entry.when.chars().take(long).collect();
    match width >= WITH_YEAR {
        true => format!("{seconds:long$}"),
        false => format!("{:short$}", seconds.chars().skip(long - short).collect::<String>()),
    }
}

/// The baseline is marked `A`, as in a comparison; another run has the mark of its worst case.
fn mark(entry: &Entry, baseline: bool, theme: Theme) -> (&'static str, Style) {
    match entry.summary() {
        _ if baseline => ("A", theme.focus()),
        None => ("?", theme.bad()),
        Some(summary) if summary.tally.failed > 0 => (theme.failed(), theme.bad()),
        Some(summary) if !summary.complete => (theme.symbol("…", ":"), theme.warning()),
        Some(summary) if summary.tally.doubtful > 0 => (theme.doubtful(), theme.warning()),
        Some(_) => (theme.symbol("✓", "v"), theme.good()),
    }
}

/// The recipe with its changes, the note, and the title unless it already stands for the recipe, as far as
/// there is room. For a broken folder, its name and the error.
fn name(entry: &Entry, room: usize, theme: Theme) -> String {
    let mut parts = Vec::new();
    match &entry.content {
        Ok(summary) => {
            let recipe = entry.recipe.as_ref().unwrap_or(&summary.title);
            let words = std::iter::once(recipe).chain(&summary.overrides).map(String::as_str);
            parts.push(words.collect::<Vec<_>>().join(" "));
            parts.extend(entry.note.clone());
            parts.extend(entry.recipe.is_some().then(|| summary.title.clone()));
        }
        Err(reason) => parts.extend([entry.name.clone(), reason.clone()]),
    }
    words::fit(&parts.join(theme.separator()), room, theme)
}

fn name_style(entry: &Entry, theme: Theme) -> Style {
    if entry.content.is_ok() { Style::default() } else { theme.bad() }
}

/// The cells at the right edge.
fn columns(entry: &Entry, width: u16, theme: Theme) -> String {
    let Some(summary) = entry.summary() else { return String::new() };
    let all = COLUMNS.iter().filter(|(from, ..)| width >= *from);
    let cells: Vec<String> =
        all.map(|(_, column, columns)| cell(summary, *column, *columns, theme)).collect();
    cells.join(" ")
}

fn cell(summary: &Summary, column: Column, columns: usize, theme: Theme) -> String {
    match column {
        Column::Cases => format!("{:>columns$}", cases(summary.tally, theme)),
        Column::Host => padded(&summary.host, columns, theme),
        Column::Backends => padded(&summary.backends.join(","), columns, theme),
        Column::Revision => padded(&summary.revision, columns, theme),
    }
}

fn padded(text: &str, columns: usize, theme: Theme) -> String {
    let text = words::fit(text, columns, theme);
    let gap = columns.saturating_sub(words::width(&text));
    format!("{text}{}", " ".repeat(gap))
}

/// `12/14`, `12/14 1✗`: number of cases done, of cases that could run, and of failed cases.
fn cases(tally: Tally, theme: Theme) -> String {
    let failed = match tally.failed {
        0 => String::new(),
        failed => format!(" {failed}{}", theme.failed()),
    };
    format!("{}/{}{failed}", tally.done, tally.possible())
}
