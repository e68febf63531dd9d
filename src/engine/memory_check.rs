//! Cases of a plan that no device here can run, or that do not fit into the memory free before the run.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use super::protocol::{Event, Level};
use super::server::Server;
use super::turns::PlanProgress;
use crate::case::units::fmt_bytes;
use crate::case::{Case, Place};
use crate::primitives;
use crate::recipe::plan::Plan;

/// Most cases listed by name; the rest are only counted.
const NAMED: usize = 3;

impl<W: Write> Server<W> {
    /// Reports first the remaining cases that no device here can run, so that the client knows how much is
    /// left, then warns about those that currently exceed a device's memory. Finished cases are unaffected.
    pub(super) fn sort_out(&mut self, progress: &mut PlanProgress) -> io::Result<()> {
        let left: Vec<usize> = progress.schedule.left().into_iter().collect();
        let places: BTreeSet<Place> = left.iter().map(|at| progress.plan.cases[*at].place()).collect();
        let found: BTreeMap<Place, Result<Option<u64>, String>> =
            places.into_iter().map(|place| (place, self.free_on(place))).collect();
        for at in left.iter().copied().take_while(|_| !progress.orders.ended()) {
            let case = &progress.plan.cases[at];
            if let Some(Err(reason)) = found.get(&case.place()).cloned() {
                let id = case.id.clone();
                self.emit_result(|seq| Event::NotApplicable { seq, case: id, reason })?;
                progress.schedule.give_up(at);
            }
        }
        for (place, free) in found {
            let free = free.ok().flatten();
            if let Some(text) = free.and_then(|free| warning(progress.plan, &left, place, free)) {
                self.emit(&Event::Log { level: Level::Warn, text })?;
            }
        }
        Ok(())
    }

    /// Free bytes on a device, if it reports them, or why no executor can run its cases. Querying a device
    /// costs more than a short case, so it is done once per run, and only for devices that are needed.
    fn free_on(&self, (backend, device): Place) -> Result<Option<u64>, String> {
        let executor = self.executor(backend).ok_or_else(|| format!("no backend {backend}"))?;
        executor.select_device(device);
        let device = executor.device();
        device.reason().map_or(Ok(device.memory), |reason| Err(reason.to_owned()))
    }
}

/// Warns about the cases that exceed `free` bytes on a device; `None` if all fit.
fn warning(plan: &Plan, cases: &[usize], place: Place, free: u64) -> Option<String> {
    let here = || cases.iter().map(|at| &plan.cases[*at]).filter(|case| case.place() == place);
    let large: Vec<(&Case, u64)> =
        here().filter_map(|case| Some((case, need(case)?))).filter(|(_, bytes)| *bytes > free).collect();
    let most = large.iter().map(|(_, bytes)| *bytes).max()?;
    let names: Vec<String> = large.iter().take(NAMED).map(|(case, _)| label(plan, case)).collect();
    let others = match large.len() - names.len() {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    Some(format!(
        "{} {}: {} of {} cases need more memory than the {} that are free now, up to {}: {}{others}",
        place.0,
        place.1,
        large.len(),
        here().count(),
        fmt_bytes(free),
        fmt_bytes(most),
        names.join("; ")
    ))
}

/// Peak bytes of a case on each of its devices, if its primitive can tell.
fn need(case: &Case) -> Option<u64> {
    let work = primitives::find(&case.primitive)?.work(&case.params).ok()?;
    Some(primitives::bytes_per_device(case, &work))
}

fn label(plan: &Plan, case: &Case) -> String {
    plan.experiments.get(case.experiment).map_or_else(|| case.id.clone(), |one| one.label(case))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recipe;
    use crate::recipe::plan::{Overrides, resolve};

    #[test]
    fn cases_that_do_not_fit_are_told_before_any_runs() {
        let text = "stream: {kernel: copy, elements: [1Ki, 1Mi, 4Mi, 8Mi, 16Mi]}\nbackend: [cpu, cuda]\n\
            chart: {x: elements, lines: backend}\n";
        let recipe = recipe::parse("a.yaml", text).expect("a recipe");
        let plan = resolve(&recipe, &Overrides::default()).expect("a plan");
        let all: Vec<usize> = (0..plan.cases.len()).collect();
        let of = |free| warning(&plan, &all, ("cuda", 0), free);
        assert_eq!(of(1 << 40), None);
        let text = "cuda 0: 4 of 5 cases need more memory than the 1.00 MiB that are free now, up to 256 MiB: \
            elements 1Mi · cuda; elements 4Mi · cuda; elements 8Mi · cuda and 1 more";
        assert_eq!(of(1 << 20).as_deref(), Some(text));
        let one = of(255 << 20).expect("the largest");
        assert!(one.starts_with("cuda 0: 1 of 5") && one.ends_with(": elements 16Mi · cuda"), "{one}");
        assert_eq!(warning(&plan, &all, ("cuda", 1), 1), None, "another device");
    }

    #[test]
    fn arrays_that_span_gpus_are_held_in_parts() {
        let need = |gpus: &str| {
            let text = format!(
                "scatter: {{tuples: 1Mi, locations: random}}\nbackend: {{cuda: {gpus}}}\nchart: {{x: tuples}}\n"
            );
            let recipe = recipe::parse("a.yaml", &text).expect("a recipe");
            super::need(&resolve(&recipe, &Overrides::default()).expect("a plan").cases[0])
        };
        assert_eq!(need("{gpus: 1}"), Some(20 << 20));
        assert_eq!(need("{gpus: 2}"), Some(20 << 20), "each has arrays of its own");
        assert_eq!(need("{gpus: 2, memory: spanning}"), Some(10 << 20));
    }
}
