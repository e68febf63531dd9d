//! Maps values to cells.

use ratatui::layout::Rect;

use crate::report::scale::AxisScale;

/// The cells inside the axes, and the axes.
#[derive(Clone, Debug)]
pub struct Frame {
    pub area: Rect,
    /// Whether the row under the area is reserved for cases without a value.
    pub foot: bool,
    pub x: AxisScale,
    pub y: AxisScale,
}

impl Frame {
    /// The column of an x value; `None` if the axis cannot show it.
    pub fn column(&self, x: f64) -> Option<u16> {
        Some(self.column_at(self.x.position(x)?))
    }

    /// The row of a y value; `None` if the axis cannot show it.
    pub fn row(&self, y: f64) -> Option<u16> {
        Some(self.row_at(self.y.position(y)?))
    }

    /// The rows from a larger to a smaller y value, as far as they are visible.
    pub fn rows(&self, high: f64, low: f64) -> Option<(u16, u16)> {
        let (high, low) = (self.y.unbounded(high)?, self.y.unbounded(low)?);
        let shown = high >= 0.0 && low <= 1.0;
        shown.then(|| (self.row_at(high.min(1.0)), self.row_at(low.max(0.0))))
    }

    /// The column of a position from 0 (left) to 1.
    pub fn column_at(&self, position: f64) -> u16 {
        self.area.x + cell(position, self.area.width) as u16
    }

    /// The row of a position from 0 (bottom) to 1.
    pub fn row_at(&self, position: f64) -> u16 {
        self.area.y + cell(1.0 - position, self.area.height) as u16
    }

    /// The row for cases without a value.
    pub fn foot_row(&self) -> Option<u16> {
        self.foot.then(|| self.area.bottom())
    }

    /// The row of the x axis.
    pub fn rule_row(&self) -> u16 {
        self.area.bottom() + u16::from(self.foot)
    }

    /// A point in fractional cells from the upper left corner of the area; it may lie outside. Inside, its
    /// integer part is the cell of [`column`](Self::column) and [`row`](Self::row).
    pub fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let (x, y) = (self.x.unbounded(x)?, self.y.unbounded(y)?);
        Some((cell(x, self.area.width), cell(1.0 - y, self.area.height)))
    }
}

/// A position in cells, scaled so that 0 and 1 are the middles of the outer cells.
fn cell(position: f64, cells: u16) -> f64 {
    position * f64::from(cells.saturating_sub(1)) + 0.5
}
