//! A case that asks for what L2 fetches from memory at a miss, of whatever primitive.

use crate::backend::cuda::{Gpu, Limit};
use crate::backend::tuning::Tuning;
use crate::backend::{Cancel, Failure, Prepared, Verdict};
use crate::plan::{Case, Value};
use crate::primitives::cuda::refused;

/// A case in place, and the limit that goes when it goes.
struct Fetching {
    case: Box<dyn Prepared>,
    limit: Limit,
}

/// Prepares a case under the limit that it asks for, if it asks for one.
pub fn prepared(
    gpu: &Gpu,
    case: &Case,
    prepare: impl FnOnce() -> Result<Box<dyn Prepared>, Failure>,
) -> Result<Box<dyn Prepared>, Failure> {
    match Tuning::of(&case.params).map_err(refused)?.fetch {
        None => prepare(),
        Some(bytes) => {
            let limit = gpu.fetching(bytes)?;
            Ok(Box::new(Fetching { case: prepare()?, limit }))
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
        let fetch = Tuning { fetch: u32::try_from(self.limit.bytes()).ok(), ..Tuning::default() };
        self.case.resolved().into_iter().chain(fetch.resolved()).collect()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.case.read_back()
    }
}
