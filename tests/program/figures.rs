//! Figures of papers, drawn by the real program from the committed runs.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use scatterlab::report::figures::FIGURES;
use scatterlab_tests::program::{self, text};

/// Runs the program in the source folder.
fn scatterlab(arguments: &[&str]) -> Output {
    program::scatterlab(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

const PATTERNS: &str = "reports/h200-app-patterns";
const SANITY: &str = "reports/h200-sanity";

#[test]
fn the_list_and_the_documentation_name_every_figure() {
    let output = scatterlab(&["figure"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let (list, page) = (text(&output.stdout), include_str!("../../docs/figures.md"));
    for figure in FIGURES.iter() {
        let name = &*figure.name;
        assert!(list.contains(name) && list.contains(&*figure.about), "{list}");
        let recipes = figure.recipes.iter().all(|recipe| page.contains(recipe));
        assert!(page.contains(&format!("| `{name}` |")) && recipes, "{name}");
    }
}

/// The GPU's bandwidth at the fastest sample in a run's own table, from the row with this value in a column.
fn bandwidth(folder: &str, column: &str, value: &str) -> f64 {
    let table = scatterlab(&["report", folder, "--format", "csv"]).stdout;
    let mut reader = csv::Reader::from_reader(&table[..]);
    let rows = reader.deserialize().map(|row| row.expect("a row"));
    let mut rows = rows.filter(|row: &HashMap<String, String>| row["backend"] == "cuda");
    let row = rows.find(|row| row[column] == value).expect("such a case");
    let [rate, median, fastest] =
        ["effective_gb_s", "median_s", "min_s"].map(|column| row[column].parse::<f64>().expect("a number"));
    rate * median / fastest
}

/// Stride 1 refers to the case with the paper's 256 indices, not the one with 8.
#[test]
fn radars_of_the_committed_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("fig07.svg");
    let out = out.to_str().expect("a path");
    let output = scatterlab(&["figure", "lavin2020/fig07", PATTERNS, SANITY, "--out", out]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let svg = fs::read_to_string(out).expect("the picture");
    assert!(svg.contains("NVIDIA H200") && svg.contains("2026-11-21 00:46:27"));
    assert!(
        svg.contains("Points: fastest sample of all rounds") && !svg.contains("bars:"),
        "a radar has none"
    );
    let table = fs::read_to_string(folder.path().join("fig07.csv")).expect("the table");
    let of = |platform: &str| table.lines().filter(|line| line.contains(platform)).collect::<Vec<_>>();
    assert_eq!(of("NVIDIA H200").len(), 29);
    assert!(of("NVIDIA H200").iter().all(|line| line.contains(",measured,,h200-app-patterns,")));
    let cached = of("NVIDIA H200").into_iter().find(|line| line.contains("LULESH-G0")).expect("a row");
    let expected = bandwidth(PATTERNS, "app", "LULESH-G0") / bandwidth(SANITY, "length", "256");
    let ratio: f64 = cached.split(',').nth(5).and_then(|y| y.parse().ok()).expect("a number");
    assert!((ratio / expected - 1.0).abs() < 1e-9, "{cached}");
    assert!(of("Intel Xeon, 1 thread").iter().all(|line| line.contains("no baseline,stride-1 gather")));
}

/// The figure shows 256 keys and needs no measurements.
#[test]
fn a_figure_without_runs() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("keys.svg");
    let out = out.to_str().expect("a path");
    let output = scatterlab(&["figure", "ashkiani2017/fig05", "--out", out]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(fs::read_to_string(out).expect("the picture").contains("WMS: by warp"));
    let table = fs::read_to_string(folder.path().join("keys.csv")).expect("the table");
    assert_eq!(table.lines().filter(|line| line.starts_with("ashkiani2017/fig05,32,bms,")).count(), 256);
}

/// In this run the sort of whole keys was measured only at 256 buckets.
#[test]
fn speed_ups_of_a_committed_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("fig07.svg");
    let out = out.to_str().expect("a path");
    let output = scatterlab(&["figure", "ashkiani2017/fig07", "reports/h200-multisplit", "--out", out]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let mut reader = csv::Reader::from_path(folder.path().join("fig07.csv")).expect("a table");
    let rows: Vec<HashMap<String, String>> = reader.deserialize().map(|row| row.expect("a row")).collect();
    let measured: Vec<_> = rows.iter().filter(|row| row["status"] == "measured").collect();
    assert!(!measured.is_empty() && measured.iter().all(|row| row["x"] == "256"), "{measured:?}");
    let keys =
        |row: &&&HashMap<String, String>| row["line"] == "fused, cuda" && row["panel"] == "values = none";
    let fused: f64 = measured.iter().find(keys).expect("ours")["y"].parse().expect("a number");
    assert!((4.0..5.0).contains(&fused), "{fused}");
    let published: Vec<_> = rows.iter().filter(|row| row["status"] == "published").collect();
    assert!(!published.is_empty() && published.iter().all(|row| row["x"] == "256"), "{published:?}");
}

#[test]
fn what_cannot_be_drawn_is_said_in_one_line() {
    for (arguments, words) in [
        (vec!["figure", "fig99"], "there is no figure fig99; accepted: he2007/fig01, "),
        (vec!["figure", "fig04"], "lavin2020/fig04: give folders of runs"),
        (vec!["figure", "lavin2020/fig03"], "scatterlab run lavin2020/fig03-cpu-stride"),
        (vec!["figure", "lavin2020/fig03", "reports"], "reports holds no run"),
        (vec!["figure", "lavin2020/fig06", PATTERNS], "scatterlab run lavin2020/fig06-simd"),
        (vec!["figure", "lavin2020/fig08", PATTERNS, SANITY], "stride-1 scatter (n/a: not in these runs)"),
        (vec!["figure", "ashkiani2017/fig05", PATTERNS], "takes no runs"),
        (vec!["figure", "lavin2020/fig07", PATTERNS, "--out", "a.png"], "is written as .svg"),
    ] {
        let output = scatterlab(&arguments);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{error}");
        assert!(error.lines().count() == 1 && error.contains(words), "{error}");
    }
}
