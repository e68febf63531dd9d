//! The density of a matrix's entries by place, and facts about its rows.

use super::Shape;
use super::positions::Positions;

/// Most bins along each side. A picture has fewer cells, and each cell is made of whole bins.
const MOST_BINS: u64 = 1024;

/// A picture of a matrix in any number of cells, and facts about the rows that were looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct Density {
    /// The size of the whole matrix.
    pub shape: Shape,
    /// Number of rows in the sample, unless all rows were looked at.
    pub sample: Option<u64>,
    /// Rows that were looked at.
    rows: u64,
    /// Entries of the shortest and of the longest of them; `None` without rows.
    pub ends: Option<(u64, u64)>,
    /// Entries of all of them.
    entries: u64,
    /// Rows among them without entries.
    empty: u64,
    /// Mean and largest distance |i − j| of their entries from the diagonal; `None` without entries.
    pub distances: Option<(f64, u64)>,
    /// Bins downwards and to the right.
    bins: (u64, u64),
    /// Rows that were looked at above each bin and, last, all of them.
    above: Vec<u64>,
    /// Distinct positions with an entry above and to the left of each corner of the bins, row by row.
    corners: Vec<u32>,
}

/// The cells or bins of `count` along a side of `length`: where number `at` begins.
fn begin(at: u64, length: u64, count: u64) -> u64 {
    (at * length).div_ceil(count)
}

impl Density {
    /// The density of these entries. A position that is there twice counts once, an entry of it twice.
    pub fn of(positions: &Positions) -> Density {
        let Positions { shape, rows, entries } = positions;
        // At least two rows of a sample in each bin, so that none is without a row.
        let most = if rows.sampled() { rows.count() / 2 } else { shape.rows };
        let bins = (most.clamp(1, MOST_BINS), shape.columns.clamp(1, MOST_BINS));
        let width = bins.1 as usize + 1;
        let mut above = vec![0u64; bins.0 as usize + 1];
        let mut corners = vec![0u32; above.len() * width];
        let (mut ends, mut empty): (Option<(u64, u64)>, u64) = (None, 0);
        let (mut sum, mut largest) = (0u128, 0);
        let mut columns = Vec::new();
        for (k, row) in rows.numbers().enumerate() {
            columns.clear();
            columns.extend_from_slice(&entries.indices[entries.row(k)]);
            let count = columns.len() as u64;
            ends = Some(ends.map_or((count, count), |(least, most)| (least.min(count), most.max(count))));
            empty += u64::from(count == 0);
            for column in &columns {
                let distance = row.abs_diff((*column).into());
                sum += u128::from(distance);
                largest = largest.max(distance);
            }
            columns.sort_unstable();
            columns.dedup();
            let bin = (row * bins.0 / shape.rows) as usize + 1;
            above[bin] += 1;
            let line = &mut corners[bin * width..][..width];
            columns.iter().for_each(|&j| line[(u64::from(j) * bins.1 / shape.columns) as usize + 1] += 1);
        }
        let count = entries.indices.len() as u64;
        let mut density = Density {
            shape: *shape,
            sample: rows.sampled().then(|| rows.count()),
            rows: rows.count(),
            ends,
            entries: count,
            empty,
            distances: (count > 0).then(|| (sum as f64 / count as f64, largest)),
            bins,
            above,
            corners,
        };
        density.add_up();
        density
    }

    /// Makes sums of the counts of bins.
    fn add_up(&mut self) {
        let width = self.bins.1 as usize + 1;
        for bin in 1..self.above.len() {
            self.above[bin] += self.above[bin - 1];
            let (before, line) = self.corners.split_at_mut(bin * width);
            let mut left = 0;
            for (sum, above) in line[..width].iter_mut().zip(&before[(bin - 1) * width..]) {
                left += *sum;
                *sum = left + above;
            }
        }
    }

