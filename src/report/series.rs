//! From records to the lines and points of a chart. Pure; the SVG and the screen draw
//! the same series.

mod build;
mod guide;
mod note;
mod predicted;
#[cfg(test)]
pub(crate) mod tests;

pub use super::copies::Copies;
pub use build::{charted, series};
pub use guide::{Guide, guides};
pub use note::{Note, NoteKind};
pub use predicted::{ModelKey, ModelLine, Predicted, models};

use super::scale::{AxisScale, Spacing};
use super::unit::Unit;
use crate::recipe::plan::{Quantity, Scale};

/// Everything an experiment's chart shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ChartData {
    pub title: String,
    pub x: XAxis,
    pub y: YAxis,
    /// Labels of all lines and references over all panels; a line's `style` is its
    /// index here, so that it looks the same in each panel and does not change while
    /// results arrive.
    pub labels: Vec<String>,
    /// Where several runs lie over each other: so many styles are those of one run's lines,
    /// then come the same lines of the next.
    pub lines_per_run: Option<usize>,
    /// At least one, in the order of the plan.
    pub panels: Vec<Panel>,
    /// The models that it shows, in the recipe's order.
    pub models: Vec<ModelKey>,
    /// What is not a point, and why.
    pub notes: Vec<Note>,
    /// Whether it only tells how far another chart's points are from a model's.
    pub residual: bool,
}

/// What lies on the x axis: the whole sweep, whether measured yet or not.
#[derive(Clone, Debug, PartialEq)]
pub struct XAxis {
    /// Full dotted key.
    pub key: String,
    /// Its name, for the axis' title.
    pub name: String,
    pub scale: Scale,
    pub unit: Unit,
    /// The swept numbers; empty for names.
    pub values: Vec<f64>,
    /// The names of a category axis in their order; empty for numbers.
    pub categories: Vec<String>,
}

/// What lies on the y axis.
#[derive(Clone, Debug, PartialEq)]
pub struct YAxis {
    pub quantity: Quantity,
    /// The baseline in words, where y is the change against it in per cent.
    pub relative_to: Option<String>,
    pub unit: Unit,
    /// Its title, where the quantity does not say it.
    pub named: Option<String>,
    /// How it is spaced, where its values do not decide.
    pub spacing: Option<Spacing>,
}

impl YAxis {
    /// The title of the axis, with its unit where the ticks do not carry it.
    pub fn title(&self) -> String {
        let (name, unit) = match self.quantity {
            Quantity::Bandwidth => ("Effective bandwidth", " (GB/s)"),
            Quantity::SystemBandwidth => ("System bandwidth, with locations", " (GB/s)"),
            Quantity::Time => ("Time of one execution", ""),
            Quantity::Throughput => ("Throughput", " (elements/s)"),
        };
        match (&self.named, &self.relative_to) {
            (Some(named), _) => named.clone(),
            (None, Some(baseline)) => format!("{name}: change against {baseline}"),
            (None, None) => format!("{name}{unit}"),
        }
    }

    /// The same in a word, for where there is little room.
    pub fn short_title(&self) -> String {
        let word = match self.quantity {
            _ if self.relative_to.is_some() => "change",
            Quantity::Bandwidth | Quantity::SystemBandwidth => "GB/s",
            Quantity::Time => "time",
            Quantity::Throughput => "elements/s",
        };
        word.to_owned()
    }
}

/// One of several small charts that share their axes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Empty where there is only one.
    pub title: String,
    /// Lines in the order of the plan; one without a point (all `n/a`, not measured
    /// yet) is among them.
    pub lines: Vec<Line>,
    /// Cases that the x axis does not apply to, such as the direct method beside a
    /// sweep of passes: horizontal lines.
    pub references: Vec<Reference>,
    /// What its backends' points are held against.
    pub guides: Vec<Guide>,
    /// What models predict for its cases, whether these are measured or not.
    pub models: Vec<ModelLine>,
}

