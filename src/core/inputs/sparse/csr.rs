//! The compressed rows themselves.

use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

use crate::inputs::mix::word64;
use crate::memory::{self, NoMemory};

/// Most entries of a matrix: row starts have 32 bits.
pub const MAX_ENTRIES: u64 = u32::MAX as u64;

/// Most rows, and most columns: an index is below 2^32 − 1.
pub const MAX_ROWS: u64 = u32::MAX as u64;

/// Most rows, and most columns, of a matrix with so many entries that a file holds: two for each entry, so that a few bytes
/// of text cannot fill the memory, or 2^22.
pub fn most_rows(entries: u64) -> u64 {
    entries.saturating_mul(2).max(1 << 22)
}

/// Why a matrix does not exist; one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct SparseError(pub String);

impl From<NoMemory> for SparseError {
    fn from(why: NoMemory) -> SparseError {
        SparseError(why.to_string())
    }
}

/// The size of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub rows: u64,
    pub columns: u64,
    /// Stored entries, explicit zeros and duplicates included.
    pub entries: u64,
}

impl Shape {
    /// The same, if 32 bits hold its numbers.
    ///
    /// # Errors
    /// The number that is too large.
    pub fn checked(self) -> Result<Shape, SparseError> {
        let within = |number: u64, most: u64, what: &str| match number {
            _ if number > most => Err(SparseError(format!("{number} {what}; accepted: at most {most}"))),
            _ => Ok(()),
        };
        within(self.rows, MAX_ROWS, "rows")?;
        within(self.columns, MAX_ROWS, "columns")?;
        within(self.entries, MAX_ENTRIES, "entries")?;
        Ok(self)
    }
}

/// A matrix in compressed rows: entries `starts[i]` to `starts[i + 1]` belong to row i. Within a row, columns ascend unless
/// a file has them in another order; a column that occurs more than once adds up. `Csr<()>` has no values.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<V> {
    /// Number of columns; that of rows follows from `starts`.
    pub columns: u64,
    /// One more than there are rows; the last is the number of entries.
    pub starts: Vec<u32>,
    /// The column of each entry.
    pub indices: Vec<u32>,
    /// The value of each entry.
    pub values: Vec<V>,
}

impl<V> Csr<V> {
    /// The number of rows.
    pub fn rows(&self) -> u64 {
        self.starts.len().saturating_sub(1) as u64
    }

    /// The size.
    pub fn shape(&self) -> Shape {
        Shape { rows: self.rows(), columns: self.columns, entries: self.indices.len() as u64 }
    }

    /// The entries of a row, as positions in `indices` and `values`.
    pub fn row(&self, row: usize) -> Range<usize> {
        self.starts[row] as usize..self.starts[row + 1] as usize
    }

    /// The same entries with other values, each a function of row, column and position.
    ///
    /// # Errors
    /// Values that do not fit into the memory.
    pub fn with_values<T: Clone + Send>(
        self,
        value: impl Fn(u64, u32, u64) -> T + Sync,
    ) -> Result<Csr<T>, SparseError>
    where
        V: Sync,
    {
        let of_row = |row: u64| self.row(row as usize).map(move |at| (row, at));
        let parts = in_ranges(self.rows(), |rows| {
            let count = (self.starts[rows.end as usize] - self.starts[rows.start as usize]) as usize;
            let entries = rows.flat_map(of_row);
            memory::collected(count, entries.map(|(row, at)| value(row, self.indices[at], at as u64)))
        });
        let values = memory::joined(parts.into_iter().collect::<Result<_, NoMemory>>()?)?;
        Ok(Csr { columns: self.columns, starts: self.starts, indices: self.indices, values })
    }
}

