//! `scatterlab run --dry-run`: the cases, their memory and an estimated time.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::bail;

use super::out;
use super::recipes::Source;
use crate::engine::client::{Client, EngineCommand, Incoming};
use crate::engine::protocol::{Command, Event};
use crate::plan::{Case, Measure, Plan};
use crate::primitives::{self, Work};
use crate::units;

/// Random accesses move whole lines for a few bytes; this is how much slower than a
/// copy the estimate takes them to be. Rough on purpose: the model predicts, this plans.
const RANDOM_PENALTY: f64 = 8.0;

/// A shorter execution is batched until a sample takes about this long, seconds.
const SHORTEST_SAMPLE: f64 = 125e-6;

/// Allocating and putting the result on disk take about this long a round, seconds.
const ROUND: f64 = 5e-3;

/// Generating inputs and certifying cost about this many copies of the arrays a round.
const PREPARATION: f64 = 6.0;

/// GB/s of a copy on each backend, or why there is none.
type Probes = BTreeMap<String, Result<f64, String>>;

/// Prints every plan's cases. The time rests on a quick copy measured on each backend.
pub fn print(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<()> {
    let probes = probe(plans, engine)?;
    for (source, plan) in plans {
        out::line(&format!("{} ({}): {} cases", plan.title, source.name, plan.cases.len()));
        let mut total = 0.0;
        for case in &plan.cases {
            let (line, seconds) = describe(plan, case, &probes);
            out::line(&format!("  {line}"));
            total += seconds;
        }
        out::line(&format!("estimated time: {}", units::fmt_seconds(total)));
    }
    for (backend, probe) in &probes {
        match probe {
            Ok(copy) => out::line(&format!("{backend}: copies {}", units::fmt_rate(*copy))),
            Err(reason) => out::line(&format!("{backend}: n/a: {reason}")),
        }
    }
    Ok(())
}

fn probe(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<Probes> {
    let mut backends: Vec<String> =
        plans.iter().flat_map(|(_, p)| &p.cases).map(|c| c.backend().to_owned()).collect();
    backends.sort();
    backends.dedup();
    let (mut client, _) = Client::spawn(engine)?;
    client.send(&Command::Probe { backends: backends.clone() })?;
    let mut probes = Probes::new();
    while probes.len() < backends.len() {
        match client.next(Duration::from_secs(60)) {
            Some(Incoming::Event(Event::Probed { backend, copy, reason })) => {
                probes.insert(backend, copy.ok_or_else(|| reason.unwrap_or_default()));
            }
            Some(Incoming::Closed) => bail!("the engine died: {}", client.ending()),
            None => bail!("the engine did not answer within 60 s"),
            Some(_) => {}
        }
    }
    Ok(probes)
}

fn describe(plan: &Plan, case: &Case, probes: &Probes) -> (String, f64) {
    let experiment = &plan.experiments[case.experiment];
    let head = format!("{}  {}", case.id, experiment.label(case));
    let reason = case
        .not_applicable
        .clone()
        .or_else(|| probes.get(case.backend()).and_then(|p| p.as_ref().err().cloned()));
    if let Some(reason) = reason {
        return (format!("{head}  n/a: {reason}"), 0.0);
    }
    let work = primitives::find(&case.primitive).and_then(|p| p.work(&case.params).ok());
    let (Some(work), Some(Ok(copy))) = (work, probes.get(case.backend())) else { return (head, 0.0) };
    let seconds = total(experiment.measure, &work, *copy);
    let memory = units::fmt_bytes(work.footprint + work.scratch);
    (format!("{head}  {memory}  ~{}", units::fmt_seconds(seconds)), seconds)
}

/// Seconds of all rounds: two executions to warm up, the samples, and the certificate.
fn total(measure: Measure, work: &Work, copy: f64) -> f64 {
    let (rounds, samples) = (f64::from(measure.rounds), f64::from(measure.samples));
    let once = execution(work, copy);
    let round = (samples + 2.0) * once.max(SHORTEST_SAMPLE) + preparation(work, copy) + ROUND;
    rounds * round + once
}

/// Seconds of one execution at the copy's pace.
fn execution(work: &Work, copy: f64) -> f64 {
    let cost = |access: &primitives::Access| {
        let bytes = access.bytes() as f64;
        if access.order == primitives::Order::Sequential { bytes } else { bytes * RANDOM_PENALTY }
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
    use crate::plan::{Params, Value};

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
        let short = total(measure, &multipass(2, 2), 10.0);
        assert!(short > 5.0 * (5.0 * SHORTEST_SAMPLE + ROUND), "{short}");
    }
}
