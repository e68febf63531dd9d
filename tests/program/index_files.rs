//! User-supplied index arrays in the real program: from a file to certified results, and what happens when the
//! file changes or disappears.

use std::fs;
use std::path::{Path, PathBuf};

use scatterlab_tests::program::{scatterlab, text};

/// An array made by NumPy: 2400 int64, each of 600 cells of a mesh with three others.
const NPY: &[u8] = include_bytes!("../fixtures/neighbours.npy");
/// A table made by `numpy.savetxt` with the columns `cell` and `far`.
const CSV: &[u8] = include_bytes!("../fixtures/edges.csv");

const RECIPE: &str = "\
title: Mine
backend: [scalar, cpu]
chart: {x: file, lines: [backend, method]}
measure: {rounds: 1, samples: 1}
experiments:
- title: Gather
  gather:
    method: [direct, {multipass: {passes: 3}}, {segmented: {segments: 2, passes: 2}}]
    locations: [{file: data/neighbours.npy}, {file: {path: data/edges.csv, column: far}}]
- title: Scatter
  scatter:
    method: [direct, {multipass: {passes: 3}}, {segmented: {segments: 2, passes: 2}}]
    tuples: 1000
    locations: [{file: data/neighbours.npy}, {file: {path: data/edges.csv, column: far}}]
- title: Pattern
  pattern: {file: {path: data/edges.csv, column: far}, kernel: [gather, scatter], count: 100}
  chart: {x: kernel, lines: backend}
";

/// A folder with the recipe in `recipes/` and its data beside it.
fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    let data = root.path().join("recipes/data");
    fs::create_dir_all(&data).expect("folder");
    fs::write(root.path().join("recipes/mine.yaml"), RECIPE).expect("recipe");
    fs::write(data.join("neighbours.npy"), NPY).expect("data");
    fs::write(data.join("edges.csv"), CSV).expect("data");
    root
}

/// Resolved from the run's folder, the recipe finds no files beside it.
#[test]
fn counters_of_a_stored_run_with_files_say_where_to_look() {
    let root = laid_out();
    let more = ["--out", "out", "--backend", "scalar"];
    let output = scatterlab(root.path(), &[&["run", "recipes/mine.yaml"], &more[..]].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
    let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
    let case = results.lines().nth(1).and_then(|row| row.split(',').next()).expect("a case");
    let output = scatterlab(root.path(), &["counters", case, "out"]);
    let error = text(&output.stderr);
    assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains("out/recipe.yaml cannot be run from its folder"), "{error}");
    assert!(error.contains("give the recipe that the run was made of"), "{error}");
    let from = ["counters", case, "recipes/mine.yaml", "--backend", "scalar"];
    assert!(scatterlab(root.path(), &from).status.success());
}

fn copies(run: &Path) -> Vec<PathBuf> {
    let folder = fs::read_dir(run.join("indices")).expect("a folder of copies");
    let mut copies: Vec<PathBuf> = folder.map(|entry| entry.expect("entry").path()).collect();
    copies.sort();
    copies
}

