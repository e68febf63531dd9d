//! Where a matrix has entries, without their values: of all rows, or of a sample of them if the matrix is large, which is
//! then never made. It serves for looking at a matrix.

use super::{Csr, Shape, SparseError};
use crate::inputs::mix::{scale, word64};
use crate::memory::{self, NoMemory};

/// Most entries that are looked at, about; entries beyond them need a sample. They take a fraction of a second.
pub const MOST_ENTRIES: u64 = 1 << 22;

/// Most rows that are looked at.
const MOST_ROWS: u64 = 1 << 20;

/// Most entries that are made, where rows cannot be made by themselves, so that most entries are dropped.
const MOST_MADE: u64 = 1 << 27;

/// The seed of samples: a sample of a matrix is always the same one.
const SEED: u64 = 0x524F_5753_0000_0000;

/// Rows of a matrix: all of them, or a random one of each of equally large groups of neighbours. A fixed distance would
/// meet the same place of each period of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rows {
    all: u64,
    /// Ascending; `None` for all rows.
    chosen: Option<Vec<u32>>,
}

impl Rows {
    /// As many rows as have about [`MOST_ENTRIES`]; a sample takes a neighbour in place of `avoided`.
    fn of(shape: Shape, avoided: Option<u64>) -> Result<Rows, SparseError> {
        let mean = shape.entries.div_ceil(shape.rows.max(1));
        if mean > MOST_ENTRIES {
            let message =
                format!("{mean} entries a row are too many to look at; accepted: at most {MOST_ENTRIES}");
            return Err(SparseError(message));
        }
        let count = (MOST_ENTRIES / mean.max(1)).min(MOST_ROWS);
        let all = shape.rows;
        let group = |k: u64| (k * all).div_ceil(count)..((k + 1) * all).div_ceil(count);
        let chosen = |k| {
            let group = group(k);
            let row = group.start + scale(word64(SEED, k), group.end - group.start);
            let beside = if row > group.start { row - 1 } else { row + 1 };
            if Some(row) == avoided { beside as u32 } else { row as u32 }
        };
        Ok(Rows { all, chosen: (count < all).then(|| (0..count).map(chosen).collect()) })
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        self.chosen.as_ref().map_or(self.all, |chosen| chosen.len() as u64)
    }

    /// Whether they are not all rows.
    pub fn sampled(&self) -> bool {
        self.chosen.is_some()
    }

    /// Their numbers, ascending.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        (0..self.count()).map(|k| self.chosen.as_ref().map_or(k, |chosen| chosen[k as usize].into()))
    }

    /// The place of a row among them, if it is one of them.
    fn place(&self, row: u64) -> Option<u64> {
        let Some(chosen) = &self.chosen else { return Some(row) };
        let place = row * chosen.len() as u64 / self.all;
        (u64::from(chosen[place as usize]) == row).then_some(place)
    }
}

/// The positions of the entries in some rows of a matrix.
#[derive(Clone, Debug, PartialEq)]
pub struct Positions {
    /// The size of the whole matrix.
    pub shape: Shape,
    pub rows: Rows,
    /// The columns of the entries in these rows; in each row they may repeat, in any order.
    pub entries: Csr<()>,
}

impl Positions {
    /// The positions, from a function that appends the columns of a row. `avoided` is the number of a row that no sample
    /// can take, for its length.
    ///
    /// # Errors
    /// Rows that are too long on average, or that do not fit into the memory.
    pub fn by_row(
        shape: Shape,
        avoided: Option<u64>,
        mut extend: impl FnMut(u64, &mut Vec<u32>) -> Result<(), NoMemory>,
    ) -> Result<Positions, SparseError> {
        let rows = Rows::of(shape, avoided)?;
        let (mut starts, mut indices) = (memory::with_room(rows.count() as usize + 1)?, Vec::new());
        starts.push(0);
        for row in rows.numbers() {
            extend(row, &mut indices)?;
            starts.push(indices.len() as u32);
        }
        let values = vec![(); indices.len()];
        Ok(Positions { shape, rows, entries: Csr { columns: shape.columns, starts, indices, values } })
    }

