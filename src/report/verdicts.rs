//! Judgements of two or more runs as a table for programs: `replay.csv`, and the CSV and JSON output of
//! `compare`.
//!
//! `docs/data-dictionary.md` describes every column.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::replace::replace;
use super::table::{self, NO_UNIT, Table};
use crate::case::{Case, Snapshot};
use crate::recipe::plan::Quantity;
use crate::report::judge::{Comparison, Difference, Judgement, Matched, Side};
use crate::run::Record;
use crate::stats::Ratio;
use crate::stats::comparison::Answer;
use crate::stats::interval::CONFIDENCE;

/// A run and its name, which is its folder.
#[derive(Clone, Debug)]
pub struct NamedRun<'a> {
    pub name: String,
    pub side: Side<'a>,
    /// What its cases looked like, in the order of their events; only for figures that show it.
    pub pictures: Vec<Pictured>,
}

/// A picture of a case in its first measured round.
#[derive(Clone, Debug, PartialEq)]
pub struct Pictured {
    /// The case's identity.
    pub case: String,
    pub picture: Snapshot,
}

impl<'a> NamedRun<'a> {
    /// A run without pictures.
    pub fn new(name: String, side: impl Into<Side<'a>>) -> NamedRun<'a> {
        NamedRun { name, side: side.into(), pictures: Vec::new() }
    }
}

/// A pair of cases, or a case without a counterpart.
#[derive(Clone, Copy)]
pub struct Row<'a> {
    baseline: &'a NamedRun<'a>,
    run: &'a NamedRun<'a>,
    comparison: &'a Comparison,
    margin: f64,
    judgement: Option<&'a Judgement>,
    /// The case of the baseline, and that of the run.
    then: Option<&'a Record>,
    now: Option<&'a Record>,
}

/// One row for each pair, in the baseline's order, then for each case only in the baseline, then for each
/// case only in the run; run by run.
pub fn table<'a>(
    baseline: &'a NamedRun<'a>,
    others: &'a [NamedRun<'a>],
    comparisons: &'a [Comparison],
    margin: f64,
) -> Table<'a, Row<'a>> {
    let mut rows = Vec::new();
    for (run, comparison) in others.iter().zip(comparisons) {
        let blank = Row { baseline, run, comparison, margin, judgement: None, then: None, now: None };
        let judged = |judgement: &'a Judgement| {
            let then = Some(baseline.side.record(judgement.pair.baseline)?);
            let now = Some(run.side.record(judgement.pair.other)?);
            Some(Row { judgement: Some(judgement), then, now, ..blank })
        };
        let only_baseline = |at: &usize| Some(Row { then: Some(baseline.side.record(*at)?), ..blank });
        let only_run = |at: &usize| Some(Row { now: Some(run.side.record(*at)?), ..blank });
        rows.extend(comparison.judgements.iter().filter_map(judged));
        rows.extend(comparison.only_baseline.iter().filter_map(only_baseline));
        rows.extend(comparison.only_other.iter().filter_map(only_run));
    }
    Table::new(columns(), rows)
}

type Column<'a> = table::Column<'a, Row<'a>>;

/// The columns, in order.
fn columns<'a>() -> [Column<'a>; 24] {
    let direction = |row: &Row| match row.judgement?.answer {
        Answer::Differ(direction) => Some(direction.word()),
        _ => None,
    };
    [
        Column::new("baseline", NO_UNIT, |row| row.baseline.name.clone()),
        Column::new("run", NO_UNIT, |row| row.run.name.clone()),
        Column::new("experiment", NO_UNIT, Row::experiment),
        Column::new("label", NO_UNIT, Row::label),
        Column::new("matched", NO_UNIT, |row| row.judgement.map_or("no", |j| j.pair.matched.word())),
        Column::new("case", NO_UNIT, |row| Some(row.then?.case.id.clone())),
        Column::new("run_case", NO_UNIT, |row| Some(row.now?.case.id.clone())),
        Column::new("backend", NO_UNIT, |row| Some(row.then?.case.backend().to_owned())),
        Column::new("run_backend", NO_UNIT, |row| Some(row.now?.case.backend().to_owned())),
        Column::new("baseline_rounds", "rounds", |row| rounds(row.then?)),
        Column::new("run_rounds", "rounds", |row| rounds(row.now?)),
        Column::new("baseline_s", "s", |row| seconds(row.then?)),
        Column::new("run_s", "s", |row| seconds(row.now?)),
        Column::new("baseline_gb_s", "GB/s", |row| bandwidth(row.then?)),
        Column::new("run_gb_s", "GB/s", |row| bandwidth(row.now?)),
        Column::new("ratio", "ratio", |row| Some(row.ratio()?.value)),
        Column::new("ratio_low", "ratio", |row| Some(row.ratio()?.low)),
        Column::new("ratio_high", "ratio", |row| Some(row.ratio()?.high)),
        Column::new("confidence", "ratio", |row| row.ratio().map(|_| row.comparison.confidence)),
        Column::new("margin", "ratio", |row| row.margin),
        Column::new("answer", NO_UNIT, |row| Some(row.judgement?.answer.word())),
        Column::new("direction", NO_UNIT, direction),
        Column::new("reason", NO_UNIT, |row| Some(row.judgement?.reason.as_ref()?.to_string())),
        Column::new("causes", NO_UNIT, |row| causes(&row.judgement?.causes)),
    ]
}

