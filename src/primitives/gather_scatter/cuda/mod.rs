//! gather and scatter on a GPU (`kernels/gather_scatter.cu`). A pass is a launch, so it
//! ends before the next begins.

mod certify;
mod kernels;
mod locations;
mod partitioned;
mod spans;

use crate::case::gpus::COUNT_KEY;
use crate::case::tuning::Tuning;
use crate::case::{Cancel, Case, Failure, Fault, Value, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{DeviceBuffer, Gpu, Persisting};
use crate::inputs::indices::Store;
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::together::together;
use crate::primitives::cuda::{Launched, Named, length, poison, refused};
use crate::primitives::gather_scatter::given;
use crate::primitives::gather_scatter::spec::{Kernel, Locations as Distribution, Spec};
use crate::primitives::gather_scatter::tuned::Tuned;
use kernels::{Arrays, Kernels};
use locations::Locations;
use partitioned::Partitioned;
use spans::Span;

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
    /// On each GPU.
    persisting: Vec<Persisting>,
    /// What an execution launches on `gpu`.
    spans: Vec<Span>,
    /// Of the method of this name, which does so with each span.
    partitioned: Option<Partitioned>,
    /// The other GPUs that the arrays span.
    others: Vec<Share>,
    /// Tuples by which the randomly accessed array is misplaced.
    shift: u64,
}

/// The part of an execution that a further GPU has.
struct Share {
    gpu: Gpu,
    kernels: Kernels,
    spans: Vec<Span>,
}

/// Allocates and generates the arrays of a gather or scatter case. With `others`, R_in, R_out
/// and L lie across all of them, and each moves the tuples of the part of L that it holds:
/// those with i in [k·n/N, (k+1)·n/N). The first generates and certifies.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(
    gpu: &Gpu,
    others: &[Gpu],
    case: &Case,
    indices: &Store,
    fault: Option<Fault>,
    cancel: &Cancel,
) -> Result<Part, Failure> {
    let (spec, tuned) = read(case)?;
    let given = given::load(&spec, &case.params, |hash| indices.get(hash))?;
    if !others.is_empty() && partitioned::workspace(&spec) > 0 {
        return Err(Failure::NotApplicable("partitioned runs on one GPU".to_owned()));
    }
    require(gpu, others, &spec)?;
    let kernels = Kernels::new(gpu, &spec, &tuned)?;
    cancel.check()?;
    let room = |tuples: u64| length((tuples + 1) * spec.tuple / 4);
    let mut input = across(gpu, others, room(spec.input())?)?;
    poison(gpu, &mut input)?;
    kernels.fill_tuples(gpu, &input, &spec)?;
    let output = across(gpu, others, room(spec.output())?)?;
    let all = given.as_deref().map(Vec::as_slice);
    let locations = Locations::new((gpu, others), &spec, all, &kernels, cancel)?;
    let by_location = if spec.kernel == Kernel::Gather { &input } else { &output };
    let persist = |gpu: &Gpu| tuned.0.persist.map(|bytes| gpu.persisting(by_location, bytes));
    let persisting = [gpu].into_iter().chain(others).filter_map(persist).collect::<Result<_, _>>()?;
    let fault_at = match fault {
        Some(fault) => Some((fault, locations.first(&spec)?)),
        None => None,
    };
    let partitioned = Partitioned::new(gpu, &spec)?;
    let spans = spans::spans(&spec, fault_at)?;
    let mut shares = spans::shares(&spans, spec.moves(), others.len() as u64 + 1).into_iter();
    let spans = shares.next().unwrap_or_default();
    let share = |(gpu, spans): (&Gpu, _)| {
        Ok(Share { gpu: gpu.clone(), kernels: Kernels::new(gpu, &spec, &tuned)?, spans })
    };
    let others = others.iter().zip(shares).map(share).collect::<Result<_, Failure>>()?;
    gpu.synchronize()?;
    let shift = u64::from(fault == Some(Fault::OffByOne));
    let gpu = gpu.clone();
    Ok(Box::new(Move {
        gpu,
        spec,
        tuned,
        kernels,
        input,
        output,
        locations,
        persisting,
        spans,
        partitioned,
        others,
        shift,
    }))
}

/// An array of a case on all its GPUs.
fn across(gpu: &Gpu, others: &[Gpu], words: usize) -> Result<DeviceBuffer<u32>, Failure> {
    if others.is_empty() { gpu.alloc(words) } else { gpu.alloc_across(others, words) }
}

