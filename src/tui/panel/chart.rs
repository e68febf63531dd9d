//! The live chart of the shown experiment.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::{Focus, below_heading, heading};
use crate::tui::command::{self, Command};
use crate::tui::plot::Plot;
use crate::tui::session::Session;
use crate::tui::state::State;
use crate::tui::theme::Theme;

pub const COMMANDS: &[Command] =
    &[command::MOVE, command::PANELS, command::EXPERIMENTS, command::FOLLOW, command::ENDS, command::PAGES];

pub fn draw(state: &State, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(session) = &state.session else { return };
    let area = heading(&title(session, theme), state.focus == Focus::Chart, theme, area, buffer);
    let (panel, selected) = (session.panel, session.selected);
    Plot { data: session.chart(), panel, selected, theme }.draw(area, buffer);
}

/// Selects the case of the point nearest to a cell of the screen.
pub fn click(state: &mut State, area: Rect, at: (u16, u16)) {
    let Some(session) = &mut state.session else { return };
    let (panel, selected) = (session.panel, session.selected);
    // Colours and symbols do not move a point.
    let plot = Plot { data: session.chart(), panel, selected, theme: Theme::PLAIN };
    if let Some(case) = plot.nearest(below_heading(area), at) {
        session.pick(case);
    }
}

/// The experiment, and which of several panels and experiments this is.
fn title(session: &Session, theme: Theme) -> String {
    let chart = session.chart();
    let mut parts = vec![chart.title.clone()];
    let experiments = session.ledger.plan().experiments.len();
    if experiments > 1 {
        parts.push(format!("experiment {}/{experiments}", session.experiment() + 1));
    }
    let panels = chart.panels.len();
    let at = session.panel.min(panels.saturating_sub(1));
    if let Some(panel) = chart.panels.get(at).filter(|_| panels > 1) {
        parts.push(format!("panel {}/{panels}: {}", at + 1, panel.title));
    }
    parts.join(theme.separator())
}
