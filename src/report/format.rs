//! Tables for other programs: CSV, JSON, and JSON lines, with the same cells.

use std::io::Write;

use anyhow::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::Cell;

/// The format of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header, then one line per row; missing values are empty cells.
    Csv,
    /// One array of objects. Every object has every column, in the table's order; missing values are `null`.
    Json,
    /// The same objects, one per line.
    Ndjson,
}

/// A table's columns and rows.
pub struct Table<R> {
    pub columns: Vec<String>,
    pub rows: R,
}

/// Writes several tables as one document.
pub struct Document<W: Write> {
    out: W,
    format: Format,
    /// Number of rows written.
    rows: usize,
}

impl<W: Write> Document<W> {
    pub fn new(out: W, format: Format) -> Document<W> {
        Document { out, format, rows: 0 }
    }

    /// Writes a table.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn table(&mut self, table: Table<impl Iterator<Item = Vec<Option<Cell>>>>) -> Result<()> {
        if self.format == Format::Csv {
            return self.csv(table);
        }
        let (first, next, end) = match self.format {
            Format::Json => ("[\n", ",\n", ""),
            _ => ("", "", "\n"),
        };
        for cells in table.rows {
            self.out.write_all(if self.rows == 0 { first } else { next }.as_bytes())?;
            serde_json::to_writer(&mut self.out, &Object { columns: &table.columns, cells: &cells })?;
            self.out.write_all(end.as_bytes())?;
            self.rows += 1;
        }
        Ok(())
    }

    fn csv(&mut self, table: Table<impl Iterator<Item = Vec<Option<Cell>>>>) -> Result<()> {
        let mut writer = csv::Writer::from_writer(&mut self.out);
        writer.write_record(&table.columns)?;
        for cells in table.rows {
            self.rows += 1;
            writer.write_record(cells.iter().map(|c| c.as_ref().map_or(String::new(), Cell::to_string)))?;
        }
        Ok(writer.flush()?)
    }

    /// Ends the document.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn end(mut self) -> Result<()> {
        let end: &str = match (self.format, self.rows) {
            (Format::Json, 0) => "[]\n",
            (Format::Json, _) => "\n]\n",
            _ => "",
        };
        self.out.write_all(end.as_bytes())?;
        Ok(self.out.flush()?)
    }
}

/// A row with its column names.
pub(crate) struct Object<'a, N, C> {
    pub columns: &'a [N],
    pub cells: &'a [C],
}

impl<N: Serialize, C: Serialize> Serialize for Object<'_, N, C> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for (column, cell) in self.columns.iter().zip(self.cells) {
            map.serialize_entry(column, cell)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(format: Format, tables: usize) -> String {
        let mut out = Vec::new();
        let mut document = Document::new(&mut out, format);
        for _ in 0..tables {
            let rows = [
                vec![Some(Cell::text("0123")), Cell::number(0.1), None],
                vec![Some(Cell::text("a,b")), Cell::number(1e-9), Some(Cell::Count(u64::MAX))],
            ];
            let columns = ["case", "median_s", "bytes"].map(str::to_owned).to_vec();
            document.table(Table { columns, rows: rows.into_iter() }).expect("written");
        }
        document.end().expect("written");
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn the_same_cells_in_every_format() {
        let csv = "case,median_s,bytes\n0123,0.1,\n\"a,b\",0.000000001,18446744073709551615\n";
        assert_eq!(written(Format::Csv, 1), csv);
        let first = r#"{"case":"0123","median_s":0.1,"bytes":null}"#;
        let second = r#"{"case":"a,b","median_s":1e-9,"bytes":18446744073709551615}"#;
        assert_eq!(written(Format::Ndjson, 1), format!("{first}\n{second}\n"));
        assert_eq!(written(Format::Json, 1), format!("[\n{first},\n{second}\n]\n"));
    }

    #[test]
    fn several_tables_are_one_document() {
        let array: Vec<serde_json::Value> = serde_json::from_str(&written(Format::Json, 2)).expect("JSON");
        assert_eq!(array.len(), 4);
        assert_eq!(written(Format::Ndjson, 2).lines().count(), 4);
        assert_eq!(written(Format::Json, 0), "[]\n");
    }
}
