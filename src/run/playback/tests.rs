use std::fs;

use super::*;
use crate::engine::protocol::{RoundResult, Stage};
use crate::recipe;
use crate::recipe::plan::{Overrides, resolve};

fn line(event: Event, at: Option<f64>) -> Line {
    Line { event, at }
}

fn log(text: &str) -> Event {
    Event::Log { level: Level::Info, text: text.to_owned() }
}

fn progress() -> Event {
    Event::Progress { case: "a".into(), round: 0, stage: Stage::Sample, making: None }
}

fn round(started: f64) -> Event {
    let result = RoundResult { started, samples: vec![0.25, 0.25], batch: 2, ..RoundResult::default() };
    Event::Round { seq: 1, result }
}

fn hello() -> Event {
    Event::Hello {
        protocol: 2,
        version: String::new(),
        revision: String::new(),
        devices: Vec::new(),
        environment: Default::default(),
        profiles: Vec::new(),
    }
}

fn waits(lines: Vec<Line>) -> Vec<f64> {
    let mut pace = Pace::default();
    let mut events: Vec<(f64, Event)> = lines.into_iter().flat_map(|line| pace.take(line)).collect();
    events.extend(pace.rest());
    events.into_iter().map(|(wait, _)| wait).collect()
}

#[test]
fn events_keep_their_own_pace() {
    let lines = vec![line(log("a"), Some(10.0)), line(progress(), Some(10.5)), line(log("b"), Some(12.5))];
    assert_eq!(waits(lines), [0.0, 0.5, 2.0]);
    let backwards = vec![line(log("a"), Some(10.0)), line(log("b"), Some(9.0)), line(log("c"), Some(9.5))];
    assert_eq!(waits(backwards), [0.0, 0.0, 0.5], "a clock that was set back makes nobody wait");
}

#[test]
fn runs_of_the_first_schema_go_by_their_rounds() {
    let lines = vec![line(round(100.0), None), line(progress(), None), line(round(102.0), None)];
    assert_eq!(waits(lines), [0.0, 1.0, 1.0], "samples end a second after they began");
    assert_eq!(waits(vec![line(log("a"), None), line(log("b"), None)]), [UNTIMED, UNTIMED]);
}

#[test]
fn a_night_between_two_engines_is_not_waited_for() {
    let lines =
        vec![line(log("a"), Some(0.0)), line(hello(), Some(40_000.0)), line(log("b"), Some(40_002.0))];
    assert_eq!(waits(lines), [0.0, NOTHING_MEASURED, 2.0]);
}

#[test]
fn a_pause_is_not_waited_for_whatever_was_asked_meanwhile() {
    let skipped = Event::Skipped { seq: 1, case: "a".into() };
    let times = [0.0, 0.5, 40_000.0, 80_000.0, 80_002.0];
    let events = [log("a"), Event::Paused, skipped, Event::Continued, log("b")];
    let lines = events.into_iter().zip(times).map(|(event, at)| line(event, Some(at)));
    assert_eq!(waits(lines.collect()), [0.0, 0.5, NOTHING_MEASURED, NOTHING_MEASURED, 2.0]);
}

#[test]
fn no_more_is_held_back_than_is_bearable() {
    let mut pace = Pace::default();
    let released: usize = (0..10 * HELD).map(|_| pace.take(line(progress(), None)).len()).sum();
    assert!(released >= 9 * HELD && pace.held.len() < HELD, "{released}");
}

#[test]
fn a_speed_is_a_positive_number_or_max() {
    assert_eq!("10".parse(), Ok(Speed::Times(10.0)));
    assert_eq!("max".parse(), Ok(Speed::Max));
    for text in ["0", "-1", "", "fast", "NaN", "inf", "1e999"] {
        assert!(text.parse::<Speed>().is_err(), "{text}");
    }
}

fn plan() -> Plan {
    let text = "stream: {kernel: copy, elements: 1Ki}\nbackend: cpu\nchart: {x: elements}\n";
    resolve(&recipe::parse("test", text).expect("a recipe"), &Overrides::default()).expect("a plan")
}

fn folder(events: &[Event], rest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("temporary folder");
    let lines: Vec<String> =
        events.iter().map(|e| serde_json::to_string(e).expect("a line") + "\n").collect();
    fs::write(folder.path().join("events.ndjson"), lines.concat() + rest).expect("written");
    folder
}

fn start(folder: &tempfile::TempDir, speed: Speed) -> Running {
    let runner = WatchRunner { folder: folder.path().to_owned(), speed };
    runner.start(plan(), "").expect("a thread")
}

fn texts(running: &Running) -> Vec<String> {
    let word = |message: Message| match message {
        Message::Event(Event::Log { text, .. }) => text,
        Message::Event(Event::Finished { cancelled }) => format!("finished {cancelled}"),
        Message::Broken(reason) => reason,
        other => format!("{other:?}"),
    };
    running.messages.iter().map(word).collect()
}

#[test]
fn the_stored_events_are_told_in_their_order_and_the_folder_stays_as_it_is() {
    let folder = folder(&[log("a"), log("b"), Event::Finished { cancelled: false }], "{\"event\":\"lo");
    assert_eq!(texts(&start(&folder, Speed::Max)), ["a", "b", "finished false", "Over"]);
    let names: Vec<_> = fs::read_dir(folder.path()).expect("folder").filter_map(Result::ok).collect();
    assert_eq!(names.len(), 1);
}

#[test]
fn a_run_that_was_interrupted_says_so() {
    let told = texts(&start(&folder(&[log("a")], ""), Speed::Max));
    assert_eq!(told[1..], ["the stored events end here: this run was interrupted", "finished true", "Over"]);
    let told = texts(&start(&folder(&[log("a")], "nonsense\n"), Speed::Max));
    assert!(told[1].contains("events.ndjson:2: not an event") && told[2] == "Over", "{told:?}");
}

#[test]
fn it_can_be_held_and_ended() {
    // There is an hour between the two rounds.
    let events = [log("a"), round(1000.0), log("b"), round(5000.0), Event::Finished { cancelled: false }];
    // Events after the user's cancellation are not read.
    let folder = folder(&events, "nonsense\n");
    let running = start(&folder, Speed::Times(1.0));
    let next = || running.messages.recv_timeout(Duration::from_secs(20)).expect("a message");
    assert_eq!(next(), Message::Event(log("a")));
    assert!(matches!(next(), Message::Event(Event::Round { .. })));
    for control in [Control::Pause, Control::Pause, Control::Pause, Control::Cancel] {
        running.control.send(control).expect("it listens");
    }
    assert_eq!(next(), Message::Over, "also while it is held");
}

/// At such speeds the next event lies beyond the range of `Instant`.
#[test]
fn the_slowest_speeds_wait_and_can_be_ended() {
    for speed in [1e-3, 1e-16, 1e-300] {
        let events = [round(1000.0), round(1001.0), Event::Finished { cancelled: false }];
        let folder = folder(&events, "");
        let running = start(&folder, Speed::Times(speed));
        let next = || running.messages.recv_timeout(Duration::from_secs(20)).expect("a message");
        assert!(matches!(next(), Message::Event(Event::Round { .. })));
        running.control.send(Control::Cancel).expect("it listens");
        assert_eq!(next(), Message::Over, "{speed}");
    }
}
