//! Lines of the texts that users provide, the same for lists, tables, matrices and graphs.

use std::borrow::Cow;

/// The text after its byte-order mark, in which `\n` ends each line: lone carriage returns, with which old Macs ended
/// lines, are replaced; those before `\n` stay. Lines and columns are those of the file.
pub fn plain(bytes: &[u8]) -> Cow<'_, [u8]> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let alone = |at: usize| bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n');
    if !(0..bytes.len()).any(alone) {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned((0..bytes.len()).map(|at| if alone(at) { b'\n' } else { bytes[at] }).collect())
}

/// The lines of a [`plain`] text with their numbers, from 1.
pub fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(bytes.split(|&byte| byte == b'\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_of_every_system_are_the_same() {
        let read = |text: &str| {
            let bytes = plain(text.as_bytes()).into_owned();
            lines(&bytes).map(|(_, line)| String::from_utf8_lossy(line).trim().to_owned()).collect::<Vec<_>>()
        };
        for text in ["1\n2\n3", "1\r\n2\r\n3", "1\r2\r3", "\u{feff}1\r2\n3", "\u{feff}1\r\n2\r3"] {
            assert_eq!(read(text), ["1", "2", "3"], "{text:?}");
        }
        assert_eq!(read("1\r"), ["1", ""]);
        assert!(matches!(plain(b"1\r\n2\r\n"), Cow::Borrowed(_)), "no copy without need");
    }
}
