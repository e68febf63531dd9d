//! The content of a chart (lines, points, axes), computed from records. Pure; the SVG and the screen draw the
//! same content.
//!
//! A [`Reference`] is a measured case without an x value. A [`Guide`] is a horizontal line that is no case: a
//! copy rate or an upper limit. A [`ModelLine`] is predicted.

pub mod bars;
mod best;
mod build;
mod doubt;
mod guide;
mod note;
mod predicted;
mod published;
mod roofline;
#[cfg(test)]
pub(crate) mod tests;

pub use super::copies::Copies;
pub use bars::BarKinds;
pub use best::BestOf;
pub use build::{charted, roofline, series};
pub use doubt::Doubt;
pub use guide::{Guide, guides};
pub use note::{Note, NoteKind};
pub use predicted::{ModelKey, ModelLine, Predicted, models};
pub use published::{PublishedLine, PublishedPoint};

use super::scale::{AxisScale, Spacing};
use super::unit::Unit;
use crate::recipe::plan::{Quantity, Scale};

/// Content of an experiment's chart.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartData {
    pub title: String,
    pub x: XAxis,
    pub y: YAxis,
    /// Labels of all lines and references over all panels. A line's `style`, which determines its colour and
    /// marker, is its index here, so that it looks the same in each panel and does not change as results arrive.
    pub labels: Vec<String>,
    /// The number of styles per run, if several runs are drawn over each other: the styles of the next run follow
    /// in the same order.
    pub lines_per_run: Option<usize>,
    /// Panels in the order of the plan; at least one.
    pub panels: Vec<Panel>,
    /// Models on the chart, in the recipe's order.
    pub models: Vec<ModelKey>,
    /// The machine and the paper of the values that are not measured here; `None` without any.
    pub published: Option<String>,
    /// What is drawn of the cases, if the chart is the best of some parameters.
    pub best: Option<BestOf>,
    /// Cases that are not points, or not certified ones, and why.
    pub notes: Vec<Note>,
    /// The bars through the points.
    pub bars: BarKinds,
    /// Words of the noise in which points were measured, without that of a GPU's clocks.
    pub noise: Vec<&'static str>,
    /// Whether the chart only shows the deviation of another chart's points from a model.
    pub residual: bool,
    /// Whether x is in elements per byte: the cases of a line are then in no order that a stroke could join.
    pub roofline: bool,
}

/// The x axis: the whole sweep, including values not measured yet.
#[derive(Clone, Debug, PartialEq)]
pub struct XAxis {
    /// Full dotted key of the swept parameter.
    pub key: String,
    /// Name of the parameter, for the axis title.
    pub name: String,
    pub scale: Scale,
    pub unit: Unit,
    /// The swept values, if they are numbers; else empty.
    pub values: Vec<f64>,
    /// The swept values in order, if they are names; else empty.
    pub categories: Vec<String>,
}

/// The y axis.
#[derive(Clone, Debug, PartialEq)]
pub struct YAxis {
    pub quantity: Quantity,
    /// The baseline in words, if y is the change against it in per cent, or in another unit the ratio to it.
    pub relative_to: Option<String>,
    pub unit: Unit,
    /// `passes`: the parameters of which the chart shows the best; `samples` where it shows the fastest of these.
    pub best_of: Option<String>,
    /// Title of the axis, if the quantity does not determine it.
    pub named: Option<String>,
    /// Linear or logarithmic, if it is fixed; `None`: [`ChartData::y_spacing`] decides.
    pub spacing: Option<Spacing>,
}

impl YAxis {
    /// The title of the axis, with its unit unless the ticks contain it.
    pub fn title(&self) -> String {
        let (name, unit) = match self.quantity {
            Quantity::Bandwidth => ("Effective bandwidth", " (GB/s)"),
            Quantity::SystemBandwidth => ("System bandwidth, with locations", " (GB/s)"),
            Quantity::Time => ("Time of one execution", ""),
            Quantity::TimeWithTransfer => ("Time of one execution, with transfers", ""),
            Quantity::Throughput => ("Throughput", " (elements/s)"),
            Quantity::Flops => ("Floating-point operations", " (FLOPS)"),
            Quantity::FlopsWithTransfer => ("Floating-point operations, with transfers", " (FLOPS)"),
        };
        match (&self.named, &self.relative_to) {
            (Some(named), _) => named.clone(),
            (None, Some(baseline)) if self.is_ratio() => self.best(&format!("{name}: ratio to {baseline}")),
            (None, Some(baseline)) => self.best(&format!("{name}: change against {baseline}")),
            (None, None) => self.best(&format!("{name}{unit}")),
        }
    }

