//! What a plan costs, before it runs: time and memory of each case, from the accesses that
//! it declares and the pace of a copy on each backend.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;

use crate::case::gpus::Gpus;
use crate::case::units::fmt_size;
use crate::case::work::Order;
use crate::case::{Access, Case, Measure, Work, units};
use crate::engine::client::{Client, EngineCommand, Incoming};
use crate::engine::protocol::{Command, Event};
use crate::primitives;
use crate::recipe::plan::Plan;

/// Random accesses move whole lines for a few bytes; this is how much slower than a
/// copy the estimate takes them to be. Rough on purpose: the model predicts, this plans.
const RANDOM_PENALTY: f64 = 8.0;

/// A shorter execution is batched until a sample takes about this long, seconds.
const SHORTEST_SAMPLE: f64 = 125e-6;

/// Allocating and putting the result on disk take about this long a round, seconds.
const ROUND: f64 = 5e-3;

/// Generating inputs and certifying cost about this many copies of the arrays a round.
const PREPARATION: f64 = 6.0;

/// How long an engine may take to copy on one backend: a driver that wakes a GPU needs
/// seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often somebody who waits for an engine is asked whether it is still wanted.
const ASKED: Duration = Duration::from_millis(50);

/// What a backend gives before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// GB/s of a copy.
    pub copy: f64,
    /// Bytes that a case may take, where the engine says.
    pub free: Option<u64>,
}

/// What each backend gives, or why it gives nothing.
pub type Paces = BTreeMap<String, Result<Pace, String>>;

/// What one case costs.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// It cannot run: why.
    Absent(String),
    /// Nobody can tell.
    Unknown,
    /// Seconds of the fewest and of the most rounds that the recipe allows, and bytes that
    /// it needs at a time.
    Known { seconds: f64, most: f64, memory: u64 },
}

/// What a plan costs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Seconds of all cases that can run, with the fewest rounds that the recipe allows.
    pub seconds: f64,
    /// The same with the most rounds, and a second look at each: on a noisy machine.
    pub most: f64,
    /// Bytes of the largest case that can run; 0 where none can.
    pub memory: u64,
    /// Cases that can run.
    pub runnable: usize,
    /// Why the others cannot, each reason with the number of cases.
    pub absent: Vec<(String, usize)>,
}

impl Cost {
    /// Of a case of this plan.
    pub fn of(plan: &Plan, case: &Case, paces: &Paces) -> Cost {
        let (backend, device) = case.place();
        let refused = || paces.get(backend).and_then(|pace| pace.as_ref().err().cloned());
        if let Some(reason) = case.not_applicable.clone().or_else(refused) {
            return Cost::Absent(reason);
        }
        let work = primitives::find(&case.primitive).and_then(|p| p.work(&case.params).ok());
        let experiment = plan.experiments.get(case.experiment);
        let (Some(work), Some(experiment), Some(Ok(pace))) = (work, experiment, paces.get(backend)) else {
            return Cost::Unknown;
        };
        let memory = primitives::bytes_per_device(case, &work);
        // Of further devices nobody asked.
        if let Some(free) = pace.free.filter(|free| memory > *free && device == 0) {
            return Cost::Absent(format!("needs {}, {} free", fmt_size(memory), fmt_size(free)));
        }
        // Those that share the arrays work on their parts at the same time.
        let pace = pace.copy * Gpus::of(&case.params).shares() as f64;
        let (seconds, most) = total(experiment.measure, &work, pace);
        Cost::Known { seconds, most, memory }
    }
}

impl Estimate {
    /// Of all cases.
    pub fn of(plan: &Plan, paces: &Paces) -> Estimate {
        let mut estimate = Estimate::default();
        for case in &plan.cases {
            match Cost::of(plan, case, paces) {
                Cost::Absent(reason) => {
                    match estimate.absent.iter_mut().find(|(known, _)| *known == reason) {
                        Some((_, cases)) => *cases += 1,
                        None => estimate.absent.push((reason, 1)),
                    }
                }
                Cost::Unknown => estimate.runnable += 1,
                Cost::Known { seconds, most, memory } => {
                    estimate.runnable += 1;
                    estimate.seconds += seconds;
                    estimate.most += most;
                    estimate.memory = estimate.memory.max(memory);
                }
            }
        }
        estimate
    }
}

