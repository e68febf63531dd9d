//! gather and scatter on a GPU (`kernels/gather_scatter.cu`). A pass is a launch, so it
//! ends before the next begins.

mod certify;
mod kernels;
mod locations;
mod partitioned;
mod spans;

use crate::case::gpus::COUNT_KEY;
use crate::case::tuning::Tuning;
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    DeviceBuffer, Gpu, GpuFacts, GpuJob, Launched, Named, Part, Persisting, Plan, Setup, poison, together,
};
use crate::primitives::cuda::length;
use crate::primitives::gather_scatter::spec::{Kernel, Locations as Distribution, Spec};
use crate::primitives::gather_scatter::tuned::Tuned;
use crate::primitives::gather_scatter::{Moves, given};
use kernels::{Arrays, Kernels};
use locations::Locations;
use partitioned::Partitioned;
use spans::Span;

/// A case in place. R_in and R_out have a guard tuple behind their last one, which the
/// deliberately wrong implementations may touch.
pub struct Move {
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

/// An array of a case on all its GPUs.
fn across(gpu: &Gpu, others: &[Gpu], words: usize) -> Result<DeviceBuffer<u32>, Failure> {
    if others.is_empty() { gpu.alloc(words) } else { gpu.alloc_across(others, words) }
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
}

impl GpuJob for Move {
    type Case = Moves;

    const SPANS: bool = true;

    fn launched(case: &Moves) -> Result<Launched, Failure> {
        let (spec, tuned) = (&case.spec, Tuned::new(&case.spec, case.spec.tuning));
        let launches = spans::spans(spec, None)?.len() as u64;
        let alone = || Launched { kernel: tuned.kernel_name(spec), launches };
        Ok(partitioned::launched(spec, launches).unwrap_or_else(alone))
    }

    fn kernels(case: &Moves, _gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
        let tuned = Tuned::new(&case.spec, case.spec.tuning);
        Ok([kernels::asked(&case.spec, &tuned), partitioned::asked(&case.spec)].concat())
    }

    fn needed(case: &Moves, gpus: u64) -> u64 {
        let (arrays, scratch) = needed(&case.spec);
        arrays.div_ceil(gpus) + scratch
    }

    /// One part: the spans know what a mistake makes of them, once L is known.
    fn plan(case: &Moves, _fault: Option<Fault>) -> Plan {
        Plan::whole(case.spec.moves())
    }

    /// With other GPUs, R_in, R_out and L lie across all of them, and each moves the tuples of the part of L that it
    /// holds: those with i in [k·n/N, (k+1)·n/N). The first generates and certifies.
    fn prepare(case: Moves, setup: &Setup) -> Result<Move, Failure> {
        let Setup { gpu, others, fault, cancel, stored } = *setup;
        let (spec, tuned) = (case.spec, Tuned::new(&case.spec, case.spec.tuning));
        let given = given::load(&spec, &case.params, stored)?;
        if !others.is_empty() && partitioned::workspace(&spec) > 0 {
            return Err(Failure::NotApplicable("partitioned runs on one GPU".to_owned()));
        }
        let share = needed(&spec).0.div_ceil(others.len() as u64 + 1);
        others.iter().try_for_each(|other| other.require(share))?;
        let kernels = Kernels::new(gpu, &spec, &tuned)?;
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
        let shift = u64::from(fault == Some(Fault::OffByOne));
        let gpu = gpu.clone();
        Ok(Move {
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
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.output)
    }

    fn enqueue(&mut self, gpu: &Gpu, _all: Part) -> Result<(), Failure> {
        self.launch(gpu, &self.kernels, &self.spans)?;
        self.others.iter().try_for_each(|share| self.launch(&share.gpu, &share.kernels, &share.spans))
    }

    /// Waits for the further GPUs: what follows on the first sees what they have written.
    fn settle(&mut self) -> Result<(), Failure> {
        self.others.iter().try_for_each(|share| share.gpu.synchronize())
    }

    /// Several GPUs at the same time, from the first start to the last end.
    fn time(&mut self, gpu: &Gpu, _plan: &Plan, batch: u32) -> Result<f64, Failure> {
        if self.others.is_empty() {
            return self.timed(gpu, &self.kernels, &self.spans, batch);
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

    fn judge(&mut self, _gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        certify::verdict(self)
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let words = self.output.range_to_host(0..length(self.spec.output() * self.spec.tuple / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn memory(&self) -> u64 {
        let workspace = self.partitioned.as_ref().map_or(0, Partitioned::bytes);
        self.input.bytes() + self.output.bytes() + self.locations.bytes() + workspace
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        if self.partitioned.is_some() {
            return Vec::new();
        }
        let persist = self.persisting.first().map(Persisting::bytes);
        let count = (COUNT_KEY.to_owned(), Value::Int(self.others.len() as u64 + 1));
        let count = Some(count).filter(|_| !self.others.is_empty());
        Tuning { persist, ..self.tuned.0 }.resolved().into_iter().chain(count).collect()
    }
}
