//! The help: every command of every panel, from the lists that dispatch the keys.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;

use super::Focus;
use crate::tui::commands::{self, Command};
use crate::tui::key::Keymap;
use crate::tui::session::Mode;
use crate::tui::theme::Theme;
use crate::tui::widgets;
use crate::tui::widgets::text::{hanging, paragraph};
use crate::tui::words;

/// Facts that belong to no command.
const ELSEWHERE: &str = "A click selects what is under the pointer or, on a hint, presses its key; the wheel scrolls. \
                         Selecting text in the terminal needs Shift while the mouse is used here. `scatterlab config` \
                         prints the file in which keys, colours, symbols and the mouse can be set.";

/// Columns for the keys.
const KEYS: usize = 14;

/// The help's lines, including headings, wrapped to `columns`.
pub fn text(mode: Mode, keymap: &Keymap, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = legend(columns, theme);
    for (title, commands) in commands::every(mode) {
        lines.push(Line::default());
        lines.push(Line::styled(title, theme.title()));
        lines.extend(commands.iter().flat_map(|c| entry(c, keymap, columns, theme)));
    }
    lines.push(Line::default());
    lines.push(Line::styled("Mouse and configuration", theme.title()));
    lines.extend(paragraph("  ", ELSEWHERE, columns, Style::default()));
    lines
}

fn legend(columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let marks = super::cases::MARKS.iter();
    // Non-breaking spaces keep a mark with its word when the line is wrapped.
    let word = |(utf8, ascii, word): &(&'static str, &'static str, &str)| {
        format!("{}\u{a0}{} ", theme.symbol(utf8, ascii), word.replace(' ', "\u{a0}"))
    };
    let words: Vec<String> = marks.map(word).collect();
    let rows = words::wrap(words.join(" ").trim_end(), columns.saturating_sub(3)).into_iter();
    let rows = rows.map(|row| Line::raw(format!("  {}", row.replace('\u{a0}', " "))));
    std::iter::once(Line::styled("Cases", theme.title())).chain(rows).collect()
}

fn entry(command: &Command, keymap: &Keymap, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let keys = commands::labels(&command.bindings(keymap), theme);
    let keys = Span::styled(format!("  {keys:<KEYS$} "), theme.key());
    hanging(keys, command.help, columns + 1, Style::default())
}

/// The line at which the commands of this panel begin.
pub fn section(focus: Focus, mode: Mode, keymap: &Keymap, theme: Theme, area: Rect) -> usize {
    let inner = Block::bordered().inner(area);
    let lines = text(mode, keymap, usize::from(inner.width), theme);
    // The legend of the case marks comes before all commands and has the same heading.
    let headed = |line: &Line| line.style == theme.title() && line.to_string() == focus.title();
    lines.iter().rposition(headed).unwrap_or(0)
}

/// The last scroll position of the help in `area`.
pub fn last_scroll(mode: Mode, keymap: &Keymap, theme: Theme, area: Rect) -> usize {
    let inner = Block::bordered().inner(area);
    widgets::text::last_scroll(&text(mode, keymap, usize::from(inner.width), theme), inner.height)
}

/// Draws the help over `area`, from line `scroll`.
pub fn draw(mode: Mode, keymap: &Keymap, scroll: usize, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let inner = widgets::dialog(" Help ", theme, area, buffer);
    let lines = text(mode, keymap, usize::from(inner.width), theme);
    widgets::lines(lines.into_iter().skip(scroll), inner, buffer);
}
