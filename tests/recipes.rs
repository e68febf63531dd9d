//! The recipe language against the real primitives.

use std::fs;
use std::path::{Path, PathBuf};

use scatterlab::plan::{Overrides, Plan, Scale, resolve};
use scatterlab::recipe::parse;

/// Every recipe that ships, with its path from the repository's root.
fn shipped() -> Vec<(PathBuf, String)> {
    fn walk(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).expect("a folder").map(|e| e.expect("an entry").path()) {
            match entry.extension().is_some_and(|e| e == "yaml") {
                true => found.push(entry),
                false if entry.is_dir() => walk(&entry, found),
                false => {}
            }
        }
    }
    let mut paths = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments"), &mut paths);
    paths.sort();
    paths.into_iter().map(|p| (p.clone(), fs::read_to_string(&p).expect("a text"))).collect()
}

#[test]
fn every_shipped_recipe_resolves() {
    let recipes = shipped();
    assert!(recipes.len() >= 10);
    for (path, text) in recipes {
        let name = path.display().to_string();
        let recipe = parse(&name, &text).unwrap_or_else(|e| panic!("{e}"));
        let plan = resolve(&recipe, &Overrides::default()).unwrap_or_else(|e| panic!("{e}"));
        for e in &plan.experiments {
            println!(
                "{name}: {} x={} lines={:?} axes {:?}",
                e.slug,
                e.chart.x,
                e.chart.lines,
                e.axes.iter().map(|a| (&a.name, a.values.len(), a.scale)).collect::<Vec<_>>()
            );
        }
        println!(
            "{} cases, {} n/a",
            plan.cases.len(),
            plan.cases.iter().filter(|c| c.not_applicable.is_some()).count()
        );
    }
}
