//! Draws the state. Where there is little room, panels fold away; the one with the
//! focus always stays.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::panel::{self, Focus, banner};
use super::state::{Overlay, State};
use super::theme::Theme;
use super::words;

/// Smallest terminal that can show the panels.
pub const SMALLEST: (u16, u16) = (40, 10);
/// From this width on, the lists stand beside the rest.
const TWO_COLUMNS: u16 = 60;
/// From this height on, the recipes stay above the cases.
const BOTH_LISTS: u16 = 26;
/// From this height on, samples (or the log) stand under the chart.
const WITH_SAMPLES: u16 = 17;
/// From this height on, samples and log stand under the chart.
const WITH_BOTH: u16 = 27;

/// Draws everything into `screen`.
pub fn view(state: &State, theme: Theme, screen: Rect, buffer: &mut Buffer) {
    if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
        return too_small(theme, screen, buffer);
    }
    let rows = banner::rows(state, screen.width).len() as u16;
    let (header, rest) = split_top(screen, 1);
    let (rest, hints) = split_top(rest, rest.height - 1);
    let (body, banner) = split_top(rest, rest.height - rows);
    panel::header::draw(state, theme, header, buffer);
    body_panels(state, theme, body, buffer);
    if let Some(Overlay::Help { scroll }) = state.overlay {
        panel::help::draw(scroll, theme, body, buffer);
    }
    banner::draw(state, theme, banner, buffer);
    panel::hints::draw(state, theme, hints, buffer);
}

fn too_small(theme: Theme, screen: Rect, buffer: &mut Buffer) {
    let (columns, rows) = SMALLEST;
    let text = format!("{columns}x{rows} or more, please; this is {}x{}", screen.width, screen.height);
    let text = words::wrap(&text, usize::from(screen.width).max(1));
    for (y, line) in (screen.top()..screen.bottom()).zip(text) {
        buffer.set_string(screen.x, y, words::fit(&line, usize::from(screen.width), theme), theme.title());
    }
}

fn body_panels(state: &State, theme: Theme, body: Rect, buffer: &mut Buffer) {
    if body.width < TWO_COLUMNS {
        let left = matches!(state.focus, Focus::Recipes | Focus::Cases);
        return match left {
            true => lists(state, theme, body, buffer),
            false => main(state, theme, body, buffer),
        };
    }
    let width = (body.width * 3 / 10).clamp(20, 40);
    let left = Rect { width, ..body };
    let right = Rect { x: body.x + width + 1, width: body.width - width - 1, ..body };
    for y in body.top()..body.bottom() {
        buffer[(body.x + width, y)].set_symbol(theme.symbol("│", "|")).set_style(theme.dim());
    }
    lists(state, theme, left, buffer);
    main(state, theme, right, buffer);
}

/// The recipes, the cases or both.
fn lists(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    if state.session.is_none() {
        return panel::recipes::draw(state, theme, area, buffer);
    }
    if area.height < BOTH_LISTS {
        return match state.focus {
            Focus::Recipes => panel::recipes::draw(state, theme, area, buffer),
            _ => panel::cases::draw(state, theme, area, buffer),
        };
    }
    let (above, below) = split_top(area, panel::recipes::rows_needed(state).min(area.height / 3));
    panel::recipes::draw(state, theme, above, buffer);
    panel::cases::draw(state, theme, below, buffer);
}

/// The selected recipe, or the run.
fn main(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    if state.at_home() {
        return panel::preview::draw(state, theme, area, buffer);
    }
    if area.height < WITH_SAMPLES {
        return match state.focus {
            Focus::Samples => panel::samples::draw(state, theme, area, buffer),
            Focus::Log => panel::log::draw(state, theme, area, buffer),
            _ => panel::chart::draw(state, theme, area, buffer),
        };
    }
    let below = (area.height * 2 / 5).clamp(7, 10);
    if area.height < WITH_BOTH {
        let (above, below) = split_top(area, area.height - below);
        panel::chart::draw(state, theme, above, buffer);
        return match state.focus {
            Focus::Log => panel::log::draw(state, theme, below, buffer),
            _ => panel::samples::draw(state, theme, below, buffer),
        };
    }
    let (chart, rest) = split_top(area, area.height - below - 7);
    let (samples, log) = split_top(rest, below);
    panel::chart::draw(state, theme, chart, buffer);
    panel::samples::draw(state, theme, samples, buffer);
    panel::log::draw(state, theme, log, buffer);
}

/// The first `rows` rows of an area and the others.
fn split_top(area: Rect, rows: u16) -> (Rect, Rect) {
    let rows = rows.min(area.height);
    let top = Rect { height: rows, ..area };
    (top, Rect { y: area.y + rows, height: area.height - rows, ..area })
}
