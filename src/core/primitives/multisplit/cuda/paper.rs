//! The methods of ashkiani2017 other than sorts (`kernels/multisplit/paper.cuh`): scan-split, a stable split in
//! two by each bit of the bucket's number, from the lowest on (§3.2); and dms, wms and bms, with a pre-scan,
//! the scan of its counts and a post-scan (§5).

use super::input::Function;
use super::{MODULE, Split, Splitter, pointers};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, args, device_struct};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::subproblems::{Localisation, Subproblems, WINDOW};
use crate::primitives::scan;
use crate::primitives::scan::cuda::one_pass::{self, OnePass, Variant};

/// Keys per block of scan-split; the 4 keys per thread are `EACH` in the kernels.
const KEYS: u64 = 4 * BLOCK as u64;

/// The kernels of scan-split.
const SCAN_SPLIT: [&str; 3] = ["scan_split_flags", "scan_split_move", "scan_split_offsets"];

device_struct! {
    /// `Halves` in the kernels.
    struct Halves: 56 {
        /// Source and destination of the keys, then source and destination of the values.
        arrays: [DevicePtr<u32>; 4],
        ones: DevicePtr<u32>,
        n: u64,
        bit: u32,
        value: u32,
    }

    /// `Split` in the kernels.
    struct Launch: 72 {
        /// The arrays as in [`Halves`].
        arrays: [DevicePtr<u32>; 4],
        counts: DevicePtr<u32>,
        offsets: DevicePtr<u32>,
        n: u64,
        subproblems: u32,
        windows: u32,
        tiles: u32,
        value: u32,
    }
}

/// 32-bit counts up to a fixed number, their exclusive sums, and the lab's own scan.
struct Summed {
    given: DeviceBuffer<u32>,
    sums: DeviceBuffer<u32>,
    scan: OnePass,
}

impl Summed {
    fn new(gpu: &Gpu, n: u64) -> Result<Summed, Failure> {
        Ok(Summed {
            given: gpu.alloc(length(n)?)?,
            sums: gpu.alloc(length(n)?)?,
            scan: OnePass::new(gpu, Variant::COUNTS, n)?,
        })
    }

    /// Queues the exclusive scan of the first `n` counts.
    fn scan(&mut self, gpu: &Gpu, n: u64) -> Result<(), Failure> {
        self.scan.execute(gpu, one_pass::Launch::new(self.given.pointer(), self.sums.pointer(), n))
    }
}

/// The kernels of a case, its flags, and the arrays between the rounds.
pub struct ScanSplit {
    spec: Spec,
    function: Function,
    flags: Kernel,
    split: Kernel,
    offsets: Kernel,
    ones: Summed,
    /// Empty if one round is enough.
    between: [DeviceBuffer<u32>; 2],
}

impl ScanSplit {
    /// The kernels of a case: a round for each bit.
    pub fn kernels(spec: &Spec) -> KernelList {
        let (rounds, [flags, split, offsets]) = (u64::from(spec.bits()), SCAN_SPLIT);
        let flagged = KernelList::default().timed(MODULE, flags, rounds).timed(
            scan::cuda::MODULE,
            Variant::COUNTS.name(),
            rounds,
        );
        flagged.timed(MODULE, split, rounds).timed(MODULE, offsets, 1)
    }

    /// Allocates the arrays of a case.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(gpu: &Gpu, spec: &Spec, function: Function) -> Result<ScanSplit, Failure> {
        let [flags, split, offsets] = gpu.module(MODULE)?.kernels(SCAN_SPLIT)?;
        let between = |bytes: u64| gpu.alloc(length(if spec.bits() > 1 { bytes / 4 } else { 0 })?);
        Ok(ScanSplit {
            spec: *spec,
            function,
            flags,
            split,
            offsets,
            ones: Summed::new(gpu, spec.keys)?,
            between: [between(spec.key_bytes())?, between(spec.value_bytes())?],
        })
    }

    /// Queues the split by a bit.
    fn halve(&mut self, gpu: &Gpu, what: &Split, bit: u32) -> Result<(), Failure> {
        let (blocks, ones) = (grid(what.n, KEYS), self.ones.sums.pointer());
        let halves = Halves { arrays: what.arrays(), ones, n: what.n, bit, value: self.spec.value as u32 };
        gpu.launch(&self.flags, blocks, BLOCK, 0, args![halves, self.ones.given, self.function])?;
        self.ones.scan(gpu, what.n)?;
        gpu.launch(&self.split, blocks, BLOCK, 0, args![halves, self.function])
    }
}

