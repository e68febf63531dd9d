//! Index arrays that somebody brings: from the bytes of a `.npy` file, of a text, or of
//! raw words to the indices. Pure; [`crate::inputs::indices`] opens the files.

mod npy;
mod text;

use super::permutation::MAX_ELEMENTS;

/// Most indices in an array.
pub const MAX_COUNT: u64 = 1 << 30;

/// Indices are below this: 2^40, as many elements as an array of a case may have.
pub const END: u64 = MAX_ELEMENTS;

/// How an array is written down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// NumPy's format, versions 1 to 3: integers of 1, 2, 4 or 8 bytes, signed or not, of
    /// either byte order. Several dimensions are read in C order, the last fastest.
    Npy,
    /// Decimal integers between commas, semicolons, blanks and line breaks, or a column of
    /// a table with a header line.
    Text,
    /// 64-bit little-endian words and nothing else.
    Raw,
}

impl Format {
    /// The format of a file with this name that begins with `head`: NumPy's magic bytes
    /// decide, then the ending (`.u64`, `.bin`, `.idx`: raw); all else is text.
    pub fn of(name: &str, head: &[u8]) -> Format {
        let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
        match ending.as_str() {
            _ if head.starts_with(npy::MAGIC) => Format::Npy,
            "npy" => Format::Npy,
            "u64" | "bin" | "idx" => Format::Raw,
            _ => Format::Text,
        }
    }
}

/// Where in the input a mistake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In no particular place.
    Whole,
    /// Line and column (in bytes), both from 1.
    Line(u64, u64),
    /// Bytes from the beginning.
    Byte(u64),
}

/// Why bytes are no index array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayError {
    pub place: Place,
    pub message: String,
}

impl ArrayError {
    fn new(place: Place, message: impl Into<String>) -> ArrayError {
        ArrayError { place, message: message.into() }
    }

    /// One line that names the input: `idx.csv:3:7: …`, `idx.npy: … (at byte 128)`.
    pub fn of(&self, name: &str) -> String {
        match self.place {
            Place::Whole => format!("{name}: {}", self.message),
            Place::Line(line, column) => format!("{name}:{line}:{column}: {}", self.message),
            Place::Byte(byte) => format!("{name}: {} (at byte {byte})", self.message),
        }
    }
}

/// The indices in `bytes`, at least one. `column` names a column of a text with a header
/// line; the other formats have none.
///
/// # Errors
/// What is no integer from 0 to [`END`] − 1, an empty or truncated input, bytes behind the
/// end, and more than [`MAX_COUNT`] indices: what is wrong, where, and what is accepted.
pub fn parse(format: Format, bytes: &[u8], column: Option<&str>) -> Result<Vec<u64>, ArrayError> {
    if let (Format::Npy | Format::Raw, Some(name)) = (format, column) {
        let message = format!("a column (`{name}`) was asked for, but only texts have columns");
        return Err(ArrayError::new(Place::Whole, message));
    }
    if bytes.is_empty() {
        return Err(empty());
    }
    match format {
        Format::Npy => npy::parse(bytes),
        Format::Text => text::parse(bytes, column),
        Format::Raw => raw(bytes),
    }
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

/// Raw words as their bytes come, a piece at a time.
#[derive(Clone, Debug, Default)]
pub struct Raw {
    indices: Vec<u64>,
    /// The bytes of a word that is not whole yet, and how many they are.
    word: [u8; 8],
    filled: usize,
}

impl Raw {
    /// Further bytes.
    ///
    /// # Errors
    /// As for [`parse`]: an index that is none, and one more than [`MAX_COUNT`].
    pub fn take(&mut self, bytes: &[u8]) -> Result<(), ArrayError> {
        self.indices.reserve(bytes.len() / 8);
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

    /// Bytes of a word that is not whole yet.
    fn keep(&mut self, bytes: &[u8]) {
        self.word[self.filled..self.filled + bytes.len()].copy_from_slice(bytes);
        self.filled += bytes.len();
    }

    fn add(&mut self, value: u64) -> Result<(), ArrayError> {
        let i = self.indices.len();
        if i as u64 == MAX_COUNT {
            let message = format!("holds more than {MAX_COUNT} indices, the most that are accepted");
            return Err(ArrayError::new(Place::Whole, message));
        }
        self.indices.push(checked(value.into(), i, Place::Byte(8 * i as u64))?);
        Ok(())
    }

    /// The indices, after the last byte.
    ///
    /// # Errors
    /// No byte at all, or a word that is not whole.
    pub fn end(self) -> Result<Vec<u64>, ArrayError> {
        match (self.indices.len(), self.filled) {
            (0, 0) => Err(empty()),
            (_, 0) => Ok(self.indices),
            (words, rest) => Err(no_words(8 * words as u64 + rest as u64)),
        }
    }
}

fn empty() -> ArrayError {
    ArrayError::new(Place::Whole, "is empty; accepted: at least one index")
}

fn no_words(bytes: u64) -> ArrayError {
    ArrayError::new(Place::Whole, format!("{bytes} bytes are no whole number of 64-bit words"))
}

/// The `i`th index, from a number that fits every integer type.
fn checked(value: i128, i: usize, place: Place) -> Result<u64, ArrayError> {
    match u64::try_from(value) {
        Ok(index) if index < END => Ok(index),
        _ => {
            let what = match value {
                i128::MIN..=-1 => "is negative",
                _ => "is too large",
            };
            // Of an integer beyond 128 bits nobody knows the value.
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

/// The array's identity: the BLAKE3 hash, hexadecimal, of its indices as 64-bit
/// little-endian words. It does not depend on the format they came in, and is what `b3sum`
/// prints for the array in [`Format::Raw`].
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

/// Indices that are hashed at a time.
const CHUNK: usize = 8192;

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
