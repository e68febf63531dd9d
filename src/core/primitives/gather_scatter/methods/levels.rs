//! A partitioned scatter on a GPU (`kernels/gather_scatter/partitioned.cuh`).
//!
//! One scan of L counts all chunks, as many at a time as a block has counters for in shared memory; the sums of
//! the counts give the places of every pass's pairs. The first pass divides all pairs by the highest bits, and
//! each further pass divides every partition of the previous one, so no pass needs counts of its own. A chunk
//! of R_out that fits in shared memory is assembled there and written in order, and for that the last pass
//! keeps only 16 bits of each location. A larger chunk is written in the order of the pairs, which confines
//! random writes to L2.
//!
//! Bytes per tuple with p passes, tuples of z bytes, indices of x bytes and chunks in shared memory: x to
//! count, 2·(x + z) per pass minus the x − 2 that the last one saves, 2 + 2·z at the end:
//! x + (2p − 1)·x + 2·(p + 1)·z + 4. With z = 8 and x = 4 that is 44 for one pass and 68 for two, all of it in order or in as many
//! streams as a pass has bins. Each tuple of `direct` costs x + z and a sector of 32 bytes, which is written
//! partially and hence also read: 76, of which the sector accesses are random.

use super::super::Spec;
use super::partitioned::{Cut, Digit, MAX_GPU_CHUNK, pairs, placed, sorted_near, streams};
use super::passes::confined;
use crate::case::BlockCost;
use crate::case::block_cost::{LANES, mean, wavefronts};
use crate::case::work::{Access, Order, Pass};
use crate::inputs::mix::word64;
use crate::primitives::Costs;

/// Chunks that one scan of L counts: 128 KiB of counters.
const WINDOW: u64 = 1 << 15;

/// Threads of the blocks that divide.
const DIVIDERS: u32 = 768;

/// Pairs per thread of a dividing block, as many as it has registers for: some 200 bytes.
fn items(tuple: u64, index: u64) -> u32 {
    let [short, long] = [[20, 14], [16, 12], [10, 8], [6, 5]][size_class(tuple)];
    if index == 4 { short } else { long }
}

/// Pairs of a dividing block.
fn tile(spec: &Spec) -> u64 {
    u64::from(DIVIDERS * items(spec.tuple, spec.index))
}

/// Index 0 to 3 of tuples of 4, 8, 16 and 32 bytes.
fn size_class(tuple: u64) -> usize {
    (tuple / 4).trailing_zeros().min(3) as usize
}

/// Bytes of a counter.
const COUNTER: u64 = 8;

/// Bytes of a location once its chunk is known, if chunks fit in shared memory.
const WITHIN: u64 = 2;

/// One pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Level {
    digit: Digit,
    /// Partitions that the pass divides.
    segments: u64,
    /// Partitions that the pass makes.
    bins: u64,
    /// The index of the first counter of these partitions among all counters.
    first: u64,
    /// Bytes of a location that the pass writes.
    leaves: u64,
}

/// All passes of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Levels {
    /// A chunk has 2^shift places.
    shift: u64,
    chunks: u64,
    /// The passes in the order in which they are performed; at least one.
    levels: Vec<Level>,
    /// True if chunks are assembled in shared memory.
    shared: bool,
}

impl Levels {
    /// The passes of a case.
    fn of(spec: &Spec, cut: &Cut) -> Levels {
        let shared = spec.tuple << cut.shift <= MAX_GPU_CHUNK;
        let (mut segments, mut first) = (1, 0);
        let level = |(k, &digit): (usize, &Digit)| {
            let bins = cut.chunks.div_ceil(1 << (digit.shift - cut.shift));
            let leaves = if k == 0 && shared { WITHIN } else { spec.index };
            let level = Level { digit, segments, bins, first, leaves };
            (segments, first) = (bins, first + bins);
            level
        };
        let levels = cut.digits.iter().enumerate().rev().map(level).collect();
        Levels { shift: cut.shift, chunks: cut.chunks, levels, shared }
    }

