//! Tables: rows of any type, and columns that each have a name, a unit and a function from a row to a value. People
//! read them as text and in HTML, programs as CSV, JSON and JSON lines.

use std::borrow::Cow;
use std::io::Write;

use anyhow::Result;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::cell::{Cell, IntoCell};
use crate::case::units;

/// The unit of words, and of numbers without one.
pub const NO_UNIT: &str = "–";

/// The unit of a column for people whose values are written with the unit of each.
pub const OWN_UNIT: &str = "own";

/// Yields the value in a row; `None` if it does not exist.
type Value<'a, R> = dyn Fn(&R) -> Option<Cell> + 'a;

/// A column of a table.
pub struct Column<'a, R> {
    pub name: Cow<'a, str>,
    /// As `docs/data-dictionary.md` states it. For people it also decides how numbers are written, and columns with a
    /// unit are right-aligned.
    pub unit: &'static str,
    /// What people read above the column, if not its name.
    head: Option<&'static str>,
    /// What people read where there is no value.
    missing: &'static str,
    value: Box<Value<'a, R>>,
}

impl<'a, R> Column<'a, R> {
    pub fn new<C: IntoCell>(
        name: impl Into<Cow<'a, str>>,
        unit: &'static str,
        value: impl Fn(&R) -> C + 'a,
    ) -> Column<'a, R> {
        let value = Box::new(move |row: &R| value(row).into_cell());
        Column { name: name.into(), unit, head: None, missing: "", value }
    }

    /// The column with another head for people.
    pub fn headed(self, head: &'static str) -> Column<'a, R> {
        Column { head: Some(head), ..self }
    }

    /// The column with these words for people where there is no value.
    pub fn or(self, missing: &'static str) -> Column<'a, R> {
        Column { missing, ..self }
    }

    /// The value in this row; `None` if it does not exist.
    pub fn cell(&self, row: &R) -> Option<Cell> {
        (self.value)(row)
    }

    /// What people read above the column.
    pub fn head(&self) -> &str {
        self.head.unwrap_or(&self.name)
    }

    /// The value for people, without what acts on a terminal.
    fn shown(&self, row: &R) -> String {
        match (self.cell(row), self.unit) {
            (None, _) => self.missing.to_owned(),
            (Some(Cell::Number(seconds)), "s") => units::fmt_seconds(seconds),
            (Some(Cell::Number(share)), "ratio") => format!("{:.1} %", share * 100.0),
            (Some(Cell::Number(number)), "GB/s") => units::three_digits(number),
            (Some(cell), _) => units::escaped(&cell.to_string()),
        }
    }

    pub fn is_right_aligned(&self) -> bool {
        self.unit != NO_UNIT
    }
}

/// A table, which serializes as a list of objects.
pub struct Table<'a, R> {
    pub columns: Vec<Column<'a, R>>,
    pub rows: Vec<R>,
}

impl<'a, R> Table<'a, R> {
    pub fn new(columns: impl Into<Vec<Column<'a, R>>>, rows: impl IntoIterator<Item = R>) -> Table<'a, R> {
        Table { columns: columns.into(), rows: rows.into_iter().collect() }
    }

    /// Only the columns with these names, in this order.
    pub fn only(mut self, names: &[&str]) -> Table<'a, R> {
        let mut column = |name: &&str| {
            let at = self.columns.iter().position(|column| column.name == **name)?;
            Some(self.columns.swap_remove(at))
        };
        Table { columns: names.iter().filter_map(&mut column).collect(), rows: self.rows }
    }

    /// Writes the table as CSV.
    ///
    /// # Errors
    /// If the output cannot be written.
    pub fn csv(self, out: impl Write) -> Result<()> {
        let mut document = Document::new(out, Format::Csv);
        document.table(self)?;
        document.end().map(drop)
    }

