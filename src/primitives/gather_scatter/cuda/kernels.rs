//! The kernels of `kernels/gather_scatter.cu`, typed.

use super::locations::ClosedForm;
use super::spans::Span;
use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::device::cuda::{Named, named};
use crate::inputs::mix::key64;
use crate::primitives::cuda::tiles::Tiles;
use crate::primitives::cuda::{BLOCK, Fill, grid, launch_over, length};
use crate::primitives::gather_scatter::spec::{Kernel, Spec};
use crate::primitives::gather_scatter::tuned::Tuned;

/// `EVERYTHING` in the kernels.
const EVERYTHING: u64 = u64::MAX;

/// The kernels that one case needs.
pub struct Kernels {
    timed: cuda::Kernel,
    tiles: Tiles,
    fill: Fill,
    fill_words32: cuda::Kernel,
    fill_locations: cuda::Kernel,
    count: cuda::Kernel,
    exclusive_sum: cuda::Kernel,
    starts: cuda::Kernel,
    place: cuda::Kernel,
    certify: cuda::Kernel,
    certify_given: cuda::Kernel,
    certify_landed: cuda::Kernel,
}

/// The arrays of the timed kernel, in 4-byte words.
pub struct Arrays<'a> {
    pub input: &'a DeviceBuffer<u32>,
    pub output: &'a DeviceBuffer<u32>,
    pub locations: &'a DeviceBuffer<u32>,
}

/// How random partitions are counted.
pub struct Counting {
    pub seed: u64,
    pub partitions: u64,
    pub chunks: u64,
    /// Tuples of a chunk, but of the last.
    pub length: u64,
    pub tuples: u64,
}

/// What a certificate goes by: `Claim` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Claim {
    pub output: DevicePtr<u32>,
    pub key: u64,
    pub n: u64,
    pub tuple: u32,
    pub scatter: u32,
    pub starts: DevicePtr<u64>,
    pub partitions: u64,
    pub partition_key: u64,
    pub bitmap: DevicePtr<u32>,
    pub locations: ClosedForm,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Claim {}

/// The module of both primitives.
pub const MODULE: &str = "gather_scatter";

/// Those that are not timed and serve locations of any size.
const OTHERS: [&str; 4] = ["fill_words32", "partition_count", "exclusive_sum", "partition_starts"];

/// Those that are not timed and are for the size of a case's locations.
fn indexed(spec: &Spec) -> [String; 5] {
    ["fill_locations", "partition_place", "certify_move", "certify_given", "certify_landed"]
        .map(|name| format!("{name}_i{}", spec.index))
}

/// The kernels that a case asks for.
pub fn asked(spec: &Spec, tuned: &Tuned) -> Vec<Named> {
    let others = [Fill::KERNELS.as_slice(), &OTHERS].concat();
    [named(MODULE, [tuned.kernel_name(spec)]), named(MODULE, others), named(MODULE, indexed(spec))].concat()
}

impl Kernels {
    pub fn new(gpu: &Gpu, spec: &Spec, tuned: &Tuned) -> Result<Kernels, Failure> {
        let module = gpu.module(MODULE)?;
        let timed = module.kernel(&tuned.kernel_name(spec))?;
        let [fill_words32, count, exclusive_sum, starts] = module.kernels(OTHERS)?;
        let [fill_locations, place, certify, certify_given, certify_landed] =
            module.kernels(indexed(spec))?;
        Ok(Kernels {
            tiles: Tiles::new(gpu, &timed, &tuned.0, 1)?,
            timed,
            fill: Fill::new(&module)?,
            fill_words32,
            fill_locations,
            count,
            exclusive_sum,
            starts,
            place,
            certify,
            certify_given,
            certify_landed,
        })
    }

    /// Queues the timed kernel for a span; the randomly accessed array misplaced by
    /// `shift` tuples.
    pub fn execute(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        arrays: &Arrays,
        span: &Span,
        shift: u64,
    ) -> Result<(), Failure> {
        let (beside, by_location) = (span.first * spec.tuple / 4, shift * spec.tuple / 4);
        let (from, to) = match spec.kernel {
            Kernel::Gather => (by_location, beside),
            Kernel::Scatter => (beside, by_location),
        };
        let output = arrays.output.pointer_at(length(to)?)?;
        let input = arrays.input.pointer_at(length(from)?)?;
        let locations = arrays.locations.pointer_at(length(span.first * spec.index / 4)?)?;
        let ((tiles, tiled), width) = (self.tiles.full(span.count), self.width(spec, span));
        let args = [
            (&output).into(),
            (&input).into(),
            (&locations).into(),
            (&tiles).into(),
            (&tiled).into(),
            (&span.count).into(),
            (&span.low).into(),
            (&width).into(),
        ];
        gpu.launch(&self.timed, self.tiles.blocks(span.count), self.tiles.block, 0, &args)
    }