    /// `time, best of passes`.
    fn best(&self, title: &str) -> String {
        let best = self.best_of.as_ref().map(|of| format!(", best of {of}"));
        format!("{title}{}", best.unwrap_or_default())
    }

    /// Whether y is the ratio to a baseline.
    pub fn is_ratio(&self) -> bool {
        self.relative_to.is_some() && self.unit != Unit::Percent
    }

    /// The y of the baseline itself, if y is relative to one.
    pub fn level(&self) -> Option<f64> {
        self.relative_to.as_ref().map(|_| if self.is_ratio() { 1.0 } else { 0.0 })
    }

    /// A one-word title, for small spaces.
    pub fn short_title(&self) -> String {
        let word = match self.quantity {
            _ if self.is_ratio() => "ratio",
            _ if self.relative_to.is_some() => "change",
            Quantity::Bandwidth | Quantity::SystemBandwidth => "GB/s",
            Quantity::Time | Quantity::TimeWithTransfer => "time",
            Quantity::Throughput => "elements/s",
            Quantity::Flops | Quantity::FlopsWithTransfer => "FLOPS",
        };
        self.best(word)
    }
}

/// One of several small charts that share their axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Empty for a single panel.
    pub title: String,
    /// Lines in the order of the plan, including lines without points (all `n/a`, or not measured yet).
    pub lines: Vec<Line>,
    /// Cases without the x parameter, such as the direct method beside a sweep of passes: horizontal lines.
    pub references: Vec<Reference>,
    /// Copy rates and upper limits of the panel's backends: horizontal lines.
    pub guides: Vec<Guide>,
    /// Model predictions for the panel's cases, whether these are measured or not.
    pub models: Vec<ModelLine>,
    /// What a paper prints of the panel's cases, whether these are measured or not.
    pub published: Vec<PublishedLine>,
}

impl Panel {
    /// Positions in the plan of all cases that the panel has as points, references or absent ones.
    pub fn cases(&self) -> impl Iterator<Item = usize> + '_ {
        let lines = self
            .lines
            .iter()
            .flat_map(|l| l.points.iter().map(|p| p.value.case).chain(l.absent.iter().map(|a| a.case)));
        lines.chain(self.references.iter().map(|r| r.value.case))
    }
}

/// The cases that agree in all parameters of [`Chart::lines`](crate::recipe::plan::Chart::lines).
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub label: String,
    /// Index into [`ChartData::labels`].
    pub style: usize,
    /// Points, ascending in x.
    pub points: Vec<Point>,
    /// Cases of the line with an x but no value, ascending in x; cases that are not measured yet are omitted.
    pub absent: Vec<Absent>,
}

/// A case that cannot run, failed or has no baseline: never a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// As in [`Point`].
    pub x: f64,
    /// The x value in words.
    pub label: String,
    /// Position in the plan's cases and in the records.
    pub case: usize,
    /// Kind of reason; [`ChartData::note_of`] has the text.
    pub kind: NoteKind,
}

/// A measured case with an x value.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The swept value, or the index of the category.
    pub x: f64,
    /// The x value in words.
    pub label: String,
    pub value: MeasuredValue,
}

/// A measured case without an x value, drawn as a horizontal line.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub label: String,
    /// Index into [`ChartData::labels`].
    pub style: usize,
    pub value: MeasuredValue,
}

/// The measured values of one case, in the unit of the y axis. All numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeasuredValue {
    /// The value at the median time, or at the chart's other statistic.
    pub y: f64,
    /// The smaller of the values at the shortest and the longest time.
    pub y_min: f64,
    pub y_max: f64,
    /// Ends of the chart's bar, the smaller one first; `None` without a bar.
    pub bar: Option<[f64; 2]>,
    /// The values at the ends of [`Statistics::interval`](crate::stats::Statistics::interval), the smaller one
    /// first. `None` for a single round, if an end is not a positive time, and if y is a change against a
    /// baseline, because the baseline is uncertain, too.
    pub interval: Option<[f64; 2]>,
    /// Position in the plan's cases and in the records.
    pub case: usize,
    /// Whether the case's output was certified to be right; `false` if that is still to come. A case whose output
    /// is wrong is never here.
    pub certified: bool,
    pub doubt: Doubt,
}

