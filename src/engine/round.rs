//! One attempt at one round of one case.

use std::io::{self, Write};
use std::time::{Duration, Instant};

use super::output_sampling;
use super::protocol::{RoundResult, Stage};
use super::sampler::Round;
use super::schedule::Turn;
use super::server::{Server, generating, stage};
use super::snapshots::SampleContext;
use super::turns::PlanProgress;
use crate::case::{Cache, Cancel, Case, Failure, Value, Verdict};
use crate::device::{Prepared, timing_lock};
use crate::model::choose::choose;
use crate::model::{self, Model, Profile};
use crate::primitives;
use crate::stats::noise::Flag;

/// Why a turn has no result.
pub enum TurnError {
    Failure(Failure),
    /// The client cannot be reached any more.
    Io(io::Error),
}

impl From<Failure> for TurnError {
    fn from(failure: Failure) -> Self {
        TurnError::Failure(failure)
    }
}

impl From<io::Error> for TurnError {
    fn from(error: io::Error) -> Self {
        TurnError::Io(error)
    }
}

/// Joins the parameters of a chosen method with those resolved by the preparation, which take precedence.
fn with(method: Vec<(String, Value)>, found: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let told = |key: &str| found.iter().any(|(other, _)| other == key);
    let method: Vec<_> = method.into_iter().filter(|(key, _)| !told(key)).collect();
    method.into_iter().chain(found).collect()
}

impl<W: Write> Server<W> {
    /// Measures one attempt: prepares the case from scratch, warms up, takes the samples, and certifies the
    /// case if this engine has not done so before. Paused time does not count.
    pub(super) fn measure(
        &mut self,
        progress: &mut PlanProgress,
        turn: Turn,
        cancel: &Cancel,
    ) -> Result<(RoundResult, Vec<(Flag, String)>), TurnError> {
        let began = Instant::now();
        let case = &progress.plan.cases[turn.case];
        let measure = progress.plan.experiments[case.experiment].measure;
        let position = |backend: &str| self.executors.iter().position(|e| e.backend() == backend);
        let Some(at) = position(case.backend()) else {
            return Err(Failure::NotApplicable(format!("no backend {}", case.backend())).into());
        };
        // A peer runs on another backend's device, so that backend handles caches and clocks.
        let (host, device) = case.place();
        let host = position(host).unwrap_or(at);
        self.executors[host].select_device(device);
        self.watch.begin();
        let making = progress.inputs.missing(turn.case);
        generating(&mut self.output, case, turn.round, making)?;
        let generates = Instant::now();
        let profile = self.profiles.of(case).ok();
        if case.peer().is_some() {
            progress.inputs.make_room_beside(case);
        }
        let (chosen, method) = chosen(case, profile, model::find(model::chooser(case)))?;
        let mut prepared = self.executors[at].prepare(&chosen, None, cancel)?;
        if host != at {
            self.executors[host].wait_for_own_work()?;
        }
        let generate = generates.elapsed().as_secs_f64();
        let certifies = measure.certify && case.peer().is_none();
        let judged = certifies.then(|| self.output_sampling.draw(case, turn.round, turn.attempt));
        let drawn = judged.is_some_and(|judged| judged.drawn);
        let mut paused = Duration::ZERO;
        let measured = loop {
            paused += self.rest(progress)?;
            cancel.check()?;
            let _alone = timing_lock::timing();
            let first = turn.round == 0 && turn.attempt == 0;
            let mut context = SampleContext {
                snapshots: &mut self.snapshots,
                output: &mut self.output,
                orders: &progress.orders,
                case,
                round: turn.round,
                keeps: first.then_some(measure.snapshots),
                count: measure.samples,
                batch: 1,
                cold: measure.cache == Cache::Cold,
            };
            stage(context.output, case, turn.round, Stage::WarmUp)?;
            let (executor, watch) = (self.executors[host].as_ref(), self.watch.as_mut());
            let round = Round { measure, judged: drawn, executor, watch, cancel };
            if let Some(measured) = round.measure(prepared.as_mut(), &mut context)? {
                context.after(prepared.as_mut())?;
                break measured;
            }
        };
        let began_judging = Instant::now();
        let wrong = if drawn { output_sampling::wrong_output(prepared.as_mut(), cancel)? } else { None };
        let judging = began_judging.elapsed() + measured.samples.clearing;
        let verdict = match wrong {
            None if certifies => self.certify(case, turn.round, prepared.as_mut(), cancel)?,
            wrong => wrong,
        };
        let resolved = with(method, prepared.resolved());
        let transfer = match measure.transfer.zip(primitives::work(case, &resolved)) {
            Some((memory, work)) => prepared.transfer(work.inputs_and_results(), memory)?,
            None => None,
        };
        let doubts = measured.doubts(&mut self.clocks, case.backend(), &resolved);
        let result = RoundResult {
            case: case.id.clone(),
            round: turn.round,
            attempt: turn.attempt,
            samples: measured.samples.seconds,
            batch: measured.batch,
            tolerance: matches!(verdict, Some(Verdict::Certified { .. })).then(|| prepared.tolerance()),
            verdict,
            judged,
            memory: prepared.memory() + measured.samples.evictor,
            transfer,
            resolved,
            started: measured.started,
            generate: Some(generate),
            wall: began.elapsed().saturating_sub(paused).as_secs_f64(),
            elapsed: progress.clock.elapsed(),
            conditions: measured.conditions,
            flags: doubts.iter().map(|(flag, _)| *flag).collect(),
        };
        if drawn {
            let rest = Duration::try_from_secs_f64(result.wall).unwrap_or_default();
            self.output_sampling.took(&progress.plan.cases[turn.case], judging, rest.saturating_sub(judging));
        }
        Ok((result, doubts))
    }