    /// Places of a span's chunk; `EVERYTHING` where no location lies outside of it and every
    /// tuple has a block.
    fn width(&self, spec: &Spec, span: &Span) -> u64 {
        let every = span.low == 0 && span.high == spec.tuples;
        if every && self.tiles.one_each(span.count) { EVERYTHING } else { span.high - span.low }
    }

    /// R_in's tuples.
    pub fn fill_tuples(&self, gpu: &Gpu, out: &DeviceBuffer<u32>, spec: &Spec) -> Result<(), Failure> {
        if spec.tuple != 4 {
            return self.fill.words64(gpu, out.pointer(), spec.seed, spec.input() * spec.words());
        }
        let key = key64(spec.seed);
        let tuples = spec.input();
        let args = [out.into(), (&key).into(), (&tuples).into()];
        launch_over(gpu, &self.fill_words32, tuples, &args)
    }

    /// L by its closed form.
    pub fn fill_locations(
        &self,
        gpu: &Gpu,
        out: &DeviceBuffer<u32>,
        closed: &ClosedForm,
        n: u64,
    ) -> Result<(), Failure> {
        launch_over(gpu, &self.fill_locations, n, &[out.into(), closed.into(), (&n).into()])
    }

    /// `counts[q * chunks + c]`, 0 before, becomes the number of chunk c's tuples in
    /// partition q.
    pub fn count_partitions(
        &self,
        gpu: &Gpu,
        counts: &mut DeviceBuffer<u64>,
        scheme: &Counting,
    ) -> Result<(), Failure> {
        let key = key64(scheme.seed);
        let args = [
            counts.into(),
            (&key).into(),
            (&scheme.partitions).into(),
            (&scheme.chunks).into(),
            (&scheme.length).into(),
            (&scheme.tuples).into(),
        ];
        gpu.launch(&self.count, grid(scheme.chunks, 1), BLOCK, 0, &args)
    }

    /// The counts become where their tuples go; `starts` where each partition begins.
    pub fn start_partitions(
        &self,
        gpu: &Gpu,
        counts: &mut DeviceBuffer<u64>,
        starts: &mut DeviceBuffer<u64>,
        scheme: &Counting,
    ) -> Result<(), Failure> {
        let counters = counts.len() as u64;
        gpu.launch(&self.exclusive_sum, 1, 1024, 0, &[(&*counts).into(), (&counters).into()])?;
        let args = [
            starts.into(),
            (&*counts).into(),
            (&scheme.partitions).into(),
            (&scheme.chunks).into(),
            (&scheme.tuples).into(),
        ];
        launch_over(gpu, &self.starts, scheme.partitions + 1, &args)
    }

    /// L by the summed counts, which it advances.
    pub fn place_partitions(
        &self,
        gpu: &Gpu,
        out: &DeviceBuffer<u32>,
        counts: &mut DeviceBuffer<u64>,
        scheme: &Counting,
    ) -> Result<(), Failure> {
        let key = key64(scheme.seed);
        let args = [
            out.into(),
            counts.into(),
            (&key).into(),
            (&scheme.partitions).into(),
            (&scheme.chunks).into(),
            (&scheme.length).into(),
            (&scheme.tuples).into(),
        ];
        gpu.launch(&self.place, grid(scheme.chunks * 32, u64::from(BLOCK)), BLOCK, 0, &args)
    }

    /// Queues the check of all of L and R_out.
    pub fn certify(
        &self,
        gpu: &Gpu,
        locations: &DeviceBuffer<u32>,
        claim: &Claim,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        launch_over(gpu, &self.certify, claim.n, &[locations.into(), claim.into(), report.into()])
    }

    /// Queues the check of an L that somebody brought, which addresses `tuples` tuples,
    /// and of R_out.
    pub fn certify_given(
        &self,
        gpu: &Gpu,
        locations: &DeviceBuffer<u32>,
        claim: &Claim,
        tuples: u64,
        report: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        let args = [locations.into(), claim.into(), (&tuples).into(), report.into()];
        launch_over(gpu, &self.certify_given, claim.n, &args)?;
        if claim.scatter == 0 {
            return Ok(());
        }
        launch_over(gpu, &self.certify_landed, tuples, &args)
    }
}