/// Whether there is room for a case: on one GPU all of it, on several for its share of the
/// arrays on each.
fn require(gpu: &Gpu, others: &[Gpu], spec: &Spec) -> Result<(), Failure> {
    let (arrays, scratch) = needed(spec);
    let share = arrays.div_ceil(others.len() as u64 + 1);
    gpu.require(share + scratch)?;
    others.iter().try_for_each(|other| other.require(share))
}

fn read(case: &Case) -> Result<(Spec, Tuned), Failure> {
    let kernel = if case.primitive == "scatter" { Kernel::Scatter } else { Kernel::Gather };
    let spec = Spec::from_params(kernel, &case.params, case.seed).and_then(Spec::chosen).map_err(refused)?;
    let asked = Tuning::of(&case.params).map_err(refused)?;
    Ok((spec, Tuned::new(&spec, asked)))
}

/// What an execution of a case launches.
///
/// # Errors
/// A case that does not exist, or that takes too many launches.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let (spec, tuned) = read(case)?;
    let launches = spans::spans(&spec, None)?.len() as u64;
    let alone = || Launched { kernel: tuned.kernel_name(&spec), launches };
    Ok(partitioned::launched(&spec, launches).unwrap_or_else(alone))
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &Case) -> Result<Vec<Named>, Failure> {
    let (spec, tuned) = read(case)?;
    Ok([kernels::asked(&spec, &tuned), partitioned::asked(&spec)].concat())
}

/// Bytes that the case needs at its peak: of the arrays and the workspace, and of either the counters of the
/// partitions or the certificate's bitmap.
fn needed(spec: &Spec) -> (u64, u64) {
    let arrays = (spec.input() + spec.output() + 2) * spec.tuple + spec.moves() * spec.index;
    let scratch = match spec.locations {
        Distribution::Partitions { count } => {
            locations::counters(spec.tuples, count).max(certify::bitmap(spec))
        }
        Distribution::Given { .. } => certify::bitmap(spec),
        _ => 0,
    };
    (arrays + partitioned::workspace(spec), scratch)
}

impl Move {
    /// Queues one execution on all GPUs.
    fn execute(&self) -> Result<(), Failure> {
        self.launch(&self.gpu, &self.kernels, &self.spans)?;
        self.others.iter().try_for_each(|share| self.launch(&share.gpu, &share.kernels, &share.spans))
    }

    /// Queues what one GPU does of an execution.
    fn launch(&self, gpu: &Gpu, kernels: &Kernels, spans: &[Span]) -> Result<(), Failure> {
        let arrays = Arrays { input: &self.input, output: &self.output, locations: &self.locations.values };
        spans.iter().try_for_each(|span| match &self.partitioned {
            Some(partitioned) => partitioned.execute(gpu, &self.spec, &arrays, span, self.shift),
            None => kernels.execute(gpu, &self.spec, &arrays, span, self.shift),
        })
    }

    /// Seconds of what one GPU does of some executions.
    fn timed(&self, gpu: &Gpu, kernels: &Kernels, spans: &[Span], batch: u32) -> Result<f64, Failure> {
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.launch(gpu, kernels, spans)))
    }

    /// Waits for the further GPUs: what follows on the first sees what they have written.
    fn synchronize(&self) -> Result<(), Failure> {
        self.others.iter().try_for_each(|share| share.gpu.synchronize())
    }
}

impl Prepared for Move {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        if self.others.is_empty() {
            return self.timed(&self.gpu, &self.kernels, &self.spans, batch);
        }
        let first = (&self.gpu, &self.kernels, &self.spans);
        let others = self.others.iter().map(|share| (&share.gpu, &share.kernels, &share.spans));
        let this = &*self;
        let parts = [first]
            .into_iter()
            .chain(others)
            .map(|(gpu, kernels, spans)| (gpu.clone(), move || this.timed(gpu, kernels, spans, batch)));
        together(parts.collect())
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        self.synchronize()?;
        cancel.check()?;
        certify::verdict(self)
    }

    fn memory(&self) -> u64 {
        let workspace = self.partitioned.as_ref().map_or(0, Partitioned::bytes);
        self.input.bytes() + self.output.bytes() + self.locations.bytes() + workspace
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        if self.partitioned.is_some() {
            return self.spec.resolved();
        }
        let persist = self.persisting.first().map(Persisting::bytes);
        let count = (COUNT_KEY.to_owned(), Value::Int(self.others.len() as u64 + 1));
        let count = Some(count).filter(|_| !self.others.is_empty());
        Tuning { persist, ..self.tuned.0 }.resolved().into_iter().chain(count).collect()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        poison(&self.gpu, &mut self.output)?;
        self.execute()?;
        self.synchronize()?;
        let words = self.output.range_to_host(0..length(self.spec.output() * self.spec.tuple / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}
