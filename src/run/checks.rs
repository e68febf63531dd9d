//! Checks of results where they arrive: from an engine, which may be any program, and from a stored run, which may
//! have been edited. A report that cannot be true ends its case as failed.

use std::collections::BTreeMap;

use super::Ledger;
use super::layout::MANIFEST;
use crate::case::{Case, Measure, Verdict};
use crate::engine::protocol::{Event, Level, RoundResult};
use crate::primitives;
use crate::recipe::plan::{Plan, recomputed};

/// What the clocks resolve, seconds: they count nanoseconds, and a sample is a batch of executions.
const RESOLUTION: f64 = 1e-9;

/// The shortest execution that can be, seconds: a cycle of a CPU of 10 GHz.
const SHORTEST: f64 = 1e-10;

/// The cases of a stored plan whose content is not what their identity says, by position, each with the reason.
pub fn altered(plan: &Plan) -> BTreeMap<usize, String> {
    let told = |(at, case): (usize, &Case)| {
        let found = recomputed(case)?;
        let reason = format!(
            "{MANIFEST}: plan.cases[{at}] was edited: its primitive, params and seed give the identity {found}"
        );
        Some((at, reason))
    };
    plan.cases.iter().enumerate().filter_map(told).collect()
}

/// Turns an event that cannot be true into one that says so: a round into the failure of its case, a reference copy
/// into a warning. `altered` is what [`altered`] found in the plan.
pub fn checked(event: Event, ledger: &Ledger, altered: &BTreeMap<usize, String>) -> Event {
    match event {
        Event::Round { seq, result } => {
            let Some(at) = ledger.position(&result.case) else { return Event::Round { seq, result } };
            let error = match altered.get(&at) {
                Some(reason) => reason.clone(),
                None => match flaw(&result, &ledger.plan().cases[at], ledger.measure(at)) {
                    Some(flaw) => format!("not credible: {flaw}"),
                    None => return Event::Round { seq, result },
                },
            };
            Event::Failed { seq, case: result.case, round: result.round, error, lost: false }
        }
        Event::Reference { backend, copy, .. } if !(copy.is_finite() && copy > 0.0) => {
            let text =
                format!("a reference copy of {copy} GB/s on {backend} is not credible and does not count");
            Event::Log { level: Level::Warn, text }
        }
        Event::Reference { pass, backend, copy, mut ranked } => {
            ranked.retain(|ranked| ranked.rate.is_finite() && ranked.rate > 0.0);
            Event::Reference { pass, backend, copy, ranked }
        }
        other => other,
    }
}

