//! The runs that wait for the current one to end.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::Focus;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{List, below, heading};
use crate::tui::words;

/// Rows of the whole queue, including its heading; 0 if the queue is empty.
pub fn rows_needed(state: &State) -> u16 {
    let waiting = state.home.queue.items().len();
    if waiting == 0 { 0 } else { u16::try_from(waiting + 1).unwrap_or(u16::MAX) }
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let (queue, focused) = (&state.home.queue, state.focus == Focus::Queue);
    let title = format!("Queue: {}", words::number_of(queue.items().len(), "run"));
    let area = heading(&title, focused, theme, area, buffer);
    list(state, area).draw(
        theme.selected(focused),
        buffer,
        queue.items().iter().enumerate(),
        |(at, item)| {
            let text = format!("   {} {}", at + 1, item.label());
            Line::raw(words::fit(&text, usize::from(area.width), theme))
        },
    );
}

/// The list in an area without a heading.
fn list(state: &State, area: Rect) -> List {
    let queue = &state.home.queue;
    let marker = (state.focus == Focus::Queue).then_some(1);
    List::new(queue.items().len(), queue.selected, area).marked_in(marker)
}

/// Selects the run at this cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    if let Some(at) = list(state, below(1, area)).at(at.1) {
        state.home.queue.selected = at;
    }
}
