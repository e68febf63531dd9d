//! Whole runs without an engine: the event log decides what is measured next.

mod controls;
mod interruptions;
mod retries;
mod shared;
mod simulated;
mod stored;

use std::path::Path;

use super::folder::{Folder, Urgency};
use super::layout::{Manifest, SCHEMA};
use crate::case::Verdict;
use crate::engine::protocol::{Environment, Event, RoundResult};
use crate::recipe;
use crate::recipe::plan::{Overrides, Plan, resolve};
use crate::stats::noise::Flag;

/// Four cases on one backend.
pub fn plan(measure: &str) -> Plan {
    let text = format!(
        "title: Test\nstream: {{kernel: [copy, add], elements: [1Ki, 2Ki]}}\nbackend: scalar\n\
         chart: {{x: elements, lines: kernel}}\nmeasure: {{{measure}}}\n"
    );
    let recipe = recipe::parse("test.yaml", &text).expect("a recipe");
    resolve(&recipe, &Overrides::default()).expect("a plan")
}

/// Seconds of an attempt whose samples take this long each: half a second, unless they take longer together.
pub fn wall_of(plan: &Plan, seconds: f64) -> f64 {
    f64::max(0.5, f64::from(plan.experiments[0].measure.samples) * seconds)
}

/// The same attempt, had it taken half a second in all, which its samples alone may exceed.
pub fn in_half_a_second(mut event: Event) -> Event {
    if let Event::Round { result, .. } = &mut event {
        result.wall = 0.5;
    }
    event
}

/// An attempt of this many seconds; the first attempt at round 0 certifies.
pub fn attempt(plan: &Plan, case: usize, round: u32, attempt: u32, seconds: f64, flagged: bool) -> Event {
    let certifies = (round, attempt) == (0, 0);
    let samples = vec![seconds; plan.experiments[0].measure.samples as usize];
    let result = RoundResult {
        case: plan.cases[case].id.clone(),
        round,
        attempt,
        wall: wall_of(plan, seconds),
        samples,
        batch: 1,
        verdict: certifies.then_some(Verdict::Certified { checked: 1 }),
        flags: if flagged { vec![Flag::Steal] } else { Vec::new() },
        ..RoundResult::default()
    };
    Event::Round { seq: 1, result }
}

pub fn failed(plan: &Plan, case: usize, lost: bool) -> Event {
    let (case, error) = (plan.cases[case].id.clone(), "it went wrong".to_owned());
    Event::Failed { seq: 1, case, round: 0, error, lost }
}

pub fn manifest(plan: Plan) -> Manifest {
    Manifest {
        schema: SCHEMA,
        version: "0.1.0".into(),
        revision: "abc".into(),
        started: "2026-11-20 22:37:58".into(),
        command_line: Vec::new(),
        environment: Environment::default(),
        devices: Vec::new(),
        plan,
        redacted: false,
    }
}

/// Writes a stored run with these events.
pub fn write(path: &Path, plan: &Plan, events: &[Event]) {
    let mut folder = Folder::create(path).expect("a folder");
    folder.write_recipe("title: Test\n").expect("written");
    folder.write_manifest(&manifest(plan.clone())).expect("written");
    events.iter().for_each(|event| folder.append(event, Urgency::Written).expect("written"));
}
