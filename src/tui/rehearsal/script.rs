//! The messages of a run, with invented times.

use std::collections::VecDeque;

use crate::case::snapshot::{MOST_COLUMNS, MOST_ROWS};
use crate::case::{Case, Snapshot, Verdict};
use crate::engine::protocol::{Environment, Event, PROTOCOL, RoundResult, Stage};
use crate::inputs::mix;
use crate::primitives;
use crate::recipe::plan::Plan;
use crate::run::runner::Message;

/// The messages before the first result.
pub fn opening(plan: &Plan, environment: Environment) -> Vec<Message> {
    let (version, revision) = (crate::VERSION.to_owned(), crate::REVISION.to_owned());
    let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
    let mut events = vec![
        Event::Hello {
            protocol: PROTOCOL,
            version,
            revision,
            devices: Vec::new(),
            environment,
            profiles: Vec::new(),
        },
        Event::Started { cases: plan.cases.len(), rounds: rounds as usize },
    ];
    events.extend(plan.cases.first().map(|case| timed(case, 0)));
    events.into_iter().map(Message::Event).collect()
}

/// All results, round by round, each followed by the message that the next case's samples have begun.
pub fn results(plan: &Plan) -> VecDeque<[Message; 2]> {
    let rounds = plan.experiments.iter().map(|e| e.measure.rounds).max().unwrap_or(0);
    let turns = || (0..rounds).flat_map(|round| plan.cases.iter().map(move |case| (case, round)));
    let next = turns().skip(1).chain(turns().take(1));
    let step = |((case, round), (next, later)): ((&Case, u32), (&Case, u32))| {
        let result = invented(case, round);
        [Event::Round { seq: 0, result }, timed(next, later)].map(Message::Event)
    };
    turns().zip(next).map(step).collect()
}

/// A picture with this number of the case whose samples have begun in a step: waves that run outwards.
pub fn picture(step: &[Message; 2], number: u32) -> Option<Message> {
    let [_, Message::Event(Event::Progress { case, round, .. })] = step else { return None };
    let (columns, rows) = (MOST_COLUMNS, MOST_ROWS);
    let height = |x: u32, y: u32| {
        let far = f64::hypot(f64::from(x) - f64::from(columns) / 2.0, f64::from(y) - f64::from(rows) / 2.0);
        ((far - 2.0 * f64::from(number)) / 5.0).sin() as f32
    };
    let values = (0..rows).flat_map(|y| (0..columns).map(move |x| height(x, y))).collect();
    let (what, when) = ("height".to_owned(), format!("step {number}"));
    let picture = Snapshot::Field { what, when, columns, rows, values };
    Some(Message::Event(Event::Snapshot { case: case.clone(), round: *round, picture }))
}

fn timed(case: &Case, round: u32) -> Event {
    Event::Progress { case: case.id.clone(), round, stage: Stage::Sample }
}

/// A result with five samples.
fn invented(case: &Case, round: u32) -> RoundResult {
    let work = primitives::work(case, &[]);
    let seconds = work.map_or(1e-3, |work| work.system_bytes.max(1) as f64 / 10e9);
    let uniform = |i: u64| mix::word64(u64::from(round), i) as f64 / 2f64.powi(64);
    // Each case has its own speed, so that lines cross as they do in a run.
    let pace = 0.3 + case.id.bytes().map(u64::from).sum::<u64>() as f64 % 17.0;
    let samples = (0..5).map(|i| seconds / pace * (1.0 + 0.1 * uniform(i))).collect();
    RoundResult {
        case: case.id.clone(),
        round,
        samples,
        batch: 1,
        verdict: (round == 0).then_some(Verdict::Certified { checked: 1 }),
        ..RoundResult::default()
    }
}
