//! The classes of the benchmark.

use crate::case::table::words;
use crate::inputs::sparse::Nas;

words! {
    /// The classes of the benchmark, and one for tests, of any small number of rows.
    pub enum Class {
        S = "S",
        W = "W",
        A = "A",
        B = "B",
        C = "C",
        T = "T",
    }
}

/// The row of a class in the benchmark's tables.
pub struct Row {
    pub rows: u32,
    pub nonzer: u32,
    pub solutions: u64,
    pub shift: f64,
    /// Entries of the matrix; `None` where it must be made to know.
    pub entries: Option<u64>,
    pub zeta: Option<f64>,
}

const S: Row = row(1_400, 7, 15, 10.0, 78_148, 8.5971775078648);
const W: Row = row(7_000, 8, 15, 12.0, 508_402, 10.362595087124);
const A: Row = row(14_000, 11, 15, 20.0, 1_853_104, 17.130235054029);
pub const B: Row = row(75_000, 13, 75, 60.0, 13_708_072, 22.712745482631);
const C: Row = row(150_000, 15, 75, 110.0, 36_121_058, 28.973605592845);

const fn row(rows: u32, nonzer: u32, solutions: u64, shift: f64, entries: u64, zeta: f64) -> Row {
    Row { rows, nonzer, solutions, shift, entries: Some(entries), zeta: Some(zeta) }
}

impl Class {
    /// The class's row; that of T has as many rows as a case asks for.
    pub fn row(self, rows: Option<u64>) -> Row {
        match self {
            Class::S => S,
            Class::W => W,
            Class::A => A,
            Class::B => B,
            Class::C => C,
            Class::T => {
                let rows = rows.unwrap_or(0) as u32;
                Row { rows, nonzer: 3, solutions: 2, shift: -1.0, entries: None, zeta: None }
            }
        }
    }
}

impl Row {
    /// The matrix.
    pub fn matrix(&self) -> Nas {
        Nas::new(self.rows, self.nonzer, self.shift)
    }

    /// 2·niter·n·(3 + z + 25·(5 + z) + 3) with z = nonzer·(nonzer + 1) nominal entries of a row.
    pub fn operations(&self, steps: u64) -> u64 {
        let z = u64::from(self.nonzer * (self.nonzer + 1));
        2 * self.solutions * u64::from(self.rows) * (3 + z + steps * (5 + z) + 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_count_the_entries_of_the_matrices() {
        for row in [S, W] {
            assert_eq!(row.entries, Some(row.matrix().entries()), "{} rows", row.rows);
        }
    }
}
