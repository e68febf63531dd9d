//! Stored runs whose event log has lines without a checksum among lines that have one.

use std::fs;

use scatterlab::run::Status;
use scatterlab::run::stored::Stored;
use scatterlab_tests::program::text;
use serde_json::{Value, json};

use crate::misbehaving::{Lab, line_of};

const NO_CHECKSUM: &str = "the line has no checksum, unlike others of this log";

/// Rewrites the lines of the event log.
fn edit_lines(lab: &Lab, change: impl FnOnce(&mut Vec<String>)) {
    lab.edit("out/events.ndjson", |text| {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        change(&mut lines);
        lines.iter().map(|line| format!("{line}\n")).collect()
    });
}

/// The place of the first line that holds these words.
fn place(lines: &[String], words: &str) -> usize {
    lines.iter().position(|line| line.contains(words)).expect("such a line")
}

/// The line without its checksum, changed.
fn bare(line: &str, change: impl FnOnce(&mut Value)) -> String {
    let mut event: Value = serde_json::from_str(line).expect("an event");
    event.as_object_mut().expect("an object").remove("chain").expect("a checksum");
    change(&mut event);
    event.to_string()
}

fn halve(event: &mut Value) {
    for sample in event["result"]["samples"].as_array_mut().expect("samples") {
        *sample = json!(sample.as_f64().expect("a number") / 2.0);
    }
}

/// The events of the first case that the log has a round of.
fn first_round(lines: &[String]) -> usize {
    place(lines, "\"event\":\"round\"")
}

#[test]
fn a_result_without_a_checksum_fails_its_case() {
    type Change = fn(&mut Vec<String>);
    let kinds: [(&str, Change); 7] = [
        ("its samples halved", |lines| {
            let at = first_round(lines);
            lines[at] = bare(&lines[at], halve);
        }),
        ("a second attempt", |lines| {
            let at = first_round(lines);
            let line = bare(&lines[at], |event| {
                halve(event);
                event["result"]["attempt"] = json!(1);
            });
            lines.insert(at + 1, line);
        }),
        ("a round more", |lines| {
            let at = first_round(lines);
            let line = bare(&lines[at], |event| event["result"]["round"] = json!(77));
            lines.insert(at + 1, line);
        }),
        ("at the end", |lines| {
            let line = bare(&lines[first_round(lines)], |event| event["result"]["attempt"] = json!(1));
            lines.push(line);
        }),
        ("a case that cannot run", |lines| {
            let at = first_round(lines);
            let round: Value = serde_json::from_str(&lines[at]).expect("an event");
            let case = round["result"]["case"].clone();
            let absent = json!({"event": "not-applicable", "seq": 1, "case": case, "reason": "too slow"});
            lines.insert(at, absent.to_string());
        }),
        ("every line up to its own", |lines| {
            let at = first_round(lines);
            for line in &mut lines[..=at] {
                *line = bare(line, |_| ());
            }
        }),
        ("all but the last line", |lines| {
            let last = lines.len() - 1;
            for line in &mut lines[..last] {
                *line = bare(line, |_| ());
            }
        }),
    ];
    for (kind, change) in kinds {
        let lab = Lab::with_run();
        edit_lines(&lab, change);
        let output = lab.scatterlab(&["report", "out"]);
        let (said, warned) = (text(&output.stdout), text(&output.stderr));
        let failed = if kind.starts_with("all") { "0 certified, 2 failed" } else { "1 certified, 1 failed" };
        assert!(said.contains(failed), "{kind}: {said}");
        assert!(
            said.contains(&format!(": {NO_CHECKSUM}")) && said.contains("FAILED: events.ndjson:"),
            "{kind}: {said}"
        );
        assert!(warned.contains(NO_CHECKSUM), "{kind}: {warned}");
        assert!(warned.contains("a case whose result it holds fails"), "{kind}: {warned}");
        assert!(lab.read("out/results.csv").contains(NO_CHECKSUM), "{kind}");
        let output = lab.scatterlab(&["watch", "out", "--headless", "--speed", "max"]);
        assert!(text(&output.stdout).contains(failed), "{kind}: {}", text(&output.stdout));
        let output = lab.scatterlab(&["run", "--resume", "out"]);
        assert!(output.status.success(), "{kind}: {}{}", text(&output.stdout), text(&output.stderr));
        assert_eq!(lab.statuses("out"), [Status::Done, Status::Done], "{kind}");
    }
}