impl Row<'_> {
    fn ratio(&self) -> Option<Ratio> {
        Some(self.judgement?.evidence?.ratio)
    }

    /// The baseline's case, or that of the run if the baseline has none.
    fn case(&self) -> Option<(Side<'_>, &Case)> {
        let then = self.then.map(|record| (self.baseline.side, &record.case));
        then.or(self.now.map(|record| (self.run.side, &record.case)))
    }

    fn experiment(&self) -> Option<String> {
        let (side, case) = self.case()?;
        side.ledger.plan().experiments.get(case.experiment).map(|experiment| experiment.slug.clone())
    }

    fn label(&self) -> Option<String> {
        match (self.judgement, self.then, self.now) {
            (Some(judgement), Some(then), Some(now)) => {
                Some(pair_label(self.baseline.side, judgement.pair.matched, then, now))
            }
            _ => self.case().map(|(side, case)| label(side, case)),
        }
    }
}

/// A label that distinguishes a case within its experiment.
pub fn label(side: Side, case: &Case) -> String {
    let experiment = side.ledger.plan().experiments.get(case.experiment);
    experiment.map_or_else(|| case.id.clone(), |e| e.label(case))
}

/// The label of a pair, with the other run's backend if it differs.
pub fn pair_label(baseline: Side, matched: Matched, a: &Record, b: &Record) -> String {
    let label = label(baseline, &a.case);
    match matched {
        Matched::Identity => label,
        Matched::ExceptBackend => format!("{label} → {}", b.case.backend()),
    }
}

fn rounds(record: &Record) -> Option<usize> {
    record.statistics.as_ref().map(|s| s.rounds)
}

/// The geometric mean of the rounds' medians, seconds. Ratios are computed from it, so that a table's columns
/// and its ratio cannot disagree. Missing for a case without a valid result.
pub fn seconds(record: &Record) -> Option<f64> {
    record.statistics.as_ref()?;
    let logarithms: Vec<f64> = record.medians().iter().map(|median| median.ln()).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    Some(mean.exp()).filter(|seconds| seconds.is_finite())
}

/// The effective bandwidth at the time [`seconds`], GB/s.
pub fn bandwidth(record: &Record) -> Option<f64> {
    record.quantity_at(Quantity::Bandwidth, seconds(record)?).filter(|rate| rate.is_finite())
}

/// `background load: 0.0 CPUs → 0.9 CPUs; …`
fn causes(causes: &[Difference]) -> Option<String> {
    let words: Vec<String> = causes.iter().map(ToString::to_string).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// The whole JSON object.
#[derive(Serialize)]
struct Everything<'a> {
    margin: f64,
    /// Confidence of all intervals at once.
    confidence: f64,
    baseline: &'a str,
    runs: Vec<Run<'a>>,
    cases: Table<'a, Row<'a>>,
}

#[derive(Serialize)]
struct Run<'a> {
    run: &'a str,
    agree: usize,
    differ: usize,
    cannot_tell: usize,
    not_measured: usize,
    only_baseline: usize,
    only_run: usize,
    differences: &'a [Difference],
    copies: Vec<Copied<'a>>,
}

#[derive(Serialize)]
struct Copied<'a> {
    backend: &'a str,
    baseline_gb_s: f64,
    /// The 10 % and the 90 % quantile.
    baseline_range_gb_s: [f64; 2],
    run_gb_s: f64,
    run_range_gb_s: [f64; 2],
}

/// Everything as one JSON object: the summary of each run, the differences between the machines, and the rows.
pub fn json(
    baseline: &NamedRun,
    others: &[NamedRun],
    comparisons: &[Comparison],
    margin: f64,
) -> serde_json::Result<String> {
    let runs = others.iter().zip(comparisons).map(|(other, comparison)| summary(&other.name, comparison));
    let document = Everything {
        margin,
        confidence: CONFIDENCE,
        baseline: &baseline.name,
        runs: runs.collect(),
        cases: table(baseline, others, comparisons, margin),
    };
    Ok(serde_json::to_string_pretty(&document)? + "\n")
}

fn summary<'a>(run: &'a str, comparison: &'a Comparison) -> Run<'a> {
    let copies = comparison.copies.iter().map(|c| Copied {
        backend: &c.backend,
        baseline_gb_s: c.baseline.median,
        baseline_range_gb_s: [c.baseline.low, c.baseline.high],
        run_gb_s: c.other.median,
        run_range_gb_s: [c.other.low, c.other.high],
    });
    Run {
        run,
        agree: comparison.count("agree"),
        differ: comparison.count("differ"),
        cannot_tell: comparison.count("cannot tell"),
        not_measured: comparison.count("not measured"),
        only_baseline: comparison.only_baseline.len(),
        only_run: comparison.only_other.len(),
        differences: &comparison.differences,
        copies: copies.collect(),
    }
}