impl Line {
    /// The points in stretches that a line may join: a case that was skipped, failed or cannot run is a gap.
    pub fn stretches(&self) -> impl Iterator<Item = &[Point]> {
        let gap = |from: f64, to: f64| self.absent.iter().any(|absent| from < absent.x && absent.x < to);
        self.points.chunk_by(move |a, b| !gap(a.x, b.x))
    }
}

/// How far bars may reach beyond the points at either end, as a share of the points' span, before they are cut:
/// a single slow sample must not press all points together.
const REACH: f64 = 0.25;

/// Least span of points on a logarithmic axis for this purpose: a factor of four.
const LEAST_SPAN: f64 = 1.386;

/// The values that an axis of this spacing must include: all points, and the ends of bars near them.
pub fn within_reach(points: &[f64], ends: impl Iterator<Item = f64>, spacing: Spacing) -> Vec<f64> {
    let place = |v: f64| if spacing.is_log() { v.ln() } else { v };
    let places = || points.iter().map(|&v| place(v)).filter(|v| v.is_finite());
    let (low, high) =
        places().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
    // A linear axis includes 0.
    let (low, high) = if spacing.is_log() { (low, high) } else { (low.min(0.0), high.max(0.0)) };
    let span = if spacing.is_log() { (high - low).max(LEAST_SPAN) } else { high - low };
    let (low, high) = (low - REACH * span, high + REACH * span);
    let near = ends.filter(|&end| (low..=high).contains(&place(end)));
    points.iter().copied().chain(near).collect()
}

impl ChartData {
    /// The scale of x over the whole sweep.
    pub fn x_scale(&self) -> AxisScale {
        match self.x.scale {
            Scale::Category => AxisScale::categories(self.x.categories.clone()),
            _ if self.roofline => self.x_scale_as(Spacing::Log10),
            scale => AxisScale::swept(&self.x.values, scale, self.x.unit),
        }
    }

    /// The scale of x, whose values are numbers, with this spacing.
    pub fn x_scale_as(&self, spacing: Spacing) -> AxisScale {
        match self.roofline {
            true => AxisScale::measured_as(&self.x.values, spacing, self.x.unit),
            false => AxisScale::swept_as(&self.x.values, spacing, self.x.unit),
        }
    }

    /// The scale of y over all panels, with room for every point and for the bars near them. Its spacing is that of
    /// the y axis, if fixed, or else [`y_spacing`](Self::y_spacing).
    pub fn y_scale(&self) -> AxisScale {
        let mut points: Vec<f64> = self.measured().map(|m| m.y).collect();
        if points.is_empty() {
            points.extend(self.predicted(|_| true).map(|p| p.y));
        }
        let spacing = self.y.spacing.unwrap_or_else(|| self.y_spacing(&points));
        points.extend(self.panels.iter().flat_map(|p| &p.published).flat_map(PublishedLine::values));
        let values = within_reach(&points, self.measured().flat_map(|m| m.bar).flatten(), spacing);
        AxisScale::measured_as(&self.with_guides(values, |_| true), spacing, self.y.unit)
    }

    /// The default spacing for these values of y: logarithmic if they span more than a factor of ten, or of three
    /// if x is logarithmic, too; always linear for a change against a baseline.
    pub fn y_spacing(&self, values: &[f64]) -> Spacing {
        let smallest = values.iter().copied().filter(|&v| v > 0.0).min_by(f64::total_cmp);
        let largest = values.iter().copied().max_by(f64::total_cmp);
        let span = smallest.zip(largest).map_or(1.0, |(low, high)| high / low);
        let log = span > if self.x.scale == Scale::Log { 3.0 } else { 10.0 };
        if log && self.y.relative_to.is_none() { Spacing::Log10 } else { Spacing::Linear }
    }

    /// The note on a case that is not a point, or not a certified one.
    pub fn note_of(&self, case: usize) -> Option<&Note> {
        self.notes.iter().find(|note| note.cases.contains(&case))
    }

    /// All measured values, over all panels.
    pub fn measured(&self) -> impl Iterator<Item = MeasuredValue> + '_ {
        self.panels.iter().flat_map(|p| {
            let points = p.lines.iter().flat_map(|l| l.points.iter().map(|q| q.value));
            points.chain(p.references.iter().map(|r| r.value))
        })
    }

    /// Whether there is nothing to draw yet.
    pub fn is_empty(&self) -> bool {
        self.measured().next().is_none() && self.predicted(|_| true).next().is_none()
    }
}
