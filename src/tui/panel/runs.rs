//! The stored runs, newest first.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::run::summary::{Summary, Tally};
use crate::tui::runs::{Entry, Listing, Runs};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::text::paragraph;
use crate::tui::widgets::{self, List, below, heading};
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
    let columns = usize::from(area.width);
    if runs.shown().len() == 0 {
        return widgets::lines(paragraph("  ", nothing(runs), columns, theme.dim()), area, buffer);
    }
    list(runs, area)
        .draw(theme.selected(focused), buffer, runs.shown(), |entry| row(runs, entry, area.width, theme));
}

/// The list in an area without a heading.
fn list(runs: &Runs, area: Rect) -> List {
    List::new(runs.shown().len(), runs.position(), area).marked_in(Some(0))
}

/// Selects the run at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    if let Some(at) = list(&state.runs, below(1, area)).at(at.1) {
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
        Listing::Done { .. } => {
            "no runs are stored here: each run that is started creates a folder in reports"
        }
    }
}

/// The mark, the date, the name with the note, and the columns.
fn row(runs: &Runs, entry: &Entry, width: u16, theme: Theme) -> Line<'static> {
    let baseline = runs.baseline.as_ref() == Some(&entry.path);
    let (mark, style) = mark(entry, baseline, theme);
    let (date, right) = (date(entry, width), columns(entry, width, theme));
    let room = usize::from(width).saturating_sub(words::width(&date) + words::width(&right) + 5);
    let name = name(entry, room, theme);
    let gap = " ".repeat(room + 1 - words::width(&name).min(room));
    Line::from(vec![
        Span::raw(" "),
        Span::styled(mark, style),
        Span::raw(" "),
        Span::styled(date, theme.dim()),
        Span::raw(" "),
        Span::styled(name, name_style(entry, theme)),
        Span::raw(format!("{gap}{right}")),
    ])
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
