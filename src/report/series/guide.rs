//! Lines to hold the points against that are no cases themselves.

use std::collections::BTreeMap;

use super::{ChartData, Panel};
use crate::backend::gpus::Gpus;
use crate::measure::median;
use crate::plan::{Case, Plan};
use crate::run::{Record, Status};
use crate::units::fmt_rate;

/// GB/s of the plain copies of a run, by backend.
pub type Copies = BTreeMap<String, Vec<f64>>;

/// A reference line across a panel: what something else reached on the same device.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// `copy, cpu`.
    pub label: String,
    /// A number after those of [`ChartData::labels`], by which it is hidden like a line.
    pub style: usize,
    /// In the unit of y.
    pub level: Option<f64>,
    /// Why there is no level.
    pub lacks: &'static str,
}

/// A guide farther from the points than this factor would press them together: it is told
/// in words only.
const REACH: f64 = 4.0;

/// Gives each panel the ceilings of its backends.
pub(super) struct Ceilings<'a> {
    copies: &'a Copies,
    plan: &'a Plan,
    /// In the order of the plan, which numbers them.
    backends: Vec<String>,
}

impl<'a> Ceilings<'a> {
    pub(super) fn new(copies: &'a Copies, plan: &'a Plan) -> Ceilings<'a> {
        Ceilings { copies, plan, backends: Vec::new() }
    }

    /// A backend that cannot run anything needs none. Its style counts from 0 until all lines
    /// are known.
    pub(super) fn add(&mut self, record: &Record, panel: &mut Panel) {
        if matches!(record.status, Status::NotApplicable(_)) {
            return;
        }
        let (backend, _) = record.case.place();
        let style = self.backends.iter().position(|b| b == backend).unwrap_or_else(|| {
            self.backends.push(backend.to_owned());
            self.backends.len() - 1
        });
        if panel.guides.iter().all(|guide| guide.style != style) {
            let (level, lacks) = match self.has_several(backend) {
                true => (None, "several devices"),
                false => (self.level(backend), "none on file"),
            };
            panel.guides.push(Guide { label: format!("copy, {backend}"), style, level, lacks });
        }
    }

    /// How many backends have one.
    pub(super) fn count(&self) -> usize {
        self.backends.len()
    }

    fn level(&self, backend: &str) -> Option<f64> {
        let level = self.copies.get(backend).and_then(|copies| median(copies));
        level.filter(|level| level.is_finite() && *level > 0.0)
    }

    /// Whether the copies of a backend are of now this device and now that one, or of one of
    /// those that a case takes.
    fn has_several(&self, backend: &str) -> bool {
        let cases = self.plan.cases.iter().filter(|c| c.place().0 == backend);
        if cases.clone().any(|case| Gpus::of(&case.params).several()) {
            return true;
        }
        let mut devices = cases.map(Case::device);
        devices.next().is_some_and(|first| devices.any(|device| device != first))
    }
}

impl Guide {
    /// `copy, cpu 34.3 GB/s`, or that there is none.
    pub fn words(&self) -> String {
        match self.level {
            Some(level) => format!("{} {}", self.label, fmt_rate(level)),
            None => format!("{} n/a: {}", self.label, self.lacks),
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