    /// The positions, from a function that makes all entries as (row, column), in any order.
    ///
    /// # Errors
    /// Rows that are too long on average, and more entries than can be made in a second or two.
    pub fn among_all(
        shape: Shape,
        each: impl FnOnce(&mut dyn FnMut(u64, u32)) -> Result<(), NoMemory>,
    ) -> Result<Positions, SparseError> {
        if shape.entries > MOST_MADE {
            let message =
                format!("{} entries are too many to look at; accepted: at most {MOST_MADE}", shape.entries);
            return Err(SparseError(message));
        }
        let rows = Rows::of(shape, None)?;
        let (mut found, mut refused) = (Vec::new(), Ok(()));
        each(&mut |row, column| {
            if let Some(place) = rows.place(row).filter(|_| refused.is_ok()) {
                refused = memory::push(&mut found, (place as u32, column, ()));
            }
        })?;
        refused?;
        let entries = Csr::from_entries(rows.count(), shape.columns, &found)?;
        Ok(Positions { shape, rows, entries })
    }

    /// The positions of a matrix that is there.
    ///
    /// # Errors
    /// Rows that are too long on average.
    pub fn of<V>(matrix: &Csr<V>) -> Result<Positions, SparseError> {
        Positions::by_row(matrix.shape(), None, |row, to| {
            let columns = &matrix.indices[matrix.row(row as usize)];
            memory::reserve(to, columns.len())?;
            to.extend_from_slice(columns);
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Generator;

    const ALL: [Generator; 6] = [
        Generator::Laplace5 { side: 9 },
        Generator::Random { rows: 100, entries: 3 },
        Generator::Banded { rows: 50, half: 4 },
        Generator::Rmat { scale: 6, entries: 5 },
        Generator::EmptyRows { rows: 41, entries: 2 },
        Generator::DenseRow { rows: 33, entries: 1 },
    ];

    #[test]
    fn small_matrices_are_looked_at_whole() {
        for generator in ALL {
            let (mut positions, made) =
                (generator.positions(3).expect("small"), generator.make(3).expect("small"));
            assert!(!positions.rows.sampled(), "{generator:?}");
            // Those of R-MAT are in no order.
            for row in 0..made.rows() as usize {
                let entries = positions.entries.row(row);
                positions.entries.indices[entries].sort_unstable();
            }
            assert_eq!(positions, Positions::of(&made).expect("small"), "{generator:?}");
        }
    }

    /// The rows of a sample are those of the matrix; each group of neighbours has one.
    #[test]
    fn large_matrices_are_sampled() {
        let generators = [
            Generator::Random { rows: 3_000_000, entries: 2 },
            Generator::Rmat { scale: 20, entries: 8 },
            Generator::EmptyRows { rows: 5_000_000, entries: 2 },
        ];
        for generator in generators {
            let (positions, made) = (generator.positions(5).expect("made"), generator.make(5).expect("made"));
            let (all, count) = (made.rows(), positions.rows.count());
            assert!(positions.rows.sampled() && count < all, "{generator:?}");
            for (k, row) in positions.rows.numbers().enumerate() {
                assert_eq!((row * count / all, positions.rows.place(row)), (k as u64, Some(k as u64)));
                let mut columns = positions.entries.indices[positions.entries.row(k)].to_vec();
                columns.sort_unstable();
                assert_eq!(columns, made.indices[made.row(row as usize)], "{generator:?}, row {row}");
            }
        }
    }

    /// No sample takes time in proportion to the matrix, where rows can be made by themselves.
    #[test]
    fn what_is_too_large_is_sampled_quickly_or_refused() {
        let dense = Generator::DenseRow { rows: 800_000_000, entries: 4 }.positions(1).expect("a sample");
        assert!(dense.entries.starts.windows(2).all(|ends| ends[1] - ends[0] == 4));
        let avoided = Rows::of(dense.shape, dense.rows.numbers().nth(7)).expect("rows");
        assert!(
            dense.rows.numbers().zip(avoided.numbers()).enumerate().all(|(k, (a, b))| (a != b) == (k == 7))
        );
        let refused = |generator: Generator| generator.positions(1).expect_err("refused").0;
        assert!(
            refused(Generator::Rmat { scale: 26, entries: 16 })
                .starts_with("1073741824 entries are too many")
        );
        assert!(
            refused(Generator::Random { rows: 2, entries: 1 << 30 }).contains("entries a row are too many")
        );
    }
}
