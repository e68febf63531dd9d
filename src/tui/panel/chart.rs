//! The live chart of the shown experiment.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::Line;

use super::Focus;
use crate::tui::commands::calibration;
use crate::tui::plot::Selection;
use crate::tui::session::{Session, readout};
use crate::tui::state::State;
use crate::tui::theme::Theme;
use crate::tui::widgets::{self, below, heading};
use crate::tui::words;

/// One notch of the wheel zooms to this share of the visible part.
const NOTCH: f64 = 0.8;

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let offer = calibration::offer(state);
    let inner = heading(&title(session, theme), state.focus == Focus::Chart, theme, area, buffer);
    if let Some(offer) = &offer {
        let text = words::fit(&format!(" no model: {offer}"), usize::from(area.width), theme);
        widgets::lines([Line::styled(text, theme.warning())], inner, buffer);
    }
    let area = plot_area(offer.is_some(), area);
    let read = session.view.cursor.then(|| read_out(session, theme, usize::from(area.width)));
    let selection = Selection { case: session.marked(), cursor: read.as_deref() };
    let shown = session.shown();
    let plot = session.view.plot(shown, theme);
    match session.view.picture(shown, theme, area) {
        Some(picture) => plot.show(picture, selection, buffer),
        None => plot.show(&plot.picture(area), selection, buffer),
    }
}

/// Draws the part that does not depend on the selection, unless it is cached.
pub fn paint(session: &mut Session, offers: bool, theme: Theme, area: Rect) {
    session.paint(theme, plot_area(offers, area));
}

/// The area of the plot, below the heading and the row that says why there is no model.
fn plot_area(offers: bool, area: Rect) -> Rect {
    below(1 + u16::from(offers), area)
}

/// `cursor: passes 16 · 212 GB/s [205–219] …`, as much as fits.
fn read_out(session: &Session, theme: Theme, columns: usize) -> String {
    const NAME: &str = "cursor: ";
    let line = readout(session).in_line(columns.saturating_sub(NAME.len()), theme);
    format!("{NAME}{line}")
}

/// Puts the cursor on the point nearest to a cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let area = plot_area(calibration::offer(state).is_some(), area);
    let Some(session) = &mut state.session else { return };
    session.refresh();
    // Point positions do not depend on colours and symbols.
    let plot = session.view.plot(session.shown(), Theme::PLAIN);
    if let Some((panel, case)) = plot.nearest(area, at) {
        session.point_at(panel, case);
    }
}

/// Zooms around a cell of the screen; turning the wheel upwards zooms in.
pub fn wheel(state: &mut State, area: Rect, at: (u16, u16), by: isize) {
    let area = plot_area(calibration::offer(state).is_some(), area);
    let Some(session) = &mut state.session else { return };
    session.refresh();
    let plot = session.view.plot(session.shown(), Theme::PLAIN);
    let factor = if by < 0 { NOTCH } else { 1.0 / NOTCH };
    if let Some(place) = plot.share(area, at) {
        session.zoom_at(place, factor);
    }
}

/// The experiment's title, and its number among several experiments and panels.
fn title(session: &Session, theme: Theme) -> String {
    let chart = session.chart();
    let mut parts = vec![chart.title.clone()];
    parts.extend(chart.roofline.then(|| "roofline".to_owned()));
    let experiments = session.ledger.plan().experiments.len();
    if experiments > 1 {
        parts.push(format!("experiment {}/{experiments}", session.experiment() + 1));
    }
    let panels = chart.panels.len();
    let at = session.panel.min(panels.saturating_sub(1));
    if let Some(panel) = chart.panels.get(at).filter(|_| panels > 1) {
        parts.push(format!("panel {}/{panels}: {}", at + 1, panel.title));
    }
    if session.view.full {
        parts.push("Esc leaves full screen".to_owned());
    }
    parts.join(theme.separator())
}
