//! A case that asks for what L2 fetches from memory at a miss, of whatever primitive.

use crate::case::tuning::Tuning;
use crate::case::{Cancel, Case, Failure, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{Gpu, Limit, OneGpu};

/// A case in place, and the limits of its GPUs that go when it goes.
struct Fetching {
    case: OneGpu,
    limits: Vec<Limit>,
}

/// Prepares a case under the limit that it asks for on each of its GPUs, if it asks for one.
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

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.case.certify(cancel)
    }

    fn memory(&self) -> u64 {
        self.case.memory()
    }

    /// What the driver made of the limit.
    fn resolved(&self) -> Vec<(String, Value)> {
        let limit = self.limits.first().and_then(|limit| u32::try_from(limit.bytes()).ok());
        let fetch = Tuning { fetch: limit, ..Tuning::default() };
        self.case.resolved().into_iter().chain(fetch.resolved()).collect()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.case.read_back()
    }
}
