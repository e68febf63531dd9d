//! Values that papers print, in the tables `experiments/KEY/published/FILE.csv`, which ship with the program.

use std::sync::LazyLock;

use crate::case::{Case, distinct};

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/published.rs"));

/// Columns that are no parameter of the case.
const PLATFORM: &str = "platform";
const SECONDS: &str = "median_s";
const RATE: &str = "throughput_elem_s";
const RESOLVED: &str = "resolved.";

/// A row of a table: what a case took on a machine of the paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub platform: String,
    pub seconds: f64,
    /// The primitive, and parameters by the last words of their keys.
    cells: Vec<(String, String)>,
}

/// A table.
#[derive(Clone, Debug)]
pub struct Table {
    /// The path below `experiments/`.
    pub path: &'static str,
    pub rows: Vec<Row>,
}

pub fn texts() -> &'static [(&'static str, &'static str)] {
    FOUND
}

/// Every table.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        let table = |&(at, text): &(&'static str, &str)| {
            let path = at.strip_prefix("experiments/").unwrap_or(at);
            Table { path, rows: rows(text) }
        };
        FOUND.iter().map(table).collect()
    });
    &TABLES
}

impl Table {
    /// The table with this path.
    pub fn find(path: &str) -> Option<&'static Table> {
        tables().iter().find(|table| table.path == path)
    }

    /// The table's machines, each once.
    pub fn platforms(&self) -> Vec<&str> {
        distinct(self.rows.iter().map(|row| row.platform.as_str()))
    }

    /// The seconds that the case took on one of the machines.
    pub fn seconds(&self, platform: &str, case: &Case) -> Option<f64> {
        let row = self.rows.iter().find(|row| row.platform == platform && row.is_of(case))?;
        Some(row.seconds)
    }
}

impl Row {
    /// Whether the case agrees with the row in all that the row states.
    fn is_of(&self, case: &Case) -> bool {
        self.cells.iter().all(|(column, cell)| {
            let own = |key: &str| key.rsplit('.').next() == Some(column);
            match column.as_str() {
                "primitive" => case.primitive == *cell,
                _ => case.params.0.iter().any(|(key, value)| own(key) && value.to_string() == *cell),
            }
        })
    }
}

/// The rows that have a time.
fn rows(text: &str) -> Vec<Row> {
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
    let header = reader.headers().cloned().unwrap_or_default();
    let row = |record: csv::StringRecord| {
        let cells = || header.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        let cell = |name: &str| cells().find(|(column, _)| *column == name).map(|(_, cell)| cell.to_owned());
        let parameter = |(column, _): &(&str, &str)| {
            ![PLATFORM, SECONDS, RATE].contains(column) && !column.starts_with(RESOLVED)
        };
        let own = cells().filter(parameter).map(|(column, cell)| (column.to_owned(), cell.to_owned()));
        Some(Row { platform: cell(PLATFORM)?, seconds: cell(SECONDS)?.parse().ok()?, cells: own.collect() })
    };
    reader.records().filter_map(|record| row(record.ok()?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::recipe::{parse, shipped};

    #[test]
    fn every_row_of_a_table_of_times_has_one_and_states_its_primitive() {
        let timed = |(_, (_, text)): &(&Table, &(&str, &str))| text.contains(SECONDS);
        assert!(tables().iter().zip(FOUND).filter(timed).count() > 1);
        for (table, (path, text)) in tables().iter().zip(FOUND).filter(timed) {
            let lines = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(table.rows.len() + 1, lines, "{path}");
            assert!(table.rows.iter().all(|row| row.cells.iter().any(|(column, _)| column == "primitive")));
            assert!(table.rows.iter().all(|row| row.seconds > 0.0 && !row.platform.is_empty()), "{path}");
        }
    }

    /// A row without counterpart in the recipe that draws it is a misspelt word or a forgotten case.
    #[test]
    fn what_a_recipe_draws_is_of_its_cases() {
        let mut drawn = 0;
        for recipe in shipped::shipped() {
            let parsed = parse(recipe.path, recipe.text).expect("it parses");
            if parsed.drafts.iter().all(|draft| draft.chart.overlay.is_none()) {
                continue;
            }
            let plan = resolve(&parsed, &Overrides::default()).expect("it resolves");
            for (at, experiment) in plan.experiments.iter().enumerate() {
                let Some(overlay) = &experiment.chart.overlay else { continue };
                let table = Table::find(&overlay.file).expect("a table");
                let own = plan.cases.iter().filter(|case| case.experiment == at);
                let found = own.filter_map(|case| table.seconds(&overlay.platform, case)).count();
                assert!(found > 0, "{}: {}", recipe.path, experiment.title);
                drawn += found;
            }
        }
        assert!(drawn > 100, "{drawn}");
    }
}