    /// Certifies the case if this engine has not done so before. An interrupted certification is repeated the
    /// next time.
    fn certify(
        &mut self,
        case: &Case,
        round: u32,
        prepared: &mut dyn Prepared,
        cancel: &Cancel,
    ) -> Result<Option<Verdict>, TurnError> {
        if self.certified.contains(&case.id) {
            return Ok(None);
        }
        stage(&mut self.output, case, round, Stage::Certify)?;
        let verdict = prepared.certify(cancel)?;
        self.certified.insert(case.id.clone());
        Ok(Some(verdict))
    }

    /// Pauses if requested. Anything that happens meanwhile, such as the client writing reports, counts neither
    /// towards the round's conditions nor its time.
    fn rest(&mut self, progress: &mut PlanProgress) -> io::Result<Duration> {
        let Some(away) = self.hold(progress)? else { return Ok(Duration::ZERO) };
        self.watch.begin_anew();
        Ok(away)
    }
}

/// Returns the case with its method chosen, and the chosen parameters for the record. A case whose method is
/// not `auto` is returned unchanged.
///
/// # Errors
/// [`Failure::NotApplicable`] if the device has no profile or the model cannot choose.
fn chosen(
    case: &Case,
    profile: Option<&Profile>,
    model: Option<&dyn Model>,
) -> Result<(Case, Vec<(String, Value)>), Failure> {
    if primitives::method_candidates(case).is_empty() {
        return Ok((case.clone(), Vec::new()));
    }
    let missing = |what: &str| Failure::NotApplicable(what.to_owned());
    let profile = profile.ok_or_else(|| missing("no profile of this device; run scatterlab calibrate"))?;
    let model = model.ok_or_else(|| missing("this build has no model that chooses"))?;
    let choice = choose(case, profile, model).map_err(Failure::NotApplicable)?;
    let params = choice.map_or_else(|| case.params.clone(), |choice| choice.params);
    let method = |(key, _): &(&String, &Value)| key.as_str() == "method" || key.starts_with("method.");
    let resolved = params.0.iter().filter(method).map(|(key, value)| (key.clone(), value.clone())).collect();
    Ok((Case { params, ..case.clone() }, resolved))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Params;
    use crate::model;

    fn case(method: &str) -> Case {
        let text = |v: &str| Value::Text(v.to_owned());
        let params = Params::default()
            .with("backend", text("cpu"))
            .with("method", text(method))
            .with("tuples", Value::Int(64));
        let primitive = "scatter".to_owned();
        Case { id: "a".into(), experiment: 0, primitive, params, seed: 1, not_applicable: None }
    }

    #[test]
    fn a_method_that_is_not_open_stays() {
        let direct = case("direct");
        assert_eq!(chosen(&direct, None, None), Ok((direct.clone(), Vec::new())));
    }

    #[test]
    fn without_a_profile_nothing_is_chosen() {
        let reason = "no profile of this device; run scatterlab calibrate".to_owned();
        assert_eq!(
            chosen(&case("auto"), None, model::find(model::DEFAULT_MODEL)),
            Err(Failure::NotApplicable(reason))
        );
    }

    #[test]
    fn the_choice_is_for_the_record() {
        let profile = model::shipped_profile("g80");
        let model = model::find("he2007");
        let mut open = case("auto");
        open.params = open.params.with("backend", Value::Text("cuda".into()));
        let (case, resolved) = chosen(&open, profile.as_ref(), model).expect("chosen");
        assert_eq!((case.id.as_str(), case.params.text("method")), ("a", Some("direct")));
        assert_eq!(resolved, [("method".to_owned(), Value::Text("direct".into()))]);
    }
}