#[test]
fn the_warning_names_the_line_itself() {
    let lab = Lab::with_run();
    let line = line_of(&lab.read("out/events.ndjson"), "\"event\":\"round\"");
    edit_lines(&lab, |lines| lines[line - 1] = bare(&lines[line - 1], halve));
    let warned = text(&lab.scatterlab(&["report", "out"]).stderr);
    assert!(
        warned.starts_with(&format!("scatterlab: warning: out/events.ndjson:{line}: {NO_CHECKSUM}")),
        "{warned}"
    );
    let output = lab.scatterlab(&["salvage", "out"]);
    let dropped = format!("out/events.ndjson:{line}: dropped: {NO_CHECKSUM}");
    assert!(text(&output.stdout).contains(&dropped), "{}", text(&output.stdout));
    let output = lab.scatterlab(&["run", "--resume", "out-salvaged"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
}

#[test]
fn a_line_without_a_checksum_reopens_and_sets_aside_nothing() {
    let lab = Lab::with_run();
    edit_lines(&lab, |lines| {
        let at = first_round(lines);
        let round: Value = serde_json::from_str(&lines[at]).expect("an event");
        let case = round["result"]["case"].clone();
        lines[at] = bare(&lines[at], halve);
        lines.insert(at + 1, json!({"event": "retried", "case": case, "rounds": 0}).to_string());
        lines.push(json!({"event": "set-aside", "case": case, "reason": "slow"}).to_string());
        lines.push(json!({"event": "reference", "pass": 0, "backend": "scalar", "copy": 1e5}).to_string());
    });
    let stored = Stored::open(&lab.path("out")).expect("a run");
    let failed = stored.ledger.records().iter().filter(|r| matches!(r.status, Status::Failed(_))).count();
    assert_eq!(failed, 1, "the case stays failed");
    let copies = stored.ledger.references().get("scalar").cloned().unwrap_or_default();
    assert!(!copies.contains(&1e5), "{copies:?}");
    assert_eq!(stored.log.integrity.foreign, 4);
}

#[test]
fn a_wrong_result_stays_wrong_without_its_checksum() {
    let lab = Lab::with_run();
    edit_lines(&lab, |lines| {
        let at = first_round(lines);
        lines[at] = bare(&lines[at], |event| {
            event["result"]["verdict"] = json!({"wrong": {"mistake": "out[3] is 7 instead of 4"}});
        });
    });
    assert!(
        lab.statuses("out").contains(&Status::Failed("wrong result: out[3] is 7 instead of 4".to_owned())),
        "{:?}",
        lab.statuses("out")
    );
}

#[test]
fn a_log_without_any_checksum_is_one_of_an_older_version() {
    let lab = Lab::with_run();
    edit_lines(&lab, |lines| lines.iter_mut().for_each(|line| *line = bare(line, |_| ())));
    let output = lab.scatterlab(&["report", "out"]);
    assert_eq!(text(&output.stderr), "");
    let said = text(&output.stdout);
    assert!(said.contains("2 certified") && said.contains("events unchecked"), "{said}");
    // A resumed run of an older version has its chain from there on, and what was before still counts.
    fs::remove_file(lab.path("out/results.csv")).expect("removed");
    edit_lines(&lab, |lines| {
        let at = lines.iter().rposition(|line| line.contains("\"event\":\"round\"")).expect("a round");
        lines.truncate(at);
    });
    let output = lab.scatterlab(&["run", "--resume", "out"]);
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    assert_eq!(lab.statuses("out"), [Status::Done, Status::Done]);
    assert_eq!(Stored::open(&lab.path("out")).expect("a run").warnings, [""; 0]);
}
