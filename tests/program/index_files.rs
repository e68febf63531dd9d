//! User-supplied index arrays in the real program: from a file to certified results, and what happens when the
//! file changes or disappears.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use scatterlab_tests::program::{binary, scatterlab, text};
use serde_json::Value;

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

/// An array, a matrix and a graph in files.
const OF_EACH_KIND: &str = "\
title: Of each kind
backend: [scalar, cpu]
measure: {rounds: 1, samples: 1}
experiments:
- gather: {tuples: 1000, locations: {file: {path: data/edges.csv, column: far}}}
  chart: {x: tuples, lines: backend}
- spmv: {matrix: {file: data/m.mtx}}
  chart: {x: backend}
- sssp: {graph: {file: data/g.gr}}
  chart: {x: backend, y: time}
";

/// The cases and arrays of a run: rows of its table up to the parameters, and hashes of its files.
fn identities(run: &Path) -> (Vec<String>, Vec<String>) {
    let manifest = fs::read_to_string(run.join("manifest.json")).expect("a manifest");
    let manifest: Value = serde_json::from_str(&manifest).expect("JSON");
    let of = |list: &str, key: &str| {
        let all = manifest["plan"][list].as_array().expect("a list").iter();
        all.map(|one| one[key].as_str().expect("text").to_owned()).collect()
    };
    (of("cases", "id"), of("indices", "hash"))
}

/// The folder's own command line, typed there after the folder has moved to a place with another name.
#[test]
fn a_run_goes_elsewhere_with_its_arrays() {
    let root = laid_out();
    let data = root.path().join("recipes/data");
    fs::write(root.path().join("recipes/each.yaml"), OF_EACH_KIND).expect("recipe");
    let matrix = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 2.5\n2 2 1\n3 1 -1\n";
    fs::write(data.join("m.mtx"), matrix).expect("data");
    fs::write(data.join("g.gr"), "p sp 4 3\na 3 1 5\na 1 4 6\na 1 2 7\n").expect("data");
    let changed = ["--backend", "scalar", "--set", "tuples=1000..2000 x2", "--out", "out"];
    let output = scatterlab(root.path(), &[&["run", "recipes/each.yaml"], &changed[..]].concat());
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let (cases, hashes) = identities(&root.path().join("out"));
    assert_eq!((cases.len(), hashes.len()), (4, 3));

    let moved = root.path().join("it's \"else where\"");
    fs::rename(root.path().join("out"), &moved).expect("moved");
    fs::remove_dir_all(root.path().join("recipes")).expect("removed");
    assert!(scatterlab(&moved, &["report", ".", "--html"]).status.success());
    let page = fs::read_to_string(moved.join("report.html")).expect("a page");
    let typed =
        page.split("<pre>").filter_map(|part| part.strip_prefix("scatterlab run ")?.split("</pre>").next());
    let typed = typed.last().expect("a command line");
    let stored = fs::read_to_string(moved.join("manifest.json")).expect("a manifest");
    assert!(!stored.contains(&root.path().display().to_string()), "{stored}");
    let script = format!("\"$0\" run {typed} --out again");
    let output =
        Command::new("sh").args(["-c", &script, binary()]).current_dir(&moved).output().expect("a shell");
    assert!(output.status.success(), "{script}: {}", text(&output.stderr));
    assert_eq!(identities(&moved.join("again")), (cases.clone(), hashes));
    assert_eq!(copies(&moved.join("again")).len(), 3);
    assert_eq!(fs::read(moved.join("again/recipe.yaml")).ok(), fs::read(moved.join("recipe.yaml")).ok());

    let name = moved.file_name().expect("a name").to_string_lossy().into_owned();
    let of_case = scatterlab(root.path(), &["counters", &cases[0], &name]);
    assert!(of_case.status.success(), "{}", text(&of_case.stderr));
    // An array that is not there is one error, and a file beside the recipe stands in for it if it is the same.
    fs::remove_dir_all(moved.join("indices")).expect("removed");
    let dry = || {
        scatterlab(root.path(), &["run", &format!("{name}/recipe.yaml"), "--backend", "scalar", "--dry-run"])
    };
    let refused = |why: &str| {
        let error = text(&dry().stderr);
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains(why), "{error}");
    };
    refused(&format!(
        "gather.locations.file.path: data/edges.csv is not in {name}: its array, with the hash "
    ));
    fs::create_dir(moved.join("data")).expect("folder");
    fs::write(moved.join("data/edges.csv"), CSV).expect("data");
    refused("spmv.matrix.file: data/m.mtx is not in ");
    fs::write(moved.join("data/m.mtx"), matrix.replace("2.5", "3.5")).expect("data");
    refused("data/m.mtx does not hold the array of the run in ");
    fs::write(moved.join("data/m.mtx"), matrix).expect("data");
    refused("sssp.graph.file: data/g.gr is not in ");
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
    let said = text(&recipe.stderr);
    assert!(
        said.starts_with("scatterlab: looking at the first 4,194,304 indices of each of "),
        "at once: {said}"
    );
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
    put("a.el", "# edges without weights, a loop and parallel ones\n0 1\n1 2\n5 5\n1 2\n");
    put("b.gr", "c two arcs\np sp 3 2\na 1 2 4\na 2 3 5\n");
    put("c.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n4 4 3\n2 1\n3 2\n4 3\n");
    put("d.mtx", "%%MatrixMarket matrix coordinate integer general\n4 4 3\n1 2 7\n2 3 0\n2 2 5\n");
    put("bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 0.5\n");
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
    for file in ["a.el", "{path: b.gr, directions: given}", "c.mtx", "{path: d.mtx, directions: given}"] {
        recipe("r.yaml", file);
        let _ = fs::remove_dir_all(root.path().join("out"));
        let output = scatterlab(root.path(), &["run", "r.yaml", "--out", "out"]);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
        assert_eq!(results.lines().filter(|line| line.contains(",certified,")).count(), 6, "{results}");
    }
    for (file, why) in [
        ("bad.gr", "bad.gr:2:5: the head `9` is not accepted: an integer from 1 to 3"),
        (
            "bad.mtx",
            "bad.mtx:3:5: `0.5` is out of place; accepted: a weight, an integer from 0 to 4294967294",
        ),
        (
            "c.txt",
            "c.txt: is not a graph; accepted: .gr (DIMACS), .el and .wel (edge lists), .mtx (Matrix Market)",
        ),
        ("none.gr", "cannot read"),
    ] {
        recipe("r.yaml", file);
        let output = scatterlab(root.path(), &["run", "r.yaml", "--out", "out2"]);
        let error = text(&output.stderr);
        assert_eq!((output.status.success(), error.lines().count()), (false, 1), "{error}");
        assert!(error.contains(why), "{error}");
    }
}

