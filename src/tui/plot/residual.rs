//! Differences of the measured points from the overlay or a prediction, in a separate pane under the chart with
//! the same columns.

use std::collections::HashMap;

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::Plot;
use super::axes::{self, Ticks};
use super::frame::Frame;
use super::pane::dashes;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::{ChartData, Point};
use crate::report::unit::Unit;
use crate::tui::chart::overlay::{Difference, per_cent};
use crate::tui::words;

/// The pane before it is drawn.
#[derive(Clone, Debug)]
pub struct Residual {
    differences: Vec<Difference>,
    name: String,
    scale: AxisScale,
}

impl Residual {
    /// The differences of a panel from the overlay, or else from the first visible model that predicts
    /// anything; `None` if there are no differences.
    pub fn new(plot: &Plot, panel: usize) -> Option<Residual> {
        match plot.overlay {
            Some(overlay) => Residual::of(plot, overlay.name.clone(), overlay.differences(plot.data, panel)),
            None => {
                let mut models = plot.data.models.iter().enumerate();
                let (rank, key) = models.find(|(_, key)| key.predicts() && plot.look.shows(key.style))?;
                Residual::of(plot, key.name.to_owned(), predicted(plot.data, panel, rank))
            }
        }
    }

    fn of(plot: &Plot, name: String, all: Vec<Difference>) -> Option<Residual> {
        let shown = |d: &Difference| plot.look.shows(d.style);
        let differences: Vec<Difference> = all.into_iter().filter(shown).collect();
        let values: Vec<f64> = differences.iter().map(|d| d.per_cent).collect();
        let scale = AxisScale::measured_as(&values, Spacing::Linear, Unit::Percent);
        (!differences.is_empty()).then_some(Residual { differences, name, scale })
    }

    /// The ticks for this many rows. If there is room for at most two, which may leave only zero, the ticks are
    /// zero and both ends.
    pub fn ticks(&self, rows: u16) -> Ticks {
        let ticks = axes::ticks(&self.scale, rows);
        let (low, high) = self.scale.ends();
        let ends = [low, high].into_iter().filter(|end| *end != 0.0).chain([0.0]);
        let tick = |value| Some((self.scale.position(value)?, self.scale.label(value)));
        if ticks.len() > 2 { ticks } else { ends.filter_map(tick).collect() }
    }

    /// Draws the pane into `area`, with the columns of the chart's frame `above`.
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

    /// Draws a stem from zero with the line's marker at its end.
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

/// The differences of a panel's points from the predictions of model `rank`.
fn predicted(data: &ChartData, panel: usize, rank: usize) -> Vec<Difference> {
    let Some(panel) = data.panels.get(panel) else { return Vec::new() };
    let points = panel.lines.iter().flat_map(|line| line.points.iter().map(move |p| (line.style, p)));
    let base = panel.models.iter().filter(|line| line.rank == rank && !line.before);
    let base = base.flat_map(|line| &line.points).map(|point| (data.drawn(point.case), point.y));
    let base: HashMap<usize, f64> = base.collect();
    let difference = |(style, p): (usize, &Point)| {
        let per_cent = per_cent(data, p.value.y, *base.get(&p.value.case)?)?;
        Some(Difference { x: p.x, style, case: p.value.case, per_cent })
    };
    points.filter_map(difference).collect()
}
