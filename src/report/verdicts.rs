//! Judgements of two or more runs as a table for programs: `replay.csv`, and the CSV and JSON output of
//! `compare`.
//!
//! `docs/data-dictionary.md` describes every column.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::cell::Cell;
use super::format::{Document, Format, Object, Table};
use super::replace::replace;
use crate::case::{Case, Snapshot};
use crate::recipe::plan::Quantity;
use crate::report::judge::{Comparison, Difference, Judgement, Matched, Side};
use crate::run::Record;
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

/// A pair of cases, or a case without a counterpart. Missing values are `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    pub baseline: String,
    pub run: String,
    pub experiment: Option<String>,
    pub label: String,
    pub matched: &'static str,
    pub case: Option<String>,
    pub run_case: Option<String>,
    pub backend: Option<String>,
    pub run_backend: Option<String>,
    pub baseline_rounds: Option<usize>,
    pub run_rounds: Option<usize>,
    pub baseline_s: Option<f64>,
    pub run_s: Option<f64>,
    pub baseline_gb_s: Option<f64>,
    pub run_gb_s: Option<f64>,
    pub ratio: Option<f64>,
    pub ratio_low: Option<f64>,
    pub ratio_high: Option<f64>,
    pub confidence: Option<f64>,
    pub margin: f64,
    pub answer: Option<&'static str>,
    pub direction: Option<&'static str>,
    pub reason: Option<String>,
    pub causes: Option<String>,
}

/// One row for each pair, in the baseline's order, then for each case only in the baseline, then for each
/// case only in the run; run by run.
pub fn rows(baseline: &NamedRun, others: &[NamedRun], comparisons: &[Comparison], margin: f64) -> Vec<Row> {
    let mut rows = Vec::new();
    for (other, comparison) in others.iter().zip(comparisons) {
        let context = Pairing { baseline, other, margin, confidence: comparison.confidence };
        rows.extend(comparison.judgements.iter().filter_map(|judgement| context.judged(judgement)));
        rows.extend(comparison.only_baseline.iter().filter_map(|at| context.alone(*at, true)));
        rows.extend(comparison.only_other.iter().filter_map(|at| context.alone(*at, false)));
    }
    rows
}

struct Pairing<'a> {
    baseline: &'a NamedRun<'a>,
    other: &'a NamedRun<'a>,
    margin: f64,
    confidence: f64,
}

impl Pairing<'_> {
    fn judged(&self, judgement: &Judgement) -> Option<Row> {
        let (a, b) = (
            self.baseline.side.record(judgement.pair.baseline)?,
            self.other.side.record(judgement.pair.other)?,
        );
        let ratio = judgement.evidence.map(|evidence| evidence.ratio);
        let direction = match judgement.answer {
            Answer::Differ(direction) => Some(direction.word()),
            _ => None,
        };
        Some(Row {
            label: pair_label(self.baseline.side, judgement.pair.matched, a, b),
            matched: judgement.pair.matched.word(),
            ratio: ratio.map(|r| r.value),
            ratio_low: ratio.map(|r| r.low),
            ratio_high: ratio.map(|r| r.high),
            confidence: ratio.map(|_| self.confidence),
            answer: Some(judgement.answer.word()),
            direction,
            reason: judgement.reason.as_ref().map(ToString::to_string),
            causes: causes(&judgement.causes),
            ..self.with_other(b, self.with_baseline(a, self.blank()))
        })
    }

    fn alone(&self, at: usize, baseline: bool) -> Option<Row> {
        let side = if baseline { self.baseline.side } else { self.other.side };
        let record = side.record(at)?;
        let blank = Row { label: label(side, &record.case), matched: "no", ..self.blank() };
        Some(match baseline {
            true => self.with_baseline(record, blank),
            false => self.with_other(record, Row { experiment: slug(side, &record.case), ..blank }),
        })
    }

    fn blank(&self) -> Row {
        let (baseline, run) = (self.baseline.name.clone(), self.other.name.clone());
        Row { baseline, run, margin: self.margin, ..Row::default() }
    }

    fn with_baseline(&self, record: &Record, row: Row) -> Row {
        Row {
            experiment: slug(self.baseline.side, &record.case),
            case: Some(record.case.id.clone()),
            backend: Some(record.case.backend().to_owned()),
            baseline_rounds: rounds(record),
            baseline_s: seconds(record),
            baseline_gb_s: bandwidth(record),
            ..row
        }
    }

    fn with_other(&self, record: &Record, row: Row) -> Row {
        Row {
            run_case: Some(record.case.id.clone()),
            run_backend: Some(record.case.backend().to_owned()),
            run_rounds: rounds(record),
            run_s: seconds(record),
            run_gb_s: bandwidth(record),
            ..row
        }
    }
}

