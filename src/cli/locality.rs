//! `scatterlab locality`: what an index array touches, before anything runs.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};

use super::out;
use crate::indices;
use crate::patterns::locality::{Layout, Locality};
use crate::patterns::{arrays, notation};
use crate::report::locality::{Named, csv, json, text};
use crate::units;

/// How the statistics are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Bars for people
    #[default]
    Text,
    /// One row for each number
    Csv,
    /// A list with an object for each array
    Json,
}

#[derive(Debug, Args)]
pub(super) struct LocalityArguments {
    /// A file of indices (.npy, .csv, .txt, raw .u64), a list such as 0,8,16, a pattern such as
    /// UNIFORM:8:4, or - for standard input
    #[arg(value_name = "FILE|LIST|-", allow_hyphen_values = true)]
    source: String,
    /// Bytes of the element that an index stands for
    #[arg(long, value_name = "SIZE", default_value = "8B", value_parser = units::parse_bytes)]
    element: u64,
    /// Bytes of a cache line
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = units::parse_bytes)]
    line: u64,
    /// Column of a table with a header line
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: Format,
}

/// Prints the statistics.
pub(super) fn run(arguments: &LocalityArguments) -> anyhow::Result<ExitCode> {
    let layout = Layout { element: arguments.element, line: arguments.line };
    let (name, indices) = read(&arguments.source, arguments.column.as_deref())?;
    let locality = Locality::of(&indices, layout).map_err(|reason| anyhow!("{name}: {reason}"))?;
    print(arguments.format, &[Named { array: name, hash: arrays::hash(&indices), note: None, locality }])?;
    Ok(ExitCode::SUCCESS)
}

fn print(format: Format, arrays: &[Named]) -> anyhow::Result<()> {
    let mut bytes = Vec::new();
    match format {
        Format::Text => bytes = text(arrays).into_bytes(),
        Format::Csv => csv(&mut bytes, arrays)?,
        Format::Json => json(&mut bytes, arrays)?,
    }
    out::line(String::from_utf8_lossy(&bytes).trim_end());
    Ok(())
}

/// The array with its name.
fn read(source: &str, column: Option<&str>) -> anyhow::Result<(String, Vec<u64>)> {
    if source == "-" {
        return Ok(("standard input".to_owned(), indices::read_standard_input(column)?));
    }
    let path = Path::new(source);
    if path.exists() {
        return Ok((source.to_owned(), indices::read(path, column)?));
    }
    if let Some(column) = column {
        bail!("--column {column}: there is no file {}", units::shown(source));
    }
    let indices = written(source)?;
    Ok((units::shown(source), indices))
}

/// A list or a pattern on the command line.
fn written(source: &str) -> anyhow::Result<Vec<u64>> {
    let begins = |words: &[&str]| words.iter().any(|word| source.starts_with(word));
    if begins(&["UNIFORM:", "MS1:", "LAPLACIAN:"]) {
        return Ok(notation::parse(source)?.indices);
    }
    if source.trim_start().starts_with(|c: char| c.is_ascii_digit() || "[(-".contains(c)) {
        return indices::parse("the list", source.as_bytes(), None);
    }
    bail!(
        "{}: no such file; accepted: a file, a list such as 0,8,16, a pattern such as UNIFORM:8:4, or - for \
         standard input",
        units::shown(source)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_patterns_stand_on_the_command_line() {
        let list =
            |source: &str| read(source, None).map(|(_, indices)| indices).map_err(|e| format!("{e:#}"));
        assert_eq!(list("0,8,16"), Ok(vec![0, 8, 16]));
        assert_eq!(list("[0, 8, 16]"), Ok(vec![0, 8, 16]));
        assert_eq!(list("7"), Ok(vec![7]));
        assert_eq!(list("UNIFORM:3:4"), Ok(vec![0, 4, 8]));
        assert!(
            list("-3").expect_err("negative").starts_with("the list:1:1: index number 0, -3, is negative")
        );
        assert!(list("UNIFORM:3").expect_err("no pattern").contains("is no pattern"));
        assert!(
            list("missing.npy")
                .expect_err("no file")
                .starts_with("missing.npy: no such file; accepted: a file")
        );
        assert!(list("0,8,x").expect_err("no list").starts_with("the list:1:5: `x` is no integer"));
        assert!(
            read("missing.csv", Some("a")).expect_err("no file").to_string().contains("no file missing.csv")
        );
    }
}
