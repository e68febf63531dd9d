//! The table of judgements for people: the lines of `compare` and `replay`, and the rows of the user
//! interface.

mod doubts;
mod notes;
mod ratio;

use self::notes::Notes;
pub use self::ratio::change;
use super::names::{cases, letter};
use super::table::{Column, NO_UNIT, OWN_UNIT, Table, padded};
use super::unit;
use super::verdicts::{NamedRun, bandwidth, pair_label};
use crate::case::{Case, units};
use crate::report::judge::{Comparison, Judgement};
use crate::run::Record;
use crate::stats::comparison::{Answer, Copied, Direction};
use crate::stats::interval::CONFIDENCE;

/// Which columns are right-aligned, as numbers are; columns are separated by two spaces.
pub const RIGHT: [bool; 5] = [false, true, true, true, false];

/// Explanation of the figures, below the table.
const ESTIMATOR: &str =
    "GB/s and times: of the geometric means of the rounds' medians. A time above ×1 is slower.";

/// Number of cases without a counterpart that are named, for each experiment.
const NAMED: usize = 10;

/// Names of the runs around their table.
#[derive(Clone, Debug)]
pub struct Heads {
    /// Column heads: `then` and `now`, or the runs' letters.
    pub baseline: String,
    pub other: String,
    /// The folder of the run to replay, quoted for a shell.
    pub again: String,
}

/// The judgements of two runs, in words. No text in it can contain terminal escapes, whatever the folders
/// contain.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Heads of the columns.
    pub head: [String; 5],
    pub rows: Vec<Row>,
    /// Lines below the table: notes, cases without a counterpart, differences between the machines. Each part
    /// starts with an empty line.
    pub remarks: Vec<String>,
    /// Number of cases by answer.
    pub summary: String,
}

/// A pair of cases.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Title of the experiment that begins here, if there are several.
    pub title: Option<String>,
    /// Name, both rates, change of time with its interval, answer.
    pub cells: [String; 5],
    pub answer: Answer,
}

/// The run of each letter.
pub fn key(runs: &[&NamedRun]) -> Vec<String> {
    let widest = runs.iter().map(|run| width(&units::escaped(&run.name))).max().unwrap_or(0);
    let line = |(at, run): (usize, &&NamedRun)| {
        let manifest = run.side.manifest;
        let role = if at == 0 { "baseline" } else { "" };
        let about = [manifest.started.as_str(), &manifest.environment.host, &devices(run)];
        let about: Vec<&str> = about.into_iter().filter(|word| !word.is_empty()).collect();
        let name = padded(&units::escaped(&run.name), widest, false);
        units::escaped(&format!("{}  {name}  {role:8}  {}", letter(at), about.join(" · ")))
    };
    runs.iter().enumerate().map(line).collect()
}

