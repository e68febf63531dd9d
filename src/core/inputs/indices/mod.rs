//! Index arrays in files, in the formats of [`inputs::arrays`](crate::inputs::arrays). A recipe's files are
//! inspected when it is resolved ([`LocalFiles`]), a run's folder keeps copies ([`keep()`]), and the engine
//! reads either of them ([`find`], [`Store`]).

mod keep;
mod local;
mod store;

use std::io::{self, BufReader, Read};
use std::path::Path;

use anyhow::{Context, anyhow};

use crate::files::{self, Bounded, INDEX_STREAM, INDICES, Kind, content};
use crate::inputs::arrays::{self, ArrayError, Format, Raw};

pub use keep::{FOLDER, Missing, find, keep, locate};
pub use local::LocalFiles;
pub use store::Store;

/// Most bytes read from a pipe, from standard input, or out of a compressed file, whose lengths are unknown.
const MAX_STREAM: u64 = 1 << 30;

/// Extension of compressed files.
const GZIP: &str = ".gz";

/// Bytes decompressed at a time.
const CHUNK: usize = 1 << 16;

/// The indices in a file, whose format is determined by its contents and its name. What begins as a gzip file does is
/// decompressed, whatever its name; other containers are refused. `column` names a column of a table.
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
    read_from(files::open(path, kind)?, &path.display().to_string(), column)
}

/// The indices on standard input.
///
/// # Errors
/// As for [`read`].
pub fn read_standard_input(column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    read_from(Bounded::new(io::stdin().lock(), MAX_STREAM), "standard input", column)
}

fn read_from(mut source: Bounded<impl Read>, name: &str, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let bytes = beginning(&mut source, name)?;
    let announced = unpacked_name(name) != name;
    // The first of some raw words may look like the beginning of a gzip file; then the others look like no words.
    let words = !announced && is_words(name, &bytes, column);
    if announced || (content::is_gzip(&bytes) && !words) {
        return read_gzip(bytes.chain(source), name, column);
    }
    let bytes = source.rest_after(bytes).with_context(|| format!("cannot read {name}"))?;
    match parse(name, &bytes, column) {
        Err(_) if content::is_gzip(&bytes) => read_gzip(&bytes[..], name, column),
        parsed => parsed,
    }
}

/// The first bytes of a source, which tell what it is.
fn beginning(source: &mut impl Read, name: &str) -> anyhow::Result<Vec<u8>> {
    let mut head = Vec::new();
    let read = source.take(content::HEAD as u64).read_to_end(&mut head);
    read.with_context(|| format!("cannot read {name}"))?;
    Ok(head)
}

/// A file's name without `.gz`: that of what is in it.
fn unpacked_name(name: &str) -> &str {
    let end = name.len().saturating_sub(GZIP.len());
    match name.split_at_checked(end) {
        Some((inner, ending)) if ending.eq_ignore_ascii_case(GZIP) => inner,
        _ => name,
    }
}

fn is_words(name: &str, head: &[u8], column: Option<&str>) -> bool {
    column.is_none() && Format::of(unpacked_name(name), head) == Format::Raw
}

/// The indices in what is compressed with gzip, in one or more members: raw words are parsed as a stream, other formats
/// from at most [`MAX_STREAM`] bytes.
fn read_gzip(source: impl Read, name: &str, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let times = if is_words(name, &[], column) { files::WORDS } else { files::TEXT };
    let mut source = files::gzip(BufReader::new(source), INDICES.most, times);
    let head = beginning(&mut source, name)?;
    if is_words(name, &head, column) {
        return gzip_words(&head, source, name);
    }
    let all = Bounded::new(head.chain(source), MAX_STREAM).rest();
    parsed(name, &all.with_context(|| format!("cannot read {name}"))?, column, true)
}

fn gzip_words(head: &[u8], mut source: impl Read, name: &str) -> anyhow::Result<Vec<u64>> {
    let told = |error: ArrayError| anyhow!(refusal(name, head, true).unwrap_or_else(|| error.of(name)));
    let (mut raw, mut chunk) = (Raw::default(), vec![0; CHUNK]);
    raw.take(head).map_err(told)?;
    loop {
        match source.read(&mut chunk).with_context(|| format!("cannot read {name}"))? {
            0 => return raw.end().map_err(told),
            length => raw.take(&chunk[..length]).map_err(told)?,
        }
    }
}

/// Parses indices from bytes; `name` determines the format and appears in messages.
///
/// # Errors
/// When [`arrays::parse`] rejects the input; a single line that begins with the name.
pub fn parse(name: &str, bytes: &[u8], column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    parsed(name, bytes, column, false)
}

