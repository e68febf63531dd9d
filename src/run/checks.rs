//! Checks of results where they arrive: from an engine, which may be any program, and from a stored run, which may
//! have been edited. A report that cannot be true ends its case as failed.

use std::collections::BTreeMap;

use super::Ledger;
use super::layout::MANIFEST;
use crate::case::units::number_of;
use crate::case::{Case, Verdict};
use crate::engine::protocol::{Event, Level, RoundResult};
use crate::primitives;
use crate::recipe::plan::{Plan, recomputed};

/// What the clocks resolve, seconds: they count nanoseconds, and a sample is a batch of executions.
const RESOLUTION: f64 = 1e-9;

/// The fastest plain copy that can be, GB/s: two hundred times that of the fastest GPU.
const FASTEST_COPY: f64 = 1e6;

/// A part of a round may exceed the whole by this share and by this many seconds: they are timed by two clocks.
const APART: (f64, f64) = (0.01, 1e-3);

/// The second attempt at a flagged round is the last.
const LAST_ATTEMPT: u32 = 1;

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
                None => match flaw(&result, ledger, at) {
                    Some(flaw) => format!("not credible: {flaw}"),
                    None => return Event::Round { seq, result },
                },
            };
            Event::Failed { seq, case: result.case, round: result.round, error, lost: false }
        }
        Event::Reference { backend, copy, .. } if !(copy > 0.0 && copy <= FASTEST_COPY) => {
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

/// What cannot be true of a result of the case at this position.
fn flaw(result: &RoundResult, ledger: &Ledger, at: usize) -> Option<String> {
    let (case, measure) = (&ledger.plan().cases[at], ledger.measure(at));
    let (round, batch) = (result.round, result.batch);
    let most = ledger.most_rounds(at);
    if round >= most {
        return Some(format!(
            "there is a round {round}, and the case has {} at most",
            number_of(most as usize, "round")
        ));
    }
    if result.attempt > LAST_ATTEMPT {
        return Some(format!("round {round} has an attempt {}; accepted: 0 and 1", result.attempt));
    }
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
    let generate = result.generate.unwrap_or(0.0);
    for (key, seconds) in [
        ("started", result.started),
        ("generate", generate),
        ("wall", result.wall),
        ("elapsed", result.elapsed),
    ] {
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
    if let Some(flaw) = too_long(result) {
        return Some(flaw);
    }
    if result.verdict != Some(Verdict::Certified { checked: 0 }) {
        return None;
    }
    let elements = primitives::work(case, &result.resolved).map_or(0, |work| work.elements);
    (elements > 0).then(|| format!("the certificate of round {round} checked 0 elements of {elements}"))
}

/// A part of a round that took longer than the whole round; old runs have no time of the whole.
fn too_long(result: &RoundResult) -> Option<String> {
    let (round, wall) = (result.round, result.wall);
    let samples: f64 = result.samples.iter().sum::<f64>() * f64::from(result.batch);
    let transfer = result.transfer.map_or(0.0, |transfer| transfer.in_seconds.max(transfer.out_seconds));
    let parts =
        [("samples", samples), ("transfer", transfer), ("preparation", result.generate.unwrap_or(0.0))];
    let limit = wall * (1.0 + APART.0) + APART.1;
    let (part, seconds) = parts.into_iter().find(|(_, seconds)| wall > 0.0 && *seconds > limit)?;
    Some(format!("the {part} of round {round} took {seconds:.3e} s, and the whole round {wall:.3e} s"))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{attempt, plan};
    use super::*;
    use crate::case::{Transfer, Value};

    fn first() -> RoundResult {
        let Event::Round { result, .. } = attempt(&plan("rounds: 1, ci: none"), 0, 0, 0, 1e-3, false) else {
            panic!("a round")
        };
        result
    }

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
        assert_eq!(
            error(|result| (result.samples[0], result.batch, result.wall) = (3e-10, 65536, 300.0)),
            None
        );
        assert!(error(|result| _ = result.samples.pop()).is_some_and(|told| told.contains("asks for 5")));
        assert!(error(|result| result.batch = 0).is_some());
        assert!(error(|result| result.generate = Some(-1.0)).is_some_and(|told| told.contains("`generate`")));
        assert!(
            error(|result| result.generate = Some(2e9)).is_some_and(|told| told.contains("the preparation"))
        );
        assert!(error(|result| result.wall = -1.0).is_some_and(|told| told.contains("`wall`")));
        for (tolerance, wrong) in
            [(0.0, false), (1e-3, false), (-1e-3, true), (f64::NAN, true), (f64::INFINITY, true)]
        {
            let told = error(|result| result.tolerance = Some(tolerance));
            assert_eq!(told.is_some_and(|told| told.contains("lets errors of")), wrong, "{tolerance}");
        }
        for (change, why) in [
            (RoundResult { round: 1, ..first() }, "there is a round 1, and the case has 1 round at most"),
            (RoundResult { round: 77, ..first() }, "there is a round 77, and the case has 1 round at most"),
            (RoundResult { attempt: 2, ..first() }, "round 0 has an attempt 2; accepted: 0 and 1"),
        ] {
            assert_eq!(error(|result| *result = change), Some(format!("not credible: {why}")));
        }
        let nothing = Some(Verdict::Certified { checked: 0 });
        assert!(
            error(|result| result.verdict = nothing).is_some_and(|told| told.contains("checked 0 elements"))
        );
    }

    #[test]
    fn a_part_that_took_longer_than_its_round_fails_its_case() {
        for (seconds, batch, wall, told) in [
            (1e308, 1, 1.0, Some("samples of round 0 took inf s, and the whole round 1.000e0 s")),
            (0.3, 1, 1.0, Some("samples of round 0 took 1.500e0 s, and the whole round 1.000e0 s")),
            (1e-3, 65536, 20.0, Some("samples of round 0 took 3.277e2 s, and the whole round 2.000e1 s")),
            (0.2, 1, 1.0, None),
            (0.201, 1, 1.0, None),
            (1e9, 1, 0.0, None),
        ] {
            let found = error(|result| {
                result.samples = vec![seconds; 5];
                (result.batch, result.wall) = (batch, wall);
            });
            assert_eq!(
                found,
                told.map(|told| format!("not credible: the {told}")),
                "{seconds} {batch} {wall}"
            );
        }
        let slow = Transfer { in_bytes: 8, in_seconds: 3.0, out_bytes: 0, out_seconds: 0.0 };
        let told = error(|result| result.transfer = Some(slow)).expect("refused");
        assert_eq!(
            told,
            "not credible: the transfer of round 0 took 3.000e0 s, and the whole round 5.000e-1 s"
        );
    }

    #[test]
    fn a_reference_that_cannot_be_true_does_not_count() {
        let ledger = Ledger::new(plan("rounds: 1, ci: none"));
        for (copy, counts) in [(10.0, true), (0.0, false), (-3.0, false), (f64::NAN, false), (1e308, false)] {
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
