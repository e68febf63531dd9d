//! Runs the engine's server over in-memory pipes: the same code as in its own process, including the
//! serialisation and parsing of every line.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use scatterlab::case::{Cache, Case, Failure, Measure, Params, Value, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::peer;
use scatterlab::engine::noise_monitor::Watch;
use scatterlab::engine::protocol::{
    Command, Event, Finished, FinishedRound, Level, PROTOCOL, Pictures, RoundResult, Stage,
};
use scatterlab::engine::server::{Ending, serve};
use scatterlab::model::profiles::ProfileStore;
use scatterlab::recipe::plan::{Chart, Experiment, Plan, Quantity};
use scatterlab::run::{Ledger, Status};
use scatterlab::stats::noise::{Conditions, Flag};

use crate::mock::{EVICTOR, Mock, Script};

const SOON: Duration = Duration::from_secs(20);
const QUIET: Duration = Duration::from_millis(150);

/// Returns scripted conditions.
struct Told(VecDeque<Conditions>);

impl Watch for Told {
    fn begin(&mut self) {}

    fn end(&mut self) -> Conditions {
        self.0.pop_front().unwrap_or_default()
    }
}

struct Engine {
    commands: Option<PipeWriter>,
    events: Receiver<Event>,
    server: JoinHandle<std::io::Result<Ending>>,
}

impl Engine {
    fn start(script: fn(&Case) -> Script) -> Engine {
        Engine::start_with(Mock::new("cpu", script), Vec::new())
    }

    /// Starts with these conditions around the first rounds, and unknown ones around later rounds.
    fn start_with(mock: Mock, conditions: Vec<Conditions>) -> Engine {
        Engine::start_of(vec![mock], conditions)
    }

    fn start_of(mocks: Vec<Mock>, conditions: Vec<Conditions>) -> Engine {
        Engine::start_beside(mocks, None, conditions)
    }

    /// Starts with the peers of this folder as well.
    fn start_beside(mocks: Vec<Mock>, peers: Option<PathBuf>, conditions: Vec<Conditions>) -> Engine {
        let (command_reader, commands) = pipe().expect("pipe");
        let (event_reader, event_writer) = pipe().expect("pipe");
        let server = thread::spawn(move || {
            let mocks = mocks.into_iter().map(|mock| Box::new(mock) as Box<dyn Executor>);
            let peers = peer::all(peers.as_deref()).map(|peer| Box::new(peer) as Box<dyn Executor>);
            let told = Box::new(Told(conditions.into()));
            serve(
                BufReader::new(command_reader),
                event_writer,
                mocks.chain(peers).collect(),
                told,
                &ProfileStore::default(),
            )
        });
        let engine = Engine { commands: Some(commands), events: parse(event_reader), server };
        assert!(matches!(engine.next(), Event::Hello { protocol: PROTOCOL, .. }));
        engine
    }

    fn send(&mut self, command: &Command) {
        let line = serde_json::to_string(command).expect("command");
        writeln!(self.commands.as_mut().expect("open"), "{line}").expect("send");
    }

    fn next(&self) -> Event {
        self.events.recv_timeout(SOON).expect("an event")
    }

    /// The next result or end, skipping progress.
    fn next_result(&self) -> Event {
        loop {
            match self.next() {
                Event::Progress { .. } | Event::Started { .. } | Event::Reference { .. } => {}
                event => return event,
            }
        }
    }

    fn ack(&mut self, event: &Event) {
        self.send(&Command::Ack { seq: event.seq().expect("a result") });
    }

    /// Runs a plan to its end, acknowledging everything.
    fn run(&mut self, plan: &Plan, finished: Finished) -> Vec<Event> {
        self.send(&Command::Run { plan: Box::new(plan.clone()), finished, pictures: Pictures::None });
        let mut results = Vec::new();
        loop {
            let event = self.next_result();
            if event.seq().is_some() {
                self.ack(&event);
            }
            let over = matches!(event, Event::Finished { .. });
            results.push(event);
            if over {
                return results;
            }
        }
    }

    fn end(mut self) -> Ending {
        self.commands = None;
        self.server.join().expect("no panic").expect("no error")
    }
}

fn parse(reader: PipeReader) -> Receiver<Event> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        for line in BufReader::new(reader).lines().map_while(Result::ok) {
            let event = serde_json::from_str(&line).expect("each line is an event");
            if sender.send(event).is_err() {
                return;
            }
        }
    });
    receiver
}

fn plan(ids: &[&str], rounds: u32) -> Plan {
    let case = |id: &&str| Case {
        id: (*id).to_owned(),
        experiment: 0,
        primitive: "stream".to_owned(),
        params: Params::default()
            .with("backend", Value::Text("cpu".into()))
            .with("kernel", Value::Text("copy".into()))
            .with("method", Value::Text("direct".into()))
            .with("elements", Value::Int(1000)),
        seed: 1,
        not_applicable: None,
    };
    Plan {
        title: "test".into(),
        recipe_hash: "0".repeat(64),
        experiments: vec![Experiment {
            title: "test".into(),
            slug: "test".into(),
            primitive: "stream".into(),
            paper: None,
            axes: Vec::new(),
            chart: Chart {
                x: "elements".into(),
                y: Quantity::Bandwidth,
                lines: Vec::new(),
                panels: Vec::new(),
                statistic: Default::default(),
                best_of: Vec::new(),
                scale: Default::default(),
                relative_to: None,
                ratio: false,
                ceiling: None,
                models: None,
                bars: None,
                overlay: None,
            },
            measure: Measure::fixed(rounds, 3),
        }],
        cases: ids.iter().map(case).collect(),
        ..Plan::default()
    }
}