/// What cannot be true of a result.
fn flaw(result: &RoundResult, case: &Case, measure: &Measure) -> Option<String> {
    let (round, batch) = (result.round, result.batch);
    let (found, asked) = (result.samples.len(), measure.samples as usize);
    if found != asked {
        return Some(format!("round {round} has {found} samples, measure.samples asks for {asked}"));
    }
    if batch == 0 {
        return Some(format!("round {round} has samples of 0 executions"));
    }
    let short = |seconds: f64| seconds < SHORTEST || seconds * f64::from(batch) < RESOLUTION;
    // NaN is no comparison's friend: what is not finite is caught first.
    let wrong = result.samples.iter().position(|seconds| !seconds.is_finite() || short(*seconds));
    if let Some(at) = wrong {
        let seconds = result.samples[at];
        let why =
            if seconds > 0.0 && seconds.is_finite() { "below what a clock resolves" } else { "no duration" };
        return Some(format!("samples[{at}] of round {round} is {seconds:e} s, {why}"));
    }
    for (key, seconds) in [("started", result.started), ("wall", result.wall), ("elapsed", result.elapsed)] {
        if !(seconds.is_finite() && seconds >= 0.0) {
            return Some(format!("`{key}` of round {round} is {seconds:e} s"));
        }
    }
    let ways = result.transfer.map(|t| [(t.in_bytes, t.in_seconds), (t.out_bytes, t.out_seconds)]);
    let possible = |(bytes, seconds): (u64, f64)| {
        seconds.is_finite() && (seconds > 0.0) == (bytes > 0) && seconds >= 0.0
    };
    if let Some((_, seconds)) = ways.into_iter().flatten().find(|way| !possible(*way)) {
        return Some(format!("a transfer of round {round} took {seconds:e} s"));
    }
    if let Some(tolerance) =
        result.tolerance.filter(|tolerance| !(*tolerance >= 0.0 && tolerance.is_finite()))
    {
        return Some(format!("the certificate of round {round} lets errors of {tolerance:e} pass"));
    }
    if result.verdict != Some(Verdict::Certified { checked: 0 }) {
        return None;
    }
    let elements = primitives::work(case, &result.resolved).map_or(0, |work| work.elements);
    (elements > 0).then(|| format!("the certificate of round {round} checked 0 elements of {elements}"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt, plan};
    use super::*;
    use crate::case::Value;

    /// The error of a changed first result; `None` if it is taken.
    fn error(change: impl FnOnce(&mut RoundResult)) -> Option<String> {
        let plan = plan("rounds: 1, ci: none");
        let Event::Round { seq, mut result } = attempt(&plan, 0, 0, 0, 1e-3, false) else {
            panic!("a round")
        };
        change(&mut result);
        match checked(Event::Round { seq, result }, &Ledger::new(plan), &BTreeMap::new()) {
            Event::Failed { seq: 1, error, lost: false, .. } => Some(error),
            Event::Round { .. } => None,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn what_cannot_be_true_fails_its_case() {
        assert_eq!(error(|_| ()), None);
        for (seconds, why) in [
            (1e-12, "1e-12 s, below what a clock resolves"),
            (-1.0, "-1e0 s, no duration"),
            (0.0, "0e0 s, no duration"),
            (f64::NAN, "NaN s, no duration"),
            (f64::INFINITY, "inf s, no duration"),
        ] {
            let told = error(|result| result.samples[2] = seconds).expect("refused");
            assert_eq!(told, format!("not credible: samples[2] of round 0 is {why}"));
        }
        // A batch does not make up for a time that no execution can take.
        assert!(error(|result| (result.samples[0], result.batch) = (1e-12, 65536)).is_some());
        assert_eq!(error(|result| (result.samples[0], result.batch) = (3e-10, 65536)), None);
        assert!(error(|result| _ = result.samples.pop()).is_some_and(|told| told.contains("asks for 5")));
        assert!(error(|result| result.batch = 0).is_some());
        assert!(error(|result| result.wall = -1.0).is_some_and(|told| told.contains("`wall`")));
        for (tolerance, wrong) in
            [(0.0, false), (1e-3, false), (-1e-3, true), (f64::NAN, true), (f64::INFINITY, true)]
        {
            let told = error(|result| result.tolerance = Some(tolerance));
            assert_eq!(told.is_some_and(|told| told.contains("lets errors of")), wrong, "{tolerance}");
        }
        let nothing = Some(Verdict::Certified { checked: 0 });
        assert!(
            error(|result| result.verdict = nothing).is_some_and(|told| told.contains("checked 0 elements"))
        );
    }

    #[test]
    fn a_reference_that_cannot_be_true_does_not_count() {
        let ledger = Ledger::new(plan("rounds: 1, ci: none"));
        for (copy, counts) in [(10.0, true), (0.0, false), (-3.0, false), (f64::NAN, false)] {
            let event = Event::Reference { pass: 0, backend: "scalar".into(), copy, ranked: Vec::new() };
            let taken = matches!(checked(event, &ledger, &BTreeMap::new()), Event::Reference { .. });
            assert_eq!(taken, counts, "{copy}");
        }
    }

    #[test]
    fn an_edited_parameter_is_told_by_its_place() {
        let mut plan = plan("rounds: 1, ci: none");
        assert_eq!(altered(&plan), BTreeMap::new());
        plan.cases[1].params = plan.cases[1].params.clone().with("elements", Value::Int(1 << 40));
        let found = altered(&plan);
        assert_eq!(found.keys().collect::<Vec<_>>(), [&1]);
        assert!(found[&1].starts_with("manifest.json: plan.cases[1] was edited"), "{}", found[&1]);
        let round = attempt(&plan, 1, 0, 0, 1e-3, false);
        assert!(matches!(checked(round, &Ledger::new(plan), &found), Event::Failed { .. }));
    }
}
