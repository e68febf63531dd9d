//! histogram on a GPU (`kernels/histogram.cu`).

mod certify;
mod input;
mod kernels;

use super::Spec;
use crate::case::{Cancel, Case, Failure, Fault, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{DeviceBuffer, Gpu};
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{Launched, Named, length, named, poison, refused};
use crate::primitives::range::{Range, ranges};
use certify::Certificate;
use input::Input;
use kernels::{Counting, Kernels};

/// A case in place.
struct Histogram {
    gpu: Gpu,
    spec: Spec,
    kernels: Kernels,
    certificate: Certificate,
    input: Input,
    counts: DeviceBuffer<u64>,
    /// Counts of the subproblems, of each bin in turn, where they are stored.
    stored: DeviceBuffer<u32>,
    /// What an execution launches.
    ranges: Vec<Range>,
    /// Values by which the input is misplaced.
    shift: u64,
}

const MODULE: &str = "histogram";

/// Allocates and generates the arrays of a case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    gpu.require(spec.input() + 4 + 2 * spec.output() + spec.stored())?;
    let module = gpu.module(MODULE)?;
    cancel.check()?;
    let kernels = Kernels::new(gpu, &module, &spec)?;
    let input = Input::new(gpu, &module, &spec)?;
    let ranges = ranges(spec.elements, fault);
    let stored = if spec.stored() > 0 { spec.bins * kernels::subproblems(&ranges) } else { 0 };
    let histogram = Histogram {
        certificate: Certificate::new(gpu, &module, &spec)?,
        counts: gpu.alloc(length(spec.bins)?)?,
        stored: gpu.alloc(length(stored)?)?,
        gpu: gpu.clone(),
        shift: u64::from(fault == Some(Fault::OffByOne)),
        spec,
        kernels,
        input,
        ranges,
    };
    gpu.synchronize()?;
    Ok(Box::new(histogram))
}

/// What an execution of a case launches; the clearing of the counts is the driver's.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    Ok(Launched { kernel: kernels::name(&spec), launches: if spec.stored() > 0 { 2 } else { 1 } })
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &Case) -> Result<Vec<Named>, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    let others = [[input::FILL, kernels::REDUCE], Certificate::KERNELS].concat();
    Ok([named(MODULE, [kernels::name(&spec)]), named(MODULE, others)].concat())
}

impl Histogram {
    /// Queues one execution.
    fn execute(&mut self) -> Result<(), Failure> {
        let gpu = self.gpu.clone();
        if !self.kernels.stores() {
            gpu.memset32(&mut self.counts, 0)?;
        }
        let mut column = 0;
        for range in &self.ranges {
            let x = self.input.values.pointer_at(length(range.first + self.shift)?)?;
            let counting = Counting { x, n: range.count, counts: &self.counts, stored: &self.stored };
            self.kernels.count(&gpu, &counting, (column, kernels::subproblems(&self.ranges)))?;
            column += kernels::subproblems(std::slice::from_ref(range));
        }
        self.kernels.reduce(&gpu, &self.stored, column, &self.counts)
    }
}

impl Prepared for Histogram {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        poison(&self.gpu, &mut self.counts)?;
        self.execute()?;
        cancel.check()?;
        let mistake = self.certificate.judge(&self.gpu, &self.spec, &self.input, &self.counts)?;
        Ok(match mistake {
            Some(mistake) => Verdict::Wrong { mistake },
            None => Verdict::Certified { checked: self.spec.elements },
        })
    }

    fn memory(&self) -> u64 {
        let held = [self.counts.bytes(), self.stored.bytes(), self.certificate.bytes(), self.kernels.bytes()];
        self.input.bytes() + held.into_iter().sum::<u64>()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        poison(&self.gpu, &mut self.counts)?;
        self.execute()?;
        Ok(self.counts.to_host()?.into_iter().flat_map(u64::to_le_bytes).collect())
    }
}
