//! Index generators and data: all inputs are integer functions of (seed, i), bit-identical on every machine and
//! in `kernels/common/inputs.cuh`. libm is never used. Arrays and matrices are read from files, too, or refused with an
//! [`ArrayError`].

pub mod applications;
pub mod arrays;
pub mod generators;
pub mod graph;
pub mod indices;
mod lines;
pub mod locality;
pub mod mix;
pub mod notation;
pub mod partitions;
pub mod permutation;
mod real;
pub mod scramble;
pub mod shared;
pub mod sparse;
pub mod zipf;

use std::borrow::Cow;

use crate::memory::NoMemory;

pub use partitions::partition_of;
pub use permutation::Permutation;
pub use scramble::Scramble;
pub use zipf::Zipf;

/// A word of a text, which is not copied: it may be as long as the text. Of one that is not UTF-8 no more is kept than a
/// message shows.
fn word(bytes: &[u8]) -> Cow<'_, str> {
    const LONGEST: usize = 256;
    let damaged = |_| {
        let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(LONGEST)]);
        Cow::Owned(format!("{beginning}{}", char::REPLACEMENT_CHARACTER))
    };
    std::str::from_utf8(bytes).map_or_else(damaged, Cow::Borrowed)
}

/// The position of an error in the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// No particular position.
    Whole,
    /// Line and column (in bytes), both from 1.
    Line(u64, u64),
    /// Offset in bytes.
    Byte(u64),
}

/// Why an input is not a valid index array or matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayError {
    pub place: Place,
    pub message: String,
}

impl ArrayError {
    fn new(place: Place, message: impl Into<String>) -> ArrayError {
        ArrayError { place, message: message.into() }
    }

    /// The refusal of an input that does not fit.
    fn large(why: NoMemory) -> ArrayError {
        ArrayError::new(Place::Whole, why.to_string())
    }

    /// A single line that names the input: `idx.csv:3:7: …`, `idx.npy: … (at byte 128)`.
    pub fn of(&self, name: &str) -> String {
        match self.place {
            Place::Whole => format!("{name}: {}", self.message),
            Place::Line(line, column) => format!("{name}:{line}:{column}: {}", self.message),
            Place::Byte(byte) => format!("{name}: {} (at byte {byte})", self.message),
        }
    }
}
