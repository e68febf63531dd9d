//! A column of a table: the rows are those of the crate `csv`, the rule for the header is ours. Each row has as many cells
//! as the header, a column is found by a name that no other has, and what holds a quoted line break is one row.

use std::io::{Chain, Read};

use super::{ArrayError, Place, check_count, push, text::integer};
use crate::case::units::shown;
use crate::inputs::lines::lines;
use crate::memory;

const DELIMITERS: &[u8] = b",;\t";

/// Longest header line, bytes.
const LONGEST_HEADER: usize = 1 << 20;

/// What follows the text: a comment, unless a quote is still open there.
const END: &[u8] = b"\n#\n";

/// Whether a line holds names, where no column is asked for: it begins with one, or it has an empty cell, which no list of
/// indices has. `nan` and `inf` are treated as misplaced numbers.
pub fn is_header(line: &[u8]) -> bool {
    let quoted = line.trim_ascii_start();
    let quoted = quoted.strip_prefix(b"\"").unwrap_or(quoted);
    let word = quoted.split(|b| b",;\t \"".contains(b)).next().unwrap_or_default().to_ascii_lowercase();
    let name = word.first().is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_' || *b >= 0x80);
    (name && !matches!(word.as_slice(), b"nan" | b"inf" | b"infinity")) || has_an_empty_cell(line)
}

/// Whether a line has an empty cell, other than behind a delimiter that ends it: lists are broken there.
fn has_an_empty_cell(line: &[u8]) -> bool {
    let Some(delimiter) = delimiter_of(line) else { return false };
    let blank = |cell: &[u8]| matches!(cell.trim_ascii(), b"" | b"\"\"");
    let line = line.trim_ascii_end();
    let line = line.strip_suffix(&[delimiter]).unwrap_or(line);
    line.split(|&byte| byte == delimiter).any(blank)
}

/// The first of the delimiters that stands in a line outside of quotes.
fn delimiter_of(line: &[u8]) -> Option<u8> {
    let outside: Vec<u8> = line.split(|&byte| byte == b'"').step_by(2).flatten().copied().collect();
    DELIMITERS.iter().find(|delimiter| outside.contains(delimiter)).copied()
}

/// The indices in a column of a table, which the first line names; the only one if none is asked for.
///
/// # Errors
/// A header without the column, or with several of its name; a row with another number of cells; a cell that is no index.
pub fn column(bytes: &[u8], wanted: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    if let Some((number, first)) = lines(bytes).find(|(_, line)| !skipped(line))
        && first.len() > LONGEST_HEADER
    {
        let message =
            format!("the header line has more than {LONGEST_HEADER} bytes, the most that are accepted");
        return Err(ArrayError::new(Place::Line(number, 1), message));
    }
    let mut rows = Rows::of(bytes)?;
    rows.advance()?;
    let header = rows.place();
    let cell = |cell: &[u8]| String::from_utf8_lossy(cell).trim().trim_matches('"').to_owned();
    let names: Vec<String> = rows.record.iter().map(cell).collect();
    let at = position(&names, wanted).map_err(|message| ArrayError::new(header, message))?;
    let mut indices = Vec::new();
    while rows.advance()? {
        if rows.record.len() != names.len() {
            return Err(rows.uneven(names.len(), header));
        }
        let index = rows.index(at, indices.len())?;
        check_count(indices.len() as u64 + 1)?;
        push(&mut indices, index)?;
    }
    check_count(indices.len() as u64)?;
    Ok(indices)
}

/// The place of the wanted column among those with these names.
fn position(names: &[String], wanted: Option<&str>) -> Result<usize, String> {
    let all = listed(names);
    let Some(wanted) = wanted else {
        return match names {
            [_] => Ok(0),
            _ => {
                let unnamed = names.iter().any(String::is_empty);
                let why = if unnamed { ", as a line of data has no empty cell" } else { "" };
                Err(format!("there are {} columns{why}; choose one: {all}", names.len()))
            }
        };
    };
    let mut found = (0..).zip(names).filter(|(_, name)| *name == wanted).map(|(at, _)| at);
    match (found.next(), found.count()) {
        (Some(at), 0) => Ok(at),
        (Some(_), more) => {
            let several = more + 1;
            Err(format!(
                "{several} columns are called `{}`; accepted: a name of one among {all}",
                shown(wanted)
            ))
        }
        (None, _) => Err(format!("the header has no column `{}`; accepted: {all}", shown(wanted))),
    }
}

fn listed(names: &[String]) -> String {
    const MOST: usize = 12;
    let named = |name: &String| if name.is_empty() { "(no name)".to_owned() } else { shown(name) };
    let some: Vec<String> = names.iter().take(MOST).map(named).collect();
    let more = if names.len() > MOST { ", …" } else { "" };
    format!("{}{more}", some.join(", "))
}

/// Refuses a table whose longest row, in which each cell has a place of its own, may not fit beside it. Where there are
/// quotes, a row may be all of the text.
fn holds_a_row(bytes: &[u8], delimiter: u8) -> Result<(), ArrayError> {
    let size = |text: &[u8]| {
        let cells = text.iter().filter(|byte| **byte == delimiter).count() + 1;
        2 * (text.len() + cells * size_of::<usize>())
    };
    let longest = match bytes.contains(&b'"') {
        true => size(bytes),
        false => lines(bytes).map(|(_, line)| size(line)).max().unwrap_or(0),
    };
    memory::with_room::<u8>(longest).map(drop).map_err(ArrayError::large)
}