    /// Number of counters of all passes.
    fn counters(&self) -> u64 {
        self.levels.iter().map(|level| level.bins).sum()
    }

    /// Number of scans of L that count.
    fn scans(&self) -> u64 {
        self.chunks.div_ceil(WINDOW)
    }

    /// Bytes of a location in the buffer to which passes k, k + 2 … write; there are one or two such buffers,
    /// used in turn.
    fn location_bytes(&self) -> Vec<u64> {
        let of = |turn: usize| self.levels.iter().skip(turn).step_by(2).map(|level| level.leaves).max();
        (0..2).filter_map(of).collect()
    }

    /// Bytes of the pairs between the passes, and of the counters.
    fn workspace(&self, spec: &Spec) -> u64 {
        let pair = |location: u64| spec.moves() * (spec.tuple + location);
        self.location_bytes().into_iter().map(pair).sum::<u64>() + COUNTER * self.counters()
    }

    /// The memory accesses of the passes. Clearing and summing the counters are passes of their own. They
    /// cover only the counters of the last pass, from which those of earlier passes are derived.
    fn passes(&self, spec: &Spec) -> Vec<Pass> {
        let [read, written] = [Access::reads, Access::writes].map(|of| of("counts", COUNTER, self.chunks));
        let mut all = vec![
            Pass::once([written.clone()]),
            Pass::once([Access::reads("L", spec.index, spec.moves())]).times(self.scans()),
            Pass::once([read, written]).times(self.levels.len() as u64),
        ];
        let mut taken = pairs(spec, 0, spec.index, Access::reads);
        for (k, level) in self.levels.iter().enumerate() {
            let order = sorted_near(streams(spec, level.digit), tile(spec));
            let left = pairs(spec, k + 1, level.leaves, Access::writes);
            all.push(Pass::once(taken).and(left.map(|to| to.ordered(order.clone()))));
            taken = pairs(spec, k + 1, level.leaves, Access::reads);
        }
        let in_order = self.shared && !spec.overwrites();
        let order = if in_order { Order::Sequential } else { confined(spec, self.chunks) };
        all.push(Pass::once(taken).and([placed(spec, order)]));
        all
    }
}

/// Threads of the blocks that count, sum and assemble chunks.
const THREADS: u32 = 1024;

/// Locations that each counting thread loads at a time.
const COUNTED_AT_ONCE: u64 = 16;

/// Counters that each summing thread loads at a time.
const SUMMED_AT_ONCE: u64 = 4;

/// Instructions per warp and 32 pairs or locations, those of the sm_90 machine code for whole tiles; those of the last pass
/// are estimates, because its loops have remainders of their own. Counting, for locations of 4 and 8 bytes: all instructions
/// per warp, and the integer ones among them.
const COUNT: [[f64; 2]; 2] = [[15.0, 5.7], [17.5, 6.9]];

/// Dividing, for locations of 4 and 8 bytes and tuples of 4, 8, 16 and 32 bytes; `PLACE` by the tuples alone.
const DIVIDE: [[[f64; 2]; 4]; 2] = [
    [[78.7, 30.8], [84.7, 33.5], [102.3, 38.3], [134.2, 46.4]],
    [[77.8, 32.9], [80.9, 33.3], [94.1, 48.6], [123.4, 61.0]],
];
const PLACE: [[f64; 2]; 4] = [[10.0, 4.5], [21.0, 10.3], [42.0, 19.7], [86.0, 31.6]];

/// The passes over memory, and the work of their blocks. Locations are assumed random, so the words of 32 lanes lie in
/// arbitrary banks.
pub fn costs<'a>(spec: &'a Spec, cut: &Cut) -> Costs<'a> {
    let levels = Levels::of(spec, cut);
    if spec.moves() == 0 {
        return Costs::of(Vec::new()).beside(levels.workspace(spec));
    }
    Costs::of(levels.passes(spec)).beside(levels.workspace(spec)).blocks_sampled(move || {
        let random = mean(|group| wavefronts((0..LANES as u64).map(|lane| word64(group, lane))));
        let divided = levels.levels.iter().map(|_| dividing(spec, random));
        let before = [BlockCost::default(), counting(spec, &levels, random), summing(&levels)];
        let last = if levels.shared { placing(spec, &levels, random) } else { BlockCost::default() };
        Ok(before.into_iter().chain(divided).chain([last]).collect())
    })
}

