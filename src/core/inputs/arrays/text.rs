//! Index arrays as text: a list of decimal integers, or one column of a [`table`].

use super::{ArrayError, MAX_COUNT, Place, check_count, checked, push, table};
use crate::case::units::shown;
use crate::inputs::lines::lines;

const ACCEPTED: &str = "accepted: integers from 0, separated by commas, blanks or line breaks";

/// Parses a list or a table. A list may be in brackets; lines that begin with `#` are comments. A first line of names makes
/// it a table, and so does a `column`, which selects one of several.
pub fn parse(bytes: &[u8], column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    let Some((_, first)) = lines(bytes).find(|(_, line)| !table::skipped(line)) else {
        return Err(ArrayError::new(Place::Whole, format!("holds no index; {ACCEPTED}")));
    };
    match column.is_some() || table::is_header(first) {
        true => table::column(bytes, column),
        false => list(bytes),
    }
}

/// All integers in the lines.
fn list(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let mut reader = List { indices: Vec::new(), number: 0, open: None };
    for (number, line) in lines(bytes).filter(|(_, line)| !table::skipped(line)) {
        reader.number = number;
        reader.line(line)?;
    }
    if let Some((number, column)) = reader.open {
        return Err(ArrayError::new(Place::Line(number, column), "this bracket is never closed"));
    }
    check_count(reader.indices.len() as u64)?;
    Ok(reader.indices)
}

struct List {
    indices: Vec<u64>,
    /// Number of the current line, from 1.
    number: u64,
    /// Position of the opening bracket.
    open: Option<(u64, u64)>,
}

impl List {
    fn line(&mut self, line: &[u8]) -> Result<(), ArrayError> {
        let (mut at, mut after_comma) = (0, false);
        while let Some(&byte) = line.get(at) {
            match byte {
                b' ' | b'\t' | b'\r' => at += 1,
                b',' | b';' if after_comma => return Err(self.mistake(at, "there is no index here")),
                b',' | b';' => {
                    after_comma = true;
                    at += 1;
                }
                b'[' | b'(' if self.open.is_none() && self.indices.is_empty() => {
                    self.open = Some((self.number, at as u64 + 1));
                    at += 1;
                }
                b']' | b')' if self.open.is_some() => {
                    self.open = None;
                    at += 1;
                }
                _ => {
                    at += self.index(line, at)?;
                    after_comma = false;
                }
            }
        }
        Ok(())
    }

    /// Reads the index at `at`; returns its length.
    fn index(&mut self, line: &[u8], at: usize) -> Result<usize, ArrayError> {
        let rest = &line[at..];
        let end = rest.iter().position(|b| b" \t\r,;])".contains(b)).unwrap_or(rest.len());
        if end == 0 {
            return Err(self.mistake(at, &format!("`{}` is out of place", char::from(rest[0]))));
        }
        if self.indices.len() as u64 == MAX_COUNT {
            return Err(self.mistake(at, &format!("there are more than {MAX_COUNT} indices")));
        }
        let place = Place::Line(self.number, at as u64 + 1);
        let index = integer(&rest[..end], self.indices.len(), place)?;
        push(&mut self.indices, index)?;
        Ok(end)
    }

    fn mistake(&self, at: usize, what: &str) -> ArrayError {
        ArrayError::new(Place::Line(self.number, at as u64 + 1), format!("{what}; {ACCEPTED}"))
    }
}

/// The `i`th index, in decimal digits; `place` is that of a mistake.
pub fn integer(word: &[u8], i: usize, place: Place) -> Result<u64, ArrayError> {
    let text = super::word(word);
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ArrayError::new(place, format!("`{}` is not an integer; {ACCEPTED}", shown(&text))));
    }
    // A value beyond 128 bits is too large for an index in any case.
    let value = text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX });
    checked(value, i, place)
}
