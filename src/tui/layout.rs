//! The panels on the screen and their areas. On a small screen panels are left out, but never the panel with
//! the focus.

use ratatui::layout::{Position, Rect};

use super::panel::{Focus, banner, device, queue, recipes};
use super::state::State;
use super::widgets::split;

/// Smallest terminal that can show the panels.
pub const SMALLEST: (u16, u16) = (40, 10);
/// Minimum width for the lists beside the other panels.
const TWO_COLUMNS: u16 = 60;
/// Minimum height for the recipes above the cases.
const BOTH_LISTS: u16 = 26;
/// Minimum height for the samples (or the log) under the chart.
const WITH_SAMPLES: u16 = 17;
/// Minimum height for both samples and log under the chart.
const WITH_BOTH: u16 = 27;
/// Minimum height for a run's details below the list of runs.
const WITH_DETAILS: u16 = 17;
/// Minimum height of the lists for the devices below them.
const WITH_DEVICES: u16 = 34;
/// Maximum width of the help.
const HELP: u16 = 84;
/// Rows that the recipes keep above a long queue.
const RECIPES: u16 = 4;
/// Rows of the log under the chart.
const LOG: u16 = 7;

/// The areas of the screen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Areas {
    pub header: Rect,
    /// Between header and banner.
    pub body: Rect,
    pub banner: Rect,
    pub hints: Rect,
    /// The help, if it is open.
    pub help: Rect,
    /// Column between the lists and the other panels.
    pub rule: Option<Rect>,
    /// The devices panel.
    pub devices: Option<Rect>,
    /// The preview of the selected recipe.
    pub preview: Option<Rect>,
    panels: Vec<(Focus, Rect)>,
}

impl Areas {
    /// `None` if the terminal is too small.
    pub fn new(state: &State, screen: Rect) -> Option<Areas> {
        if screen.width < SMALLEST.0 || screen.height < SMALLEST.1 {
            return None;
        }
        let rows = banner::rows_needed(state, screen.width);
        let (header, rest) = split(screen, 1);
        let (rest, hints) = split(rest, rest.height - 1);
        let (body, banner) = split(rest, rest.height - rows);
        let width = body.width.min(HELP);
        let help = Rect { x: body.x + (body.width - width) / 2, width, ..body };
        let mut areas = Areas { header, body, banner, hints, help, ..Areas::default() };
        areas.columns(state, body);
        Some(areas)
    }

    /// The area of a panel, if the panel is shown.
    pub fn panel(&self, panel: Focus) -> Option<Rect> {
        self.panels.iter().find(|(p, _)| *p == panel).map(|(_, area)| *area)
    }

    /// The panel at a cell, and the panel's whole area.
    pub fn at(&self, column: u16, row: u16) -> Option<(Focus, Rect)> {
        self.panels.iter().copied().find(|(_, area)| area.contains(Position { x: column, y: row }))
    }

    fn columns(&mut self, state: &State, body: Rect) {
        if state.focus.is_apart() {
            return self.apart(state.focus, body);
        }
        let full = state.session.as_ref().is_some_and(|s| s.view.full);
        if full && state.focus == Focus::Chart {
            return self.panels.push((Focus::Chart, body));
        }
        if body.width < TWO_COLUMNS {
            return match state.focus {
                Focus::Recipes | Focus::Queue | Focus::Cases => self.lists(state, body),
                _ => self.main(state, body),
            };
        }
        let width = (body.width * 3 / 10).clamp(20, 40);
        self.rule = Some(Rect { x: body.x + width, width: 1, ..body });
        self.lists(state, Rect { width, ..body });
        self.main(state, Rect { x: body.x + width + 1, width: body.width - width - 1, ..body });
    }

    /// Places the stored runs above the details of the selected run, or a single panel.
    fn apart(&mut self, focus: Focus, body: Rect) {
        if !focus.is_runs() || body.height < WITH_DETAILS {
            return self.panels.push((focus, body));
        }
        let (list, details) = split(body, body.height / 2);
        self.panels.extend([(Focus::Runs, list), (Focus::Details, details)]);
    }

    /// Places the recipes, the cases or both, and the devices below them.
    fn lists(&mut self, state: &State, area: Rect) {
        let area = self.devices(state, area);
        if state.session.is_none() || area.height < BOTH_LISTS {
            return match state.at_home() {
                true => self.recipes(state, area),
                false => self.panels.push((Focus::Cases, area)),
            };
        }
        let queue = queue::rows_needed(state);
        let rows = recipes::rows_needed(state).saturating_add(queue);
        let (above, below) = split(area, rows.min((area.height / 3 + queue).min(area.height / 2)));
        self.recipes(state, above);
        self.panels.push((Focus::Cases, below));
    }

    /// Places the recipes, and the queue below them.
    fn recipes(&mut self, state: &State, area: Rect) {
        let queue = queue::rows_needed(state).min(area.height.saturating_sub(RECIPES).max(area.height / 3));
        let (above, below) = split(area, area.height - queue);
        self.panels.push((Focus::Recipes, above));
        if queue > 0 {
            self.panels.push((Focus::Queue, below));
        }
    }

    /// Places the devices and returns the rest for the lists. The devices get the rows they need, but at most
    /// half of the area.
    fn devices(&mut self, state: &State, area: Rect) -> Rect {
        let Some(session) = state.session.as_ref().filter(|_| !state.at_home()) else { return area };
        if !state.devices_panel.wanted.unwrap_or(area.height >= WITH_DEVICES) {
            return area;
        }
        let rows = device::rows_needed(session, area.width).min(area.height / 2);
        let (lists, devices) = split(area, area.height - rows);
        self.devices = Some(devices);
        lists
    }

    /// Places the selected recipe, or the run.
    fn main(&mut self, state: &State, area: Rect) {
        let under = (area.height * 2 / 5).clamp(7, 10);
        if state.focus == Focus::Editor {
            self.panels.push((Focus::Editor, area));
        } else if state.at_home() {
            self.preview = Some(area);
        } else if area.height < WITH_SAMPLES {
            let only = match state.focus {
                Focus::Samples | Focus::Log => state.focus,
                _ => Focus::Chart,
            };
            self.panels.push((only, area));
        } else if area.height < WITH_BOTH {
            let (chart, below) = split(area, area.height - under);
            let second = if state.focus == Focus::Log { Focus::Log } else { Focus::Samples };
            self.panels.extend([(Focus::Chart, chart), (second, below)]);
        } else {
            let (chart, rest) = split(area, area.height - under - LOG);
            let (samples, log) = split(rest, under);
            self.panels.extend([(Focus::Chart, chart), (Focus::Samples, samples), (Focus::Log, log)]);
        }
    }
}
