//! The real program with its real engine process.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use scatterlab::case::Device;
use scatterlab::engine::protocol::{Environment, Event};
use scatterlab::recipe::plan::Plan;
use scatterlab::report::{Origin, csv};
use scatterlab::run::Ledger;
use scatterlab_tests::program::{
    binary, engine_of, program, rounds_in, scatterlab, signal, text, wait_for_rounds,
};

const SMALL: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 1Ki..4Ki x2}
backend: [scalar, cpu]
chart: {x: elements, y: bandwidth, lines: [kernel, backend]}
measure: {rounds: 2, samples: 2}
";

/// A thousand rounds, so that the run can be interrupted in the middle.
const LONG: &str = "\
title: Long
stream: {kernel: [copy, triad], elements: 64Ki}
backend: scalar
chart: {x: kernel, y: bandwidth}
measure: {rounds: 1000, samples: 2}
";

/// The program starts on a machine without a driver, since it is not linked to one, and its GPU has a reason.
#[cfg(target_os = "linux")]
#[test]
fn without_a_driver_there_is_a_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = program(folder.path());
    let mut engine =
        command.arg("engine").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let mut hello = String::new();
    BufReader::new(engine.stdout.take().expect("a pipe")).read_line(&mut hello).expect("its first line");
    let loaded = fs::read_to_string(format!("/proc/{}/maps", engine.id())).expect("it runs");
    assert!(loaded.contains("scatterlab") && !loaded.contains("libcuda.so"), "linked to the driver");
    let reason = if cfg!(feature = "cuda") { "no CUDA driver" } else { "built without the cuda feature" };
    assert!(hello.contains(reason), "{hello}");
    drop(engine.stdin.take());
    assert!(engine.wait().expect("ends").success());
}

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
    assert_eq!(results.matches(",certified,").count(), 12, "{results}");
    assert_eq!(fs::read_to_string(out.join("recipe.yaml")).expect("recipe"), SMALL);
    let again = scatterlab(root.path(), &["run", "small.yaml", "--out", "out"]);
    assert_eq!(again.status.code(), Some(1));
    assert!(text(&again.stderr).contains("already holds a run"), "{}", text(&again.stderr));
}

