//! The real program plays stored runs, and its doctor responds.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use scatterlab_tests::program::{self, binary, text};

/// Runs the program in the source folder.
fn scatterlab(arguments: &[&str]) -> Output {
    program::scatterlab(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

fn content(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(folder).expect("folder").filter_map(Result::ok);
    let read = |file: fs::DirEntry| {
        (file.file_name().to_string_lossy().into_owned(), fs::read(file.path()).expect("file"))
    };
    files.map(read).collect()
}

#[test]
fn a_stored_run_of_the_first_schema_is_watched_without_a_terminal() {
    let folder = "reports/h200-sanity";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let before = content(&path);
    let output = scatterlab(&["watch", folder, "--speed", "max"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let lines = text(&output.stdout);
    assert!(lines.contains("[30/30 rounds]") && lines.contains("6 certified"), "{lines}");
    assert_eq!(content(&path), before, "nothing is written");
}

#[test]
fn what_cannot_be_watched_is_said_in_one_line() {
    let output = scatterlab(&["watch", "reports"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.lines().count() == 1 && error.contains("reports holds no run"), "{error}");
}

#[test]
fn the_doctor_of_an_engine_elsewhere_checks_what_it_sees() {
    let engine = format!("{binary} engine", binary = binary());
    let output = scatterlab(&["doctor", "--engine", &engine, "--format", "json"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    let names: Vec<&str> =
        report["checks"].as_array().into_iter().flatten().filter_map(|c| c["name"].as_str()).collect();
    assert_eq!(names, ["engine", "cuda", "terminal"]);
}

#[test]
fn the_doctor_needs_an_engine() {
    let output = scatterlab(&["doctor", "--engine", "exit 1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("warning  engine"), "the checks come before the error");
    let output = scatterlab(&["doctor", "--engine", "exit 1", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(report["checks"][0]["level"], "warning");
}