/// [`parse`] of bytes that may have been `packed` by gzip.
fn parsed(name: &str, bytes: &[u8], column: Option<&str>, packed: bool) -> anyhow::Result<Vec<u64>> {
    let refused = || refusal(name, bytes, packed);
    if let (false, Some(message)) = (is_words(name, bytes, column), refused()) {
        return Err(anyhow!(message));
    }
    let array = arrays::parse(Format::of(unpacked_name(name), bytes), bytes, column);
    array.map_err(|error| anyhow!(refused().unwrap_or_else(|| error.of(name))))
}

/// Why bytes are refused whose beginning is that of a container or of another encoding.
fn refusal(name: &str, head: &[u8], packed: bool) -> Option<String> {
    let what = content::foreign(head)?;
    let subject = if packed { "what gzip has packed here is" } else { "is" };
    let accepted = match what {
        content::UTF_16 => "UTF-8",
        _ => "what is in it, as it is or compressed with gzip",
    };
    Some(format!("{name}: {subject} {what}; accepted: {accepted}"))
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

    /// A name neither makes a container of a text nor a text of a container.
    #[test]
    fn compressed_files_are_known_by_their_content() {
        let graph = b"p sp 3 2\na 1 2 5\na 2 3 5\n";
        let matrix = b"%%MatrixMarket matrix coordinate pattern general\n1 3 2\n1 2\n1 3\n";
        for (name, text) in [
            ("g.gr", &graph[..]),
            ("g.gr.gz", graph),
            ("m.mtx", matrix),
            ("m.txt", matrix),
            ("t.csv", b"index\n1\n2\n"),
            ("l.json", b"[1, 2]"),
            ("w.u64", &raw([1, 2])),
            ("w.bin", &raw([1, 2])),
        ] {
            assert_eq!(read_as(name, &packed(text)), Ok(vec![1, 2]), "{name}");
        }
        // An index array whose first word begins as gzip does.
        assert_eq!(read_as("w.idx", &raw([0x08_8B1F, 5])), Ok(vec![0x08_8B1F, 5]));
        assert_eq!(read_as("w.idx.gz", &packed(&raw([0x08_8B1F, 5]))), Ok(vec![0x08_8B1F, 5]));
    }

    #[test]
    fn other_containers_are_named() {
        let accepted = "accepted: what is in it, as it is or compressed with gzip";
        let error = |name: &str, bytes: &[u8]| read_as(name, bytes).expect_err("refused");
        // The header, and the end of the archive.
        let tar = |name: &str| [content::tests::tar(name), vec![0; 512]].concat();
        for (name, bytes, what) in [
            ("m.mtx", tar("m/m.mtx"), "is a tar archive"),
            ("#.el", tar("#"), "is a tar archive"),
            ("w.u64", tar("w.u64"), "is a tar archive"),
            ("m.tar.gz", packed(&tar("m/m.mtx")), "what gzip has packed here is a tar archive"),
            ("m.tgz", packed(&tar("m/m.mtx")), "what gzip has packed here is a tar archive"),
            ("w.u64.gz", packed(&tar("w")), "what gzip has packed here is a tar archive"),
            ("m.mtx.gz", packed(&packed(b"1 2")), "what gzip has packed here is compressed with gzip"),
            ("a.npy", b"PK\x03\x04\x14\0\0\0".to_vec(), "is a zip archive"),
            ("a.txt", b"\x28\xB5\x2F\xFD\x24\x05".to_vec(), "is compressed with zstd"),
            ("a.csv", b"\xFD7zXZ\0\0\x04".to_vec(), "is compressed with xz"),
            ("g.gr", b"BZh91AY&SY\x01".to_vec(), "is compressed with bzip2"),
            ("w.bin", b"BZh91AY&SY\x01\xFF\xFF\xFF\xFF\xFF".to_vec(), "is compressed with bzip2"),
        ] {
            let told = error(name, &bytes);
            assert!(told.ends_with(&format!("/{name}: {what}; {accepted}")), "{told}");
        }
        let wide: Vec<u8> = "\u{feff}1, 2".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert!(error("a.csv", &wide).ends_with("/a.csv: is text in UTF-16; accepted: UTF-8"));
    }

    /// The file in a message is the one that there is.
    #[test]
    fn mistakes_in_compressed_files_name_them() {
        let error = |name: &str, text: &str| read_as(name, &packed(text.as_bytes())).expect_err("refused");
        for (name, text, place) in [
            (
                "x.mtx.gz",
                "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 2 1\n",
                "x.mtx.gz:3:3: `2`",
            ),
            ("x.wel.gz", "0 1 5\n1 2\n", "x.wel.gz:2:1: this line has no weight"),
            ("x.GZ", "1\n-2\n", "x.GZ:2:1: index number 1, -2, is negative"),
            ("x.gr", "p sp 2 2\na 1 2 4\n", "x.gr:1:1: the file declares 2 arcs"),
        ] {
            assert!(error(name, text).contains(&format!("/{place}")), "{}", error(name, text));
        }
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
