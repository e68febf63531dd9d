//! The runs that wait for the current one to end.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyCode;
use ratatui::layout::Rect;
use ratatui::style::Style;

use super::{Focus, bar, below_heading, first_row, heading};
use crate::tui::command::{self, Action, Command, char, key};
use crate::tui::home::Request;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

pub const COMMANDS: &[Command] = &[
    Command {
        bindings: &[
            (char('d'), Action::Home(Request::Remove)),
            (key(KeyCode::Delete), Action::Home(Request::Remove)),
        ],
        hinted: 1,
        name: "remove",
        help: "take the selected run out of the queue",
    },
    command::MOVE,
    command::ENDS,
    command::PAGES,
];

/// Rows of the whole queue, including its heading; 0 if the queue is empty.
pub fn rows_needed(state: &State) -> u16 {
    let waiting = state.home.queue.items().len();
    if waiting == 0 { 0 } else { u16::try_from(waiting + 1).unwrap_or(u16::MAX) }
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let (queue, focused) = (&state.home.queue, state.focus == Focus::Queue);
    let title = format!("Queue: {}", words::number_of(queue.items().len(), "run"));
    let area = heading(&title, focused, theme, area, buffer);
    let first = first(state, area);
    for (y, (at, item)) in (area.top()..area.bottom()).zip(queue.items().iter().enumerate().skip(first)) {
        let selected = focused && at == queue.selected;
        let marker = if selected { ">" } else { " " };
        let text = format!(" {marker} {} {}", at + 1, item.label());
        let text = words::fit(&text, usize::from(area.width), theme);
        buffer.set_string(area.x, y, text, Style::default());
        if selected {
            bar(area, y, theme.selected(), buffer);
        }
    }
}

/// Index of the row at the top of `area`, which has no heading.
fn first(state: &State, area: Rect) -> usize {
    let queue = &state.home.queue;
    first_row(queue.selected, queue.items().len(), usize::from(area.height))
}

/// Selects the run at this row of the screen.
pub fn click(state: &mut State, area: Rect, row: u16) {
    let area = below_heading(area);
    if let Some(below) = row.checked_sub(area.y) {
        let at = first(state, area) + usize::from(below);
        state.home.queue.select(at);
    }
}
