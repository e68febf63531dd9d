//! Model predictions, line by line.

use super::{ChartData, MeasuredValue, Panel, Point};
use crate::model::{self, Forecast};
use crate::recipe::plan::Chart;
use crate::report::accuracy;
use crate::report::names::cases;
use crate::report::unit::Unit;
use crate::run::Record;

/// Predictions of a model for the cases of one line, or of the references with one label.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelLine {
    pub model: &'static str,
    /// Index of the model on this chart.
    pub rank: usize,
    /// A style number after those of the guides, by which all lines of the model are hidden.
    pub style: usize,
    /// Style of the line that these cases belong to.
    pub of: usize,
    /// Whether the predictions are from the profile before an edit, shown with those after it.
    pub before: bool,
    /// Predictions, ascending in x.
    pub points: Vec<Predicted>,
}

/// A prediction for one case, in the unit of y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Predicted {
    /// As in a point; `None` for a reference.
    pub x: Option<f64>,
    /// The predicted y; finite.
    pub y: f64,
    /// Position in the plan's cases and in the records.
    pub case: usize,
}

/// A model that the chart shows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelKey {
    pub name: &'static str,
    /// Style of the model's lines.
    pub style: usize,
    /// Names of the profiles used for its predictions, each with what makes it doubtful; empty if there are no predictions.
    pub profiles: Vec<String>,
    /// Whether any of the profiles is doubtful.
    pub doubtful: bool,
    /// Accuracies for the measured cases on the chart.
    pub accuracies: Vec<f64>,
    /// Reasons for missing predictions, with numbers of cases.
    pub lacks: Vec<(String, usize)>,
}

impl ModelKey {
    /// Adds the model's forecast for a case, with its accuracy if the case is a point.
    pub(super) fn take(&mut self, forecast: &Forecast, accuracy: Option<f64>) {
        match &forecast.outcome {
            Ok(_) => {
                let profile = forecast.source().filter(|profile| !self.profiles.contains(profile));
                self.profiles.extend(profile);
                self.doubtful |= forecast.doubt.is_some();
                self.accuracies.extend(accuracy);
            }
            Err(why) => match self.lacks.iter_mut().find(|(known, _)| known == why) {
                Some((_, count)) => *count += 1,
                None => self.lacks.push((why.clone(), 1)),
            },
        }
    }

    /// Whether the model predicts anything on the chart.
    pub fn predicts(&self) -> bool {
        !self.profiles.is_empty()
    }

    /// `sector, h200`, or `sector n/a: no profile of cpu`.
    pub fn words(&self) -> String {
        match self.lacks.first() {
            Some((why, _)) if !self.predicts() => format!("{} n/a: {why}", self.name),
            _ => std::iter::once(self.name.to_owned())
                .chain(self.profiles.clone())
                .collect::<Vec<_>>()
                .join(", "),
        }
    }

    /// `sector, profile h200: accuracy mean 94.1 %, p10 82.0 %, least 70.3 % (24 cases)`.
    pub fn accuracy(&self) -> Option<String> {
        let words = accuracy::words(&self.accuracies)?;
        Some(format!("{}, profile {}: {words}", self.name, self.profiles.join(", ")))
    }

    /// All missing predictions in words, where space allows.
    pub fn gaps(&self) -> Vec<String> {
        let gap = |(why, n): &(String, usize)| format!("{} n/a: {why} ({})", self.name, cases(*n));
        self.lacks.iter().map(gap).collect()
    }
}

/// The models of a chart: those named by the recipe, or the usual one if it predicts anything for these
/// records.
pub fn models<'a>(chart: &Chart, records: impl Iterator<Item = &'a Record>) -> Vec<&'static str> {
    match &chart.models {
        Some(names) => names.iter().filter_map(|name| model::find(name)).map(|m| m.name()).collect(),
        None => {
            let mut records = records;
            let there = records.any(|record| record.prediction(model::DEFAULT_MODEL).is_some());
            Vec::from_iter(there.then_some(model::DEFAULT_MODEL))
        }
    }
}

impl Panel {
    /// Adds a prediction.
    pub(super) fn predict(&mut self, (rank, model): (usize, &'static str), of: usize, point: Predicted) {
        let found = self.models.iter().position(|line| (line.rank, line.of) == (rank, of));
        let at = found.unwrap_or_else(|| {
            let line = ModelLine { model, rank, style: 0, of, before: false, points: Vec::new() };
            self.models.push(line);
            self.models.len() - 1
        });
        self.models[at].points.push(point);
    }
}

impl ChartData {
    /// Every prediction of the visible models.
    pub fn predicted(&self, shows: impl Fn(usize) -> bool) -> impl Iterator<Item = Predicted> {
        let lines = self.panels.iter().flat_map(|panel| &panel.models);
        lines
            .filter(move |line| shows(line.style) && shows(line.of))
            .flat_map(|line| line.points.iter().copied())
    }

    /// The prediction by the model with this index for a case, or for the place at which it is the best.
    pub fn prediction(&self, rank: usize, case: usize) -> Option<f64> {
        let lines = self.panels.iter().flat_map(|panel| &panel.models);
        let mut points = lines.filter(|line| line.rank == rank && !line.before).flat_map(|line| &line.points);
        points.find(|point| self.drawn(point.case) == case).map(|point| point.y)
    }

    /// Puts the model lines of the chart before an edit behind the current ones.
    pub fn lay_before(&mut self, before: &ChartData) {
        for (panel, old) in self.panels.iter_mut().zip(&before.panels) {
            let old = old.models.iter().map(|line| super::ModelLine { before: true, ..line.clone() });
            panel.models = old.chain(std::mem::take(&mut panel.models)).collect();
        }
    }

    /// A chart of deviations from the first model with predictions, in per cent of the prediction; `None` if
    /// no case is both measured and predicted.
    pub fn residual(&self) -> Option<ChartData> {
        let (rank, key) = self.models.iter().enumerate().find(|(_, key)| key.predicts())?;
        if self.y.relative_to.is_some() {
            return None;
        }
        let mut data = self.clone();
        data.y.unit = Unit::Percent;
        data.y.relative_to = Some(key.name.to_owned());
        let several = self.models.iter().filter(|key| key.predicts()).count() > 1;
        data.y.named = Some(format!("measured vs {}, %", if several { key.name } else { "model" }));
        data.y.spacing = None;
        let share = |m: &MeasuredValue| {
            let of = |y: f64| (y / self.prediction(rank, m.case).unwrap_or(f64::NAN) - 1.0) * 100.0;
            let (y_min, y_max, bar) = (of(m.y_min), of(m.y_max), m.bar.map(|ends| ends.map(of)));
            let found = MeasuredValue { y: of(m.y), y_min, y_max, bar, interval: None, ..*m };
            found.y.is_finite().then_some(found)
        };
        for panel in &mut data.panels {
            (panel.guides, panel.models, panel.published) = (Vec::new(), Vec::new(), Vec::new());
            for line in &mut panel.lines {
                line.points = line
                    .points
                    .iter()
                    .filter_map(|p| Some(Point { value: share(&p.value)?, ..p.clone() }))
                    .collect();
            }
            panel.references.clear();
        }
        (data.models, data.published, data.notes, data.residual) = (Vec::new(), None, Vec::new(), true);
        (!data.is_empty()).then_some(data)
    }
}
