//! The columns that every `results.csv` has.

use super::{Row, status};
use crate::case::{Cache, Verdict, Work};
use crate::engine::protocol::RoundResult;
use crate::recipe::plan::{Experiment, Paper, Quantity};
use crate::report::cell::Cell;
use crate::report::svg::device_name;
use crate::report::table::NO_UNIT;
use crate::run::Status;
use crate::stats::Statistics;

/// A column's name, its unit, and the function that yields its cell; `None` is an empty cell.
pub type Fixed = (&'static str, &'static str, fn(&Row) -> Option<Cell>);

/// Timed batches shorter than this, seconds, are flagged `short`: waking the workers and reading the clock
/// distort them.
const SHORT: f64 = 100e-6;

/// Columns before the parameters.
pub const HEAD: &[Fixed] = &[
    ("case", NO_UNIT, |r| Some(Cell::text(&r.record.case.id))),
    ("experiment", NO_UNIT, |r| experiment(r).map(|e| Cell::text(&e.slug))),
    ("primitive", NO_UNIT, |r| Some(Cell::text(&r.record.case.primitive))),
    ("status", NO_UNIT, |r| Some(Cell::text(status(&r.record.status)))),
    ("reason", NO_UNIT, reason),
    ("cache", NO_UNIT, |r| Some(Cell::text(cache(r)))),
];

/// Columns after the parameters.
pub const TAIL: &[Fixed] = &[
    ("samples", "samples", |r| stat(r).map(|s| s.samples.into())),
    ("rounds", "rounds", |r| stat(r).map(|s| s.rounds.into())),
    ("min_s", "s", |r| stat(r).and_then(|s| Cell::number(s.min))),
    ("p5_s", "s", |r| stat(r).and_then(|s| Cell::number(s.p5))),
    ("median_s", "s", |r| stat(r).and_then(|s| Cell::number(s.median))),
    ("p95_s", "s", |r| stat(r).and_then(|s| Cell::number(s.p95))),
    ("max_s", "s", |r| stat(r).and_then(|s| Cell::number(s.max))),
    ("mean_s", "s", |r| stat(r).and_then(|s| Cell::number(s.mean))),
    ("ci_low_s", "s", |r| stat(r).and_then(|s| Cell::number(s.interval?[0]))),
    ("ci_high_s", "s", |r| stat(r).and_then(|s| Cell::number(s.interval?[1]))),
    ("stop", NO_UNIT, |r| r.record.stop.map(|stop| Cell::text(stop.word()))),
    ("attempts", "attempts", attempts),
    ("cv", "ratio", |r| stat(r).and_then(|s| Cell::number(s.cv?))),
    ("spread", "ratio", |r| stat(r).and_then(|s| Cell::number(s.spread?))),
    ("work_elements", "elements", |r| work(r).map(|w| w.elements.into())),
    ("effective_bytes", "B", |r| work(r).map(|w| w.effective_bytes.into())),
    ("system_bytes", "B", |r| work(r).map(|w| w.system_bytes.into())),
    ("declared_bytes", "B", |r| work(r).map(|w| w.declared_bytes().into())),
    ("effective_gb_s", "GB/s", |r| quantity(r, Quantity::Bandwidth)),
    ("system_gb_s", "GB/s", |r| quantity(r, Quantity::SystemBandwidth)),
    ("throughput_elem_s", "elements/s", |r| quantity(r, Quantity::Throughput)),
    ("verification", NO_UNIT, verification),
    ("checked_elements", "elements", checked),
    ("tolerance", "ratio", tolerance),
    ("memory_bytes", "B", |r| rounds(r).map(|round| round.memory).max().map(Cell::from)),
    ("flags", NO_UNIT, flags),
    ("seed", NO_UNIT, |r| Some(r.record.case.seed.into())),
    ("paper", NO_UNIT, |r| paper(r).map(|p| Cell::text(&p.key))),
    ("figure", NO_UNIT, |r| paper(r).and_then(|p| p.figure.clone()).map(Cell::Text)),
    ("table", NO_UNIT, |r| paper(r).and_then(|p| p.table.clone()).map(Cell::Text)),
    ("device", NO_UNIT, device),
    ("recipe", NO_UNIT, |r| Some(Cell::Text(r.origin.plan.short_hash()))),
    ("version", NO_UNIT, |r| Some(Cell::text(r.origin.version))),
];

