//! Index arrays in files, in the formats of [`inputs::arrays`](crate::inputs::arrays). A recipe's files are
//! inspected when it is resolved ([`LocalFiles`]), a run's folder keeps copies ([`keep()`]), and the engine
//! reads either of them ([`Store`]).

mod gzip;
mod keep;
mod local;
mod store;

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::case::IndexFile;
use crate::files::{self, Bounded, INDEX_STREAM, INDICES, Kind};
use crate::inputs::arrays::{self, Format};

pub use keep::{FOLDER, keep, locate};
pub use local::LocalFiles;
pub use store::Store;

/// Most bytes read from a pipe, from standard input, or out of a compressed file, whose lengths are unknown.
const MAX_STREAM: u64 = 1 << 30;

/// The indices in a file, whose format is determined by its contents and its extension; a file with the
/// additional extension `.gz` is decompressed. `column` names a column of a table.
///
/// # Errors
/// When the file is not a regular file or cannot be read, or [`arrays::parse`] rejects it; the message names the
/// file.
pub fn read(path: &Path, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    read_as(&INDICES, path, column)
}

/// Like [`read`] for a file named on a command line, which may also be a pipe.
///
/// # Errors
/// As for [`read`].
pub fn read_argument(path: &Path, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    read_as(&INDEX_STREAM, path, column)
}

fn read_as(kind: &Kind, path: &Path, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let (name, file) = (path.display().to_string(), files::open(path, kind)?);
    match name.to_ascii_lowercase().ends_with(gzip::ENDING) {
        true => gzip::read(file, &name, column),
        false => read_from(file, &name, column),
    }
}

/// The indices on standard input.
///
/// # Errors
/// As for [`read`].
pub fn read_standard_input(column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    read_from(Bounded::new(io::stdin().lock(), MAX_STREAM), "standard input", column)
}

fn read_from(mut source: Bounded<impl Read>, name: &str, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let bytes = source.rest().with_context(|| format!("cannot read {name}"))?;
    parse(name, &bytes, column)
}

/// Parses indices from bytes; `name` determines the format and appears in messages.
///
/// # Errors
/// When [`arrays::parse`] rejects the input; a single line that begins with the name.
pub fn parse(name: &str, bytes: &[u8], column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    arrays::parse(Format::of(name, bytes), bytes, column).map_err(|error| anyhow!(error.of(name)))
}

/// Why an array of a plan is unavailable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Missing {
    /// There is no file with the array on this machine.
    #[error("{0}")]
    Absent(String),
    /// There is a file, but it cannot be read or holds other indices.
    #[error("{0}")]
    Other(String),
}

/// The indices of a plan's array, from its copy in the run's folder or from the original file; their hash must
/// match.
///
/// # Errors
/// Why neither file provides them.
pub fn find(file: &IndexFile) -> Result<Vec<u64>, Missing> {
    let places = [(&file.copy, None), (&file.source, file.column.as_deref())];
    let mut missing = Missing::Absent(format!("the index file {} is not on this machine", file.path));
    for (place, column) in places {
        let Some(place) = place.as_deref().filter(|place| place.exists()) else { continue };
        match read(place, column) {
            Ok(all) if arrays::hash(&all) == file.hash => return Ok(all),
            Ok(_) => {
                let place = place.display();
                missing = Missing::Other(format!(
                    "{place} has changed since the run was planned: its indices are not those with the hash {}…",
                    file.hash.get(..12).unwrap_or(&file.hash)
                ));
            }
            Err(error) => missing = Missing::Other(format!("{error:#}")),
        }
    }
    Err(missing)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_by_their_content_and_name() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).expect("written");
            path
        };
        assert_eq!(read(&file("a.txt", b"1 2 3"), None).expect("indices"), [1, 2, 3]);
        assert_eq!(read(&file("a.u64", &7u64.to_le_bytes()), None).expect("indices"), [7]);
        let error = |path: &Path| read(path, None).expect_err("refused").to_string();
        assert!(
            error(&file("b.csv", b"1\n-2"))
                .ends_with("b.csv:2:1: index number 1, -2, is negative; accepted: 0 to 1099511627775")
        );
        assert!(error(folder.path()).ends_with("is a folder; accepted: a regular file"));
        assert!(error(&folder.path().join("none.npy")).contains("cannot read"));
    }
}
