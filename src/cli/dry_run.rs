//! `scatterlab run --dry-run`: the cases of each experiment, their memory and an estimated time.

use anyhow::Context;

use super::out;
use super::recipes::Source;
use crate::case::peers::of_backend;
use crate::case::{Case, units};
use crate::recipe::plan::Plan;
use crate::run::client::EngineCommand;
use crate::run::estimate::{self, Cost, Estimate, Paces};

/// Prints every plan's cases. The time estimate rests on a quick copy measured on each backend.
pub fn print(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<()> {
    let paces = paces(plans, engine)?;
    for (source, plan) in plans {
        let cases = units::number_of(plan.cases.len(), "case");
        out::line(&format!("{} ({}): {cases}", plan.title, source.name));
        for (number, experiment) in plan.experiments.iter().enumerate() {
            if plan.experiments.len() > 1 {
                out::line(&experiment.title);
            }
            let own = plan.cases.iter().filter(|case| case.experiment == number);
            own.for_each(|case| out::line(&format!("  {}", describe(plan, case, &paces))));
        }
        let estimate = Estimate::of(plan, &paces, &|| true);
        out::line(&format!("estimated time: {}", estimate::span(estimate.seconds, estimate.most)));
    }
    for (backend, pace) in paces.iter().filter(|(backend, _)| of_backend(backend).is_none()) {
        match pace {
            Ok(pace) => out::line(&format!("{backend}: copies {}", units::fmt_rate(pace.copy))),
            Err(reason) => out::line(&format!("{backend}: n/a: {reason}")),
        }
    }
    Ok(())
}

fn paces(plans: &[(Source, Plan)], engine: &EngineCommand) -> anyhow::Result<Paces> {
    let mut backends: Vec<String> =
        plans.iter().flat_map(|(_, p)| &p.cases).map(|c| c.place().0.to_owned()).collect();
    backends.sort();
    backends.dedup();
    let gpu = plans.iter().flat_map(|(_, p)| &p.cases).find(|case| case.place().0 == "cuda");
    estimate::paces(engine, &backends, gpu.map_or(0, Case::device), &mut || false)?
        .context("the engine's start was cancelled")
}

fn describe(plan: &Plan, case: &Case, paces: &Paces) -> String {
    let head = format!("{}  {}", case.id, plan.experiments[case.experiment].label(case));
    match Cost::of(plan, case, paces) {
        Cost::Absent(reason) => format!("{head}  n/a: {reason}"),
        Cost::Unknown => head,
        Cost::Known { seconds, memory, .. } => {
            format!("{head}  {}  ~{}", units::fmt_bytes(memory), units::fmt_seconds(seconds))
        }
    }
}
