//! `results.csv` (one row a case) and `samples.csv` (one row a sample).
//!
//! `docs/data-dictionary.md` describes every column. A value that does not exist is an
//! empty cell, never 0 or NaN.

mod columns;
mod fixed;
#[cfg(test)]
pub(crate) mod tests;

use std::io::Write;

use anyhow::{Context, Result};

use self::columns::columns;
use crate::backend::Device;
use crate::engine::protocol::Environment;
use crate::plan::Plan;
use crate::run::{Record, Status};

/// Everything that a row may tell of.
pub(crate) struct Row<'a> {
    pub plan: &'a Plan,
    pub record: &'a Record,
    pub environment: &'a Environment,
    pub devices: &'a [Device],
}

/// Writes one row for each of the plan's cases, in the plan's order. Times are in
/// seconds, sizes in bytes, rates in GB/s (1e9 bytes a second).
pub fn results(
    out: impl Write,
    plan: &Plan,
    records: &[Record],
    environment: &Environment,
    devices: &[Device],
) -> Result<()> {
    let columns = columns(plan, records);
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(columns.iter().map(|c| c.name.as_str())).context("results.csv")?;
    for record in records {
        let row = Row { plan, record, environment, devices };
        writer.write_record(columns.iter().map(|c| c.source.cell(&row).unwrap_or_default()))?;
    }
    writer.flush().context("results.csv")
}

/// Columns of `samples.csv`.
const SAMPLES: [&str; 7] = ["case", "round", "sample", "seconds", "batch", "started", "status"];

/// Writes one row for each sample of each round. Samples of failed cases are there
/// too: the last column says so.
pub fn samples(out: impl Write, records: &[Record]) -> Result<()> {
    let mut writer = csv::Writer::from_writer(out);
    writer.write_record(SAMPLES).context("samples.csv")?;
    for record in records {
        let status = status(&record.status);
        for round in &record.rounds {
            for (i, seconds) in round.samples.iter().enumerate() {
                let (number, batch) = (round.round.to_string(), round.batch.to_string());
                let started = float(round.started).unwrap_or_default();
                let seconds = float(*seconds).unwrap_or_default();
                let id = record.case.id.as_str();
                writer.write_record([id, &number, &i.to_string(), &seconds, &batch, &started, status])?;
            }
        }
    }
    writer.flush().context("samples.csv")
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

/// The shortest digits that read back as the same number; nothing for what is none.
fn float(value: f64) -> Option<String> {
    value.is_finite().then(|| value.to_string())
}
