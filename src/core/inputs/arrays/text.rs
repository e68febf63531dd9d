//! Index arrays as text: a list of decimal integers, or one column of a table.

use super::{ArrayError, MAX_COUNT, Place, check_count, checked, push};
use crate::case::units::shown;
use crate::memory;

/// Longest header line, bytes.
const LONGEST_HEADER: usize = 1 << 20;

const ACCEPTED: &str = "accepted: integers from 0, separated by commas, blanks or line breaks";

/// Parses a list or a table. A list may be in brackets and have a header line with a single name; lines that
/// begin with `#` are comments. A header line with several names makes it a table, and `column` selects one of
/// its columns.
pub fn parse(bytes: &[u8], column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    let Some((number, first)) = first_line(bytes) else {
        return Err(ArrayError::new(Place::Whole, format!("holds no index; {ACCEPTED}")));
    };
    let at_header = |message| Err(ArrayError::new(Place::Line(number, 1), message));
    if !is_header(first) {
        return match column {
            None => Ok(list(bytes, 0)?.0),
            Some(name) => {
                at_header(format!("there is no header line, so there is no column `{}`", shown(name)))
            }
        };
    }
    if first.len() > LONGEST_HEADER {
        return at_header(format!(
            "the header line has more than {LONGEST_HEADER} bytes, the most that are accepted"
        ));
    }
    let delimiter = b",;\t".iter().find(|d| first.contains(d)).copied();
    let names = names(first, delimiter);
    let at = match (names.as_slice(), column) {
        (names, Some(wanted)) => names.iter().position(|name| name == wanted),
        ([_], None) => Some(0),
        (names, None) => {
            return at_header(format!("there are {} columns; choose one: {}", names.len(), listed(names)));
        }
    };
    match (at, delimiter) {
        (None, _) => at_header(format!(
            "there is no column `{}`; accepted: {}",
            shown(column.unwrap_or_default()),
            listed(&names)
        )),
        (Some(at), Some(delimiter)) => table(bytes, delimiter, at),
        (Some(_), None) => below_a_name(bytes, number, first),
    }
}

/// A list below a header line without delimiters. Blanks in the header may be part of a name (`node id`) or
/// separate names; in the latter case the lines below contain several indices each.
fn below_a_name(bytes: &[u8], header: u64, name: &[u8]) -> Result<Vec<u64>, ArrayError> {
    let (indices, lines) = list(bytes, header)?;
    if name.contains(&b' ') && indices.len() > lines {
        let message =
            "this looks like a table with blanks between its columns; accepted: commas, semicolons, tabs";
        return Err(ArrayError::new(Place::Line(header, 1), message));
    }
    Ok(indices)
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let some: Vec<String> = names.iter().take(MOST).map(|name| shown(name)).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}

/// Lines with their numbers, from 1.
fn lines(bytes: &[u8]) -> impl Iterator<Item = (u64, &[u8])> {
    (1..).zip(bytes.split(|&byte| byte == b'\n'))
}

/// The first line that is neither blank nor a comment.
fn first_line(bytes: &[u8]) -> Option<(u64, &[u8])> {
    lines(bytes).map(|(number, line)| (number, line.trim_ascii())).find(|(_, line)| !skipped(line))
}

fn skipped(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

/// True if a line begins with a name instead of a number. `nan` and `inf` are treated as misplaced numbers.
fn is_header(line: &[u8]) -> bool {
    let quoted = line.strip_prefix(b"\"").unwrap_or(line);
    let word = quoted.split(|b| b",;\t \"".contains(b)).next().unwrap_or_default().to_ascii_lowercase();
    let name = word.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b >= 0x80);
    name && !matches!(word.as_slice(), b"nan" | b"inf" | b"infinity")
}

/// The column names in a header line.
fn names(line: &[u8], delimiter: Option<u8>) -> Vec<String> {
    let record = delimiter.and_then(|delimiter| rows(line, delimiter).into_byte_records().next()?.ok());
    let fields: Vec<&[u8]> = record.as_ref().map_or_else(|| vec![line], |record| record.iter().collect());
    let name = |field: &&[u8]| String::from_utf8_lossy(field).trim().trim_matches('"').to_owned();
    fields.iter().map(name).collect()
}

fn rows(bytes: &[u8], delimiter: u8) -> csv::Reader<&[u8]> {
    let mut builder = csv::ReaderBuilder::new();
    builder.delimiter(delimiter).comment(Some(b'#')).has_headers(false).flexible(true).trim(csv::Trim::All);
    builder.from_reader(bytes)
}

/// All integers in the lines after line `header`, and the number of lines that have any.
fn list(bytes: &[u8], header: u64) -> Result<(Vec<u64>, usize), ArrayError> {
    let mut reader = List { indices: Vec::new(), number: 0, open: None };
    let mut used = 0;
    for (number, line) in lines(bytes) {
        if number > header && !skipped(line.trim_ascii()) {
            reader.number = number;
            reader.line(line)?;
            used += 1;
        }
    }
    if let Some((number, column)) = reader.open {
        return Err(ArrayError::new(Place::Line(number, column), "this bracket is never closed"));
    }
    check_count(reader.indices.len() as u64)?;
    Ok((reader.indices, used))
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

/// Refuses a table whose longest record, in which each field has a place of its own, may not fit beside it. Where there are
/// quotes, a record may be all of the text.
fn holds_a_record(bytes: &[u8], delimiter: u8) -> Result<(), ArrayError> {
    let size = |text: &[u8]| {
        let fields = text.iter().filter(|byte| **byte == delimiter).count() + 1;
        2 * (text.len() + fields * size_of::<usize>())
    };
    let longest = match bytes.contains(&b'"') {
        true => size(bytes),
        false => lines(bytes).map(|(_, line)| size(line)).max().unwrap_or(0),
    };
    memory::with_room::<u8>(longest).map(drop).map_err(ArrayError::large)
}

/// Parses one column of a table, below its header.
fn table(bytes: &[u8], delimiter: u8, column: usize) -> Result<Vec<u64>, ArrayError> {
    holds_a_record(bytes, delimiter)?;
    let mut indices = Vec::new();
    for row in rows(bytes, delimiter).into_byte_records().skip(1) {
        let row = row.map_err(|error| ArrayError::new(Place::Whole, format!("is not a table: {error}")))?;
        let place = Place::Line(row.position().map_or(0, csv::Position::line), 1);
        let field = row.get(column).unwrap_or_default();
        if field.is_empty() {
            let message = format!("the line has nothing in column {}; {ACCEPTED}", column + 1);
            return Err(ArrayError::new(place, message));
        }
        check_count(indices.len() as u64 + 1)?;
        let index = integer(field, indices.len(), place)?;
        push(&mut indices, index)?;
    }
    check_count(indices.len() as u64)?;
    Ok(indices)
}

fn integer(word: &[u8], i: usize, place: Place) -> Result<u64, ArrayError> {
    let text = super::word(word);
    let digits = text.strip_prefix('-').unwrap_or(&text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(ArrayError::new(place, format!("`{}` is not an integer; {ACCEPTED}", shown(&text))));
    }
    // A value beyond 128 bits is too large for an index in any case.
    let value = text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX });
    checked(value, i, place)
}
