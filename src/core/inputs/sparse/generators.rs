//! Generators of matrices whose numbers of rows and entries are known without making them.

use super::csr::in_ranges;
use super::positions::{MOST_ENTRIES, Positions};
use super::{Csr, MAX_ROWS, Shape, SparseError, rmat};
use crate::inputs::mix::{scale, word64};
use crate::memory::{self, NoMemory};

/// A matrix as a function of a seed. Columns ascend within a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generator {
    /// The 5-point stencil on a square grid: rows are its side², in the order of the grid; a row has the cell itself and
    /// its neighbours inside the grid.
    Laplace5 { side: u64 },
    /// The 7-point stencil on a cubic grid of side³ cells.
    Laplace7 { side: u64 },
    /// `entries` in each row, in independent random columns, which may repeat.
    Random { rows: u64, entries: u64 },
    /// All columns at most `half` beside the diagonal.
    Banded { rows: u64, half: u64 },
    /// R-MAT with (a, b, c, d) = (0.5, 0.1, 0.1, 0.3): 2^scale rows and `entries` times as many entries, each a path of
    /// `scale` random quadrants. Rows and columns are not renumbered, and duplicates stay, as in the edge lists of
    /// Graph 500.
    Rmat { scale: u64, entries: u64 },
    /// Like `Random`, but only rows 1 and 2 of every four have entries, and the last has none: the first, the last and
    /// pairs of rows between are empty.
    EmptyRows { rows: u64, entries: u64 },
    /// Like `Random`, but the middle row has every column.
    DenseRow { rows: u64, entries: u64 },
}

impl std::fmt::Display for Generator {
    /// As a recipe writes it: `rmat {scale: 22, entries: 16}`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Laplace5 { side } => write!(f, "laplace5 {{side: {side}}}"),
            Laplace7 { side } => write!(f, "laplace7 {{side: {side}}}"),
            Random { rows, entries } => write!(f, "random {{rows: {rows}, entries: {entries}}}"),
            Banded { rows, half } => write!(f, "banded {{rows: {rows}, half: {half}}}"),
            Rmat { scale, entries } => write!(f, "rmat {{scale: {scale}, entries: {entries}}}"),
            EmptyRows { rows, entries } => write!(f, "empty-rows {{rows: {rows}, entries: {entries}}}"),
            DenseRow { rows, entries } => write!(f, "dense-row {{rows: {rows}, entries: {entries}}}"),
        }
    }
}

use Generator::{Banded, DenseRow, EmptyRows, Laplace5, Laplace7, Random, Rmat};

/// Largest scale of R-MAT: beyond it, 32 bits do not hold the indices.
const MAX_SCALE: u64 = 31;

impl Generator {
    /// The size of the matrix, without making it.
    ///
    /// # Errors
    /// A matrix with more rows or entries than 32 bits hold.
    pub fn shape(&self) -> Result<Shape, SparseError> {
        let (rows, entries) = self.size().unwrap_or((u128::MAX, u128::MAX));
        let [rows, entries] = [rows, entries].map(|number| u64::try_from(number).unwrap_or(u64::MAX));
        Shape { rows, columns: rows, entries }.checked()
    }

    /// Rows and entries; `None` if 32 bits do not even hold what they are made of.
    fn size(&self) -> Option<(u128, u128)> {
        let (one, other) = match *self {
            Laplace5 { side } | Laplace7 { side } => (side, 0),
            Rmat { scale, entries } => (scale, entries),
            Banded { rows, half } => (rows, half),
            Random { rows, entries } | EmptyRows { rows, entries } | DenseRow { rows, entries } => {
                (rows, entries)
            }
        };
        if one.max(other) > MAX_ROWS {
            return None;
        }
        Some(match *self {
            Laplace5 { side } => {
                let s = u128::from(side);
                (s * s, 5 * s * s - 4 * s)
            }
            Laplace7 { side } => {
                let s = u128::from(side);
                (s * s * s, 7 * s * s * s - 6 * s * s)
            }
            Random { rows, entries } => (rows.into(), u128::from(rows) * u128::from(entries)),
            Banded { rows, half } => {
                let (n, h) = (u128::from(rows), u128::from(half.min(rows.saturating_sub(1))));
                (n, n * (2 * h + 1) - h * (h + 1))
            }
            Rmat { scale, .. } if scale > MAX_SCALE => return None,
            Rmat { scale, entries } => (1 << scale, u128::from(entries) << scale),
            EmptyRows { rows, entries } => {
                let filled = rows / 4 * 2 + (rows % 4).saturating_sub(1).min(2);
                let last = rows > 0 && holds_entries(rows - 1);
                (rows.into(), u128::from(filled - u64::from(last)) * u128::from(entries))
            }
            DenseRow { rows, entries } => {
                let others = u128::from(rows.saturating_sub(1)) * u128::from(entries);
                (rows.into(), others + u128::from(rows))
            }
        })
    }