/// Measures a quick copy on each of these backends, and on the GPU of this number, in an engine of its own, until
/// `given_up` says that nobody wants to know any more: then `None`, and the engine is gone.
///
/// # Errors
/// When the engine cannot be started, dies, or does not answer.
pub fn paces(
    engine: &EngineCommand,
    backends: &[String],
    device: u64,
    given_up: &mut dyn FnMut() -> bool,
) -> anyhow::Result<Option<Paces>> {
    let Some((mut client, _)) = Client::spawn_unless(engine, given_up)? else { return Ok(None) };
    client.send(&Command::Probe { backends: backends.to_vec(), device })?;
    let (mut paces, mut waited) = (Paces::new(), Duration::ZERO);
    while paces.len() < backends.len() {
        if given_up() {
            client.kill();
            return Ok(None);
        }
        match client.next(ASKED) {
            Some(Incoming::Event(Event::Probed { backend, copy, reason, free })) => {
                let pace = copy.map(|copy| Pace { copy, free });
                paces.insert(backend, pace.ok_or_else(|| reason.unwrap_or_default()));
                waited = Duration::ZERO;
            }
            Some(Incoming::Closed) => bail!("the engine died: {}", client.ending()),
            None if waited > PATIENCE => bail!("the engine did not answer within {} s", PATIENCE.as_secs()),
            None => waited += ASKED,
            Some(_) => {}
        }
    }
    Ok(Some(paces))
}

/// Seconds of a round of a case, where a copy on its backend moves so many GB/s; `None` where
/// nobody can tell.
pub fn round_of(plan: &Plan, case: &Case, copy: f64) -> Option<f64> {
    let work = primitives::find(&case.primitive)?.work(&case.params).ok()?;
    let measure = plan.experiments.get(case.experiment)?.measure;
    Some(round(measure, &work, copy))
}

/// Seconds of a round: two executions or more to warm up, the samples, and what goes around
/// them.
fn round(measure: Measure, work: &Work, copy: f64) -> f64 {
    let once = execution(work, copy);
    let further = f64::from(measure.warm_up.unwrap_or(0).saturating_sub(2)) * once;
    let timed = (f64::from(measure.samples) + 2.0) * once.max(SHORTEST_SAMPLE);
    timed + further + preparation(work, copy) + ROUND
}

/// Seconds of the fewest and of the most rounds, and of the certificate.
fn total(measure: Measure, work: &Work, copy: f64) -> (f64, f64) {
    let (once, round) = (execution(work, copy), round(measure, work, copy));
    let (fewest, looks) = (f64::from(measure.rounds) * round, 2.0);
    let most = match measure.adaptive() {
        Some(_) => (looks * f64::from(measure.most()) * round).min(measure.budget + looks * round),
        None => 0.0,
    };
    (fewest + once, most.max(looks * fewest) + once)
}

/// `4.3 s, up to 1 min 10 s where rounds lie apart`.
pub fn span(seconds: f64, most: f64) -> String {
    let [seconds, most] = [seconds, most].map(units::fmt_seconds);
    format!("{seconds}, up to {most} where rounds lie apart")
}

/// Seconds of one execution at the copy's pace.
fn execution(work: &Work, copy: f64) -> f64 {
    let cost = |access: &Access| {
        let bytes = access.bytes() as f64;
        if access.order == Order::Sequential { bytes } else { bytes * RANDOM_PENALTY }
    };
    let bytes: f64 =
        work.passes.iter().map(|p| p.times as f64 * p.accesses.iter().map(cost).sum::<f64>()).sum();
    bytes / (copy * 1e9)
}

