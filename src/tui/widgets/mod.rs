//! Parts that several panels are made of: headings, lists, texts, maps and dialogs.

pub mod list;
pub mod map;
pub mod text;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Block, Clear, Widget};

use super::theme::Theme;
use super::words;

pub use list::List;

/// Draws a panel's heading, a title on a horizontal rule, on the first row of `area`, and returns the rest. The
/// panel with the focus has a heavy rule, and also a marker if there are no colours.
pub fn heading(title: &str, focused: bool, theme: Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    if area.is_empty() {
        return area;
    }
    let rule = match focused {
        true => theme.symbol("━", "="),
        false => theme.symbol("─", "-"),
    };
    let style = if focused { theme.focus() } else { theme.dim() };
    for x in area.left()..area.right() {
        buffer[(x, area.y)].set_symbol(rule).set_style(style);
    }
    let marker = if focused && theme.signs() { "> " } else { "" };
    let room = usize::from(area.width).saturating_sub(2);
    let text = words::fit(&format!(" {marker}{title} "), room, theme);
    let style = if focused { theme.focus() } else { theme.title() };
    buffer.set_string(area.x + 1.min(area.width - 1), area.y, text, style);
    below(1, area)
}

/// The area without its first `rows` rows, as below a heading.
pub fn below(rows: u16, area: Rect) -> Rect {
    split(area, rows).1
}

/// Splits an area into its first `rows` rows and the others.
pub fn split(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    (top, Rect { y: area.y + rows, height: area.height - rows, ..area })
}

/// Draws lines from the top of `area`, cut at its edges.
pub fn lines<'a>(lines: impl IntoIterator<Item = Line<'a>>, area: Rect, buffer: &mut Buffer) {
    for (y, line) in (area.top()..area.bottom()).zip(lines) {
        buffer.set_line(area.x, y, &line, area.width);
    }
}

/// Draws the frame of a dialog over `area`, and returns the area inside.
pub fn dialog(title: &str, theme: Theme, area: Rect, buffer: &mut Buffer) -> Rect {
    Clear.render(area, buffer);
    let block = Block::bordered().border_set(theme.border()).title(title).border_style(theme.dim());
    let inner = block.inner(area);
    block.render(area, buffer);
    inner
}
