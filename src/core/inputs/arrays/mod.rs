//! Index arrays provided by users: parsing of `.npy` files, texts and raw words. Pure;
//! [`crate::inputs::indices`] opens the files.

mod edges;
mod npy;
mod table;
mod text;

use super::graph::listed::{GRAPHS, heads};
use super::lines::plain;
use super::permutation::MAX_ELEMENTS;
use super::sparse::matrix_market::{self, BANNER};
use super::word;
pub use super::{ArrayError, Place};
use crate::case::{WHOLE_GRAPH, WHOLE_MATRIX};
use crate::memory;

/// Largest number of indices in an array.
pub const MAX_COUNT: u64 = 1 << 30;

/// Exclusive upper bound of indices: 2^40, the largest number of elements in an array of a case.
pub const END: u64 = MAX_ELEMENTS;

/// The format of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy's format, versions 1 to 3: signed or unsigned integers of 1, 2, 4 or 8 bytes, in either byte
    /// order. Multi-dimensional arrays are read in C order, with the last dimension fastest.
    Npy,
    /// Decimal integers separated by commas, semicolons, blanks and line breaks, or a column of a table, whose first line
    /// names the columns.
    Text,
    /// 64-bit little-endian words and nothing else.
    Raw,
    /// A sparse matrix in Matrix Market's coordinate format: the columns of its entries, row by row, or with the column
    /// [`WHOLE_MATRIX`] all of it, or with [`WHOLE_GRAPH`] the graph whose adjacency matrix it is.
    MatrixMarket,
    /// A graph in DIMACS's format: the heads of its arcs, tail by tail, or with the column [`WHOLE_GRAPH`] the words of
    /// [`graph::listed`](super::graph::listed).
    Dimacs,
    /// A graph as a list of its edges: as of DIMACS's format.
    Edges,
}

impl Format {
    /// The format of a file with this name that begins with `head`: NumPy's magic bytes take precedence, then
    /// the extension (`.u64`, `.bin`, `.idx`: raw; `.gr`, `.el`, `.wel`: graphs); everything else is text.
    pub fn of(name: &str, head: &[u8]) -> Format {
        let text = head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head);
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        match ending.as_str() {
            _ if head.starts_with(npy::MAGIC) => Format::Npy,
            _ if text.starts_with(BANNER.as_bytes()) => Format::MatrixMarket,
            "mtx" => Format::MatrixMarket,
            "npy" => Format::Npy,
            "u64" | "bin" | "idx" => Format::Raw,
            "gr" => Format::Dimacs,
            "el" | "wel" => Format::Edges,
            _ => Format::Text,
        }
    }
}

/// The indices in `bytes`, at least one. `column` names a column of a text with a header line; the other
/// formats have no columns.
///
/// # Errors
/// When an entry is not an integer from 0 to [`END`] − 1, when the input is empty, truncated or followed by
/// further bytes, or when it has more than [`MAX_COUNT`] indices. The error gives the problem, its position,
/// and the accepted values.
pub fn parse(format: Format, bytes: &[u8], column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    if column == Some(WHOLE_MATRIX) && format != Format::MatrixMarket {
        let message = format!("is not a matrix; accepted: a file that begins with {BANNER}");
        return Err(ArrayError::new(Place::Whole, message));
    }
    let is_graph = matches!(format, Format::Dimacs | Format::Edges | Format::MatrixMarket);
    let of_indices = matches!(format, Format::Npy | Format::Text | Format::Raw);
    if column == Some(WHOLE_GRAPH) && !is_graph {
        return Err(ArrayError::new(Place::Whole, format!("is not a graph; accepted: {GRAPHS}")));
    }
    if let (Format::Npy | Format::Raw, Some(name)) = (format, column) {
        let message = format!("a column (`{name}`) was requested, but only text files have columns");
        return Err(ArrayError::new(Place::Whole, message));
    }
    if bytes.is_empty() && of_indices {
        return Err(empty());
    }
    match format {
        Format::Npy => npy::parse(bytes),
        Format::Raw => raw(bytes),
        Format::Text => text::parse(&plain(bytes), column),
        Format::MatrixMarket if column == Some(WHOLE_GRAPH) => graph(edges::matrix(&plain(bytes))?, column),
        Format::MatrixMarket => matrix(&plain(bytes), column),
        Format::Dimacs => graph(edges::dimacs(&plain(bytes))?, column),
        Format::Edges => graph(edges::list(&plain(bytes))?, column),
    }
}

/// All words of a graph, or the heads of its arcs.
fn graph(words: Vec<u64>, column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    let words = match column {
        None => heads(words),
        Some(WHOLE_GRAPH) => words,
        Some(name) => return Err(no_column(name, "a graph")),
    };
    check_count(words.len() as u64)?;
    Ok(words)
}

fn matrix(bytes: &[u8], column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    let matrix = matrix_market::parse(bytes)?;
    let words = match column {
        None => memory::collected(matrix.indices.len(), matrix.indices.iter().map(|&column| column.into()))
            .map_err(ArrayError::large)?,
        Some(WHOLE_MATRIX) => matrix.into_words().map_err(ArrayError::large)?,
        Some(name) => return Err(no_column(name, "a matrix")),
    };
    check_count(words.len() as u64)?;
    Ok(words)
}

