//! One attempt at one round of one case.

use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use super::choosing;
use super::noise_monitor::Watch;
use super::output_sampling;
use super::protocol::{Event, RoundResult, Stage};
use super::sampler;
use super::schedule::Turn;
use super::server::Server;
use super::snapshots::SampleContext;
use super::turns::PlanProgress;
use crate::case::{Cache, Cancel, Case, Failure, Value, Verdict};
use crate::device::{Prepared, timing_lock};
use crate::engine::Executor;
use crate::model;
use crate::primitives;
use crate::stats::noise::{self, Conditions, Flag};

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

/// Which samples to take.
struct Sampling {
    /// Executions in a sample.
    batch: u32,
    count: u32,
    /// Whether caches are evicted before each.
    cold: bool,
    /// Whether the last one's output is judged.
    judged: bool,
}

/// The samples of an uninterrupted stretch.
struct SampleBatch {
    /// Seconds per execution.
    samples: Vec<f64>,
    batch: u32,
    /// Start of the first sample, seconds since the epoch.
    started: f64,
    /// Time in which the outputs were cleared before the last sample.
    clearing: Duration,
    /// Bytes allocated for eviction.
    evictor: u64,
    conditions: Conditions,
}

/// Joins the parameters of a chosen method with those resolved by the preparation, which take precedence.
fn with(method: Vec<(String, Value)>, found: Vec<(String, Value)>) -> Vec<(String, Value)> {
    let told = |key: &str| found.iter().any(|(other, _)| other == key);
    let method: Vec<_> = method.into_iter().filter(|(key, _)| !told(key)).collect();
    method.into_iter().chain(found).collect()
}

/// Why samples are missing: an error of the connection, if there was one, is the cause.
fn trouble(failure: Failure, broken: &mut Option<io::Error>) -> TurnError {
    broken.take().map_or(TurnError::Failure(failure), TurnError::Io)
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
        self.stage(case, turn.round, Stage::Generate)?;
        let profile = self.profiles.of(case).ok();
        let (chosen, method) = choosing::chosen(case, profile, model::find(model::DEFAULT_MODEL))?;
        let mut prepared = self.executors[at].prepare(&chosen, None, cancel)?;
        if host != at {
            self.executors[host].wait_for_own_work()?;
        }
        let certifies = measure.certify && case.peer().is_none();
        let judged = certifies.then(|| self.output_sampling.draw(case, turn.round, turn.attempt));
        let drawn = judged.is_some_and(|judged| judged.drawn);
        let mut paused = Duration::ZERO;
        let taken = loop {
            paused += self.rest(progress)?;
            cancel.check()?;
            let _alone = timing_lock::timing();
            let before = self.executors[host].gpu_conditions();
            self.stage(case, turn.round, Stage::WarmUp)?;
            let cold = measure.cache == Cache::Cold;
            let batch = sampler::warm_up(prepared.as_mut(), measure.warm_up, cold, cancel)?;
            self.stage(case, turn.round, Stage::Sample)?;
            let sampling = Sampling { batch, count: measure.samples, cold, judged: drawn };
            let first = turn.round == 0 && turn.attempt == 0;
            let context = SampleContext {
                case,
                round: turn.round,
                keeps: first.then_some(measure.snapshots),
                count: measure.samples,
                batch,
                cold,
                orders: &progress.orders,
            };
            if let Some(taken) = self.take_samples(prepared.as_mut(), host, &sampling, &context, cancel)? {
                break SampleBatch { conditions: taken.conditions.since(before), ..taken };
            }
        };
        let began_judging = Instant::now();
        let mistake = if drawn { output_sampling::mistake_after(prepared.as_mut(), cancel)? } else { None };
        let judging = began_judging.elapsed() + taken.clearing;
        let verdict = match mistake {
            Some(mistake) => Some(Verdict::Wrong { mistake }),
            None if certifies => self.certify(case, turn.round, prepared.as_mut(), cancel)?,
            None => None,
        };
        let resolved = with(method, prepared.resolved());
        let transfer = match measure.transfer.zip(primitives::work(case, &resolved)) {
            Some((memory, work)) => prepared.transfer(work.inputs_and_results(), memory)?,
            None => None,
        };
        let usual = self.clocks.usual(case.backend(), &resolved, taken.conditions.clock);
        let comparable = sampler::comparable(&taken.samples, drawn);
        let doubts = noise::doubts(comparable, &taken.conditions, usual);
        let result = RoundResult {
            case: case.id.clone(),
            round: turn.round,
            attempt: turn.attempt,
            samples: taken.samples,
            batch: taken.batch,
            verdict,
            judged,
            memory: prepared.memory() + taken.evictor,
            transfer,
            resolved,
            started: taken.started,
            wall: began.elapsed().saturating_sub(paused).as_secs_f64(),
            elapsed: progress.clock.elapsed(),
            conditions: taken.conditions,
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
        self.stage(case, round, Stage::Certify)?;
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

    /// Takes the timed samples; `None` if a pause interrupts them, so that the samples of a round are always
    /// contiguous.
    fn take_samples(
        &mut self,
        prepared: &mut dyn Prepared,
        executor: usize,
        sampling: &Sampling,
        context: &SampleContext,
        cancel: &Cancel,
    ) -> Result<Option<SampleBatch>, TurnError> {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |d| d.as_secs_f64());
        let executor = self.executors[executor].as_ref();
        let (snapshots, output, mut broken) = (&mut self.snapshots, &mut self.output, None);
        let mut between =
            |prepared: &mut dyn Prepared, nth| snapshots.between(context, nth, prepared, output, &mut broken);
        let mut evictor = 0;
        let mut before = || {
            if context.orders.paused() {
                return Ok(false);
            }
            evictor = if sampling.cold { executor.evict()? } else { 0 };
            Ok(true)
        };
        let mut clearing = Duration::ZERO;
        let judged = sampling.judged.then_some(&mut clearing);
        let Sampling { batch, count, .. } = *sampling;
        let samples = sampler::sample(prepared, batch, count, judged, &mut between, &mut before, cancel);
        let samples = samples.map_err(|failure| trouble(failure, &mut broken))?;
        let conditions = conditions(self.watch.as_mut(), executor);
        if samples.is_some() {
            let after = self.snapshots.after(context, prepared, &mut self.output, &mut broken);
            after.map_err(|failure| trouble(failure, &mut broken))?;
        }
        Ok(samples.map(|samples| SampleBatch { samples, batch, started, clearing, evictor, conditions }))
    }

    fn stage(&mut self, case: &Case, round: u32, stage: Stage) -> io::Result<()> {
        self.emit(&Event::Progress { case: case.id.clone(), round, stage })
    }
}

/// The conditions around the samples. For a GPU's case the CPU clock is omitted, because nothing keeps the CPU
/// at its full clock.
pub(super) fn conditions(watch: &mut dyn Watch, executor: &dyn Executor) -> Conditions {
    let gpu = executor.gpu_conditions();
    let seen = watch.end();
    Conditions { clock: seen.clock.filter(|_| gpu.is_none()), gpu, ..seen }
}