impl<V: Clone> Csr<V> {
    /// Sorts the entries of each row by their columns; those of a column stay in order.
    pub fn sort_columns(&mut self) {
        for row in 0..self.starts.len().saturating_sub(1) {
            let own = self.row(row);
            let (columns, values) = (&mut self.indices[own.clone()], &mut self.values[own]);
            if columns.is_sorted() {
                continue;
            }
            let mut entries: Vec<_> = columns.iter().copied().zip(values.iter().cloned()).collect();
            entries.sort_by_key(|entry| entry.0);
            for ((column, value), entry) in columns.iter_mut().zip(values).zip(entries) {
                (*column, *value) = entry;
            }
        }
    }

    /// A matrix of (row, column, value) in any order; those of a row stay in the order in which they are given.
    ///
    /// # Errors
    /// More rows, columns or entries than 32 bits hold or the memory does, or an index outside the matrix.
    pub fn from_entries(rows: u64, columns: u64, entries: &[(u32, u32, V)]) -> Result<Csr<V>, SparseError>
    where
        V: Copy + Default,
    {
        Shape { rows, columns, entries: entries.len() as u64 }.checked()?;
        let outside = entries.iter().find(|(i, j, _)| u64::from(*i) >= rows || u64::from(*j) >= columns);
        if let Some((i, j, _)) = outside {
            return Err(SparseError(format!("entry ({i}, {j}) is outside a matrix of {rows} × {columns}")));
        }
        let mut starts = memory::filled(rows as usize + 1, 0u32)?;
        count(&mut starts, entries.iter().map(|(i, ..)| *i));
        let mut indices = memory::filled(entries.len(), 0u32)?;
        let mut values = memory::filled(entries.len(), V::default())?;
        for (i, j, value) in entries {
            let to = &mut starts[*i as usize];
            (indices[*to as usize], values[*to as usize]) = (*j, *value);
            *to += 1;
        }
        put_back(&mut starts);
        Ok(Csr { columns, starts, indices, values })
    }
}

/// Rows or entries that are not worth a further thread.
pub(super) const SERIAL: u64 = 1 << 15;

/// What `of` makes of ranges that divide 0..n, in their order, by up to as many threads as there are processors.
pub fn in_ranges<T: Send>(n: u64, of: impl Fn(Range<u64>) -> T + Sync) -> Vec<T> {
    let processors = thread::available_parallelism().map_or(1, usize::from) as u64;
    let parts = n.div_ceil(SERIAL).clamp(1, processors);
    let range = |k: u64| n * k / parts..n * (k + 1) / parts;
    thread::scope(|scope| {
        let (of, range) = (&of, &range);
        let begin = |k| thread::Builder::new().spawn_scoped(scope, move || of(range(k))).map_err(|_| k);
        let others: Vec<_> = (1..parts).map(begin).collect();
        let first = [of(range(0))].into_iter();
        let others = others.into_iter().map(|part| match part {
            Ok(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            // A limit of processes is reached: this thread takes the range, too.
            Err(k) => of(range(k)),
        });
        first.chain(others).collect()
    })
}

/// Makes zeros, one more than there are rows, where each row begins, if entries have these rows, and the number of entries.
pub(super) fn count(starts: &mut [u32], of: impl Iterator<Item = u32>) {
    of.for_each(|row| starts[row as usize + 1] += 1);
    let mut sum = 0;
    for start in starts {
        sum += *start;
        *start = sum;
    }
}

/// Where each row begins, from where it ends: each was advanced by an entry that was put there.
pub fn put_back(starts: &mut [u32]) {
    let last = starts.len().saturating_sub(1);
    starts.copy_within(..last, 1);
    starts.iter_mut().take(1).for_each(|first| *first = 0);
}

/// Random integer `i` of a seed, from 1 to 8 or from −8 to −1. Sums of products of two such numbers are exact in f32, in
/// any order, up to 2^18 terms.
pub fn small_integer(seed: u64, i: u64) -> i32 {
    let w = word64(seed, i);
    let magnitude = 1 + (w >> 61) as i32;
    if w & 1 == 0 { magnitude } else { -magnitude }
}
