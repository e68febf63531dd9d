//! `--format`: writes results for another program to standard output.

use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::bail;
use clap::ValueEnum;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::out::{self, Escape};
use crate::report::table::{self, Document, Table};
use crate::report::{Origin, csv};
use crate::run::stored::Stored;

/// The value of every `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Text,
    Csv,
    Json,
    Ndjson,
}

/// The formats of results that are one table or several, with the words of the help.
pub const OF_TABLES: Formats = &[
    (Format::Csv, "One table with a header"),
    (Format::Json, "One array of objects; what does not exist is null"),
    (Format::Ndjson, "One object a line"),
];

/// The formats that a command's result can have, each with its line of the help.
pub type Formats = &'static [(Format, &'static str)];

/// Reads one of these formats; a refusal names them.
pub fn one_of(formats: Formats) -> impl TypedValueParser<Value = Format> {
    let value = |(format, help): &(Format, &'static str)| Some(format.to_possible_value()?.help(*help));
    PossibleValuesParser::new(formats.iter().filter_map(value)).try_map(|word| Format::from_str(&word, false))
}

/// Standard output as a document of tables; empty if none is written there.
pub struct Output(Option<Document<Box<dyn Write>>>);

impl Output {
    /// Opens standard output for this many tables, and diverts lines for people to standard error. Neither without a
    /// format for programs.
    ///
    /// # Errors
    /// CSV was requested for several tables.
    pub fn open(format: Option<Format>, tables: usize) -> anyhow::Result<Output> {
        let (format, escape) = match format {
            None | Some(Format::Text) => return Ok(Output(None)),
            Some(Format::Csv) if tables > 1 => bail!(
                "--format csv takes one run, because each has its own columns; json and ndjson take several"
            ),
            Some(Format::Csv) => (table::Format::Csv, Escape::Text),
            Some(Format::Json) => (table::Format::Json, Escape::Json),
            Some(Format::Ndjson) => (table::Format::Ndjson, Escape::Json),
        };
        out::divert();
        Ok(Output(Some(Document::new(Box::new(BufWriter::new(out::writer(escape))), format))))
    }

    /// Whether a format was requested.
    pub fn is_asked_for(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a run's results.
    pub fn results(&mut self, run: &Stored) -> anyhow::Result<()> {
        let origin = Origin::from(&run.manifest);
        self.table(csv::table(&origin, run.ledger.records(), run.ledger.references()))
    }

    pub fn table<R>(&mut self, table: Table<R>) -> anyhow::Result<()> {
        survive(self.0.as_mut().map_or(Ok(()), |document| document.table(table)))
    }

    pub fn end(self) -> anyhow::Result<()> {
        survive(self.0.map_or(Ok(()), |document| document.end().map(drop)))
    }
}

/// Writes one table to standard output, in a format for programs.
pub fn print<R>(format: Format, table: Table<R>) -> anyhow::Result<()> {
    let mut output = Output::open(Some(format), 1)?;
    output.table(table)?;
    output.end()
}

/// Treats a closed pipe as success: the reader decides how much to read.
fn survive(written: anyhow::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if closed(&error) => Ok(()),
        other => other,
    }
}

fn closed(error: &anyhow::Error) -> bool {
    let kind = |cause: &(dyn std::error::Error + 'static)| {
        let io = cause.downcast_ref::<io::Error>().map(io::Error::kind);
        let json = cause.downcast_ref::<serde_json::Error>().and_then(serde_json::Error::io_error_kind);
        let csv = cause.downcast_ref::<::csv::Error>().and_then(|error| match error.kind() {
            ::csv::ErrorKind::Io(error) => Some(error.kind()),
            _ => None,
        });
        io.or(json).or(csv)
    };
    error.chain().any(|cause| kind(cause) == Some(ErrorKind::BrokenPipe))
}
