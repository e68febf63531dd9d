//! Matrix Market's coordinate format (Boisvert, Pozo, Remington: The Matrix Market Exchange Formats, NISTIR 5935, 1996):
//! general, symmetric and skew-symmetric matrices of real numbers, integers, or positions alone, which count as 1.
//! Explicit zeros and duplicates stay. Of a symmetric matrix, the file holds the diagonal and what is below. A matrix that
//! is read as a graph has an arc from the row to the column of each entry.

use super::{Csr, MAX_ROWS, Shape, most_rows};
use crate::case::units::shown;
use crate::inputs::lines::lines;
use crate::inputs::{ArrayError, Place};
use crate::memory;

/// The first word of a file.
pub const BANNER: &str = "%%MatrixMarket";

/// Bytes of the shortest line of an entry.
const SHORTEST: u64 = "1 1\n".len() as u64;

#[derive(Clone, Copy, PartialEq)]
enum Field {
    Real,
    Integer,
    Pattern,
}

/// Which entries a file leaves out because others imply them.
#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// What a file is read as.
#[derive(Clone, Copy, PartialEq)]
enum As {
    Matrix,
    Graph,
}

/// A word of a line, with its place.
struct Word<'a> {
    text: std::borrow::Cow<'a, str>,
    place: Place,
}

fn fail<T>(place: Place, message: String) -> Result<T, ArrayError> {
    Err(ArrayError { place, message })
}

impl Word<'_> {
    fn refuse<T>(&self, accepted: &str) -> Result<T, ArrayError> {
        fail(self.place, format!("`{}` is out of place; accepted: {accepted}", shown(&self.text)))
    }

    /// One of these words, in any case.
    fn among<T: Copy>(&self, words: &[(&str, T)]) -> Result<T, ArrayError> {
        let found = words.iter().find(|(word, _)| self.text.eq_ignore_ascii_case(word));
        let accepted = || words.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        found.map_or_else(|| self.refuse(&accepted()), |(_, value)| Ok(*value))
    }

    fn number(&self, least: u64, most: u64) -> Result<u64, ArrayError> {
        match self.text.parse() {
            Ok(number) if (least..=most).contains(&number) => Ok(number),
            _ => self.refuse(&format!("an integer from {least} to {most}")),
        }
    }

    fn value(&self, field: Field) -> Result<f64, ArrayError> {
        match field {
            Field::Integer => {
                self.text.parse().map(|value: i64| value as f64).or_else(|_| self.refuse("an integer"))
            }
            _ => match self.text.parse() {
                Ok(value) if f64::is_finite(value) => Ok(value),
                _ => self.refuse("a finite number"),
            },
        }
    }

    /// A whole number, which real numbers may be: `2`, `2.0`, `1.5e1`.
    fn weight(&self, field: Field, most: u64) -> Result<u64, ArrayError> {
        let real = || self.text.parse().ok().filter(|value: &f64| value.fract() == 0.0 && *value >= 0.0);
        let whole = match (self.text.parse(), field) {
            (Ok(whole), _) => Some(whole),
            (_, Field::Real) => real().map(|value| value as u64),
            _ => None,
        };
        let refused = || self.refuse(&format!("a weight, an integer from 0 to {most}"));
        whole.filter(|whole| *whole <= most).map_or_else(refused, Ok)
    }
}

/// The words of a line, exactly `N` of them.
fn words<'a, const N: usize>(line: &'a [u8], number: u64, what: &str) -> Result<[Word<'a>; N], ArrayError> {
    let words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let words: Vec<Word> = words
        .map(|word| Word {
            text: super::super::word(word),
            place: Place::Line(number, (word.as_ptr().addr() - line.as_ptr().addr()) as u64 + 1),
        })
        .take(N + 1)
        .collect();
    let found = if words.len() > N { "more".to_owned() } else { words.len().to_string() };
    words
        .try_into()
        .or_else(|_| fail(Place::Line(number, 1), format!("a line of {found} words; accepted: {what}")))
}

