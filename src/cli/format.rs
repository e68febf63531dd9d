//! `--format`: writes results for another program to standard output.

use std::io::{self, BufWriter, ErrorKind, Write};

use anyhow::bail;
use clap::ValueEnum;

use super::out::{self, Escape};
use crate::report::table::{Document, Format, Table};
use crate::report::{Origin, csv};
use crate::run::stored::Stored;

/// The formats' names on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// One table with a header
    Csv,
    /// One array of objects; what does not exist is null
    Json,
    /// One object a line
    Ndjson,
}

/// Standard output as a document of tables; empty if no format was requested.
pub struct Output(Option<Document<Box<dyn Write>>>);

impl Output {
    /// Opens standard output for this many tables, and diverts lines for people to standard error.
    ///
    /// # Errors
    /// CSV was requested for several tables.
    pub fn open(format: Option<FormatName>, tables: usize) -> anyhow::Result<Output> {
        let Some(name) = format else { return Ok(Output(None)) };
        if name == FormatName::Csv && tables > 1 {
            bail!(
                "--format csv takes one run, because each has its own columns; json and ndjson take several"
            );
        }
        let format = match name {
            FormatName::Csv => Format::Csv,
            FormatName::Json => Format::Json,
            FormatName::Ndjson => Format::Ndjson,
        };
        out::divert();
        let escape = if name == FormatName::Csv { Escape::Text } else { Escape::Json };
        Ok(Output(Some(Document::new(Box::new(BufWriter::new(out::writer(escape))), format))))
    }

    /// Whether a format was requested.
    pub fn is_asked_for(&self) -> bool {
        self.0.is_some()
    }

    /// Writes a run's results.
    pub fn results(&mut self, run: &Stored) -> anyhow::Result<()> {
        let origin = Origin::from(&run.manifest);
        self.table(&csv::table(&origin, run.ledger.records(), run.ledger.references()))
    }

    pub fn table<R>(&mut self, table: &Table<R>) -> anyhow::Result<()> {
        survive(self.0.as_mut().map_or(Ok(()), |document| document.table(table)))
    }

    pub fn end(self) -> anyhow::Result<()> {
        survive(self.0.map_or(Ok(()), |document| document.end().map(drop)))
    }
}

/// Treats a closed pipe as success: the reader decides how much to read.
pub(super) fn survive(written: anyhow::Result<()>) -> anyhow::Result<()> {
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
