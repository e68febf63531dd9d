//! The radix sort of he2007 §4.1 (`kernels/sort/radix_he2007.cuh`): phases of a histogram, its prefix sum, locations and a
//! multi-pass scatter, and bitonic sorts of the parts in shared memory.

use super::bitonic::{MODULE, shared};
use super::{Arrays, Pair, Sorter};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, args, device_struct};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::primitives::scan;
use crate::primitives::scan::cuda::one_pass::{self, OnePass, Variant};
use crate::primitives::sort::Spec;
use crate::primitives::sort::digits::Digits;
use crate::primitives::sort::he2007::Phases;

/// Words that count what the phases list: one for each phase, of which there are at most 64, and one for the parts
/// that fit.
const LISTED: usize = 65;

/// Blocks of a launch per multiprocessor, at most: each then takes several tiles or parts.
const BLOCKS: u32 = 8;

device_struct! {
    /// `Phase` in the kernels.
    struct Phase: 120 {
        from: Pair,
        to: Pair,
        locations: DevicePtr<u32>,
        counts: DevicePtr<u32>,
        sums: DevicePtr<u32>,
        parts: DevicePtr<u32>,
        next: DevicePtr<u32>,
        listed: DevicePtr<u64>,
        leaves: DevicePtr<u32>,
        n: u32,
        phase: u32,
        shift: u32,
        bits: u32,
        rest: u32,
        in_output: u32,
        low: u32,
        span: u32,
    }

    /// `Leaves` in the kernels.
    struct Leaves: 56 {
        between: Pair,
        to: Pair,
        listed: DevicePtr<u64>,
        leaves: DevicePtr<u32>,
        begin: u32,
        bits: u32,
    }
}

/// The kernels that count, locate, scatter, and sort the parts.
fn names(spec: &Spec) -> [String; 4] {
    let (key, value) = (8 * spec.key_bytes(), spec.value());
    [
        format!("he2007_count_u{key}"),
        format!("he2007_locate_u{key}"),
        format!("he2007_scatter_u{key}_{value}"),
        format!("he2007_leaves_u{key}_{value}"),
    ]
}

/// The kernels of a case.
pub fn kernels(spec: &Spec, passes: u64) -> KernelList {
    let phases = u64::from(Phases::of(spec).launched(spec.keys));
    let [count, locate, scatter, leaves] = names(spec);
    let counted = KernelList::default().timed(MODULE, count, phases);
    let located =
        counted.timed(scan::cuda::MODULE, Variant::COUNTS.name(), phases).timed(MODULE, locate, phases);
    located.timed(MODULE, scatter, phases * passes).timed(MODULE, leaves, 1)
}

/// Words of a list of parts.
fn part_words(n: u64) -> u64 {
    3 * Phases::large(n).max(1)
}

/// The kernels of a case, and what its phases leave for each other.
pub struct He2007 {
    phases: Phases,
    field: Digits,
    passes: u32,
    kernels: [Kernel; 4],
    /// Bytes of shared memory of a block that sorts parts.
    leaf: u32,
    blocks: u32,
    scan: OnePass,
    locations: DeviceBuffer<u32>,
    counts: DeviceBuffer<u32>,
    sums: DeviceBuffer<u32>,
    /// Parts of this phase and of the next one in turn.
    parts: [DeviceBuffer<u32>; 2],
    leaves: DeviceBuffer<u32>,
    listed: DeviceBuffer<u64>,
}

impl He2007 {
    /// Allocates the locations, counts and lists.
    ///
    /// # Errors
    /// The errors of [`OnePass::new`]; otherwise the driver's.
    pub fn new(gpu: &Gpu, spec: &Spec, passes: u64) -> Result<He2007, Failure> {
        let (n, phases) = (spec.keys, Phases::of(spec));
        let counts = phases.most_counts(n);
        let words = |count: u64| gpu.alloc(length(count)?);
        let (module, scan) = (gpu.module(MODULE)?, OnePass::new(gpu, Variant::COUNTS, counts)?);
        let kernel = |name: String| module.kernel(&name);
        let [count, locate, scatter, leaves] = names(spec).map(kernel);
        let mut sort = He2007 {
            phases,
            field: spec.digits(phases.bits),
            passes: passes as u32,
            kernels: [count?, locate?, scatter?, leaves?],
            leaf: shared(spec),
            blocks: gpu.device().sms.max(1) * BLOCKS,
            scan,
            locations: words(n.max(1))?,
            counts: words(counts)?,
            sums: words(counts)?,
            parts: [words(part_words(n))?, words(part_words(n))?],
            leaves: words(2 * phases.leaves(n))?,
            listed: gpu.alloc(LISTED)?,
        };
        // A scan also goes over what no tile has counted.
        gpu.memset32(&mut sort.counts, 0)?;
        Ok(sort)
    }

    /// The arguments of a phase that moves keys between these arrays.
    fn phase(&self, phase: u32, n: u64, from: Pair, arrays: &Arrays) -> Phase {
        let digit = self.phases.digit(phase);
        // The last of all phases that there may be writes the output.
        let in_output = (self.phases.all() - phase) % 2 == 1;
        let [parts, next] = [phase, phase + 1].map(|phase| self.parts[phase as usize % 2].pointer());
        Phase {
            from,
            to: if in_output { arrays.to } else { arrays.between },
            locations: self.locations.pointer(),
            counts: self.counts.pointer(),
            sums: self.sums.pointer(),
            parts,
            next,
            listed: self.listed.pointer(),
            leaves: self.leaves.pointer(),
            n: n as u32,
            phase,
            shift: digit.shift,
            bits: digit.bits,
            rest: u32::from(digit.shift > self.field.begin),
            in_output: u32::from(in_output),
            low: 0,
            span: n.div_ceil(u64::from(self.passes)) as u32,
        }
    }

    /// Queues a phase.
    fn split(&mut self, gpu: &Gpu, phase: Phase) -> Result<(), Failure> {
        let (n, [count, locate, scatter, _]) = (phase.n.into(), &self.kernels);
        let (threads, shared) = (self.phases.threads(), self.phases.shared());
        let blocks = grid(self.phases.tiles(n, phase.phase), 1).min(self.blocks);
        gpu.launch(count, blocks, threads, shared, args![phase])?;
        let counts = self.phases.counts(n, phase.phase);
        self.scan.execute(gpu, one_pass::Launch::new(phase.counts, phase.sums, counts))?;
        gpu.launch(locate, blocks, threads, shared, args![phase])?;
        (0..self.passes).try_for_each(|pass| {
            let low = pass * phase.span;
            gpu.launch(scatter, blocks, threads, 0, args![Phase { low, ..phase }])
        })
    }
}

impl Sorter for He2007 {
    fn sort(&mut self, gpu: &Gpu, arrays: &Arrays) -> Result<(), Failure> {
        let (n, mut from) = (arrays.n, arrays.from);
        if n == 0 {
            return Ok(());
        }
        for phase in 0..self.phases.launched(n) {
            let phase = self.phase(phase, n, from, arrays);
            self.split(gpu, phase)?;
            from = phase.to;
        }
        let leaves = Leaves {
            between: arrays.between,
            to: arrays.to,
            listed: self.listed.pointer(),
            leaves: self.leaves.pointer(),
            begin: self.field.begin,
            bits: self.field.end - self.field.begin,
        };
        let blocks = grid(self.phases.leaves(n), 1).min(self.blocks);
        gpu.launch(&self.kernels[3], blocks, BLOCK, self.leaf, args![leaves])
    }
}
