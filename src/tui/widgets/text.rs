//! Texts wrapped to the width of a panel.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use crate::tui::theme::Theme;
use crate::tui::words;

/// A text of one style in lines of at most `columns`, with a margin of one column to the right. The first line
/// begins with `lead`, the others with as many blanks.
pub fn paragraph(lead: &str, text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    hanging(Span::styled(lead.to_owned(), style), text, columns, style)
}

/// A name and a value; the name takes `names` columns.
pub fn fact(name: &str, names: usize, value: &str, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    hanging(Span::styled(format!(" {name:<names$} "), theme.dim()), value, columns, Style::default())
}

/// A text with a lead of another style.
pub fn hanging(lead: Span<'static>, text: &str, columns: usize, style: Style) -> Vec<Line<'static>> {
    let blank = Span::styled(" ".repeat(lead.width()), lead.style);
    let rows = words::wrap(text, columns.saturating_sub(lead.width() + 1).max(1)).into_iter().enumerate();
    let lead = |row| if row == 0 { lead.clone() } else { blank.clone() };
    rows.map(|(row, text)| Line::from(vec![lead(row), Span::styled(text, style)])).collect()
}

/// Lines of a recipe as they are, cut at the right.
pub fn source<'t>(
    lines: impl Iterator<Item = &'t str>,
    columns: usize,
    theme: Theme,
) -> impl Iterator<Item = Line<'static>> {
    lines.map(move |line| {
        Line::styled(format!("   {}", words::fit(line, columns.saturating_sub(4), theme)), theme.dim())
    })
}

/// The last line from which a text of `lines` lines is shown in an area of this height.
pub fn last_scroll(lines: &[Line], height: u16) -> usize {
    lines.len().saturating_sub(height.into())
}
