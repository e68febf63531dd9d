//! How far the measured points are from what lies behind them, in a pane of its own
//! under the chart, column under column.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Plot;
use super::axes::{self, Ticks};
use super::frame::Frame;
use super::pane::dashes;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::unit::Unit;
use crate::tui::chart::overlay::{Difference, Overlay};
use crate::tui::words;

/// The pane before it is drawn.
#[derive(Clone, Debug)]
pub struct Residual {
    differences: Vec<Difference>,
    name: String,
    scale: AxisScale,
}

impl Residual {
    /// The differences of a panel; `None` where there are none.
    pub fn new(plot: &Plot, overlay: &Overlay, panel: usize) -> Option<Residual> {
        let shown = |d: &Difference| plot.look.shows(d.style);
        let all = overlay.differences(plot.data, panel);
        let differences: Vec<Difference> = all.into_iter().filter(shown).collect();
        let values: Vec<f64> = differences.iter().map(|d| d.per_cent).collect();
        let scale = AxisScale::measured_as(&values, Spacing::Linear, Unit::Percent);
        (!differences.is_empty()).then(|| Residual { differences, name: overlay.name.clone(), scale })
    }

    /// The ticks on so many rows. Where there is room for two at most, which may leave zero
    /// alone, they are zero and both ends.
    pub fn ticks(&self, rows: u16) -> Ticks {
        let ticks = axes::ticks(&self.scale, rows);
        let (low, high) = self.scale.ends();
        let ends = [low, high].into_iter().filter(|end| *end != 0.0).chain([0.0]);
        let tick = |value| Some((self.scale.position(value)?, self.scale.label(value)));
        if ticks.len() > 2 { ticks } else { ends.filter_map(tick).collect() }
    }

    /// Draws it into `area`, whose columns are those of the chart's `above`.
    pub fn draw(&self, plot: &Plot, above: &Frame, area: Rect, buffer: &mut Buffer) {
        let unit = if plot.data.y.relative_to.is_some() { "percentage points" } else { "%" };
        let title = format!("difference to {}, {unit}", self.name);
        let title = words::fit(&title, usize::from(area.width), plot.theme);
        buffer.set_string(area.x, area.y, title, plot.theme.dim());
        let inner = Rect { x: above.area.x, width: above.area.width, y: area.y + 1, height: area.height - 1 };
        let frame = Frame { area: inner, foot: false, x: above.x.clone(), y: self.scale.clone() };
        axes::left(&frame, &self.scale, self.ticks(inner.height), plot.theme, buffer);
        if let Some(zero) = frame.row(0.0) {
            dashes(plot, zero, plot.theme.dim(), &frame, buffer);
        }
        for difference in &self.differences {
            self.stem(plot, difference, &frame, buffer);
        }
    }

    /// A stem from zero with the line's marker at its end.
    fn stem(&self, plot: &Plot, d: &Difference, frame: &Frame, buffer: &mut Buffer) {
        let value = d.per_cent;
        let column = super::pane::column(plot, Some(d.x), d.style, frame);
        let (Some(x), Some(row)) = (column, frame.row(value)) else { return };
        let style = plot.theme.series(d.style);
        let stem = frame.rows(value.max(0.0), value.min(0.0));
        for y in stem.map(|(top, bottom)| top..=bottom).into_iter().flatten() {
            buffer[(x, y)].set_symbol(plot.theme.symbol("│", "|")).set_style(style);
        }
        buffer[(x, row)].set_symbol(plot.theme.marker(d.style)).set_style(style);
    }
}
