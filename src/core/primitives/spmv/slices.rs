//! The matrix in blocks of columns, each so narrow that its part of a vector fits in shared memory, and each in slices of
//! 32 rows (SELL-C-σ: M. Kreutzer et al., SIAM J. Sci. Comput. 36, 2014): a lane has a row, and what a warp loads at a time
//! is contiguous. Within windows rows are sorted by length, so that those of a slice are about as long.

use std::cmp::Reverse;
use std::mem::take;

use crate::inputs::shared::Contents;
use crate::inputs::sparse::{Csr, SparseError, in_ranges_of};

/// Rows of a slice.
pub const LANES: usize = 32;

/// Bytes of a vector in the shared memory of a block, which GPUs of data centres have since compute capability 8.0.
const NEAR: u64 = 160 << 10;

/// Columns of a block: of as few blocks as shared memory allows, all of about the same width.
pub fn width(columns: u64, element: u64) -> u64 {
    columns.div_ceil(blocks(columns, element)).max(1)
}

/// The fewest blocks of columns that shared memory allows; at least one.
pub fn blocks(columns: u64, element: u64) -> u64 {
    columns.div_ceil(NEAR / element).max(1)
}

/// Rows that are sorted together.
const WINDOW: usize = 1024;

/// Windows of a block of columns that are not worth a further thread.
const SERIAL: u64 = 16;

/// Stands for the row of a lane that has none.
pub const NONE: u32 = u32::MAX;

/// A matrix in slices.
pub struct Slices {
    /// Entries of a lane that are next to each other: 16 bytes of values.
    group: usize,
    /// The first group of each slice, block of columns by block of columns; one more than there are slices.
    pub starts: Vec<u32>,
    /// The row of each lane of each slice.
    pub rows: Vec<u32>,
    /// The column of each entry, from the first column of its block.
    pub places: Vec<u32>,
    /// The values; a row that is shorter than its slice ends in zeros.
    pub values: Vec<f64>,
}

impl Slices {
    /// The matrix with blocks of so many columns and groups of so many entries. The columns of a row ascend.
    pub fn new(matrix: &Csr<f64>, columns: usize, group: usize) -> Slices {
        let windows = (matrix.rows() as usize).div_ceil(WINDOW);
        let blocks = (matrix.columns as usize).div_ceil(columns);
        let parts = in_ranges_of(SERIAL, (blocks * windows) as u64, |range| {
            let mut slices = Slices::empty(group);
            for at in range {
                slices.extend(matrix, columns, at as usize / windows, at as usize % windows);
            }
            slices
        });
        let entries = parts.iter().map(|part| part.values.len()).sum();
        let mut all = Slices::empty(group);
        all.values.reserve_exact(entries);
        all.places.reserve_exact(entries);
        parts.into_iter().for_each(|part| all.append(part));
        all
    }

    fn empty(group: usize) -> Slices {
        Slices { group, starts: vec![0], rows: Vec::new(), places: Vec::new(), values: Vec::new() }
    }

    fn append(&mut self, mut other: Slices) {
        let before = self.starts[self.count()];
        self.starts.extend(other.starts[1..].iter().map(|start| before + start));
        self.rows.append(&mut other.rows);
        self.places.append(&mut other.places);
        self.values.append(&mut other.values);
    }

    /// Appends the rows of a window in a block of columns.
    fn extend(&mut self, matrix: &Csr<f64>, columns: usize, block: usize, window: usize) {
        let (first, rows) = (block * columns, matrix.rows() as usize);
        let own = window * WINDOW..((window + 1) * WINDOW).min(rows);
        let part = |row: usize| {
            let all = matrix.row(row);
            let before =
                |end: usize| matrix.indices[all.clone()].partition_point(|column| (*column as usize) < end);
            all.start + before(first)..all.start + before(first + columns)
        };
        let parts: Vec<_> = own.clone().map(part).collect();
        let mut order: Vec<u32> = own.clone().map(|row| row as u32).collect();
        order.sort_by_key(|row| Reverse(parts[*row as usize - own.start].len()));
        for rows in order.chunks(LANES) {
            self.push(matrix, first, rows, |row| parts[row as usize - own.start].clone());
        }
    }

    /// Appends a slice of these rows, whose entries `of` tells.
    fn push(
        &mut self,
        matrix: &Csr<f64>,
        first: usize,
        rows: &[u32],
        of: impl Fn(u32) -> std::ops::Range<usize>,
    ) {
        let groups = rows.iter().map(|row| of(*row).len().div_ceil(self.group)).max().unwrap_or(0);
        let base = self.values.len();
        let end = base + groups * LANES * self.group;
        self.values.resize(end, 0.0);
        self.places.resize(end, 0);
        for (lane, row) in rows.iter().enumerate() {
            for (k, at) in of(*row).enumerate() {
                let to = base + (k / self.group * LANES + lane) * self.group + k % self.group;
                self.values[to] = matrix.values[at];
                self.places[to] = matrix.indices[at] - first as u32;
            }
        }
        self.rows.extend(rows);
        self.rows.resize(self.rows.len().next_multiple_of(LANES), NONE);
        self.starts.push((end / (LANES * self.group)) as u32);
    }

