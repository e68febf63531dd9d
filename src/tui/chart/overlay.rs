//! Another run's results behind the measured ones.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::laid::{Laid, Other, lay};
use crate::case::units::escaped;
use crate::case::{Case, Device};
use crate::engine::protocol::Environment;
use crate::recipe::plan::{Chart, Plan};
use crate::report::series::{ChartData, Panel};
use crate::report::svg::device_name;
use crate::run::{Ledger, Record};

/// Another run under the charts of this one.
#[derive(Clone, Debug)]
pub struct Overlay {
    pub name: String,
    baseline: Baseline,
    shown: Option<Place>,
    laid: Result<Laid, String>,
    /// What differs between the machines, there and here.
    machines: Option<String>,
}

/// The chart under which it lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub experiment: usize,
    pub chart: Option<Chart>,
    /// The number of styles of the chart: those of the overlay's own lines follow.
    pub styles: usize,
    pub machine: Option<Machine>,
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
    /// The baseline under a chart of `plan`.
    pub fn new(baseline: &Baseline, plan: &Plan, place: Place) -> Overlay {
        let (name, baseline) = (baseline.name(), baseline.clone());
        let mut overlay = Overlay { name, baseline, shown: None, laid: Err(String::new()), machines: None };
        overlay.show(plan, place);
        overlay
    }

    /// Number of values on the chart.
    pub fn matched(&self) -> usize {
        self.chart().map_or(0, |chart| chart.measured().count())
    }

    /// The values over the axes of the shown chart, with the panels of that chart; `None` if there are none.
    pub fn chart(&self) -> Option<&ChartData> {
        self.laid.as_ref().ok().map(|laid| &laid.chart)
    }

    /// Why there are no values.
    pub fn refusal(&self) -> Option<&str> {
        self.laid.as_ref().err().map(String::as_str)
    }

    /// `tuple 8 B → 16 B`: what differs besides x, lines and panels, there and here.
    pub fn differs(&self) -> String {
        let laid = self.laid.iter().flat_map(|laid| &laid.differs);
        laid.chain(&self.machines).map(String::as_str).collect::<Vec<_>>().join(", ")
    }

    /// The lines that the shown chart does not have, by their styles.
    pub fn own_lines(&self) -> impl Iterator<Item = (usize, &str)> {
        let first = self.shown.as_ref().map_or(0, |place| place.styles);
        let own = self.laid.iter().flat_map(|laid| laid.chart.labels.iter().skip(laid.shared));
        own.enumerate().map(move |(at, label)| (first + at, label.as_str()))
    }

    /// Switches to another chart.
    pub fn show(&mut self, plan: &Plan, place: Place) {
        if self.shown.as_ref() == Some(&place) {
            return;
        }
        let other = Other { plan: &self.baseline.plan, records: &self.baseline.records };
        self.laid = lay(plan, place.experiment, other).map(|laid| moved(laid, place.styles));
        let machines = self.baseline.machine.as_ref().zip(place.machine.as_ref());
        self.machines = machines.and_then(|(there, here)| there.differs(here));
        self.shown = Some(place);
    }

    /// The overlay's value at the place of a case, in the unit of y.
    pub fn value(&self, data: &ChartData, case: usize) -> Option<f64> {
        let panels = data.panels.iter().zip(&self.chart()?.panels);
        panels.into_iter().find_map(|(panel, under)| {
            let lines = panel.lines.iter().flat_map(|line| line.points.iter().map(move |p| (line.style, p)));
            let point = lines.into_iter().find(|(_, point)| point.value.case == case);
            let reference = || panel.references.iter().find(|reference| reference.value.case == case);
            match point {
                Some((style, point)) => at(under, style, point.x),
                None => {
                    let style = reference()?.style;
                    under.references.iter().find(|other| other.style == style).map(|other| other.value.y)
                }
            }
        })
    }

    /// The differences of a panel's points from the overlay, line by line.
    pub fn differences(&self, data: &ChartData, panel: usize) -> Vec<Difference> {
        let Some(under) = self.chart().and_then(|chart| chart.panels.get(panel)) else { return Vec::new() };
        let lines = data.panels.get(panel).map(|p| p.lines.as_slice()).unwrap_or_default();
        let points = lines.iter().flat_map(|l| l.points.iter().map(move |p| (l.style, p)));
        let base =
            under.lines.iter().flat_map(|l| l.points.iter().map(move |p| (place(l.style, p.x), p.value.y)));
        let base: HashMap<(usize, u64), f64> = base.collect();
        let difference = |(style, p): (usize, &crate::report::series::Point)| {
            let per_cent = per_cent(data, p.value.y, *base.get(&place(style, p.x))?)?;
            Some(Difference { x: p.x, style, case: p.value.case, per_cent })
        };
        points.filter_map(difference).collect()
    }
}

/// A line and an x, as a key.
fn place(style: usize, x: f64) -> (usize, u64) {
    (style, x.to_bits())
}

/// The value of a line at x.
fn at(panel: &Panel, style: usize, x: f64) -> Option<f64> {
    let lines = panel.lines.iter().filter(|line| line.style == style);
    lines.flat_map(|line| &line.points).find(|point| point.x == x).map(|point| point.value.y)
}

/// Gives the lines that the chart below does not have the styles from `first` on.
fn moved(mut laid: Laid, first: usize) -> Laid {
    let shared = laid.shared;
    let to = |style: &mut usize| {
        if *style >= shared {
            *style = first + (*style - shared);
        }
    };
    for panel in &mut laid.chart.panels {
        panel.lines.iter_mut().for_each(|line| to(&mut line.style));
        panel.references.iter_mut().for_each(|reference| to(&mut reference.style));
    }
    laid
}

/// Difference of `value` from `base`; `None` if it is not finite.
pub fn per_cent(data: &ChartData, value: f64, base: f64) -> Option<f64> {
    let difference = match data.y.relative_to {
        Some(_) if !data.y.is_ratio() => value - base,
        _ => (value / base - 1.0) * 100.0,
    };
    difference.is_finite().then_some(difference)
}

/// The results of another run, without its samples: runs are long.
#[derive(Clone, Debug)]
pub struct Baseline {
    pub folder: PathBuf,
    pub plan: Plan,
    pub records: Vec<Record>,
    /// Where it was measured, if that is known.
    pub machine: Option<Machine>,
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
        Baseline { folder: folder.to_owned(), plan: ledger.plan().clone(), records, machine: None }
    }

    /// The baseline, measured in this environment on these devices.
    pub fn on(self, environment: &Environment, devices: &[Device]) -> Baseline {
        let machine = Machine::of(&self.plan.cases, environment, devices);
        Baseline { machine: Some(machine), ..self }
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

/// The host and the devices of a run's cases.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    host: String,
    devices: Vec<String>,
}

impl Machine {
    pub fn of(cases: &[Case], environment: &Environment, devices: &[Device]) -> Machine {
        let names = cases.iter().map(|case| escaped(device_name(case.place(), environment, devices)));
        let mut devices: Vec<String> = names.filter(|name| !name.is_empty()).collect();
        devices.sort_unstable();
        devices.dedup();
        Machine { host: escaped(&environment.host), devices }
    }

    /// `machine AMD EPYC → NVIDIA H200`; of equal devices, their hosts.
    fn differs(&self, here: &Machine) -> Option<String> {
        let known = !self.devices.is_empty() && !here.devices.is_empty();
        if known && self.devices != here.devices {
            return Some(format!("machine {} → {}", self.devices.join(", "), here.devices.join(", ")));
        }
        (self.host != here.host).then(|| format!("host {} → {}", self.host, here.host))
    }
}
