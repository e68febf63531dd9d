//! Index arrays compressed with gzip, in one or more members.

use std::io::{BufReader, Read};

use anyhow::{Context, anyhow};

use super::{MAX_STREAM, parse};
use crate::files::{self, Bounded, INDICES, Opened};
use crate::inputs::arrays::{Format, Raw};

/// Bytes decompressed at a time.
const CHUNK: usize = 1 << 16;

/// Extension of compressed files.
pub const ENDING: &str = ".gz";

/// The indices in a compressed file whose format is determined by `name` without its `.gz`: raw words are
/// parsed as a stream, other formats from at most [`MAX_STREAM`] bytes.
pub fn read(file: Opened, name: &str, column: Option<&str>) -> anyhow::Result<Vec<u64>> {
    let inner = name.get(..name.len() - ENDING.len()).unwrap_or(name);
    let file = BufReader::new(file);
    if Format::of(inner, &[]) == Format::Raw && column.is_none() {
        return words(files::gzip(file, INDICES.most), name);
    }
    let bytes = files::gzip(file, MAX_STREAM).rest().with_context(|| format!("cannot read {name}"))?;
    parse(inner, &bytes, column)
}

fn words(mut source: Bounded<impl Read>, name: &str) -> anyhow::Result<Vec<u64>> {
    let (mut raw, mut chunk) = (Raw::default(), vec![0; CHUNK]);
    loop {
        let taken = match source.read(&mut chunk).with_context(|| format!("cannot read {name}"))? {
            0 => return raw.end().map_err(|error| anyhow!(error.of(name))),
            length => raw.take(&chunk[..length]),
        };
        taken.map_err(|error| anyhow!(error.of(name)))?;
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

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
