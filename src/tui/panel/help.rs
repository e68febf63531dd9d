//! The help: every command of every panel, from the lists that dispatch the keys.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Widget};

use super::Focus;
use crate::tui::command::{self, Action, Command, MOVE, char, control, key};
use crate::tui::keymap::Keymap;
use crate::tui::state::Mode;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Commands while the help is open.
pub const COMMANDS: &[Command] = &[
    MOVE,
    command::ENDS,
    command::PAGES,
    Command {
        bindings: &[
            (char('?'), Action::Help),
            (key(KeyCode::Esc), Action::CloseHelp),
            (char('q'), Action::CloseHelp),
        ],
        hinted: 2,
        name: "close",
        help: "close the help",
    },
    Command { bindings: &[(control('c'), Action::Quit)], hinted: 1, name: "quit", help: "quit" },
    command::SUSPEND,
];

/// Facts that belong to no command.
const ELSEWHERE: &str = "A click selects what is under the pointer, on a hint it is its key; the wheel scrolls. \
    Selecting text in the terminal needs Shift while the mouse is used here. `scatterlab config` prints the \
    file in which keys, colours, symbols and the mouse can be set.";

/// Columns for the keys.
const KEYS: usize = 14;

/// The help's lines, including headings, wrapped to `columns`.
pub fn text(mode: Mode, keymap: &Keymap, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let mut lines = legend(columns, theme);
    for (title, commands) in command::every(mode) {
        lines.push(Line::default());
        lines.push(Line::styled(title, theme.title()));
        lines.extend(commands.iter().flat_map(|c| entry(c, keymap, columns, theme)));
    }
    lines.push(Line::default());
    lines.push(Line::styled("Mouse and configuration", theme.title()));
    lines.extend(
        words::wrap(ELSEWHERE, columns.saturating_sub(3).max(10))
            .into_iter()
            .map(|t| Line::raw(format!("  {t}"))),
    );
    lines
}

fn legend(columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let marks = super::cases::MARKS.iter();
    // Non-breaking spaces keep a mark with its word when the line is wrapped.
    let word = |(utf8, ascii, word): &(&'static str, &'static str, &str)| {
        format!("{}\u{a0}{} ", theme.symbol(utf8, ascii), word.replace(' ', "\u{a0}"))
    };
    let words: Vec<String> = marks.map(word).collect();
    let rows = words::wrap(words.join(" ").trim_end(), columns.saturating_sub(3).max(10)).into_iter();
    let rows = rows.map(|row| Line::raw(format!("  {}", row.replace('\u{a0}', " "))));
    std::iter::once(Line::styled("Cases", theme.title())).chain(rows).collect()
}

fn entry(command: &Command, keymap: &Keymap, columns: usize, theme: Theme) -> Vec<Line<'static>> {
    let keys = command::labels(&keymap.bindings(command), usize::MAX, theme);
    let room = columns.saturating_sub(KEYS + 3).max(10);
    let rows = words::wrap(command.help, room).into_iter().enumerate();
    rows.map(|(row, text)| {
        let keys = if row == 0 { keys.as_str() } else { "" };
        Line::from(vec![Span::styled(format!("  {keys:<KEYS$} "), theme.key()), Span::raw(text)])
    })
    .collect()
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
    text(mode, keymap, usize::from(inner.width), theme).len().saturating_sub(usize::from(inner.height))
}

/// Draws the help over `area`, from line `scroll`.
pub fn draw(mode: Mode, keymap: &Keymap, scroll: usize, theme: Theme, area: Rect, buffer: &mut Buffer) {
    Clear.render(area, buffer);
    let block = Block::bordered().border_set(theme.border()).title(" Help ").border_style(theme.dim());
    let inner = block.inner(area);
    block.render(area, buffer);
    let lines = text(mode, keymap, usize::from(inner.width), theme);
    super::lines(lines.into_iter().skip(scroll), inner, buffer);
}
