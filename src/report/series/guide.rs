//! Reference lines that are not cases themselves.

use super::{ChartData, Panel, roofline};
use crate::case::Ranking;
use crate::case::units::{fmt_bytes, fmt_rate};
use crate::model::Profiles;
use crate::recipe::plan::{self, Plan, Quantity};
use crate::report::copies::{self, Copies};
use crate::report::speed_of_light::SpeedsOfLight;
use crate::report::unit::Unit;
use crate::run::{Record, Status};

/// A reference line across a panel: a rate reached by a copy on the same device, or an upper limit.
#[derive(Clone, Debug, PartialEq)]
pub struct Guide {
    /// `copy, cpu`; `speed of light, cuda, 12 B`; `ranking, cuda, 4 digits of u32`.
    pub label: String,
    /// A style number after those of [`ChartData::labels`], by which the guide can be hidden like a line.
    pub style: usize,
    /// The level in the unit of y, or GB/s if `per_byte`.
    pub level: Option<f64>,
    /// Whether the line rises with x, which is in elements per byte: a [roofline](super::roofline)'s rate of bytes.
    pub per_byte: bool,
    pub unit: Unit,
    /// The reason why there is no level.
    pub lacks: &'static str,
    /// A description for the caption.
    pub about: String,
}

/// A level, or why there is none.
pub(super) type Level = Result<f64, &'static str>;

/// A guide farther from the points than this factor would compress them: it is only mentioned in the text.
const REACH: f64 = 4.0;

/// A ceiling over a case, before it is a [`Guide`].
pub(super) struct Ceiling {
    pub label: String,
    pub about: String,
    /// As in [`Guide`].
    pub level: Level,
    pub per_byte: bool,
}

/// The ceilings that a chart has.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'a> {
    /// That of the recipe.
    One(plan::Ceiling),
    /// Those of a roofline.
    Roofs(&'a Profiles),
}

/// Adds the ceilings of its backends to each panel.
pub(super) struct Ceilings<'a> {
    wanted: Wanted<'a>,
    copies: &'a Copies,
    plan: &'a Plan,
    quantity: Quantity,
    unit: Unit,
    /// Labels in the order of the plan; the index is the number of the ceiling.
    labels: Vec<String>,
}

impl<'a> Ceilings<'a> {
    pub(super) fn new(
        wanted: Wanted<'a>,
        copies: &'a Copies,
        plan: &'a Plan,
        (quantity, unit): (Quantity, Unit),
    ) -> Ceilings<'a> {
        Ceilings { wanted, copies, plan, quantity, unit, labels: Vec::new() }
    }

    /// Adds the ceilings of a record, unless the case cannot run. Styles count from 0 until all lines are known.
    pub(super) fn add(&mut self, record: &Record, panel: &mut Panel) {
        if matches!(record.status, Status::NotApplicable(_)) {
            return;
        }
        for Ceiling { label, about, level, per_byte } in self.over(record) {
            let style = self.labels.iter().position(|known| *known == label).unwrap_or_else(|| {
                self.labels.push(label.clone());
                self.labels.len() - 1
            });
            if panel.guides.iter().all(|guide| guide.style != style) {
                let (level, lacks) = match level {
                    Ok(level) => (Some(level), ""),
                    Err(lacks) => (None, lacks),
                };
                panel.guides.push(Guide { label, style, level, per_byte, unit: self.unit, lacks, about });
            }
        }
    }

    /// Number of ceilings.
    pub(super) fn count(&self) -> usize {
        self.labels.len()
    }

    fn over(&self, record: &Record) -> Vec<Ceiling> {
        match self.wanted {
            Wanted::Roofs(profiles) => {
                let roofs = roofline::roofs(record, self.plan, self.copies, profiles);
                roofs.into_iter().chain(self.ranking(record)).collect()
            }
            Wanted::One(plan::Ceiling::Copy) => self.bytes(record, plan::Ceiling::Copy).into_iter().collect(),
            Wanted::One(light) => {
                [self.bytes(record, light), self.ranking(record)].into_iter().flatten().collect()
            }
        }
    }

    /// The ceiling of moving bytes.
    fn bytes(&self, record: &Record, wanted: plan::Ceiling) -> Option<Ceiling> {
        const RATE: &str =
            "median rate of the plain copies between this run's passes, read and written bytes";
        let (backend, _) = record.case.place();
        let rate = copies::rate(self.plan, self.copies, backend);
        let ceiling = |label, about, level| Some(Ceiling { label, about, level, per_byte: false });
        if wanted == plan::Ceiling::Copy {
            return ceiling(format!("copy, {backend}"), format!("copy: {RATE}"), rate);
        }
        let speeds = crate::primitives::find(&record.case.primitive)?.speed_of_light()?;
        let each = SpeedsOfLight::bytes(record)?.checked_div(record.work.as_ref()?.elements)?;
        let level = rate.and_then(|rate| {
            let seconds = SpeedsOfLight::seconds_at(record, rate);
            seconds.and_then(|seconds| record.quantity_at(self.quantity, seconds)).ok_or("none on file")
        });
        let about = format!("speed of light: the stated bytes per element ({}) at the {RATE}", speeds.moves);
        ceiling(format!("speed of light, {backend}, {}", fmt_bytes(each)), about, level)
    }

    /// The roof that ranking sets beside the speed of light, if the run measured it.
    fn ranking(&self, record: &Record) -> Option<Ceiling> {
        let seconds = SpeedsOfLight::new(self.plan, self.copies).ranking_seconds(record)?;
        let Ranking { kind, digits, .. } = crate::primitives::ranking(&record.case)?;
        let label = format!("ranking, {}, {digits} digits of {kind}", record.case.place().0);
        let about = "ranking: all digits of the keys at the median rate at which this run ranked tiles of random keys \
                     that stay in shared memory, as the method's passes do"
            .to_owned();
        let level = Ok(record.quantity_at(self.quantity, seconds)?);
        Some(Ceiling { label, about, level, per_byte: false })
    }
}