/// On Linux a file name may be any bytes.
#[test]
fn a_folder_may_have_a_name_that_is_no_text() {
    use std::os::unix::ffi::OsStrExt;
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let out = root.path().join(std::ffi::OsStr::from_bytes(b"out-\xff"));
    let run = |arguments: &[&str]| {
        Command::new(binary()).args(arguments).arg(&out).current_dir(root.path()).output().expect("starts")
    };
    let output = run(&["run", "small.yaml", "--backend", "scalar", "--out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    // The run resumes from half of its events.
    let events = fs::read_to_string(out.join("events.ndjson")).expect("events");
    let half: String = events.lines().take(20).map(|line| format!("{line}\n")).collect();
    fs::write(out.join("events.ndjson"), half).expect("written");
    let output = run(&["run", "--resume"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("manifest");
    assert!(
        !manifest.contains("out-"),
        "the folder is no part of the command that repeats the run: {manifest}"
    );
}

/// The engine cannot be started because of a mistake on the command line, and the folder belongs to the user.
#[test]
fn a_run_that_never_began_leaves_the_folder_as_it_was() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::create_dir(root.path().join("indices")).expect("folder");
    fs::write(root.path().join("indices/mine.csv"), "3,1,2").expect("indices");
    let recipe = "gather: {locations: {file: indices/mine.csv}}\nbackend: scalar\nchart: {x: file}\n";
    fs::write(root.path().join("g.yaml"), recipe).expect("recipe");
    let output = scatterlab(root.path(), &["run", "g.yaml", "--out", ".", "--engine", "exit 7"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).expect("folder").map(|entry| entry.expect("entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names(root.path()), ["g.yaml", "indices"]);
    assert_eq!(names(&root.path().join("indices")), ["mine.csv"]);
}

#[test]
fn without_a_gpu_its_cases_are_not_applicable() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let output = scatterlab(root.path(), &["run", "small.yaml", "--backend", "cpu,cuda", "--out", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let results = fs::read_to_string(root.path().join("out/results.csv")).expect("results");
    let reason = if cfg!(feature = "cuda") { "no CUDA driver" } else { "built without" };
    assert_eq!(results.matches(reason).count(), 6, "{results}");
    assert_eq!(results.matches(",certified,").count(), 6, "{results}");
}

#[test]
fn a_dry_run_says_which_peers_have_no_program() {
    let root = tempfile::tempdir().expect("temporary folder");
    let recipe = "sssp: {graph: line, vertices: 64}\nbackend: cpu\npeers: graph\nchart: {x: vertices}\n";
    fs::write(root.path().join("beside.yaml"), recipe).expect("recipe");
    let output = scatterlab(root.path(), &["--peers", "nowhere", "run", "beside.yaml", "--dry-run"]);
    let said = text(&output.stdout);
    let line = said.lines().find(|line| line.contains("peer:graph")).expect("the peer's case");
    assert!(line.contains("n/a: no program") && !said.contains("\npeer:"), "{said}");
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
    let run = start_long(root.path(), &["long.yaml"]);
    let events = root.path().join("out/events.ndjson");
    wait_for_rounds(&events, 20);
    signal(engine_of(&run), "-KILL");
    // The run continues in a fresh engine until we have seen enough.
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

/// The stored plan and the stored events suffice for every record.
#[test]
fn the_folder_holds_what_its_tables_were_made_of() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let output = scatterlab(root.path(), &["run", "small.yaml", "--backend", "scalar,cuda", "--out", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    let out = root.path().join("out");
    let read = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    let manifest: serde_json::Value = serde_json::from_str(&read("manifest.json")).expect("a manifest");
    let plan: Plan = serde_json::from_value(manifest["plan"].clone()).expect("the plan");
    let environment: Environment = serde_json::from_value(manifest["environment"].clone()).expect("it");
    let devices: Vec<Device> = serde_json::from_value(manifest["devices"].clone()).expect("devices");
    let mut ledger = Ledger::new(plan.clone());
    let (version, date) = (env!("CARGO_PKG_VERSION"), "");
    let origin = Origin { plan: &plan, version, date, environment: &environment, devices: &devices };
    for line in read("events.ndjson").lines() {
        ledger.apply(&serde_json::from_str::<Event>(line).expect("each line is an event"));
    }
    let (mut results, mut samples) = (Vec::new(), Vec::new());
    csv::results(&mut results, &origin, ledger.records(), ledger.references()).expect("results");
    csv::samples(&mut samples, ledger.records()).expect("samples");
    assert_eq!(text(&results), read("results.csv"));
    assert_eq!(text(&samples), read("samples.csv"));
}

/// SIGSTOP simulates a kernel that never ends.
#[test]
fn the_second_signal_kills_a_hung_engine_and_completes_the_folder() {
    let root = tempfile::tempdir().expect("temporary folder");
    let run = start_long(root.path(), &["long.yaml"]);
    wait_for_rounds(&root.path().join("out/events.ndjson"), 5);
    let engine = engine_of(&run);
    signal(engine, "-STOP");
    signal(run.id(), "-INT");
    thread::sleep(Duration::from_millis(300));
    signal(run.id(), "-INT");
    let output = run.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(3), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("the engine was killed on request"), "{}", text(&output.stdout));
    assert!(!Path::new(&format!("/proc/{engine}")).exists(), "the engine is still there");
    let samples = fs::read_to_string(root.path().join("out/samples.csv")).expect("samples");
    assert!(samples.lines().count() > 10, "{samples}");
}

#[test]
fn a_hung_engine_is_killed_ten_seconds_after_the_first_signal_and_no_other_recipe_starts() {
    let root = tempfile::tempdir().expect("temporary folder");
    let run = start_long(root.path(), &["long.yaml", "long.yaml"]);
    wait_for_rounds(&root.path().join("out/long/events.ndjson"), 5);
    signal(engine_of(&run), "-STOP");
    let asked = Instant::now();
    signal(run.id(), "-TERM");
    let output = run.wait_with_output().expect("ends");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(asked.elapsed() >= Duration::from_secs(10), "{said}");
    assert!(said.contains("killed because it did not stop"), "{said}");
    assert!(said.contains("long.yaml: not started"), "{said}");
    assert!(root.path().join("out/long/results.csv").is_file());
}

#[test]
fn any_command_of_the_shell_may_start_the_engine() {
    let root = tempfile::tempdir().expect("temporary folder");
    let engine = format!("printf 'Welcome, \\377'; echo error >&2; '{binary}' engine", binary = binary());
    let output = scatterlab(root.path(), &["devices", "--engine", &engine]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).starts_with("scalar"), "{}", text(&output.stdout));
    fs::write(root.path().join("small.yaml"), SMALL).expect("recipe");
    let run = ["run", "small.yaml", "--out", "out", "--engine"];
    let output = scatterlab(root.path(), &[&run[..], &["echo no such host >&2; exit 255"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(error.contains("exit status 255") && error.contains("no such host"), "{error}");
    let output = scatterlab(root.path(), &[&run[..], &[&engine]].concat());
    assert!(output.status.success(), "the folder is free for another try: {}", text(&output.stderr));
}

/// A limit on file sizes simulates a full disk.
#[test]
fn a_folder_that_cannot_be_written_any_more_ends_the_run_with_the_reason() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("long.yaml"), LONG).expect("recipe");
    let line = format!("ulimit -f 100; exec '{binary}' run long.yaml --out out", binary = binary());
    let output = Command::new("bash").args(["-c", &line]).current_dir(root.path()).output().expect("starts");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let error = text(&output.stderr);
    assert!(error.contains("cannot write") && error.contains("events.ndjson"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
}

fn start_long(folder: &Path, recipes: &[&str]) -> Child {
    fs::write(folder.join("long.yaml"), LONG).expect("recipe");
    let run = program(folder).arg("run").args(recipes).args(["--out", "out"]).stdout(Stdio::piped()).spawn();
    run.expect("starts")
}

/// What an attack on the command line found accepted.
#[test]
fn mistakes_on_the_command_line_are_found_before_anything_runs() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("small.yaml"), "gather: {tuples: 1Ki}\nbackend: scalar\nchart: {x: tuples}\n")
        .expect("recipe");
    fs::write(
        root.path().join("control.yaml"),
        "title: x\ngather: {tuples: 1Ki}\nchart: {x: tup\u{1b}les}\n",
    )
    .expect("recipe");
    for (words, expected) in [
        (&["run", "small.yaml", "--dry-run", "--profile", "NONSENSE"][..], "NONSENSE"),
        (
            &["run", "small.yaml", "--dry-run", "--set", "gather.gather.tuples=1"],
            "no parameter `gather.gather.tuples`",
        ),
        (
            &["run", "control.yaml", "--dry-run"],
            "control.yaml:3:15: not YAML: control characters are not allowed",
        ),
    ] {
        let output = scatterlab(root.path(), words);
        let error = text(&output.stderr);
        assert_eq!((output.status.code(), error.lines().count()), (Some(1), 1), "{words:?}: {error}");
        assert!(error.contains(expected), "{words:?}: {error}");
    }
}
