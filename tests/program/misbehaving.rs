//! The real program with engines that hang, chatter, die or report what cannot be true, and with stored runs that were
//! damaged or edited. The engines are this program's own behind a filter of the shell, or a few words of the shell.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use scatterlab::run::Status;
use scatterlab::run::stored::Stored;
use scatterlab_tests::program::{binary, program, scatterlab, text};

const RECIPE: &str = "\
title: Small
stream: {kernel: [copy, triad], elements: 64Ki}
backend: scalar
chart: {x: kernel, y: bandwidth}
measure: {rounds: 3, samples: 2, ci: none, second-look: never}
";

/// A folder with the recipe, and its run if it is one.
pub struct Lab(tempfile::TempDir);

impl Lab {
    pub fn new() -> Lab {
        let root = tempfile::tempdir().expect("temporary folder");
        fs::write(root.path().join("small.yaml"), RECIPE).expect("recipe");
        Lab(root)
    }

    /// A folder with a finished run in `out`.
    pub fn with_run() -> Lab {
        let lab = Lab::new();
        let output = lab.scatterlab(&["run", "small.yaml", "--out", "out"]);
        assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
        lab
    }

    pub fn scatterlab(&self, arguments: &[&str]) -> Output {
        scatterlab(self.0.path(), arguments)
    }

    /// Runs the recipe with an engine that is a line of the shell.
    pub fn run(&self, engine: &str) -> Output {
        self.run_patiently(engine, "120")
    }

    /// Does not wait longer than these seconds for the engine to get on.
    pub fn run_patiently(&self, engine: &str, seconds: &str) -> Output {
        let mut run = program(self.0.path());
        let run = run.args(["run", "small.yaml", "--out", "out", "--engine", engine]);
        run.env("SCATTERLAB_HUNG_AFTER", seconds).output().expect("starts")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Rewrites a file.
    pub fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let before = self.read(name);
        let after = change(before.clone());
        assert_ne!(before, after, "nothing was changed");
        fs::write(self.path(name), after).expect("written");
    }

    pub fn statuses(&self, run: &str) -> Vec<Status> {
        let stored = Stored::open(&self.path(run)).expect("a run");
        stored.ledger.records().iter().map(|record| record.status.clone()).collect()
    }
}

/// The program's own engine behind a filter of its events.
pub fn filtered(filter: &str) -> String {
    format!("'{binary}' engine | {filter}", binary = binary())
}

/// The number of the first line of the events that holds these words, counted from 1.
pub fn line_of(events: &str, words: &str) -> usize {
    1 + events.lines().position(|line| line.contains(words)).expect("such a line")
}

#[test]
fn an_engine_that_hangs_and_chatters_is_killed_and_its_chatter_is_bounded() {
    let hello = format!("'{binary}' engine </dev/null | head -n 1", binary = binary());
    for chatter in [
        "while :; do echo chatter >&2; done",
        "while :; do echo '{\"event\":\"log\",\"level\":\"info\",\"text\":\"chatter\"}'; done",
        "while :; do echo chatter >&2; sleep 0.1; done",
    ] {
        let lab = Lab::new();
        let began = Instant::now();
        let output = lab.run_patiently(&format!("{hello}; {chatter}"), "1");
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
        assert!(said.contains("the engine died: hung: killed after 1 s without progress"), "{said}");
        assert!(began.elapsed() < Duration::from_secs(30), "{chatter}");
        let events = lab.read("out/events.ndjson");
        let kept = events.lines().filter(|line| line.contains("chatter")).count();
        assert!(kept <= 200, "{kept} lines");
        if !chatter.contains("sleep") {
            assert_eq!(kept, 200);
            assert!(said.contains(" lines of the engine were dropped: at most 200 are kept"), "{said}");
        }
    }
}

