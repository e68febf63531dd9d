//! The engine of one rank of a parallel job, running inside the rank's own process: all ranks run every case at
//! the same time, each on its own arrays.

use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::noise_monitor::Watch;
use super::output_sampling;
use super::sampler::{Around, Round};
use crate::case::{Cancel, Case, Device, Failure, Measure, Value, Verdict};
use crate::device::Prepared;
use crate::engine::Executor;
use crate::engine::ranks::{Patience, Ranks};
use crate::inputs::indices::Store;
use crate::recipe::plan::Plan;
use crate::stats::noise::{Clocks, Flag};

/// How long a rank that cannot run a case waits for the other ranks to agree.
const SOON: Duration = Duration::from_secs(2);

/// One rank's results for a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Share {
    /// Seconds per execution, one entry per sample.
    pub seconds: Vec<f64>,
    pub verdict: Option<Verdict>,
    /// Reasons to doubt the samples.
    pub flags: Vec<Flag>,
}

/// The results of all ranks for a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// In rank order.
    Measured(Vec<Share>),
    /// The case cannot run on any rank, for the first rank's reason.
    NotApplicable(String),
}

/// A rank's device for a case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Host number, as in [`Ranks::host`].
    pub host: usize,
    pub device: Device,
    /// Number of devices of that backend visible to the rank, including this one.
    pub among: usize,
}

/// State of one rank.
pub struct Ranked<'a> {
    ranks: &'a dyn Ranks,
    /// Index among the ranks of the same host.
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

    /// Loads the index arrays of a plan's cases.
    pub fn set_index_store(&mut self, plan: &Plan) {
        let indices = Arc::new(Store::of(&plan.indices));
        self.executors.iter_mut().for_each(|executor| executor.set_index_store(&indices));
    }

    /// Each rank's device for a case.
    ///
    /// # Errors
    /// Names the first rank without an available device; the same on every rank.
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
            match place.device.reason() {
                None => Ok(place),
                Some(reason) => Err(format!("rank {rank}: {backend} cannot run here: {reason}")),
            }
        };
        self.ranks.all(&own).into_iter().enumerate().map(lacks).collect()
    }

    /// Whether this rank can run cases on a backend.
    pub fn has(&self, backend: &str) -> bool {
        let device = self.executor(backend).and_then(|at| self.executors[at].devices().into_iter().next());
        device.is_some_and(|device| device.is_available())
    }

    /// The case with its device set to this rank's own.
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

    /// Measures a case on all ranks, with a barrier before each sample. `label` names the case in messages.
    ///
    /// # Errors
    /// A failure on some rank, the same on every rank. A failure at a point where the other ranks are not
    /// listening aborts all of them.
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
        // The other ranks would wait at the next barrier for a rank that fails.
        let share = self.share(case, at, prepared.as_mut(), measure);
        let share = share.unwrap_or_else(|failure| abort(self.ranks, label, &failure));
        let shares = self.ranks.all(&share);
        match shares.iter().enumerate().find_map(mistake) {
            Some(mistake) => Err(mistake),
            None => Ok(Outcome::Measured(shares)),
        }
    }

    /// Whether all ranks can run a case (`Ok(Ok)`) or none of them can (`Ok(Err)`).
    fn agree<T>(&self, label: &str, own: Result<T, Failure>) -> Result<Result<T, String>, String> {
        let reason = match &own {
            Ok(_) => None,
            Err(Failure::NotApplicable(reason)) => Some(reason.clone()),
            Err(failure) => abort(self.ranks, label, failure),
        };
        // Inapplicability is known before any allocation, so other ranks that cannot run the case arrive soon.
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

    /// This rank's measurement.
    fn share(
        &mut self,
        case: &Case,
        at: usize,
        prepared: &mut dyn Prepared,
        measure: Measure,
    ) -> Result<Share, Failure> {
        let (judged, cancel) = (measure.certify, &Cancel::default());
        let (executor, watch) = (self.executors[at].as_ref(), self.watch.as_mut());
        let round = Round { measure, judged, executor, watch, cancel };
        // Nothing interrupts a rank's samples.
        let Some(measured) = round.measure(prepared, &mut Together(self.ranks))? else {
            return Err(Failure::Cancelled);
        };
        let doubts = measured.doubts(&mut self.clocks, case.backend(), &prepared.resolved());
        let mut certified = || match output_sampling::wrong_output(prepared, cancel)? {
            None => prepared.certify(cancel),
            Some(wrong) => Ok(wrong),
        };
        let verdict = judged.then(&mut certified).transpose()?;
        let flags = doubts.into_iter().map(|(flag, _)| flag).collect();
        Ok(Share { seconds: measured.samples.seconds, verdict, flags })
    }
}

/// Samples that all ranks begin together.
struct Together<'a>(&'a dyn Ranks);

impl Around for Together<'_> {
    type Error = Failure;

    /// All ranks use the largest batch.
    fn warmed_up(&mut self, batch: u32) -> Result<u32, Failure> {
        Ok(self.0.all(&batch).into_iter().max().unwrap_or(batch))
    }

    fn ready(&mut self) -> Result<bool, Failure> {
        self.0.barrier();
        Ok(true)
    }
}

/// Key of the parameter that selects a GPU of the host.
const DEVICE: &str = "backend.cuda.device";

/// The device number of a rank: counted from the number in the case, one device per rank of the host. A
/// launcher may restrict each rank to a single visible GPU.
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
