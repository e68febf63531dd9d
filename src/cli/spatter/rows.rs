//! Writes rows of the table, or of CSV or JSON with statistics and the time of every run.

use serde_json::{Value as Json, json};

use crate::case::Verdict;
use crate::cli::out;
use crate::report::table::{self, Column, Document, NO_UNIT};
use crate::run::Record;
use crate::spatter::settings::Format;
use crate::spatter::{Config, output};
use crate::stats;

/// Writes rows as they arrive.
pub struct Rows {
    format: Format,
    /// CSV or JSON that is not yet on standard output.
    document: Document<Vec<u8>>,
    begun: bool,
}

impl Rows {
    pub fn new(format: Format) -> Rows {
        let of_document = if format == Format::Csv { table::Format::Csv } else { table::Format::Json };
        Rows { format, document: Document::new(Vec::new(), of_document), begun: false }
    }

    /// Writes a configuration's row. `bytes` counts what all of its GPUs move.
    pub fn write(&mut self, config: &Config, bytes: u64, record: &Record, fastest: f64) {
        match self.format {
            Format::Table => self.put(&output::row(config.id, bytes, fastest)),
            Format::Csv | Format::Json => {
                let times: Vec<f64> =
                    record.rounds.iter().flat_map(|round| round.samples.iter().copied()).collect();
                self.row(&columns(), &Run { config, bytes, record, times, fastest });
            }
        }
    }

    /// Writes a row of a table with these columns, in CSV or JSON.
    pub fn row<R>(&mut self, columns: &[Column<R>], row: &R) {
        // Writing into memory cannot fail.
        if !std::mem::replace(&mut self.begun, true) {
            let _ = self.document.head(columns);
        }
        let _ = self.document.row(columns, row);
        let text = std::mem::take(&mut self.document.out);
        self.put(&String::from_utf8_lossy(&text));
    }

    /// Writes a formatted row.
    pub fn put(&mut self, text: &str) {
        match self.format {
            Format::Json => out::json(text),
            Format::Csv | Format::Table => out::text(text),
        }
        // Flush, so that a reader sees the row now.
        out::flush();
    }

    /// Writes the text that follows the last row.
    pub fn end(self) {
        if self.format == Format::Json {
            out::text(&String::from_utf8_lossy(&self.document.end().unwrap_or_default()));
        }
    }
}

/// The runs of a configuration.
struct Run<'a> {
    config: &'a Config,
    bytes: u64,
    record: &'a Record,
    /// Seconds of each.
    times: Vec<f64>,
    /// Seconds of the fastest.
    fastest: f64,
}

impl Run<'_> {
    fn quantile(&self, q: f64) -> Option<f64> {
        stats::quantile_of(&self.times, q)
    }

    fn flags(&self) -> Json {
        json!(self.record.flags().iter().map(|flag| flag.word()).collect::<Vec<_>>())
    }
}

type RunColumn<'a> = Column<'a, Run<'a>>;

/// Numbers are written as JSON has them.
fn columns<'a>() -> [RunColumn<'a>; 18] {
    let certificate = |run: &Run| match &run.record.verdict {
        Some(Verdict::Certified { .. }) => "certified",
        Some(Verdict::Wrong { .. }) => "wrong",
        None => "not certified",
    };
    [
        RunColumn::new("config", NO_UNIT, |run| run.config.id),
        RunColumn::new("name", NO_UNIT, |run| run.config.name.clone()),
        RunColumn::new("kernel", NO_UNIT, |run| run.config.kernel.name()),
        RunColumn::new("length", "indices", |run| run.config.length()),
        RunColumn::new("count", "uses", |run| run.config.count),
        RunColumn::new("bytes", "B", |run| run.bytes),
        RunColumn::new("runs", "runs", |run| run.times.len()),
        RunColumn::new("min_s", "s", |run| json!(run.fastest)),
        RunColumn::new("q1_s", "s", |run| json!(run.quantile(0.25))),
        RunColumn::new("median_s", "s", |run| json!(run.quantile(0.5))),
        RunColumn::new("q3_s", "s", |run| json!(run.quantile(0.75))),
        RunColumn::new("max_s", "s", |run| json!(run.record.statistics.as_ref().map(|all| all.max))),
        RunColumn::new("mean_s", "s", |run| json!(run.record.statistics.as_ref().map(|all| all.mean))),
        RunColumn::new("bw_mb_s", "MB/s", |run| json!(output::bandwidth(run.bytes, run.fastest))),
        RunColumn::new("bw_median_mb_s", "MB/s", |run| {
            json!(run.quantile(0.5).map(|seconds| output::bandwidth(run.bytes, seconds)))
        }),
        RunColumn::new("flags", NO_UNIT, Run::flags),
        RunColumn::new("certificate", NO_UNIT, certificate),
        RunColumn::new("times_s", "s", |run| json!(run.times)),
    ]
}