/// The rows of a table, header included.
struct Rows<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    reader: csv::Reader<Chain<&'a [u8], &'static [u8]>>,
    record: csv::ByteRecord,
}

impl<'a> Rows<'a> {
    /// The delimiter is the header's, or without one that of the next line, whose cells are then too many.
    ///
    /// # Errors
    /// Too little memory for the longest row.
    fn of(bytes: &'a [u8]) -> Result<Rows<'a>, ArrayError> {
        let used = lines(bytes).map(|(_, line)| line).filter(|line| !skipped(line));
        let delimiter = used.take(2).find_map(delimiter_of).unwrap_or(b',');
        holds_a_row(bytes, delimiter)?;
        let mut builder = csv::ReaderBuilder::new();
        builder.delimiter(delimiter).comment(Some(b'#')).has_headers(false).flexible(true);
        let reader = builder.trim(csv::Trim::All).from_reader(bytes.chain(END));
        Ok(Rows { bytes, delimiter, reader, record: csv::ByteRecord::new() })
    }

    /// Reads the next row into `record`; false at the end.
    fn advance(&mut self) -> Result<bool, ArrayError> {
        loop {
            let read = self.reader.read_byte_record(&mut self.record);
            if !read.map_err(|error| ArrayError::new(Place::Whole, format!("is not a table: {error}")))? {
                return Ok(false);
            }
            if self.is_torn() {
                let message = "a quote that is opened in this row does not close a cell; accepted: \"text\", \"\" for \
                               a quote";
                return Err(ArrayError::new(self.place(), message));
            }
            let first = self.record.get(0).unwrap_or_default();
            let doubtful = first.starts_with(b"#") || (first.is_empty() && self.record.len() == 1);
            if !doubtful || !skipped(first_line(self.begins().1)) {
                return Ok(true);
            }
        }
    }

    /// The number of the line in which the row begins, and the text from there on: the row's position is before the lines
    /// that are skipped.
    fn begins(&self) -> (u64, &'a [u8]) {
        let position = self.record.position();
        let (mut number, byte) = position.map_or((1, 0), |position| (position.line(), position.byte()));
        let mut rest = usize::try_from(byte).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default();
        loop {
            let line = first_line(rest);
            let passed = matches!(line, b"" | b"\r") || line.starts_with(b"#");
            match rest.get(line.len() + 1..) {
                Some(next) if passed => (number, rest) = (number + 1, next),
                _ => return (number, rest),
            }
        }
    }

    fn place(&self) -> Place {
        Place::Line(self.begins().0, 1)
    }

    /// Whether a quote is open at the end of the text, or closes amid a cell on another line: that one may be the next that
    /// was opened, and the lines between them rows.
    fn is_torn(&self) -> bool {
        let after = self.reader.position();
        if after.byte() > self.bytes.len() as u64 + 1 {
            return true;
        }
        if self.record.position().is_none_or(|before| after.line() < before.line() + 2) {
            return false;
        }
        let (_, rest) = self.begins();
        let left =
            usize::try_from(after.byte()).ok().and_then(|byte| self.bytes.get(byte..)).unwrap_or_default();
        let row = &rest[..rest.len().saturating_sub(left.len())];
        row.contains(&b'\n') && closes_amid_a_cell(row, self.delimiter)
    }

    fn uneven(&self, wanted: usize, header: Place) -> ArrayError {
        let cells = |count| format!("{count} cell{}", if count == 1 { "" } else { "s" });
        let line = if let Place::Line(line, _) = header { line } else { 1 };
        let (found, wanted) = (cells(self.record.len()), cells(wanted));
        let message =
            format!("{found} below a header of {wanted} in line {line}; accepted: as many in each line");
        ArrayError::new(self.place(), message)
    }

    /// The index in a cell of the row, the `i`th of the column.
    fn index(&self, at: usize, i: usize) -> Result<u64, ArrayError> {
        let cell = self.record.get(at).unwrap_or_default();
        let fail = |message: String| Err(ArrayError::new(self.place(), message));
        if cell.is_empty() {
            return fail(format!("the line has nothing in column {}; accepted: an integer from 0", at + 1));
        }
        if cell.contains(&b' ') && self.record.len() == 1 {
            return fail(
                "this looks like a table with blanks between its columns; accepted: commas, semicolons, tabs"
                    .to_owned(),
            );
        }
        integer(cell, i, Place::Whole).map_err(|error| ArrayError { place: self.place(), ..error })
    }
}

/// Whether one of the quotes of a row closes where its cell does not end.
fn closes_amid_a_cell(row: &[u8], delimiter: u8) -> bool {
    let (mut at, mut begins, mut quoted) = (0, true, false);
    while let Some(&byte) = row.get(at) {
        at += 1;
        match byte {
            b'"' if quoted && row.get(at) == Some(&b'"') => at += 1,
            b'"' if quoted => {
                quoted = false;
                let behind = row[at..].iter().find(|byte| **byte != b' ');
                if behind.is_some_and(|byte| *byte != delimiter && !b"\r\n".contains(byte)) {
                    return true;
                }
            }
            b'"' => quoted = begins,
            _ => {}
        }
        begins = !quoted && byte == delimiter;
    }
    false
}

fn first_line(text: &[u8]) -> &[u8] {
    text.split(|&byte| byte == b'\n').next().unwrap_or_default()
}

/// Whether a line is blank or a comment.
pub fn skipped(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    line.is_empty() || line.starts_with(b"#")
}
