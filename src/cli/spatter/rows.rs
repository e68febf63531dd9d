//! Writes rows of the table, or of CSV or JSON with statistics and the time of every run, and remarks beside the table.

use std::fs::{File, Metadata};
use std::io::{self, IsTerminal};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::MetadataExt;

use serde_json::{Value as Json, json};

use super::say;
use crate::case::Verdict;
use crate::cli::out;
use crate::report::table::{self, Column, Document, NO_UNIT};
use crate::run::Record;
use crate::spatter::settings::Format;
use crate::spatter::{Config, Settings, output};
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

/// Prints a remark on standard error before the table, unless verbosity 0 asks for silence, in a form that a reader of the
/// table skips where both outputs go to one file, as Slurm's do.
///
/// Spatter's notebooks, and whoever does as they do, take the first `config` for the beginning of the table and every line
/// behind it for a row. So a remark before the table does not contain this word, and a remark below the table is left out
/// unless standard error is known to go elsewhere. Errors are never left out.
pub fn remark_before(settings: &Settings, text: &str) {
    if settings.verbosity > 0 {
        say(&without_the_word(text));
    }
}

/// Prints a remark below the table, under the same condition and only if nobody takes it for a row.
pub fn remark_below(settings: &Settings, text: &str) {
    if settings.verbosity > 0 && goes_elsewhere() {
        say(text);
    }
}

fn without_the_word(text: &str) -> String {
    text.replace("config", "Config")
}

/// True where standard error goes to a person or to a file of its own. Whoever reads a pipe may join it with standard
/// output.
fn goes_elsewhere() -> bool {
    let about = |stream: BorrowedFd| -> Option<Metadata> {
        File::from(stream.try_clone_to_owned().ok()?).metadata().ok()
    };
    let same = |a: &Metadata, b: &Metadata| (a.dev(), a.ino()) == (b.dev(), b.ino());
    if io::stderr().is_terminal() {
        return true;
    }
    let Some(errors) = about(io::stderr().as_fd()).filter(Metadata::is_file) else { return false };
    about(io::stdout().as_fd()).is_none_or(|table| !same(&errors, &table))
}
