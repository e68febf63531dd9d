//! Text around a chart.

use crate::case::gpus::taking_part;
use crate::case::{Case, Device, Place, listed};
use crate::engine::protocol::Environment;
use crate::recipe::plan::{Experiment, Paper, Plan};
use crate::report::{Origin, names};
use crate::run::Record;

/// Text below the title and below the chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// The recipe's title, if the experiment's title differs.
    pub recipe: Option<String>,
    /// Changes made on the command line; next to the title, which may no longer fit.
    pub changes: Option<String>,
    /// Paper, figure and claim; `None` for experiments without a paper.
    pub paper: Option<String>,
    /// Descriptions of the runs, if there are several.
    pub runs: Vec<String>,
    /// Notes on missing points, besides the chart's own notes.
    pub notes: Vec<String>,
    /// How to read the points, where they were measured, and how to reproduce them.
    pub lines: Vec<String>,
}

impl Caption {
    /// The caption of one experiment of the origin's plan.
    pub fn new(origin: &Origin, experiment: usize, records: &[Record]) -> Caption {
        let plan = origin.plan;
        let found = plan.experiments.get(experiment);
        let used = places(records, experiment);
        let mut lines: Vec<String> = found.map(sampling).into_iter().collect();
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter().filter(|c| c.experiment == experiment))));
        lines.extend(machine(&used, origin.environment, origin.devices));
        let hash = plan.short_hash();
        lines.push(format!("Recipe {hash} · {} · scatterlab {}", origin.date, origin.version));
        let recipe = found.filter(|e| e.title != plan.title).map(|_| plan.title.clone());
        let changes =
            (!plan.overrides.is_empty()).then(|| format!("Changed by {}", plan.overrides.join(" ")));
        let paper = found.and_then(|e| e.paper.as_ref()).map(paper);
        Caption { recipe, changes, paper, lines, ..Caption::default() }
    }

    /// The caption of one experiment with predictions only.
    pub fn predicted(origin: &Origin, experiment: usize) -> Caption {
        let plan = origin.plan;
        let found = plan.experiments.get(experiment);
        let mut lines = vec!["Predicted; nothing was measured".to_owned()];
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter().filter(|c| c.experiment == experiment))));
        lines.push(format!("Recipe {} · scatterlab {}", plan.short_hash(), origin.version));
        let recipe = found.filter(|e| e.title != plan.title).map(|_| plan.title.clone());
        let changes =
            (!plan.overrides.is_empty()).then(|| format!("Changed by {}", plan.overrides.join(" ")));
        let paper = found.and_then(|e| e.paper.as_ref()).map(paper);
        Caption { recipe, changes, paper, lines, ..Caption::default() }
    }

    /// The caption of several runs on one chart, described by `runs`.
    pub fn overlay(plan: &Plan, runs: Vec<String>, notes: Option<String>) -> Caption {
        let found = plan.experiments.first();
        let paper = found.and_then(|e| e.paper.as_ref()).map(paper);
        let mut lines = vec![format!("{POINTS}; the runs side by side")];
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter())));
        lines.extend(notes);
        Caption { paper, runs, lines, ..Caption::default() }
    }
}

fn paper(paper: &Paper) -> String {
    let number = |word: &str, n: &Option<String>| n.as_ref().map(|n| format!(", {word} {n}"));
    let figure = number("figure", &paper.figure).unwrap_or_default();
    let table = number("table", &paper.table).unwrap_or_default();
    let claim = paper.claim.as_ref().map(|c| format!(": {c}")).unwrap_or_default();
    format!("{}{figure}{table}{claim}", paper.key)
}

/// Explanation of a point, and of the bar through it.
pub const POINTS: &str = "Points: median of the rounds' medians; bars: fastest to slowest sample";
/// Explanation of a point without a bar.
pub const BARE_POINTS: &str = "Points: median of the rounds' medians";

fn sampling(experiment: &Experiment) -> String {
    format!("{POINTS} ({})", names::sampling(&experiment.measure))
}

/// `Fixed: index 4 B · tuples 16Mi`: parameters that all cases share, for readers who have only the picture.
fn fixed<'a>(experiment: &Experiment, mut cases: impl Iterator<Item = &'a Case>) -> Option<String> {
    let mut common = cases.next()?.params.clone();
    for case in cases {
        common.0.retain(|key, value| case.params.get(key) == Some(value));
    }
    let told = |key: &str| key != "backend" && names::axis(experiment, key).is_none();
    let words: Vec<String> = common
        .0
        .iter()
        .filter(|(key, _)| told(key))
        .map(|(key, value)| {
            let text = names::value(value, names::is_size(experiment, key));
            format!("{} {text}", names::name(experiment, key))
        })
        .collect();
    (!words.is_empty()).then(|| format!("Fixed: {}", words.join(" · ")))
}

/// Devices of the experiment with a result, in the plan's order.
fn places(records: &[Record], experiment: usize) -> Vec<Place<'_>> {
    let mut found: Vec<Place> = Vec::new();
    for record in records.iter().filter(|r| r.case.experiment == experiment && r.statistics.is_some()) {
        for place in all_places(record) {
            if !found.contains(&place) {
                found.push(place);
            }
        }
    }
    found
}

/// Devices of a case: the first one, and the others that take part.
fn all_places(record: &Record) -> impl Iterator<Item = Place<'_>> {
    let (backend, first) = record.case.place();
    let resolved = record.rounds.last().map(|round| round.resolved.as_slice()).unwrap_or_default();
    (first..first + taking_part(&record.case.params, resolved)).map(move |number| (backend, number))
}

/// `scalar, cpu: INTEL … · cuda: NVIDIA H200`; `None` if nothing was measured.
fn machine(places: &[Place], environment: &Environment, devices: &[Device]) -> Option<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for &place in places {
        let name = device_name(place, environment, devices);
        let called = listed::called(devices, place.0, place.1 as usize);
        match groups.iter_mut().find(|(n, _)| *n == name) {
            Some((_, members)) => members.push(called),
            None => groups.push((name, vec![called])),
        }
    }
    let words: Vec<String> = groups.iter().map(|(name, members)| group(name, members)).collect();
    (!words.is_empty()).then(|| words.join(" · "))
}

fn group(name: &str, backends: &[String]) -> String {
    let name = if name.is_empty() { "unnamed device" } else { name };
    format!("{}: {name}", backends.join(", "))
}

/// The name of a backend's device with this number; for CPU backends without a device, the name of the
/// processor.
pub fn device_name<'a>(
    (backend, number): Place,
    environment: &'a Environment,
    devices: &'a [Device],
) -> &'a str {
    let named = listed::nth(devices, backend, number as usize).filter(|device| !device.name.is_empty());
    match named {
        Some(device) => &device.name,
        None if backend == "cuda" => "",
        None => &environment.cpu,
    }
}