fn slug(side: Side, case: &Case) -> Option<String> {
    side.ledger.plan().experiments.get(case.experiment).map(|e| e.slug.clone())
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

/// A column's name, and the function that yields its cell in a row.
type Column = (&'static str, fn(&Row) -> Option<Cell>);

/// The columns, in order.
pub const COLUMNS: [Column; 24] = [
    ("baseline", |row| Some(Cell::text(&row.baseline))),
    ("run", |row| Some(Cell::text(&row.run))),
    ("experiment", |row| text(row.experiment.as_deref())),
    ("label", |row| Some(Cell::text(&row.label))),
    ("matched", |row| Some(Cell::text(row.matched))),
    ("case", |row| text(row.case.as_deref())),
    ("run_case", |row| text(row.run_case.as_deref())),
    ("backend", |row| text(row.backend.as_deref())),
    ("run_backend", |row| text(row.run_backend.as_deref())),
    ("baseline_rounds", |row| row.baseline_rounds.map(Cell::from)),
    ("run_rounds", |row| row.run_rounds.map(Cell::from)),
    ("baseline_s", |row| row.baseline_s.and_then(Cell::number)),
    ("run_s", |row| row.run_s.and_then(Cell::number)),
    ("baseline_gb_s", |row| row.baseline_gb_s.and_then(Cell::number)),
    ("run_gb_s", |row| row.run_gb_s.and_then(Cell::number)),
    ("ratio", |row| row.ratio.and_then(Cell::number)),
    ("ratio_low", |row| row.ratio_low.and_then(Cell::number)),
    ("ratio_high", |row| row.ratio_high.and_then(Cell::number)),
    ("confidence", |row| row.confidence.and_then(Cell::number)),
    ("margin", |row| Cell::number(row.margin)),
    ("answer", |row| text(row.answer)),
    ("direction", |row| text(row.direction)),
    ("reason", |row| text(row.reason.as_deref())),
    ("causes", |row| text(row.causes.as_deref())),
];

fn text(text: Option<&str>) -> Option<Cell> {
    text.map(Cell::text)
}

fn names() -> Vec<String> {
    COLUMNS.iter().map(|(name, _)| (*name).to_owned()).collect()
}

fn cells(row: &Row) -> Vec<Option<Cell>> {
    COLUMNS.iter().map(|(_, cell)| cell(row)).collect()
}

/// Writes rows; CSV has a header even if there are no rows.
pub fn write_rows(out: impl Write, format: Format, rows: &[Row]) -> Result<()> {
    let mut document = Document::new(out, format);
    document.table(Table { columns: names(), rows: rows.iter().map(cells) })?;
    document.end()
}

/// The whole JSON object.
#[derive(Serialize)]
struct Everything<'a> {
    margin: f64,
    /// Confidence of all intervals at once.
    confidence: f64,
    baseline: &'a str,
    runs: Vec<Run<'a>>,
    cases: Vec<Object<'a, String, Option<Cell>>>,
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
    differences: Vec<Told<'a>>,
    copies: Vec<Copied<'a>>,
}

#[derive(Serialize)]
struct Told<'a> {
    what: &'a str,
    baseline: &'a str,
    run: &'a str,
    explains: bool,
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

/// Writes everything as one JSON object: the summary of each run, the differences between the machines, and
/// the rows.
pub fn json(
    out: impl Write,
    baseline: &NamedRun,
    others: &[NamedRun],
    comparisons: &[Comparison],
    margin: f64,
) -> Result<()> {
    let columns = names();
    let rows = rows(baseline, others, comparisons, margin);
    let cells: Vec<_> = rows.iter().map(cells).collect();
    let runs = others.iter().zip(comparisons).map(|(other, comparison)| summary(&other.name, comparison));
    let document = Everything {
        margin,
        confidence: CONFIDENCE,
        baseline: &baseline.name,
        runs: runs.collect(),
        cases: cells.iter().map(|cells| Object { columns: &columns, cells }).collect(),
    };
    let mut out = out;
    serde_json::to_writer_pretty(&mut out, &document)?;
    Ok(out.write_all(b"\n")?)
}

fn summary<'a>(run: &'a str, comparison: &'a Comparison) -> Run<'a> {
    let told = |d: &'a Difference| Told {
        what: &d.what,
        baseline: &d.baseline,
        run: &d.other,
        explains: d.explains,
    };
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
        differences: comparison.differences.iter().map(told).collect(),
        copies: copies.collect(),
    }
}

