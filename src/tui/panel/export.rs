//! The dialog that lists the files written for a run, and the commands that repeat it.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

use crate::tui::runs::Exported;
use crate::tui::theme::Theme;
use crate::tui::widgets;
use crate::tui::widgets::text::paragraph;
use crate::tui::words;

/// Maximum width of the dialog.
const WIDEST: u16 = 100;
/// Maximum rows of file names.
const FILES: usize = 4;

/// Draws the dialog in the middle of `body`, with line `selected` selected.
pub fn draw(exported: &Exported, selected: usize, theme: Theme, body: Rect, buffer: &mut Buffer) {
    let width = body.width.min(WIDEST);
    let lines = lines(exported, selected, usize::from(width).saturating_sub(4), theme);
    let height = body.height.min(lines.len() as u16 + 2);
    let (x, y) = (body.x + (body.width - width) / 2, body.y + (body.height - height) / 2);
    let area = Rect { x, y, width, height };
    let inner = widgets::dialog(" Written ", theme, area, buffer);
    // If space is tight, the selectable lines matter most.
    let skip = lines.len().saturating_sub(usize::from(inner.height));
    widgets::lines(lines.into_iter().skip(skip), inner, buffer);
}

fn lines(exported: &Exported, selected: usize, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = Vec::new();
    let mut files = words::wrap(&exported.files.join(", "), columns.max(1));
    let more = files.len().saturating_sub(FILES);
    files.truncate(FILES);
    lines.extend(files.into_iter().map(|row| Line::raw(format!(" {row}"))));
    if more > 0 {
        lines.push(Line::styled(format!(" and {more} more lines of names"), theme.dim()));
    }
    for (at, (what, text)) in exported.lines().into_iter().enumerate() {
        let marker = if at == selected { ">" } else { " " };
        lines.push(Line::styled(format!("   {what}:"), theme.dim()));
        let style = if at == selected { theme.selected(true) } else { Style::default() };
        lines.extend(paragraph(&format!(" {marker} "), text, columns + 2, style));
    }
    lines
}