fn rounds(events: &[Event]) -> Vec<(String, u32)> {
    events
        .iter()
        .filter_map(|e| match e {
            Event::Round { result, .. } => Some((result.case.clone(), result.round)),
            _ => None,
        })
        .collect()
}

fn pairs(pairs: &[(&str, u32)]) -> Vec<(String, u32)> {
    pairs.iter().map(|(case, round)| ((*case).to_owned(), *round)).collect()
}

fn finished(rounds: &[(&str, u32)], given_up: &[&str]) -> Finished {
    let round = |(case, round): &(&str, u32)| FinishedRound {
        case: (*case).to_owned(),
        round: *round,
        median: 0.25,
        wall: 1.0,
        longest: 1.0,
        doubtful: false,
    };
    let given_up = given_up.iter().map(|id| (*id).to_owned()).collect();
    Finished { rounds: rounds.iter().map(round).collect(), given_up, ..Finished::default() }
}

/// The engine answers a ping both when idle and while it waits for an acknowledgement.
#[test]
fn a_ping_is_answered_between_cases() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    engine.send(&Command::Ping { number: 7 });
    assert_eq!(engine.next(), Event::Pong { number: 7 });
    let plan = plan(&["a", "b"], 1);
    engine.send(&Command::Run {
        plan: Box::new(plan),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    // The ping may arrive at any time, and is answered once the first result is there.
    engine.send(&Command::Ping { number: 8 });
    let first = engine.next_result();
    assert!(first.seq().is_some(), "{first:?}");
    assert_eq!(engine.next(), Event::Pong { number: 8 });
    assert!(engine.events.recv_timeout(QUIET).is_err(), "a ping is no acknowledgement");
    engine.ack(&first);
    let second = engine.next_result();
    engine.ack(&second);
    assert_eq!(engine.next_result(), Event::Finished { cancelled: false });
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn a_probe_tells_how_much_memory_is_free() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    engine.send(&Command::Probe { backends: vec!["cpu".to_owned(), "cuda".to_owned()], device: 0 });
    let (backend, copy, free) = ("cpu".to_owned(), Some(10.0), Some(1 << 30));
    assert_eq!(engine.next(), Event::Probed { backend, copy, reason: None, free });
    assert!(matches!(engine.next(), Event::Probed { copy: None, reason: Some(_), free: None, .. }));
    let older = r#"{"event":"probed","backend":"cpu","copy":10.0,"reason":null}"#;
    assert!(matches!(serde_json::from_str(older), Ok(Event::Probed { free: None, .. })));
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn cases_are_interleaved_and_certified_in_the_first_round() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let events = engine.run(&plan(&["a", "b"], 2), Finished::default());
    assert_eq!(rounds(&events), pairs(&[("a", 0), ("b", 0), ("a", 1), ("b", 1)]));
    for event in &events {
        if let Event::Round { result, .. } = event {
            assert_eq!(result.samples, [0.25; 3]);
            assert_eq!(result.batch, 1);
            assert_eq!(result.verdict.is_some(), result.round == 0);
        }
    }
    assert_eq!(events.last(), Some(&Event::Finished { cancelled: false }));
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn short_executions_are_batched_and_reported_per_execution() {
    let mut engine = Engine::start(|_| Script::Seconds(1e-6));
    let events = engine.run(&plan(&["a"], 1), Finished::default());
    let Event::Round { result, .. } = &events[0] else { panic!("{events:?}") };
    assert!((124..=126).contains(&result.batch), "{result:?}");
    assert!(result.samples.iter().all(|s| (s - 1e-6).abs() < 1e-15), "{result:?}");
}

#[test]
fn nothing_more_is_measured_before_the_acknowledgement() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    engine.send(&Command::Run {
        plan: Box::new(plan(&["a", "b"], 1)),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    let first = engine.next_result();
    assert!(engine.events.recv_timeout(QUIET).is_err(), "the engine went on by itself");
    engine.ack(&first);
    assert!(matches!(engine.next_result(), Event::Round { .. }));
}

#[test]
fn finished_pairs_are_skipped() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let events = engine.run(&plan(&["a", "b"], 2), finished(&[("a", 0), ("b", 1)], &[]));
    assert_eq!(rounds(&events), pairs(&[("b", 0), ("a", 1)]));
}

/// The commands to a fresh engine after the first one died: case a certified in round 0, case b lost. The fresh
/// engine may be another build on another device, so it certifies the cases that it times.
#[test]
fn a_fresh_engine_goes_on_where_the_first_one_ended() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let before = finished(&[("a", 0)], &["b"]);
    let events = engine.run(&plan(&["a", "b", "c"], 3), before);
    assert_eq!(rounds(&events), pairs(&[("c", 0), ("a", 1), ("c", 1), ("a", 2), ("c", 2)]));
    let certified = events.iter().filter_map(|e| match e {
        Event::Round { result, .. } if result.verdict.is_some() => Some(result.case.as_str()),
        _ => None,
    });
    assert_eq!(certified.collect::<Vec<_>>(), ["c", "a"], "this engine has proved nothing of a yet");
}

/// Memory that was free in the first round may be taken in the second.
#[test]
fn a_case_that_cannot_go_on_keeps_no_figures() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let plan = plan(&["a"], 2);
    let events = engine.run(&plan, finished(&[("a", 1)], &[]));
    let mut ledger = Ledger::new(plan);
    for event in &events {
        ledger.apply(event);
    }
    assert!(ledger.records()[0].statistics.is_some());
    let reason = "needs 12 GiB, 9 free".to_owned();
    ledger.apply(&Event::NotApplicable { seq: 9, case: "a".into(), reason: reason.clone() });
    assert_eq!(ledger.records()[0].status, Status::NotApplicable(reason));
    assert_eq!(ledger.records()[0].quantity(Quantity::Bandwidth), None);
}

