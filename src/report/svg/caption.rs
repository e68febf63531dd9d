//! Text around a chart.

use crate::case::gpus::taking_part;
use crate::case::{Case, Device, Place, listed};
use crate::engine::protocol::Environment;
use crate::recipe::plan::{Bars, Experiment, Plan, Statistic, is_of_words};
use crate::report::names::cases;
use crate::report::series::BarKinds;
use crate::report::{Origin, names};
use crate::run::Record;
use crate::stats::Statistics;

/// Text below the title and below the chart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// The recipe's title, if the experiment's title does not begin with it.
    pub recipe: Option<String>,
    /// Changes made on the command line; next to the title, which may no longer fit.
    pub changes: Option<String>,
    /// Paper, figure and claim; `None` for experiments without a paper.
    pub paper: Option<String>,
    /// Descriptions of the runs, if there are several.
    pub runs: Vec<String>,
    /// What the run is worth.
    pub verdict: Option<String>,
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
        let own = || records.iter().filter(|r| r.case.experiment == experiment);
        let bars = |e: &Experiment| BarKinds::of(e.chart.bars, own().filter_map(|r| r.statistics.as_ref()));
        let mut lines: Vec<String> = found.map(|e| sampling(e, bars(e))).into_iter().collect();
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter().filter(|c| c.experiment == experiment))));
        lines.extend(machine(&used, origin.environment, origin.devices, threads(own()).as_deref()));
        let hash = plan.short_hash();
        lines.push(format!("Recipe {hash} · {} · scatterlab {}", origin.date, origin.version));
        let recipe = found.filter(|e| !e.title.starts_with(&plan.title)).map(|_| plan.title.clone());
        let changes =
            (!plan.overrides.is_empty()).then(|| format!("Changed by {}", plan.overrides.join(" ")));
        let paper = found.and_then(|e| e.paper.as_ref()).map(names::claimed);
        let notes = set_aside(own());
        Caption { recipe, changes, paper, notes: notes.into_iter().collect(), lines, ..Caption::default() }
    }

    /// The caption of one experiment with predictions only.
    pub fn predicted(origin: &Origin, experiment: usize) -> Caption {
        let plan = origin.plan;
        let found = plan.experiments.get(experiment);
        let mut lines = vec!["Predicted; nothing was measured".to_owned()];
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter().filter(|c| c.experiment == experiment))));
        lines.push(format!("Recipe {} · scatterlab {}", plan.short_hash(), origin.version));
        let recipe = found.filter(|e| !e.title.starts_with(&plan.title)).map(|_| plan.title.clone());
        let changes =
            (!plan.overrides.is_empty()).then(|| format!("Changed by {}", plan.overrides.join(" ")));
        let paper = found.and_then(|e| e.paper.as_ref()).map(names::claimed);
        Caption { recipe, changes, paper, lines, ..Caption::default() }
    }

    /// The caption of several runs on one chart, described by `runs`.
    pub fn overlay<'a>(
        plan: &Plan,
        runs: Vec<String>,
        notes: Option<String>,
        samples: impl Iterator<Item = &'a Statistics>,
    ) -> Caption {
        let found = plan.experiments.first();
        let paper = found.and_then(|e| e.paper.as_ref()).map(names::claimed);
        let bars = found.map_or(BarKinds::All(Bars::Range), |e| BarKinds::of(e.chart.bars, samples));
        let bars = bars.words().map(|words| format!("; {words}")).unwrap_or_default();
        let points = points(found.map(|e| e.chart.statistic).unwrap_or_default());
        let mut lines = vec![format!("{points}{bars}; the runs side by side")];
        lines.extend(found.and_then(|e| fixed(e, plan.cases.iter())));
        lines.extend(notes);
        Caption { paper, runs, lines, ..Caption::default() }
    }
}

/// `Set aside: 8 rounds of 2 cases, measured before the machine or the program changed`; `None` without any.
fn set_aside<'a>(records: impl Iterator<Item = &'a Record>) -> Option<String> {
    let counts = records.map(|record| record.superseded.len()).filter(|count| *count > 0);
    let (rounds, number) = counts.fold((0, 0), |(rounds, number), count| (rounds + count, number + 1));
    let round = if rounds == 1 { "round" } else { "rounds" };
    (number > 0).then(|| {
        let of = cases(number);
        format!("Set aside: {rounds} {round} of {of}, measured before the machine or the program changed")
    })
}

/// Explanation of a point.
fn points(statistic: Statistic) -> &'static str {
    match statistic {
        Statistic::Median => "Points: median of the rounds' medians",
        Statistic::Fastest => FASTEST_POINTS,
    }
}

/// Explanation of a point that is a case's fastest sample.
pub const FASTEST_POINTS: &str = "Points: fastest sample of all rounds";

fn sampling(experiment: &Experiment, bars: BarKinds) -> String {
    let bars = bars.words().map(|words| format!("; {words}")).unwrap_or_default();
    format!("{}{bars} ({})", points(experiment.chart.statistic), names::sampling(&experiment.measure))
}

/// `2 threads`, as the measured cases on several processors resolved it, or `1 to 4 threads`; `None` if there is no
/// such case.
fn threads<'a>(records: impl Iterator<Item = &'a Record>) -> Option<String> {
    let own = |record: &&Record| record.statistics.is_some() && record.case.backend() == "cpu";
    let counts: Vec<u64> = records.filter(own).filter_map(Record::threads).collect();
    let (least, most) = (counts.iter().min()?, counts.iter().max()?);
    Some(match (least, most) {
        (1, 1) => "1 thread".to_owned(),
        (least, most) if least == most => format!("{most} threads"),
        (least, most) => format!("{least} to {most} threads"),
    })
}

/// `Fixed: index 4 B · tuples 16Mi`: parameters that all cases share, for readers who have only the picture.
fn fixed<'a>(experiment: &Experiment, mut cases: impl Iterator<Item = &'a Case>) -> Option<String> {
    let mut common = cases.next()?.params.clone();
    for case in cases {
        common.0.retain(|key, value| case.params.get(key) == Some(value));
    }
    let told = |key: &str| key != "backend" && names::axis(experiment, key).is_none() && !is_of_words(key);
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

/// `scalar, cpu (2 threads): INTEL … · cuda: NVIDIA H200`; `None` if nothing was measured.
fn machine(
    places: &[Place],
    environment: &Environment,
    devices: &[Device],
    threads: Option<&str>,
) -> Option<String> {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for &place in places {
        let name = device_name(place, environment, devices);
        let called = listed::called(devices, place.0, place.1 as usize);
        let called = match threads.filter(|_| place.0 == "cpu") {
            Some(threads) => format!("{called} ({threads})"),
            None => called,
        };
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