/// Conjugate gradients on the pattern of any square matrix in a file run to certified rows; a matrix that is not square is one
/// line with its place, and sums that f64 does not hold are a case that is n/a.
#[test]
fn patterns_of_files_are_systems_of_equations() {
    let root = tempfile::tempdir().expect("temporary folder");
    let put = |name: &str, text: &str| fs::write(root.path().join(name), text).expect("written");
    let real = "%%MatrixMarket matrix coordinate real general\n";
    put("circle.mtx", &format!("{real}4 4 5\n1 2 1e300\n2 3 -1e-300\n3 4 0\n4 1 2.5\n4 4 -7\n"));
    put("path.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n5 5 3\n2 1\n3 2\n4 3\n");
    put("wide.mtx", &format!("{real}2 3 1\n1 3 1\n"));
    put("huge.mtx", &format!("{real}3 3 2\n3 1 1e308\n3 2 -1e308\n"));
    let run = |file: &str| {
        let recipe = format!(
            "title: Systems\ncg: {{matrix: {{file: {file}}}, type: [f32, f64], method: [rows, {{he2007: 2}}]}}\n\
             backend: [scalar, cpu]\nchart: {{x: type, y: flops, lines: [method, backend]}}\n\
             measure: {{rounds: 1, samples: 1}}\n"
        );
        put("r.yaml", &recipe);
        let _ = fs::remove_dir_all(root.path().join("out"));
        let output = scatterlab(root.path(), &["run", "r.yaml", "--out", "out"]);
        let results = fs::read_to_string(root.path().join("out/results.csv")).unwrap_or_default();
        (output, results)
    };
    for file in ["circle.mtx", "path.mtx"] {
        let (output, results) = run(file);
        assert!(output.status.success(), "{file}: {}", text(&output.stderr));
        assert_eq!(results.lines().filter(|line| line.contains(",certified,")).count(), 8, "{results}");
    }
    let (wide, _) = run("wide.mtx");
    let error = text(&wide.stderr);
    assert_eq!((wide.status.success(), error.lines().count()), (false, 1), "{error}");
    let place = "r.yaml:2:15: cg.matrix: 2 rows and 3 columns; accepted: a square matrix";
    assert!(error.contains(place), "{error}");
    let (_, huge) = run("huge.mtx");
    let why = "the magnitudes of row or column 3 of the matrix add up to more than f64 holds";
    assert_eq!(huge.lines().filter(|line| line.contains(why)).count(), 8, "{huge}");
}
