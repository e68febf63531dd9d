//! The rows of a chart, from its title down to the cursor's readout.

use ratatui::layout::Rect;

use super::Plot;
use super::legend::Legend;
use crate::tui::widgets::split;

/// Rows around a grid of panels besides the legend: title, name of x, note or cursor.
pub const AROUND_GRID: u16 = 3;
/// Minimum height for a row with the first note.
const WITH_NOTE: u16 = 14;
/// Minimum height for the name of x.
const WITH_X_TITLE: u16 = 7;
/// Minimum height for a pane with differences.
const WITH_RESIDUAL: u16 = 18;

/// The areas of the chart's parts; a part without room has height 0.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    pub title: Rect,
    pub legend: Rect,
    pub panes: Rect,
    pub x_title: Rect,
    pub residual: Rect,
    pub note: Rect,
    pub read_out: Rect,
}

/// Maximum number of rows of a legend.
pub fn legend_rows(area: Rect) -> u16 {
    (area.height / 4).clamp(1, 6)
}

impl Rows {
    pub fn new(plot: &Plot, area: Rect, legend: &Legend, residual: bool) -> Rows {
        let all = area.height;
        let (title, rest) = split(area, 1);
        let (legend, rest) = split(rest, legend.rows);
        let mut rows = Rows { title, legend, ..Rows::default() };
        let below = |rest: Rect, wanted: bool| split(rest, rest.height.saturating_sub(u16::from(wanted)));
        let noted = plot.data.notes.iter().any(|n| !n.reason.is_empty());
        let (rest, last) = below(rest, plot.read_out || noted && all >= WITH_NOTE);
        if plot.read_out {
            rows.read_out = last
        } else {
            rows.note = last
        }
        if residual && all >= WITH_RESIDUAL {
            let (above, below) = split(rest, rest.height - (all / 4).clamp(5, 11));
            (rows.residual, rows.panes) = (below, above);
        } else {
            rows.panes = rest;
        }
        (rows.panes, rows.x_title) = below(rows.panes, all >= WITH_X_TITLE);
        rows
    }
}
