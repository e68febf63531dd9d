//! The run's log, with the time since its start.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Focus;
use crate::engine::protocol::Level;
use crate::tui::log;
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, heading};
use crate::tui::words;

/// Columns of a time.
const TIME: usize = 6;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let title = match session.log.below() {
        0 => "Log".to_owned(),
        below => format!("Log, {} below", words::number_of(below, "row")),
    };
    let area = heading(&title, state.focus == Focus::Log, theme, area, buffer);
    let rows = session.log.window(usize::from(area.height));
    widgets::lines(rows.into_iter().map(|row| line(row, theme)), area, buffer);
}

/// Columns that remain for the text beside times and signs.
pub fn room(columns: u16) -> usize {
    usize::from(columns).saturating_sub(TIME + 3).max(1)
}

fn line(row: log::Row<'_>, theme: Theme) -> Line<'static> {
    let (sign, style) = match row.line.level {
        Level::Info => (" ", ratatui::style::Style::default()),
        Level::Warn => ("!", theme.warning()),
        Level::Error => (theme.failed(), theme.bad()),
    };
    let (at, sign) = if row.begins { (words::clock(row.line.at), sign) } else { (String::new(), " ") };
    let text = format!("{sign} {}", row.text);
    Line::from(vec![Span::styled(format!("{at:>TIME$} "), theme.dim()), Span::styled(text, style)])
}