#[test]
fn files_beside_a_recipe_become_certified_results_and_copies() {
    let root = laid_out();
    let output = scatterlab(root.path(), &["run", "recipes/mine.yaml", "--out", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let out = root.path().join("out");
    let mut results = csv::Reader::from_path(out.join("results.csv")).expect("results");
    let header = results.headers().expect("header").clone();
    let column =
        |name: &str| header.iter().position(|h| h == name).unwrap_or_else(|| panic!("no {name}: {header:?}"));
    let rows: Vec<csv::StringRecord> = results.records().map(|row| row.expect("row")).collect();
    assert_eq!(rows.len(), 12 + 12 + 4);
    for row in &rows {
        assert_eq!(&row[column("verification")], "certified", "{row:?}");
    }
    let moved = |row: &csv::StringRecord| {
        (
            row[column("primitive")].to_owned(),
            row[column("tuples")].to_owned(),
            row[column("work_elements")].to_owned(),
        )
    };
    let words = |a: &str, b: &str, c: &str| (a.to_owned(), b.to_owned(), c.to_owned());
    assert_eq!(moved(&rows[0]), words("gather", "600", "2400"));
    assert_eq!(moved(&rows[13]), words("scatter", "1000", "2400"));
    let copies = copies(&out);
    assert_eq!(copies.len(), 2);
    for copy in copies {
        let hash = blake3::hash(&fs::read(&copy).expect("copy")).to_hex().to_string();
        assert_eq!(copy.file_stem().and_then(|s| s.to_str()), Some(hash.as_str()));
        assert!(rows.iter().any(|row| row.iter().any(|cell| cell == hash)), "{hash} is in no row");
    }
}

#[test]
fn the_same_indices_in_another_file_are_the_same_cases() {
    let root = laid_out();
    let ids = |recipe: &str| {
        let output = scatterlab(root.path(), &["run", recipe, "--dry-run", "--backend", "scalar"]);
        assert!(output.status.success(), "{}", text(&output.stderr));
        let words = |line: &str| line.split_whitespace().next().map(str::to_owned);
        let lines = text(&output.stdout);
        lines.lines().filter(|l| l.starts_with("  ")).filter_map(words).collect::<Vec<_>>()
    };
    let first = ids("recipes/mine.yaml");
    fs::rename(root.path().join("recipes/data"), root.path().join("recipes/moved")).expect("moved");
    fs::write(root.path().join("recipes/mine.yaml"), RECIPE.replace("data/", "moved/")).expect("recipe");
    assert_eq!(ids("recipes/mine.yaml"), first);
}

#[test]
fn what_is_wrong_with_a_file_is_one_line() {
    let root = laid_out();
    let error = |recipe: &str| {
        fs::write(root.path().join("recipes/wrong.yaml"), recipe).expect("recipe");
        let output = scatterlab(root.path(), &["run", "recipes/wrong.yaml", "--dry-run"]);
        assert_eq!(output.status.code(), Some(1), "{recipe}");
        let error = text(&output.stderr);
        assert_eq!(error.lines().count(), 1, "{error}");
        error
    };
    let gather = |locations: &str| {
        format!("gather: {{locations: {locations}}}\nbackend: scalar\nchart: {{x: locations}}\n")
    };
    let missing = error(&gather("{file: none.npy}"));
    assert!(missing.contains("recipes/wrong.yaml:1:28: gather.locations.file: cannot read"), "{missing}");
    let table = error(&gather("{file: data/edges.csv}"));
    assert!(table.contains("edges.csv:1:1: there are 2 columns; choose one: cell, far"), "{table}");
    let random = error(&gather("random"));
    assert!(random.contains("missing key `tuples` in gather"), "{random}");
    let both = error(&gather("[random, {file: data/neighbours.npy}]"));
    assert!(both.contains("missing key `tuples` in gather"), "{both}");
}

#[test]
fn locality_reads_the_same_files() {
    let root = laid_out();
    let output = scatterlab(root.path(), &["locality", "recipes/data/neighbours.npy", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&json[0]["count"], &json[0]["max"]), (&2400.into(), &599.into()));
    let named = scatterlab(root.path(), &["locality", "recipes/data/edges.csv", "--column", "cell"]);
    assert!(text(&named.stdout).contains("300 indices from 0 to 299"), "{}", text(&named.stdout));
    assert!(text(&named.stdout).contains("class stride-1"));
    let recipe = scatterlab(root.path(), &["locality", "recipes/mine.yaml", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_slice(&recipe.stdout).expect("JSON");
    let arrays = json.as_array().expect("a list");
    assert_eq!(arrays.len(), 6, "two files for each of gather and scatter, and two kernels of a pattern");
    assert_eq!((&arrays[0]["count"], &arrays[0]["layout"]["element"]), (&2400.into(), &8.into()));
}

/// Graphs in files run to certified rows; one that is wrong is one line with the file, the line and what is accepted.
#[test]
fn graphs_are_read_from_files() {
    let root = tempfile::tempdir().expect("temporary folder");
    let put = |name: &str, text: &str| fs::write(root.path().join(name), text).expect("written");
    put("a.el", "# an edge without a weight, a loop and parallel edges\n0 1\n1 2 5\n5 5 1\n1 2 7\n");
    put("b.gr", "c two arcs\np sp 3 2\na 1 2 4\na 2 3 5\n");
    put("bad.gr", "p sp 3 1\na 1 9 4\n");
    put("c.txt", "1 2 3 4 5 6 7\n");
    let recipe = |name: &str, file: &str| {
        let methods = "[bellman-ford, near-far, {bucketing: 10}]";
        put(
            name,
            &format!(
                "title: Graph\nsssp: {{graph: {{file: {file}}}, method: {methods}}}\nbackend: [scalar, cpu]\n\
                 chart: {{x: method, y: time, lines: backend}}\nmeasure: {{rounds: 1, samples: 1}}\n"
            ),
        );
    };
    for file in ["a.el", "{path: b.gr, directions: given}"] {
        recipe("r.yaml", file);
        let _ = fs::remove_dir_all(root.path().join("out"));
        let output = scatterlab(root.path(), &["run", "r.yaml", "--out", "out"]);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
        assert_eq!(results.lines().filter(|line| line.contains("certified")).count(), 6, "{results}");
    }
    for (file, why) in [
        ("bad.gr", "bad.gr:2:5: the head `9` is not accepted: 1 to 3"),
        ("c.txt", "c.txt: is no graph; accepted: .gr (DIMACS), .el and .wel (edge lists)"),
        ("none.gr", "cannot read"),
    ] {
        recipe("r.yaml", file);
        let output = scatterlab(root.path(), &["run", "r.yaml", "--out", "out2"]);
        let error = text(&output.stderr);
        assert_eq!((output.status.success(), error.lines().count()), (false, 1), "{error}");
        assert!(error.contains(why), "{error}");
    }
}
