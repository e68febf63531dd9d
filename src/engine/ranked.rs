//! The engine of one rank of a parallel job, inside of the rank's own process: every rank
//! runs every case on arrays of its own, all at the same time.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::noise_monitor::Watch;
use super::round::conditions;
use super::sampler;
use crate::case::{Availability, Cache, Cancel, Case, Device, Failure, Measure, Value, Verdict};
use crate::device::Prepared;
use crate::engine::Executor;
use crate::engine::ranks::{Patience, Ranks};
use crate::inputs::indices::Store;
use crate::recipe::plan::Plan;
use crate::stats::noise::{self, Clocks, Flag};

/// How long a rank that cannot run a case waits for the others to say so too.
const SOON: Duration = Duration::from_secs(2);

/// What one rank measured of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Seconds of one execution each, of one run after the other.
    pub seconds: Vec<f64>,
    pub verdict: Option<Verdict>,
    /// What makes them doubtful.
    pub flags: Vec<Flag>,
}

/// What all ranks made of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// In the order of the ranks.
    Measured(Vec<Share>),
    /// It cannot run on any of them: why not on the first.
    NotApplicable(String),
}

/// What a rank has for its cases.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// As [`Ranks::host`] tells it.
    pub host: usize,
    pub device: Device,
    /// Devices of that backend that the rank sees, this one among them.
    pub among: usize,
}

/// One rank.
pub struct Ranked<'a> {
    ranks: &'a dyn Ranks,
    /// Its place among the ranks of its host.
    local: usize,
    executors: Vec<Box<dyn Executor>>,
    watch: Box<dyn Watch>,
    clocks: Clocks,
}