    /// The positions of the entries.
    ///
    /// # Errors
    /// As for [`shape`](Self::shape), and one that does not fit into the memory.
    pub fn make(&self, seed: u64) -> Result<Csr<()>, SparseError> {
        let shape = self.shape()?;
        let (rows, columns) = (shape.rows, shape.columns);
        if let Rmat { scale, .. } = *self {
            let (starts, indices) = rmat::make(seed, scale, shape.entries)?;
            let values = vec![(); indices.len()];
            return Ok(Csr { columns, starts, indices, values });
        }
        let parts = in_ranges(rows, |part| {
            let mut starts = memory::with_room((part.end - part.start) as usize + 1)?;
            let mut indices = Vec::new();
            starts.push(0);
            for row in part {
                self.extend(&mut indices, seed, row, rows)?;
                starts.push(indices.len() as u32);
            }
            let values = vec![(); indices.len()];
            Ok(Csr { columns, starts, indices, values })
        });
        Ok(Csr::stacked(columns, parts.into_iter().collect::<Result<_, NoMemory>>()?)?)
    }

    /// The positions of the entries, of a sample of the rows if there are many.
    ///
    /// # Errors
    /// Those of [`shape`](Self::shape) and of [`Positions`].
    pub fn positions(&self, seed: u64) -> Result<Positions, SparseError> {
        let shape = self.shape()?;
        match *self {
            Rmat { .. } => Positions::among_all(shape, |to| self.each(seed, shape, to)),
            _ => {
                let long = matches!(self, DenseRow { .. }) && shape.rows > MOST_ENTRIES;
                let extend = |row, to: &mut Vec<u32>| self.extend(to, seed, row, shape.rows);
                Positions::by_row(shape, long.then_some(shape.rows / 2), extend)
            }
        }
    }

    /// Tells (row, column) of every entry of a matrix of this size, those of R-MAT in no order.
    ///
    /// # Errors
    /// A row that does not fit into the memory.
    pub(in crate::inputs) fn each(
        &self,
        seed: u64,
        shape: Shape,
        to: &mut dyn FnMut(u64, u32),
    ) -> Result<(), NoMemory> {
        if let Rmat { scale, .. } = *self {
            rmat::each(seed, scale, shape.entries, to);
            return Ok(());
        }
        let mut columns = Vec::new();
        for row in 0..shape.rows {
            columns.clear();
            self.extend(&mut columns, seed, row, shape.rows)?;
            columns.iter().for_each(|column| to(row, *column));
        }
        Ok(())
    }

    /// Columns of entries next to each other, about `wanted` of them and by their rows, at one of several places of R-MAT;
    /// `None` of other matrices.
    pub fn group(&self, seed: u64, wanted: u64, place: u64) -> Option<Vec<u32>> {
        let Rmat { scale, .. } = *self else { return None };
        let entries = self.shape().ok()?.entries;
        Some(rmat::group(seed, scale, entries, wanted, place).into_iter().map(|entry| entry.1).collect())
    }

    /// The most entries that a row may have.
    fn longest(&self, rows: u64) -> u64 {
        match *self {
            Laplace5 { .. } => 5,
            Laplace7 { .. } => 7,
            Banded { half, .. } => half.saturating_mul(2).saturating_add(1).min(rows),
            DenseRow { entries, .. } => entries.max(rows),
            Random { entries, .. } | EmptyRows { entries, .. } => entries,
            Rmat { .. } => 0,
        }
    }

    /// Appends the columns of a row, ascending; nothing for R-MAT, which is not made by row.
    ///
    /// # Errors
    /// Columns that do not fit into the memory.
    pub(super) fn extend(&self, to: &mut Vec<u32>, seed: u64, row: u64, rows: u64) -> Result<(), NoMemory> {
        memory::reserve(to, self.longest(rows) as usize)?;
        let mut stencil = |steps: &[u64], side: u64| {
            let here = |step: &&u64| row / **step % side;
            let inside_below = steps.iter().filter(|s| here(s) > 0).map(|step| row - step);
            to.extend(inside_below.map(|column| column as u32));
            to.push(row as u32);
            let inside_above = steps.iter().rev().filter(|s| here(s) + 1 < side).map(|step| row + step);
            to.extend(inside_above.map(|column| column as u32));
        };
        match *self {
            Laplace5 { side } => stencil(&[side, 1], side),
            Laplace7 { side } => stencil(&[side * side, side, 1], side),
            Banded { half, .. } => {
                let end = row.saturating_add(half).saturating_add(1).min(rows);
                to.extend((row.saturating_sub(half)..end).map(|column| column as u32));
            }
            EmptyRows { .. } if !holds_entries(row) || row + 1 == rows => {}
            DenseRow { .. } if row == rows / 2 => to.extend(0..rows as u32),
            Random { entries, .. } | EmptyRows { entries, .. } | DenseRow { entries, .. } => {
                let first = to.len();
                let column = |k| scale(word64(seed, row * entries + k), rows) as u32;
                to.extend((0..entries).map(column));
                to[first..].sort_unstable();
            }
            Rmat { .. } => {}
        }
        Ok(())
    }
}

/// Whether a row of [`Generator::EmptyRows`] has entries, unless it is the last.
fn holds_entries(row: u64) -> bool {
    matches!(row % 4, 1 | 2)
}
