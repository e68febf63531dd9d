//! The matrix in bands of rows, whose part of y stays in the second-level cache of a processor, and each band in blocks of
//! columns (compressed sparse blocks: A. Buluç et al., SPAA 2009). The entries of a band are in the order of their columns.
//! So x is read from left to right, which caches fetch ahead, and only y is accessed in no order, where it is near. Row
//! and column of an entry, counted from those of its block, share a word: blocks take no more memory than compressed rows.

use std::ops::Range;

use crate::inputs::sparse::Csr;

/// Columns of a block, if the case does not say how many.
pub const COLUMNS: u64 = 1 << 15;

/// The most rows of a band: 512 KiB of y in f32, 1 MiB in f64. Narrower bands read x more often.
const ROWS: u64 = 1 << 17;

/// Bits of a place that are a column of a block with so many columns; the others are a row of the band.
pub fn column_bits(columns: u64) -> u32 {
    u64::BITS - columns.saturating_sub(1).leading_zeros()
}

/// The most rows of a band whose blocks have so many columns.
pub fn most_rows(columns: u64) -> u64 {
    ROWS.min(1 << (u32::BITS - column_bits(columns).min(u32::BITS)))
}

/// Some rows in as few bands of at most so many rows as possible, all of about the same height.
pub fn cut(rows: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let bands = rows.len().div_ceil(most);
    let at = move |band: usize| rows.start + (rows.len() as u128 * band as u128 / bands as u128) as usize;
    (0..bands).map(move |band| at(band)..at(band + 1))
}

/// Entries of a band whose columns are in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// The first column.
    pub column: u32,
    /// Behind the last entry; the first is at the end of the block before it.
    pub end: u32,
}

/// A band: its entries have the positions that those of its rows have in compressed rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Band {
    /// The rows.
    pub rows: Range<usize>,
    /// The position of the first entry.
    pub first: usize,
    /// The blocks that have entries, from left to right.
    pub blocks: Vec<Block>,
}

impl Band {
    /// The band of some rows with blocks of so many columns. `put` gets position, place (row and column within the block)
    /// and value of each entry. Those of a column are in the order of their rows, and so is each row's sum in that of its
    /// columns.
    pub fn new(
        matrix: &Csr<f64>,
        rows: Range<usize>,
        columns: u64,
        mut put: impl FnMut(usize, u32, f64),
    ) -> Band {
        let first = matrix.starts[rows.start] as usize;
        let of_row = |row: usize| matrix.row(row).map(move |at| (matrix.indices[at], at as u32, row));
        let mut order: Vec<(u32, u32, u32)> = rows
            .clone()
            .flat_map(of_row)
            .map(|(column, at, row)| (column, at, (row - rows.start) as u32))
            .collect();
        order.sort_unstable_by_key(|(column, at, _)| u64::from(*column) << 32 | u64::from(*at));
        let (bits, width) = (column_bits(columns), columns as u32);
        let mut blocks: Vec<Block> = Vec::new();
        for (to, (column, at, row)) in (first..).zip(order) {
            let begin = column - column % width;
            if blocks.last().is_none_or(|block| block.column != begin) {
                blocks.push(Block { column: begin, end: 0 });
            }
            if let Some(block) = blocks.last_mut() {
                block.end = to as u32 + 1;
            }
            put(to, row << bits | (column - begin), matrix.values[at as usize]);
        }
        Band { rows, first, blocks }
    }

    /// First column and entries of each block.
    pub fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let begins = std::iter::once(self.first).chain(self.blocks.iter().map(|block| block.end as usize));
        self.blocks
            .iter()
            .zip(begins)
            .map(|(block, begin)| (block.column as usize, begin..block.end as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Nas;

    #[test]
    fn bands_hold_every_entry_once() {
        for (n, most, columns) in [(1, 1, 1), (33, 7, 5), (300, 300, 64), (1400, 256, 1 << 15)] {
            let matrix = Nas::new(n, 4, 0.5).make();
            let mut entries = vec![(0, 0.0); matrix.indices.len()];
            let bands: Vec<Band> = cut(0..n as usize, most)
                .map(|rows| {
                    Band::new(&matrix, rows, columns, |to, place, value| entries[to] = (place, value))
                })
                .collect();
            assert!(bands.iter().all(|band| band.rows.len() <= most));
            let (bits, mut found) = (column_bits(columns), Vec::new());
            for band in &bands {
                let mut last = 0;
                for (column, at) in band.parts() {
                    for (place, value) in &entries[at] {
                        let within = place & ((1 << bits) - 1);
                        assert!(u64::from(within) < columns && column as u32 + within >= last);
                        last = column as u32 + within;
                        found.push((band.rows.start as u32 + (place >> bits), last, *value));
                    }
                }
            }
            found.sort_by_key(|entry| (entry.0, entry.1));
            let again = Csr::from_entries(n.into(), n.into(), &found).expect("inside");
            assert_eq!(again, matrix, "{n} {most} {columns}");
        }
    }

    #[test]
    fn a_place_holds_every_row_and_column() {
        for columns in [1, 2, 3, 100, COLUMNS, COLUMNS + 1, 1 << 16] {
            assert!(columns <= 1 << column_bits(columns));
            let last = (most_rows(columns) - 1) << column_bits(columns) | (columns - 1);
            assert!(u32::try_from(last).is_ok(), "{columns}");
        }
        assert_eq!([most_rows(1), most_rows(COLUMNS), most_rows(1 << 16)], [1 << 17, 1 << 17, 1 << 16]);
    }

    #[test]
    fn no_rows_are_no_bands() {
        assert_eq!(cut(5..5, 7).count(), 0);
        assert_eq!(cut(5..20, 7).collect::<Vec<_>>(), [5..10, 10..15, 15..20]);
    }
}
