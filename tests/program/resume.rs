//! Runs that end early: the engine killed, the client killed, the disk full, the folder gone. Nothing on file
//! is lost or measured again.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use scatterlab::engine::protocol::{Event, Level};
use scatterlab::run::stored::each_event;
use scatterlab_tests::program::{
    binary, engine_of, program, rounds_in, scatterlab, signal, text, try_signal, wait_for_rounds,
};

/// Many cases and few rounds, so that the run can be interrupted in the middle.
const MANY: &str = "\
title: Many
stream: {kernel: [copy, scale, add, triad], elements: 8Ki..16Ki +1Ki}
backend: scalar
chart: {x: elements, y: bandwidth, lines: kernel}
measure: {rounds: 3, samples: 2, ci: none}
";
const CASES: usize = 36;
const ROUNDS: usize = 3 * CASES;

fn start(folder: &Path) -> Child {
    fs::write(folder.join("many.yaml"), MANY).expect("recipe");
    let run = program(folder)
        .args(["run", "many.yaml", "--out", "out"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    run.expect("starts")
}

fn events(run: &Path) -> Vec<Event> {
    let mut events = Vec::new();
    each_event(run, |line| {
        assert!(line.at.is_some());
        events.push(line.event);
    })
    .expect("readable");
    events
}

/// How often each attempt at each round is on file, and whether its samples are doubtful.
fn attempts(run: &Path) -> BTreeMap<(String, u32, u32), (usize, bool)> {
    let mut attempts = BTreeMap::new();
    for event in events(run) {
        if let Event::Round { result, .. } = event {
            let key = (result.case, result.round, result.attempt);
            attempts.entry(key).or_insert((0, !result.flags.is_empty())).0 += 1;
        }
    }
    attempts
}

/// Checks that every round of every case is on file once, and a second look at every doubtful one.
fn assert_whole(run: &Path) {
    let attempts = attempts(run);
    assert!(attempts.values().all(|(times, _)| *times == 1), "measured twice: {attempts:?}");
    let firsts: Vec<_> = attempts.iter().filter(|((_, _, attempt), _)| *attempt == 0).collect();
    assert_eq!(firsts.len(), ROUNDS);
    for ((case, round, _), (_, doubtful)) in firsts {
        let second = attempts.contains_key(&(case.clone(), *round, 1));
        assert_eq!(second, *doubtful, "{case}, round {round}");
    }
    let results = fs::read_to_string(run.join("results.csv")).expect("results");
    assert_eq!(results.matches(",certified,").count(), CASES, "{results}");
}

/// Resumes `out` and runs it to its end.
fn resume(root: &Path) -> String {
    let output = scatterlab(root, &["run", "--resume", "out"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert_whole(&root.join("out"));
    said
}

fn wait_until_gone(process: u32) {
    let deadline = Instant::now() + Duration::from_secs(20);
    // A zombie that nobody reaps counts as gone.
    let gone = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
        status.is_empty() || status.contains("State:\tZ")
    };
    while !gone() {
        assert!(Instant::now() < deadline, "process {process} is still there");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_killed_client_loses_nothing() {
    let root = tempfile::tempdir().expect("temporary folder");
    let out = root.path().join("out");
    let mut run = start(root.path());
    wait_for_rounds(&out.join("events.ndjson"), 20);
    let engine = engine_of(&run);
    signal(run.id(), "-KILL");
    run.wait().expect("ends");
    wait_until_gone(engine);
    let before = attempts(&out);
    assert!(before.len() >= 20 && before.len() < ROUNDS, "{}", before.len());
    // As if the machine had gone down in the middle of a line.
    let mut log = OpenOptions::new().append(true).open(out.join("events.ndjson")).expect("events");
    log.write_all(b"{\"event\":\"round\",\"seq\":9").expect("written");
    let said = resume(root.path());
    assert!(said.contains(" rounds on file"), "{said}");
    assert!(before.keys().all(|key| attempts(&out).contains_key(key)));
    let length = fs::metadata(out.join("events.ndjson")).expect("events").len();
    let said = resume(root.path());
    assert!(said.contains("the run is complete: 36 certified") && !said.contains("→ results.csv"), "{said}");
    for lacking in ["samples.csv", "many.svg"] {
        fs::remove_file(out.join(lacking)).expect("it was there");
        let said = resume(root.path());
        assert!(said.contains("→ results.csv") && out.join(lacking).is_file(), "{lacking}: {said}");
    }
    assert_eq!(fs::metadata(out.join("events.ndjson")).expect("events").len(), length);
}

#[test]
fn a_case_that_was_lost_with_its_engine_gets_another_try() {
    let root = tempfile::tempdir().expect("temporary folder");
    let run = start(root.path());
    wait_for_rounds(&root.path().join("out/events.ndjson"), 10);
    // Between two cases nothing is lost; then the next engine must be killed as well, once it has made
    // progress: a run gives up on engines that make none.
    let log = root.path().join("out/events.ndjson");
    for _ in 0..20 {
        let engine = engine_of(&run);
        if try_signal(engine, "-KILL") {
            wait_until_gone(engine);
        }
        if events(&root.path().join("out")).iter().any(|e| matches!(e, Event::Failed { lost: true, .. })) {
            break;
        }
        wait_for_rounds(&log, rounds_in(&log) + 1);
    }
    let output = run.wait_with_output().expect("ends");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("failed") && said.contains("to resume: scatterlab run --resume out"), "{said}");
    let said = resume(root.path());
    assert!(said.contains(": another try"), "{said}");
    let lost = |e: &&Event| matches!(e, Event::Failed { lost: true, .. });
    let retried = |e: &&Event| matches!(e, Event::Retried { .. });
    let events = events(&root.path().join("out"));
    assert!(events.iter().filter(lost).count() > 0);
    assert_eq!(events.iter().filter(lost).count(), events.iter().filter(retried).count());
}

#[test]
fn one_run_has_one_client_at_a_time() {
    let root = tempfile::tempdir().expect("temporary folder");
    let run = start(root.path());
    wait_for_rounds(&root.path().join("out/events.ndjson"), 5);
    signal(run.id(), "-STOP");
    let output = scatterlab(root.path(), &["run", "--resume", "out"]);
    signal(run.id(), "-CONT");
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(error.contains("out/events.ndjson: another scatterlab is writing this run"), "{error}");
    assert!(run.wait_with_output().expect("ends").status.success());
    assert_whole(&root.path().join("out"));
}

/// A limit on file sizes simulates a full disk.
#[test]
fn a_full_disk_ends_the_run_with_one_line_that_says_how_to_go_on() {
    let root = tempfile::tempdir().expect("temporary folder");
    fs::write(root.path().join("many.yaml"), MANY).expect("recipe");
    let limited = |command: &str| {
        let line = format!("ulimit -f 20; exec '{binary}' {command}", binary = binary());
        Command::new("bash").args(["-c", &line]).current_dir(root.path()).output().expect("starts")
    };
    for command in ["run many.yaml --out out", "run --resume out"] {
        let output = limited(command);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        let error = text(&output.stderr);
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("cannot write out/events.ndjson: File too large"), "{error}");
        assert!(error.contains("to resume: scatterlab run --resume out"), "{error}");
        assert!(fs::read(root.path().join("out/events.ndjson")).expect("events").ends_with(b"\n"));
    }
    assert!(attempts(&root.path().join("out")).len() > 5);
    resume(root.path());
}

#[test]
fn a_folder_that_is_moved_away_stops_the_run_and_goes_on_there() {
    let root = tempfile::tempdir().expect("temporary folder");
    let run = start(root.path());
    wait_for_rounds(&root.path().join("out/events.ndjson"), 10);
    let engine = engine_of(&run);
    fs::rename(root.path().join("out"), root.path().join("moved")).expect("moved");
    let output = run.wait_with_output().expect("ends");
    let error = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("cannot write out/events.ndjson: the folder was moved or removed"), "{error}");
    assert_eq!(error.lines().count(), 1, "{error}");
    wait_until_gone(engine);
    fs::rename(root.path().join("moved"), root.path().join("out")).expect("moved back");
    resume(root.path());
}

/// A folder in place of the table cannot be overwritten, not even by root.
#[test]
fn tables_that_cannot_be_written_cost_no_results_and_are_no_success() {
    let root = tempfile::tempdir().expect("temporary folder");
    let out = root.path().join("out");
    let run = start(root.path());
    wait_for_rounds(&out.join("events.ndjson"), 5);
    // A slow run may already have written the table.
    while fs::create_dir_all(out.join("results.csv/x")).is_err() {
        fs::remove_file(out.join("results.csv")).expect("removed");
    }
    let output = run.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    let error = text(&output.stderr);
    assert!(
        error.contains("cannot write out/results.csv") && error.contains("scatterlab report out"),
        "{error}"
    );
    assert_eq!(error.lines().count(), 1, "{error}");
    fs::remove_dir_all(out.join("results.csv")).expect("removed");
    assert!(scatterlab(root.path(), &["report", "out"]).status.success());
    assert_whole(&out);
}

#[test]
fn another_machine_is_told_and_the_first_one_kept() {
    let root = tempfile::tempdir().expect("temporary folder");
    let out = root.path().join("out");
    let mut run = start(root.path());
    wait_for_rounds(&out.join("events.ndjson"), 5);
    signal(run.id(), "-KILL");
    run.wait().expect("ends");
    let manifest = fs::read_to_string(out.join("manifest.json")).expect("manifest");
    let mut elsewhere: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
    elsewhere["environment"]["host"] = "elsewhere".into();
    let elsewhere = elsewhere.to_string();
    fs::write(out.join("manifest.json"), &elsewhere).expect("written");
    let said = resume(root.path());
    assert!(said.contains("warning: changed since the run began: host is "), "{said}");
    assert!(said.contains(", was elsewhere"), "{said}");
    let warned =
        |e: &Event| matches!(e, Event::Log { level: Level::Warn, text } if text.contains("elsewhere"));
    let events = events(&out);
    assert_eq!(events.iter().filter(|e| warned(e)).count(), 1);
    assert_eq!(events.iter().filter(|e| matches!(e, Event::Hello { .. })).count(), 2);
    assert_eq!(fs::read_to_string(out.join("manifest.json")).expect("manifest"), elsewhere);
}

/// The run begins on a machine with a GPU and is resumed on one without.
#[test]
fn a_missing_device_ends_the_run_and_gives_nothing_up() {
    let root = tempfile::tempdir().expect("temporary folder");
    let out = root.path().join("out");
    let text_of = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    let small = MANY
        .replace("backend: scalar", "backend: [scalar, cuda]")
        .replace("lines: kernel", "lines: [kernel, backend]");
    let small = small.replace("16Ki", "9Ki");
    fs::write(root.path().join("small.yaml"), small).expect("recipe");
    let command = |arguments: &[&str]| {
        let mut command = Command::new(binary());
        command.args(arguments).env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1");
        command.current_dir(root.path()).output().expect("starts")
    };
    assert!(command(&["run", "small.yaml", "--out", "out"]).status.success());
    // As if the GPU had been there, but no result of its cases had arrived.
    let mut manifest: serde_json::Value = serde_json::from_str(&text_of("manifest.json")).expect("JSON");
    for device in manifest["devices"].as_array_mut().expect("devices") {
        device["availability"] = "available".into();
    }
    fs::write(out.join("manifest.json"), manifest.to_string()).expect("written");
    let whole = text_of("events.ndjson");
    let taken_out = |line: &str| line.contains("\"event\":\"not-applicable\"");
    let before = whole.lines().take_while(|line| !taken_out(line)).count();
    let kept: String =
        whole.lines().filter(|line| !taken_out(line)).map(|line| format!("{line}\n")).collect();
    fs::write(out.join("events.ndjson"), kept).expect("written");
    let missed =
        format!("warning: out/events.ndjson:{}: the line before it is missing, moved or changed", before + 1);
    for _ in 0..2 {
        let output = command(&["run", "--resume", "out"]);
        assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
        let error = text(&output.stderr);
        // The lines that were taken out are missed.
        assert_eq!(error.lines().filter(|line| !line.contains("warning: ")).count(), 1, "{error}");
        assert!(error.contains(&missed), "{error}");
        assert!(error.contains("cuda is no longer there (") && error.contains("8 cases are left"), "{error}");
        assert!(error.contains("to resume: scatterlab run --resume out"), "{error}");
        assert!(!events(&out).iter().any(|event| matches!(event, Event::NotApplicable { .. })));
        assert!(!text_of("results.csv").contains(",n/a,"), "{}", text_of("results.csv"));
    }
}

#[test]
fn what_a_stored_run_has_decided_cannot_be_changed() {
    let root = tempfile::tempdir().expect("temporary folder");
    for more in
        [&["x.yaml"][..], &["--set", "tuples=1"], &["--backend", "cpu"], &["--out", "b"], &["--only", "a"]]
    {
        let output = scatterlab(root.path(), &[&["run", "--resume", "out"], more].concat());
        assert_eq!(output.status.code(), Some(2), "{more:?}");
        assert!(text(&output.stderr).contains("cannot be used with"), "{}", text(&output.stderr));
    }
    let output = scatterlab(root.path(), &["run", "--resume", "out"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(text(&output.stderr), "scatterlab: out: no such folder\n");
    fs::create_dir(root.path().join("out")).expect("a folder");
    let output = scatterlab(root.path(), &["run", "--resume", "out"]);
    assert_eq!(text(&output.stderr), "scatterlab: out holds no run: there is no manifest.json\n");
}

/// The columns of `results.csv` by name, one map for each row.
fn rows(run: &Path) -> Vec<BTreeMap<String, String>> {
    let mut reader = csv::Reader::from_path(run.join("results.csv")).expect("results");
    let rows = reader.deserialize::<BTreeMap<String, String>>();
    rows.map(|row| row.expect("a row")).collect()
}

/// The median of the rounds' medians by case, over the rounds that follow `from`.
fn medians(events: &[Event]) -> BTreeMap<String, f64> {
    let mut rounds: BTreeMap<String, BTreeMap<u32, f64>> = BTreeMap::new();
    let middle = |mut values: Vec<f64>| {
        values.sort_by(f64::total_cmp);
        let half = values.len() / 2;
        if values.len() % 2 == 1 { values[half] } else { (values[half - 1] + values[half]) / 2.0 }
    };
    for event in events {
        let Event::Round { result, .. } = event else { continue };
        // A second look counts if nothing disturbed it.
        if result.attempt == 0 || result.flags.is_empty() {
            rounds
                .entry(result.case.clone())
                .or_default()
                .insert(result.round, middle(result.samples.clone()));
        }
    }
    rounds.into_iter().map(|(case, rounds)| (case, middle(rounds.into_values().collect()))).collect()
}

/// A run begins on one CPU and is resumed on all of them.
#[test]
fn rounds_on_other_processors_are_never_pooled() {
    let cpus = scatterlab::engine::environment::read().affinity;
    let [first, _, ..] = cpus[..] else {
        eprintln!("skipped: there is one CPU only");
        return;
    };
    let root = tempfile::tempdir().expect("temporary folder");
    let out = root.path().join("out");
    let recipe = MANY.replace("backend: scalar", "backend: cpu").replace("16Ki", "9Ki");
    fs::write(root.path().join("many.yaml"), recipe).expect("recipe");
    let on_one = Command::new("taskset")
        .args(["-c", &first.to_string(), binary(), "run", "many.yaml", "--out", "out"])
        .env("SCATTERLAB_LIBCUDA", "/nonexistent/libcuda.so.1")
        .current_dir(root.path())
        .stdout(Stdio::piped())
        .spawn();
    let mut run = on_one.expect("taskset starts");
    wait_for_rounds(&out.join("events.ndjson"), 10);
    signal(run.id(), "-KILL");
    run.wait().expect("ends");
    let text_of = |name: &str| fs::read_to_string(out.join(name)).expect(name);
    let all = cpus.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let change = format!("affinity is {all}, was {first}");

    let before = text_of("events.ndjson");
    let refused = scatterlab(root.path(), &["run", "--resume", "out", "--strict"]);
    let error = text(&refused.stderr);
    assert_eq!((refused.status.code(), error.lines().count()), (Some(1), 1), "{error}");
    assert!(error.contains(&change) && error.contains("--strict sets nothing aside"), "{error}");
    assert_eq!(text_of("events.ndjson"), before, "a refusal changes nothing");

    let output = scatterlab(root.path(), &["run", "--resume", "out"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains("warning: set aside: ") && said.contains(&change), "{said}");
    assert!(text_of("events.ndjson").starts_with(&before), "what was measured stays on file");

    let events = events(&out);
    let marks = |event: &Event| matches!(event, Event::SetAside { .. });
    let last = events.iter().rposition(marks).expect("set aside");
    let old = events[..last].iter().filter(|event| matches!(event, Event::Round { .. })).count();
    assert!(old >= 10 && said.contains(&format!("{old} rounds set aside")), "{old}: {said}");
    let new = medians(&events[last..]);
    let (rows, mut aside) = (rows(&out), 0);
    assert_eq!(rows.len(), 8);
    for row in &rows {
        let (case, median): (_, f64) = (&row["case"], row["median_s"].parse().expect("a number"));
        assert!(
            (median / new[case] - 1.0).abs() < 1e-12,
            "{case}: {median}, of the new rounds {}",
            new[case]
        );
        assert_eq!((row["rounds"].as_str(), row["verification"].as_str()), ("3", "certified"), "{case}");
        assert_eq!(row["resolved.threads"], cpus.len().to_string());
        aside += row["rounds_set_aside"].parse::<usize>().expect("a number");
    }
    assert_eq!(aside, old);
    assert!(text_of("many.svg").contains(&format!("Set aside: {old} rounds of ")), "{}", text_of("many.svg"));
    // The manifest describes the machine of what counts: another resumption finds nothing changed.
    let again = scatterlab(root.path(), &["run", "--resume", "out", "--strict"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
    let manifest: serde_json::Value = serde_json::from_str(&text_of("manifest.json")).expect("JSON");
    assert_eq!(manifest["environment"]["affinity"], serde_json::json!(cpus));
}
