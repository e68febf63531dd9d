//! The last row: what the keys do here and now.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use crate::tui::command::{self, Command};
use crate::tui::state::State;
use crate::tui::theme::Theme;

/// The commands that the bar shows, by importance: those that would do something.
pub fn hints(state: &State) -> Vec<&'static Command> {
    let lists = command::in_force(state).into_iter().flatten();
    lists.filter(|c| c.hinted > 0 && c.enabled(state)).collect()
}

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let mut shown: Vec<Vec<Span>> = hints(state).into_iter().map(|c| hint(c, theme)).collect();
    // Help and quit stand last and stay; what does not fit before them goes.
    while shown.len() > 2 && columns(&shown) > usize::from(area.width) {
        shown.remove(shown.len() - 3);
    }
    let spans: Vec<Span> = shown.into_iter().flatten().collect();
    buffer.set_line(area.x, area.y, &Line::from(spans), area.width);
}

fn hint(command: &Command, theme: Theme) -> Vec<Span<'static>> {
    let keys = command.keys(command.hinted, theme);
    vec![
        Span::styled(format!(" {keys}"), theme.key()),
        Span::styled(format!(" {} ", command.name), theme.dim()),
    ]
}

fn columns(hints: &[Vec<Span>]) -> usize {
    hints.iter().flatten().map(Span::width).sum()
}