    /// The rows for people, one value for each column.
    pub fn shown(&self) -> Vec<Vec<String>> {
        let row = |row| self.columns.iter().map(|column| column.shown(row)).collect();
        self.rows.iter().map(row).collect()
    }

    /// The lines for people, starting with the heads.
    pub fn lines(&self) -> Vec<String> {
        let heads = self.columns.iter().map(|column| column.head().to_owned()).collect();
        let rows: Vec<Vec<String>> = std::iter::once(heads).chain(self.shown()).collect();
        let width = |at: usize| rows.iter().map(|row| row[at].chars().count()).max().unwrap_or(0);
        let columns: Vec<_> =
            self.columns.iter().enumerate().map(|(at, column)| (width(at), column)).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&columns);
            let cells = cells.map(|(cell, (width, column))| padded(cell, *width, column.is_right_aligned()));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        };
        rows.iter().map(line).collect()
    }

    /// The table in Markdown.
    pub fn markdown(&self) -> String {
        let heads = self.columns.iter().map(|column| column.head().to_owned()).collect();
        let rule = |column: &Column<R>| if column.is_right_aligned() { "---:" } else { "---" }.to_owned();
        let rules = self.columns.iter().map(rule).collect();
        let line = |row: Vec<String>| {
            let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
            format!("| {} |\n", cells.join(" | "))
        };
        [heads, rules].into_iter().chain(self.shown()).map(line).collect()
    }
}

impl<R> Serialize for Table<'_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.rows.iter().map(|row| Object { columns: &self.columns, row }))
    }
}

/// A row with the names of its columns.
struct Object<'a, 'c, R> {
    columns: &'a [Column<'c, R>],
    row: &'a R,
}

impl<R> Serialize for Object<'_, '_, R> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.columns.len()))?;
        for column in self.columns {
            map.serialize_entry(&column.name, &column.cell(self.row))?;
        }
        map.end()
    }
}

/// A format for programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A header, then one line per row; missing values are empty cells.
    Csv,
    /// One array of objects. Every object has every column, in the table's order; missing values are `null`.
    Json,
    /// The same objects, one per line.
    Ndjson,
}

/// Writes several tables as one document for a program, row by row.
///
/// # Errors
/// Every function fails if the output cannot be written.
pub struct Document<W: Write> {
    pub out: W,
    format: Format,
    /// Number of rows written.
    rows: usize,
}

impl<W: Write> Document<W> {
    pub fn new(out: W, format: Format) -> Document<W> {
        Document { out, format, rows: 0 }
    }

    /// Writes a table.
    pub fn table<R>(&mut self, Table { columns, rows }: Table<R>) -> Result<()> {
        self.head(&columns)?;
        rows.iter().try_for_each(|row| self.row(&columns, row))
    }

    /// Begins a table with these columns, whose rows follow.
    pub fn head<R>(&mut self, columns: &[Column<R>]) -> Result<()> {
        match self.format {
            Format::Csv => self.record(columns.iter().map(|column| column.name.as_ref())),
            Format::Json | Format::Ndjson => Ok(()),
        }
    }

    /// Writes a row of the table that [`head`](Document::head) began.
    pub fn row<R>(&mut self, columns: &[Column<R>], row: &R) -> Result<()> {
        let before = match (self.format, self.rows) {
            (Format::Csv, _) => {
                let text =
                    |column: &Column<R>| column.cell(row).map(|cell| cell.to_string()).unwrap_or_default();
                return self.record(columns.iter().map(text));
            }
            (Format::Json, 0) => "[\n",
            (Format::Json, _) => ",\n",
            (Format::Ndjson, _) => "",
        };
        self.rows += 1;
        self.out.write_all(before.as_bytes())?;
        serde_json::to_writer(&mut self.out, &Object { columns, row })?;
        let after = if self.format == Format::Ndjson { "\n" } else { "" };
        Ok(self.out.write_all(after.as_bytes())?)
    }

