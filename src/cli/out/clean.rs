//! A writer that lets no text act on the terminal which shows it: titles, parameters, errors and file names come
//! from recipes, stored runs and engines of others.

use std::borrow::Cow;
use std::io::{self, Write};
use std::str;

use crate::case::units::is_unseen;

/// Notation for characters that act on a terminal or are not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Escape {
    /// `\u{1b}`, as in messages. A table in CSV has no notation for such characters, and shows this one.
    Text,
    /// `\u001b`, which a reader of JSON turns back into the character.
    Json,
}

impl Escape {
    /// The text with its characters escaped, except line breaks and tabs.
    pub fn of(self, text: &str) -> Cow<'_, str> {
        let acts = |c: char| is_unseen(c) && c != '\n' && c != '\t';
        if !text.contains(acts) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len() + 16);
        for c in text.chars() {
            match self {
                _ if !acts(c) => out.push(c),
                Escape::Text => out.extend(c.escape_default()),
                Escape::Json => {
                    let mut units = [0; 2];
                    out.extend(c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
                }
            }
        }
        Cow::Owned(out)
    }
}

/// Writes UTF-8 into another writer, escaped.
#[derive(Debug)]
pub struct Clean<W> {
    into: W,
    escape: Escape,
    /// The beginning of a character whose end has not been written yet.
    begun: Vec<u8>,
}

impl<W: Write> Clean<W> {
    pub fn new(into: W, escape: Escape) -> Clean<W> {
        Clean { into, escape, begun: Vec::new() }
    }
}

impl<W: Write> Write for Clean<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let all = [&std::mem::take(&mut self.begun), bytes].concat();
        let whole = match str::from_utf8(&all) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => all.len(),
        };
        self.begun = all[whole..].to_vec();
        self.into.write_all(self.escape.of(&String::from_utf8_lossy(&all[..whole])).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.into.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(escape: Escape, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut clean = Clean::new(&mut out, escape);
        pieces.iter().for_each(|piece| clean.write_all(piece).expect("written"));
        String::from_utf8(out).expect("UTF-8")
    }

    const HOSTILE: &str = "a\x1b[2J\r\u{9b}31m\u{7f}\u{202e}\u{200b}\u{e0041}\n\tµ";

    #[test]
    fn what_acts_on_a_terminal_is_spelt_out() {
        let text = "a\\u{1b}[2J\\r\\u{9b}31m\\u{7f}\\u{202e}\\u{200b}\\u{e0041}\n\tµ";
        assert_eq!(written(Escape::Text, &[HOSTILE.as_bytes()]), text);
        let json = "a\\u001b[2J\\u000d\\u009b31m\\u007f\\u202e\\u200b\\udb40\\udc41\n\tµ";
        assert_eq!(written(Escape::Json, &[HOSTILE.as_bytes()]), json);
        let read: String =
            serde_json::from_str(&format!("\"{}\"", json.replace(['\n', '\t'], ""))).expect("JSON");
        assert_eq!(read, HOSTILE.replace(['\n', '\t'], ""));
    }

    #[test]
    fn pieces_may_end_within_a_character() {
        let pieces: Vec<&[u8]> = HOSTILE.as_bytes().chunks(1).collect();
        assert_eq!(written(Escape::Text, &pieces), written(Escape::Text, &[HOSTILE.as_bytes()]));
        assert_eq!(written(Escape::Text, &[b"\x9b2J\xff", b"b"]), "\u{fffd}2J\u{fffd}b");
    }
}