fn stolen(steal: f64) -> Conditions {
    Conditions { steal: Some(steal), ..Conditions::default() }
}

fn results(events: &[Event]) -> Vec<&RoundResult> {
    let mut results = Vec::new();
    for event in events {
        if let Event::Round { result, .. } = event {
            results.push(result);
        }
    }
    results
}

fn warnings(events: &[Event]) -> Vec<&str> {
    let mut warnings = Vec::new();
    for event in events {
        if let Event::Log { level: Level::Warn, text } = event {
            warnings.push(text.as_str());
        }
    }
    warnings
}

#[test]
fn a_flagged_round_without_a_second_look_is_kept() {
    let mut engine = Engine::start_with(Mock::new("cpu", |_| Script::Seconds(0.25)), vec![stolen(0.2)]);
    let mut plan = plan(&["a"], 1);
    plan.experiments[0].measure.second_look = false;
    let events = engine.run(&plan, Finished::default());
    assert_eq!(results(&events).len(), 1);
    assert_eq!(warnings(&events), ["cpu · stream, round 1: 20 % of the CPU time stolen: kept as it is"]);
}

#[test]
fn a_flagged_round_gets_one_second_attempt_at_the_end_of_its_pass() {
    let conditions = vec![stolen(0.2), stolen(0.0), stolen(0.001)];
    let mut engine = Engine::start_with(Mock::new("cpu", |_| Script::Seconds(0.25)), conditions);
    let plan = plan(&["a", "b"], 2);
    let events = engine.run(&plan, Finished::default());
    let order: Vec<(&str, u32, u32)> =
        results(&events).iter().map(|r| (r.case.as_str(), r.round, r.attempt)).collect();
    assert_eq!(order, [("a", 0, 0), ("b", 0, 0), ("a", 0, 1), ("a", 1, 0), ("b", 1, 0)]);
    let (first, second) = (results(&events)[0], results(&events)[2]);
    assert_eq!((first.flags.as_slice(), &first.conditions), (&[Flag::Steal][..], &stolen(0.2)));
    assert_eq!((second.flags.as_slice(), &second.conditions), (&[][..], &stolen(0.001)));
    assert!(first.verdict.is_some() && second.verdict.is_none(), "certified once");
    let said = warnings(&events);
    assert_eq!(said, ["cpu · stream, round 1: 20 % of the CPU time stolen: measured again later"]);
    let mut ledger = Ledger::new(plan);
    for event in &events {
        ledger.apply(event);
    }
    let record = &ledger.records()[0];
    assert_eq!((record.rounds[0].attempt, record.set_aside[0].attempt), (1, 0), "the clean one counts");
    assert_eq!((record.status.clone(), record.flags()), (Status::Done, vec![]));
}

#[test]
fn noise_that_stays_is_kept_and_said() {
    let mut engine = Engine::start_with(Mock::new("cpu", |_| Script::Seconds(0.25)), vec![stolen(0.2); 2]);
    let plan = plan(&["a"], 1);
    let events = engine.run(&plan, Finished::default());
    assert_eq!(results(&events).len(), 2, "there is no third attempt");
    assert!(warnings(&events)[1].ends_with(": kept as it is"), "{:?}", warnings(&events));
    let mut ledger = Ledger::new(plan);
    for event in &events {
        ledger.apply(event);
    }
    let record = &ledger.records()[0];
    assert_eq!((record.rounds[0].attempt, record.flags()), (0, vec![Flag::Steal]));
    assert_eq!(record.status, Status::Done);
}

#[test]
fn a_slower_clock_is_seen_against_the_rounds_before() {
    let clock = |clock| Conditions { clock: Some(clock), ..Conditions::default() };
    let conditions = [3.0, 3.0, 3.1, 2.9, 3.0, 2.0, 2.95].map(clock).to_vec();
    let mut engine = Engine::start_with(Mock::new("cpu", |_| Script::Seconds(0.25)), conditions);
    let events = engine.run(&plan(&["a"], 6), Finished::default());
    let flags: Vec<_> = results(&events).iter().map(|r| (r.round, r.attempt, r.flags.as_slice())).collect();
    assert_eq!(flags[4..], [(4, 0, &[][..]), (5, 0, &[Flag::Clock]), (5, 1, &[])]);
}

