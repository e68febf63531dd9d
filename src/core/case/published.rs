//! Tables of values that papers print, in the columns and units of `results.csv`, with a column for the machine. Pure.

use super::{Case, distinct};

/// The column of the paper's machine.
pub const PLATFORM: &str = "platform";
const PRIMITIVE: &str = "primitive";
const EXPERIMENT: &str = "experiment";
const SECONDS: &str = "median_s";
const RATE: &str = "throughput_elem_s";
const BANDWIDTH: &str = "effective_gb_s";

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The paper's key, and the path in its folder: `ashkiani2017/published/table05.csv`.
    pub path: String,
    /// The text of the file.
    pub text: String,
    pub rows: Vec<Row>,
}

/// A row: what a paper prints of a case on one of its machines.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The line in the file, from 1.
    pub line: u64,
    pub platform: String,
    /// The columns whose cells are not empty, but for the platform: parameters by the last words of their keys, and
    /// what was measured.
    pub cells: Vec<(String, String)>,
}

impl Table {
    /// Reads a table; `path` is its name in messages.
    ///
    /// # Errors
    /// The first mistake, in one line, with the line and the column.
    pub fn read(path: &str, text: &str) -> Result<Table, String> {
        let plain = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(plain.as_bytes());
        let at = |line: u64, what: String| format!("{path}:{line}: {what}");
        let of_csv = |error: csv::Error| {
            let line = line_at(plain, error.position());
            at(line, malformed(&error))
        };
        let header = reader.headers().map_err(of_csv)?.clone();
        let line = line_at(plain, header.position());
        let repeated = header.iter().enumerate().find(|(k, name)| header.iter().take(*k).any(|n| n == *name));
        if let Some((_, name)) = repeated {
            return Err(at(line, format!("the column `{name}` is there twice")));
        }
        for wanted in [PLATFORM, PRIMITIVE] {
            if !header.iter().any(|name| name == wanted) {
                return Err(at(
                    line,
                    format!("there is no column `{wanted}`; the first line names the columns"),
                ));
            }
        }
        let mut rows = Vec::new();
        for record in reader.records() {
            let record = record.map_err(of_csv)?;
            let line = line_at(plain, record.position());
            let row = row(line, &header, &record);
            rows.push(row.map_err(|(column, what)| at(line, format!("column `{column}`: {what}")))?);
        }
        if rows.is_empty() {
            return Err(at(line, "there is no row below the names of the columns".to_owned()));
        }
        Ok(Table { path: path.to_owned(), text: text.to_owned(), rows })
    }

    /// The table's machines, each once.
    pub fn platforms(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.platform.as_str()))
    }

    /// The row of a case on one of the machines.
    pub fn row(&self, platform: &str, case: &Case) -> Option<&Row> {
        self.rows.iter().find(|row| row.platform == platform && row.is_of(case))
    }

    /// The path in the paper's folder.
    pub fn file(&self) -> &str {
        self.path.split_once('/').map_or(&self.path, |(_, file)| file)
    }
}

impl Row {
    /// The text in a column, if it is not empty.
    pub fn cell(&self, column: &str) -> Option<&str> {
        self.cells.iter().find(|(name, _)| name == column).map(|(_, cell)| cell.as_str())
    }

    /// The number in a column.
    pub fn number(&self, column: &str) -> Option<f64> {
        self.cell(column)?.parse().ok()
    }

    /// The time of an execution, if the paper prints it.
    pub fn seconds(&self) -> Option<f64> {
        self.number(SECONDS)
    }

    /// Elements per second, if the paper prints them.
    pub fn rate(&self) -> Option<f64> {
        self.number(RATE)
    }

    /// The effective bandwidth, GB/s, if the paper prints it.
    pub fn bandwidth(&self) -> Option<f64> {
        self.number(BANDWIDTH)
    }

    /// The row's description of the case: the primitive, and parameters by the last words of their keys.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let cells = self.cells.iter().filter(|(column, _)| !is_measured(column));
        cells.map(|(column, cell)| (column.as_str(), cell.as_str()))
    }

    /// Whether the case agrees with the row in all that the row states.
    fn is_of(&self, case: &Case) -> bool {
        self.parameters().all(|(column, cell)| agrees(column, cell, case))
    }

    /// Why the row is of none of these cases: a cell that all of them contradict, or all cells together.
    pub fn strange<'c>(&self, cases: impl Iterator<Item = &'c Case> + Clone) -> Option<String> {
        if cases.clone().any(|case| self.is_of(case)) {
            return None;
        }
        let alone =
            self.parameters().find(|(column, cell)| !cases.clone().any(|case| agrees(column, cell, case)));
        Some(match alone {
            Some((column, cell)) => format!("no case has {column}={cell}"),
            None => "no case has all that it says".to_owned(),
        })
    }
}

/// Whether a case agrees with a cell.
fn agrees(column: &str, cell: &str, case: &Case) -> bool {
    let own = |key: &str| {
        let before = key.strip_suffix(column);
        before.is_some_and(|before| before.is_empty() || before.ends_with('.'))
    };
    match column {
        PRIMITIVE => case.primitive == cell,
        // Which experiment is asked by who draws the table.
        EXPERIMENT => true,
        _ => case.params.0.iter().any(|(key, value)| own(key) && value.to_string() == cell),
    }
}

/// Whether a column holds what was measured, not what was run: names of parameters have no underscores.
pub fn is_measured(column: &str) -> bool {
    column.contains('_')
        || column == "gflops"
        || column.starts_with("resolved.")
        || column.ends_with(".accuracy")
        || column.ends_with("-share")
}