fn experiment<'a>(row: &Row<'a>) -> Option<&'a Experiment> {
    row.origin.plan.experiments.get(row.record.case.experiment)
}

fn paper<'a>(row: &Row<'a>) -> Option<&'a Paper> {
    experiment(row)?.paper.as_ref()
}

fn stat<'a>(row: &Row<'a>) -> Option<&'a Statistics> {
    row.record.statistics.as_ref()
}

fn work<'a>(row: &Row<'a>) -> Option<&'a Work> {
    row.record.work.as_ref()
}

fn rounds<'a>(row: &Row<'a>) -> impl Iterator<Item = &'a RoundResult> + use<'a> {
    row.record.rounds.iter()
}

/// State of the caches when a sample starts. Hot cases lack the parameter.
fn cache<'a>(row: &Row<'a>) -> &'a str {
    row.record.case.params.text(Cache::KEY).unwrap_or("hot")
}

fn quantity(row: &Row, quantity: Quantity) -> Option<Cell> {
    Cell::number(row.record.quantity(quantity)?)
}

fn reason(row: &Row) -> Option<Cell> {
    match &row.record.status {
        Status::NotApplicable(reason) | Status::Failed(reason) => Some(Cell::text(reason)),
        Status::Pending | Status::Partial | Status::Done => None,
    }
}

fn verification(row: &Row) -> Option<Cell> {
    let word = match row.record.verdict.as_ref() {
        Some(Verdict::Certified { .. }) => "certified",
        Some(Verdict::Wrong { .. }) => "wrong",
        // Only for measured cases: a case without times has none to doubt.
        None if row.record.case.peer().is_some() && stat(row).is_some() => "not certified: peer",
        None => return None,
    };
    Some(Cell::text(word))
}

fn checked(row: &Row) -> Option<Cell> {
    match row.record.verdict.as_ref()? {
        Verdict::Certified { checked } => Some((*checked).into()),
        Verdict::Wrong { .. } => None,
    }
}

/// The largest that an engine's certificate had.
fn tolerance(row: &Row) -> Option<Cell> {
    checked(row)?;
    Cell::number(rounds(row).filter_map(|round| round.tolerance).reduce(f64::max)?)
}

fn device(row: &Row) -> Option<Cell> {
    let name = device_name(row.record.case.place(), row.origin.environment, row.origin.devices);
    (!name.is_empty()).then(|| Cell::text(name))
}

/// Number of measured rounds, including repetitions of flagged ones.
fn attempts(row: &Row) -> Option<Cell> {
    let count = row.record.rounds.len() + row.record.set_aside.len();
    (count > 0).then(|| count.into())
}

/// Reasons to doubt the times, joined by `;`.
fn flags(row: &Row) -> Option<Cell> {
    let statistics = stat(row)?;
    let short = rounds(row).any(|r| r.samples.iter().any(|s| s * f64::from(r.batch) < SHORT));
    let flags = [
        ("partial", row.record.status == Status::Partial),
        ("uncertified", row.record.verdict.is_none()),
        ("short", short),
        ("unsteady", statistics.unsteady()),
    ];
    let noise = row.record.flags().into_iter().map(|flag| flag.word());
    let raised: Vec<&str> = flags.iter().filter(|(_, is)| *is).map(|(word, _)| *word).chain(noise).collect();
    (!raised.is_empty()).then(|| Cell::Text(raised.join(";")))
}
