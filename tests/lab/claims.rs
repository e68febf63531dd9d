//! Every figure of `docs/claims.md`, computed anew from the committed runs that it names. The page says what its
//! expressions mean.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use scatterlab::recipe::paper::{Expression, Fold};
use scatterlab::report::claims::{Row, folded, of_run, values};
use scatterlab::report::judge::Side;
use scatterlab::run::stored::Stored;

fn read(run: &str) -> Stored {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports").join(run);
    Stored::open(&folder).expect("a committed run")
}

/// What an expression gives: the numbers of its figure, and how many cases or pairs are behind them.
fn computed(runs: &[&Stored], expression: &str) -> (Vec<f64>, usize) {
    let rows: Vec<Row> =
        (0..).zip(runs).flat_map(|(at, run)| of_run(Side::from(*run), at, false, |_| true)).collect();
    let expression =
        Expression::parse(expression).unwrap_or_else(|problem| panic!("{expression}: {problem}"));
    let found = values(&expression, None, &rows, 0.95).expect("values");
    assert_eq!(found.alone, Vec::<String>::new(), "no pair");
    assert!(!found.all.is_empty(), "nothing is selected");
    let one = |fold| folded(fold, &found.all).typical.expect("a result of each");
    let figure = match expression.fold {
        Fold::Range => vec![one(Fold::Least), one(Fold::Greatest)],
        Fold::Only => {
            assert_eq!(found.all.len(), 1, "several values");
            vec![one(Fold::Least)]
        }
        fold => vec![one(fold)],
    };
    (figure, found.all.len())
}

/// The numbers as the page writes them: in its unit, and with as many digits as it has.
fn written(figure: &[f64], page: &str) -> String {
    const UNITS: [(&str, f64); 6] =
        [(" %", 1e-2), (" ms", 1e-3), (" µs", 1e-6), (" GB/s", 1.0), (" G/s", 1e9), ("", 1.0)];
    let ends = |(unit, _): &&(&str, f64)| page.ends_with(unit);
    let (unit, scale) = UNITS.iter().find(ends).expect("the last always fits");
    let first = page.split(' ').next().unwrap_or_default();
    let digits = first.split_once('.').map_or(0, |(_, digits)| digits.len());
    let numbers: Vec<String> = figure.iter().map(|value| format!("{:.digits$}", value / scale)).collect();
    format!("{}{unit}", numbers.join(" to "))
}

/// The cells of a table's row, in which `\|` is no border.
fn cells(line: &str) -> Vec<String> {
    let line = line.replace("\\|", "\0");
    line.trim_matches('|').split('|').map(|cell| cell.trim().replace('\0', "|")).collect()
}

/// How the page follows runs that have been measured anew.
const ANEW: &str = "rewrite the figures: SCATTERLAB_WRITE_DOCS=1 cargo test --test lab claims";

#[test]
fn every_figure_follows_from_its_run() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/claims.md");
    let page = fs::read_to_string(&path).expect("it");
    let mut rewritten = page.clone();
    let claims = page.lines().filter(|line| line.starts_with("| ") && line.contains("](../reports/"));
    let (mut wrong, mut count, mut stored) = (Vec::new(), 0, HashMap::new());
    for line in claims {
        let row = cells(line);
        let [claim, runs, expression, of, figure] = &row[..] else { panic!("not five cells: {line}") };
        let names = runs.split(", ").filter_map(|link| Some(link.strip_prefix('[')?.split_once(']')?.0));
        let names: Vec<String> = names.map(str::to_owned).collect();
        for name in &names {
            stored.entry(name.clone()).or_insert_with(|| read(name));
        }
        let runs: Vec<&Stored> = names.iter().map(|name| &stored[name]).collect();
        let (found, cases) = computed(&runs, &expression.trim_matches('`').replace("\\|", "|"));
        let found = written(&found, figure);
        if (&found, &cases.to_string()) != (figure, of) {
            wrong.push(format!("{claim}: the page says {figure} of {of} cases, the run {found} of {cases}"));
            let behind = |of: &str, figure: &str| format!("| {of} | {figure} |");
            let anew = line.replace(&behind(of, figure), &behind(&cases.to_string(), &found));
            rewritten = rewritten.replace(line, &anew);
        }
        count += 1;
    }
    if std::env::var_os("SCATTERLAB_WRITE_DOCS").is_some() {
        return fs::write(path, rewritten).expect("written");
    }
    assert!(wrong.is_empty(), "{}\n{ANEW}", wrong.join("\n"));
    assert!(count > 80, "{count} claims were found");
}

/// Figures of measurements have one page, where they are computed anew.
#[test]
fn the_readme_claims_no_figures_of_its_own() {
    let readme = include_str!("../../README.md");
    let units = ["GB/s", "G/s", " ms", " µs", " %", "times as fast"];
    let found: Vec<&str> =
        readme.lines().filter(|line| units.iter().any(|unit| line.contains(unit))).collect();
    assert!(found.is_empty(), "{found:?}");
}