impl Guide {
    /// The value on y at an x.
    pub fn at(&self, x: f64) -> Option<f64> {
        Some(if self.per_byte { self.level? * 1e9 * x } else { self.level? })
    }

    /// `copy, cpu 34.3 GB/s`, or the reason why there is none.
    pub fn words(&self) -> String {
        match (self.level, self.unit) {
            (None, _) => format!("{} n/a: {}", self.label, self.lacks),
            (Some(level), _) if self.per_byte => format!("{} {}", self.label, fmt_rate(level)),
            (Some(level), Unit::GigabytesPerSecond) => format!("{} {}", self.label, fmt_rate(level)),
            (Some(level), Unit::ElementsPerSecond) => format!("{} {}/s", self.label, self.unit.format(level)),
            // The label of a guide that is not measured contains its number.
            (Some(_), _) => self.label.clone(),
        }
    }
}

/// The guides of these panels without repetitions.
pub fn guides<'a>(panels: impl Iterator<Item = &'a Panel>) -> Vec<&'a Guide> {
    let mut all: Vec<&Guide> = panels.flat_map(|p| &p.guides).collect();
    all.sort_by_key(|guide| guide.style);
    all.dedup_by_key(|guide| guide.style);
    all
}

impl ChartData {
    /// The guides of all panels, without repetitions.
    pub fn guides(&self) -> Vec<&Guide> {
        guides(self.panels.iter())
    }

    /// These values and those of the visible guides and predictions that are close enough for a common axis.
    pub fn with_guides(&self, mut values: Vec<f64>, shows: impl Fn(usize) -> bool) -> Vec<f64> {
        let positive = || values.iter().copied().filter(|v| *v > 0.0);
        let ends = positive().min_by(f64::total_cmp).zip(positive().max_by(f64::total_cmp));
        let near = |level: &f64| ends.is_some_and(|(low, high)| (low / REACH..=high * REACH).contains(level));
        let shown = self.guides().into_iter().filter(|guide| shows(guide.style));
        // A rising guide is compared where the points are.
        let places: &[f64] = if self.roofline { &self.x.values } else { &[0.0] };
        let levels = shown.flat_map(|guide| places.iter().filter_map(|x| guide.at(*x)));
        let levels: Vec<f64> = levels.filter(near).collect();
        let bare = values.is_empty() || self.y.relative_to.is_some();
        let predicted = self.predicted(shows).map(|p| p.y).filter(|y| bare || near(y));
        let predicted: Vec<f64> = predicted.collect();
        values.extend(levels);
        values.extend(predicted);
        values
    }
}
