//! The method `partitioned` on a GPU: what it holds besides the case's arrays, and one
//! execution ([`levels`](crate::primitives::gather_scatter::levels)). Nothing waits for the
//! host in between, and all of it is timed.

mod kernels;

use super::kernels::Arrays;
use super::spans::Span;
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu};
use crate::device::cuda::{Launched, Named};
use crate::primitives::cuda::length;
use crate::primitives::gather_scatter::levels::Levels;
use crate::primitives::gather_scatter::spec::Spec;
use kernels::{Kernels, Pairs};

/// How profilers are told of all of its kernels.
const KERNELS: &str = "regex:^partitioned_";

/// The workspace of a case and its kernels.
pub struct Partitioned {
    levels: Levels,
    kernels: Kernels,
    /// Of each pass, as many as it makes partitions.
    counters: DeviceBuffer<u64>,
    /// Tuples and locations, to which the passes write in turn.
    between: Vec<(DeviceBuffer<u32>, DeviceBuffer<u32>)>,
}

/// Bytes of the workspace of a case, 0 for other methods.
pub fn workspace(spec: &Spec) -> u64 {
    spec.cut().map_or(0, |cut| Levels::new(spec, &cut).workspace(spec))
}

/// What an execution launches; `None` for other methods.
pub fn launched(spec: &Spec, spans: u64) -> Option<Launched> {
    let passes = Levels::new(spec, &spec.cut()?).levels.len() as u64;
    // Cleared, counted, added up; a further pass takes its sums from the last one's.
    let launches = spans * (3 + (passes - 1) + passes + 1);
    Some(Launched { kernel: KERNELS.to_owned(), launches })
}

/// The kernels that a case asks for; none for other methods.
pub fn asked(spec: &Spec) -> Vec<Named> {
    if spec.cut().is_some() { kernels::asked(spec) } else { Vec::new() }
}

impl Partitioned {
    /// `None` for other methods.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Option<Partitioned>, Failure> {
        let Some(cut) = spec.cut() else { return Ok(None) };
        let levels = Levels::new(spec, &cut);
        let buffer = |bytes: u64| gpu.alloc(length((spec.moves() * bytes).div_ceil(4))?);
        let pairs = |location: u64| Ok::<_, Failure>((buffer(spec.tuple)?, buffer(location)?));
        let between = levels.location_bytes().into_iter().map(pairs).collect::<Result<_, _>>()?;
        let counters = gpu.alloc(length(levels.counters())?)?;
        Ok(Some(Partitioned { kernels: Kernels::new(gpu, spec)?, levels, counters, between }))
    }

    /// Bytes of the workspace.
    pub fn bytes(&self) -> u64 {
        let pairs = self.between.iter().map(|(tuples, locations)| tuples.bytes() + locations.bytes());
        self.counters.bytes() + pairs.sum::<u64>()
    }

    /// Queues one execution over the tuples of a span; R_out misplaced by `shift` of them.
    pub fn execute(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        arrays: &Arrays,
        span: &Span,
        shift: u64,
    ) -> Result<(), Failure> {
        let at = |buffer: &DeviceBuffer<u32>, bytes: u64| buffer.pointer_at(length(bytes / 4)?);
        let input = Pairs {
            tuples: at(arrays.input, span.first * spec.tuple)?,
            locations: at(arrays.locations, span.first * spec.index)?,
        };
        let (counters, levels, n) = (&self.counters, &self.levels, span.count);
        self.kernels.count(gpu, counters, levels, input.locations, n)?;
        let mut from = input;
        for k in 0..levels.levels.len() {
            let to = self.turn(k);
            self.kernels.divide(gpu, spec, counters, (levels, k), (from, to), n)?;
            from = to;
        }
        let out: DevicePtr<u32> = at(arrays.output, shift * spec.tuple)?;
        self.kernels.place(gpu, spec, counters, levels, (from, out), n)
    }

    /// Where pass k writes.
    fn turn(&self, k: usize) -> Pairs {
        let (tuples, locations) = &self.between[k % self.between.len()];
        Pairs { tuples: tuples.pointer(), locations: locations.pointer() }
    }
}