/// The matrix in a text whose lines end with `\n`, without a byte-order mark.
///
/// # Errors
/// A mistake, with its line and what would be accepted instead.
pub fn parse(bytes: &[u8]) -> Result<Csr<f64>, ArrayError> {
    let mut entries = Vec::new();
    let (shape, _) = read(bytes, As::Matrix, |(field, symmetry), entry| {
        let (row, column) = (entry.row, entry.column);
        let value = entry.value.map_or(Ok(1.0), |word| word.value(field))?;
        memory::push(&mut entries, (row, column, value)).map_err(ArrayError::large)?;
        let mirrored = match symmetry {
            Symmetry::General => None,
            Symmetry::Symmetric => Some(value).filter(|_| row != column),
            Symmetry::Skew => Some(-value),
        };
        let mirrored = mirrored.map_or(Ok(()), |value| memory::push(&mut entries, (column, row, value)));
        mirrored.map_err(ArrayError::large)
    })?;
    Csr::from_entries(shape.rows, shape.columns, &entries)
        .map_err(|error| ArrayError { place: Place::Whole, message: error.to_string() })
}

/// The arcs of the graph whose adjacency matrix is in a text like that of [`parse`], each as (row, column, weight) in the
/// order of the lines; positions alone have no weight. Returns the number of vertices, and whether the entries of a
/// symmetric matrix are edges, of which the file has each once.
///
/// # Errors
/// Those of [`parse`], a matrix that is not square, and a value that is no weight up to `most`.
pub fn graph(
    bytes: &[u8],
    most: u64,
    mut arc: impl FnMut(u64, u64, Option<u64>) -> Result<(), ArrayError>,
) -> Result<(u64, bool), ArrayError> {
    let (shape, symmetry) = read(bytes, As::Graph, |(field, _), entry| {
        let weight = entry.value.map(|word| word.weight(field, most)).transpose()?;
        arc(entry.row.into(), entry.column.into(), weight)
    })?;
    Ok((shape.rows, symmetry == Symmetry::Symmetric))
}

/// An entry as its line states it, counted from 0; the value is missing of a position alone.
struct Entry<'a> {
    row: u32,
    column: u32,
    value: Option<Word<'a>>,
}

/// Reads a text, entry by entry; returns the size and the symmetry.
fn read(
    bytes: &[u8],
    kind: As,
    mut each: impl FnMut((Field, Symmetry), Entry) -> Result<(), ArrayError>,
) -> Result<(Shape, Symmetry), ArrayError> {
    let mut lines = lines(bytes);
    let first = lines.next().map_or(&b""[..], |(_, line)| line);
    let (field, symmetry) = header(first, kind)?;
    let mut lines = lines.filter(|(_, line)| {
        let line = line.trim_ascii();
        !line.is_empty() && !line.starts_with(b"%")
    });
    let Some((number, line)) = lines.next() else {
        return fail(
            Place::Whole,
            "there is no line with the numbers of rows, columns and entries".to_owned(),
        );
    };
    let square = kind == As::Graph || symmetry != Symmetry::General;
    let (shape, declared) = size(line, number, square, bytes.len() as u64 / SHORTEST)?;
    let mut stored = 0;
    for (number, line) in lines {
        if stored == shape.entries {
            return fail(
                Place::Line(number, 1),
                format!("this is entry {}, but the file declares {stored}", stored + 1),
            );
        }
        stored += 1;
        let entry = entry(line, number, shape, field)?;
        let (row, column) = (entry.row, entry.column);
        match symmetry {
            Symmetry::Symmetric | Symmetry::Skew if column > row => {
                let message = format!("({}, {}) is above the diagonal", row + 1, column + 1);
                return fail(Place::Line(number, 1), format!("{message}; accepted: entries on it or below"));
            }
            Symmetry::Skew if row == column => {
                return fail(Place::Line(number, 1), "a skew-symmetric matrix has no diagonal".to_owned());
            }
            _ => each((field, symmetry), entry)?,
        }
    }
    if stored < shape.entries {
        let message = format!("the file declares {} entries, but ends after {stored}", shape.entries);
        return fail(declared, message);
    }
    Ok((shape, symmetry))
}

