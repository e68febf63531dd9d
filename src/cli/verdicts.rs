//! The table of what was judged, for people.

mod doubts;
mod notes;
mod ratio;

use self::notes::Notes;
pub use self::ratio::change;
use super::out;
use crate::judge::{Answer, Comparison, Copied, Direction, Judgement};
use crate::measure::interval::CONFIDENCE;
use crate::plan::Case;
use crate::report::overlay::letter;
use crate::report::unit;
use crate::report::verdicts::{Named, bandwidth, pair_label};
use crate::run::Record;
use crate::units;

/// Columns between which a table leaves two spaces; numbers stand to the right.
const RIGHT: [bool; 5] = [false, true, true, true, false];

/// Cases without a counterpart that are named, of each experiment.
const NAMED: usize = 10;

/// What the runs are called around their table.
#[derive(Clone, Debug)]
pub struct Heads {
    /// Above the columns: `then` and `now`, or the runs' letters.
    pub baseline: String,
    pub other: String,
    /// The folder that a replay would measure again, quoted for a shell.
    pub again: String,
}

/// Which run each letter stands for.
pub fn print_key(runs: &[&Named]) {
    let widest = runs.iter().map(|run| width(&run.name)).max().unwrap_or(0);
    for (at, run) in runs.iter().enumerate() {
        let manifest = run.side.manifest;
        let role = if at == 0 { "baseline" } else { "" };
        let about = [manifest.started.as_str(), &manifest.environment.host, &devices(run)];
        let about: Vec<&str> = about.into_iter().filter(|word| !word.is_empty()).collect();
        let name = padded(&run.name, widest, false);
        // A folder from elsewhere must not steer this terminal.
        out::line(&units::escaped(&format!("{}  {name}  {role:8}  {}", letter(at), about.join(" · "))));
    }
}

/// `AMD EPYC, NVIDIA H200`: what the run has results of.
fn devices(run: &Named) -> String {
    let manifest = run.side.manifest;
    let mut names: Vec<&str> = Vec::new();
    for record in run.side.ledger.records().iter().filter(|record| record.statistics.is_some()) {
        let backend = record.case.backend();
        let name = crate::report::svg::device_name(backend, &manifest.environment, &manifest.devices);
        if !names.contains(&name) && !name.is_empty() {
            names.push(name);
        }
    }
    names.join(", ")
}

/// Prints a run's table, what explains, what matched nothing, and the summary.
pub fn print(baseline: &Named, other: &Named, comparison: &Comparison, margin: f64, heads: &Heads) {
    let mut notes = Notes::default();
    let mut rows: Vec<[String; 5]> = Vec::new();
    let mut titles = Vec::new();
    let several = baseline.side.ledger.plan().experiments.len() > 1;
    let mut last = None;
    for judgement in &comparison.judgements {
        let pair = judgement.pair;
        let (Some(a), Some(b)) = (baseline.side.record(pair.baseline), other.side.record(pair.other)) else {
            continue;
        };
        if several && last != Some(a.case.experiment) {
            last = Some(a.case.experiment);
            titles.push((rows.len(), title(baseline, &a.case)));
        }
        rows.push(row(baseline, judgement, a, b, &mut notes).map(|cell| units::escaped(&cell)));
    }
    let head = [
        "case",
        &format!("{} GB/s", heads.baseline),
        &format!("{} GB/s", heads.other),
        &format!("time {}/{}", heads.other, heads.baseline),
        "answer",
    ];
    print_table(&head.map(str::to_owned), &rows, &titles);
    out::line("GB/s and times: of the geometric means of the rounds' medians. A time above ×1 is slower.");
    notes.print();
    doubts::print(baseline, other, comparison, heads);
    print_alone(baseline, &comparison.only_baseline, &heads.baseline);
    print_alone(other, &comparison.only_other, &heads.other);
    print_differences(comparison);
    out::line("");
    out::line(&summary(comparison, margin));
}