fn no_column(name: &str, of: &str) -> ArrayError {
    let message = format!("a column (`{name}`) was requested, but {of} has no column names");
    ArrayError::new(Place::Whole, message)
}

fn raw(bytes: &[u8]) -> Result<Vec<u64>, ArrayError> {
    if !bytes.len().is_multiple_of(8) {
        return Err(no_words(bytes.len() as u64));
    }
    check_count(bytes.len() as u64 / 8)?;
    let mut raw = Raw::default();
    raw.take(bytes)?;
    raw.end()
}

/// An incremental parser of raw words, which accepts bytes in arbitrary pieces.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    indices: Vec<u64>,
    /// The bytes of an incomplete word; `filled` of them are valid.
    word: [u8; 8],
    filled: usize,
}

impl Raw {
    /// Parses further bytes.
    ///
    /// # Errors
    /// As for [`parse`]: an index that is out of range, or more than [`MAX_COUNT`] indices.
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ArrayError> {
        reserve(&mut self.indices, bytes.len() / 8)?;
        let missing = if self.filled == 0 { 0 } else { bytes.len().min(8 - self.filled) };
        let (first, later) = bytes.split_at(missing);
        self.keep(first);
        if self.filled == 8 {
            self.filled = 0;
            self.add(u64::from_le_bytes(self.word))?;
        }
        let (words, rest) = later.as_chunks::<8>();
        words.iter().try_for_each(|word| self.add(u64::from_le_bytes(*word)))?;
        self.keep(rest);
        Ok(())
    }

    /// Stores the bytes of an incomplete word.
    fn keep(&mut self, bytes: &[u8]) {
        self.word[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    fn add(&mut self, value: u64) -> Result<(), ArrayError> {
        let i = self.indices.len();
        if i as u64 == MAX_COUNT {
            let message = format!("holds more than {MAX_COUNT} indices, which is the maximum");
            return Err(ArrayError::new(Place::Whole, message));
        }
        push(&mut self.indices, checked(value.into(), i, Place::Byte(8 * i as u64))?)
    }

    /// Returns the indices after the last byte.
    ///
    /// # Errors
    /// When there were no bytes, or the last word is incomplete.
    pub fn end(self) -> Result<Vec<u64>, ArrayError> {
        match (self.indices.len(), self.filled) {
            (0, 0) => Err(empty()),
            (_, 0) => Ok(self.indices),
            (words, rest) => Err(no_words(8 * words as u64 + rest as u64)),
        }
    }
}

/// Makes room for further indices, if there is memory: an array may be larger than that.
fn reserve(indices: &mut Vec<u64>, more: usize) -> Result<(), ArrayError> {
    memory::reserve(indices, more).map_err(ArrayError::large)
}

fn push(indices: &mut Vec<u64>, index: u64) -> Result<(), ArrayError> {
    memory::push(indices, index).map_err(ArrayError::large)
}

fn empty() -> ArrayError {
    ArrayError::new(Place::Whole, "is empty; accepted: at least one index")
}

fn no_words(bytes: u64) -> ArrayError {
    ArrayError::new(Place::Whole, format!("{bytes} bytes are not a whole number of 64-bit words"))
}

/// The `i`th index, from a type that holds the values of all integer types.
fn checked(value: i128, i: usize, place: Place) -> Result<u64, ArrayError> {
    match u64::try_from(value) {
        Ok(index) if index < END => Ok(index),
        _ => {
            let what = match value {
                i128::MIN..=-1 => "is negative",
                _ => "is too large",
            };
            // Integers beyond 128 bits are clamped, so their value is not shown.
            let shown =
                if [i128::MIN, i128::MAX].contains(&value) { "".into() } else { format!(", {value},") };
            let message = format!("index number {i}{shown} {what}; accepted: 0 to {}", END - 1);
            Err(ArrayError::new(place, message))
        }
    }
}

fn check_count(count: u64) -> Result<(), ArrayError> {
    match count {
        0 => Err(ArrayError::new(Place::Whole, "holds no index; accepted: at least one")),
        1..=MAX_COUNT => Ok(()),
        _ => {
            let message = format!("holds {count} indices; accepted: at most {MAX_COUNT}");
            Err(ArrayError::new(Place::Whole, message))
        }
    }
}

/// The identity of an array: the hexadecimal BLAKE3 hash of its indices as 64-bit little-endian words. It is
/// independent of the input format, and equals the output of `b3sum` for the array in [`Format::Raw`].
pub fn hash(indices: &[u64]) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = Vec::with_capacity(8 * CHUNK);
    for chunk in indices.chunks(CHUNK) {
        buffer.clear();
        buffer.extend(chunk.iter().flat_map(|index| index.to_le_bytes()));
        hasher.update(&buffer);
    }
    hasher.finalize().to_hex().to_string()
}

/// Number of indices hashed at a time.
const CHUNK: usize = 8192;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
