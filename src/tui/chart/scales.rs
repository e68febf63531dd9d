//! Both axes of a chart with the user's settings.

use super::overlay::Overlay;
use super::{Bars, Look};
use crate::recipe::plan::Scale;
use crate::report::scale::{AxisScale, Spacing};
use crate::report::series::{ChartData, MeasuredValue, Panel, PublishedLine, within_reach};

/// The whole axes, and their visible parts.
#[derive(Clone, Debug)]
pub struct Scales {
    pub x: AxisScale,
    pub y: AxisScale,
    pub whole_x: AxisScale,
    pub whole_y: AxisScale,
}

impl Scales {
    /// The whole axes have room for every point that is not hidden, and for the bars near them.
    pub fn new(data: &ChartData, look: &Look, bars: Bars, overlay: Option<&Overlay>) -> Scales {
        // What lies under the chart has the chart's values of x, and its own.
        let under = overlay.filter(|_| !data.roofline).and_then(Overlay::chart).unwrap_or(data);
        let whole_x = match look.x.filter(|s| x_allows(under, *s).is_ok()) {
            Some(spacing) if data.x.scale != Scale::Category => under.x_scale_as(spacing),
            _ => under.x_scale(),
        };
        let mut points: Vec<f64> = values(data, look, overlay).iter().map(|value| value.y).collect();
        if points.is_empty() {
            points.extend(data.predicted(|style| look.shows(style)).map(|p| p.y));
        }
        let chosen = look.y.filter(|s| y_allows(data, &points, *s).is_ok());
        let spacing = chosen.or(data.y.spacing).unwrap_or_else(|| data.y_spacing(&points));
        let ends = values(data, look, overlay).into_iter().filter_map(|value| bars.ends(&value)).flatten();
        let printed = data.panels.iter().flat_map(|panel| &panel.published);
        points.extend(printed.filter(|line| look.shows(line.of)).flat_map(PublishedLine::values));
        let values = within_reach(&points, ends, spacing);
        let values = data.with_guides(values, |style| look.shows(style));
        let whole_y = AxisScale::measured_as(&values, spacing, data.y.unit);
        let part =
            |whole: &AxisScale, part: Option<(f64, f64)>| part.map_or(whole.clone(), |p| whole.part(p));
        Scales { x: part(&whole_x, look.x_part), y: part(&whole_y, look.y_part), whole_x, whole_y }
    }

    /// `log2 x · log10 y`.
    pub fn names(&self, separator: &str) -> String {
        let name = |axis: &AxisScale, of: &str| axis.spacing.word().map(|word| format!("{word} {of}"));
        let names = [name(&self.x, "x"), name(&self.y, "y")];
        names.into_iter().flatten().collect::<Vec<_>>().join(separator)
    }

    /// Zoom factor of the more enlarged axis; 1 if everything is visible.
    pub fn zoom(&self) -> f64 {
        let share = |part: &AxisScale, whole: &AxisScale| {
            let (from, to) = seen(part, whole);
            1.0 / (to - from)
        };
        share(&self.x, &self.whole_x).max(share(&self.y, &self.whole_y))
    }
}

/// Ends of the visible part on the whole axis, from 0 to 1.
pub fn seen(part: &AxisScale, whole: &AxisScale) -> (f64, f64) {
    let (low, high) = part.ends();
    let place = |end: f64, missing: f64| whole.place_of_end(end).unwrap_or(missing).clamp(0.0, 1.0);
    (place(low, 0.0), place(high, 1.0))
}

/// Whether x supports this spacing, or why not.
pub fn x_allows(data: &ChartData, spacing: Spacing) -> Result<(), String> {
    if data.x.scale == Scale::Category {
        return Err(format!("{} has named values, so it has no scale", data.x.name));
    }
    positive("x", data.x.values.iter().copied(), spacing)
}

/// Whether y supports this spacing, or why not.
pub fn y_allows(data: &ChartData, values: &[f64], spacing: Spacing) -> Result<(), String> {
    if data.y.relative_to.is_some() && !data.y.is_ratio() && spacing.is_log() {
        return Err("y stays linear: a change may be 0 or less, which has no logarithm".to_owned());
    }
    positive("y", values.iter().copied(), spacing)
}

fn positive(axis: &str, mut values: impl Iterator<Item = f64>, spacing: Spacing) -> Result<(), String> {
    match values.find(|v| spacing.is_log() && *v <= 0.0) {
        Some(_) => Err(format!("{axis} stays linear: it has values of 0 or less, which have no logarithm")),
        None => Ok(()),
    }
}

/// Every measured value that is not hidden, of the chart and of the overlay.
pub fn values(data: &ChartData, look: &Look, overlay: Option<&Overlay>) -> Vec<MeasuredValue> {
    let charts = [Some(data), overlay.and_then(Overlay::chart)].into_iter().flatten();
    let of_panel = |panel: &Panel| -> Vec<MeasuredValue> {
        let lines = panel.lines.iter().filter(|line| look.shows(line.style));
        let references = panel.references.iter().filter(|reference| look.shows(reference.style));
        let points = lines.flat_map(|line| line.points.iter().map(|point| point.value));
        points.chain(references.map(|reference| reference.value)).collect()
    };
    charts.flat_map(|chart| &chart.panels).flat_map(of_panel).collect()
}
