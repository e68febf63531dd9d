//! `results.csv` (one row per case) and `samples.csv` (one row per sample).
//!
//! `docs/data-dictionary.md` describes every column. A value that does not exist is an
//! empty cell, never 0 or NaN.

mod columns;
mod fixed;
pub mod json_schema;
#[cfg(test)]
pub(crate) mod tests;

use std::io::Write;

use anyhow::{Context, Result};

use super::copies::Copies;
use super::origin::Origin;
use super::table::{Column, Document, Format, NO_UNIT, Table};
use crate::engine::protocol::RoundResult;
use crate::run::{Record, Status};

/// The data of one row.
pub struct Row<'a> {
    origin: &'a Origin<'a>,
    record: &'a Record,
}

/// One row for each of the plan's cases, in the plan's order. Times are in seconds, sizes in bytes, rates in
/// GB/s (1e9 bytes per second). `copies` are those of the run.
pub fn table<'a>(origin: &'a Origin<'a>, records: &'a [Record], copies: &'a Copies) -> Table<'a, Row<'a>> {
    let rows = records.iter().map(|record| Row { origin, record });
    Table::new(columns::columns(origin, records, copies), rows)
}

/// Whether every such table has a column of this name.
pub fn is_fixed(name: &str) -> bool {
    columns::is_fixed(name)
}

/// Writes [`table`].
pub fn results(out: impl Write, origin: &Origin, records: &[Record], copies: &Copies) -> Result<()> {
    table(origin, records, copies).csv(out)
}

/// A sample of an attempt at a round.
struct Sample<'a> {
    record: &'a Record,
    round: &'a RoundResult,
    counts: &'static str,
    /// Position in the round.
    at: usize,
}

type SampleColumn<'a> = Column<'a, Sample<'a>>;

/// Columns of `samples.csv`.
fn columns_of_samples<'a>() -> [SampleColumn<'a>; 10] {
    let flags = |sample: &Sample| {
        let words: Vec<_> = sample.round.flags.iter().map(|flag| flag.word()).collect();
        words.join(";")
    };
    [
        SampleColumn::new("case", NO_UNIT, |sample| sample.round.case.clone()),
        SampleColumn::new("round", NO_UNIT, |sample| sample.round.round),
        SampleColumn::new("attempt", NO_UNIT, |sample| sample.round.attempt),
        SampleColumn::new("counts", NO_UNIT, |sample| sample.counts),
        SampleColumn::new("sample", NO_UNIT, |sample| sample.at),
        SampleColumn::new("seconds", "s", |sample| sample.round.samples.get(sample.at).copied()),
        SampleColumn::new("batch", "executions", |sample| sample.round.batch),
        SampleColumn::new("started", "s", |sample| sample.round.started),
        SampleColumn::new("flags", NO_UNIT, flags),
        SampleColumn::new("status", NO_UNIT, |sample| status(&sample.record.status)),
    ]
}

/// Writes one row for each sample of each attempt at each round. Samples of failed cases and of attempts that
/// do not count are included; columns mark them. Those of rounds that were set aside are in the events only. A
/// case that repeats another has none of its own.
pub fn samples(out: impl Write, records: &[Record]) -> Result<()> {
    let columns = columns_of_samples();
    let mut document = Document::new(out, Format::Csv);
    document.head(&columns).context("samples.csv")?;
    for record in records.iter().filter(|record| record.repeats.is_none()) {
        let counting = record.rounds.iter().map(|round| (round, "yes"));
        let aside = record.set_aside.iter().map(|round| (round, "no"));
        let mut attempts: Vec<_> = counting.chain(aside).collect();
        attempts.sort_by_key(|(round, _)| (round.round, round.attempt));
        for (round, counts) in attempts {
            let mut rows = (0..round.samples.len()).map(|at| Sample { record, round, counts, at });
            rows.try_for_each(|row| document.row(&columns, &row)).context("samples.csv")?;
        }
    }
    document.end().map(drop).context("samples.csv")
}

fn status(status: &Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Partial => "partial",
        Status::Done => "done",
        Status::NotApplicable(_) => "n/a",
        Status::Failed(_) => "failed",
    }
}