impl Panel {
    /// Every case that is on it, as a point, a reference or neither.
    pub fn cases(&self) -> impl Iterator<Item = usize> + '_ {
        let lines = self
            .lines
            .iter()
            .flat_map(|l| l.points.iter().map(|p| p.value.case).chain(l.absent.iter().map(|a| a.case)));
        lines.chain(self.references.iter().map(|r| r.value.case))
    }
}

/// The points of one combination of the chart's `lines` values.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub label: String,
    /// Index into [`ChartData::labels`].
    pub style: usize,
    /// Ascending in x.
    pub points: Vec<Point>,
    /// Its cases that have a place on x and no value, ascending in x; those that are not
    /// measured yet are not among them.
    pub absent: Vec<Absent>,
}

/// A case that cannot run, went wrong or has no baseline: never a point.
#[derive(Clone, Debug, PartialEq)]
pub struct Absent {
    /// As of a [`Point`].
    pub x: f64,
    /// The x value in words.
    pub label: String,
    /// Position in the plan's cases and in the records.
    pub case: usize,
    /// Why; [`ChartData::note_of`] has the reason in words.
    pub kind: NoteKind,
}

/// One case on the chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The swept value, or the index of the category.
    pub x: f64,
    /// The x value in words.
    pub label: String,
    pub value: Measured,
}

/// A case without an x value.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub label: String,
    /// Index into [`ChartData::labels`].
    pub style: usize,
    pub value: Measured,
}

/// What was measured of one case, in the unit of the y axis. All numbers are finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// At the median time.
    pub y: f64,
    /// The smaller of the values at the shortest and the longest time.
    pub y_min: f64,
    pub y_max: f64,
    /// The values at the ends of the 95 % interval of the rounds' medians, the smaller one
    /// first. Missing for a single round, where an end is no time at all (not positive), and
    /// for a change, whose baseline is uncertain too.
    pub interval: Option<[f64; 2]>,
    /// Position in the plan's cases and in the records.
    pub case: usize,
    /// Whether its certificate has arrived and holds; a wrong case is never here.
    pub certified: bool,
}

impl ChartData {
    /// The x axis with the range of the whole sweep.
    pub fn x_scale(&self) -> AxisScale {
        match self.x.scale {
            Scale::Category => AxisScale::categories(self.x.categories.clone()),
            scale => AxisScale::swept(&self.x.values, scale, self.x.unit),
        }
    }

    /// The y axis over all panels. Logarithmic where the values span more than a
    /// decade, or more than a factor of three beside a logarithmic x axis.
    pub fn y_scale(&self) -> AxisScale {
        let mut values: Vec<f64> = self.measured().flat_map(|m| [m.y, m.y_min, m.y_max]).collect();
        if values.is_empty() {
            values.extend(self.predicted(|_| true).map(|p| p.y));
        }
        let spacing = self.y.spacing.unwrap_or_else(|| self.y_spacing(&values));
        AxisScale::measured_as(&self.with_guides(values, |_| true), spacing, self.y.unit)
    }

    /// How these values of y are spaced, unless a person says otherwise.
    pub fn y_spacing(&self, values: &[f64]) -> Spacing {
        let smallest = values.iter().copied().filter(|&v| v > 0.0).min_by(f64::total_cmp);
        let largest = values.iter().copied().max_by(f64::total_cmp);
        let span = smallest.zip(largest).map_or(1.0, |(low, high)| high / low);
        let log = span > if self.x.scale == Scale::Log { 3.0 } else { 10.0 };
        if log && self.y.relative_to.is_none() { Spacing::Log10 } else { Spacing::Linear }
    }

    /// What the chart says of a case that is no point, or no full one.
    pub fn note_of(&self, case: usize) -> Option<&Note> {
        self.notes.iter().find(|note| note.cases.contains(&case))
    }

    /// Everything measured, over all panels.
    pub fn measured(&self) -> impl Iterator<Item = Measured> + '_ {
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