fn header(line: &[u8], kind: As) -> Result<(Field, Symmetry), ArrayError> {
    let what =
        format!("{BANNER} matrix coordinate, then real, integer or pattern, and general or a symmetry");
    let [banner, object, format, field, symmetry] = words(line, 1, &what)?;
    banner.among(&[(BANNER, ())])?;
    object.among(&[("matrix", ())])?;
    format.among(&[("coordinate", ())])?;
    let fields = [
        ("real", Field::Real),
        ("double", Field::Real),
        ("integer", Field::Integer),
        ("pattern", Field::Pattern),
    ];
    let field = field.among(&fields)?;
    let symmetries = [
        ("general", Symmetry::General),
        ("symmetric", Symmetry::Symmetric),
        ("skew-symmetric", Symmetry::Skew),
    ];
    // A position alone has no sign to turn, so the format excludes this pair; and no weight of an arc is negative.
    let most = if field == Field::Pattern || kind == As::Graph { 2 } else { 3 };
    Ok((field, symmetry.among(&symmetries[..most])?))
}

/// The size that a line states, of which the text can hold at most `held` entries, and where it states the number of entries.
fn size(line: &[u8], number: u64, square: bool, held: u64) -> Result<(Shape, Place), ArrayError> {
    let [rows, columns, entries] = words(line, number, "the numbers of rows, columns and entries")?;
    let shape = Shape {
        rows: rows.number(0, MAX_ROWS)?,
        columns: columns.number(0, MAX_ROWS)?,
        entries: entries.number(0, super::MAX_ENTRIES)?,
    };
    let most = most_rows(shape.entries.min(held));
    for (word, found) in [(&rows, shape.rows), (&columns, shape.columns)] {
        if found > most {
            return word.refuse(&format!("at most {most} rows and columns, as there are so few entries"));
        }
    }
    if square && shape.rows != shape.columns {
        return columns.refuse("as many columns as rows in a matrix with a symmetry and in a graph");
    }
    Ok((shape, entries.place))
}

