//! stream on a GPU: vectors, one launch an execution (`kernels/stream.cu`).

mod certify;
mod kernels;
mod tuned;

use crate::case::tuning::Tuning;
use crate::case::{Cancel, Case, Failure, Fault, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{DeviceBuffer, Gpu};
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{Launched, Named, length, poison, refused};
use crate::primitives::range::{Range, ranges};
use crate::primitives::stream::spec::{Kernel, Spec};
use kernels::{Kernels, Sum};
use tuned::Tuned;

/// Arrays on the device. Each has a guard element behind its last one, which the
/// deliberately wrong implementations may touch.
struct Arrays {
    /// The operands that the kernel reads, in the order of its formula.
    sources: Vec<DeviceBuffer<f64>>,
    /// What it writes; `None` for read.
    destination: Option<DeviceBuffer<f64>>,
    sum: Option<Sum>,
}

struct Stream {
    gpu: Gpu,
    spec: Spec,
    tuned: Tuned,
    kernels: Kernels,
    arrays: Arrays,
    /// What an execution launches.
    ranges: Vec<Range>,
    /// Elements by which the destination (for read: the source) is misplaced.
    shift: u64,
}

/// Allocates and generates the arrays of a stream case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let (spec, tuned) = read(case)?;
    let bytes = 8 * (spec.elements + 1) * spec.arrays().count() as u64;
    gpu.require(bytes)?;
    let kernels = Kernels::new(gpu, spec.kernel, &tuned)?;
    cancel.check()?;
    let arrays = Arrays::new(gpu, &spec, &kernels)?;
    gpu.synchronize()?;
    Ok(Box::new(Stream {
        gpu: gpu.clone(),
        spec,
        tuned,
        kernels,
        arrays,
        ranges: ranges(spec.elements, fault),
        shift: u64::from(fault == Some(Fault::OffByOne)),
    }))
}

fn read(case: &Case) -> Result<(Spec, Tuned), Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    let asked = Tuning::of(&case.params).map_err(refused)?;
    Ok((spec, Tuned::new(spec.kernel, asked)))
}

/// What an execution of a case launches.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let (spec, tuned) = read(case)?;
    Ok(Launched { kernel: tuned.kernel_name(spec.kernel), launches: 1 })
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &Case) -> Result<Vec<Named>, Failure> {
    let (spec, tuned) = read(case)?;
    Ok(kernels::asked(spec.kernel, &tuned))
}

impl Arrays {
    fn new(gpu: &Gpu, spec: &Spec, kernels: &Kernels) -> Result<Arrays, Failure> {
        let room = length(spec.elements + 1)?;
        let mut sources = Vec::new();
        for array in spec.kernel.sources() {
            let mut buffer = gpu.alloc(room)?;
            poison(gpu, &mut buffer)?;
            kernels.fill(gpu, &mut buffer, array.seed(spec.seed), spec.elements)?;
            sources.push(buffer);
        }
        let destination = match spec.kernel.destination() {
            Some(_) => Some(gpu.alloc(room)?),
            None => None,
        };
        let sum = match spec.kernel {
            Kernel::Read => Some(kernels.sum(gpu)?),
            _ => None,
        };
        Ok(Arrays { sources, destination, sum })
    }

    fn bytes(&self) -> u64 {
        let arrays = self.sources.iter().chain(&self.destination).map(DeviceBuffer::bytes).sum::<u64>();
        arrays + self.sum.as_ref().map_or(0, Sum::bytes)
    }
}

impl Stream {
    /// Queues one execution.
    fn execute(&mut self) -> Result<(), Failure> {
        self.ranges
            .iter()
            .try_for_each(|&range| self.kernels.execute(&self.gpu, &mut self.arrays, range, self.shift))
    }

    /// What was written becomes poison, and what was read is forgotten.
    fn clear(&mut self) -> Result<(), Failure> {
        if let Some(destination) = &mut self.arrays.destination {
            poison(&self.gpu, destination)?;
        }
        self.arrays.sum.as_mut().map_or(Ok(()), |sum| sum.clear(&self.gpu))
    }
}

impl Prepared for Stream {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.clear()?;
        self.execute()?;
        cancel.check()?;
        certify::verdict(&self.gpu, &self.kernels, &self.spec, &self.arrays)
    }

    fn memory(&self) -> u64 {
        self.arrays.bytes()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.tuned.0.resolved()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.clear()?;
        self.execute()?;
        let values = match (&self.arrays.destination, &self.arrays.sum) {
            (Some(destination), _) => destination.range_to_host(0..length(self.spec.elements)?)?,
            (None, Some(sum)) => vec![sum.value()?],
            (None, None) => return Err(Failure::Failed("stream has no output".to_owned())),
        };
        Ok(values.into_iter().flat_map(f64::to_le_bytes).collect())
    }
}
