//! Several runs of an experiment on one chart: their cases are merged into one plan with the run as an
//! additional parameter, and drawn like any other.

mod styled;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use self::styled::{only_backends, styled};
use super::names::{chart_names, letter};
use super::replace::replace;
use super::series::{ChartData, NoteKind, series};
use super::svg::{Caption, device_name, render};
use super::verdicts::NamedRun;
use crate::case::{Case, Value, listed};
use crate::recipe::plan::{Axis, Experiment, Plan, Scale};
use crate::report::judge::{Comparison, Matched};
use crate::run::Record;

/// Key of the parameter that distinguishes the runs.
const RUN: &str = "run";

/// An overlay of one experiment.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// Slug of the experiment in the baseline.
    pub slug: String,
    pub data: ChartData,
    pub caption: Caption,
}

/// An overlay for each of the baseline's experiments in which another run has a matching case. Only matching
/// cases are drawn.
pub fn overlays(baseline: &NamedRun, others: &[NamedRun], comparisons: &[Comparison]) -> Vec<Overlay> {
    let experiments = baseline.side.ledger.plan().experiments.iter().enumerate();
    experiments
        .filter_map(|(at, experiment)| {
            let records = records(at, baseline, others, comparisons);
            (!records.is_empty()).then(|| overlay(experiment, records, baseline, others, comparisons))
        })
        .collect()
}

/// The records of several runs as one chart of an experiment; each record is [`marked`] with the position of its run.
pub(super) fn side_by_side(experiment: &Experiment, records: Vec<Record>, runs: &[&NamedRun]) -> Overlay {
    let (records, uncertified) = judged(records);
    let describe = |(run, named): (usize, &&NamedRun)| describe((run, ""), named, &records);
    let key = runs.iter().enumerate().map(describe).collect();
    drawn(&merged(experiment, &records, runs, false), &records, key, [None, uncertified])
}

/// Writes one SVG for each overlay into the existing `folder`, and returns their paths.
///
/// # Errors
/// A file that cannot be written; an older file of this name is preserved.
pub fn write_all(folder: &Path, overlays: &[Overlay]) -> Result<Vec<PathBuf>> {
    let names = chart_names(overlays.iter().map(|overlay| overlay.slug.as_str()));
    overlays.iter().zip(&names).map(|(overlay, name)| overlay.replace(folder, name)).collect()
}

impl Overlay {
    /// Writes the chart to `path` atomically.
    ///
    /// # Errors
    /// As for [`write_all`]; also a path without a file name.
    pub fn write(&self, path: &Path) -> Result<PathBuf> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.with_context(|| format!("{} is not a file name", path.display()))?;
        self.replace(path.parent().unwrap_or(Path::new("")), name)
    }

    fn replace(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        let document = render(&self.data, &self.caption)?;
        replace(folder, name, |out| Ok(out.write_all(document.as_bytes())?))
    }
}

/// The matching records of one of the baseline's experiments, run by run, each with its run as a parameter.
fn records(at: usize, baseline: &NamedRun, others: &[NamedRun], comparisons: &[Comparison]) -> Vec<Record> {
    let pairs = |comparison: &Comparison| {
        let pairs: Vec<_> = comparison.judgements.iter().map(|judgement| judgement.pair).collect();
        pairs.into_iter().filter(|pair| {
            baseline.side.record(pair.baseline).is_some_and(|record| record.case.experiment == at)
        })
    };
    let mut ours: Vec<usize> = comparisons.iter().flat_map(|c| pairs(c).map(|pair| pair.baseline)).collect();
    ours.sort_unstable();
    ours.dedup();
    let mut found: Vec<Record> =
        ours.iter().filter_map(|at| Some(marked(baseline.side.record(*at)?, 0))).collect();
    for (run, (other, comparison)) in others.iter().zip(comparisons).enumerate() {
        let mut theirs: Vec<usize> = pairs(comparison).map(|pair| pair.other).collect();
        theirs.sort_unstable();
        theirs.dedup();
        found.extend(theirs.iter().filter_map(|at| Some(marked(other.side.record(*at)?, run + 1))));
    }
    found
}

