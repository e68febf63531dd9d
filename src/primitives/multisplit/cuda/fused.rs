//! fused: a count of every tile and a single pass over the keys.

use super::input::Function;
use super::passes::{Arrays, Passes, Step};
use super::{Split, Splitter, passes};
use crate::case::Failure;
use crate::device::cuda::{Gpu, GpuFacts};
use crate::device::cuda::{Launched, Named};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::tiles::{field, way};

/// The paper's names of the same stages (ashkiani2017 §4.1).
const STAGES: &[&str] = &["pre-scan", "scan", "post-scan"];

/// A case's kernels and counts.
pub struct Fused {
    passes: Passes,
    function: Function,
}

/// What an execution launches.
pub fn launched(spec: &Spec) -> Launched {
    Launched { kernel: format!("regex:^({})$", way(spec).launched()), launches: 3 }
}

/// The kernels that a case asks for on such a GPU.
pub fn kernels(spec: &Spec, gpu: &GpuFacts) -> Vec<Named> {
    passes::kernels(way(spec), gpu)
}

impl Fused {
    /// Those of a case.
    ///
    /// # Errors
    /// What [`Passes::new`] says.
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function) -> Result<Fused, Failure> {
        let function =
            field(spec).map_or(function, |shift| Function::field(shift, spec.bits(), spec.buckets));
        Ok(Fused { passes: Passes::new(gpu, way(spec), spec.keys)?, function })
    }
}

impl Splitter for Fused {
    fn bytes(&self) -> u64 {
        self.passes.bytes()
    }

    fn stages(&self) -> &'static [&'static str] {
        STAGES
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        let arrays = Arrays {
            keys: what.keys,
            values: what.values,
            keys_out: what.keys_out,
            values_out: what.values_out,
            offsets: what.offsets,
            behind: 0,
        };
        let step = [Step::Count, Step::Scan, Step::Pass][stage];
        self.passes.step(gpu, &arrays, self.function, what.n, step)
    }
}
