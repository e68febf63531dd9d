//! Marks of a figure: each point and each missing value, once. The picture, its notes and its table are made
//! from the same marks.

use std::borrow::Cow;

use super::lookup::{FEW_USES, Found, Missing, Subject, Value as Bandwidth, uses};
use super::platform::Platform;
use crate::case::units::number_of;
use crate::report::cell::Cell;
use crate::report::series::NoteKind;
use crate::report::table::{Column, NO_UNIT, Table};

/// A point of a figure, or the reason why it is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub panel: String,
    /// The platform's label.
    pub platform: String,
    /// The subject of the mark: `stride 4`, `PENNANT-G0`.
    pub pattern: String,
    /// The position on a numeric x axis.
    pub x: Option<f64>,
    pub y: Result<Spread, Missing>,
    /// Unit of y: `GB/s`, `%`, `of stride 1`.
    pub unit: &'static str,
    /// The run and the case of the mark; empty if there is none.
    pub run: String,
    pub case: String,
    /// The baseline's case, for relative values.
    pub baseline: String,
    /// Number of equivalent results that are not drawn.
    pub others: usize,
    /// How often the case uses its pattern.
    pub uses: Option<u64>,
}

/// A value at the fastest sample, and at the slowest and the fastest one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub y: f64,
    pub low: f64,
    pub high: f64,
}

impl Spread {
    fn over(self, base: f64) -> Spread {
        Spread { y: self.y / base, low: self.low / base, high: self.high / base }
    }
}

impl From<&Bandwidth<'_>> for Spread {
    fn from(value: &Bandwidth) -> Spread {
        Spread { y: value.y, low: value.low, high: value.high }
    }
}

impl Mark {
    /// The platform's value for `wanted`.
    pub fn of(panel: &str, platform: &Platform, pattern: String, x: Option<f64>, wanted: Subject) -> Mark {
        let found = platform.find(wanted);
        let mark = Mark::missing(panel, platform, pattern, Missing::not_applicable(""));
        let (run, case) = match &found {
            Ok(value) => (value.run.to_owned(), value.record.case.id.clone()),
            Err(_) => (String::new(), String::new()),
        };
        let y = found.as_ref().map(Spread::from).map_err(Missing::clone);
        let uses = found.as_ref().ok().and_then(|value| uses(value.record));
        Mark { x, y, run, case, others: platform.passed_over(wanted), uses, ..mark }
    }

    /// A mark without a value.
    pub fn missing(panel: &str, platform: &Platform, pattern: String, why: Missing) -> Mark {
        Mark {
            panel: panel.to_owned(),
            platform: platform.label.clone(),
            pattern,
            x: None,
            y: Err(why),
            unit: "GB/s",
            run: String::new(),
            case: String::new(),
            baseline: String::new(),
            others: 0,
            uses: None,
        }
    }

    /// The mark as the ratio to a baseline.
    pub fn against(mut self, base: &Found, name: &str, unit: &'static str) -> Mark {
        self.unit = unit;
        match base {
            Ok(base) => {
                self.baseline.clone_from(&base.record.case.id);
                self.y = self.y.map(|spread| spread.over(base.y));
            }
            Err(missing) if self.y.is_ok() => {
                let why = note(missing.kind, &missing.reason);
                self.y = Err(Missing::no_baseline(format!("{name} ({why})")));
            }
            Err(_) => {}
        }
        self
    }
}