/// Writes a table as `name` into `folder` atomically, and returns its path.
pub fn write(folder: &Path, name: &str, table: Table<Row>) -> Result<PathBuf> {
    replace(folder, name, |out| table.csv(out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::Run as Made;
    use crate::report::judge::{MARGIN, compare};
    use crate::report::table::tests::documented;
    use serde_json::Value as Json;

    fn made() -> (Made, Made) {
        let steady = |factor: f64| [1.0, 1.002, 0.998].map(|t| t * factor).to_vec();
        let a = Made::new(&[steady(1.0), steady(1.0), vec![]], Some(10.0));
        let b = Made::new(&[steady(1.0), steady(1.5), vec![], steady(1.0)], Some(9.9));
        (a, b)
    }

    fn with<T>(use_them: impl FnOnce(&NamedRun, &[NamedRun], &[Comparison]) -> T) -> T {
        let (a, b) = made();
        let named = |name: &str, run| NamedRun::new(name.to_owned(), Made::side(run));
        let comparisons = compare(a.side(), &[b.side()], MARGIN);
        use_them(&named("old", &a), &[named("new", &b)], &comparisons)
    }

    /// The rows as JSON.
    fn rows(baseline: &NamedRun, others: &[NamedRun], comparisons: &[Comparison]) -> Vec<Json> {
        let table = serde_json::to_value(table(baseline, others, comparisons, MARGIN)).expect("JSON");
        table.as_array().expect("rows").clone()
    }

    #[test]
    fn every_pair_and_every_lonely_case_has_a_row() {
        let rows = with(rows);
        let answers =
            rows.iter().map(|row| ["matched", "answer", "direction"].map(|name| row[name].as_str()));
        let expected = [
            ["identity", "agree", ""],
            ["identity", "differ", "slower"],
            ["identity", "not measured", ""],
            ["no", "", ""],
        ];
        let expected = expected.map(|row| row.map(|word| (!word.is_empty()).then_some(word)));
        assert_eq!(answers.collect::<Vec<_>>(), expected);
        assert_eq!((rows[3]["case"].as_str(), rows[3]["run_rounds"].as_u64()), (None, Some(3)));
    }

    /// An outlying round moves the mean but not the median.
    #[test]
    fn the_ratio_is_that_of_the_times_beside_it() {
        let a = Made::new(&[vec![1.0, 1.01, 0.99, 1.0, 7.0]], Some(10.0));
        let b = Made::new(&[vec![1.2, 1.19, 1.21, 1.2, 1.2]], Some(10.0));
        let named = |name: &str, run| NamedRun::new(name.to_owned(), Made::side(run));
        let comparisons = compare(a.side(), &[b.side()], MARGIN);
        let found = rows(&named("old", &a), &[named("new", &b)], &comparisons);
        let [ratio, now, then, rate_now, rate_then] =
            ["ratio", "run_s", "baseline_s", "run_gb_s", "baseline_gb_s"]
                .map(|name| found[0][name].as_f64().expect("a number"));
        assert!(ratio < 0.9, "{ratio}");
        assert!((now / then / ratio - 1.0).abs() < 1e-12);
        assert!((rate_then / rate_now / ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn missing_values_are_empty_cells() {
        let mut out = Vec::new();
        with(|a, b, c| table(a, b, c, MARGIN).csv(&mut out).expect("written"));
        let text = String::from_utf8(out).expect("UTF-8");
        let mut reader = ::csv::Reader::from_reader(text.as_bytes());
        let cells: Vec<std::collections::HashMap<String, String>> =
            reader.deserialize().collect::<Result<_, _>>().expect("rows with the header's columns");
        assert_eq!((cells[2]["ratio"].as_str(), cells[2]["answer"].as_str()), ("", "not measured"));
        assert_eq!(cells[1]["baseline_rounds"], "3");
        assert!(!text.contains("NaN"));
    }

    #[test]
    fn the_dictionary_knows_every_column() {
        documented("replay.csv", &columns());
    }

    #[test]
    fn the_document_counts() {
        let text = with(|a, b, c| json(a, b, c, MARGIN).expect("written"));
        let document: Json = serde_json::from_str(&text).expect("JSON");
        let run = &document["runs"][0];
        let counts = ["agree", "differ", "cannot_tell", "not_measured", "only_run"].map(|k| run[k].as_u64());
        assert_eq!(counts, [1, 1, 0, 1, 1].map(Some));
        assert_eq!(document["cases"].as_array().map(Vec::len), Some(4));
        assert_eq!(run["copies"][0]["run_gb_s"].as_f64(), Some(9.9));
    }
}