#[test]
fn an_engine_that_dies_again_and_again_is_given_up_with_its_reason() {
    let lab = Lab::new();
    let many = RECIPE.replace("elements: 64Ki", "elements: [1Ki, 2Ki, 4Ki, 8Ki]");
    let many = many.replace("x: kernel", "x: elements, lines: kernel");
    fs::write(lab.path("small.yaml"), many).expect("recipe");
    let output = lab.run(&filtered("sed -u '/\"stage\":\"sample\"/q'"));
    let (said, error) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(1), "{said}{error}");
    assert_eq!(said.matches("FAILED: the engine died: ").count(), 3, "{said}");
    assert_eq!(said.matches("; the run continues in a fresh engine").count(), 2, "{said}");
    assert_eq!(error.lines().count(), 1, "{error}");
    assert!(
        error.contains("given up: the engine died 3 times without a finished round in between"),
        "{error}"
    );
    assert!(
        error.contains("in between, most recently: ")
            && error.contains("to resume: scatterlab run --resume out")
    );
    assert_eq!(lab.read("out/events.ndjson").matches("\"event\":\"hello\"").count(), 3);
    let output = lab.scatterlab(&["run", "--resume", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn an_engine_that_dies_after_each_round_goes_on_to_the_end() {
    let lab = Lab::new();
    let output = lab.run(&filtered("sed -u '/\"event\":\"round\"/q'"));
    let said = text(&output.stdout);
    // Each engine finishes a round before it dies, so that none of the deaths counts against the next engine.
    assert!(!text(&output.stderr).contains("given up"), "{said}");
    assert_eq!(lab.read("out/events.ndjson").matches("\"event\":\"round\"").count(), 6, "{said}");
}

#[test]
fn a_case_over_its_time_limit_fails_and_the_others_go_on() {
    let lab = Lab::new();
    let recipe = "title: Two\nbackend: scalar\nchart: {x: kernel}\nexperiments:\n\
        - {title: Long, stream: {kernel: copy, elements: 64Ki}, \
           measure: {rounds: 1000, samples: 2, order: sequential, limit: 300ms}}\n\
        - {title: Short, stream: {kernel: triad, elements: 64Ki}, measure: {rounds: 2, samples: 2}}\n";
    fs::write(lab.path("two.yaml"), recipe).expect("recipe");
    let output = lab.scatterlab(&["run", "two.yaml", "--out", "out"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    assert!(said.contains("FAILED: over its time limit, 0.3 s (measure.limit), while "), "{said}");
    let statuses = lab.statuses("out");
    assert!(
        matches!(&statuses[0], Status::Failed(why) if why.starts_with("over its time limit")),
        "{statuses:?}"
    );
    assert_eq!(statuses[1], Status::Done);
    assert_eq!(lab.read("out/events.ndjson").matches("\"event\":\"hello\"").count(), 2, "a fresh engine");
    // It failed by itself: a resumed run does not try it again.
    let output = lab.scatterlab(&["run", "--resume", "out"]);
    assert!(text(&output.stdout).contains("the run is complete"), "{}", text(&output.stdout));
}

#[test]
fn a_report_that_cannot_be_true_fails_its_case() {
    for (filter, why) in [
        (
            "s/\"samples\":\\[[^]]*\\]/\"samples\":[1e-12,1e-12]/",
            "samples[0] of round 0 is 1e-12 s, below what a clock resolves",
        ),
        ("s/\"samples\":\\[[^]]*\\]/\"samples\":[0.001,-1]/", "samples[1] of round 0 is -1e0 s, no duration"),
        (
            "s/\"samples\":\\[[^]]*\\]/\"samples\":[0.001]/",
            "round 0 has 1 samples, measure.samples asks for 2",
        ),
        ("s/\"checked\":[0-9]*/\"checked\":0/", "the certificate of round 0 checked 0 elements of 65536"),
    ] {
        let lab = Lab::new();
        let output = lab.run(&filtered(&format!("sed -u '{filter}'")));
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
        assert!(said.contains(&format!("FAILED: not credible: {why}")), "{said}");
        assert!(said.contains("0 certified, 2 failed"), "{said}");
        let results = lab.read("out/results.csv");
        assert!(!results.contains("certified") && results.matches("not credible").count() == 2, "{results}");
        assert!(
            !lab.read("out/events.ndjson").contains("\"event\":\"skipped\""),
            "it is not the user who skipped it"
        );
    }
}

#[test]
fn a_report_on_a_case_that_is_not_in_the_plan_is_no_report() {
    let lab = Lab::new();
    let output =
        lab.run(&filtered("sed -u '/\"event\":\"round\"/s/\"case\":\"[0-9a-f]*\"/\"case\":\"elsewhere\"/'"));
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    assert!(said.contains("it reported on a case that is not in the plan, elsewhere: killed"), "{said}");
    assert!(!lab.read("out/results.csv").contains("certified"));
}

#[test]
fn an_edited_parameter_is_found_when_the_run_is_opened() {
    let lab = Lab::with_run();
    assert_eq!(lab.statuses("out"), [Status::Done, Status::Done]);
    lab.edit("out/manifest.json", |text| text.replacen("65536", "6553600000", 1));
    let told =
        "out/manifest.json: plan.cases[0] was edited: its primitive, params and seed give the identity ";
    for command in [
        &["report", "out"][..],
        &["watch", "out", "--headless", "--speed", "max"],
        &["compare", "out", "out"],
    ] {
        let output = lab.scatterlab(command);
        let error = text(&output.stderr);
        assert!(error.contains(&format!("scatterlab: warning: {told}")), "{command:?}: {error}");
    }
    let output = lab.scatterlab(&["report", "out"]);
    assert!(text(&output.stdout).contains("1 certified, 1 failed"), "{}", text(&output.stdout));
    let output = lab.scatterlab(&["watch", "out", "--headless", "--speed", "max"]);
    assert!(text(&output.stdout).contains("1 certified, 1 failed"), "{}", text(&output.stdout));
    assert!(lab.read("out/results.csv").contains("plan.cases[0] was edited"));
}

#[test]
fn a_plan_whose_case_names_no_experiment_is_refused() {
    let lab = Lab::with_run();
    let manifest: serde_json::Value = serde_json::from_str(&lab.read("out/manifest.json")).expect("JSON");
    let mut plan = manifest["plan"].clone();
    plan["cases"][0]["experiment"] = 99.into();
    let why = "plan.cases[0].experiment is 99; accepted: below 1, the number of experiments";
    let mut engine = Command::new(binary());
    let engine = engine.arg("engine").env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1");
    let mut engine =
        engine.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("starts");
    let command = serde_json::json!({ "command": "run", "plan": plan });
    writeln!(engine.stdin.take().expect("a pipe"), "{command}").expect("written");
    let output = engine.wait_with_output().expect("ends");
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains(&format!("unreadable command: {why}")), "{}", text(&output.stdout));
    lab.edit("out/manifest.json", |text| text.replacen("\"experiment\": 0", "\"experiment\": 99", 1));
    let output = lab.scatterlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), format!("scatterlab: out/manifest.json is damaged: {why}\n"));
}

#[test]
fn a_long_line_on_an_engines_input_is_dropped_and_counted() {
    let line = format!(
        "(head -c 300M /dev/zero | tr '\\0' x; echo; echo '{{\"command\":\"ping\",\"number\":7}}') | '{binary}' engine",
        binary = binary()
    );
    let mut engine = Command::new("sh");
    let output = engine
        .args(["-c", &line])
        .env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1")
        .output()
        .expect("starts");
    let said = text(&output.stdout);
    assert!(said.contains("unreadable command: a line of 300 MiB; accepted: up to 128 MiB"), "{said}");
    assert!(said.contains("{\"event\":\"pong\",\"number\":7}"), "{said}");
}

#[test]
fn a_changed_line_fails_its_case_until_it_is_measured_again() {
    let lab = Lab::with_run();
    let events = lab.read("out/events.ndjson");
    let line = line_of(&events, "\"event\":\"round\"");
    // A digit of a time: the line is still an event.
    lab.edit("out/events.ndjson", |text| {
        let at = text.find("\"samples\":[").expect("samples") + "\"samples\":[".len();
        let digit = text[at..].find(|c: char| ('1'..='8').contains(&c)).expect("a digit") + at;
        let other = char::from(text.as_bytes()[digit] + 1);
        format!("{}{other}{}", &text[..digit], &text[digit + 1..])
    });
    let warning =
        format!("scatterlab: warning: out/events.ndjson:{line}: the line was changed after it was written");
    for command in [
        &["report", "out"][..],
        &["watch", "out", "--headless", "--speed", "max"],
        &["compare", "out", "out"],
        &["accuracy", "out"],
    ] {
        let error = text(&lab.scatterlab(command).stderr);
        assert!(error.contains(&warning), "{command:?}: {error}");
        assert_eq!(error.matches("warning").count(), if command[0] == "compare" { 2 } else { 1 }, "{error}");
    }
    let output = lab.scatterlab(&["report", "out"]);
    let words = format!("FAILED: events.ndjson:{line}: the line was changed after it was written");
    assert!(text(&output.stdout).contains(&words), "{}", text(&output.stdout));
    assert!(text(&output.stdout).contains("1 certified, 1 failed"), "{}", text(&output.stdout));
    let output = lab.scatterlab(&["run", "--resume", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert!(text(&output.stderr).contains(&warning), "{}", text(&output.stderr));
    assert_eq!(lab.statuses("out"), [Status::Done, Status::Done]);
    // The chain goes on over the resumption: only the changed line is broken.
    assert_eq!(Stored::open(&lab.path("out")).expect("a run").log.integrity.broken, 1);
}

#[test]
fn a_missing_line_is_told_and_a_torn_one_is_none() {
    let lab = Lab::with_run();
    let whole = lab.read("out/events.ndjson");
    fs::write(lab.path("out/events.ndjson"), format!("{whole}{{\"event\":\"fin")).expect("written");
    assert_eq!(
        text(&lab.scatterlab(&["report", "out"]).stderr),
        "",
        "a torn last line was never acknowledged"
    );
    let line = line_of(&whole, "\"event\":\"round\"");
    let without: String = whole
        .lines()
        .enumerate()
        .filter(|(at, _)| at + 1 != line)
        .map(|(_, line)| format!("{line}\n"))
        .collect();
    fs::write(lab.path("out/events.ndjson"), without).expect("written");
    let output = lab.scatterlab(&["report", "out"]);
    let warning =
        format!("warning: out/events.ndjson:{line}: the line before it is missing, moved or changed");
    assert!(text(&output.stderr).contains(&warning), "{}", text(&output.stderr));
    fs::write(lab.path("out/events.ndjson"), whole).expect("written");
    let output = lab.scatterlab(&["pack", "out"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let integrity = Stored::open(&lab.path("out")).expect("a packed run").log.integrity;
    assert_eq!((integrity.broken, integrity.unchecked), (0, 0));
}

#[test]
fn one_bad_line_costs_that_line_only() {
    let lab = Lab::with_run();
    let line = line_of(&lab.read("out/events.ndjson"), "\"event\":\"started\"");
    lab.edit("out/events.ndjson", |text| {
        text.replacen("{\"event\":\"started\"", "{\"ev\0nt\":\"started\"", 1)
    });
    let damaged = lab.read("out/events.ndjson");
    let output = lab.scatterlab(&["report", "out"]);
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    let told = format!("out/events.ndjson:{line}: not an event that this version knows: ");
    assert!(
        error.contains(&told) && error.contains("; to keep the other lines: scatterlab salvage out"),
        "{error}"
    );
    let output = lab.scatterlab(&["salvage", "out"]);
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(
        said.contains(&format!("out/events.ndjson:{line}: dropped: not an event that this version knows")),
        "{said}"
    );
    assert!(said.contains("dropped 1 → out-salvaged"), "{said}");
    assert_eq!(lab.read("out/events.ndjson"), damaged, "the run is as it was");
    let output = lab.scatterlab(&["report", "out-salvaged"]);
    assert!(text(&output.stdout).contains("2 certified"), "{}", text(&output.stdout));
    let output = lab.scatterlab(&["salvage", "out", "--out", "out-salvaged"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("out-salvaged already exists; give --out another folder"));
    let output = lab.scatterlab(&["salvage", "out-salvaged", "--out", "again"]);
    assert!(text(&output.stdout).contains("can be read; nothing to salvage"), "{}", text(&output.stdout));
    assert!(!lab.path("again").exists());
}

#[test]
fn a_folder_that_cannot_be_written_shows_its_table_all_the_same() {
    let lab = Lab::with_run();
    // A folder in place of the table cannot be overwritten, not even by root.
    fs::remove_file(lab.path("out/results.csv")).expect("removed");
    fs::create_dir_all(lab.path("out/results.csv/x")).expect("a folder");
    let output = lab.scatterlab(&["report", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("GB/s"), "{}", text(&output.stdout));
    assert!(text(&output.stderr).contains("cannot write out/results.csv"), "{}", text(&output.stderr));
}

/// Runs of all versions: nothing in them is refused. Those of versions without checksums have nothing that vouches for
/// their lines, the others are as they were written.
#[test]
fn every_stored_run_of_the_repository_is_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = fs::read_dir(root.join("reports")).expect("reports").flatten().map(|entry| entry.path());
    let runs: Vec<PathBuf> = folders
        .chain([root.join("tests/fixtures/schema-1")])
        .filter(|path| path.join("manifest.json").exists())
        .collect();
    assert!(runs.len() > 20, "{}", runs.len());
    for path in runs {
        let run = Stored::open(&path).unwrap_or_else(|error| panic!("{}: {error:#}", path.display()));
        assert_eq!(run.warnings, [""; 0], "{}", path.display());
        let integrity = &run.log.integrity;
        assert!(integrity.is_unchecked() || integrity.warning(&path).is_none(), "{}", path.display());
        for record in run.ledger.records() {
            let refused = matches!(&record.status, Status::Failed(why) if why.contains("not credible") || why.contains("edited"));
            assert!(!refused, "{}: {:?}", path.display(), record.status);
        }
    }
    let output = scatterlab(root, &["watch", "reports/h200-sanity", "--headless", "--speed", "max"]);
    assert!(
        text(&output.stdout).contains("6 certified") && output.stderr.is_empty(),
        "{}",
        text(&output.stdout)
    );
}