impl Splitter for ScanSplit {
    fn split(&mut self, gpu: &Gpu, what: &Split) -> Result<(), Failure> {
        let bits = self.spec.bits();
        let mut from = what.from;
        for bit in (0..bits).filter(|_| what.n > 0) {
            // Destinations alternate so that the last round writes the output.
            let to = if (bits - bit) % 2 == 1 { what.to } else { pointers(&self.between) };
            self.halve(gpu, &Split { from, to, ..*what }, bit)?;
            from = to;
        }
        what.seek(gpu, &self.offsets, self.function, self.spec.buckets)
    }
}

/// The kernels of a case, and the counts of its subproblems.
pub struct Localised {
    spec: Spec,
    shape: Subproblems,
    function: Function,
    /// The pre-scan and the post-scan.
    kernels: [Kernel; 2],
    /// H and G.
    counts: Summed,
}

/// The names of the pre-scan and post-scan kernels.
fn names(spec: &Spec, shape: &Subproblems) -> [String; 2] {
    let (prescan, postscan) = match shape.localisation {
        Localisation::Direct => ("warps", "dms"),
        Localisation::Warp => ("warps", "wms"),
        Localisation::Block => ("blocks", "bms"),
    };
    [format!("prescan_{prescan}_{}", spec.bits()), format!("{postscan}_{}", spec.bits())]
}

/// Bytes of dynamic shared memory per block in the pre-scan and in the post-scan (`kernels/multisplit/subproblems.cuh`,
/// `kernels/multisplit/reordering.cuh`).
fn shared(spec: &Spec, shape: &Subproblems) -> [u64; 2] {
    let (buckets, warps) = (1u64 << spec.bits(), shape.warps);
    let cells = 4 * (buckets * warps + buckets * warps / WINDOW + 1);
    let room = shape.tile() * (4 + spec.value) + 8 * buckets.max(4);
    match shape.localisation {
        Localisation::Direct => [0, if spec.bits() > 5 { 4 * buckets * warps } else { 0 }],
        Localisation::Warp => [0, warps * room],
        Localisation::Block => [cells, room + cells],
    }
}

impl Localised {
    /// The kernels of a case.
    pub fn kernels(spec: &Spec, shape: &Subproblems) -> KernelList {
        let [prescan, postscan] = names(spec, shape);
        let counted = KernelList::default().timed(MODULE, prescan, 1);
        counted.timed(scan::cuda::MODULE, Variant::COUNTS.name(), 1).timed(MODULE, postscan, 1)
    }

    /// Allocates the arrays of a case.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn new(gpu: &Gpu, spec: &Spec, shape: Subproblems, function: Function) -> Result<Localised, Failure> {
        let kernels = gpu.module(MODULE)?.kernels(names(spec, &shape))?;
        let counts = Summed::new(gpu, shape.counts(spec))?;
        Ok(Localised { spec: *spec, shape, function, kernels, counts })
    }

    /// Queues the pre-scan, which stores counts, or the post-scan, which reads their sums.
    fn launch(&self, gpu: &Gpu, what: &Split, scan: usize) -> Result<(), Failure> {
        let shape = &self.shape;
        let subproblems = shape.count(what.n);
        let each = if shape.localisation == Localisation::Block { 1 } else { shape.warps };
        let counts = [&self.counts.given, &self.counts.sums][scan];
        let shared = length(shared(&self.spec, shape)[scan])? as u32;
        let launch = Launch {
            arrays: what.arrays(),
            counts: counts.pointer(),
            offsets: what.offsets,
            n: what.n,
            subproblems: subproblems as u32,
            windows: shape.windows as u32,
            tiles: shape.tiles as u32,
            value: self.spec.value as u32,
        };
        // Without keys, one block of the post-scan still stores the offsets.
        let blocks = subproblems.div_ceil(each).max(1) as u32;
        let (threads, args) = ((shape.warps * WINDOW) as u32, args![launch, self.function]);
        gpu.launch(&self.kernels[scan], blocks, threads, shared, args)
    }
}

impl Splitter for Localised {
    fn turn_to(&mut self, field: Function) {
        self.function = field;
    }

    /// The paper's names (§4.1, Table 4).
    fn stages(&self) -> &'static [&'static str] {
        &["pre-scan", "scan", "post-scan"]
    }

    fn stage(&mut self, gpu: &Gpu, what: &Split, stage: usize) -> Result<(), Failure> {
        match stage {
            // Without keys the pre-scan has no counts to store.
            0 if what.n == 0 => Ok(()),
            1 => self.counts.scan(gpu, self.spec.buckets * self.shape.count(what.n)),
            _ => self.launch(gpu, what, stage / 2),
        }
    }
}