/// `random` is the mean number of wavefronts of 32 words in arbitrary banks, here and below.
fn counting(spec: &Spec, levels: &Levels, random: f64) -> BlockCost {
    let tiles = spec.moves().div_ceil(u64::from(THREADS) * COUNTED_AT_ONCE);
    // With counters of 64 KiB and more, a multiprocessor has no room for a second block.
    let resident = if levels.chunks.min(WINDOW) > WINDOW / 2 { 1 } else { 2 };
    let [instructions, integers] = COUNT[usize::from(spec.index == 8)];
    let cost = BlockCost::of(tiles, resident).loads(1.0).steps(4.0);
    // An atomic addition reads and writes its counter.
    cost.with(warps(spec), [instructions, integers, 2.0 * random])
}

/// One block of 1024 threads, which carries a sum from one round to the next.
fn summing(levels: &Levels) -> BlockCost {
    let rounds = levels.chunks.div_ceil(u64::from(THREADS) * SUMMED_AT_ONCE) as f64;
    BlockCost::of(1, 0).loads(rounds).steps(12.0 * rounds)
}

/// A tile: ranks by counters, room in the partitions (whose counters stay in L2), and pairs moved into and out
/// of shared memory. A block has a multiprocessor to itself, but loads a tile while it stores the previous one.
fn dividing(spec: &Spec, random: f64) -> BlockCost {
    let words = (spec.tuple + spec.index) as f64 / 4.0;
    let [instructions, integers] = DIVIDE[usize::from(spec.index == 8)][size_class(spec.tuple)];
    // Counters, look-ups and pairs hit random banks; reads are in order, and neighbours mostly share a bin.
    let shared = 3.0 * random + words * random + words + 1.0;
    // Six barriers, five shuffles, a sum over the warps' sums, counters and places.
    let steps = 11.0 + f64::from(DIVIDERS) / LANES as f64 + 8.0;
    let cost = BlockCost::of(spec.moves().div_ceil(tile(spec)), 2).loads(1.0).looks(1.0).steps(steps);
    cost.with(warps(spec), [instructions, integers, shared])
}

/// Chunk by chunk: its start, then its pairs, which are stored anywhere in shared memory and leave it in order.
fn placing(spec: &Spec, levels: &Levels, random: f64) -> BlockCost {
    let words = spec.tuple as f64 / 4.0;
    let [instructions, integers] = PLACE[size_class(spec.tuple)];
    let cost = BlockCost::of(levels.chunks, 1).loads(1.0).looks(1.0).steps(10.0);
    cost.with(warps(spec), [instructions, integers, words * random + words])
}

fn warps(spec: &Spec) -> f64 {
    spec.moves() as f64 / LANES as f64
}

pub mod cuda {
    use super::super::partitioned::Cut;
    use super::super::passes::Span;
    use super::{DIVIDERS, Level, Levels, THREADS, WINDOW, items, tile};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::gather_scatter::Spec;
    use crate::primitives::gather_scatter::cuda::{Arrays, At, MODULE};

    /// The kernels that are independent of the sizes of tuples and locations.
    const OTHERS: [&str; 3] = ["partitioned_clear", "partitioned_sum", "partitioned_coarsen"];

    /// The workspace of a case and its kernels.
    struct Partitioned {
        spec: Spec,
        levels: Levels,
        /// The counters of all passes; each pass has one per partition that it makes.
        counters: DeviceBuffer<u64>,
        others: [Kernel; 3],
        count: Step,
        /// The passes that divide.
        divide: Vec<Step>,
        /// Assembles chunks in shared memory, if they fit.
        place: Option<Step>,
        spread: Kernel,
    }

