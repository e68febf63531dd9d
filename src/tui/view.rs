//! Draws the state.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::commands::calibration;
use super::layout::{Areas, SMALLEST};
use super::panel::{self, Face, Focus};
use super::state::{Overlay, State};
use super::theme::Theme;
use super::words;
use crate::case::units::is_unseen;

/// Draws everything into `screen`.
pub fn view(state: &State, theme: Theme, screen: Rect, buffer: &mut Buffer) {
    panels(state, theme, screen, buffer);
    visible(buffer);
    if !theme.utf8 {
        plain(buffer);
    }
}

/// Removes what has no width and what changes the direction of text: titles and names come from others. Control
/// characters never enter a buffer.
fn visible(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if !cell.symbol().is_ascii() && cell.symbol().contains(is_unseen) {
            let seen = cell.symbol().replace(is_unseen, "");
            cell.set_symbol(if seen.is_empty() { " " } else { &seen });
        }
    }
}

/// Replaces non-ASCII characters from recipes, engines and units on an ASCII terminal; the program's own
/// symbols are ASCII already.
fn plain(buffer: &mut Buffer) {
    for cell in &mut buffer.content {
        if cell.symbol().is_ascii() {
            continue;
        }
        let plain = match cell.symbol() {
            "µ" => "u",
            "…" => "~",
            "·" => "|",
            "→" => ">",
            "−" | "–" | "—" => "-",
            "×" => "x",
            "▏" => "_",
            _ => "?",
        };
        cell.set_symbol(plain);
    }
}

fn panels(state: &State, theme: Theme, screen: Rect, buffer: &mut Buffer) {
    let Some(areas) = Areas::new(state, screen) else {
        return match &state.session {
            Some(session) => panel::status::draw(session, state, theme, screen, buffer),
            None => too_small(theme, screen, buffer),
        };
    };
    let tight = screen.width < panel::status::BELOW.0 || screen.height < panel::status::BELOW.1;
    match state.session.as_ref().filter(|_| tight) {
        Some(session) => panel::status::line(session, state, theme, areas.header, buffer),
        None => panel::header::draw(state, theme, areas.header, buffer),
    }
    body(state, theme, &areas, buffer);
    match state.overlay {
        Some(Overlay::Help { scroll }) => {
            let scroll = scroll.unwrap_or_default();
            panel::help::draw(state.mode, &state.keymap, scroll, theme, areas.help, buffer);
        }
        Some(Overlay::Words { scroll }) => {
            panel::glossary::draw(scroll.unwrap_or_default(), theme, areas.help, buffer);
        }
        _ => {}
    }
    if let (Some(Overlay::Export { selected }), Some(exported)) = (state.overlay, &state.runs.exported) {
        panel::export::draw(exported, selected, theme, areas.body, buffer);
    }
    panel::banner::draw(state, theme, areas.banner, buffer);
    panel::hints::draw(state, theme, areas.hints, buffer);
}

/// Limits the scroll positions to the content, now that the size of the screen is known.
pub fn settle(state: &mut State, theme: Theme, screen: Rect) {
    let areas = Areas::new(state, screen);
    state.devices_panel.shown = areas.as_ref().is_some_and(|areas| areas.devices.is_some());
    let Some(areas) = areas else { return };
    if let Some(Overlay::Words { scroll }) = &mut state.overlay {
        panel::glossary::settle(scroll, state.focus, theme, areas.help);
    }
    if let Some(Overlay::Help { scroll }) = &mut state.overlay {
        let (mode, keymap) = (state.mode, &state.keymap);
        let own = || panel::help::section(state.focus, mode, keymap, theme, areas.help);
        // The last panel's commands may be shorter than the help, and its heading comes first all the same.
        let last = panel::help::last_scroll(mode, keymap, theme, areas.help).max(own());
        *scroll = Some(scroll.unwrap_or_else(own).min(last));
    }
    if let Some(area) = areas.panel(Focus::Details) {
        let last = panel::details::last_scroll(&state.runs, theme, area);
        state.runs.details_scroll = state.runs.details_scroll.min(last);
    }
    let offers = calibration::offer(state).is_some();
    let Some(session) = &mut state.session else { return };
    if let Some(area) = areas.panel(Focus::Chart) {
        panel::chart::paint(session, offers, theme, area);
    }
    if let Some(area) = areas.panel(Focus::Log) {
        let rows = usize::from(area.height).saturating_sub(1);
        session.log.settle(rows, panel::log::room(area.width));
    }
    if let Some(area) = areas.panel(Focus::Samples) {
        let last = panel::samples::last_scroll(session, theme, area);
        session.samples_scroll = session.samples_scroll.min(last);
    }
}

fn body(state: &State, theme: Theme, areas: &Areas, buffer: &mut Buffer) {
    if let Some(rule) = areas.rule {
        for y in rule.top()..rule.bottom() {
            buffer[(rule.x, y)].set_symbol(theme.symbol("│", "|")).set_style(theme.dim());
        }
    }
    if let Some(area) = areas.devices {
        panel::device::draw(state, theme, area, buffer);
    }
    if let Some(area) = areas.preview {
        panel::preview::draw(state, theme, area, buffer);
    }
    for (focus, area) in Focus::ALL.iter().filter_map(|focus| Some((focus, areas.panel(*focus)?))) {
        (Face::of(*focus).draw)(state, theme, area, buffer);
    }
}

fn too_small(theme: Theme, screen: Rect, buffer: &mut Buffer) {
    let (columns, rows) = SMALLEST;
    let text = format!("{columns}x{rows} or more, please; this is {}x{}", screen.width, screen.height);
    let text = words::wrap(&text, usize::from(screen.width).max(1));
    for (y, line) in (screen.top()..screen.bottom()).zip(text) {
        buffer.set_string(screen.x, y, words::fit(&line, usize::from(screen.width), theme), theme.title());
    }
}
