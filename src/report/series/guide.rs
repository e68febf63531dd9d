//! Lines to hold the points against that are no cases themselves.

use super::{ChartData, Panel};
use crate::case::units::{fmt_bytes, fmt_rate};
use crate::recipe::plan::{Ceiling, Plan, Quantity};
use crate::report::copies::{self, Copies};
use crate::report::speed_of_light::SpeedsOfLight;
use crate::report::unit::Unit;
use crate::run::{Record, Status};

/// A reference line across a panel: what something else reached on the same device, or would.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// `copy, cpu`; `speed of speeds, cuda, 12 B`.
    pub label: String,
    /// A number after those of [`ChartData::labels`], by which it is hidden like a line.
    pub style: usize,
    /// In the unit of y.
    pub level: Option<f64>,
    pub unit: Unit,
    /// Why there is no level.
    pub lacks: &'static str,
    /// What it is, in a sentence for below the chart.
    pub about: String,
}

/// A guide farther from the points than this factor would press them together: it is told
/// in words only.
const REACH: f64 = 4.0;

/// Gives each panel the ceilings of its backends.
pub(super) struct Ceilings<'a> {
    wanted: Ceiling,
    copies: &'a Copies,
    plan: &'a Plan,
    quantity: Quantity,
    unit: Unit,
    /// In the order of the plan, which numbers them.
    labels: Vec<String>,
}

impl<'a> Ceilings<'a> {
    pub(super) fn new(
        wanted: Ceiling,
        copies: &'a Copies,
        plan: &'a Plan,
        (quantity, unit): (Quantity, Unit),
    ) -> Ceilings<'a> {
        Ceilings { wanted, copies, plan, quantity, unit, labels: Vec::new() }
    }

    /// A backend that cannot run anything needs none. Its style counts from 0 until all lines
    /// are known.
    pub(super) fn add(&mut self, record: &Record, panel: &mut Panel) {
        if matches!(record.status, Status::NotApplicable(_)) {
            return;
        }
        let Some((label, about)) = self.words(record) else { return };
        let style = self.labels.iter().position(|known| *known == label).unwrap_or_else(|| {
            self.labels.push(label.clone());
            self.labels.len() - 1
        });
        if panel.guides.iter().all(|guide| guide.style != style) {
            let (level, lacks) = match self.level(record) {
                Ok(level) => (Some(level), ""),
                Err(lacks) => (None, lacks),
            };
            panel.guides.push(Guide { label, style, level, unit: self.unit, lacks, about });
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.labels.len()
    }

    /// Its label, which tells it from others, and what it is.
    fn words(&self, record: &Record) -> Option<(String, String)> {
        const RATE: &str =
            "median rate of the plain copies between this run's passes, read and written bytes";
        let (backend, _) = record.case.place();
        if self.wanted == Ceiling::Copy {
            return Some((format!("copy, {backend}"), format!("copy: {RATE}")));
        }
        let speeds = crate::primitives::find(&record.case.primitive)?.speed_of_light()?;
        let each = SpeedsOfLight::bytes(record)?.checked_div(record.work.as_ref()?.elements)?;
        let label = format!("speed of light, {backend}, {}", fmt_bytes(each));
        Some((label, format!("speed of light: so many bytes an element, as {}, at the {RATE}", speeds.moves)))
    }

    /// On y.
    fn level(&self, record: &Record) -> Result<f64, &'static str> {
        let rate = copies::rate(self.plan, self.copies, record.case.place().0)?;
        match self.wanted {
            Ceiling::Copy => Ok(rate),
            Ceiling::SpeedOfLight => {
                let seconds = SpeedsOfLight::seconds_at(record, rate);
                seconds.and_then(|seconds| record.quantity_at(self.quantity, seconds)).ok_or("none on file")
            }
        }
    }
}

impl Guide {
    /// `copy, cpu 34.3 GB/s`, or that there is none.
    pub fn words(&self) -> String {
        match (self.level, self.unit) {
            (None, _) => format!("{} n/a: {}", self.label, self.lacks),
            (Some(level), Unit::GigabytesPerSecond) => format!("{} {}", self.label, fmt_rate(level)),
            (Some(level), Unit::ElementsPerSecond) => format!("{} {}/s", self.label, self.unit.format(level)),
            // One that is no measurement has its number in its label.
            (Some(_), _) => self.label.clone(),
        }
    }
}

/// The guides of these panels, each once, though it may be on several.
pub fn guides<'a>(panels: impl Iterator<Item = &'a Panel>) -> Vec<&'a Guide> {
    let mut all: Vec<&Guide> = panels.flat_map(|p| &p.guides).collect();
    all.sort_by_key(|guide| guide.style);
    all.dedup_by_key(|guide| guide.style);
    all
}

impl ChartData {
    /// The guides of all panels.
    pub fn guides(&self) -> Vec<&Guide> {
        guides(self.panels.iter())
    }

    /// How many styles there are: of lines, references, guides and models.
    pub fn styles(&self) -> usize {
        let guides = self.guides().last().map_or(0, |guide| guide.style + 1);
        let models = self.models.last().map_or(0, |model| model.style + 1);
        guides.max(models).max(self.labels.len())
    }

    /// These values and those of the guides and the predictions that an axis of them reaches
    /// for, of the styles that are shown.
    pub fn with_guides(&self, mut values: Vec<f64>, shows: impl Fn(usize) -> bool) -> Vec<f64> {
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let ends = positive().min_by(f64::total_cmp).zip(positive().max_by(f64::total_cmp));
        let near = |level: &f64| ends.is_some_and(|(low, high)| (low / REACH..=high * REACH).contains(level));
        let shown = self.guides().into_iter().filter(|guide| shows(guide.style));
        let levels: Vec<f64> = shown.filter_map(|guide| guide.level).filter(near).collect();
        let bare = values.is_empty() || self.y.relative_to.is_some();
        let predicted = self.predicted(shows).map(|p| p.y).filter(|y| bare || near(y));
        let predicted: Vec<f64> = predicted.collect();
        values.extend(levels);
        values.extend(predicted);
        values
    }
}
