//! fused (`kernels/multisplit/fused.cuh`). A split by up to 8 bits is a count of each tile, sums over groups of
//! tiles, and a single pass over the keys. Above 256 buckets there are two splits by digits of the buckets'
//! numbers, the lower digit first (ashkiani2017 §6.3), and a search for where buckets begin.

use super::input::Function;
use super::{MODULE, Pair, Split, Splitter, pointers, words};
use crate::case::Failure;
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, KernelName, args, device_struct,
};
use crate::primitives::cuda::grid;
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::rounds::Rounds;
use crate::primitives::multisplit::tiles::{GROUP, KernelVariant, Shape, field, way};

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

/// The kernel that sums counts, and the kernel that searches for the offsets.
const SCAN: &str = "fused_scan";
const OFFSETS: &str = "fused_offsets";

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

/// The number that a split orders keys by.
#[derive(Clone, Copy)]
pub struct Digit {
    pub function: Function,
    /// A key with the highest number, for kernels with digits of delta-buckets: padding behind the keys of the
    /// last tile.
    pub behind: u32,
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

/// Whether GPUs of a generation support bulk copies of runs.
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

    /// Queues a split. If offsets are not null, there is one more of them than the function has buckets.
    pub fn split(&self, gpu: &Gpu, what: &Split, digit: Digit) -> Result<(), Failure> {
        [COUNT, SUM, PASS].into_iter().try_for_each(|step| self.step(gpu, what, digit, step))
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
        digit: Digit,
    ) -> Result<(), Failure> {
        let (launch, shared) = (self.launch(what, digit), self.shape.shared(self.way, false) as u32);
        let blocks = grid(u64::from(launch.tiles), 1).min(resident);
        gpu.launch(kernel, blocks, self.shape.threads, shared, args![launch])
    }

    /// Queues one step of a split.
    fn step(&self, gpu: &Gpu, what: &Split, digit: Digit, step: usize) -> Result<(), Failure> {
        let launch = self.launch(what, digit);
        let (blocks, threads, shared) = match step {
            COUNT if launch.all == 0 => return Ok(()),
            COUNT => (launch.all, COUNT_THREADS, 0),
            SUM => (1 << self.way.bits, SUM_THREADS, 0),
            _ => (launch.blocks, self.shape.threads, self.shared),
        };
        gpu.launch(&self.kernels[step], blocks, threads, shared, args![launch])
    }

    fn launch(&self, what: &Split, Digit { function, behind }: Digit) -> Launch {
        let tiles = what.n.div_ceil(self.shape.tile());
        Launch {
            from: what.from,
            to: what.to,
            offsets: what.offsets,
            counts: pointers(&self.counts),
            function,
            n: what.n as u32,
            tile: self.shape.tile() as u32,
            tiles: tiles as u32,
            all: tiles.div_ceil(GROUP) as u32,
            blocks: grid(tiles, 1).min(self.resident),
            behind,
        }
    }
}

/// The kernels of a case, in a single pass or in rounds, with bulk copies or without.
pub fn kernels(spec: &Spec, bulk: bool) -> KernelList {
    let split = split_kernels(way(spec), bulk);
    match Rounds::of(spec) {
        None => split,
        Some(_) => KernelList::default().and(split, 2).timed(MODULE, OFFSETS, 1),
    }
}

/// The splitter of a case, in a single pass or in rounds.
///
/// # Errors
/// The errors of [`Passes::new`].
pub fn splitter(gpu: &Gpu, spec: &Spec, function: Function) -> Result<Box<dyn Splitter>, Failure> {
    let passes = Passes::new(gpu, way(spec), spec.keys)?;
    let Some(rounds) = Rounds::of(spec) else {
        let function =
            field(spec).map_or(function, |shift| Function::field(shift, spec.bits(), spec.buckets));
        return Ok(Box::new(Fused { passes, digit: Digit { function, behind: 0 } }));
    };
    Ok(Box::new(InRounds {
        buckets: spec.buckets,
        function,
        digits: digits(spec, function, &rounds),
        passes,
        offsets: gpu.module(MODULE)?.kernel(OFFSETS)?,
        between: [words(gpu, spec.keys)?, words(gpu, spec.value_bytes() / 4)?],
    }))
}

/// A single split by all bits.
struct Fused {
    passes: Passes,
    digit: Digit,
}

impl Splitter for Fused {
    fn turn_to(&mut self, field: Function) {
        self.digit.function = field;
    }

    /// The paper's names for the corresponding stages (ashkiani2017 §4.1).
    fn stages(&self) -> &'static [&'static str] {
        &["pre-scan", "scan", "post-scan"]
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        self.passes.step(gpu, what, self.digit, stage)
    }
}

/// Two splits, and the arrays between them.
struct InRounds {
    buckets: u64,
    /// The function of the whole bucket number.
    function: Function,
    digits: [Digit; 2],
    passes: Passes,
    offsets: Kernel,
    between: [DeviceBuffer<u32>; 2],
}

/// The low bits of the bucket's number, and the bits above them.
fn digits(spec: &Spec, function: Function, rounds: &Rounds) -> [Digit; 2] {
    let (low, high) = (rounds.bits, spec.bits() - rounds.bits);
    let [low, high] = match field(spec) {
        Some(shift) => {
            [(shift, low), (shift + low, high)].map(|(shift, bits)| Function::field(shift, bits, 1 << bits))
        }
        None => [(0, low), (low, high)].map(|(shift, bits)| function.digit(shift, bits)),
    };
    let behind = (((1 << rounds.bits) - 1) * spec.delta()) as u32;
    // No key is in a higher super-bucket than the greatest key.
    [Digit { function: low, behind }, Digit { function: high, behind: u32::MAX }]
}

impl Splitter for InRounds {
    fn stages(&self) -> &'static [&'static str] {
        &["first-round", "second-round", "offsets"]
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        let (between, offsets) = (pointers(&self.between), DevicePtr::null());
        match stage {
            0 => self.passes.split(gpu, &Split { to: between, offsets, ..*what }, self.digits[0]),
            1 => self.passes.split(gpu, &Split { from: between, offsets, ..*what }, self.digits[1]),
            _ => what.seek(gpu, &self.offsets, self.function, self.buckets),
        }
    }
}
