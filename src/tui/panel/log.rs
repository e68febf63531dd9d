//! The run's log, with the time since its start.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::{Focus, heading};
use crate::engine::protocol::Level;
use crate::tui::command::{self, Command};
use crate::tui::log;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

pub const COMMANDS: &[Command] = &[command::MOVE, command::PAGES, command::ENDS];

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let title = match session.log.below() {
        0 => "Log".to_owned(),
        below => format!("Log, {} below", words::number_of(below, "line")),
    };
    let area = heading(&title, state.focus == Focus::Log, theme, area, buffer);
    let lines = session.log.window(usize::from(area.height)).map(|l| line(l, area.width, theme));
    super::lines(lines, area, buffer);
}

fn line(line: &log::Line, columns: u16, theme: Theme) -> Line<'static> {
    let (sign, style) = match line.level {
        Level::Info => (" ", ratatui::style::Style::default()),
        Level::Warn => ("!", theme.warning()),
        Level::Error => (theme.symbol("✗", "x"), theme.bad()),
    };
    let at = format!("{:>6} ", words::clock(line.at));
    let text = format!("{sign} {}", line.text);
    let room = usize::from(columns).saturating_sub(words::width(&at));
    Line::from(vec![Span::styled(at, theme.dim()), Span::styled(words::fit(&text, room, theme), style)])
}