/// The record with its run as a parameter.
pub(super) fn marked(record: &Record, run: usize) -> Record {
    let params = record.case.params.clone().with(RUN, Value::Text(letter(run)));
    Record { case: Case { experiment: 0, params, ..record.case.clone() }, ..record.clone() }
}

fn overlay(
    experiment: &Experiment,
    records: Vec<Record>,
    baseline: &NamedRun,
    others: &[NamedRun],
    comparisons: &[Comparison],
) -> Overlay {
    let (records, uncertified) = judged(records);
    let runs: Vec<&NamedRun> = std::iter::once(baseline).chain(others).collect();
    let role = |run| if run == 0 { " (baseline)" } else { "" };
    let describe = |(run, named): (usize, &&NamedRun)| describe((run, role(run)), named, &records);
    let key = runs.iter().enumerate().map(describe).collect();
    let mixed =
        comparisons.iter().flat_map(|c| &c.judgements).any(|j| j.pair.matched == Matched::ExceptBackend);
    let alone: usize = comparisons.iter().map(|c| c.only_baseline.len() + c.only_other.len()).sum();
    let alone = (alone > 0).then(|| format!("cases without a counterpart ({alone} in all experiments)"));
    drawn(&merged(experiment, &records, &runs, mixed), &records, key, [alone, uncertified])
}

/// The records without results that lack a certificate, and the words for how many there were: hollow markers
/// distinguish runs here, not missing certificates.
fn judged(records: Vec<Record>) -> (Vec<Record>, Option<String>) {
    let drawn = |record: &Record| record.statistics.is_none() || record.stands();
    let (records, uncertified): (Vec<Record>, Vec<Record>) = records.into_iter().partition(drawn);
    let count = uncertified.len();
    (records, (count > 0).then(|| format!("results without a certificate ({count})")))
}

/// The chart of a merged plan. `key` describes the runs, `left_out` says what is not among the records.
fn drawn(plan: &Plan, records: &[Record], key: Vec<String>, left_out: [Option<String>; 2]) -> Overlay {
    let mut data = styled(series(plan, 0, records), key.len(), &only_backends(records));
    let peers = without_doubts(&mut data);
    let parts: Vec<String> = left_out.into_iter().flatten().collect();
    let left_out = (!parts.is_empty()).then(|| format!("Not drawn: {}", parts.join(", ")));
    let doubted = peers.then(|| "Peers are not certified".to_owned());
    let notes: Vec<String> = left_out.into_iter().chain(doubted).collect();
    let notes = (!notes.is_empty()).then(|| notes.join(" · "));
    let samples = records.iter().filter_map(|record| record.statistics.as_ref());
    let caption = Caption::overlay(plan, key, notes, samples);
    let slug = plan.experiments.first().map(|one| one.slug.clone()).unwrap_or_default();
    Overlay { slug, data, caption }
}

/// Draws every point like the others of its run; returns whether some lack a certificate (peers').
fn without_doubts(data: &mut ChartData) -> bool {
    let before = data.notes.len();
    data.notes.retain(|note| note.kind != NoteKind::Uncertified);
    let panels = data.panels.iter_mut();
    panels.for_each(|panel| {
        let points = panel.lines.iter_mut().flat_map(|line| &mut line.points).map(|point| &mut point.value);
        let references = panel.references.iter_mut().map(|reference| &mut reference.value);
        points.chain(references).for_each(|value| value.certified = true);
    });
    data.notes.len() < before
}

/// A plan of a single experiment, with the run as its first line parameter. `mixed`: cases of different backends match.
fn merged(experiment: &Experiment, records: &[Record], runs: &[&NamedRun], mixed: bool) -> Plan {
    let values = (0..runs.len()).map(|run| Value::Text(letter(run))).collect();
    let (key, name) = (RUN.to_owned(), RUN.to_owned());
    let mut merged = experiment.clone();
    // Each run has its own copies.
    merged.chart.ceiling = None;
    merged.chart.models = Some(Vec::new());
    merged.axes.push(Axis { key, name, values, scale: Scale::Category, bytes: false, maps: Vec::new() });
    let shown = |key: &str| {
        let chart = &experiment.chart;
        chart.x == key || chart.lines.iter().chain(&chart.panels).any(|k| k == key)
    };
    if mixed && !shown("backend") {
        merged.chart.lines.insert(0, "backend".to_owned());
    }
    merged.chart.lines.insert(0, RUN.to_owned());
    let cases = records.iter().map(|record| record.case.clone()).collect();
    Plan { experiments: vec![merged], cases, ..runs[0].side.ledger.plan().clone() }
}