/// A row, or the column of its first mistake and what is wrong.
fn row(line: u64, header: &csv::StringRecord, record: &csv::StringRecord) -> Result<Row, (String, String)> {
    let wrong = |column: &str, what: String| Err((column.to_owned(), what));
    let (mut platform, mut cells) = (String::new(), Vec::new());
    for (column, cell) in header.iter().zip(record.iter().map(str::trim)) {
        let needed = [PLATFORM, PRIMITIVE].contains(&column);
        match cell {
            "" if needed => return wrong(column, "is empty; accepted: a name".to_owned()),
            "" => continue,
            _ if column == PLATFORM => cell.clone_into(&mut platform),
            _ => cells.push((column.to_owned(), cell.to_owned())),
        }
        // What a method resolved to may be a word.
        let number = cell.parse::<f64>().is_ok_and(|number| number.is_finite() && number >= 0.0);
        let positive =
            ![SECONDS, RATE].contains(&column) || cell.parse().is_ok_and(|number: f64| number > 0.0);
        if is_measured(column) && !column.starts_with("resolved.") && !(number && positive) {
            return wrong(column, format!("`{cell}` is no number; accepted: one such as 0.0038 or 2.9e9"));
        }
    }
    Ok(Row { line, platform, cells })
}

/// The line of the record that is read from this position on, after comments and empty lines.
fn line_at(text: &str, position: Option<&csv::Position>) -> u64 {
    let start = position.map_or(0, |position| position.byte() as usize).min(text.len());
    let (before, rest) = text.as_bytes().split_at(start);
    let breaks = before.iter().filter(|&&byte| byte == b'\n').count();
    let is_skipped = |line: &&[u8]| line.starts_with(b"#") || line.trim_ascii().is_empty();
    let skipped = rest.split_inclusive(|&byte| byte == b'\n').take_while(is_skipped).count();
    (breaks + skipped + 1) as u64
}

/// A mistake of the form of the table.
fn malformed(error: &csv::Error) -> String {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            let without = expected_len.min(len) + 1;
            format!("{len} cells, but {expected_len} columns; they part at column {without}")
        }
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Params, Value};

    const HEAD: &str = "# a comment\nplatform,primitive,keys,median_s,throughput_elem_s\n";

    fn error(rows: &str) -> String {
        Table::read("p/x.csv", &format!("{HEAD}{rows}")).expect_err("a mistake")
    }

    #[test]
    fn a_row_needs_no_time() {
        let table =
            Table::read("p/x.csv", &format!("{HEAD}A,sort,8,,2e9\nB,sort,8,0.5,\n")).expect("a table");
        let numbers: Vec<_> = table.rows.iter().map(|row| (row.seconds(), row.rate(), row.line)).collect();
        assert_eq!(numbers, [(None, Some(2e9), 3), (Some(0.5), None, 4)]);
        assert_eq!((table.platforms(), table.file()), (vec!["A", "B"], "x.csv"));
        assert_eq!(table.rows[0].parameters().collect::<Vec<_>>(), [("primitive", "sort"), ("keys", "8")]);
    }

    #[test]
    fn a_row_is_of_the_cases_that_agree_with_all_it_says() {
        let text = "platform,primitive,multisplit.buckets,buckets_s\nA,multisplit,8,1\n";
        let table = Table::read("p/x.csv", text).expect("a table");
        let case = |key: &str, buckets| Case {
            id: String::new(),
            experiment: 0,
            primitive: "multisplit".to_owned(),
            params: Params::default().with(key, Value::Int(buckets)),
            seed: 1,
            not_applicable: None,
        };
        let found = |key, buckets| table.row("A", &case(key, buckets)).is_some();
        assert!(found("method.multisplit.buckets", 8) && found("multisplit.buckets", 8));
        let (other, row) = (case("multisplit.buckets", 9), &table.rows[0]);
        assert_eq!(row.strange([&other].into_iter()).as_deref(), Some("no case has multisplit.buckets=8"));
        assert_eq!(row.strange([&other, &case("multisplit.buckets", 8)].into_iter()), None);
        assert!(!found("multisplit.buckets", 9) && !found("amultisplit.buckets", 8) && !found("buckets", 8));
    }

    #[test]
    fn a_mistake_is_told_with_its_line_and_column() {
        assert_eq!(
            error("A,sort,8,soon,\n"),
            "p/x.csv:3: column `median_s`: `soon` is no number; accepted: one such as 0.0038 or 2.9e9"
        );
        assert!(error("A,sort,8,0,\n").starts_with("p/x.csv:3: column `median_s`: `0`"));
        assert_eq!(error(",sort,8,1,\n"), "p/x.csv:3: column `platform`: is empty; accepted: a name");
        assert!(
            error("A,sort,8,1,2\nA,sort\n")
                .starts_with("p/x.csv:4: 2 cells, but 5 columns; they part at column 3")
        );
        assert!(
            error("A,sort,8,1,2\n# a remark\n\n# and another\nA,sort,8,x,\n")
                .starts_with("p/x.csv:7: column `median_s`")
        );
        assert!(error("").starts_with("p/x.csv:2: there is no row"));
        let of = |text: &str| Table::read("x", text).expect_err("a mistake");
        assert_eq!(
            of("primitive,keys\n"),
            "x:1: there is no column `platform`; the first line names the columns"
        );
        assert_eq!(of("platform,primitive,keys,keys\n"), "x:1: the column `keys` is there twice");
        assert!(of("").starts_with("x:1: there is no column"));
    }
}
