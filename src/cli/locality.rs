//! `scatterlab locality`: analyses the accesses of an index array before anything runs.

mod recipe;

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::Args;

use super::format::{self, Format, Formats, one_of};
use super::out;
use crate::case::units;
use crate::files;
use crate::inputs::locality::{Layout, Locality};
use crate::inputs::{arrays, indices, notation};
use crate::recipe::shipped;
use crate::report::locality::{NamedLocality, table, text};
use crate::spatter::suite::looks_like_a_suite;

const FORMATS: Formats = &[
    (Format::Text, "Bars for people"),
    (Format::Csv, "One row for each number"),
    (Format::Json, "A list with an object for each array"),
    (Format::Ndjson, "The same objects, each in a line"),
];

#[derive(Debug, Args)]
pub struct LocalityArguments {
    /// A file of indices (.npy, .csv, .txt, raw .u64), a list such as 0,8,16, a pattern such as
    /// UNIFORM:8:4, a recipe, or - for standard input
    #[arg(value_name = "FILE|LIST|RECIPE|-", allow_hyphen_values = true)]
    source: OsString,
    /// Size of the element that an index stands for [default: the recipe's, or 8B]
    #[arg(long, value_name = "SIZE", value_parser = units::parse_bytes)]
    element: Option<u64>,
    /// Size of a cache line
    #[arg(long, value_name = "SIZE", default_value = "64B", value_parser = units::parse_bytes)]
    line: u64,
    /// Column of a table with a header line
    #[arg(long, value_name = "NAME")]
    column: Option<String>,
    /// How to print
    #[arg(long, default_value = "text", value_parser = one_of(FORMATS))]
    format: Format,
}

/// An array to analyse.
#[derive(Debug)]
struct Array {
    name: String,
    indices: Vec<u64>,
    /// Bytes of an element, unless an option overrides it.
    element: u64,
    note: Option<String>,
}

/// Prints the statistics.
pub fn run(arguments: &LocalityArguments) -> anyhow::Result<ExitCode> {
    let of = |array| analysed(array, arguments);
    print(arguments.format, &read(&arguments.source, arguments.column.as_deref(), of)?)?;
    Ok(ExitCode::SUCCESS)
}

fn analysed(array: Array, arguments: &LocalityArguments) -> anyhow::Result<NamedLocality> {
    let Array { name, indices, element, note } = array;
    let layout = Layout { element: arguments.element.unwrap_or(element), line: arguments.line };
    let locality = Locality::of(&indices, layout).map_err(|reason| anyhow!("{name}: {reason}"))?;
    Ok(NamedLocality { array: name, hash: arrays::hash(&indices), note, locality })
}

fn print(format: Format, arrays: &[NamedLocality]) -> anyhow::Result<()> {
    match format {
        Format::Text => out::text(&format!("{}\n", text(arrays))),
        Format::Csv => format::print(format, table(arrays))?,
        Format::Json => out::json(&(serde_json::to_string_pretty(arrays)? + "\n")),
        Format::Ndjson => {
            for named in arrays {
                out::json(&(serde_json::to_string(named)? + "\n"));
            }
        }
    }
    Ok(())
}

/// Reads the arrays, each with its name, and returns what `of` makes of them. A recipe may have many long ones, which are
/// read one after another.
fn read<T>(
    source: impl AsRef<OsStr>,
    column: Option<&str>,
    of: impl Fn(Array) -> anyhow::Result<T>,
) -> anyhow::Result<Vec<T>> {
    let one = |name: String, indices| Ok(vec![of(Array { name, indices, element: ELEMENT, note: None })?]);
    let path = Path::new(&source);
    // A source that is not the name of a file is text.
    let source = &*path.to_string_lossy();
    if source == "-" {
        return one("standard input".to_owned(), indices::read_standard_input(column)?);
    }
    let is_recipe = is_yaml(path) || is_suite(path);
    if column.is_none() && (is_recipe || (!files::is_there(path) && shipped::find(source).is_some())) {
        return recipe::each(path, |line| out::complain("scatterlab", line), of);
    }
    if files::is_there(path) {
        return one(source.to_owned(), indices::read_argument(path, column)?);
    }
    if let Some(column) = column {
        bail!("--column {column}: there is no file {}", units::shown(source));
    }
    one(units::shown(source), written(source)?)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// Whether a file is a Spatter suite, judged by its beginning. A pipe can be read only once, so it is never
/// treated as a suite.
fn is_suite(path: &Path) -> bool {
    const BEGINNING: u64 = 4096;
    let mut start = Vec::new();
    let read = |file: files::Opened| file.take(BEGINNING).read_to_end(&mut start).is_ok();
    path.is_file()
        && files::open(path, &files::SUITE).is_ok_and(read)
        && looks_like_a_suite(&String::from_utf8_lossy(&start))
}

/// Default bytes of an element.
const ELEMENT: u64 = 8;

/// Parses a list or a pattern given on the command line.
fn written(source: &str) -> anyhow::Result<Vec<u64>> {
    let begins = |words: &[&str]| words.iter().any(|word| source.starts_with(word));
    if begins(&["UNIFORM:", "MS1:", "LAPLACIAN:"]) {
        return Ok(notation::parse(source)?.indices);
    }
    if source.trim_start().starts_with(|c: char| c.is_ascii_digit() || "[(-".contains(c)) {
        return indices::parse("the list", source.as_bytes(), None);
    }
    bail!(
        "{}: no such file; accepted: a file, a list such as 0,8,16, a pattern such as UNIFORM:8:4, a recipe, or \
         - for standard input",
        units::shown(source)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_a_recipe_whatever_its_name() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite");
        std::fs::write(&path, r#" [{"pattern": [0, 4], "delta": 8, "count": 2}]"#).expect("written");
        let arrays = read(&path, None, Ok).expect("arrays");
        assert_eq!(arrays.iter().map(|array| array.indices.as_slice()).collect::<Vec<_>>(), [&[0, 4, 8, 12]]);
        let path = folder.path().join("list.csv");
        std::fs::write(&path, "4,0,4").expect("written");
        assert_eq!(read(&path, None, Ok).expect("indices")[0].indices, [4, 0, 4]);
    }

    #[test]
    fn lists_and_patterns_stand_on_the_command_line() {
        let list = |source: &str| {
            read(source, None, Ok).map(|mut all| all.remove(0).indices).map_err(|e| format!("{e:#}"))
        };
        assert_eq!(list("0,8,16"), Ok(vec![0, 8, 16]));
        assert_eq!(list("[0, 8, 16]"), Ok(vec![0, 8, 16]));
        assert_eq!(list("7"), Ok(vec![7]));
        assert_eq!(list("UNIFORM:3:4"), Ok(vec![0, 4, 8]));
        assert!(
            list("-3").expect_err("negative").starts_with("the list:1:1: index number 0, -3, is negative")
        );
        assert!(list("UNIFORM:3").expect_err("no pattern").contains("is not a pattern"));
        assert!(
            list("missing.npy")
                .expect_err("no file")
                .starts_with("missing.npy: no such file; accepted: a file")
        );
        assert!(list("0,8,x").expect_err("no list").starts_with("the list:1:5: `x` is not an integer"));
        assert!(
            read("missing.csv", Some("a"), Ok)
                .expect_err("no file")
                .to_string()
                .contains("no file missing.csv")
        );
    }
}