    /// The columns, two in a word; blocks have at most 2^16.
    pub fn halves(&self) -> Vec<u32> {
        self.places.as_chunks().0.iter().map(|&[low, high]| low | high << 16).collect()
    }

    /// The number of slices.
    pub fn count(&self) -> usize {
        self.starts.len() - 1
    }

    /// The first slice of each of `shares` shares with about as many entries, and the number of slices.
    pub fn shares(&self, shares: u32) -> Vec<u32> {
        let groups = u64::from(self.starts[self.count()]);
        let begin = |share: u32| {
            let wanted = groups * u64::from(share) / u64::from(shares.max(1));
            self.starts[..self.count()].partition_point(|start| u64::from(*start) < wanted) as u32
        };
        (0..shares).map(begin).chain([self.count() as u32]).collect()
    }
}

/// Slices whose values and places are words for a GPU.
pub struct SliceWords {
    /// Without values and places.
    pub slices: Slices,
    pub values: Vec<u32>,
    pub places: Vec<u32>,
}

impl Contents for SliceWords {
    fn bytes(&self) -> u64 {
        self.slices.starts.bytes() + self.slices.rows.bytes() + self.values.bytes() + self.places.bytes()
    }
}

impl SliceWords {
    /// Slices with the words that `words` makes of their values and `places` of their places. An array is freed once its words
    /// are there.
    ///
    /// # Errors
    /// Errors of `words`.
    pub fn of(
        mut slices: Slices,
        words: impl FnOnce(&[f64]) -> Result<Vec<u32>, SparseError>,
        places: impl FnOnce(&mut Slices) -> Vec<u32>,
    ) -> Result<SliceWords, SparseError> {
        let values = words(&take(&mut slices.values))?;
        let places = places(&mut slices);
        slices.places = Vec::new();
        Ok(SliceWords { slices, values, places })
    }
}

/// A matrix in slices on a GPU.
pub mod cuda {
    use super::{NONE, SliceWords};
    use crate::case::Failure;
    use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, device_struct};

    device_struct! {
        /// `Slices` in the kernels.
        pub struct Pointers: 32 {
            starts: DevicePtr<u32>,
            places: DevicePtr<u32>,
            values: DevicePtr<u32>,
            rows: DevicePtr<u32>,
        }
    }

    /// A matrix in slices, and the first slice of each block of threads.
    pub struct SliceBuffers {
        pub starts: DeviceBuffer<u32>,
        pub places: DeviceBuffer<u32>,
        pub values: DeviceBuffer<u32>,
        pub rows: DeviceBuffer<u32>,
        pub shares: DeviceBuffer<u32>,
    }

    impl SliceBuffers {
        /// Slices for so many blocks of threads.
        pub fn new(gpu: &Gpu, words: &SliceWords, blocks: u32) -> Result<SliceBuffers, Failure> {
            let SliceWords { slices, values, places } = words;
            // An array has at least a word.
            let with = |words: &[u32], only: u32| match words {
                [] => gpu.upload(&[only]),
                words => gpu.upload(words),
            };
            Ok(SliceBuffers {
                starts: gpu.upload(&slices.starts)?,
                places: with(places, 0)?,
                values: with(values, 0)?,
                rows: with(&slices.rows, NONE)?,
                shares: gpu.upload(&slices.shares(blocks))?,
            })
        }

        /// The arrays that kernels read.
        pub fn pointers(&self) -> Pointers {
            Pointers {
                starts: self.starts.pointer(),
                places: self.places.pointer(),
                values: self.values.pointer(),
                rows: self.rows.pointer(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Nas;

    #[test]
    fn slices_hold_every_entry_once() {
        for (n, columns, group) in [(0, 7, 2), (1, 7, 2), (33, 7, 4), (300, 64, 2), (1400, 1400, 4)] {
            let matrix = Nas::new(n, 4, 0.5).make().expect("a matrix");
            let slices = Slices::new(&matrix, columns, group);
            let per_block = (n as usize).div_ceil(LANES);
            let mut found = Vec::new();
            for slice in 0..slices.count() {
                let block = slice / per_block.max(1);
                let groups = slices.starts[slice] as usize..slices.starts[slice + 1] as usize;
                for at in groups.start * LANES * group..groups.end * LANES * group {
                    let row = slices.rows[slice * LANES + at / group % LANES];
                    if slices.values[at] != 0.0 {
                        let column = block * columns + slices.places[at] as usize;
                        found.push((row, column as u32, slices.values[at]));
                    }
                }
            }
            found.sort_by_key(|entry| (entry.0, entry.1));
            let again = Csr::from_entries(n.into(), n.into(), &found).expect("inside");
            assert_eq!(again, matrix, "{n} {columns}");
        }
    }

    #[test]
    fn shares_have_about_as_many_entries() {
        let slices = Slices::new(&Nas::new(1400, 7, 10.0).make().expect("a matrix"), 700, 2);
        let shares = slices.shares(8);
        let groups =
            |share: usize| slices.starts[shares[share + 1] as usize] - slices.starts[shares[share] as usize];
        let longest = slices.starts.windows(2).map(|ends| ends[1] - ends[0]).max().expect("slices");
        assert!((0..8).all(|share| groups(share).abs_diff(slices.starts[slices.count()] / 8) <= longest));
    }
}