    /// Entries of a row that was looked at, on average.
    pub fn mean(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.entries as f64 / self.rows as f64)
    }

    /// The share of rows without entries.
    pub fn empty(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.empty as f64 / self.rows as f64)
    }

    /// For each cell of a picture of this height and width, row by row, the share of its positions that hold an entry. A
    /// matrix with fewer rows or columns is stretched.
    pub fn picture(&self, height: u64, width: u64) -> Vec<f64> {
        let side = |cells: u64, bins: u64| -> Vec<(u64, u64)> {
            let ends = |at: u64| (at * bins / cells, (at * bins / cells + 1).max((at + 1) * bins / cells));
            (0..cells).map(ends).collect()
        };
        let (down, right) = (side(height, self.bins.0), side(width, self.bins.1));
        down.iter().flat_map(|rows| right.iter().map(|columns| self.share(*rows, *columns))).collect()
    }

    /// The share of the positions in these bins that hold an entry; 0 without positions.
    fn share(&self, rows: (u64, u64), columns: (u64, u64)) -> f64 {
        let corner = |row, column| i64::from(self.corners[(row * (self.bins.1 + 1) + column) as usize]);
        let held = corner(rows.1, columns.1) - corner(rows.0, columns.1) - corner(rows.1, columns.0)
            + corner(rows.0, columns.0);
        let tall = self.above[rows.1 as usize] - self.above[rows.0 as usize];
        let from = |at| begin(at, self.shape.columns, self.bins.1);
        let positions = tall * (from(columns.1) - from(columns.0));
        if positions == 0 { 0.0 } else { held as f64 / positions as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::{Csr, Generator};

    fn of(generator: Generator) -> Density {
        Density::of(&generator.positions(7).expect("positions"))
    }

    #[test]
    fn facts_are_those_of_the_rows() {
        let banded = of(Generator::Banded { rows: 10, half: 1 });
        assert_eq!((banded.ends, banded.sample, banded.empty()), (Some((2, 3)), None, Some(0.0)));
        assert_eq!((banded.mean(), banded.distances), (Some(2.8), Some((18.0 / 28.0, 1))));
        let empty = of(Generator::EmptyRows { rows: 8, entries: 2 });
        assert_eq!((empty.ends, empty.empty()), (Some((0, 2)), Some(0.5)));
        let nothing = of(Generator::Random { rows: 0, entries: 2 });
        assert_eq!(
            (nothing.ends, nothing.empty(), nothing.distances, nothing.mean()),
            (None, None, None, None)
        );
        assert_eq!(nothing.picture(2, 3), [0.0; 6]);
    }

    /// Cells of a small matrix are its positions; of a wide one, several rows are one cell.
    #[test]
    fn cells_hold_the_share_of_their_positions() {
        let entries = [(0, 0, ()), (0, 0, ()), (1, 3, ()), (1, 2, ())];
        let matrix = Csr::from_entries(2, 4, &entries).expect("a matrix");
        let density = Density::of(&Positions::of(&matrix).expect("positions"));
        assert_eq!(density.picture(2, 4), [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]);
        assert_eq!(density.picture(1, 2), [0.25, 0.5]);
        assert_eq!(density.picture(4, 2), [0.5, 0.0, 0.5, 0.0, 0.0, 1.0, 0.0, 1.0]);
    }

    /// Whatever the number of cells: all entries are in some cell, once.
    #[test]
    fn shares_of_random_matrices_are_even() {
        for rows in [1000, 1500, 1_100_000, 3_000_000] {
            let density = of(Generator::Random { rows, entries: 20 });
            let wanted = 20.0 / rows as f64;
            for share in density.picture(7, 5) {
                assert!((share / wanted - 1.0).abs() < 0.1, "{rows} rows: {share} in place of {wanted}");
            }
        }
    }

    /// A stencil is on and beside the diagonal, also in a sample.
    #[test]
    fn a_sampled_stencil_is_a_diagonal() {
        let density = of(Generator::Laplace5 { side: 4096 });
        assert!(density.sample.is_some() && density.distances.is_some_and(|(_, most)| most == 4096));
        let picture = density.picture(100, 100);
        for (at, share) in picture.iter().enumerate() {
            let (row, column) = (at / 100, at % 100);
            assert_eq!(
                *share > 0.0,
                row == column || row.abs_diff(column) == 1 && *share > 0.0,
                "{row} {column}"
            );
            assert!(row != column || *share > 1e-6, "{row}: {share}");
        }
    }
}
