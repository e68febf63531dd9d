//! sort on a GPU (`kernels/sort/sort.cu`, `kernels/sort/sort_sengupta2007.cu`, `kernels/sort/sort_he2007.cu`).

mod certify;
pub mod ranking;

use super::methods;
use certify::Certificate;
use prelude::*;

/// The names that methods need.
pub mod prelude {
    pub use super::Call;
    pub use crate::device::cuda::Plain;
    pub use crate::primitives::cuda::prelude::*;
    pub use crate::primitives::cuda::{Pair, Pairs};
    pub use crate::primitives::sort::Spec;
    pub use crate::primitives::sort::keys::{DIGIT_BITS, Digit, Digits};
}

/// The module of onesweep, but for its passes with bulk copies, and of the certificate.
pub const MODULE: &str = "sort";

/// An execution's `n` keys and values, which are sorted by way of arrays between. Addresses are aligned to an element.
#[derive(Clone, Copy)]
pub struct Call {
    pub from: Pair,
    pub between: Pair,
    pub to: Pair,
    pub n: u64,
}

/// A case in device memory.
pub struct Sort {
    spec: Spec,
    method: GpuMethod<Call>,
    certificate: Certificate,
    /// One key and value more than the case has, which only a deliberate mistake reads.
    input: Pairs,
    between: Pairs,
    output: Pairs,
}

impl GpuJob for Sort {
    type Case = Spec;

    fn kernels(spec: &Spec, capability: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(methods::cuda::kernels(spec, capability)?.untimed(MODULE, Certificate::KERNELS))
    }

    fn ranking(spec: &Spec, gpu: &Gpu) -> Result<f64, Failure> {
        ranking::rate(gpu, spec)
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.keys, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Sort, Failure> {
        let (gpu, n, sizes) = (setup.gpu, spec.keys, spec.sizes());
        let input = Pairs::new(gpu, n + 1, sizes)?;
        let keys = spec.source_with(setup.stored)?;
        let certificate = Certificate::new(gpu, &spec, &keys)?;
        certificate.fill(gpu, &input)?;
        let between = if methods::uses_between(&spec) { n } else { 0 };
        Ok(Sort {
            method: methods::cuda::method(gpu, &spec)?,
            certificate,
            input,
            between: Pairs::new(gpu, between, sizes)?,
            output: Pairs::new(gpu, n, sizes)?,
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let from = self.input.pointers_at(part.shift)?;
        let (between, to) = (self.between.pointers(), self.output.pointers());
        (self.method)(gpu, &Call { from, between, to, n: part.count })
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        self.output.outputs()
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.input.keys))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = self.certificate.judge(gpu, &self.spec, &self.output)?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}
