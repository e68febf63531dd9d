//! Splits by up to 8 bits: a count of each tile, sums over groups of tiles, and a single pass over the keys
//! (`kernels/multisplit/fused.cuh`); or one launch that keeps tiles on chip (`kernels/multisplit/kept.cuh`).

use super::input::Function;
use super::{MODULE, Split, words};
use crate::device::cuda::KernelName;
use crate::primitives::cuda::Pair;
use crate::primitives::cuda::prelude::*;
use crate::primitives::multisplit::tiles::{GROUP, KEPT_COUNT, KEPT_GROUP, KernelVariant, Shape};
use std::array;
use std::sync::atomic::{AtomicU32, Ordering};

/// The module of the passes with bulk copies.
const BULK_MODULE: &str = "multisplit_bulk";

/// The lowest compute capability at which bulk copies take runs out of shared memory.
const BULK: (u32, u32) = (9, 0);

/// The steps of a split: a count of each tile, sums over groups of tiles, the pass.
const COUNT: usize = 0;
const SUM: usize = 1;
const PASS: usize = 2;

/// The only step of a split that keeps tiles on chip.
const KEPT: usize = 0;

/// Threads per block in the counting and in the summing kernel.
const COUNT_THREADS: u32 = 512;
const SUM_THREADS: u32 = 256;

/// The kernel that sums counts.
const SCAN: &str = "fused_scan";

device_struct! {
    /// `Fused` in the kernels.
    struct Launch: 136 {
        from: Pair,
        to: Pair,
        offsets: DevicePtr<u32>,
        counts: [DevicePtr<u32>; 5],
        function: Function,
        n: u32,
        tile: u32,
        tiles: u32,
        all: u32,
        blocks: u32,
        behind: u32,
    }
}

/// The kernels and counts of splits.
pub struct Passes {
    way: KernelVariant,
    shape: Shape,
    /// The kernels of the three steps, or the one that keeps tiles on chip.
    kernels: Vec<Kernel>,
    /// Bytes of dynamic shared memory per block of the pass.
    shared: u32,
    /// Resident blocks of the pass.
    resident: u32,
    /// Counts of tiles in their group, of groups, before groups and of all keys; and a ticket. Where tiles are kept on chip,
    /// counts of tiles and of groups in words that also have the number of their launch.
    counts: Vec<DeviceBuffer<u32>>,
    /// The launches so far that kept tiles on chip.
    launches: AtomicU32,
}

/// True if GPUs of a generation support bulk copies of runs.
pub fn bulk(capability: ComputeCapability) -> bool {
    capability >= BULK
}

/// The kernels of the steps of a split.
fn names(way: KernelVariant, bulk: bool) -> Vec<KernelName> {
    if way.kept {
        return vec![(MODULE, way.kept_name())];
    }
    let [count, pass] = way.names(bulk);
    vec![(MODULE, count), (MODULE, SCAN.to_owned()), (if bulk { BULK_MODULE } else { MODULE }, pass)]
}

/// The kernels of a split.
pub fn split_kernels(way: KernelVariant, bulk: bool) -> KernelList {
    names(way, bulk)
        .into_iter()
        .fold(KernelList::default(), |list, (module, name)| list.timed(module, name, 1))
}

