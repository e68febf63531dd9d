//! Splits by up to 8 bits (`kernels/multisplit/fused.cuh`): a count of each tile, sums over groups of tiles, and a single
//! pass over the keys.

use super::input::Function;
use super::{MODULE, Split, pointers, words};
use crate::device::cuda::KernelName;
use crate::primitives::cuda::Pair;
use crate::primitives::cuda::prelude::*;
use crate::primitives::multisplit::tiles::{GROUP, KernelVariant, Shape};

/// The module of the passes with bulk copies.
const BULK_MODULE: &str = "multisplit_bulk";

/// The lowest compute capability at which bulk copies take runs out of shared memory.
const BULK: (u32, u32) = (9, 0);

/// The steps of a split: a count of each tile, sums over groups of tiles, the pass.
const COUNT: usize = 0;
const SUM: usize = 1;
const PASS: usize = 2;

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
    /// The kernels of the three steps.
    kernels: Vec<Kernel>,
    /// Bytes of dynamic shared memory per block of the pass.
    shared: u32,
    /// Resident blocks of the pass.
    resident: u32,
    /// Counts of tiles in their group, of groups, before groups and of all keys; and a ticket.
    counts: [DeviceBuffer<u32>; 5],
}

/// True if GPUs of a generation support bulk copies of runs.
pub fn bulk(capability: ComputeCapability) -> bool {
    capability >= BULK
}

/// The kernels of the three steps of a split.
fn names(way: KernelVariant, bulk: bool) -> [KernelName; 3] {
    let [count, pass] = way.names(bulk);
    [(MODULE, count), (MODULE, SCAN.to_owned()), (if bulk { BULK_MODULE } else { MODULE }, pass)]
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
        let shape = Shape::of(way.bits, way.value);
        let shared = shape.shared(way, bulk) as u32;
        let kernels = names(way, bulk).into_iter().map(|(module, name)| gpu.module(module)?.kernel(&name));
        let kernels = kernels.collect::<Result<Vec<_>, Failure>>()?;
        let [tiles, groups] = way.counts(n);
        let words = |n| words(gpu, n);
        Ok(Passes {
            resident: gpu.max_blocks(&kernels[PASS], shape.threads, shared)?,
            shared,
            way,
            shape,
            kernels,
            counts: [words(tiles)?, words(groups)?, words(groups)?, words(1 << way.bits)?, words(1)?],
        })
    }

    /// Queues a split. If offsets are not null, there is one more of them than the function has buckets. For kernels with
    /// digits of delta-buckets, `behind` is a key with the highest number: padding behind the keys of the last tile.
    pub fn split(&self, gpu: &Gpu, what: &Split, behind: u32) -> Result<(), Failure> {
        [COUNT, SUM, PASS].into_iter().try_for_each(|step| self.step(gpu, what, behind, step))
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

    /// Queues one of the three steps of a split.
    pub fn step(&self, gpu: &Gpu, what: &Split, behind: u32, step: usize) -> Result<(), Failure> {
        let launch = self.launch(what, behind);
        let (blocks, threads, shared) = match step {
            COUNT if launch.all == 0 => return Ok(()),
            COUNT => (launch.all, COUNT_THREADS, 0),
            SUM => (1 << self.way.bits, SUM_THREADS, 0),
            _ => (launch.blocks, self.shape.threads, self.shared),
        };
        gpu.launch(&self.kernels[step], blocks, threads, shared, args![launch])
    }

    fn launch(&self, what: &Split, behind: u32) -> Launch {
        let tiles = what.n.div_ceil(self.shape.tile());
        Launch {
            from: what.from,
            to: what.to,
            offsets: what.offsets,
            counts: pointers(&self.counts),
            function: what.function,
            n: what.n as u32,
            tile: self.shape.tile() as u32,
            tiles: tiles as u32,
            all: tiles.div_ceil(GROUP) as u32,
            blocks: grid(tiles, 1).min(self.resident),
            behind,
        }
    }
}