fn entry(line: &[u8], number: u64, shape: Shape, field: Field) -> Result<Entry<'_>, ArrayError> {
    let (row, column, value) = match field {
        Field::Pattern => {
            let [row, column] = words(line, number, "a row and a column")?;
            (row, column, None)
        }
        _ => {
            let [row, column, value] = words(line, number, "a row, a column and a value")?;
            (row, column, Some(value))
        }
    };
    let index = |word: &Word, most| word.number(1, most).map(|index| (index - 1) as u32);
    Ok(Entry { row: index(&row, shape.rows)?, column: index(&column, shape.columns)?, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Csr<f64>, String> {
        parse(text.as_bytes()).map_err(|error| error.of("a.mtx"))
    }

    fn rows(made: &Csr<f64>) -> Vec<Vec<(u32, f64)>> {
        (0..made.rows() as usize)
            .map(|row| made.row(row).map(|at| (made.indices[at], made.values[at])).collect())
            .collect()
    }

    #[test]
    fn each_kind_is_read() {
        let text = "%%matrixmarket MATRIX Coordinate Real General\n% a comment\n\n 2 3 3 \n2 3 -1.5e1\r\n% another\n1 1 .5\n2 1 0\n";
        let made = read(text).expect("a matrix");
        assert_eq!((made.columns, rows(&made)), (3, vec![vec![(0, 0.5)], vec![(2, -15.0), (0, 0.0)]]));
        let symmetric = "%%MatrixMarket matrix coordinate integer symmetric\n2 2 2\n1 1 7\n2 1 -3";
        assert_eq!(rows(&read(symmetric).expect("a matrix")), [vec![(0, 7.0), (1, -3.0)], vec![(0, -3.0)]]);
        let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n";
        assert_eq!(rows(&read(skew).expect("a matrix")), [vec![(1, -4.0)], vec![(0, 4.0)]]);
        let pattern = "%%MatrixMarket matrix coordinate pattern general\n1 2 2\n1 2\n1 2\n";
        assert_eq!(rows(&read(pattern).expect("a matrix")), [[(1, 1.0), (1, 1.0)]]);
        let empty = "%%MatrixMarket matrix coordinate real general\n0 0 0\n";
        assert_eq!(read(empty).expect("a matrix").starts, [0]);
    }

    /// mmio.c refuses the same pairs; of `complex` and `array` nothing is read.
    #[test]
    fn pairs_that_the_format_excludes_are_refused() {
        let head = |words: &str| read(&format!("%%MatrixMarket matrix coordinate {words}\n2 2 1\n2 1 1\n"));
        let skew = head("pattern skew-symmetric").expect_err("refused");
        assert_eq!(skew, "a.mtx:1:42: `skew-symmetric` is out of place; accepted: general, symmetric");
        for words in ["Pattern Skew-Symmetric", "pattern hermitian", "real hermitian", "integer hermitian"] {
            assert!(
                head(words).expect_err("refused").contains("is out of place; accepted: general, symmetric")
            );
        }
        assert!(head("integer skew-symmetric").is_ok());
    }

    #[test]
    fn what_is_wrong_is_one_line_with_its_place() {
        let error = |text: &str| read(text).expect_err("refused");
        let real = |rest: &str| error(&format!("%%MatrixMarket matrix coordinate real general\n{rest}"));
        assert!(
            error("1 1 1\n").starts_with("a.mtx:1:1: a line of 3 words; accepted: %%MatrixMarket matrix")
        );
        assert_eq!(
            error("%%MatrixMarket matrix array real general\n"),
            "a.mtx:1:23: `array` is out of place; accepted: coordinate"
        );
        assert!(
            error("%%MatrixMarket matrix coordinate complex general")
                .ends_with("real, double, integer, pattern")
        );
        assert_eq!(real("% only\n"), "a.mtx: there is no line with the numbers of rows, columns and entries");
        assert_eq!(
            real("2 2\n"),
            "a.mtx:2:1: a line of 2 words; accepted: the numbers of rows, columns and entries"
        );
        assert_eq!(
            real("2 2 1\n1 3 1\n"),
            "a.mtx:3:3: `3` is out of place; accepted: an integer from 1 to 2"
        );
        assert_eq!(
            real("2 2 1\n0 1 1\n"),
            "a.mtx:3:1: `0` is out of place; accepted: an integer from 1 to 2"
        );
        assert_eq!(real("2 2 1\n1 1 nan\n"), "a.mtx:3:5: `nan` is out of place; accepted: a finite number");
        assert_eq!(
            real("2 2 1\n1 1\n"),
            "a.mtx:3:1: a line of 2 words; accepted: a row, a column and a value"
        );
        assert_eq!(
            real("2 2 1\n1 1 1 1\n"),
            "a.mtx:3:1: a line of more words; accepted: a row, a column and a value"
        );
        assert_eq!(real("2 2 2\n1 1 1\n"), "a.mtx:2:5: the file declares 2 entries, but ends after 1");
        assert_eq!(real("2 2 1\n1 1 1\n2 2 1\n"), "a.mtx:4:1: this is entry 2, but the file declares 1");
        assert_eq!(
            real("1 100000000 400000000\n1 1 1"),
            "a.mtx:2:3: `100000000` is out of place; accepted: at most 4194304 rows and columns, as there are so few entries"
        );
        assert!(real("5000000000 1 0\n").ends_with("an integer from 0 to 4294967295"));
        let symmetric =
            |rest: &str| error(&format!("%%MatrixMarket matrix coordinate real symmetric\n{rest}"));
        assert!(symmetric("2 2 1\n1 2 1\n").contains(":3:1: (1, 2) is above the diagonal"));
        assert!(symmetric("2 3 1\n").contains("as many columns as rows"));
        let skew = error("%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n1 1 0\n");
        assert_eq!(skew, "a.mtx:3:1: a skew-symmetric matrix has no diagonal");
        assert_eq!(
            real("2 2 2\n1 1 1.5\n% the end\n"),
            "a.mtx:2:5: the file declares 2 entries, but ends after 1"
        );
    }
}
