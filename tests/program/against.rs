//! The baseline that `compare --against` finds among stored runs, and tests for ReFrame with references from one.

use std::fs;
use std::path::Path;
use std::process::Command;

use scatterlab_tests::program::{scatterlab, text};
use serde_json::Value as Json;

const RECIPE: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 1Ki}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 3, samples: 2}
";

/// A folder with a recipe and a run of it.
fn laid_out() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), RECIPE).expect("a recipe");
    run(root.path(), &["small.yaml", "--out", "run"]);
    root
}

fn run(root: &Path, words: &[&str]) {
    let output = scatterlab(root, &[&["run", "--quiet"], words].concat());
    assert!(output.status.success(), "{}", text(&output.stderr));
}

/// The exit status and all that the program says.
fn said(root: &Path, words: &[&str]) -> (Option<i32>, String) {
    let output = scatterlab(root, words);
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// The one line of an error.
fn error(root: &Path, words: &[&str]) -> String {
    let (status, said) = said(root, words);
    assert_eq!((status, said.lines().count()), (Some(1), 1), "{words:?}: {said}");
    said
}

/// Copies the run to another folder, with another value at a place of its manifest.
fn copied(root: &Path, to: &str, place: &str, value: impl Into<Json>) {
    let to = root.join(to);
    fs::create_dir_all(&to).expect("a folder");
    for entry in fs::read_dir(root.join("run")).expect("a run").flatten() {
        fs::copy(entry.path(), to.join(entry.file_name())).expect("a copy");
    }
    let file = to.join("manifest.json");
    let mut manifest: Json =
        serde_json::from_str(&fs::read_to_string(&file).expect("a manifest")).expect("JSON");
    *manifest.pointer_mut(place).expect("the place") = value.into();
    fs::write(file, manifest.to_string()).expect("written");
}

/// Copies the run to another folder, without the end of its events.
fn begun(root: &Path, to: &str, place: &str, value: &str) {
    copied(root, to, place, value);
    let log = root.join(to).join("events.ndjson");
    let events = fs::read_to_string(&log).expect("events");
    let first = events.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    fs::write(&log, first).expect("written");
}

/// Devices of a manifest: so many GPUs of a name.
fn gpus(count: usize) -> Json {
    let gpu = serde_json::json!({
        "backend": "cuda", "name": "NVIDIA H200", "facts": [], "memory": null, "availability": "available"
    });
    vec![gpu; count].into()
}

const DEVICES: &str = "/devices";
const STARTED: &str = "/started";
const PROCESSOR: &str = "/environment/cpu";
const HASH: &str = "/plan/recipe_hash";

fn baseline_of(root: &Path, against: &str) -> String {
    let (status, said) = said(root, &["compare", "--against", against, "run", "--format", "json"]);
    let document: Json = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{status:?}: {said}"));
    document["baseline"].as_str().expect("a name").to_owned()
}

#[test]
fn the_newest_complete_run_of_the_recipe_and_the_machine_is_the_baseline() {
    let root = laid_out();
    let root = root.path();
    copied(root, "baselines/old", STARTED, "2026-01-01 00:00:00");
    copied(root, "baselines/cluster/node/new", STARTED, "2026-01-02 00:00:00");
    copied(root, "baselines/later/elsewhere", PROCESSOR, "Another processor");
    copied(root, "baselines/another", HASH, "0".repeat(64));
    begun(root, "baselines/begun", STARTED, "2099-01-01 00:00:00");
    assert_eq!(baseline_of(root, "baselines"), "new");
    assert_eq!(baseline_of(root, "baselines/old"), "old", "the folder of a run");
    assert_eq!(baseline_of(root, "."), "new", "the run itself is no baseline");
    let (status, said) = said(root, &["compare", "--against", "baselines", "run"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("A  new  baseline  2026-01-02 00:00:00"), "{said}");
    assert!(said.contains("×1.000"), "a copy takes the same times: {said}");
}

#[test]
fn without_a_baseline_the_error_says_what_there_is() {
    let root = laid_out();
    let root = root.path();
    let against = |folder: &str| error(root, &["compare", "--against", folder, "run"]);
    assert!(against("nowhere").contains("--against nowhere: no such folder"));
    fs::create_dir(root.join("empty")).expect("a folder");
    let empty = against("empty");
    assert!(
        empty.contains("no complete run of Small (recipe ")
            && empty.contains("no run to compare with in or below it"),
        "{empty}"
    );
    copied(root, "others/a", PROCESSOR, "Another processor");
    copied(root, "others/b", HASH, "0".repeat(64));
    copied(root, "others/c", DEVICES, gpus(4));
    let others = against("others");
    for words in [
        "looked at 3 runs: ",
        "others/c was measured on 4 × NVIDIA H200 · ",
        "others/a was measured on Another processor, ",
        "others/b is of Small (recipe 000000000000)",
    ] {
        assert!(others.contains(words), "{words}: {others}");
    }
    copied(root, "second", PROCESSOR, "Another processor");
    let odd = error(root, &["compare", "--against", "others", "run", "second"]);
    assert!(
        odd.contains("needs runs that have one baseline: run is of Small") && odd.contains("; second is of"),
        "{odd}"
    );
}

/// The generated file, which Python compiles.
fn generated(root: &Path, words: &[&str]) -> String {
    let (status, said) = said(root, &[&["reframe"], words, &["--out", "tests.py"]].concat());
    assert_eq!(status, Some(0), "{said}");
    assert!(said.starts_with("written: tests.py; to run it: reframe -c tests.py -r"), "{said}");
    let compiled = Command::new("python3").current_dir(root).args(["-m", "py_compile", "tests.py"]).output();
    let compiled = compiled.expect("python3 starts");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    fs::read_to_string(root.join("tests.py")).expect("the tests")
}

/// The lines of the tables of cases.
fn cases(tests: &str) -> Vec<&str> {
    tests.lines().filter(|line| line.contains("\": (\"")).collect()
}

#[test]
fn references_are_the_runs_figures() {
    let root = laid_out();
    let root = root.path();
    let tests = generated(root, &["small.yaml", "--against", "run", "--tolerance", "100%"]);
    let place = format!("recipe = \"{}\"", root.join("small.yaml").display());
    for words in ["class scatterlab_small(RecipeTest):", "descr = \"Small\"", "options = []", &place] {
        assert!(tests.contains(words), "{words}: {tests}");
    }
    let mut table = csv::Reader::from_path(root.join("run/results.csv")).expect("a table");
    let rows: Vec<std::collections::HashMap<String, String>> =
        table.deserialize().collect::<Result<_, _>>().expect("rows");
    assert_eq!(cases(&tests).len(), rows.len());
    for (line, row) in cases(&tests).into_iter().zip(&rows) {
        let start = format!("\"{}\": (\"{}\", \"effective_gb_s\", ", row["case"], row["kernel"]);
        let rest = line.trim().strip_prefix(&start).unwrap_or_else(|| panic!("{start}: {line}"));
        let figure: f64 = rest.split(',').next().and_then(|word| word.parse().ok()).expect("a number");
        let measured: f64 = row["effective_gb_s"].parse().expect("a number");
        assert!((figure / measured - 1.0).abs() < 1e-4, "{figure}, {measured}");
        assert!(rest.ends_with(", -1, None),"), "{line}");
    }
    for (tolerance, warned) in [("100%", false), ("0.0001%", true)] {
        let (_, said) = said(root, &["reframe", "small.yaml", "--against", "run", "--tolerance", tolerance]);
        assert_eq!(
            said.contains("warning: small: 2 of its references are less precise than"),
            warned,
            "{said}"
        );
    }
}

#[test]
fn times_may_not_be_longer_and_changes_are_options() {
    let root = laid_out();
    let root = root.path();
    fs::write(root.join("small.yaml"), RECIPE.replace("y: bandwidth", "y: time")).expect("a recipe");
    run(root, &["small.yaml", "--set", "elements=2Ki", "--out", "times"]);
    let words =
        ["small.yaml", "quickstart", "--set", "elements=2Ki", "--against", "times", "--tolerance", "100%"];
    let refused = error(root, &[&["reframe"], &words[..]].concat());
    assert!(refused.contains("elements"), "quickstart has no such key: {refused}");
    let words =
        ["small.yaml", "small.yaml", "--set", "elements=2Ki", "--against", ".", "--tolerance", "100%"];
    let tests = generated(root, &words);
    for words in ["class scatterlab_small_2(RecipeTest):", "options = [\"--set\", \"elements=2Ki\"]"] {
        assert!(tests.contains(words), "{words}: {tests}");
    }
    let lines = cases(&tests);
    assert_eq!(lines.len(), 4);
    assert!(
        lines.iter().all(|line| line.contains("\"median_s\"") && line.contains(", None, ")),
        "{lines:#?}"
    );
}

#[test]
fn without_a_run_there_are_no_references() {
    let root = laid_out();
    let tests = generated(root.path(), &["quickstart", "--backend", "cpu"]);
    assert!(tests.contains("recipe = \"quickstart\"") && !tests.contains("devices = "), "{tests}");
    let lines = cases(&tests);
    assert!(
        !lines.is_empty() && lines.iter().all(|line| line.ends_with("\", \"effective_gb_s\"),")),
        "{lines:#?}"
    );
}

#[test]
fn a_run_that_has_no_reference_is_refused() {
    let root = laid_out();
    let root = root.path();
    let reframe = |words: &[&str]| error(root, &[&["reframe"], words].concat());
    let absent = reframe(&["nothing.yaml"]);
    assert!(absent.contains("no such file, and no shipped recipe of this name: nothing.yaml"), "{absent}");
    let other = reframe(&["quickstart", "--against", "run"]);
    assert!(
        other.contains("no complete run of Random against sequential gather")
            && other.contains("run is of Small (recipe "),
        "{other}"
    );
    let changed = reframe(&["small.yaml", "--set", "elements=2Ki", "--against", "run"]);
    assert!(
        changed.contains("nothing to refer to: run has no certified result of a case of small"),
        "{changed}"
    );
    assert!(changed.contains("it was run without changes, the tests with --set elements=2Ki"), "{changed}");
    copied(root, "runs/a", STARTED, "2026-01-01 00:00:00");
    copied(root, "runs/b", PROCESSOR, "Another processor");
    let several = reframe(&["small.yaml", "--against", "runs"]);
    assert!(several.contains("several machines") && several.contains("Another processor, "), "{several}");
    assert!(several.contains(": runs/a") && several.contains(": runs/b"), "{several}");
    copied(root, "gpus/one", DEVICES, gpus(1));
    copied(root, "gpus/eight", DEVICES, gpus(8));
    let counts = reframe(&["small.yaml", "--against", "gpus"]);
    assert!(counts.contains("several machines") && counts.contains(" 8 × NVIDIA H200 · "), "{counts}");
    fs::write(root.join("places.txt"), "2\n0\n1\n").expect("an array");
    let relative = reframe(&["quickstart", "--set", "locations={file: places.txt}"]);
    assert!(relative.contains("quickstart: places.txt: the tests run elsewhere"), "{relative}");
    let absolute = format!("locations={{file: {}}}", root.join("places.txt").display());
    assert!(generated(root, &["quickstart", "--set", &absolute]).contains("places.txt"));
    let (status, usage) = said(root, &["reframe", "small.yaml", "--tolerance", "5%"]);
    assert!(status == Some(2) && usage.contains("--against"), "{usage}");
    let out = reframe(&["small.yaml", "--out", "runs"]);
    assert!(out.contains("--out runs: not the name of a file"), "{out}");
}

#[test]
fn a_broken_run_of_another_machine_is_no_reference_and_missing_ones_are_counted() {
    let root = laid_out();
    let root = root.path();
    run(root, &["small.yaml", "--set", "kernel=copy", "--out", "runs/copy"]);
    begun(root, "runs/begun", PROCESSOR, "Another processor");
    let (status, said) = said(root, &["reframe", "small.yaml", "--against", "runs", "--allow-programs"]);
    assert_eq!(status, Some(0), "{said}");
    assert!(said.contains("warning: small: runs/copy has no reference for 1 of 2 cases"), "{said}");
    assert!(said.contains("options = [\"--allow-programs\"]"), "{said}");
    assert_eq!(cases(&said).iter().filter(|line| line.ends_with(", None),")).count(), 1, "{said}");
}

/// What the tests take of ReFrame; prints the figures that a test finds in `run`.
const STUB: &str = r#"
import runpy, sys, types
for name in ("reframe", "reframe.core", "reframe.core.exceptions", "reframe.utility", "reframe.utility.sanity"):
    sys.modules[name] = types.ModuleType(name)
itself = lambda function: function
vars(sys.modules["reframe"]).update(simple_test=itself, RunOnlyRegressionTest=object)
sys.modules["reframe.core.exceptions"].SanityError = ValueError
vars(sys.modules["reframe.utility.sanity"]).update(defer=itself, make_performance_function=lambda *words: words)
hooks = dict(run_after=lambda _: itself, run_before=lambda _: itself, sanity_function=itself)
test = runpy.run_path("tests.py", hooks)["scatterlab_small"]()
test.stagedir, test.perf_variables = ".", {}
test.set_figures()
print(sorted(test.perf_variables))
"#;

#[test]
fn a_table_without_the_column_of_a_figure_has_no_figures() {
    let root = laid_out();
    let root = root.path();
    generated(root, &["small.yaml"]);
    let figures = || {
        let output = Command::new("python3").current_dir(root).args(["-c", STUB]).output();
        let output = output.expect("python3 starts");
        text(&output.stdout) + &text(&output.stderr)
    };
    assert_eq!(figures(), "['copy', 'triad']\n");
    let table = root.join("run/results.csv");
    let lacking = fs::read_to_string(&table).expect("a table").replacen("effective_gb_s", "another", 1);
    fs::write(&table, lacking).expect("written");
    assert_eq!(figures(), "[]\n");
}
