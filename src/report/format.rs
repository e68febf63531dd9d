//! Tables of figures, whose rows are lists of cells.

use super::cell::Cell;
use super::table::{self, Column, NO_UNIT};
pub use super::table::{Document, Format};

/// A table's columns and rows.
pub struct Table<R> {
    pub columns: Vec<String>,
    pub rows: R,
}

impl<'a, R: Iterator<Item = Vec<Option<Cell>>>> From<Table<R>> for table::Table<'a, Vec<Option<Cell>>> {
    fn from(table: Table<R>) -> table::Table<'a, Vec<Option<Cell>>> {
        let column = |(at, name): (usize, String)| {
            Column::new(name, NO_UNIT, move |row: &Vec<Option<Cell>>| row[at].clone())
        };
        let columns: Vec<Column<_>> = table.columns.into_iter().enumerate().map(column).collect();
        table::Table::new(columns, table.rows)
    }
}