fn title(run: &Named, case: &Case) -> String {
    run.side.ledger.plan().experiments.get(case.experiment).map(|e| e.title.clone()).unwrap_or_default()
}

fn row(baseline: &Named, judgement: &Judgement, a: &Record, b: &Record, notes: &mut Notes) -> [String; 5] {
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

/// `1 case`, `2 cases`.
pub fn cases(n: usize) -> String {
    format!("{n} case{}", if n == 1 { "" } else { "s" })
}

/// The cases without a counterpart, by name, experiment by experiment.
fn print_alone(run: &Named, alone: &[usize], head: &str) {
    if alone.is_empty() {
        return;
    }
    out::line("");
    out::line(&format!("Only in {head}, {}:", cases(alone.len())));
    let records: Vec<&Record> = alone.iter().filter_map(|at| run.side.record(*at)).collect();
    for (at, experiment) in run.side.ledger.plan().experiments.iter().enumerate() {
        let own = records.iter().filter(|record| record.case.experiment == at);
        let names: Vec<String> = own.map(|record| experiment.label(&record.case)).collect();
        if !names.is_empty() {
            out::line(&units::escaped(&format!("  {}: {}", experiment.title, first(&names))));
        }
    }
}

/// The first names, and how many follow.
fn first(names: &[String]) -> String {
    let shown = names[..names.len().min(NAMED)].join("; ");
    match names.len() - names.len().min(NAMED) {
        0 => shown,
        more => format!("{shown}; and {more} more"),
    }
}

fn print_differences(comparison: &Comparison) {
    if !comparison.differences.is_empty() {
        out::line("");
        out::line("What differs between the machines and the programs:");
        comparison.differences.iter().for_each(|difference| {
            let remark = if difference.explains { "" } else { " (explains nothing)" };
            out::line(&format!("  {difference}{remark}"));
        });
    }
    if !comparison.copies.is_empty() {
        out::line("");
    }
    for copies in &comparison.copies {
        let [before, after] = [&copies.baseline, &copies.other].map(copied);
        let change = units::fmt_change(copies.other.median / copies.baseline.median - 1.0);
        let backend = units::escaped(&copies.backend);
        out::line(&format!("The machine's own copy on {backend}: {before} → {after} ({change})"));
    }
}

/// `33.7 GB/s (30.7–38.4)`, of a single copy `33.7 GB/s`.
fn copied(copied: &Copied) -> String {
    if copied.low == copied.high {
        return units::fmt_rate(copied.median);
    }
    let number = |rate: f64| units::fmt_rate(rate).replace(" GB/s", "");
    format!("{} ({}–{})", units::fmt_rate(copied.median), number(copied.low), number(copied.high))
}

/// `30 agree, 2 differ (2 slower) · margin 5 %; …`
pub fn summary(comparison: &Comparison, margin: f64) -> String {
    let towards =
        |direction| comparison.judgements.iter().filter(|j| j.answer == Answer::Differ(direction)).count();
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

fn print_table(head: &[String; 5], rows: &[[String; 5]], titles: &[(usize, String)]) {
    let cells = |column: usize| rows.iter().map(move |row| width(&row[column]));
    let widths: Vec<usize> = (0..5).map(|c| cells(c).chain([width(&head[c])]).max().unwrap_or(0)).collect();
    let line = |row: &[String; 5]| {
        let cells =
            row.iter().zip(&widths).zip(RIGHT).map(|((cell, width), right)| padded(cell, *width, right));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    out::line("");
    out::line(&line(head));
    for (at, row) in rows.iter().enumerate() {
        titles
            .iter()
            .filter(|(before, _)| *before == at)
            .for_each(|(_, title)| out::line(&units::escaped(title)));
        out::line(&line(row));
    }
}

/// Characters; every one that a label holds takes one column.
fn width(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, columns: usize, right: bool) -> String {
    if right { format!("{text:>columns$}") } else { format!("{text:<columns$}") }
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
