//! A split of keys by up to 8 bits in a single pass over them when they are counted
//! (`kernels/multisplit_fused.cuh`): a count of each tile, sums over groups of tiles, the pass.

use super::MODULE;
use super::input::Function;
use crate::case::Failure;
use crate::device::cuda::Named;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, GpuFacts, Kernel, Plain};
use crate::primitives::cuda::{grid, length};
use crate::primitives::multisplit::tiles::{GROUP, Shape, Way};

/// The module of the passes with bulk copies.
const BULK_MODULE: &str = "multisplit_bulk";

/// The compute capability from which on bulk copies take runs out of shared memory.
const BULK: (u32, u32) = (9, 0);

/// Threads of a block that counts, and of one that sums up.
const COUNT_THREADS: u32 = 512;
const SCAN_THREADS: u32 = 256;

/// `Fused` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Launch {
    keys: DevicePtr<u32>,
    values: DevicePtr<u32>,
    keys_out: DevicePtr<u32>,
    values_out: DevicePtr<u32>,
    offsets: DevicePtr<u32>,
    in_group: DevicePtr<u32>,
    groups: DevicePtr<u32>,
    before: DevicePtr<u32>,
    totals: DevicePtr<u32>,
    ticket: DevicePtr<u32>,
    function: Function,
    n: u32,
    tile: u32,
    tiles: u32,
    all: u32,
    blocks: u32,
    behind: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and device addresses.
unsafe impl Plain for Launch {}

/// The arrays of one split.
#[derive(Clone, Copy)]
pub struct Arrays {
    pub keys: DevicePtr<u32>,
    pub values: DevicePtr<u32>,
    pub keys_out: DevicePtr<u32>,
    pub values_out: DevicePtr<u32>,
    /// One more than the function has buckets, or null.
    pub offsets: DevicePtr<u32>,
    /// A key of the last number, for kernels of digits of delta-buckets: what the last tile has behind its keys.
    pub behind: u32,
}

/// The three steps of a split.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Step {
    Count,
    Scan,
    Pass,
}

/// Kernels and counts of splits.
pub struct Passes {
    way: Way,
    shape: Shape,
    count: Kernel,
    scan: Kernel,
    pass: Kernel,
    /// Dynamic shared memory of a block of the pass.
    shared: u32,
    /// Blocks of the pass that are at work at once.
    resident: u32,
    in_group: DeviceBuffer<u32>,
    groups: DeviceBuffer<u32>,
    before: DeviceBuffer<u32>,
    totals: DeviceBuffer<u32>,
    ticket: DeviceBuffer<u32>,
}

/// The kernel that sums up counts.
const SCAN: &str = "fused_scan";

/// Whether a GPU copies runs in bulk.
fn bulk(gpu: &GpuFacts) -> bool {
    gpu.compute_capability >= BULK
}

/// The module of the passes on such a GPU.
fn passing(gpu: &GpuFacts) -> &'static str {
    if bulk(gpu) { BULK_MODULE } else { MODULE }
}

/// The kernels that splits of a way ask for on such a GPU.
pub fn kernels(way: Way, gpu: &GpuFacts) -> Vec<Named> {
    let [count, pass] = way.names(bulk(gpu));
    vec![(MODULE, count), (MODULE, SCAN.to_owned()), (passing(gpu), pass)]
}

impl Passes {
    /// Those for up to `n` keys.
    ///
    /// # Errors
    /// `NotApplicable` where a multiprocessor has no room for a block; what the driver reports.
    pub fn new(gpu: &Gpu, way: Way, n: u64) -> Result<Passes, Failure> {
        let bulk = bulk(gpu.device());
        let [count, pass] = way.names(bulk);
        let shape = Shape::of(way.bits, way.value);
        let shared = shape.shared(way, bulk) as u32;
        let pass = gpu.module(passing(gpu.device()))?.kernel(&pass)?;
        let [count, scan] = gpu.module(MODULE)?.kernels([count.as_str(), SCAN])?;
        let [tiles, groups] = way.counts(n);
        let alloc = |n: u64| length(n.max(1)).and_then(|n| gpu.alloc(n));
        Ok(Passes {
            resident: gpu.max_blocks(&pass, shape.threads, shared)?,
            shared,
            way,
            shape,
            count,
            scan,
            pass,
            in_group: alloc(tiles)?,
            groups: alloc(groups)?,
            before: alloc(groups)?,
            totals: alloc(1 << way.bits)?,
            ticket: alloc(1)?,
        })
    }

    /// Bytes that it holds.
    pub fn bytes(&self) -> u64 {
        let all = [&self.in_group, &self.groups, &self.before, &self.totals, &self.ticket];
        all.into_iter().map(DeviceBuffer::bytes).sum()
    }

    /// Queues a split of `n` keys.
    pub fn split(&self, gpu: &Gpu, arrays: &Arrays, function: Function, n: u64) -> Result<(), Failure> {
        [Step::Count, Step::Scan, Step::Pass]
            .into_iter()
            .try_for_each(|step| self.step(gpu, arrays, function, n, step))
    }

    /// Queues one of its steps.
    pub fn step(
        &self,
        gpu: &Gpu,
        arrays: &Arrays,
        function: Function,
        n: u64,
        step: Step,
    ) -> Result<(), Failure> {
        let launch = self.launch(arrays, function, n);
        let args = [(&launch).into()];
        let Shape { threads, .. } = self.shape;
        match step {
            Step::Count if launch.all == 0 => Ok(()),
            Step::Count => gpu.launch(&self.count, launch.all, COUNT_THREADS, 0, &args),
            Step::Scan => gpu.launch(&self.scan, 1 << self.way.bits, SCAN_THREADS, 0, &args),
            Step::Pass => gpu.launch(&self.pass, launch.blocks, threads, self.shared, &args),
        }
    }

    fn launch(&self, arrays: &Arrays, function: Function, n: u64) -> Launch {
        let tiles = n.div_ceil(self.shape.tile());
        Launch {
            keys: arrays.keys,
            values: arrays.values,
            keys_out: arrays.keys_out,
            values_out: arrays.values_out,
            offsets: arrays.offsets,
            in_group: self.in_group.pointer(),
            groups: self.groups.pointer(),
            before: self.before.pointer(),
            totals: self.totals.pointer(),
            ticket: self.ticket.pointer(),
            function,
            n: n as u32,
            tile: self.shape.tile() as u32,
            tiles: tiles as u32,
            all: tiles.div_ceil(GROUP) as u32,
            blocks: grid(tiles, 1).min(self.resident),
            behind: arrays.behind,
        }
    }
}
