//! The compressed rows themselves.

use std::borrow::Cow;
use std::ops::Range;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
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

impl Shape {
    /// Bytes of memory while such a matrix is made, in f64: its parts are there beside the whole.
    pub fn making(&self) -> u64 {
        2 * (4 * (self.rows + 1) + 12 * self.entries)
    }
}

impl<V> Csr<V> {
    /// The rows of several matrices with so many columns, one below another.
    ///
    /// # Errors
    /// A matrix that does not fit into the memory.
    pub fn stacked(columns: u64, parts: Vec<Csr<V>>) -> Result<Csr<V>, NoMemory> {
        let rows = parts.iter().map(|part| part.rows() as usize).sum::<usize>();
        let mut starts = memory::with_room(rows + 1)?;
        starts.push(0);
        let (mut indices, mut values, mut before) = (Vec::new(), Vec::new(), 0);
        for part in parts {
            starts.extend(part.starts.iter().skip(1).map(|start| before + start));
            before += part.indices.len() as u32;
            indices.push(part.indices);
            values.push(part.values);
        }
        Ok(Csr { columns, starts, indices: memory::joined(indices)?, values: memory::joined(values)? })
    }
}

impl<V: Clone> Csr<V> {
    /// The matrix with the columns of each row in ascending order.
    pub fn with_sorted_columns(&self) -> Cow<'_, Csr<V>> {
        let sorted = |row: usize| self.indices[self.row(row)].is_sorted();
        if (0..self.rows() as usize).all(sorted) {
            return Cow::Borrowed(self);
        }
        let mut matrix = self.clone();
        matrix.sort_columns();
        Cow::Owned(matrix)
    }

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
    in_ranges_of(SERIAL, n, of)
}

/// As many threads as there are processors that this one may use.
pub fn threads() -> u64 {
    thread::available_parallelism().map_or(1, usize::from) as u64
}

/// Words that several threads write, relaxed.
pub fn atomics(words: &mut [u32]) -> &[AtomicU32] {
    // SAFETY: an atomic word has the size and the alignment of a word, and nobody else has access while it is borrowed.
    unsafe { &*(std::ptr::from_mut(words) as *const [AtomicU32]) }
}

/// Ranges of a thread: some take longer than others.
const SHARES: u64 = 8;

/// [`in_ranges`] of about `least` or more. A thread that is done with a range takes the next one.
pub fn in_ranges_of<T: Send>(least: u64, n: u64, of: impl Fn(Range<u64>) -> T + Sync) -> Vec<T> {
    let processors = threads();
    let parts = n.div_ceil(least).clamp(1, SHARES * processors);
    let next = AtomicU64::new(0);
    let take = || {
        let number = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|k| *k < parts);
        let part = |k: u64| (k, of(n * k / parts..n * (k + 1) / parts));
        std::iter::from_fn(number).map(part).collect::<Vec<(u64, T)>>()
    };
    let mut all = thread::scope(|scope| {
        // A limit of processes leaves fewer threads.
        let begin = |_| thread::Builder::new().spawn_scoped(scope, take).ok();
        let others: Vec<_> = (1..parts.min(processors)).filter_map(begin).collect();
        let own = take();
        let joined =
            others.into_iter().map(|other| other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        joined.fold(own, |mut all, more| {
            all.extend(more);
            all
        })
    });
    all.sort_by_key(|(k, _)| *k);
    all.into_iter().map(|(_, made)| made).collect()
}

/// `of(i)` for all i below `n`, by up to as many threads as there are processors.
///
/// # Errors
/// Numbers that do not fit into the memory.
pub fn in_parallel<T: Copy + Default + Send>(
    n: usize,
    of: impl Fn(usize) -> T + Sync,
) -> Result<Vec<T>, NoMemory> {
    let mut all = memory::zeroed::<T>(n)?;
    let length = n.div_ceil(threads() as usize).max(SERIAL as usize);
    let parts = Mutex::new(all.chunks_mut(length).enumerate());
    // One range at least: the calling thread takes what no other one does.
    in_ranges_of(1, n.div_ceil(length) as u64, |range| {
        for _ in range {
            let part = parts.lock().unwrap_or_else(PoisonError::into_inner).next();
            if let Some((part, to)) = part {
                (part * length..).zip(to).for_each(|(i, to)| *to = of(i));
            }
        }
    });
    Ok(all)
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

/// Calls a function on a thread that may use one processor only.
#[cfg(test)]
pub fn on_one_processor<T: Send>(of: impl FnOnce() -> T + Send) -> T {
    let bound = move || {
        // SAFETY: a set of no processors is a valid one, which `CPU_SET` then changes.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            libc::CPU_SET(libc::sched_getcpu() as usize, &mut set);
            assert_eq!(libc::sched_setaffinity(0, size_of_val(&set), &raw const set), 0);
        }
        assert_eq!(threads(), 1);
        of()
    };
    thread::scope(|scope| scope.spawn(bound).join().expect("no panic"))
}