    /// A kernel with the bytes of shared memory of its blocks, and how many of these are resident at a time.
    struct Step {
        kernel: Kernel,
        shared: u32,
        resident: u32,
    }

    device_struct! {
        /// The input of a pass: `Divided` in the kernels.
        struct Divided: 32 {
            ends: DevicePtr<u64>,
            segments: u64,
            n: u64,
            tile: u64,
        }
    }

    pub fn kernels(spec: &Spec, cut: &Cut) -> KernelList {
        let Levels { levels, shared, .. } = Levels::of(spec, cut);
        let (passes, whole) =
            (levels.len(), levels.iter().filter(|level| level.leaves == spec.index).count());
        // Every further pass derives its sums from those of the last pass.
        let others = OTHERS.into_iter().map(str::to_owned).zip([1, 1, passes - 1]);
        let sized = sized(spec).into_iter().zip([1, whole, passes - whole, shared.into(), (!shared).into()]);
        KernelList::default().timed_all(MODULE, others.chain(sized).map(|(name, n)| (name, n as u64)))
    }

    /// No step waits for the host, and everything is timed.
    pub fn method(gpu: &Gpu, spec: &Spec, cut: &Cut, spans: Vec<Span>) -> Result<GpuMethod<Arrays>, Failure> {
        let (levels, module) = (Levels::of(spec, cut), gpu.module(MODULE)?);
        let buffer = |bytes: u64| array::<u32>(gpu, (spec.moves() * bytes).div_ceil(4));
        let pairs = |location: u64| Ok::<_, Failure>((buffer(spec.tuple)?, buffer(location)?));
        // The passes write to these in turn.
        let between = levels.location_bytes().into_iter().map(pairs).collect::<Result<Vec<_>, _>>()?;
        let [count, whole, within, place, spread] = module.kernels(sized(spec))?;
        let step = |kernel: &Kernel, threads, shared: u64| {
            let shared = shared as u32;
            Ok(Step { kernel: kernel.clone(), shared, resident: gpu.max_blocks(kernel, threads, shared)? })
        };
        let divide = |level: &Level| {
            let kernel = if level.leaves == spec.index { &whole } else { &within };
            let bins = level.digit.values() * (spec.index + 4);
            step(kernel, DIVIDERS, tile(spec) * (spec.tuple + spec.index) + bins)
        };
        let places = 1 << levels.shift;
        let assembled = || step(&place, THREADS, places * spec.tuple + 4 * places.div_ceil(32));
        let all = Partitioned {
            spec: spec.clone(),
            counters: array(gpu, levels.counters())?,
            others: module.kernels(OTHERS)?,
            count: step(&count, THREADS, 4 * levels.chunks.next_power_of_two().min(WINDOW))?,
            divide: levels.levels.iter().map(divide).collect::<Result<_, Failure>>()?,
            place: levels.shared.then(assembled).transpose()?,
            spread,
            levels,
        };
        Ok(Box::new(move |gpu, arrays| {
            spans.iter().try_for_each(|span| {
                let (n, mut from) = (span.count, arrays.at(span)?);
                all.count(gpu, from.locations, n)?;
                for (k, (tuples, locations)) in (0..all.levels.levels.len()).zip(between.iter().cycle()) {
                    let to = At { input: tuples.pointer(), locations: locations.pointer(), ..from };
                    all.divide(gpu, k, (from, to), n)?;
                    from = to;
                }
                all.place(gpu, from, n)
            })
        }))
    }

    /// The kernels for the sizes of a case's tuples and locations: one that counts, two that divide and keep whole
    /// locations or 16 bits of each, and two that move tuples to chunks in shared memory or directly to R_out.
    fn sized(spec: &Spec) -> [String; 5] {
        let (z, x) = (spec.tuple, spec.index);
        let n = items(z, x);
        [
            format!("partitioned_count_i{x}"),
            format!("partitioned_pass_t{z}_i{x}_n{n}"),
            format!("partitioned_last_t{z}_i{x}_n{n}"),
            format!("partitioned_place_t{z}"),
            format!("partitioned_spread_t{z}_i{x}"),
        ]
    }