impl Passes {
    /// Allocates the counts for up to `n` keys.
    ///
    /// # Errors
    /// `NotApplicable` if a block does not fit on a multiprocessor; otherwise the driver's error.
    pub fn new(gpu: &Gpu, way: KernelVariant, n: u64) -> Result<Passes, Failure> {
        let bulk = bulk(gpu.device().compute_capability);
        let shape = way.shape();
        let shared = shape.shared(way, bulk) as u32;
        let kernels = names(way, bulk).into_iter().map(|(module, name)| gpu.module(module)?.kernel(&name));
        let kernels = kernels.collect::<Result<Vec<_>, Failure>>()?;
        let [tiles, groups] = way.counts(n.max(1));
        let words = |n| words(gpu, n);
        // The first launch has the number 1. Each launch rewrites the rows that it reads, so none has its number from before.
        let numbered = |n: u64| gpu.upload(&vec![0; (KEPT_COUNT / 4 * n) as usize]);
        let counts = match way.kept {
            true => vec![numbered(tiles)?, numbered(groups)?],
            false => vec![words(tiles)?, words(groups)?, words(groups)?, words(1 << way.bits)?, words(1)?],
        };
        Ok(Passes {
            resident: gpu.max_blocks(&kernels[if way.kept { KEPT } else { PASS }], shape.threads, shared)?,
            shared,
            way,
            shape,
            kernels,
            counts,
            launches: AtomicU32::new(0),
        })
    }

    /// Queues a split. If offsets are not null, there is one more of them than the function has buckets. For kernels with
    /// digits of delta-buckets, `behind` is a key with the highest number: padding behind the keys of the last tile.
    pub fn split(&self, gpu: &Gpu, what: &Split, behind: u32) -> Result<(), Failure> {
        (0..self.kernels.len()).try_for_each(|step| self.step(gpu, what, behind, step))
    }

    /// Blocks that are resident of a kernel that takes back what a split has moved (`kernels/multisplit/back.cuh`).
    ///
    /// # Errors
    /// The errors of [`Gpu::max_blocks`].
    pub fn resident_back(&self, gpu: &Gpu, kernel: &Kernel) -> Result<u32, Failure> {
        gpu.max_blocks(kernel, self.shape.threads, self.shape.shared(self.way, false) as u32)
    }

    /// Queues such a kernel, with `resident` blocks: `what` has the keys as before the split and the results as its
    /// values. The counts of the split must still be there.
    pub fn back(
        &self,
        gpu: &Gpu,
        kernel: &Kernel,
        resident: u32,
        what: &Split,
        behind: u32,
    ) -> Result<(), Failure> {
        let (launch, shared) = (self.launch(what, behind), self.shape.shared(self.way, false) as u32);
        let blocks = grid(u64::from(launch.tiles), 1).min(resident);
        gpu.launch(kernel, blocks, self.shape.threads, shared, args![launch])
    }

    /// Queues one of the steps of a split.
    pub fn step(&self, gpu: &Gpu, what: &Split, behind: u32, step: usize) -> Result<(), Failure> {
        let behind = match self.way.kept {
            true => self.launches.fetch_add(1, Ordering::Relaxed).wrapping_add(1),
            false => behind,
        };
        let launch = self.launch(what, behind);
        let (blocks, threads, shared) = match step {
            KEPT if self.way.kept => (launch.blocks, self.shape.threads, self.shared),
            COUNT if launch.all == 0 => return Ok(()),
            COUNT => (launch.all, COUNT_THREADS, 0),
            SUM => (1 << self.way.bits, SUM_THREADS, 0),
            _ => (launch.blocks, self.shape.threads, self.shared),
        };
        gpu.launch(&self.kernels[step], blocks, threads, shared, args![launch])
    }

    fn launch(&self, what: &Split, behind: u32) -> Launch {
        let tiles = what.n.div_ceil(self.shape.tile());
        // Tiles kept on chip have one launch, which stores the offsets even if there are no keys.
        let (tiles, group) = if self.way.kept { (tiles.max(1), KEPT_GROUP) } else { (tiles, GROUP) };
        Launch {
            from: what.from,
            to: what.to,
            offsets: what.offsets,
            counts: array::from_fn(|at| self.counts.get(at).map_or(DevicePtr::null(), DeviceBuffer::pointer)),
            function: what.function,
            n: what.n as u32,
            tile: self.shape.tile() as u32,
            tiles: tiles as u32,
            all: tiles.div_ceil(group) as u32,
            blocks: grid(tiles, 1).min(self.resident),
            behind,
        }
    }
}