    fn record(&mut self, fields: impl Iterator<Item = impl AsRef<[u8]>>) -> Result<()> {
        let mut writer = csv::WriterBuilder::new().buffer_capacity(512).from_writer(&mut self.out);
        writer.write_record(fields)?;
        Ok(writer.flush()?)
    }

    /// Ends the document, and returns what it was written to.
    pub fn end(mut self) -> Result<W> {
        let end: &str = match (self.format, self.rows) {
            (Format::Json, 0) => "[]\n",
            (Format::Json, _) => "\n]\n",
            _ => "",
        };
        self.out.write_all(end.as_bytes())?;
        self.out.flush()?;
        Ok(self.out)
    }
}

/// A text padded to this many columns.
pub fn padded(text: &str, width: usize, right: bool) -> String {
    if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Fails where a table of the data dictionary's section lacks a column, its type, its unit or its meaning.
    pub fn documented<R>(section: &str, columns: &[Column<R>]) {
        let dictionary = include_str!("../../docs/data-dictionary.md");
        let (_, text) = dictionary.split_once(&format!("\n## {section}")).expect("the section");
        let text = text.split("\n## ").next().unwrap_or_default();
        for column in columns {
            let name = format!("`{}`", column.name);
            let rows = text.lines().filter(|line| line.starts_with("| `"));
            let rows = rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
            let own = |cells: &Vec<&str>| cells[0].split(", ").any(|cell| cell == name);
            let cells =
                rows.into_iter().find(own).unwrap_or_else(|| panic!("{name} has no row in {section}"));
            assert!(cells.len() >= 4 && !cells.contains(&""), "{name} has no type, unit or meaning");
            assert_eq!(cells[2], column.unit, "the unit of {name}");
        }
    }

    #[derive(Clone, Copy)]
    struct Row(&'static str, Option<f64>, u64);

    fn table<'a>() -> Table<'a, Row> {
        let columns = [
            Column::new("case", NO_UNIT, |row: &Row| row.0),
            Column::new("median_s", "s", |row: &Row| row.1).headed("median").or("none"),
            Column::new("bytes", "B", |row: &Row| row.2),
        ];
        Table::new(columns, [Row("0\x1b23", None, 1), Row("a,b", Some(1e-9), u64::MAX)])
    }

    fn written(format: Format, tables: usize) -> String {
        let mut document = Document::new(Vec::new(), format);
        (0..tables).for_each(|_| document.table(table()).expect("written"));
        String::from_utf8(document.end().expect("written")).expect("UTF-8")
    }

    #[test]
    fn the_same_values_in_every_format() {
        let csv = "case,median_s,bytes\n0\x1b23,,1\n\"a,b\",0.000000001,18446744073709551615\n";
        assert_eq!(written(Format::Csv, 1), csv);
        let first = r#"{"case":"0\u001b23","median_s":null,"bytes":1}"#;
        let second = r#"{"case":"a,b","median_s":1e-9,"bytes":18446744073709551615}"#;
        assert_eq!(written(Format::Ndjson, 1), format!("{first}\n{second}\n"));
        assert_eq!(written(Format::Json, 1), format!("[\n{first},\n{second}\n]\n"));
        assert_eq!(serde_json::to_string(&table()).expect("JSON"), format!("[{first},{second}]"));
    }

    #[test]
    fn numbers_stand_to_the_right_under_their_heads() {
        let table = table().only(&["median_s", "case"]);
        assert_eq!(table.markdown().lines().last(), Some("| 1.00 ns | a,b |"));
        assert_eq!(table.lines(), [" median  case", "   none  0\\u{1b}23", "1.00 ns  a,b"]);
    }

    #[test]
    fn several_tables_are_one_document() {
        let array: Vec<serde_json::Value> = serde_json::from_str(&written(Format::Json, 2)).expect("JSON");
        assert_eq!(array.len(), 4);
        assert_eq!(written(Format::Ndjson, 2).lines().count(), 4);
        assert_eq!(written(Format::Json, 0), "[]\n");
    }
}