    impl Partitioned {
        /// The counters of a pass's bins.
        fn bins(&self, level: &Level) -> Result<DevicePtr<u64>, Failure> {
            self.counters.pointer_at(length(level.first)?)
        }

        /// Queues the count of all chunks and its sums: the counters of all passes become the starts of the pairs
        /// of their bins.
        fn count(&self, gpu: &Gpu, locations: DevicePtr<u32>, n: u64) -> Result<(), Failure> {
            let Levels { shift, chunks, ref levels, .. } = self.levels;
            let Some((last, coarser)) = levels.split_last() else { return Ok(()) };
            let ([clear, sum, coarsen], count) = (&self.others, &self.count);
            let (bins, bits) = (self.bins(last)?, shift as u32);
            launch_over(gpu, clear, chunks, args![bins, chunks])?;
            let (window, blocks) = (count.shared / 4, count.resident.min(grid(n, THREADS.into())));
            let args = args![bins, locations, bits, window, blocks, chunks, n];
            gpu.launch(&count.kernel, self.levels.scans() as u32 * blocks, THREADS, count.shared, args)?;
            gpu.launch(sum, 1, THREADS, 0, args![bins, chunks])?;
            coarser.iter().try_for_each(|level| {
                let (coarse, below) = (self.bins(level)?, (level.digit.shift - shift) as u32);
                launch_over(gpu, coarsen, level.bins, args![coarse, bins, below, level.bins])
            })
        }

        /// Queues pass k over `n` pairs. The counters of its bins advance to the ends of the bins' pairs.
        fn divide(&self, gpu: &Gpu, k: usize, (from, to): (At, At), n: u64) -> Result<(), Failure> {
            let (level, step) = (&self.levels.levels[k], &self.divide[k]);
            let ends = match k {
                0 => DevicePtr::null(),
                _ => self.bins(&self.levels.levels[k - 1])?,
            };
            let (next, shift, bins) =
                (self.bins(level)?, level.digit.shift as u32, level.digit.values() as u32);
            let most = tile(&self.spec);
            let blocks = step.resident.min(grid(n, most));
            let all = Divided { ends, segments: level.segments, n, tile: even(n, most, blocks) };
            let args = args![to.input, to.locations, from.input, from.locations, next, all, shift, bins];
            gpu.launch(&step.kernel, blocks, DIVIDERS, step.shared, args)
        }

        /// Queues the kernel that writes `n` pairs to their places in the output, one chunk after another.
        fn place(&self, gpu: &Gpu, At { output, input, locations }: At, n: u64) -> Result<(), Failure> {
            let (spec, &Levels { shift, chunks, ref levels, .. }) = (&self.spec, &self.levels);
            let Some(last) = levels.last() else { return Ok(()) };
            let Some(place) = &self.place else {
                let args = args![output, input, locations, n];
                return gpu.launch(&self.spread, grid(n, THREADS.into()), THREADS, 0, args);
            };
            let (ends, bits, distinct) = (self.bins(last)?, shift as u32, u32::from(!spec.overwrites()));
            let blocks = place.resident.min(grid(chunks, 1));
            let args = args![output, input, locations, ends, bits, chunks, spec.tuples, distinct];
            gpu.launch(&place.kernel, blocks, THREADS, place.shared, args)
        }
    }

    /// The tile size, at most `most`, with which each of `blocks` blocks has the same number of tiles of n
    /// elements.
    pub(super) fn even(n: u64, most: u64, blocks: u32) -> u64 {
        let rounds = n.div_ceil(most * u64::from(blocks)).max(1);
        n.div_ceil(rounds * u64::from(blocks)).next_multiple_of(32).min(most)
    }
}

#[cfg(test)]
#[path = "levels_tests.rs"]
mod tests;