fn preparation(work: &Work, copy: f64) -> f64 {
    PREPARATION * work.footprint as f64 / (copy * 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Params, Value};
    use crate::recipe::plan::Overrides;

    fn multipass(tuples: u64, passes: u64) -> Work {
        let params = Params::default()
            .with("backend", Value::Text("cpu".into()))
            .with("method", Value::Text("multipass".into()))
            .with("method.multipass.passes", Value::Int(passes))
            .with("tuples", Value::Int(tuples))
            .with("tuple", Value::Int(8))
            .with("index", Value::Int(4))
            .with("locations", Value::Text("random".into()));
        let scatter = primitives::find("scatter").expect("registered");
        scatter.work(&params).expect("a case that exists")
    }

    #[test]
    fn each_pass_costs_another_scan_of_the_locations() {
        let (few, many) = (execution(&multipass(1 << 24, 8), 10.0), execution(&multipass(1 << 24, 16), 10.0));
        let scan = (4u64 << 24) as f64 / 10e9;
        assert!((many - few - 8.0 * scan).abs() < 0.01 * scan, "{few} s, {many} s, {scan} s a scan");
    }

    #[test]
    fn a_short_case_still_takes_the_time_of_its_samples() {
        let measure = Measure::fixed(5, 5);
        let (short, _) = total(measure, &multipass(2, 2), 10.0);
        assert!(short > 5.0 * (5.0 * SHORTEST_SAMPLE + ROUND), "{short}");
    }

    #[test]
    fn further_rounds_end_with_the_budget() {
        let measure = Measure { budget: 1.0, max_rounds: 30, ..Measure::default() };
        let (fewest, most) = total(measure, &multipass(2, 2), 10.0);
        assert!(most > 10.0 * fewest, "short rounds end with their number: {fewest} s, {most} s");
        let (fewest, most) = total(measure, &multipass(1 << 24, 8), 10.0);
        assert!((fewest..2.5 * fewest).contains(&most), "long ones soon: {fewest} s, {most} s");
        let (fewest, most) = total(Measure::fixed(5, 5), &multipass(1 << 24, 8), 10.0);
        assert!((most - 2.0 * fewest).abs() < 0.1 * fewest, "a second look at each");
    }

    #[test]
    fn a_plan_costs_what_its_cases_cost_and_needs_what_the_largest_needs() {
        let text = "gather: {tuples: [1Mi, 4Mi], locations: random}\nbackend: [cpu, cuda]\n\
            chart: {x: tuples, lines: backend}\n";
        let recipe = crate::recipe::parse("a.yaml", text).expect("a recipe");
        let plan = crate::recipe::plan::resolve(&recipe, &Overrides::default()).expect("a plan");
        let paces = Paces::from([
            ("cpu".to_owned(), Ok(Pace { copy: 10.0, free: None })),
            ("cuda".to_owned(), Err("no CUDA driver".to_owned())),
        ]);
        let estimate = Estimate::of(&plan, &paces);
        let costs: Vec<Cost> = plan.cases.iter().map(|case| Cost::of(&plan, case, &paces)).collect();
        let known = |cost: &Cost| match cost {
            Cost::Known { seconds, memory, .. } => Some((*seconds, *memory)),
            _ => None,
        };
        let known: Vec<(f64, u64)> = costs.iter().filter_map(known).collect();
        assert_eq!((estimate.runnable, estimate.absent), (2, vec![("no CUDA driver".to_owned(), 2)]));
        assert_eq!(estimate.memory, known.iter().map(|(_, memory)| *memory).max().expect("two"));
        assert!((estimate.seconds - known.iter().map(|(s, _)| s).sum::<f64>()).abs() < 1e-12);
        assert!(estimate.memory >= 4 * ((1 << 20) * 20), "tuples in, tuples out, locations");
    }

    #[test]
    fn what_does_not_fit_is_left_out() {
        let text = "gather: {tuples: [1Mi, 4Mi], locations: random}\nbackend: cpu\nchart: {x: tuples}\n";
        let recipe = crate::recipe::parse("a.yaml", text).expect("a recipe");
        let plan = crate::recipe::plan::resolve(&recipe, &Overrides::default()).expect("a plan");
        let of = |free| {
            let pace = Ok(Pace { copy: 10.0, free });
            Estimate::of(&plan, &Paces::from([(plan.cases[0].backend().to_owned(), pace)]))
        };
        let all = of(None);
        assert_eq!((all.runnable, of(Some(all.memory))), (2, all.clone()), "just enough");
        let some = of(Some(all.memory - 1));
        let [(reason, 1)] = some.absent.as_slice() else { panic!("{some:?}") };
        assert_eq!(some.runnable, 1);
        assert!(some.seconds < all.seconds && some.memory < all.memory);
        assert!(reason.starts_with("needs ") && reason.ends_with(" free"), "{reason}");
    }
}
