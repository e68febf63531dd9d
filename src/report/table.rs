//! Tables of words and numbers, in columns separated by two spaces.

use crate::case::units;

/// A column: its head, and whether its cells are right-aligned, as numbers are.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    pub head: &'a str,
    pub right: bool,
}

/// A left-aligned column of words.
pub fn words(head: &str) -> Column<'_> {
    Column { head, right: false }
}

/// A right-aligned column of numbers.
pub fn numbers(head: &str) -> Column<'_> {
    Column { head, right: true }
}

/// The lines of a table, starting with its head; cells cannot contain terminal escapes.
pub fn lines<const N: usize>(columns: [Column; N], rows: &[[String; N]]) -> Vec<String> {
    let rows: Vec<[String; N]> =
        rows.iter().map(|row| row.each_ref().map(|cell| units::escaped(cell))).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(|c| width(c).max(columns[c].head.chars().count()));
    let line = |cells: [&str; N]| {
        let cells = (0..N).map(|c| padded(cells[c], widths[c], columns[c].right));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let head = line(columns.map(|column| column.head));
    std::iter::once(head).chain(rows.iter().map(|row| line(row.each_ref().map(String::as_str)))).collect()
}

/// A text padded to this many columns.
pub fn padded(text: &str, width: usize, right: bool) -> String {
    if right { format!("{text:>width$}") } else { format!("{text:<width$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_to_the_right_under_their_head() {
        let rows = [["a".to_owned(), "1.5".to_owned()], ["longer\x1b".to_owned(), "12".to_owned()]];
        let found = lines([words("case"), numbers("GB/s")], &rows);
        assert_eq!(found, ["case          GB/s", "a              1.5", "longer\\u{1b}    12"]);
    }
}
