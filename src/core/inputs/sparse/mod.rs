//! Sparse matrices in compressed rows (CSR), which are also graphs: row i lists the arcs that leave vertex i, and the
//! values are their weights. Made by generators that are integer functions of a seed ([`Generator`]).

mod csr;
mod density;
mod generators;
pub mod matrix_market;
mod nas;
mod positions;
mod rmat;

pub use csr::{Csr, MAX_ENTRIES, MAX_ROWS, Shape, SparseError, in_ranges, small_integer};
pub use density::Density;
pub use generators::Generator;
pub use nas::Nas;
pub use positions::Positions;

/// Words before the row starts.
const HEAD: usize = 3;

impl Csr<f64> {
    /// The matrix as one array of integers below 2^40, the form in which index files are kept and found by their hash: rows,
    /// columns and entries, row starts, the column of each entry, and both halves of each value's bits, the lower one first.
    pub fn to_words(&self) -> Vec<u64> {
        let Shape { rows, columns, entries } = self.shape();
        let halves = |value: &f64| [value.to_bits() & u64::from(u32::MAX), value.to_bits() >> 32];
        let indices = self.starts.iter().chain(&self.indices).map(|&index| u64::from(index));
        [rows, columns, entries]
            .into_iter()
            .chain(indices)
            .chain(self.values.iter().flat_map(halves))
            .collect()
    }

    /// The matrix of such words.
    ///
    /// # Errors
    /// Words that are no matrix.
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
        let narrow = |words: &[u64]| words.iter().map(|&word| word as u32).collect();
        let (pairs, _) = halves.as_chunks::<2>();
        Ok(Csr {
            columns: shape.columns,
            starts: narrow(starts),
            indices: narrow(indices),
            values: pairs.iter().map(|[low, high]| f64::from_bits(high << 32 | low)).collect(),
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
