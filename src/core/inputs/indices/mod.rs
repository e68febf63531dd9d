//! Index arrays in files, in the formats of [`inputs::arrays`](crate::inputs::arrays). A recipe's files are
//! inspected when it is resolved ([`LocalFiles`]), a run's folder keeps copies ([`keep()`]), and the engine
//! reads either of them ([`find`], [`Store`]).

mod keep;
mod local;
mod store;

use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::files::{self, Bounded, INDEX_STREAM, INDICES, Kind, Opened};
use crate::inputs::arrays::{self, Format, Raw};

pub use keep::{FOLDER, Missing, find, keep, locate};
pub use local::LocalFiles;
pub use store::Store;

/// Most bytes read from a pipe, from standard input, or out of a compressed file, whose lengths are unknown.
const MAX_STREAM: u64 = 1 << 30;

/// Extension of compressed files.
const GZIP: &str = ".gz";

/// Bytes decompressed at a time.
const CHUNK: usize = 1 << 16;

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
    match name.to_ascii_lowercase().ends_with(GZIP) {
        true => read_gzip(file, &name, column),
        false => read_from(file, &name, column),
    }
}

/// The indices in a file compressed with gzip, in one or more members, whose format is determined by `name` without its `.gz`: raw words are
/// parsed as a stream, other formats from at most [`MAX_STREAM`] bytes.
fn read_gzip(file: Opened, name: &str, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let inner = name.get(..name.len() - GZIP.len()).unwrap_or(name);
    let file = BufReader::new(file);
    if Format::of(inner, &[]) == Format::Raw && column.is_none() {
        return gzip_words(files::gzip(file, INDICES.most, files::WORDS), name);
    }
    let bytes =
        files::gzip(file, MAX_STREAM, files::TEXT).rest().with_context(|| format!("cannot read {name}"))?;
    parse(inner, &bytes, column)
}

fn gzip_words(mut source: Bounded<impl Read>, name: &str) -> anyhow::Result<Vec<u64>> {
    let (mut raw, mut chunk) = (Raw::default(), vec![0; CHUNK]);
    loop {
        let taken = match source.read(&mut chunk).with_context(|| format!("cannot read {name}"))? {
            0 => return raw.end().map_err(|error| anyhow!(error.of(name))),
            length => raw.take(&chunk[..length]),
        };
        taken.map_err(|error| anyhow!(error.of(name)))?;
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

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

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

    fn packed(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).expect("compressed");
        encoder.finish().expect("compressed")
    }

    fn read_as(name: &str, bytes: &[u8]) -> Result<Vec<u64>, String> {
        let folder = tempfile::tempdir().expect("temporary folder");
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        read(&path, None).map_err(|error| format!("{error:#}"))
    }

    fn raw(indices: impl IntoIterator<Item = u64>) -> Vec<u8> {
        indices.into_iter().flat_map(u64::to_le_bytes).collect()
    }

    #[test]
    fn traces_are_read_whatever_their_members() {
        let all: Vec<u64> = (0..20_000).map(|i| i * 7919 % 65_537).collect();
        let bytes = raw(all.iter().copied());
        assert_eq!(read_as("0.0.R.idx.gz", &packed(&bytes)).as_ref(), Ok(&all));
        // Member boundaries need not coincide with word boundaries.
        let several = [packed(&bytes[..13]), packed(&[]), packed(&bytes[13..])].concat();
        assert_eq!(read_as("a.U64.GZ", &several), Ok(all));
        assert_eq!(read_as("a.txt.gz", &packed(b"3 1 4")), Ok(vec![3, 1, 4]));
    }

    #[test]
    fn what_is_not_whole_is_one_error() {
        let whole = packed(&raw([1, 2, 3]));
        let error = |name: &str, bytes: &[u8]| read_as(name, bytes).expect_err("refused");
        for cut in [5, 12, whole.len() - 1] {
            assert!(
                error("a.idx.gz", &whole[..cut]).contains("a.idx.gz: it is not a complete gzip file: "),
                "{cut}"
            );
        }
        let mut flipped = whole.clone();
        let end = flipped.len() - 6;
        flipped[end] ^= 1;
        for bytes in [&b"1 2 3"[..], &flipped, &[&whole[..], b"more"].concat()] {
            assert!(error("a.idx.gz", bytes).contains("is not a complete gzip file"), "{bytes:?}");
        }
        assert!(error("a.txt.gz", &whole[..12]).contains("is not a complete gzip file"));
        assert!(
            error("a.idx.gz", &packed(&[0; 9])).ends_with("9 bytes are not a whole number of 64-bit words")
        );
        assert!(error("a.idx.gz", &packed(&[])).ends_with("is empty; accepted: at least one index"));
        let far = error("a.idx.gz", &packed(&raw([1, 1 << 40])));
        assert!(
            far.contains("index number 1, 1099511627776, is too large") && far.ends_with("(at byte 8)"),
            "{far}"
        );
    }
}
