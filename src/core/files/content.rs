//! What a file is by its first bytes, whatever its name says: containers and encodings that a reader must not take for the
//! words of its own format.

/// Bytes at the beginning of a file that tell what it is: the header of a tar archive.
pub const HEAD: usize = 512;

const GZIP: &[u8] = &[0x1F, 0x8B];

/// How files of a kind begin, and what a message calls them.
const BEGINNINGS: [(&[u8], &str); 13] = [
    (GZIP, "compressed with gzip"),
    (b"PK\x03\x04", "a zip archive"),
    (b"PK\x05\x06", "a zip archive"),
    (b"\x28\xB5\x2F\xFD", "compressed with zstd"),
    (b"\xFD7zXZ\0", "compressed with xz"),
    (b"\x04\x22\x4D\x18", "compressed with lz4"),
    (b"\x1F\x9D", "compressed with compress"),
    (b"LZIP\x01", "compressed with lzip"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive"),
    (b"Rar!\x1A\x07", "a rar archive"),
    (b"\x89HDF\r\n\x1A\n", "an HDF5 file"),
    (b"\xFF\xFE", UTF_16),
    (b"\xFE\xFF", UTF_16),
];
/// Text of two bytes a character, by its byte-order mark.
pub const UTF_16: &str = "text in UTF-16";

/// Whether these bytes begin a gzip file.
pub fn is_gzip(head: &[u8]) -> bool {
    head.starts_with(GZIP)
}

/// What the file is that begins with at least [`HEAD`] of these bytes, or with all that it has, if no reader of text or words
/// can take it: `a zip archive`, `compressed with xz`, `text in UTF-16`.
pub fn foreign(head: &[u8]) -> Option<&'static str> {
    let known = BEGINNINGS.iter().find(|(begins, _)| head.starts_with(begins)).map(|(_, what)| *what);
    known
        .or_else(|| is_bzip2(head).then_some("compressed with bzip2"))
        .or_else(|| is_tar(head).then_some("a tar archive"))
}

/// bzip2's digit is the size of its blocks, and its next bytes are those of a block or, in an empty file, of the end.
fn is_bzip2(head: &[u8]) -> bool {
    let Some([b'B', b'Z', b'h', b'1'..=b'9', next @ ..]) = head.first_chunk::<10>() else { return false };
    next == b"1AY&SY" || next == b"\x17\x72\x45\x38\x50\x90"
}

/// An entry of a tar archive has a name and the octal sum of its header, in which the sum itself counts as blanks. The word
/// `ustar` is younger than the format.
fn is_tar(head: &[u8]) -> bool {
    const SUM: std::ops::Range<usize> = 148..156;
    let Some(header) = head.first_chunk::<HEAD>() else { return false };
    let digits: Vec<u8> = header[SUM].iter().copied().filter(|byte| !matches!(byte, 0 | b' ')).collect();
    let stated = std::str::from_utf8(&digits).ok().and_then(|text| u32::from_str_radix(text, 8).ok());
    let bytes = header.iter().enumerate().map(|(at, &byte)| if SUM.contains(&at) { b' ' } else { byte });
    header[0] != 0 && stated == Some(bytes.map(u32::from).sum())
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The header of an empty file in a tar archive, of the oldest format, without `ustar`.
    pub fn tar(name: &str) -> Vec<u8> {
        let mut header = vec![0; HEAD];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        header
    }

    #[test]
    fn containers_are_known_by_their_beginnings() {
        for (bytes, what) in [
            (&b"\x1F\x8B\x08\0"[..], "compressed with gzip"),
            (b"PK\x03\x04\x14\0", "a zip archive"),
            (b"\x28\xB5\x2F\xFD\x24", "compressed with zstd"),
            (b"\xFD7zXZ\0\0\x04", "compressed with xz"),
            (b"BZh11AY&SY", "compressed with bzip2"),
            (b"BZh9\x17\x72\x45\x38\x50\x90", "compressed with bzip2"),
            (b"\xFF\xFE1\0,\0", "text in UTF-16"),
        ] {
            assert_eq!(foreign(bytes), Some(what));
        }
        assert_eq!(foreign(&tar("a.mtx")), Some("a tar archive"));
    }

    #[test]
    fn texts_and_damaged_headers_are_no_containers() {
        for bytes in [&b""[..], b"BZh1 is a name", b"PK,x\n1,2\n", b"0 1 2", &tar("a")[1..], &tar("a")[..511]]
        {
            assert_eq!(foreign(bytes), None, "{bytes:?}");
        }
        let mut damaged = tar("a.mtx");
        damaged[200] ^= 1;
        assert_eq!(foreign(&damaged), None);
    }
}