/// `A (baseline): reports/x · 2026-11-20 12:00:00 · host: scalar, cpu: AMD EPYC`.
fn describe((run, role): (usize, &str), named: &NamedRun, records: &[Record]) -> String {
    let manifest = named.side.manifest;
    let own = Value::Text(letter(run));
    let mut devices: Vec<(&str, Vec<String>)> = Vec::new();
    for record in records.iter().filter(|r| r.case.params.get(RUN) == Some(&own) && r.statistics.is_some()) {
        let (backend, number) = record.case.place();
        let name = device_name((backend, number), &manifest.environment, &manifest.devices);
        let backend = listed::called(&manifest.devices, backend, number as usize);
        match devices.iter_mut().find(|(known, _)| *known == name) {
            Some((_, backends)) if backends.contains(&backend) => {}
            Some((_, backends)) => backends.push(backend),
            None => devices.push((name, vec![backend])),
        }
    }
    let devices = devices.iter().map(|(name, backends)| format!("{}: {name}", backends.join(", ")));
    let words = [named.name.clone(), manifest.started.clone(), manifest.environment.host.clone()];
    let words: Vec<String> = words.into_iter().chain(devices).filter(|word| !word.is_empty()).collect();
    format!("{}{role}: {}", letter(run), words.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::Run as Made;
    use crate::report::judge::{MARGIN, compare};

    fn drawn(a: &Made, b: &Made) -> Vec<Overlay> {
        let named = |name: &str, run| NamedRun::new(name.to_owned(), Made::side(run));
        let comparisons = compare(a.side(), &[b.side()], MARGIN);
        overlays(&named("old", a), &[named("new", b)], &comparisons)
    }

    fn steady(n: usize) -> Vec<Vec<f64>> {
        (0..n).map(|i| vec![0.1 * (i + 1) as f64; 3]).collect()
    }

    #[test]
    fn runs_are_lines_and_only_what_matches_is_drawn() {
        let overlays = drawn(&Made::new(&steady(3), None), &Made::new(&steady(2), None));
        let [only] = overlays.as_slice() else { panic!("one experiment") };
        let labels: Vec<&str> =
            only.data.labels.iter().map(String::as_str).filter(|l| !l.is_empty()).collect();
        assert_eq!(labels, ["A, cpu", "B, cpu"]);
        assert_eq!(only.data.measured().count(), 4, "the third case has no counterpart");
        let document = render(&only.data, &only.caption).expect("a chart");
        for words in ["A (baseline): old · ", "B: new · ", ">\nB, cpu\n<", "Not drawn"] {
            assert!(document.contains(words), "{words:?} is not in\n{document}");
        }
    }

    #[test]
    fn peers_are_drawn_and_their_lack_of_a_certificate_is_said() {
        let run = Made::of_peer(&steady(2));
        let [only] = drawn(&run, &run).try_into().expect("one experiment");
        assert_eq!(only.data.measured().count(), 4);
        assert!(only.data.measured().all(|m| m.certified), "hollow is the other run");
        let document = render(&only.data, &only.caption).expect("a chart");
        assert!(document.contains("Peers are not certified") && !document.contains("hollow"), "{document}");
    }

    #[test]
    fn charts_stay_in_their_folder_and_do_not_replace_each_other() {
        let folder = tempfile::tempdir().expect("a folder");
        let run = Made::new(&steady(2), None);
        let [one] = drawn(&run, &run).try_into().expect("one experiment");
        let named = |slug: &str| Overlay { slug: slug.to_owned(), ..Overlay::clone(&one) };
        let all = [named("../../a"), named("a"), named("")];
        let paths = write_all(folder.path(), &all).expect("written");
        assert!(paths.iter().all(|path| path.parent() == Some(folder.path())), "{paths:?}");
        assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 3, "{paths:?}");
        assert!(one.write(&folder.path().join("..")).is_err());
    }

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 1, 25, 26].map(letter), ["A", "B", "Z", "A1"]);
    }
}