impl<'a> Ranked<'a> {
    pub fn new(
        ranks: &'a dyn Ranks,
        local: usize,
        executors: Vec<Box<dyn Executor>>,
        watch: Box<dyn Watch>,
    ) -> Ranked<'a> {
        Ranked { ranks, local, executors, watch, clocks: Clocks::default() }
    }

    /// Takes the index arrays of a plan's cases.
    pub fn set_index_store(&mut self, plan: &Plan) {
        let indices = Arc::new(Store::of(&plan.indices));
        self.executors.iter_mut().for_each(|executor| executor.set_index_store(&indices));
    }

    /// What each rank has for a case.
    ///
    /// # Errors
    /// The first rank that has nothing, the same on every rank.
    pub fn places(&self, case: &Case) -> Result<Vec<Place>, String> {
        let own = self.executor(case.backend()).and_then(|at| {
            let mut known = self.executors[at].devices();
            let (among, number) = (known.len(), device_of(case, self.local, known.len()));
            let host = self.ranks.host();
            (number < among).then(|| Place { host, device: known.swap_remove(number), among })
        });
        let lacks = |(rank, place): (usize, Option<Place>)| {
            let backend = case.backend();
            let Some(place) = place else { return Err(format!("rank {rank}: there is no such {backend}")) };
            match &place.device.availability {
                Availability::Available => Ok(place),
                Availability::Unavailable { reason } => {
                    Err(format!("rank {rank}: {backend} cannot run here: {reason}"))
                }
            }
        };
        self.ranks.all(&own).into_iter().enumerate().map(lacks).collect()
    }

    /// Whether this rank can run cases of a backend.
    pub fn has(&self, backend: &str) -> bool {
        let device = self.executor(backend).and_then(|at| self.executors[at].devices().into_iter().next());
        device.is_some_and(|device| device.availability == Availability::Available)
    }

    /// A case on this rank's own device.
    fn placed(&self, case: &Case, at: usize) -> Case {
        let mut case = case.clone();
        if case.backend() == "cuda" {
            let number = device_of(&case, self.local, self.executors[at].devices().len());
            case.params = case.params.with(DEVICE, Value::Int(number as u64));
        }
        case
    }

    fn executor(&self, backend: &str) -> Option<usize> {
        self.executors.iter().position(|executor| executor.backend() == backend)
    }

    /// Measures a case on all ranks: a barrier before each run. `label` calls it in messages.
    ///
    /// # Errors
    /// What went wrong on some rank, the same on every rank. What goes wrong where the
    /// others do not look at once ends them all.
    pub fn measure(&mut self, label: &str, case: &Case, measure: Measure) -> Result<Outcome, String> {
        if let Some(reason) = &case.not_applicable {
            return Ok(Outcome::NotApplicable(reason.clone()));
        }
        let Some(at) = self.executor(case.backend()) else {
            return Err(format!("no backend {}", case.backend()));
        };
        let case = &self.placed(case, at);
        self.watch.begin();
        let prepared = self.executors[at].prepare(case, None, &Cancel::default());
        let mut prepared = match self.agree(label, prepared)? {
            Ok(prepared) => prepared,
            Err(reason) => return Ok(Outcome::NotApplicable(reason)),
        };
        let share = self.share(label, case, at, prepared.as_mut(), measure);
        let shares = self.ranks.all(&share);
        match shares.iter().enumerate().find_map(mistake) {
            Some(mistake) => Err(mistake),
            None => Ok(Outcome::Measured(shares)),
        }
    }

    /// Whether all ranks can run a case (`Ok(Ok)`), or none of them (`Ok(Err)`).
    fn agree<T>(&self, label: &str, own: Result<T, Failure>) -> Result<Result<T, String>, String> {
        let reason = match &own {
            Ok(_) => None,
            Err(Failure::NotApplicable(reason)) => Some(reason.clone()),
            Err(failure) => abort(self.ranks, label, failure),
        };
        // What cannot run is known before its arrays are made: who else cannot is here soon.
        let why = reason.as_ref().map(|reason| format!("{label}: {}", alone(reason)));
        let patience = why.as_ref().map(|why| Patience { lasts: SOON, why });
        let reasons = self.ranks.all_within(&reason, patience);
        let first = reasons.iter().enumerate().find_map(|(rank, r)| Some((rank, r.clone()?)));
        match first {
            None => own.map(Ok).map_err(|failure| failure.to_string()),
            Some((_, reason)) if reasons.iter().all(Option::is_some) => Ok(Err(reason)),
            Some((rank, reason)) => Err(format!("rank {rank}: {}", alone(&reason))),
        }
    }

    /// This rank's part. A failure here ends all ranks: they wait at the next barrier.
    fn share(
        &mut self,
        label: &str,
        case: &Case,
        at: usize,
        prepared: &mut dyn Prepared,
        measure: Measure,
    ) -> Share {
        let (ranks, cancel) = (self.ranks, Cancel::default());
        let executor = self.executors[at].as_ref();
        let cold = measure.cache == Cache::Cold;
        let batch = sampler::warm_up(prepared, measure.warm_up, cold, &cancel)
            .unwrap_or_else(|failure| abort(ranks, label, &failure));
        // Who needs the fewest executions for a sample does as many as all others.
        let batch = ranks.all(&batch).into_iter().max().unwrap_or(batch);
        let mut before = || {
            if cold {
                executor.evict()?;
            }
            ranks.barrier();
            Ok(true)
        };
        let samples = sampler::sample(prepared, batch, measure.samples, &mut before, &cancel);
        let samples = samples.unwrap_or_else(|failure| abort(ranks, label, &failure));
        let seconds = samples.unwrap_or_default();
        let conditions = conditions(self.watch.as_mut(), executor);
        let usual = self.clocks.usual(case.backend(), &prepared.resolved(), conditions.clock);
        let flags = noise::doubts(&seconds, &conditions, usual).into_iter().map(|(flag, _)| flag).collect();
        let certified = || prepared.certify(&cancel).unwrap_or_else(|failure| abort(ranks, label, &failure));
        Share { seconds, verdict: measure.certify.then(certified), flags }
    }
}

/// Key of the parameter that tells the GPUs of a host apart.
const DEVICE: &str = "backend.cuda.device";

/// The number of a rank's own device: from the one that the case asks for on, one for each
/// rank of the host. A launcher may have given each rank a GPU that it sees alone.
fn device_of(case: &Case, local: usize, among: usize) -> usize {
    let first = case.params.int(DEVICE).unwrap_or(0) as usize;
    if case.backend() == "cuda" && first < among { (first + local) % among } else { first }
}

fn alone(reason: &str) -> String {
    format!("n/a: {reason}; other ranks can run it")
}

fn abort(ranks: &dyn Ranks, label: &str, failure: &Failure) -> ! {
    ranks.abort(&format!("{label}: {failure}"))
}

fn mistake((rank, share): (usize, &Share)) -> Option<String> {
    match &share.verdict {
        Some(Verdict::Wrong { mistake }) => Some(format!("rank {rank}: the result is wrong: {mistake}")),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
