//! A run in one line, if there is no room for panels: progress, the case, the remaining time. The most
//! important part comes first, because the rest may be cut.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{banner, header};
use crate::tui::session::{Phase, Session};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::words;

/// Below this size, this line replaces the header.
pub const BELOW: (u16, u16) = (60, 15);

/// Draws the status line on the first row of `area`, and the banner below it. If there is only one row, the
/// banner replaces the status line.
pub fn draw(session: &Session, state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let urgent = banner::rows_needed(state, area.width).min(area.height);
    if urgent < area.height {
        line(session, state, theme, Rect { height: 1, ..area }, buffer);
    }
    let y = area.y + area.height.saturating_sub(urgent).min(1);
    banner::draw(state, theme, Rect { y, height: urgent, ..area }, buffer);
}

/// The status line over the width of `area`.
pub fn line(session: &Session, state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let columns = usize::from(area.width);
    let text = words::fit(&text(session, state, theme, columns), columns, theme);
    buffer.set_string(area.x, area.y, text, header::style(Some(session), state.now, theme));
}

/// `▶ 14/32, 70–110 s left · passes 16 cpu`: the case is shortened first, and left out if nothing of it would
/// remain.
fn text(session: &Session, state: &State, theme: Theme, columns: usize) -> String {
    if session.phase != Phase::Running || header::stands(session) || session.silence(state.now).is_some() {
        let progress = header::progress(session, state, theme);
        let verdict = header::verdict(Some(session), columns.saturating_sub(words::width(&progress)), theme);
        return progress + &verdict;
    }
    let (done, all) = session.progress(state.now);
    let left = session.remaining(state.now).map(|left| format!(", {} left", words::left(left, theme)));
    let text = format!("{} {done}/{all}{}", theme.symbol("▶", ">"), left.unwrap_or_default());
    let case = session.current.map(|current| session.name(current.case)).unwrap_or_default();
    let separator = theme.separator();
    let room = columns.saturating_sub(words::width(&text) + words::width(separator));
    if case.is_empty() || room < 3 {
        text
    } else {
        format!("{text}{separator}{}", words::squeeze(&words::split(&case), room, theme))
    }
}
