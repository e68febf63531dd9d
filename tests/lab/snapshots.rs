//! Pictures of what cases compute, and disturbances of it, by an engine whose cases are scripted.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Write, pipe};
use std::thread;
use std::time::{Duration, Instant};

use scatterlab::case::{Case, Failure, Measure, Snapshot};
use scatterlab::engine::noise_monitor::Watch;
use scatterlab::engine::protocol::{Command, Event, Finished, Level, Pictures, Stage};
use scatterlab::engine::server::serve;
use scatterlab::model::profiles::ProfileStore;
use scatterlab::recipe::plan::{Overrides, Plan, resolve};
use scatterlab::stats::noise::Conditions;

use crate::mock::{Mock, Script};

const SOON: Duration = Duration::from_millis(2);

/// Sees nothing.
struct Nobody;

impl Watch for Nobody {
    fn begin(&mut self) {}

    fn begin_anew(&mut self) {}

    fn end(&mut self) -> Conditions {
        Conditions::default()
    }
}

struct Engine {
    commands: PipeWriter,
    events: BufReader<PipeReader>,
}

impl Engine {
    fn start(script: fn(&Case) -> Script) -> Engine {
        let (input, commands) = pipe().expect("pipe");
        let (events, output) = pipe().expect("pipe");
        thread::spawn(move || {
            let mocks: Vec<Box<dyn scatterlab::engine::Executor>> = vec![Box::new(Mock::new("cpu", script))];
            serve(BufReader::new(input), output, mocks, Box::new(Nobody), &ProfileStore::default())
        });
        Engine { commands, events: BufReader::new(events) }
    }

    fn send(&mut self, command: &Command) {
        writeln!(self.commands, "{}", serde_json::to_string(command).expect("command")).expect("sent");
    }

    fn next(&mut self) -> Event {
        let mut line = String::new();
        self.events.read_line(&mut line).expect("a line");
        serde_json::from_str(&line).expect("an event")
    }

    /// The events of a plan, acknowledged. `then` are sent one by one as sampling begins in the first rounds.
    fn run(&mut self, plan: Plan, pictures: Pictures, then: &[Command]) -> Vec<Event> {
        let mut then: VecDeque<&Command> = then.iter().collect();
        self.send(&Command::Run { plan: Box::new(plan), finished: Finished::default(), pictures });
        let mut events = Vec::new();
        loop {
            let event = self.next();
            if let Some(seq) = event.seq() {
                self.send(&Command::Ack { seq });
            }
            if matches!(event, Event::Progress { stage: Stage::Sample, .. }) {
                then.drain(..).for_each(|command| self.send(command));
            }
            let over = matches!(event, Event::Finished { .. });
            events.push(event);
            if over {
                return events;
            }
        }
    }
}

fn plan(rounds: u32, samples: u32, snapshots: u32) -> Plan {
    let recipe =
        "title: T\nstream: {kernel: copy, elements: 8}\nbackend: cpu\nchart: {x: elements, y: time}\n";
    let recipe = scatterlab::recipe::parse("one.yaml", recipe).expect("a recipe");
    let mut plan = resolve(&recipe, &Overrides::default()).expect("a plan");
    let measure = Measure { second_look: false, reference: false, ..Measure::fixed(rounds, samples) };
    plan.experiments[0].measure = Measure { snapshots, ..measure };
    plan
}

/// Round and height of each picture.
fn heights(events: &[Event]) -> Vec<(u32, f32)> {
    let height = |event: &Event| match event {
        Event::Snapshot { round, picture: Snapshot::Field { values, .. }, .. } => Some((*round, values[0])),
        _ => None,
    };
    events.iter().filter_map(height).collect()
}

fn rounds(events: &[Event]) -> usize {
    events.iter().filter(|event| matches!(event, Event::Round { .. })).count()
}

fn said(events: &[Event]) -> Vec<(Level, &str)> {
    let said = |event| match event {
        &Event::Log { level, ref text } => Some((level, text.as_str())),
        _ => None,
    };
    events.iter().filter_map(said).collect()
}

/// Two executions warm up; one follows each picture that is taken before a sample.
#[test]
fn pictures_of_the_first_round_are_kept_evenly_spread_and_after_its_end() {
    let kept = |snapshots, pictures| {
        let mut engine = Engine::start(|_| Script::Disturbable(SOON));
        let events = engine.run(plan(2, 6, snapshots), pictures, &[]);
        assert_eq!(rounds(&events), 2);
        heights(&events)
    };
    assert_eq!(kept(3, Pictures::Few), [(0, 2.0), (0, 5.0), (0, 10.0)]);
    assert_eq!(kept(1, Pictures::Few), [(0, 8.0)]);
    assert_eq!(kept(0, Pictures::Few), []);
    assert_eq!(kept(3, Pictures::None), [], "nobody asks for any");
    let many = kept(32, Pictures::Few);
    assert_eq!(many.len(), 7, "one before each sample at most: {many:?}");
}

