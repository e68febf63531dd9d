//! Another series behind the measured one: an earlier run, or any other source with a value for each case.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::case::Case;
use crate::case::units::escaped;
use crate::recipe::plan::{Chart, Plan};
use crate::report::judge::matching;
use crate::report::series::{ChartData, Panel, series};
use crate::run::{Ledger, Record, Status};

/// Values of the same cases from another source, and the name of that source.
#[derive(Clone, Debug)]
pub struct Overlay {
    pub name: String,
    /// One record for each case of the plan; pending where there is nothing to compare with.
    records: Vec<Record>,
    experiment: usize,
    /// How the experiment is drawn.
    drawn: Option<Chart>,
    chart: ChartData,
}

/// The difference of one case from the overlay, in per cent of the overlay's value, or in percentage points if
/// y itself is a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    pub x: f64,
    pub style: usize,
    pub case: usize,
    pub per_cent: f64,
}

impl Overlay {
    /// Finds the baseline's record that matches each case of `plan`, by the same rule as for judging runs. Of
    /// several matches the first in the order of the baseline's plan counts.
    pub fn new(baseline: &Baseline, plan: &Plan) -> Overlay {
        let mut found: HashMap<usize, usize> = HashMap::new();
        for pair in matching(&baseline.plan, plan).pairs {
            found.entry(pair.other).or_insert(pair.baseline);
        }
        let other = |at: usize| baseline.records.get(*found.get(&at)?);
        let records = plan.cases.iter().enumerate().map(|(at, case)| adopted(case, other(at))).collect();
        Overlay::of_records(&baseline.name(), plan, records)
    }

    /// `records` has one entry for each case of `plan`, in the same order.
    pub fn of_records(name: &str, plan: &Plan, records: Vec<Record>) -> Overlay {
        let chart = series(plan, 0, &records);
        let drawn = plan.experiments.first().map(|experiment| experiment.chart.clone());
        Overlay { name: name.to_owned(), records, experiment: 0, drawn, chart }
    }

    /// Number of cases with a value.
    pub fn matched(&self) -> usize {
        self.records.iter().filter(|r| r.statistics.is_some()).count()
    }

    /// The overlay's chart of the shown experiment, with the same panels and lines.
    pub fn chart(&self) -> &ChartData {
        &self.chart
    }

    /// Switches to another experiment.
    pub fn show(&mut self, plan: &Plan, experiment: usize) {
        let drawn = plan.experiments.get(experiment).map(|experiment| &experiment.chart);
        if self.experiment != experiment || self.drawn.as_ref() != drawn {
            self.drawn = drawn.cloned();
            self.chart = series(plan, experiment, &self.records);
            self.experiment = experiment;
        }
    }

    /// The overlay's value for a case, in the unit of y.
    pub fn value(&self, case: usize) -> Option<f64> {
        let drawn = self.chart.drawn(case);
        self.chart.measured().find(|m| m.case == drawn).map(|m| m.y)
    }

    /// The differences of a panel's points from the overlay, line by line.
    pub fn differences(&self, data: &ChartData, panel: usize) -> Vec<Difference> {
        let of = |panel: &Panel| -> HashMap<usize, f64> {
            panel.lines.iter().flat_map(|l| &l.points).map(|p| (p.value.case, p.value.y)).collect()
        };
        let base = self.chart.panels.get(panel).map(of).unwrap_or_default();
        let lines = data.panels.get(panel).map(|p| p.lines.as_slice()).unwrap_or_default();
        let points = lines.iter().flat_map(|l| l.points.iter().map(move |p| (l.style, p)));
        let difference = |(style, p): (usize, &crate::report::series::Point)| {
            let per_cent = per_cent(data, p.value.y, *base.get(&self.chart.drawn(p.value.case))?)?;
            Some(Difference { x: p.x, style, case: p.value.case, per_cent })
        };
        points.filter_map(difference).collect()
    }
}

/// Difference of `value` from `base`; `None` if it is not finite.
pub fn per_cent(data: &ChartData, value: f64, base: f64) -> Option<f64> {
    let difference = match data.y.relative_to {
        Some(_) if !data.y.is_ratio() => value - base,
        _ => (value / base - 1.0) * 100.0,
    };
    difference.is_finite().then_some(difference)
}

/// The other record's result under our case, without its samples.
fn adopted(case: &Case, other: Option<&Record>) -> Record {
    let nothing = Record {
        case: case.clone(),
        repeats: None,
        work: None,
        rounds: Vec::new(),
        set_aside: Vec::new(),
        superseded: Vec::new(),
        verdict: None,
        status: Status::Pending,
        stop: None,
        wanted: 0,
        statistics: None,
        annotations: Vec::new(),
        forecasts: Vec::new(),
        ranked: Vec::new(),
    };
    match other.filter(|r| matches!(r.status, Status::Done | Status::Partial)) {
        None => nothing,
        Some(other) => Record {
            work: other.work.clone(),
            verdict: other.verdict.clone(),
            status: other.status.clone(),
            statistics: other.statistics.clone(),
            ..nothing
        },
    }
}

/// The results of another run, without its samples: runs are long.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub folder: PathBuf,
    pub plan: Plan,
    pub records: Vec<Record>,
}

impl Baseline {
    pub fn new(folder: &Path, ledger: &Ledger) -> Baseline {
        let bare = |record: &Record| Record {
            rounds: Vec::new(),
            set_aside: Vec::new(),
            superseded: Vec::new(),
            ..record.clone()
        };
        let records = ledger.records().iter().map(bare).collect();
        Baseline { folder: folder.to_owned(), plan: ledger.plan().clone(), records }
    }

    /// The name of the run's folder, without control characters.
    pub fn name(&self) -> String {
        escaped(&self.folder.file_name().unwrap_or_default().to_string_lossy())
    }

    /// Whether the run has any results to lay under a chart.
    pub fn is_measured(&self) -> bool {
        self.records.iter().any(|record| record.statistics.is_some())
    }
}
