use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use super::{attempt, failed, manifest, plan, write};
use crate::case::Snapshot;
use crate::engine::protocol::{Environment, Event, Level, Stage};
use crate::run::layout::{EVENTS, Line, Manifest, SCHEMA};
use crate::run::stored::{Stored, each_event};
use crate::run::{Interrupted, Ledger};

fn append(path: &Path, bytes: &[u8]) {
    let mut events = OpenOptions::new().append(true).open(path.join(EVENTS)).expect("events");
    events.write_all(bytes).expect("written");
}

fn lines(path: &Path) -> Vec<Line> {
    let mut lines = Vec::new();
    each_event(path, |line| lines.push(line)).expect("events");
    lines
}

#[test]
fn every_event_is_read_as_it_was_written_and_when() {
    let root = tempfile::tempdir().expect("temporary folder");
    let plan = plan("rounds: 1, ci: none");
    let id = plan.cases[0].id.clone();
    let events = [
        Event::Hello {
            protocol: 2,
            version: "0.1.0".into(),
            revision: "abc".into(),
            devices: Vec::new(),
            environment: Environment { affinity: vec![0, 3], ..Environment::default() },
            profiles: Vec::new(),
        },
        Event::Started { cases: 4, rounds: 1 },
        Event::Progress { case: id.clone(), round: 0, stage: Stage::WarmUp, making: None },
        Event::Reference { pass: 0, backend: "scalar".into(), copy: 0.1 + 0.2, ranked: Vec::new() },
        Event::Snapshot {
            case: id.clone(),
            round: 0,
            picture: Snapshot::curve("step", "vertices in the frontier", vec![1.0, 1e7, 0.1 + 0.2]),
        },
        attempt(&plan, 0, 0, 0, 1.0 / 3.0, true),
        attempt(&plan, 0, 0, 1, 1e-9, false),
        Event::NotApplicable { seq: 3, case: id.clone(), reason: "needs 12 GiB, 9 free".into() },
        failed(&plan, 1, true),
        failed(&plan, 2, false),
        Event::Skipped { seq: 6, case: id.clone() },
        Event::Retried { case: id.clone(), rounds: 0 },
        Event::Retried { case: id, rounds: 7 },
        Event::Paused,
        Event::Continued,
        Event::Probed { backend: "cpu".into(), copy: None, reason: Some("none".into()), free: Some(1 << 30) },
        Event::Log { level: Level::Warn, text: "a\nline \"quoted\" µ".into() },
        Event::Finished { cancelled: true },
    ];
    let before = crate::engine::clock::epoch();
    write(root.path(), &plan, &events);
    let lines = lines(root.path());
    assert_eq!(lines.iter().map(|line| line.event.clone()).collect::<Vec<_>>(), events);
    assert!(
        lines.iter().all(|line| line.at >= before && line.at <= crate::engine::clock::epoch()),
        "{lines:?}"
    );
    assert!(lines.is_sorted_by_key(|line| line.at.map(f64::to_bits)));
}

#[test]
fn lines_without_a_time_are_those_of_old_runs() {
    let line: Line = serde_json::from_str(r#"{"event":"finished","cancelled":false}"#).expect("an event");
    assert_eq!(line, Line { event: Event::Finished { cancelled: false }, at: None });
    assert_eq!(serde_json::to_string(&line).expect("text"), r#"{"event":"finished","cancelled":false}"#);
}

#[test]
fn a_torn_last_line_is_cut_off_and_nothing_else() {
    let root = tempfile::tempdir().expect("temporary folder");
    let plan = plan("rounds: 1, ci: none");
    write(root.path(), &plan, &[attempt(&plan, 0, 0, 0, 1.0, false)]);
    let whole = fs::read(root.path().join(EVENTS)).expect("events");
    // Without its newline even a complete event is torn: it was never acknowledged.
    for torn in [&b"{\"event\":\"rou"[..], b"\0\0\0\0", b"{\"event\":\"finished\",\"cancelled\":false}"] {
        append(root.path(), torn);
        let stored = Stored::open(root.path()).expect("a run");
        assert_eq!((stored.log.whole, stored.ledger.records()[0].rounds.len()), (whole.len() as u64, 1));
        drop(Interrupted::open(root.path()).expect("a run"));
        assert_eq!(fs::read(root.path().join(EVENTS)).expect("events"), whole);
    }
    append(root.path(), b"nonsense\n{\"event\":\"finished\",\"cancelled\":false}\n");
    let error = format!("{:#}", Interrupted::open(root.path()).expect_err("damaged"));
    assert!(error.contains("events.ndjson:2: not an event"), "{error}");
    assert!(fs::read(root.path().join(EVENTS)).expect("events").len() > whole.len(), "nothing was cut off");
}

#[test]
fn a_manifest_that_cannot_be_meant_is_refused() {
    let root = tempfile::tempdir().expect("temporary folder");
    let mut plan = plan("rounds: 1, ci: none");
    plan.cases[2].experiment = 7;
    write(root.path(), &plan, &[]);
    let error = Stored::open(root.path()).expect_err("damaged").to_string();
    assert!(error.contains("plan.cases[2].experiment is 7; accepted: below 1"), "{error}");
    let newer = Manifest { schema: SCHEMA + 1, ..manifest(plan) };
    fs::write(root.path().join("manifest.json"), serde_json::to_string(&newer).expect("text")).expect("it");
    let error = format!("{:#}", Stored::open(root.path()).expect_err("newer"));
    assert!(error.contains("newer than this program's"), "{error}");
}

#[test]
fn ten_thousand_rounds_are_what_they_were_one_by_one() {
    let root = tempfile::tempdir().expect("temporary folder");
    let text = "title: Large\nstream: {kernel: [read, write, copy, scale, add], elements: 1..400 +1}\n\
        backend: scalar\nchart: {x: elements, lines: kernel}\nmeasure: {rounds: 5, ci: none}\n";
    let recipe = crate::recipe::parse("large.yaml", text).expect("a recipe");
    let plan =
        crate::recipe::plan::resolve(&recipe, &crate::recipe::plan::Overrides::default()).expect("a plan");
    assert_eq!(plan.cases.len(), 2000);
    let mut ledger = Ledger::new(plan.clone());
    let mut events = Vec::new();
    for round in 0..5 {
        for case in 0..plan.cases.len() {
            let event = attempt(&plan, case, round, 0, 1.0 + f64::from(round) / 100.0, false);
            ledger.apply(&event);
            events.push(event);
        }
    }
    write(root.path(), &plan, &events);
    let stored = Stored::open(root.path()).expect("a run");
    assert_eq!(stored.ledger.records(), ledger.records());
    assert!(stored.ledger.is_complete());
}
