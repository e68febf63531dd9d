//! Sparse matrices in compressed rows (CSR), which are also graphs: row i lists the arcs that leave vertex i, and the
//! values are their weights. Made by generators that are integer functions of a seed ([`Generator`]).

mod csr;
mod density;
mod generators;
pub mod matrix_market;
mod nas;
mod positions;
mod rmat;

#[cfg(test)]
pub(super) use csr::on_one_processor;
pub use csr::{
    Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, in_parallel, in_ranges, in_ranges_of, most_rows,
    small_integer,
};
pub(super) use csr::{atomics, threads};
pub use density::Density;
pub use generators::Generator;
pub use nas::Nas;
pub use positions::Positions;

use crate::memory::{self, NoMemory};

/// Words before the row starts.
const HEAD: usize = 3;

impl Csr<f64> {
    /// The matrix as one array of integers below 2^40, the form in which index files are kept and found by their hash: rows,
    /// columns and entries, row starts, the column of each entry, and both halves of each value's bits, the lower one first.
    /// The matrix's arrays are freed one after another.
    ///
    /// # Errors
    /// Words that do not fit into the memory.
    pub fn into_words(self) -> Result<Vec<u64>, NoMemory> {
        let Shape { rows, columns, entries } = self.shape();
        let halves = |value: f64| [value.to_bits() & u64::from(u32::MAX), value.to_bits() >> 32];
        let mut words = memory::with_room(HEAD + self.starts.len() + 3 * self.indices.len())?;
        words.extend([rows, columns, entries]);
        for array in [self.starts, self.indices] {
            words.extend(array.into_iter().map(u64::from));
        }
        words.extend(self.values.into_iter().flat_map(halves));
        Ok(words)
    }

    /// The matrix of such words.
    ///
    /// # Errors
    /// Words that are no matrix, or one that does not fit into the memory.
    pub fn from_words(words: &[u64]) -> Result<Csr<f64>, SparseError> {
        let broken = || SparseError("the words are not those of a matrix".to_owned());
        let shape = Shape::of_words(words).ok_or_else(broken)?.checked()?;
        let (starts, rest) = words[HEAD..].split_at_checked(shape.rows as usize + 1).ok_or_else(broken)?;
        let (indices, halves) = rest.split_at_checked(shape.entries as usize).ok_or_else(broken)?;
        let sound = starts.is_sorted()
            && starts.first() == Some(&0)
            && starts.last() == Some(&shape.entries)
            && indices.iter().all(|&column| column < shape.columns)
            && halves.len() == 2 * indices.len()
            && halves.iter().all(|&half| half <= u32::MAX.into());
        if !sound {
            return Err(broken());
        }
        let narrow = |words: &[u64]| memory::collected(words.len(), words.iter().map(|&word| word as u32));
        let (pairs, _) = halves.as_chunks::<2>();
        let values = pairs.iter().map(|[low, high]| f64::from_bits(high << 32 | low));
        Ok(Csr {
            columns: shape.columns,
            starts: narrow(starts)?,
            indices: narrow(indices)?,
            values: memory::collected(pairs.len(), values)?,
        })
    }
}

impl Shape {
    /// The size of the matrix that these words hold, from the first of them.
    pub fn of_words(words: &[u64]) -> Option<Shape> {
        let [rows, columns, entries, ..] = words else { return None };
        Some(Shape { rows: *rows, columns: *columns, entries: *entries })
    }
}

#[cfg(test)]
mod tests;
