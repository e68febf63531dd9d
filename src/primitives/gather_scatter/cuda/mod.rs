//! gather and scatter on a GPU (`kernels/gather_scatter.cu`). A pass is a launch, so it
//! ends before the next begins.

mod certify;
mod kernels;
mod locations;
mod spans;
mod tuned;

use crate::backend::cuda::{DeviceBuffer, Gpu, Persisting};
use crate::backend::tuning::Tuning;
use crate::backend::{Cancel, Failure, Fault, Prepared, Verdict};
use crate::indices::Store;
use crate::plan::{Case, Value};
use crate::primitives::cuda::{Launched, length, poison, refused};
use crate::primitives::gather_scatter::given;
use crate::primitives::gather_scatter::spec::{Kernel, Locations as Distribution, Spec};
use kernels::{Arrays, Kernels};
use locations::Locations;
use spans::Span;
use tuned::Tuned;

/// A case in place. R_in and R_out have a guard tuple behind their last one, which the
/// deliberately wrong implementations may touch.
struct Move {
    gpu: Gpu,
    spec: Spec,
    tuned: Tuned,
    kernels: Kernels,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    locations: Locations,
    persisting: Option<Persisting>,
    /// What an execution launches.
    spans: Vec<Span>,
    /// Tuples by which the randomly accessed array is misplaced.
    shift: u64,
}

/// Allocates and generates the arrays of a gather or scatter case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(
    gpu: &Gpu,
    case: &Case,
    indices: &Store,
    fault: Option<Fault>,
    cancel: &Cancel,
) -> Result<Box<dyn Prepared>, Failure> {
    let (spec, tuned) = read(case)?;
    let given = given::load(&spec, &case.params, |hash| indices.get(hash))?;
    gpu.require(needed(&spec))?;
    let kernels = Kernels::new(gpu, &spec, &tuned)?;
    cancel.check()?;
    let room = |tuples: u64| length((tuples + 1) * spec.tuple / 4);
    let mut input = gpu.alloc(room(spec.input())?)?;
    poison(gpu, &mut input)?;
    kernels.fill_tuples(gpu, &input, &spec)?;
    let output = gpu.alloc(room(spec.output())?)?;
    let all = given.as_deref().map(Vec::as_slice);
    let locations = Locations::new(gpu, &spec, all, &kernels, cancel)?;
    let by_location = if spec.kernel == Kernel::Gather { &input } else { &output };
    let persisting = tuned.0.persist.map(|bytes| gpu.persisting(by_location, bytes)).transpose()?;
    let fault_at = match fault {
        Some(fault) => Some((fault, locations.first(&spec)?)),
        None => None,
    };
    let spans = spans::spans(&spec, fault_at)?;
    gpu.synchronize()?;
    let shift = u64::from(fault == Some(Fault::OffByOne));
    let gpu = gpu.clone();
    Ok(Box::new(Move { gpu, spec, tuned, kernels, input, output, locations, persisting, spans, shift }))
}

fn read(case: &Case) -> Result<(Spec, Tuned), Failure> {
    let kernel = if case.primitive == "scatter" { Kernel::Scatter } else { Kernel::Gather };
    let spec = Spec::from_params(kernel, &case.params, case.seed).map_err(refused)?;
    let asked = Tuning::of(&case.params).map_err(refused)?;
    Ok((spec, Tuned::new(&spec, asked)))
}

/// What an execution of a case launches.
///
/// # Errors
/// A case that does not exist, or that takes too many launches.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let (spec, tuned) = read(case)?;
    Ok(Launched { kernel: tuned.kernel_name(&spec), launches: spans::spans(&spec, None)?.len() as u64 })
}

/// Bytes that the case needs at its peak: the arrays, and either the counters of the
/// partitions or the certificate's bitmap.
fn needed(spec: &Spec) -> u64 {
    let arrays = (spec.input() + spec.output() + 2) * spec.tuple + spec.moves() * spec.index;
    let scratch = match spec.locations {
        Distribution::Partitions { count } => {
            locations::counters(spec.tuples, count).max(certify::bitmap(spec))
        }
        Distribution::Given { .. } => certify::bitmap(spec),
        _ => 0,
    };
    arrays + scratch
}

impl Move {
    /// Queues one execution.
    fn execute(&self) -> Result<(), Failure> {
        let arrays = Arrays { input: &self.input, output: &self.output, locations: &self.locations.values };
        self.spans
            .iter()
            .try_for_each(|span| self.kernels.execute(&self.gpu, &self.spec, &arrays, span, self.shift))
    }
}

impl Prepared for Move {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        cancel.check()?;
        certify::verdict(self)
    }

    fn memory(&self) -> u64 {
        self.input.bytes() + self.output.bytes() + self.locations.bytes()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let persist = self.persisting.as_ref().map(Persisting::bytes);
        Tuning { persist, ..self.tuned.0 }.resolved()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        let words = self.output.range_to_host(0..length(self.spec.output() * self.spec.tuple / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}
