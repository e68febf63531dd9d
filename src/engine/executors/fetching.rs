//! Cases of any primitive that set the L2 fetch granularity.

use crate::case::tuning::Tuning;
use crate::case::{Cancel, Case, Failure, HostMemory, Snapshot, Transfer, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{Gpu, Limit, OneGpu};

/// A prepared case, and the limits on its GPUs, which are restored when it is dropped.
struct Fetching {
    case: OneGpu,
    limits: Vec<Limit>,
}

/// Prepares a case with its requested fetch granularity, if any, set on each of its GPUs.
pub fn prepared<'a>(
    gpus: impl Iterator<Item = &'a Gpu>,
    case: &Case,
    prepare: impl FnOnce() -> Result<OneGpu, Failure>,
) -> Result<OneGpu, Failure> {
    match Tuning::of(&case.params)?.fetch {
        None => prepare(),
        Some(bytes) => {
            let limits = gpus.map(|gpu| gpu.fetching(bytes)).collect::<Result<_, _>>()?;
            Ok(Box::new(Fetching { case: prepare()?, limits }))
        }
    }
}

impl Prepared for Fetching {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.case.sample(batch)
    }

    fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        self.case.clear(cancel)
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.case.judge(cancel)
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.case.certify(cancel)
    }

    fn tolerance(&self) -> f64 {
        self.case.tolerance()
    }

    fn memory(&self) -> u64 {
        self.case.memory()
    }

    /// Includes the fetch granularity that the driver actually applied.
    fn resolved(&self) -> Vec<(String, Value)> {
        let limit = self.limits.first().and_then(|limit| u32::try_from(limit.bytes()).ok());
        let fetch = Tuning { fetch: limit, ..Tuning::default() };
        self.case.resolved().into_iter().chain(fetch.resolved()).collect()
    }

    fn transfer(&mut self, declared: [u64; 2], memory: HostMemory) -> Result<Option<Transfer>, Failure> {
        self.case.transfer(declared, memory)
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        self.case.snapshot()
    }

    fn disturb(&mut self, at: (f64, f64)) -> Result<bool, Failure> {
        self.case.disturb(at)
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.case.read_back()
    }
}
