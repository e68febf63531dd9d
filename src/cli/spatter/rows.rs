//! Writes rows of the table, or of CSV or JSON with statistics and the time of every run.

use serde_json::{Value as Json, json};

use crate::case::Verdict;
use crate::cli::out;
use crate::report::format::Object;
use crate::run::Record;
use crate::spatter::settings::Format;
use crate::spatter::{Config, output};
use crate::stats;

/// Columns of CSV and keys of JSON. Times are seconds of one run, bandwidths are in MB/s.
const COLUMNS: [&str; 18] = [
    "config",
    "name",
    "kernel",
    "length",
    "count",
    "bytes",
    "runs",
    "min_s",
    "q1_s",
    "median_s",
    "q3_s",
    "max_s",
    "mean_s",
    "bw_mb_s",
    "bw_median_mb_s",
    "flags",
    "certificate",
    "times_s",
];

/// Writes rows as they arrive.
pub struct Rows {
    format: Format,
    written: usize,
}

impl Rows {
    pub fn new(format: Format) -> Rows {
        Rows { format, written: 0 }
    }

    /// Writes a configuration's row. `bytes` counts what all of its GPUs move.
    pub fn write(&mut self, config: &Config, bytes: u64, record: &Record, fastest: f64) {
        let text = match self.format {
            Format::Table => output::row(config.id, bytes, fastest),
            Format::Csv | Format::Json => self.cells(&COLUMNS, &cells(config, bytes, record, fastest)),
        };
        self.put(&text);
    }

    /// A row with these columns, in CSV or JSON.
    pub fn cells(&self, columns: &[&str], cells: &[Json]) -> String {
        if self.format == Format::Csv { self.csv(columns, cells) } else { self.json(columns, cells) }
    }

    /// Writes a formatted row.
    pub fn put(&mut self, text: &str) {
        self.written += 1;
        match self.format {
            Format::Json => out::json(text),
            Format::Csv | Format::Table => out::text(text),
        }
        // Flush, so that a reader sees the row now.
        out::flush();
    }

    /// Writes the text that follows the last row.
    pub fn end(&mut self) {
        match (self.format, self.written) {
            (Format::Json, 0) => out::text("[]\n"),
            (Format::Json, _) => out::text("\n]\n"),
            _ => {}
        }
    }

    fn csv(&self, columns: &[&str], cells: &[Json]) -> String {
        let mut writer = csv::Writer::from_writer(Vec::new());
        // Writing into memory cannot fail.
        if self.written == 0 {
            let _ = writer.write_record(columns);
        }
        let _ = writer.write_record(cells.iter().map(plain));
        String::from_utf8_lossy(&writer.into_inner().unwrap_or_default()).into_owned()
    }

    fn json(&self, columns: &[&str], cells: &[Json]) -> String {
        // Text and numbers always serialize to JSON.
        let object = serde_json::to_string(&Object { columns, cells }).unwrap_or_default();
        format!("{}{object}", if self.written == 0 { "[\n" } else { ",\n" })
    }
}

/// A cell as plain text. Several values in one cell are separated by blanks.
fn plain(cell: &Json) -> String {
    match cell {
        Json::Null => String::new(),
        Json::String(text) => text.clone(),
        Json::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// The values of [`COLUMNS`].
fn cells(config: &Config, bytes: u64, record: &Record, fastest: f64) -> Vec<Json> {
    let times: Vec<f64> = record.rounds.iter().flat_map(|round| round.samples.iter().copied()).collect();
    let quantile = |q| stats::quantile_of(&times, q);
    let statistics = record.statistics.as_ref();
    let bandwidth = |seconds| output::bandwidth(bytes, seconds);
    let flags: Vec<&str> = record.flags().iter().map(|flag| flag.word()).collect();
    let certificate = match &record.verdict {
        Some(Verdict::Certified { .. }) => "certified",
        Some(Verdict::Wrong { .. }) => "wrong",
        None => "not certified",
    };
    vec![
        json!(config.id),
        json!(config.name),
        json!(config.kernel.name()),
        json!(config.length()),
        json!(config.count),
        json!(bytes),
        json!(times.len()),
        json!(fastest),
        json!(quantile(0.25)),
        json!(quantile(0.5)),
        json!(quantile(0.75)),
        json!(statistics.map(|statistics| statistics.max)),
        json!(statistics.map(|statistics| statistics.mean)),
        json!(bandwidth(fastest)),
        json!(quantile(0.5).map(bandwidth)),
        json!(flags),
        json!(certificate),
        json!(times),
    ]
}