#[test]
fn a_case_that_is_watched_has_four_pictures_a_second_in_every_round() {
    let mut engine = Engine::start(|_| Script::Disturbable(Duration::from_millis(5)));
    let began = Instant::now();
    let events = engine.run(plan(2, 130, 0), Pictures::Live, &[]);
    let (pictures, seconds) = (heights(&events), began.elapsed().as_secs_f64());
    assert!(
        pictures.len() >= 4 && pictures.len() as f64 <= 4.0 * seconds + 1.0,
        "{} in {seconds} s",
        pictures.len()
    );
    assert!(pictures.iter().any(|(round, _)| *round == 1), "{pictures:?}");
    let samples = events.iter().filter_map(|event| match event {
        Event::Round { result, .. } => Some(result.samples.len()),
        _ => None,
    });
    assert!(samples.eq([130, 130]), "those that follow a picture are not timed");
}

#[test]
fn a_client_may_begin_and_end_to_watch_at_any_time() {
    let mut engine = Engine::start(|_| Script::Disturbable(Duration::from_millis(5)));
    let show = |pictures| Command::Show { pictures };
    let events = engine.run(plan(1, 100, 0), Pictures::None, &[show(Pictures::Live)]);
    assert!(!heights(&events).is_empty());
    let events = engine.run(plan(1, 100, 0), Pictures::Live, &[show(Pictures::None)]);
    assert!(heights(&events).len() <= 1, "{:?}", heights(&events));
}

#[test]
fn a_disturbance_falls_between_two_samples_and_the_next_pictures_show_it() {
    let mut engine = Engine::start(|_| Script::Disturbable(Duration::from_millis(5)));
    let drops = [[0.25, 0.5], [1.0, 0.5], [-0.1, 0.1]].map(|at| Command::Disturb { at });
    let events = engine.run(plan(1, 20, 1), Pictures::Few, &drops[..2]);
    assert_eq!(said(&events), [(Level::Info, "stream, round 1: disturbed at (0.25, 0.50)")]);
    // Two executions warm up, one follows the disturbance.
    assert_eq!(heights(&events), [(0, 123.0)]);
    let outside = engine.run(plan(1, 5, 1), Pictures::Few, &drops[2..]);
    assert_eq!((said(&outside), heights(&outside)), (vec![], vec![(0, 7.0)]));
}

#[test]
fn a_case_without_a_picture_is_measured_like_any_other() {
    let mut engine = Engine::start(|_| Script::Sleeps(Duration::from_millis(5)));
    let disturbances = [[0.5, 0.5], [0.1, 0.1]].map(|at| Command::Disturb { at });
    let events = engine.run(plan(2, 60, 3), Pictures::Live, &disturbances);
    assert_eq!((heights(&events).len(), rounds(&events)), (0, 2));
    assert_eq!(said(&events), [(Level::Info, "stream has nothing to disturb")], "once");
}

#[test]
fn a_picture_that_fails_costs_a_warning_and_no_result() {
    let mut engine = Engine::start(|_| Script::NoPicture(Failure::Failed("no memory for it".to_owned())));
    let events = engine.run(plan(2, 6, 3), Pictures::Few, &[]);
    assert_eq!(said(&events), [(Level::Warn, "stream cannot be shown: no memory for it")], "once");
    assert_eq!(rounds(&events), 2);
    let mut engine = Engine::start(|_| Script::NoPicture(Failure::Lost("the device fell off".to_owned())));
    engine.send(&Command::Run {
        plan: Box::new(plan(1, 6, 1)),
        finished: Finished::default(),
        pictures: Pictures::Few,
    });
    let lost = loop {
        match engine.next() {
            Event::Failed { error, lost, .. } => break (error, lost),
            Event::Round { .. } | Event::Finished { .. } => panic!("the device is lost"),
            _ => {}
        }
    };
    assert_eq!(lost, ("the device fell off".to_owned(), true));
}

/// What older clients and engines say, and what they hear.
#[test]
fn the_protocol_has_grown_and_nothing_else() {
    let plan = serde_json::to_value(plan(1, 1, 1)).expect("a plan");
    let older = serde_json::json!({"command": "run", "plan": plan});
    let Ok(Command::Run { pictures, .. }) = serde_json::from_value(older) else { panic!("an older client") };
    assert_eq!(pictures, Pictures::None);
    assert!(plan["experiments"][0]["measure"].get("snapshots").is_none(), "a plan is as it was");
}
