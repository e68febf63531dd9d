//! Values that papers print: the tables `published/FILE.csv` of a paper's folder, those that ship with the program among them.

use std::sync::LazyLock;

pub use crate::case::published::{PLATFORM, Row, Table, is_measured};

use crate::case::chart::Published;

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/published.rs"));

/// Keys of the papers whose folders ship with the program, in the order of their years.
pub const PAPERS: &[&str] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// Every table that ships with the program.
pub fn tables() -> &'static [Table] {
    static TABLES: LazyLock<Vec<Table>> = LazyLock::new(|| {
        // Tests read them all; one with a mistake would be missing here.
        let table = |&(at, text): &(&'static str, &str)| Table::read(path(at), text).ok();
        FOUND.iter().filter_map(table).collect()
    });
    &TABLES
}

/// The path below `experiments/`.
fn path(at: &str) -> &str {
    at.strip_prefix("experiments/").unwrap_or(at)
}

/// The table with this path that ships with the program.
pub fn find(path: &str) -> Option<&'static Table> {
    tables().iter().find(|table| table.path == path)
}

/// The table that a chart draws: that of the recipe's folder or run, or else the one that ships with the program.
pub fn drawn(published: &Published) -> Option<&Table> {
    published.table.as_deref().or_else(|| find(&published.file))
}

/// Whether a path in a paper's folder may be that of a table: `published/NAME.csv`.
pub fn is_table(file: &str) -> bool {
    let name = file.strip_prefix("published/").and_then(|name| name.strip_suffix(".csv"));
    name.is_some_and(|name| !name.is_empty() && !name.starts_with('.') && !name.contains(['/', '\\', '\0']))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe::plan::{Overrides, resolve};
    use crate::recipe::{parse, shipped};

    #[test]
    fn every_shipped_table_can_be_read() {
        assert!(tables().len() > 1);
        for (at, text) in FOUND {
            let table = Table::read(path(at), text).expect("a table");
            let lines = text.lines().filter(|line| !line.starts_with('#')).count();
            assert_eq!(table.rows.len() + 1, lines, "{at}");
            assert!(is_table(table.file()), "{at}");
        }
        assert!(["published/a.csv", "published/a b.csv"].into_iter().all(is_table));
        let others =
            ["published/.csv", "published/../a.csv", "published/a/b.csv", "a.csv", "published/a.txt"];
        assert!(!others.into_iter().any(is_table));
    }

    #[test]
    fn the_papers_are_the_folders_that_ship() {
        assert_eq!(PAPERS, ["he2007", "sengupta2007", "ashkiani2017", "lavin2020"]);
        let keys = FOUND.iter().filter_map(|(at, _)| path(at).split('/').next());
        assert!({ keys }.all(|key| PAPERS.contains(&key)));
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
                let table = super::drawn(overlay).expect("a table");
                let own = plan.cases.iter().filter(|case| case.experiment == at);
                let found = own.filter_map(|case| table.row(&overlay.platform, case)?.seconds()).count();
                assert!(found > 0, "{}: {}", recipe.path, experiment.title);
                drawn += found;
            }
        }
        assert!(drawn > 100, "{drawn}");
    }
}
