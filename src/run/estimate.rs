//! The cost of a plan before it runs: time and memory of each case, from the accesses that its work declares
//! and the copy bandwidth of each backend.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use anyhow::bail;

use crate::case::gpus::Gpus;
use crate::case::units::fmt_size;
use crate::case::work::{Concurrency, Order};
use crate::case::{Access, Case, Measure, Work, peers, units};
use crate::engine::protocol::{Command, Event};
use crate::engine::schedule;
use crate::primitives;
use crate::recipe::plan::Plan;
use crate::run::client::{Client, EngineCommand, Incoming};

/// Slowdown of random accesses relative to a copy, because they move whole lines for a few bytes. A rough
/// factor on purpose: it serves planning; the performance models do the predicting.
const RANDOM_PENALTY: f64 = 8.0;

/// Assumed latency of an access to memory, seconds: generous, a GPU's.
const LATENCY: f64 = 1e-6;

/// Shorter executions are batched until a sample takes about this long, seconds.
const SHORTEST_SAMPLE: f64 = 125e-6;

/// Overhead of a round for allocation and for storing the result, seconds.
const ROUND: f64 = 5e-3;

/// Cost of generating inputs and certifying, in copies of the arrays per round.
const PREPARATION: f64 = 6.0;

/// How long an engine may take to measure a copy on one backend: waking a GPU takes the driver seconds.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often `given_up` is polled while waiting for an engine.
const ASKED: Duration = Duration::from_millis(50);

/// Measured properties of a backend before a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Copy bandwidth, GB/s.
    pub copy: f64,
    /// Bytes that a case may allocate, where the engine reports them.
    pub free: Option<u64>,
}

/// The pace of each backend, or why it could not be measured; of the peers, why there is no program.
pub type Paces = BTreeMap<String, Result<Pace, String>>;

/// The cost of one case.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// The case cannot run, for this reason.
    Absent(String),
    /// No estimate is available.
    Unknown,
    /// Seconds for the fewest and the most rounds that the recipe allows, and peak bytes.
    Known { seconds: f64, most: f64, memory: u64 },
}

/// The cost of a plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Seconds of all runnable cases with the fewest rounds that the recipe allows.
    pub seconds: f64,
    /// Seconds that the run takes at most: all runnable cases with the most rounds and second attempts that their
    /// budgets afford, as on a noisy machine, or the run's time bound.
    pub most: f64,
    /// Bytes of the largest runnable case; 0 if there is none.
    pub memory: u64,
    /// Number of runnable cases.
    pub runnable: usize,
    /// Reasons why the other cases cannot run, each with the number of cases.
    pub absent: Vec<(String, usize)>,
}

impl Cost {
    /// Estimates a case of this plan.
    pub fn of(plan: &Plan, case: &Case, paces: &Paces) -> Cost {
        let (backend, device) = case.place();
        let refused = || {
            let named = plan.programs.iter().any(|program| Some(program.name.as_str()) == case.peer());
            let names = [backend, if named { peers::BACKEND } else { case.backend() }];
            names.into_iter().find_map(|name| paces.get(name)?.as_ref().err().cloned())
        };
        if let Some(reason) = case.not_applicable.clone().or_else(refused) {
            return Cost::Absent(reason);
        }
        let work = primitives::find(&case.primitive).and_then(|p| p.work(&case.params).ok());
        let experiment = plan.experiments.get(case.experiment);
        let (Some(work), Some(experiment), Some(Ok(pace))) = (work, experiment, paces.get(backend)) else {
            return Cost::Unknown;
        };
        let memory = primitives::bytes_per_device(case, &work);
        // Only device 0 is checked against the free memory that the probe reported.
        if let Some(free) = pace.free.filter(|free| memory > *free && device == 0) {
            return Cost::Absent(format!("needs {}, {} free", fmt_size(memory), fmt_size(free)));
        }
        // Devices that share the arrays process their parts concurrently.
        let pace = pace.copy * Gpus::of(&case.params).shares() as f64;
        let (seconds, most) = total(experiment.measure, &work, pace);
        Cost::Known { seconds, most, memory }
    }
}