/// `AMD EPYC, NVIDIA H200`: devices with results in the run.
fn devices(run: &NamedRun) -> String {
    let manifest = run.side.manifest;
    let mut names: Vec<&str> = Vec::new();
    for record in run.side.ledger.records().iter().filter(|record| record.statistics.is_some()) {
        let name =
            crate::report::svg::device_name(record.case.place(), &manifest.environment, &manifest.devices);
        if !names.contains(&name) && !name.is_empty() {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Table, explanations, unmatched cases and summary for a run.
pub fn judged(
    baseline: &NamedRun,
    other: &NamedRun,
    comparison: &Comparison,
    margin: f64,
    heads: &Heads,
) -> Judged {
    let mut notes = Notes::default();
    let rows = rows(baseline, other, comparison, &mut notes);
    let [before, after] = [&heads.baseline, &heads.other].map(|head| format!("{head} GB/s"));
    let times = format!("time {}/{}", heads.other, heads.baseline);
    let head = ["case".to_owned(), before, after, times, "answer".to_owned()];
    let mut remarks = vec![ESTIMATOR.to_owned()];
    remarks.extend(notes.lines());
    remarks.extend(doubts::lines(baseline, other, comparison, &heads.again));
    remarks.extend(alone(baseline, &comparison.only_baseline, &heads.baseline));
    remarks.extend(alone(other, &comparison.only_other, &heads.other));
    remarks.extend(differences(comparison));
    let remarks = remarks.iter().map(|line| units::escaped(line)).collect();
    Judged { head, rows, remarks, summary: summary(comparison, margin) }
}

fn rows(baseline: &NamedRun, other: &NamedRun, comparison: &Comparison, notes: &mut Notes) -> Vec<Row> {
    let several = baseline.side.ledger.plan().experiments.len() > 1;
    let mut rows = Vec::new();
    let mut last = None;
    for judgement in &comparison.judgements {
        let pair = judgement.pair;
        let (Some(a), Some(b)) = (baseline.side.record(pair.baseline), other.side.record(pair.other)) else {
            continue;
        };
        let begins = several && last != Some(a.case.experiment);
        last = Some(a.case.experiment);
        let title = begins.then(|| units::escaped(&title(baseline, &a.case)));
        let cells = row(baseline, judgement, a, b, notes).map(|cell| units::escaped(&cell));
        rows.push(Row { title, cells, answer: judgement.answer });
    }
    rows
}

impl Judged {
    /// The whole as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = table(&self.head, &self.rows);
        lines.extend(self.remarks.iter().cloned());
        lines.extend([String::new(), self.summary.clone()]);
        lines
    }
}

fn title(run: &NamedRun, case: &Case) -> String {
    run.side.ledger.plan().experiments.get(case.experiment).map(|e| e.title.clone()).unwrap_or_default()
}

fn row(baseline: &NamedRun, judgement: &Judgement, a: &Record, b: &Record, notes: &mut Notes) -> [String; 5] {
    let name = pair_label(baseline.side, judgement.pair.matched, a, b);
    let change = judgement.evidence.map_or_else(|| "–".to_owned(), |evidence| change(evidence.ratio));
    [name, rate(a), rate(b), change, answer(judgement, notes)]
}

fn rate(record: &Record) -> String {
    bandwidth(record).map_or_else(|| "–".to_owned(), units::three_digits)
}

/// `differ: slower (1)`, with the number of its note.
fn answer(judgement: &Judgement, notes: &mut Notes) -> String {
    let word = match judgement.answer {
        Answer::Differ(direction) => format!("differ: {}", direction.word()),
        answer => answer.word().to_owned(),
    };
    let note = match (&judgement.reason, &judgement.answer) {
        (Some(reason), _) => Some(notes.number(reason.to_string(), None)),
        (None, Answer::Differ(_)) => notes.causes(&judgement.causes),
        _ => None,
    };
    note.map_or(word.clone(), |number| format!("{word} ({number})"))
}

/// The cases without a counterpart, by name and experiment.
fn alone(run: &NamedRun, alone: &[usize], head: &str) -> Vec<String> {
    if alone.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![String::new(), format!("Only in {head}, {}:", cases(alone.len()))];
    let records: Vec<&Record> = alone.iter().filter_map(|at| run.side.record(*at)).collect();
    for (at, experiment) in run.side.ledger.plan().experiments.iter().enumerate() {
        let own = records.iter().filter(|record| record.case.experiment == at);
        let names: Vec<String> = own.map(|record| experiment.label(&record.case)).collect();
        if !names.is_empty() {
            lines.push(format!("  {}: {}", experiment.title, first(&names)));
        }
    }
    lines
}

/// The first names, and the number of further ones.
fn first(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join("; ");
    match names.len() - names.len().min(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn differences(comparison: &Comparison) -> Vec<String> {
    let mut lines = Vec::new();
    if !comparison.differences.is_empty() {
        lines.extend(["", "What differs between the machines and the programs:"].map(str::to_owned));
        lines.extend(comparison.differences.iter().map(|difference| {
            let remark = if difference.explains { "" } else { " (explains nothing)" };
            format!("  {difference}{remark}")
        }));
    }
    if !comparison.copies.is_empty() {
        lines.push(String::new());
    }
    lines.extend(comparison.copies.iter().map(|copies| {
        let [before, after] = [&copies.baseline, &copies.other].map(copied);
        let change = units::fmt_change(copies.other.median / copies.baseline.median - 1.0);
        format!("The machine's own copy on {}: {before} → {after} ({change})", copies.backend)
    }));
    lines
}

/// `33.7 GB/s (30.7–38.4)`; for a single copy `33.7 GB/s`.
fn copied(copied: &Copied) -> String {
    if copied.low == copied.high {
        return units::fmt_rate(copied.median);
    }
    let number = |rate: f64| units::fmt_rate(rate).replace(" GB/s", "");
    format!("{} ({}–{})", units::fmt_rate(copied.median), number(copied.low), number(copied.high))
}

/// `30 agree, 2 differ (2 slower) · margin 5 %; …`
pub fn summary(comparison: &Comparison, margin: f64) -> String {
    let towards = |direction| comparison.once().filter(|j| j.answer == Answer::Differ(direction)).count();
    let differ = match (towards(Direction::Slower), towards(Direction::Faster)) {
        (0, 0) => "0 differ".to_owned(),
        (slower, 0) => format!("{slower} differ (slower)"),
        (0, faster) => format!("{faster} differ (faster)"),
        (slower, faster) => format!("{} differ ({slower} slower, {faster} faster)", slower + faster),
    };
    let mut parts = vec![format!("{} agree", comparison.count("agree")), differ];
    parts.push(format!("{} cannot tell", comparison.count("cannot tell")));
    let others = [
        (comparison.count("not measured"), "measured on neither side"),
        (comparison.only_baseline.len() + comparison.only_other.len(), "without a counterpart"),
    ];
    parts.extend(others.iter().filter(|(n, _)| *n > 0).map(|(n, words)| format!("{n} {words}")));
    let percent = |share: f64| unit::number(share * 100.0);
    let (margin, confidence) = (percent(margin), percent(CONFIDENCE));
    format!("{} · margin {margin} %, all intervals hold at once with {confidence} %", parts.join(", "))
}

fn table(head: &[String; 5], rows: &[Row]) -> Vec<String> {
    let column = |at: usize| {
        let unit = if RIGHT[at] { OWN_UNIT } else { NO_UNIT };
        Column::new(head[at].as_str(), unit, move |row: &&Row| row.cells[at].clone())
    };
    let mut found = Table::new((0..head.len()).map(column).collect::<Vec<_>>(), rows).lines().into_iter();
    let mut lines = vec![String::new()];
    lines.extend(found.next());
    for (row, line) in rows.iter().zip(found) {
        lines.extend(row.title.clone());
        lines.push(line);
    }
    lines
}

/// Width in characters; every character of a label takes one column.
fn width(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_names_ends_with_a_count() {
        let names: Vec<String> = (0..12).map(|i| i.to_string()).collect();
        assert_eq!(first(&names[..10]), "0; 1; 2; 3; 4; 5; 6; 7; 8; 9");
        assert_eq!(first(&names), "0; 1; 2; 3; 4; 5; 6; 7; 8; 9; and 2 more");
    }
}
