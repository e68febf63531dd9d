//! The real program, with its real engine process.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_scatterlab");

fn scatterlab(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(BINARY).args(arguments).current_dir(folder).output().expect("starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const SMALL: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 1Ki..4Ki x2}
backend: [scalar, cpu]
chart: {x: elements, y: bandwidth, lines: [kernel, backend]}
measure: {rounds: 2, samples: 2}
";

/// A thousand rounds, so that there is a middle to interrupt.
const LONG: &str = "\
title: Long
stream: {kernel: [copy, triad], elements: 64Ki}
backend: scalar
chart: {x: kernel, y: bandwidth}
measure: {rounds: 1000, samples: 2}
";

#[test]
fn a_recipe_becomes_a_folder_with_everything() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let output = scatterlab(root.path(), &["run", "small.yaml", "--out", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let out = root.path().join("out");
    for name in ["recipe.yaml", "manifest.json", "events.ndjson", "results.csv", "samples.csv", "small.svg"] {
        assert!(out.join(name).is_file(), "{name} is missing");
    }
    let results = fs::read_to_string(out.join("results.csv")).expect("results");
    assert_eq!(results.lines().count(), 1 + 12);
    assert_eq!(results.matches("certified").count(), 12, "{results}");
    assert_eq!(fs::read_to_string(out.join("recipe.yaml")).expect("recipe"), SMALL);
    let again = scatterlab(root.path(), &["run", "small.yaml", "--out", "out"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("already holds a run"), "{}", text(&again.stderr));
}

#[test]
fn without_a_gpu_its_cases_are_not_applicable() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let output = Command::new(BINARY)
        .args(["run", "small.yaml", "--backend", "cpu,cuda", "--out", "out"])
        .env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1")
        .current_dir(root.path())
        .output()
        .expect("starts");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
    let reason = if cfg!(feature = "cuda") { "no CUDA driver" } else { "built without" };
    assert_eq!(results.matches(reason).count(), 6, "{results}");
    assert_eq!(results.matches("certified").count(), 6, "{results}");
}

#[test]
fn a_wrong_recipe_is_one_line_with_its_place() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("bad.yaml"), SMALL.replace("elements", "elemens")).expect("recipe");
    let output = scatterlab(root.path(), &["run", "bad.yaml"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("bad.yaml:2:") && error.contains("elements"), "{error}");
}

#[test]
fn without_a_terminal_the_bare_command_says_what_to_run() {
    let root = tempfile::tempdir().expect("temporary folder");
    let output = scatterlab(root.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("scatterlab run"), "{}", text(&output.stderr));
}

#[test]
fn a_killed_engine_fails_one_case_and_loses_nothing() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("long.yaml"), LONG).expect("recipe");
    let run = Command::new(BINARY)
        .args(["run", "long.yaml", "--out", "out"])
        .current_dir(root.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let events = root.path().join("out/events.ndjson");
    wait_for_rounds(&events, 20);
    kill_engine_of(&run);
    // The run goes on in a fresh engine, until we have seen enough.
    let before = rounds_in(&events);
    wait_for_rounds(&events, before + 20);
    signal(run.id(), "-TERM");
    let output = run.wait_with_output().expect("ends by itself");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("the engine died: killed by signal 9"), "{said}");
    let samples = fs::read_to_string(root.path().join("out/samples.csv")).expect("samples");
    let on_disk = samples.lines().count();
    assert!(on_disk > 2 * before, "{on_disk} lines for more than {before} rounds");
}

fn rounds_in(events: &Path) -> usize {
    fs::read_to_string(events).map_or(0, |text| text.matches("\"event\":\"round\"").count())
}

fn wait_for_rounds(events: &Path, wanted: usize) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while rounds_in(events) < wanted {
        assert!(Instant::now() < deadline, "no progress");
        thread::sleep(Duration::from_millis(10));
    }
}

fn kill_engine_of(run: &Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        // The run's own thread starts the engine, so look at every thread's children.
        let tasks = format!("/proc/{}/task", run.id());
        let engine = fs::read_dir(&tasks)
            .expect("the run is alive")
            .filter_map(Result::ok)
            .filter_map(|task| fs::read_to_string(task.path().join("children")).ok())
            .find_map(|list| list.split_whitespace().next().and_then(|id| id.parse().ok()));
        if let Some(engine) = engine {
            return signal(engine, "-KILL");
        }
        assert!(Instant::now() < deadline, "no engine");
        thread::sleep(Duration::from_millis(10));
    }
}

fn signal(process: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &process.to_string()]).status().expect("kill");
    assert!(status.success());
}
