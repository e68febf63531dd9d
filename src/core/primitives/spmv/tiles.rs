//! Equal shares of rows and entries: the ends of rows and the entries, merged in order, are cut into pieces of the same
//! length (Merrill and Garland: Merge-based parallel sparse matrix-vector multiplication, SC 2016). The cuts depend on
//! the matrix alone and are made once, before anything is timed.

use std::ops::Range;

use super::Spec;
use crate::case::BlockCost;

/// Rows and entries of a block of threads on GPUs (`TILE` in the kernels).
pub const TILE: u64 = 2048;

/// The work of blocks whose tiles have `tile` rows and entries: instructions of warps, integer instructions and wavefronts of
/// shared memory for each tile, with `resident` blocks on a multiprocessor.
pub fn tile_cost(spec: &Spec, tile: u64, resident: u64, of_tile: [f64; 3]) -> BlockCost {
    let tiles = (spec.shape.rows + spec.shape.entries).div_ceil(tile);
    let cost = BlockCost::of(tiles, resident).blocks(tiles).loads(2.0).looks(1.0).steps(12.0);
    cost.with(tiles as f64, of_tile)
}

/// The number of rows that end before position `at` of the merged sequence. The end of row r is at place
/// starts[r + 1] + r.
pub fn rows_before(starts: &[u32], at: u64) -> u64 {
    let (mut low, mut high) = (0, starts.len().saturating_sub(1));
    while low < high {
        let middle = low + (high - low) / 2;
        match u64::from(starts[middle + 1]) + (middle as u64) < at {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low as u64
}

/// The length of the merged sequence.
pub fn merged(starts: &[u32]) -> u64 {
    starts.len().saturating_sub(1) as u64 + u64::from(starts.last().copied().unwrap_or(0))
}

/// The first row that ends in each tile of `size` rows and entries, and at the end the number of rows.
pub fn firsts(starts: &[u32], size: u64) -> Vec<u32> {
    let total = merged(starts);
    let tiles = total.div_ceil(size);
    (0..=tiles).map(|tile| rows_before(starts, (tile * size).min(total)) as u32).collect()
}

/// One of `count` equal shares of the merged sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    /// The rows that end in it.
    pub rows: Range<usize>,
    /// Its entries, which may belong to a row that begins before it, and to one that ends after it.
    pub entries: Range<usize>,
}

impl Share {
    /// The rows of which it has all entries: the first may begin before it.
    pub fn whole(&self, starts: &[u32]) -> Range<usize> {
        let Range { start, end } = self.rows;
        let cut = start < end && (starts[start] as usize) < self.entries.start;
        start + usize::from(cut)..end
    }
}

/// Share `index` of `count`.
pub fn share(starts: &[u32], index: usize, count: usize) -> Share {
    let total = u128::from(merged(starts));
    let at = |index: usize| {
        let place = (total * index as u128 / count as u128) as u64;
        let row = rows_before(starts, place);
        (row as usize, (place - row) as usize)
    };
    let ((row, entry), (end, last)) = (at(index), at(index + 1));
    Share { rows: row..end, entries: entry..last }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_cover_rows_and_entries_once(lengths in prop::collection::vec(0u32..9, 0..60), count in 1usize..9) {
            let mut starts = vec![0];
            lengths.iter().for_each(|length| starts.push(starts[starts.len() - 1] + length));
            let shares: Vec<Share> = (0..count).map(|index| share(&starts, index, count)).collect();
            prop_assert_eq!((shares[0].rows.start, shares[0].entries.start), (0, 0));
            let ends = (lengths.len(), starts[lengths.len()] as usize);
            prop_assert_eq!((shares[count - 1].rows.end, shares[count - 1].entries.end), ends);
            for share in &shares {
                prop_assert!(share.rows.len() + share.entries.len() <= merged(&starts) as usize / count + 1);
                let whole = share.whole(&starts);
                prop_assert!(whole.end == share.rows.end && share.rows.len() - whole.len() <= 1);
                prop_assert!(whole.clone().all(|row| starts[row] as usize >= share.entries.start));
                prop_assert!(whole.start == share.rows.start || (starts[share.rows.start] as usize) < share.entries.start);
                for row in share.rows.clone() {
                    let end = starts[row + 1] as usize;
                    prop_assert!((share.entries.start..=share.entries.end).contains(&end));
                }
            }
            let joined = |pair: &[Share]| pair[0].rows.end == pair[1].rows.start && pair[0].entries.end == pair[1].entries.start;
            prop_assert!(shares.windows(2).all(joined));
        }
    }

    #[test]
    fn tiles_begin_in_the_rows_that_they_cut() {
        // Row 1 alone fills more than two tiles.
        let starts = [0, 10, 5010, 5010];
        assert_eq!(firsts(&starts, TILE), [0, 1, 1, 3]);
        assert_eq!(firsts(&[0], TILE), [0]);
        assert_eq!(rows_before(&starts, 11), 1);
    }
}