/// Notes on missing values, one line for each platform and reason.
pub fn notes(marks: &[Mark]) -> Vec<String> {
    let mut groups: Vec<(&str, &Missing, Vec<String>)> = Vec::new();
    for mark in marks {
        let Err(missing) = &mark.y else { continue };
        // If the panels are the patterns or the platforms, one of the two names suffices.
        let told = [&mark.pattern, &mark.platform].into_iter().any(|word| *word == mark.panel);
        let of = if told { mark.pattern.clone() } else { format!("{} {}", mark.panel, mark.pattern) };
        match groups.iter_mut().find(|(p, m, _)| *p == mark.platform && *m == missing) {
            Some((_, _, all)) if all.contains(&of) => {}
            Some((_, _, all)) => all.push(of),
            None => groups.push((&mark.platform, missing, vec![of])),
        }
    }
    let line = |(platform, missing, of): &(&str, &Missing, Vec<String>)| match missing.kind {
        NoteKind::NoBaseline => {
            let patterns = number_of(of.len(), "pattern");
            format!("{platform}: {patterns} left out, because the baseline is missing: {}", missing.reason)
        }
        kind => format!("{}: {platform}{}", note(kind, &missing.reason), listed(of)),
    };
    let others: usize = marks.iter().map(|mark| mark.others).sum();
    let others = (others > 0).then(|| {
        format!("Not drawn: {others} more results of the same patterns, with other lengths, sizes, caches or methods")
    });
    groups.iter().map(line).chain(others).chain(few_uses(marks)).collect()
}

/// A note on patterns with so few uses that their times include more than memory accesses.
fn few_uses(marks: &[Mark]) -> Option<String> {
    let mut few: Vec<String> = Vec::new();
    for mark in marks.iter().filter(|mark| mark.y.is_ok() && mark.uses.is_some_and(|uses| uses < FEW_USES)) {
        if !few.contains(&mark.pattern) {
            few.push(mark.pattern.clone());
        }
    }
    let why = format!(
        "Under {FEW_USES} repetitions, of cold caches where a run has these: launch overhead and latency are included"
    );
    (!few.is_empty()).then(|| format!("{why}{}", listed(&few)))
}

/// The reasons why nothing is drawn, each once.
pub fn reasons(marks: &[Mark]) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for missing in marks.iter().filter_map(|mark| mark.y.as_ref().err()) {
        let reason = note(missing.kind, &missing.reason);
        if !found.contains(&reason) {
            found.push(reason);
        }
    }
    found
}

fn note(kind: NoteKind, reason: &str) -> String {
    let word = kind.word();
    if reason.is_empty() { word.to_owned() } else { format!("{word}: {reason}") }
}

/// `: a, b, c and 4 more`.
fn listed(of: &[String]) -> String {
    const MOST: usize = 8;
    let more = of.len().saturating_sub(MOST);
    let words = of[..of.len() - more].join(", ");
    if more > 0 { format!(": {words} and {more} more") } else { format!(": {words}") }
}

/// Exactly the drawn and the missing values, as CSV.
pub fn table(figure: &str, marks: &[Mark]) -> anyhow::Result<String> {
    let columns = [
        "figure", "panel", "platform", "pattern", "x", "y", "y_min", "y_max", "unit", "status", "reason",
        "run", "case", "baseline",
    ];
    let rows = marks.iter().map(|mark| row(figure, mark));
    csv(columns, rows)
}

/// Rows with a cell for each of the columns, as CSV.
pub fn csv<N: Into<Cow<'static, str>>>(
    columns: impl IntoIterator<Item = N>,
    rows: impl Iterator<Item = Vec<Option<Cell>>>,
) -> anyhow::Result<String> {
    let column =
        |(at, name): (usize, N)| Column::new(name, NO_UNIT, move |row: &Vec<Option<Cell>>| row[at].clone());
    let columns: Vec<_> = columns.into_iter().enumerate().map(column).collect();
    let mut out = Vec::new();
    Table::new(columns, rows).csv(&mut out)?;
    Ok(String::from_utf8(out)?)
}

fn row(figure: &str, mark: &Mark) -> Vec<Option<Cell>> {
    let text = |text: &str| (!text.is_empty()).then(|| Cell::text(text));
    let value = |part: fn(&Spread) -> f64| mark.y.as_ref().ok().and_then(|spread| Cell::number(part(spread)));
    let missing = mark.y.as_ref().err();
    vec![
        text(figure),
        text(&mark.panel),
        text(&mark.platform),
        text(&mark.pattern),
        mark.x.and_then(Cell::number),
        value(|s| s.y),
        value(|s| s.low.min(s.high)),
        value(|s| s.low.max(s.high)),
        text(mark.unit),
        text(missing.map_or("measured", |m| m.kind.word())),
        missing.and_then(|m| text(&m.reason)),
        text(&mark.run),
        text(&mark.case),
        text(&mark.baseline),
    ]
}