/// Writes `name` into `folder` atomically, and returns its path.
pub fn write(folder: &Path, name: &str, rows: &[Row]) -> Result<PathBuf> {
    replace(folder, name, |out| write_rows(out, Format::Csv, rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::Run as Made;
    use crate::report::judge::{MARGIN, compare};

    fn made() -> (Made, Made) {
        let steady = |factor: f64| [1.0, 1.002, 0.998].map(|t| t * factor).to_vec();
        let a = Made::new(&[steady(1.0), steady(1.0), vec![]], Some(10.0));
        let b = Made::new(&[steady(1.0), steady(1.5), vec![], steady(1.0)], Some(9.9));
        (a, b)
    }

    fn with<T>(use_them: impl Fn(&NamedRun, &[NamedRun], &[Comparison]) -> T) -> T {
        let (a, b) = made();
        let named = |name: &str, run| NamedRun::new(name.to_owned(), Made::side(run));
        let comparisons = compare(a.side(), &[b.side()], MARGIN);
        use_them(&named("old", &a), &[named("new", &b)], &comparisons)
    }

    #[test]
    fn every_pair_and_every_lonely_case_has_a_row() {
        let rows = with(|a, b, c| rows(a, b, c, MARGIN));
        let answers: Vec<_> = rows.iter().map(|r| (r.matched, r.answer, r.direction)).collect();
        let expected = [
            ("identity", Some("agree"), None),
            ("identity", Some("differ"), Some("slower")),
            ("identity", Some("not measured"), None),
            ("no", None, None),
        ];
        assert_eq!(answers, expected);
        assert_eq!((rows[3].case.as_deref(), rows[3].run_rounds), (None, Some(3)));
    }

    /// An outlying round moves the mean but not the median.
    #[test]
    fn the_ratio_is_that_of_the_times_beside_it() {
        let a = Made::new(&[vec![1.0, 1.01, 0.99, 1.0, 7.0]], Some(10.0));
        let b = Made::new(&[vec![1.2, 1.19, 1.21, 1.2, 1.2]], Some(10.0));
        let named = |name: &str, run| NamedRun::new(name.to_owned(), Made::side(run));
        let comparisons = compare(a.side(), &[b.side()], MARGIN);
        let found = rows(&named("old", &a), &[named("new", &b)], &comparisons, MARGIN);
        let ratio = found[0].ratio.expect("a ratio");
        let of =
            |now: Option<f64>, then: Option<f64>| now.zip(then).map(|(now, then)| now / then).expect("both");
        assert!(ratio < 0.9, "{ratio}");
        assert!((of(found[0].run_s, found[0].baseline_s) / ratio - 1.0).abs() < 1e-12);
        assert!((of(found[0].baseline_gb_s, found[0].run_gb_s) / ratio - 1.0).abs() < 1e-12);
    }

    #[test]
    fn numbers_have_no_exponent_in_a_table() {
        let row = Row { baseline_s: Some(1.25e-8), run_s: Some(f64::NAN), ..Row::default() };
        let mut out = Vec::new();
        write_rows(&mut out, Format::Csv, &[row]).expect("written");
        let text = String::from_utf8(out).expect("UTF-8");
        assert!(text.contains(",0.0000000125,,"), "{text}");
    }

    #[test]
    fn missing_values_are_empty_cells() {
        let rows = with(|a, b, c| rows(a, b, c, MARGIN));
        let mut out = Vec::new();
        write_rows(&mut out, Format::Csv, &rows).expect("written");
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
        let dictionary = include_str!("../../docs/data-dictionary.md");
        let section = dictionary.split("\n## replay.csv").nth(1).expect("a section of its own");
        let section = section.split("\n## ").next().expect("its text");
        for (column, _) in COLUMNS {
            let described = |line: &str| {
                let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
                cells[0].contains(&format!("`{column}`")) && cells.len() == 4 && !cells.contains(&"")
            };
            assert!(section.lines().any(described), "{column} has no row with type, unit and meaning");
        }
    }

    #[test]
    fn the_document_counts() {
        let text = with(|a, b, c| {
            let mut out = Vec::new();
            json(&mut out, a, b, c, MARGIN).expect("written");
            String::from_utf8(out).expect("UTF-8")
        });
        let document: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        let run = &document["runs"][0];
        let counts = ["agree", "differ", "cannot_tell", "not_measured", "only_run"].map(|k| run[k].as_u64());
        assert_eq!(counts, [1, 1, 0, 1, 1].map(Some));
        assert_eq!(document["cases"].as_array().map(Vec::len), Some(4));
        assert_eq!(run["copies"][0]["run_gb_s"].as_f64(), Some(9.9));
    }
}