impl Estimate {
    /// Estimates all cases, or the first ones if `wanted` ceases to hold.
    pub fn of(plan: &Plan, paces: &Paces, wanted: &dyn Fn() -> bool) -> Estimate {
        let mut estimate = Estimate::default();
        for case in plan.measured().take_while(|_| wanted()) {
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
        if estimate.runnable > 0 {
            let measures = || plan.experiments.iter().map(|experiment| experiment.measure);
            let passes = measures().map(|measure| measure.most()).max().unwrap_or(0);
            estimate.most +=
                besides(estimate.most, passes, paces.values().filter(|pace| pace.is_ok()).count());
            let bound = measures().map(|measure| measure.max_time);
            let bound = bound.reduce(|one, other| Some(one?.max(other?))).flatten().unwrap_or(f64::INFINITY);
            (estimate.seconds, estimate.most) = (estimate.seconds.min(bound), estimate.most.min(bound));
        }
        estimate
    }
}

/// Measures a quick copy on each of these backends, and on the GPU with this number, in a separate engine, and asks
/// which peers have no program. Once `given_up` returns true, the engine is killed and the result is `None`.
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
    let peers = peers::ALL.iter().map(|peer| peer.backend.to_owned());
    // What would answer for the peers of any folder says whether they are executed at all.
    let peers = peers.chain([peers::BACKEND.to_owned()]);
    let backends: Vec<String> = backends.iter().cloned().chain(peers).collect();
    let mut left: BTreeSet<String> = backends.iter().cloned().collect();
    client.send(&Command::Probe { backends, device })?;
    // Only an answer ends the wait, not whatever else the engine says.
    let (mut paces, mut waited, mut looked) = (Paces::new(), Duration::ZERO, Instant::now());
    while !left.is_empty() {
        if given_up() {
            client.kill();
            return Ok(None);
        }
        match client.next(ASKED) {
            Some(Incoming::Event(Event::Probed { backend, copy, reason, free })) if left.remove(&backend) => {
                let pace = match copy {
                    Some(copy) if copy.is_finite() && copy > 0.0 => Some(Ok(Pace { copy, free })),
                    Some(copy) => Some(Err(format!("a copy of {copy} GB/s is not credible"))),
                    None => reason.filter(|reason| reason != peers::NO_DEVICE).map(Err),
                };
                paces.extend(pace.map(|pace| (backend, pace)));
                waited = Duration::ZERO;
            }
            Some(Incoming::Closed) => bail!("the engine died: {}", client.ending()),
            Some(_) | None => {}
        }
        // A program that was suspended counts no more than the look.
        waited += looked.elapsed().min(ASKED);
        looked = Instant::now();
        if waited > PATIENCE && !left.is_empty() {
            client.kill();
            bail!("the engine did not answer within {} s", PATIENCE.as_secs());
        }
    }
    Ok(Some(paces))
}

/// Seconds per round of a case at the backend's copy bandwidth in GB/s; `None` if there is no estimate.
pub fn round_of(plan: &Plan, case: &Case, copy: f64) -> Option<f64> {
    let work = primitives::find(&case.primitive)?.work(&case.params).ok()?;
    let measure = plan.experiments.get(case.experiment)?.measure;
    Some(round(measure, &work, copy))
}

/// Seconds per round: at least two warm-up executions, the samples, preparation and overhead.
fn round(measure: Measure, work: &Work, copy: f64) -> f64 {
    let once = execution(work, copy);
    let further = f64::from(measure.warm_up.unwrap_or(0).saturating_sub(2)) * once;
    let timed = (f64::from(measure.samples) + 2.0) * once.max(SHORTEST_SAMPLE);
    timed + further + preparation(work, copy) + ROUND
}

/// Seconds for the fewest and for the most rounds. The certificate takes about as long as a round. More rounds and
/// second looks than the fewest end with the budget, which the engine enforces; only how long the fewest take rests on
/// the estimate.
fn total(measure: Measure, work: &Work, copy: f64) -> (f64, f64) {
    let round = round(measure, work, copy);
    let fewest = f64::from(measure.rounds + 1) * round;
    let rounds = if measure.adaptive().is_some() { measure.most() } else { measure.rounds };
    let looks = if measure.second_look { 2.0 } else { 1.0 };
    let most = (looks * f64::from(rounds) + 1.0) * round * SLOWER;
    (fewest, most.min(measure.budget).max(fewest * SLOWER))
}

/// Seconds that a run takes besides its cases at most, of which those of the cases are `most`: the engine's start,
/// and reference copies, those that are cheap before each of these `passes`.
fn besides(most: f64, passes: u32, backends: usize) -> f64 {
    START
        + (1.0 + f64::from(passes)) * backends as f64 * schedule::CHEAP_REFERENCE.min(REFERENCE * SLOWER)
        + schedule::REFERENCE_SHARE * most
}

/// How much slower than estimated a case may be on a noisy machine.
const SLOWER: f64 = 4.0;
/// An engine starts within this time, seconds.
const START: f64 = 3.0;
/// A reference copy takes about this long, seconds.
const REFERENCE: f64 = 0.05;

/// `4.3 s, up to 1 min 10 s if rounds disagree`.
pub fn span(seconds: f64, most: f64) -> String {
    let [seconds, most] = [seconds, most].map(units::fmt_seconds);
    format!("{seconds}, up to {most} if rounds disagree")
}

/// Seconds per execution at copy bandwidth.
fn execution(work: &Work, copy: f64) -> f64 {
    let cost = |access: &Access| {
        let bytes = access.bytes() as f64;
        if access.order == Order::Sequential { bytes } else { bytes * RANDOM_PENALTY }
    };
    // An access that waits for the one before it takes its latency.
    let seconds = |access: &Access| match access.concurrency {
        Concurrency::Chained => access.count as f64 * LATENCY,
        Concurrency::Independent | Concurrency::Indexed => cost(access) / (copy * 1e9),
    };
    work.passes.iter().map(|p| p.times as f64 * p.accesses.iter().map(seconds).sum::<f64>()).sum()
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
        assert!((most - SLOWER * fewest).abs() < 1e-9, "long ones soon: {fewest} s, {most} s");
        let (fewest, most) = total(Measure::fixed(5, 5), &multipass(1 << 16, 8), 10.0);
        assert!((2.0 * fewest..10.0).contains(&most), "a second look at each, within the budget: {most} s");
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
        let estimate = Estimate::of(&plan, &paces, &|| true);
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
            Estimate::of(&plan, &Paces::from([(plan.cases[0].backend().to_owned(), pace)]), &|| true)
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
