//! `results.csv` (one row per case) and `samples.csv` (one row per sample).
//!
//! `docs/data-dictionary.md` describes every column. A value that does not exist is an
//! empty cell, never 0 or NaN.

mod columns;
mod fixed;
#[cfg(test)]
pub(crate) mod tests;

use std::io::Write;

use anyhow::{Context, Result};

use self::columns::{columns, gflops, set_aside, speeds_of_light, transfers};
use super::cell::Cell;
use super::copies::Copies;
use super::format::{Document, Format, Table};
use super::origin::Origin;
use crate::engine::protocol::RoundResult;
use crate::run::{Record, Status};

/// The data of one row.
pub(crate) struct Row<'a> {
    pub origin: &'a Origin<'a>,
    pub record: &'a Record,
}

/// One row for each of the plan's cases, in the plan's order. Times are in seconds, sizes in bytes, rates in
/// GB/s (1e9 bytes per second). `copies` are those of the run.
pub fn table<'a>(
    origin: &'a Origin<'a>,
    records: &'a [Record],
    copies: &Copies,
) -> Table<impl Iterator<Item = Vec<Option<Cell>>> + use<'a>> {
    let mut columns = columns(origin.plan, records);
    columns.extend(gflops(records));
    columns.extend(transfers(records));
    columns.extend(set_aside(records));
    columns.extend(speeds_of_light(origin.plan, records, copies));
    let names = columns.iter().map(|column| column.name.clone()).collect();
    let cells = move |record| -> Vec<Option<Cell>> {
        columns.iter().map(|column| column.source.cell(&Row { origin, record })).collect()
    };
    Table { columns: names, rows: records.iter().map(cells) }
}

/// Writes [`table`].
pub fn results(out: impl Write, origin: &Origin, records: &[Record], copies: &Copies) -> Result<()> {
    let mut document = Document::new(out, Format::Csv);
    document.table(table(origin, records, copies))?;
    document.end()
}

/// Columns of `samples.csv`.
const SAMPLES: [&str; 10] =
    ["case", "round", "attempt", "counts", "sample", "seconds", "batch", "started", "flags", "status"];

/// Writes one row for each sample of each attempt at each round. Samples of failed cases and of attempts that
/// do not count are included; columns mark them. Those of rounds that were set aside are in the events only.
pub fn samples(out: impl Write, records: &[Record]) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(SAMPLES).context("samples.csv")?;
    for record in records {
        let status = status(&record.status);
        let counting = record.rounds.iter().map(|round| (round, "yes"));
        let aside = record.set_aside.iter().map(|round| (round, "no"));
        let mut attempts: Vec<_> = counting.chain(aside).collect();
        attempts.sort_by_key(|(round, _)| (round.round, round.attempt));
        for (round, counts) in attempts {
            write_samples(&mut writer, round, counts, status).context("samples.csv")?;
        }
    }
    writer.flush().context("samples.csv")
}

fn write_samples(
    writer: &mut csv::Writer<impl Write>,
    round: &RoundResult,
    counts: &str,
    status: &str,
) -> csv::Result<()> {
    let numbers = [round.round, round.attempt, round.batch].map(|n| n.to_string());
    let [number, attempt, batch] = numbers.each_ref().map(String::as_str);
    let float = |value| Cell::number(value).map(|cell| cell.to_string()).unwrap_or_default();
    let started = float(round.started);
    let flags = round.flags.iter().map(|flag| flag.word()).collect::<Vec<_>>().join(";");
    for (i, seconds) in round.samples.iter().enumerate() {
        let (i, seconds) = (i.to_string(), float(*seconds));
        let head = [&round.case, number, attempt, counts, &i];
        writer.write_record(head.into_iter().chain([&seconds, batch, &started, &flags, status]))?;
    }
    Ok(())
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