#[test]
fn with_cold_caches_each_sample_follows_an_eviction_of_its_own() {
    let mock = Mock::new("cpu", |_| Script::Seconds(2e-6));
    let evictions = mock.evictions.clone();
    let mut engine = Engine::start_with(mock, Vec::new());
    let mut plan = plan(&["a", "b"], 2);
    plan.experiments[0].measure.cache = Cache::Cold;
    let events = engine.run(&plan, Finished::default());
    let samples: usize = results(&events).iter().map(|r| r.samples.len()).sum();
    assert_eq!((samples, evictions.load(Ordering::Relaxed)), (12, 12));
    for result in results(&events) {
        assert_eq!((result.batch, result.memory), (1, 4096 + EVICTOR), "{result:?}");
    }
    let said =
        events.iter().filter(|e| matches!(e, Event::Log { text, .. } if text.starts_with("cold caches")));
    assert_eq!(said.count(), 1);
}

#[test]
fn with_hot_caches_nothing_is_evicted() {
    let mock = Mock::new("cpu", |_| Script::Seconds(2e-6));
    let evictions = mock.evictions.clone();
    let mut engine = Engine::start_with(mock, Vec::new());
    let events = engine.run(&plan(&["a"], 1), Finished::default());
    assert!(!events.iter().any(|event| matches!(event, Event::Log { .. })));
    assert_eq!((evictions.load(Ordering::Relaxed), results(&events)[0].memory), (0, 4096));
}

#[test]
fn a_failed_case_does_not_stop_the_others() {
    let mut engine = Engine::start(|case| match case.id.as_str() {
        "a" => Script::Fails(Failure::Failed("no".into())),
        "b" => Script::Fails(Failure::NotApplicable("needs 12 GiB, 9 free".into())),
        "c" => Script::Wrong,
        _ => Script::Seconds(0.25),
    });
    let plan = plan(&["a", "b", "c", "d"], 2);
    let events = engine.run(&plan, Finished::default());
    let mut ledger = Ledger::new(plan);
    for event in &events {
        ledger.apply(event);
    }
    let statuses: Vec<Status> = ledger.records().iter().map(|r| r.status.clone()).collect();
    assert_eq!(statuses[0], Status::Failed("no".into()));
    assert_eq!(statuses[1], Status::NotApplicable("needs 12 GiB, 9 free".into()));
    assert!(matches!(&statuses[2], Status::Failed(e) if e.contains("wrong result")), "{statuses:?}");
    assert_eq!(statuses[3], Status::Done);
    assert!(ledger.records()[2].statistics.is_none(), "a wrong case has no time");
    assert_eq!(rounds(&events), pairs(&[("c", 0), ("d", 0), ("d", 1)]));
    assert!(matches!(ledger.records()[3].verdict, Some(Verdict::Certified { .. })));
}

/// The certificate, an execution of its own in the first round, holds in all of these cases.
#[test]
fn what_the_last_sample_of_a_round_leaves_is_judged() {
    for (from, wanted) in
        [(0, &[("a", 0)][..]), (1, &[("a", 0), ("a", 1)]), (9, &[("a", 0), ("a", 1), ("a", 2)])]
    {
        let script: fn(&Case) -> Script = match from {
            0 => |_| Script::WrongOutputs { from: 0 },
            1 => |_| Script::WrongOutputs { from: 1 },
            _ => |_| Script::WrongOutputs { from: 9 },
        };
        let mut engine = Engine::start(script);
        let plan = plan(&["a"], 3);
        let events = engine.run(&plan, Finished::default());
        assert_eq!(rounds(&events), pairs(wanted), "wrong from round {from} on");
        let judged = results(&events).iter().map(|result| result.judged).collect::<Vec<_>>();
        assert!(judged.iter().all(|judged| judged.is_some_and(|judged| judged.drawn)), "{judged:?}");
        let mut ledger = Ledger::new(plan);
        events.iter().for_each(|event| _ = ledger.apply(event));
        let record = &ledger.records()[0];
        match &record.status {
            Status::Failed(error) if from < 9 => {
                assert_eq!(error, "wrong result: after the last sample: out[0]: expected 1, found 2");
                assert_eq!(record.statistics, None, "a wrong case has no time");
            }
            status => assert_eq!((status, from), (&Status::Done, 9)),
        }
    }
}

