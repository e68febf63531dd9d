//! Finds the point nearest to a cell of a picture.

use ratatui::layout::Rect;

use super::pane::Pane;
use super::{Picture, Plot};

/// A candidate near a cell: squared distance, whether the candidate is a line across the panel, panel and case.
type Near = (u32, bool, usize, usize);

impl Plot<'_> {
    /// The panel and the case of the marker, mark or reference nearest to a cell of the chart drawn on `area`.
    pub fn nearest(&self, area: Rect, at: (u16, u16)) -> Option<(usize, usize)> {
        let Picture { panes, .. } = self.picture(area);
        let all = panes.iter().flat_map(|pane| self.near(pane, at));
        all.min().map(|(_, _, panel, case)| (panel, case))
    }

    /// The distances of a cell from the left and from the bottom of its panel, as shares of the visible part of
    /// the axes; `None` outside the panels.
    pub fn share(&self, area: Rect, (column, row): (u16, u16)) -> Option<(f64, f64)> {
        let Picture { panes, .. } = self.picture(area);
        let mut frames = panes.into_iter().map(|pane| pane.frame.area);
        let frame = frames.find(|frame| frame.contains((column, row).into()))?;
        let share = |cells: u16, of: u16| f64::from(cells) / f64::from(of.saturating_sub(1).max(1));
        Some((share(column - frame.x, frame.width), share(frame.bottom() - 1 - row, frame.height)))
    }

    fn near(&self, pane: &Pane, at: (u16, u16)) -> Vec<Near> {
        let (frame, panel) = (&pane.frame, self.data.panels.get(pane.panel));
        let spots = panel.into_iter().flat_map(|panel| self.spots(panel, frame));
        let near = spots.map(|spot| {
            let column = at.0.clamp(frame.area.left(), frame.area.right().saturating_sub(1));
            let place = if spot.across { (column, spot.at.1) } else { spot.at };
            (distance(place, at), spot.across, pane.panel, spot.case)
        });
        near.collect()
    }
}

/// The squared distance; cells are about twice as high as wide.
fn distance(a: (u16, u16), b: (u16, u16)) -> u32 {
    let (dx, dy) = (u32::from(a.0.abs_diff(b.0)), 2 * u32::from(a.1.abs_diff(b.1)));
    dx * dx + dy * dy
}