#[test]
fn a_lost_device_ends_the_engine_after_saying_so() {
    let mut engine = Engine::start(|_| Script::Fails(Failure::Lost("illegal address".into())));
    engine.send(&Command::Run {
        plan: Box::new(plan(&["a", "b"], 1)),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    let event = engine.next_result();
    assert!(matches!(&event, Event::Failed { error, .. } if error == "illegal address"));
    engine.ack(&event);
    assert_eq!(engine.server.join().expect("no panic").expect("no error"), Ending::DeviceLost);
}

#[test]
fn cancel_stops_at_the_next_sample() {
    let mut engine = Engine::start(|_| Script::Sleeps(Duration::from_millis(20)));
    engine.send(&Command::Run {
        plan: Box::new(plan(&["a"], 1000)),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    let first = engine.next_result();
    engine.send(&Command::Cancel);
    engine.ack(&first);
    loop {
        match engine.next_result() {
            Event::Finished { cancelled } => break assert!(cancelled),
            event => engine.ack(&event),
        }
    }
    assert_eq!(engine.end(), Ending::InputClosed);
}

/// Cases that no device here can run must not be reported to the end if the run is cancelled in between.
#[test]
fn cancel_stops_what_cannot_run_too() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let mut plan = plan(&["a", "b", "c"], 1);
    for case in &mut plan.cases {
        case.params = case.params.clone().with("backend", Value::Text("cuda".into()));
    }
    engine.send(&Command::Run {
        plan: Box::new(plan),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    let first = engine.next_result();
    assert!(matches!(&first, Event::NotApplicable { case, .. } if case == "a"), "{first:?}");
    engine.send(&Command::Cancel);
    engine.ack(&first);
    assert_eq!(engine.next_result(), Event::Finished { cancelled: true });
}

/// All events of an engine about a plan, except progress.
fn said(engine: &mut Engine, plan: &Plan, finished: Finished) -> Vec<Event> {
    engine.send(&Command::Run { plan: Box::new(plan.clone()), finished, pictures: Pictures::None });
    let mut events = Vec::new();
    while !matches!(events.last(), Some(Event::Finished { .. })) {
        let event = engine.next();
        if event.seq().is_some() {
            engine.ack(&event);
        }
        events.push(event);
    }
    events
}

/// A backend whose cases are all done has nothing to compare a copy with.
#[test]
fn reference_copies_are_made_only_where_a_turn_is_left() {
    let mocks = ["cpu", "other"].map(|name| Mock::new(name, |_| Script::Seconds(0.25)));
    let mut engine = Engine::start_of(mocks.into(), Vec::new());
    let mut plan = plan(&["a", "b"], 2);
    plan.cases[1].params = plan.cases[1].params.clone().with("backend", Value::Text("other".into()));
    let mut copied = |finished| -> Vec<String> {
        let backend = |event| match event {
            Event::Reference { backend, .. } => Some(backend),
            _ => None,
        };
        said(&mut engine, &plan, finished).into_iter().filter_map(backend).collect()
    };
    assert_eq!(copied(finished(&[("a", 0), ("b", 0)], &[])), ["cpu", "other"]);
    assert_eq!(copied(finished(&[("a", 0), ("b", 0), ("b", 1)], &[])), ["cpu"], "b is done");
}

/// Kinds of keys that are ranked beside two that are not: a failure, which is said, and keys that are not random.
#[test]
fn what_cases_rank_is_measured_once_beside_a_copy() {
    const SORTS: &str = "sort: {keys: [1Mi, 2Mi], key: [u32, u64], values: [none, 4B], distribution: [uniform, sorted]}\n\
        backend: cuda\nchart: {x: keys, lines: [key, values, distribution]}\nmeasure: {rounds: 1, samples: 1, ci: none}\n";
    let script = |case: &Case| match (case.params.text("key"), case.params.text("values")) {
        (Some("u64"), Some("none")) => Script::Fails(Failure::Failed("wrong result".to_owned())),
        (Some("u64"), _) => Script::Seconds(0.5),
        _ => Script::Seconds(0.25),
    };
    let recipe = scatterlab::recipe::parse("a.yaml", SORTS).expect("a recipe");
    let plan = scatterlab::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let mut engine = Engine::start_with(Mock::new("cuda", script), Vec::new());
    let events = said(&mut engine, &plan, Finished::default());
    let ranked: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Reference { ranked, .. } => {
                Some(ranked.iter().map(|r| (r.kind.as_str(), r.rate)).collect())
            }
            _ => None,
        })
        .collect::<Vec<Vec<_>>>();
    assert_eq!(ranked, [[("u32", 4.0), ("u32 + 4B", 4.0), ("u64 + 4B", 2.0)]]);
    let why = "no rate of ranking u64 on cuda: wrong result";
    let said = |event: &Event| matches!(event, Event::Log { text, .. } if text.starts_with(why));
    assert_eq!(events.iter().filter(|event| said(event)).count(), 1);
    let ledger = ledger_of(&plan, &events);
    for record in ledger.records() {
        let text = |key| record.case.params.text(key);
        let rate = match (text("distribution"), text("key"), text("values")) {
            (Some("sorted"), ..) | (_, Some("u64"), Some("none")) => vec![],
            (_, Some("u64"), _) => vec![2.0],
            _ => vec![4.0],
        };
        assert_eq!(record.ranked, rate, "{:?}", record.case.params);
    }
}

/// One case of ours and three of a peer: one that it measures, one that makes it exit, and one that it does not
/// know.
const BESIDE: &str = "\
gather: {tuples: [1, 2, 3]}
backend: cuda
peers: plain
chart: {x: tuples}
measure: {rounds: 2, samples: 2, ci: none, cache: cold}
";

#[test]
fn a_peer_is_measured_in_turns_with_us_and_not_certified() {
    let mock = Mock::new("cuda", |_| Script::Seconds(0.25));
    let evictions = mock.evictions.clone();
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peers");
    let mut engine = Engine::start_beside(vec![mock], Some(peers), Vec::new());
    let recipe = scatterlab::recipe::parse("a.yaml", BESIDE).expect("a recipe");
    let plan = scatterlab::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let of = |backend: &str, tuples| {
        let is = |case: &&Case| case.backend() == backend && case.params.int("tuples") == Some(tuples);
        plan.cases.iter().find(is).expect("a case").id.clone()
    };
    let events = engine.run(&plan, Finished::default());
    let (ours, theirs) = (of("cuda", 1), of("peer:plain", 1));
    let measured: Vec<_> =
        rounds(&events).into_iter().filter(|(id, _)| *id == ours || *id == theirs).collect();
    assert_eq!(measured, pairs(&[(&ours, 0), (&theirs, 0), (&ours, 1), (&theirs, 1)]));
    let ledger = ledger_of(&plan, &events);
    let record = |id: &str| &ledger.records()[ledger.position(id).expect("a case")];
    assert_eq!((&record(&theirs).status, &record(&theirs).verdict), (&Status::Done, &None));
    assert_eq!(record(&theirs).rounds[0].samples, [1e-3; 2]);
    assert_eq!(record(&theirs).rounds[0].memory, 4096 + EVICTOR, "ours empties the caches for it");
    assert_eq!(
        evictions.load(Ordering::Relaxed),
        4 * 2 * 2 + 3 * 2,
        "before each sample of four cases; ours have one more a round, which is judged"
    );
    let na = Status::NotApplicable("two tuples are too few".to_owned());
    assert_eq!(record(&of("peer:plain", 2)).status, na);
    let failed = "the peer plain ended at `prepare` (exit status: 7)".to_owned();
    assert_eq!(record(&of("peer:plain", 3)).status, Status::Failed(failed));
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn transfers_are_timed_in_each_round_if_they_are_asked_for() {
    for (asked, seconds) in [("transfer: pinned, ", Some(2e-3)), ("", None)] {
        let mut engine = Engine::start_with(Mock::new("cuda", |_| Script::Seconds(0.25)), Vec::new());
        let text = BESIDE.replace("peers: plain\n", "").replace("rounds: 2", &format!("{asked}rounds: 2"));
        let recipe = scatterlab::recipe::parse("a.yaml", &text).expect("a recipe");
        let plan = scatterlab::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
        let events = engine.run(&plan, Finished::default());
        let ledger = ledger_of(&plan, &events);
        let record = &ledger.records()[1];
        assert_eq!(record.rounds.len(), 2);
        let found: Vec<_> = record.rounds.iter().map(|round| round.transfer).collect();
        assert!(found.iter().all(|transfer| transfer.map(|t| t.seconds()) == seconds), "{found:?}");
        let bytes = found[0].map(|transfer| [transfer.in_bytes, transfer.out_bytes]);
        assert_eq!(
            bytes,
            seconds.map(|_| [2 * (8 + 4), 2 * 8]),
            "two tuples of 8 bytes, and their locations"
        );
        assert_eq!(engine.end(), Ending::InputClosed);
    }
}

/// A peer of `cpu` runs beside it with its threads, and says how many it used.
#[test]
fn a_peer_of_processors_is_measured_beside_them() {
    let peers = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/peers");
    let mock = Mock::new("cpu", |_| Script::Seconds(0.25));
    let mut engine = Engine::start_beside(vec![mock], Some(peers), Vec::new());
    let text =
        BESIDE.replace("[1, 2, 3]", "18").replace("cuda", "{cpu: {threads: 1}}").replace("plain", "rdst");
    let recipe = scatterlab::recipe::parse("a.yaml", &text).expect("a recipe");
    let plan = scatterlab::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let events = engine.run(&plan, Finished::default());
    let ledger = ledger_of(&plan, &events);
    let of = |backend: &str| ledger.records().iter().find(|r| r.case.backend() == backend).expect("a record");
    assert_eq!((&of("cpu").status, &of("peer:rdst").status), (&Status::Done, &Status::Done));
    assert_eq!(of("peer:rdst").case.params.int("backend.cpu.threads"), Some(1));
    let told = ("backend.cpu.threads".to_owned(), Value::Int(1));
    assert_eq!(
        of("peer:rdst").rounds[0].resolved,
        [told, ("peer.tuner".to_owned(), Value::Text("low".into()))]
    );
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn without_its_neighbours_device_a_peer_has_none() {
    let mut engine =
        Engine::start_beside(vec![Mock::new("cpu", |_| Script::Seconds(0.25))], None, Vec::new());
    let recipe = scatterlab::recipe::parse("a.yaml", BESIDE).expect("a recipe");
    let plan = scatterlab::recipe::plan::resolve(&recipe, &Default::default()).expect("a plan");
    let events = engine.run(&plan, Finished::default());
    let reason =
        |event: &&Event| matches!(event, Event::NotApplicable { reason, .. } if reason == "no backend cuda");
    assert_eq!(events.iter().filter(reason).count(), plan.cases.len());
}

fn ledger_of(plan: &Plan, events: &[Event]) -> Ledger {
    let mut ledger = Ledger::new(plan.clone());
    for event in events {
        ledger.apply(event);
    }
    ledger
}

/// A run may continue for the sake of other backends when a device is missing.
#[test]
fn what_is_done_stays_so_without_its_device() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let mut plan = plan(&["a", "b", "c"], 1);
    for case in &mut plan.cases[1..] {
        case.params = case.params.clone().with("backend", Value::Text("cuda".into()));
    }
    let events = engine.run(&plan, finished(&[("b", 0)], &[]));
    let not_applicable = |event: &Event| match event {
        Event::NotApplicable { case, .. } => Some(case.clone()),
        _ => None,
    };
    assert_eq!(events.iter().filter_map(not_applicable).collect::<Vec<_>>(), ["c"]);
    assert_eq!(rounds(&events), pairs(&[("a", 0)]));
}

#[test]
fn the_end_of_the_input_cancels() {
    let mut engine = Engine::start(|_| Script::Sleeps(Duration::from_millis(20)));
    engine.send(&Command::Run {
        plan: Box::new(plan(&["a"], 1_000_000)),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
    engine.next_result();
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn a_line_that_is_no_command_is_answered_and_survived() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    writeln!(engine.commands.as_mut().expect("open"), "{{\"command\":\"dance\"}}").expect("send");
    assert!(matches!(engine.next(), Event::Log { text, .. } if text.contains("unreadable command")));
    assert_eq!(rounds(&engine.run(&plan(&["a"], 1), Finished::default())), pairs(&[("a", 0)]));
}

/// Waits until samples of this case are being timed.
fn sampled(engine: &Engine, id: &str) {
    let stage = Stage::Sample;
    while !matches!(engine.next(), Event::Progress { case, stage: at, .. } if case == id && at == stage) {}
}

fn skip(case: &str) -> Command {
    Command::Skip { case: case.to_owned() }
}

fn again(case: &str) -> Command {
    Command::Again { case: case.to_owned() }
}

/// Many long samples of `a`, and short samples of all other cases.
fn slow_a(case: &Case) -> Script {
    if case.id == "a" { Script::Sleeps(Duration::from_millis(2)) } else { Script::Seconds(0.25) }
}

fn many_samples(ids: &[&str]) -> Plan {
    let mut plan = plan(ids, 1);
    plan.experiments[0].measure = Measure::fixed(1, 1_000_000);
    plan
}

fn start(engine: &mut Engine, plan: &Plan) {
    engine.send(&Command::Run {
        plan: Box::new(plan.clone()),
        finished: Finished::default(),
        pictures: Pictures::None,
    });
}

/// The results up to the end, each acknowledged.
fn rest(engine: &mut Engine) -> Vec<Event> {
    let mut events = Vec::new();
    while !matches!(events.last(), Some(Event::Finished { .. })) {
        let event = engine.next_result();
        if event.seq().is_some() {
            engine.ack(&event);
        }
        events.push(event);
    }
    events
}

#[test]
fn a_pause_holds_between_samples_and_the_round_begins_again_with_its_warm_up() {
    let mut engine = Engine::start(|_| Script::Sleeps(Duration::from_millis(5)));
    let mut plan = plan(&["a"], 1);
    plan.experiments[0].measure = Measure::fixed(1, 200);
    let began = Instant::now();
    start(&mut engine, &plan);
    sampled(&engine, "a");
    engine.send(&Command::Pause);
    assert_eq!(engine.next(), Event::Paused);
    let paused = Instant::now();
    assert!(engine.events.recv_timeout(2 * QUIET).is_err(), "it holds");
    let paused = paused.elapsed();
    engine.send(&Command::Continue);
    assert_eq!(engine.next(), Event::Continued);
    assert!(matches!(engine.next(), Event::Progress { stage: Stage::WarmUp, round: 0, .. }));
    assert!(matches!(engine.next(), Event::Progress { stage: Stage::Sample, round: 0, .. }));
    let Event::Round { seq, result } = engine.next_result() else { panic!("a round") };
    assert_eq!((result.round, result.samples.len()), (0, 200));
    let passed = began.elapsed().as_secs_f64();
    assert!(result.wall + paused.as_secs_f64() <= passed, "{} s of {passed}", result.wall);
    engine.send(&Command::Ack { seq });
    assert_eq!(engine.next_result(), Event::Finished { cancelled: false });
}

#[test]
fn a_pause_is_carried_out_between_cases_too_and_a_cancel_ends_it() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    start(&mut engine, &plan(&["a", "b"], 1));
    let first = engine.next_result();
    engine.send(&Command::Pause);
    engine.ack(&first);
    assert_eq!(engine.next(), Event::Paused);
    engine.send(&Command::Cancel);
    assert_eq!(rest(&mut engine), [Event::Finished { cancelled: true }]);
    assert_eq!(engine.end(), Ending::InputClosed);
}

#[test]
fn a_skipped_case_is_left_between_samples_and_the_others_go_on() {
    let mut engine = Engine::start(slow_a);
    let mut plan = many_samples(&["a", "b", "c"]);
    plan.experiments.push(Experiment { measure: Measure::fixed(1, 3), ..plan.experiments[0].clone() });
    plan.cases[1..].iter_mut().for_each(|case| case.experiment = 1);
    start(&mut engine, &plan);
    sampled(&engine, "a");
    engine.send(&skip("b"));
    engine.send(&skip("nobody"));
    engine.send(&skip("a"));
    let events = rest(&mut engine);
    let skipped: Vec<&str> = (events.iter())
        .filter_map(|e| if let Event::Skipped { case, .. } = e { Some(case.as_str()) } else { None })
        .collect();
    assert_eq!(skipped, ["b", "a"]);
    assert_eq!(rounds(&events), pairs(&[("c", 0)]));
    let mut ledger = Ledger::new(plan);
    events.iter().for_each(|event| _ = ledger.apply(event));
    assert_eq!(ledger.records()[0].status, Status::NotApplicable("skipped".into()));
    assert!(!ledger.is_complete(), "a resumed run takes them up again");
}

#[test]
fn what_is_asked_during_a_pause_is_carried_out_at_once() {
    let mut engine = Engine::start(slow_a);
    start(&mut engine, &many_samples(&["a", "b"]));
    sampled(&engine, "a");
    engine.send(&Command::Pause);
    assert_eq!(engine.next(), Event::Paused);
    for case in ["b", "a"] {
        engine.send(&skip(case));
        let event = engine.next_result();
        assert!(matches!(&event, Event::Skipped { case: id, .. } if id == case), "{event:?}");
        engine.ack(&event);
    }
    assert!(engine.events.recv_timeout(QUIET).is_err(), "it still holds");
    engine.send(&Command::Continue);
    assert_eq!(rest(&mut engine), [Event::Continued, Event::Finished { cancelled: false }]);
}

/// Commands sent before the acknowledgement take effect before the next case.
#[test]
fn a_finished_case_gets_further_rounds_and_all_of_them_count() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let plan = plan(&["a", "b"], 2);
    start(&mut engine, &plan);
    let mut events = Vec::new();
    for _ in 0..3 {
        events.push(engine.next_result());
        // In the first two iterations, `a` and `b` each have a round left.
        engine.send(&again("a"));
        engine.ack(&events[events.len() - 1]);
    }
    events.extend(rest(&mut engine));
    assert!(events.contains(&Event::Retried { case: "a".into(), rounds: 4 }), "{events:?}");
    assert_eq!(rounds(&events), pairs(&[("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2), ("a", 3)]));
    let mut ledger = Ledger::new(plan);
    events.iter().for_each(|event| _ = ledger.apply(event));
    assert_eq!(ledger.records()[0].medians().len(), 4);
    assert!(ledger.is_complete());
}

#[test]
fn a_skip_of_further_rounds_leaves_the_result() {
    let mut engine = Engine::start(|_| Script::Seconds(0.25));
    let plan = plan(&["a", "b"], 2);
    start(&mut engine, &plan);
    let mut events = Vec::new();
    while !matches!(events.last(), Some(Event::Finished { .. })) {
        let event = engine.next_result();
        if let Event::Round { result, .. } = &event {
            match (result.case.as_str(), result.round) {
                ("a", 1) => engine.send(&again("a")),
                ("a", 2) => engine.send(&skip("a")),
                _ => {}
            }
        }
        if event.seq().is_some() {
            engine.ack(&event);
        }
        events.push(event);
    }
    assert!(events.iter().any(|event| matches!(event, Event::Skipped { .. })));
    assert_eq!(rounds(&events), pairs(&[("a", 0), ("b", 0), ("a", 1), ("b", 1), ("a", 2)]));
    let mut ledger = Ledger::new(plan);
    events.iter().for_each(|event| _ = ledger.apply(event));
    assert_eq!((&ledger.records()[0].status, ledger.records()[0].medians().len()), (&Status::Done, 3));
    assert!(ledger.is_complete());
}

#[test]
fn a_case_that_failed_or_was_skipped_gets_another_try() {
    static TRIES: AtomicU32 = AtomicU32::new(0);
    let mut engine = Engine::start(|case| match case.id.as_str() {
        "a" if TRIES.fetch_add(1, Ordering::Relaxed) == 0 => {
            Script::Fails(Failure::Failed("a hiccup".to_owned()))
        }
        _ => Script::Seconds(0.25),
    });
    start(&mut engine, &plan(&["a", "b", "c"], 1));
    let failed = engine.next_result();
    assert!(matches!(failed, Event::Failed { .. }));
    for command in [again("a"), again("b"), skip("b"), again("b")] {
        engine.send(&command);
    }
    engine.ack(&failed);
    let events = rest(&mut engine);
    let retried = |case: &str| Event::Retried { case: case.to_owned(), rounds: 0 };
    assert_eq!(events[0], retried("a"), "and of `b` nothing is left out yet");
    assert!(matches!(&events[1], Event::Skipped { case, .. } if case == "b"));
    assert_eq!(events[2], retried("b"));
    let mut measured = rounds(&events);
    measured.sort();
    assert_eq!(measured, pairs(&[("a", 0), ("b", 0), ("c", 0)]));
}
