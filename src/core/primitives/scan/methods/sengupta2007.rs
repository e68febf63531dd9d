//! The paper's method: levels of 128-thread blocks, where each level's sums are scanned by the next level, down to a level of
//! one block (sengupta2007 §2.1, Algorithms 1 to 5).
//!
//! A block has a balanced tree in shared memory, swept up and down (`kernels/scan/sengupta2007.cuh`). Every warp goes through
//! every level of the tree, with a barrier and a division, though most levels have nodes for only one warp. Plain scans leave
//! the sum of each block, which is added to the block's elements once it is scanned. Segmented scans store their trees between
//! the sweeps, and the flags with them, a byte each.

use super::{Method, heads};
use crate::case::block_cost::{BlockCost, LANES, wavefronts};
use crate::case::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::scan::Spec;

/// Threads per block.
const BLOCK: u64 = 128;

/// Elements of a thread.
fn items(spec: &Spec) -> u64 {
    if let Method::Sengupta2007 { elements_per_thread } = spec.method { elements_per_thread } else { 2 }
}

/// Elements of each level, of which a thread has `items`: the block sums of one level are the elements of the next.
fn levels(elements: u64, items: u64) -> Vec<u64> {
    let block = BLOCK * items;
    let next = |&level: &u64| (level > block).then(|| level.div_ceil(block));
    std::iter::successors(Some(elements), next).collect()
}

/// Instruction counts are those of u32 sums; other operators and types come close.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let items = items(spec);
    let levels = levels(spec.elements, items);
    // The levels above the first, and the flags kept between reduce and down-sweep, a byte each.
    let (above, flag) = (levels.iter().skip(1).sum::<u64>(), u64::from(spec.segmented()));
    let own_bytes = above * (spec.element() + 2 * flag) + spec.elements * flag;
    let costs = if flag == 1 { segmented(spec, &levels, items) } else { plain(spec, &levels, items) };
    costs.beside(own_bytes)
}

/// The passes of plain scans: the blocks of a level are scanned and leave their sums; once the sums are scanned, each is
/// added to the elements of its block.
fn plain<'a>(spec: &Spec, levels: &[u64], items: u64) -> Costs<'a> {
    let read = |array, count| Access::reads(array, spec.element(), count);
    let written = |array, count| Access::writes(array, spec.element(), count);
    let blocks = |level: u64| level.div_ceil(BLOCK * items);
    let scanned = levels.iter().enumerate().map(|(k, &level)| {
        let [from, to] = arrays(k);
        let sums = levels.get(k + 1).map(|&sums| written("sums", sums));
        (Pass::once([read(from, level), written(to, level)]).and(sums), scan(blocks(level), items))
    });
    let added = levels.windows(2).enumerate().rev().map(|(k, pair)| {
        let [_, to] = arrays(k);
        let pass = Pass::once([read("sums", pair[1]), read(to, pair[0]), written(to, pair[0])]);
        (pass, add(blocks(pair[0]), items))
    });
    let (passes, blocks): (_, Vec<BlockCost>) = scanned.chain(added).unzip();
    Costs::of(passes).blocks(blocks)
}

/// The passes of segmented scans: reduce stores the trees of partial sums and of flags; once the blocks' totals are scanned,
/// down-sweep loads the trees again. The last level is one block, swept up and down.
fn segmented<'a>(spec: &Spec, levels: &[u64], items: u64) -> Costs<'a> {
    let read = |array, count| Access::reads(array, spec.element(), count);
    let written = |array, count| Access::writes(array, spec.element(), count);
    let flags = |k: usize| if k == 0 { heads(spec) } else { Some(Access::reads("sum flags", 1, levels[k])) };
    let loaded = |k: usize| Pass::once([read(arrays(k)[0], levels[k])]).and(flags(k));
    let blocks = |level: u64| level.div_ceil(BLOCK * items);
    let last = levels.len() - 1;
    let reduced = (0..last).map(|k| {
        let stored = [
            written(arrays(k)[1], levels[k]),
            Access::writes("or tree", 1, levels[k]),
            written("sums", levels[k + 1]),
            Access::writes("sum flags", 1, 2 * levels[k + 1]),
        ];
        (loaded(k).and(stored), reduce(blocks(levels[k]), items))
    });
    let whole = (loaded(last).and([written(arrays(last)[1], levels[last])]), whole(items));
    let swept = (0..last).rev().map(|k| {
        let trees = [read(arrays(k)[1], levels[k]), Access::reads("or tree", 1, levels[k])];
        let sums = [read("sums", levels[k + 1]), written(arrays(k)[1], levels[k])];
        (Pass::once(trees).and(flags(k)).and(sums), sweep_down(blocks(levels[k]), items))
    });
    let (passes, blocks): (_, Vec<BlockCost>) = reduced.chain([whole]).chain(swept).unzip();
    Costs::of(passes).blocks(blocks)
}

/// The arrays that a level reads and writes.
fn arrays(level: usize) -> [&'static str; 2] {
    if level == 0 { ["in", "out"] } else { ["sums", "sums"] }
}

/// Warps per block, and the number of blocks that make up the 2048 threads of a multiprocessor.
const WARPS: f64 = (BLOCK / LANES as u64) as f64;
const RESIDENT: u64 = 2048 / BLOCK;

/// Instructions of a warp, and integer instructions among them.
type Counts = [f64; 2];

/// A sweep: costs of each warp on each level and of each 32 nodes, and the shared-memory accesses of a node.
struct Sweep {
    level: Counts,
    nodes: Counts,
    /// Accesses to the left and to the right leaf of a node.
    left: usize,
    right: usize,
}

const UP: Sweep = Sweep { level: [34.0, 13.0], nodes: [14.0, 5.0], left: 1, right: 2 };
const DOWN: Sweep = Sweep { level: [35.0, 11.0], nodes: [20.0, 8.0], left: 2, right: 3 };
/// Sweeps with flags beside the sums.
const SEGMENTED_UP: Sweep = Sweep { level: [36.0, 13.0], nodes: [30.0, 11.0], left: 3, right: 5 };
const SEGMENTED_DOWN: Sweep = Sweep { level: [36.0, 14.0], nodes: [28.0, 11.0], left: 5, right: 3 };

/// The blocks of a level, whose trees are swept a few times, with what each warp executes before and after. A level of a tree
/// is a load, a store and a barrier.
fn of_blocks(blocks: u64, loads: f64, leaves: u64, sweeps: &[Sweep], ends: [f64; 3]) -> BlockCost {
    let (all, steps) = (blocks as f64, f64::from(3 * sweeps.len() as u32 * leaves.ilog2()));
    let cost = BlockCost::of(blocks, RESIDENT).blocks(blocks).loads(loads).steps(steps);
    let swept = sweeps.iter().fold(cost, |cost, sweep| cost.with(all, sweep.of_block(leaves)));
    swept.with(all * WARPS, ends)
}

/// A tree has twice as many leaves as threads; a thread with more elements sums its own first.
fn scan(blocks: u64, elements: u64) -> BlockCost {
    // Loads, stores, and the total of the block.
    let ends = if elements > 2 { [247.0, 106.0, 4.0] } else { [126.0, 45.0, 4.0] };
    of_blocks(blocks, 1.0, 2 * BLOCK, &[UP, DOWN], ends)
}

/// A thread's elements one after another, each loaded, added to and stored.
fn add(blocks: u64, elements: u64) -> BlockCost {
    let each = elements as f64;
    of_blocks(blocks, 1.0 + each, 1, &[], [29.0 + 16.0 * each, 11.0 + 6.0 * each, 0.0])
}

/// Loads flags and elements one after another, and stores both trees.
fn reduce(blocks: u64, elements: u64) -> BlockCost {
    let each = elements as f64;
    let ends = [87.0 + 78.0 * each, 10.0 + 50.0 * each, 6.0 * each];
    of_blocks(blocks, 2.0 * each, elements * BLOCK, &[SEGMENTED_UP], ends)
}

/// Loads the flags, both trees, and the prefix of the block.
fn sweep_down(blocks: u64, elements: u64) -> BlockCost {
    let each = elements as f64;
    let ends = [76.0 + 80.0 * each, 8.0 + 46.0 * each, 6.0 * each];
    of_blocks(blocks, 2.0 * each + 1.0, elements * BLOCK, &[SEGMENTED_DOWN], ends)
}

/// A level of one block, swept up and down.
fn whole(elements: u64) -> BlockCost {
    of_blocks(1, 2.0 * elements as f64, elements * BLOCK, &[SEGMENTED_UP, SEGMENTED_DOWN], [0.0; 3])
}

/// The position of a leaf in shared memory, `padded` in the kernels.
fn padded(leaf: u64) -> u64 {
    leaf + leaf / 32
}

impl Sweep {
    /// Costs of a block: instructions, integer instructions among them, wavefronts.
    fn of_block(&self, leaves: u64) -> [f64; 3] {
        let levels = f64::from(leaves.ilog2()) * WARPS;
        let groups: Vec<f64> = (0..leaves.ilog2()).flat_map(|k| self.level_of(leaves, 1 << k)).collect();
        let counts = |k: usize| levels * self.level[k] + groups.len() as f64 * self.nodes[k];
        [counts(0), counts(1), groups.iter().sum()]
    }

    /// Wavefronts of each 32 nodes of a level whose half-trees have `half` leaves.
    fn level_of(&self, leaves: u64, half: u64) -> Vec<f64> {
        let nodes: Vec<u64> = (0..leaves / (2 * half)).collect();
        let of = |nodes: &[u64], last: u64| wavefronts(nodes.iter().map(|n| padded(n * 2 * half + last)));
        let both = |nodes: &[u64]| self.left * of(nodes, half - 1) + self.right * of(nodes, 2 * half - 1);
        nodes.chunks(LANES).map(|nodes| both(nodes) as f64).collect()
    }
}

pub mod cuda {
    use super::{BLOCK, items, levels, padded};
    use crate::device::cuda::{Arg, Plain, pointer_or_null};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::scan::Spec;
    use crate::primitives::scan::cuda::one_pass::Launch;
    use crate::primitives::scan::cuda::{MODULE, family};
    use crate::primitives::scan::methods::makes_bits;
    use crate::primitives::scan::segments::Heads;

    device_struct! {
        /// `Flags` in the kernels: head flags of one form.
        struct Flags: 16 {
            at: DevicePtr<u32>,
            form: u32,
            unused: u32,
        }

        /// `Level` in the kernels: the arguments of a launch of a level.
        struct Level: 104 {
            input: DevicePtr<u32>,
            output: DevicePtr<u32>,
            or_tree: DevicePtr<u8>,
            flags: DevicePtr<u8>,
            heads: Flags,
            sums: DevicePtr<u32>,
            ors: DevicePtr<u8>,
            firsts: DevicePtr<u8>,
            n: u64,
            flip: u64,
            elements: u32,
            backward: u32,
            inclusive: u32,
            unused: u32,
        }
    }

    /// The kernels of plain scans: the one that scans and the one that adds.
    fn plain(spec: &Spec) -> [String; 2] {
        let ((family, _), items) = (family(spec), items(spec));
        [format!("sengupta2007_scan_{family}_e{items}"), format!("sengupta2007_add_{family}")]
    }

    /// The kernels of segmented scans: reduce, down-sweep, and both within a block.
    fn segmented(spec: &Spec) -> [String; 3] {
        ["reduce", "down_sweep", "block"].map(|part| format!("sengupta2007_{part}_{}", family(spec).0))
    }

    /// The first kernel of plain scans is launched on each level, the last but on the highest.
    pub fn kernels(spec: &Spec) -> KernelList {
        let above = levels(spec.elements, items(spec)).len() as u64 - 1;
        let none = KernelList::default();
        match spec.segmented() {
            true => none.timed_all(MODULE, segmented(spec).into_iter().zip([above, above, 1])),
            false => none.timed_all(MODULE, plain(spec).into_iter().zip([above + 1, above])),
        }
    }

    /// Up the levels, then down again, but for the last, which is one block.
    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Launch>, Failure> {
        let (module, arrays) = (gpu.module(MODULE)?, Arrays::new(gpu, spec)?);
        let (items, element) = (items(spec), spec.element());
        let run = move |gpu: &Gpu, kernel: &Kernel, level: &Level, shared: u64, args: &[Arg]| {
            gpu.launch(kernel, grid(level.n, BLOCK * items), BLOCK as u32, shared as u32, args)
        };
        if spec.segmented() {
            let [reduce, down_sweep, block] = module.kernels(segmented(spec))?;
            let leaves = BLOCK * items;
            let shared = padded(leaves) * element + 2 * leaves;
            return Ok(Box::new(move |gpu, launch| {
                let sweep = |kernel, level: &Level| run(gpu, kernel, level, shared, args![*level]);
                let levels = arrays.levels(launch);
                let Some((last, below)) = levels.split_last() else { return Ok(()) };
                below.iter().try_for_each(|level| sweep(&reduce, level))?;
                sweep(&block, last)?;
                below.iter().rev().try_for_each(|level| sweep(&down_sweep, level))
            }));
        }
        let [scan, add] = module.kernels(plain(spec))?;
        Ok(Box::new(move |gpu, launch| {
            let scan = |&level: &Level| {
                let Level { input, output, sums, n, backward, inclusive, flip, .. } = level;
                let args = args![input, output, sums, n, backward, inclusive, flip];
                run(gpu, &scan, &level, padded(2 * BLOCK) * element, args)
            };
            let add = |&level: &Level| {
                let Level { output, sums, n, elements, backward, flip, .. } = level;
                run(gpu, &add, &level, 0, args![output, sums, n, elements, backward, flip])
            };
            let levels = arrays.levels(launch);
            let Some((last, below)) = levels.split_last() else { return Ok(()) };
            below.iter().try_for_each(scan)?;
            scan(&Level { sums: DevicePtr::null(), ..*last })?;
            below.iter().rev().try_for_each(add)
        }))
    }

    /// The arrays of the levels.
    struct Arrays {
        items: u64,
        /// The form of the flags.
        form: Heads,
        /// The first level's tree of partial ORs.
        or_tree: DeviceBuffer<u8>,
        /// The sums of each level above the first.
        above: Vec<Sums>,
    }

    /// The results that a level passes to the next one, an entry per block.
    struct Sums {
        sums: DeviceBuffer<u32>,
        ors: DeviceBuffer<u8>,
        firsts: DeviceBuffer<u8>,
    }

    impl Arrays {
        /// The arrays of a case; scans of fewer elements can use them too.
        fn new(gpu: &Gpu, spec: &Spec) -> Result<Arrays, Failure> {
            let flags = |n: u64| array(gpu, if spec.segmented() { n } else { 0 });
            let sums = |n: &u64| -> Result<Sums, Failure> {
                Ok(Sums { sums: array(gpu, n * spec.element() / 4)?, ors: flags(*n)?, firsts: flags(*n)? })
            };
            let items = items(spec);
            let above = levels(spec.elements, items).iter().skip(1).map(sums).collect::<Result<_, _>>()?;
            let form = if makes_bits(spec) { Heads::Bits } else { spec.heads };
            Ok(Arrays { items, form, or_tree: flags(spec.elements)?, above })
        }

        /// The levels of a launch, none without elements. Level 0 scans the arrays; a higher level scans the sums of the
        /// level below, forward, exclusively and without a flip.
        fn levels(&self, launch: &Launch) -> Vec<Level> {
            let counts = levels(launch.n, self.items).into_iter().filter(|n| *n > 0);
            let level = |(k, n): (usize, u64)| {
                let next = self.above.get(k);
                let first = Level {
                    input: launch.input,
                    output: launch.output,
                    or_tree: self.or_tree.pointer(),
                    heads: Flags { at: launch.heads, form: self.form as u32, unused: 0 },
                    sums: pointer_or_null(next.map(|next| &next.sums)),
                    ors: pointer_or_null(next.map(|next| &next.ors)),
                    firsts: pointer_or_null(next.map(|next| &next.firsts)),
                    n,
                    flip: launch.flip,
                    elements: self.items as u32,
                    backward: launch.backward,
                    inclusive: launch.inclusive,
                    ..Level::zeroed()
                };
                let Some(below) = k.checked_sub(1).and_then(|below| self.above.get(below)) else {
                    return first;
                };
                // The ORs of the blocks below serve as the tree of this level.
                let (sums, ors) = (below.sums.pointer(), below.ors.pointer());
                let heads = Flags { at: below.firsts.pointer().cast(), form: Heads::Bytes as u32, unused: 0 };
                let (input, output, or_tree, flags) = (sums, sums, ors, ors);
                Level { input, output, or_tree, flags, heads, flip: 0, backward: 0, inclusive: 0, ..first }
            };
            counts.enumerate().map(level).collect()
        }
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use crate::primitives::scan::Method;
        use crate::primitives::scan::tests::spec;
        use std::mem::offset_of;

        #[test]
        fn kernels_are_launched_on_each_level() {
            let launches = |segmented, n, items| {
                let method = Method::Sengupta2007 { elements_per_thread: items };
                let spec = Spec { method, ..spec(segmented, n, "best") };
                let of = |(name, launches): (&str, u64)| (name.to_owned(), launches);
                kernels(&spec).launches().map(of).collect::<Vec<_>>()
            };
            let scan = |n| ("sengupta2007_scan_add_u32_e2".to_owned(), n);
            let named = |part, n| (format!("sengupta2007_{part}_add_u32"), n);
            assert_eq!(launches(false, 1 << 20, 2), [scan(3), named("add", 2)]);
            let segmented = [named("reduce", 2), named("down_sweep", 2), named("block", 1)];
            assert_eq!(launches(true, 1 << 20, 2), segmented);
            assert_eq!(launches(true, 9, 8), [named("block", 1)]);
        }

        #[test]
        fn the_layout_is_the_kernels() {
            assert_eq!((offset_of!(Level, sums), offset_of!(Level, n)), (48, 72));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::scan::tests::spec;

    #[test]
    fn levels_end_at_one_block() {
        assert_eq!(levels(0, 2), [0]);
        assert_eq!(levels(256, 2), [256]);
        assert_eq!(levels(257, 2), [257, 2]);
        assert_eq!(levels(1 << 20, 2), [1 << 20, 1 << 12, 16]);
        assert_eq!(levels(1 << 30, 8), [1 << 30, 1 << 20, 1 << 10]);
    }

    #[test]
    fn sums_are_counted_with_their_flags() {
        let bytes = |segmented| costs(&spec(segmented, 1000, "sengupta2007")).own_bytes;
        assert_eq!((bytes(false), bytes(true)), (16, 24 + 1000));
    }

    /// With blocks of 256, 1000 elements are 4 blocks, and 2^20 are 4096, whose sums are 16 and then 1.
    #[test]
    fn the_papers_scan_goes_level_by_level() {
        let passes = |segmented, n| {
            let passes = spec(segmented, n, "sengupta2007").work().passes;
            passes.iter().map(|pass| pass.accesses.iter().map(Access::bytes).sum::<u64>()).collect::<Vec<_>>()
        };
        assert_eq!(passes(false, 256), [2048]);
        assert_eq!(passes(false, 1000), [8016, 32, 8016]);
        assert_eq!(passes(false, 1 << 20).len(), 5);
        assert_eq!(passes(true, 1000), [8000 + 128 + 1000 + 16 + 8, 36, 8000 + 1000 + 128 + 16]);
        let w = spec(true, 1000, "sengupta2007").work();
        assert_eq!(w.footprint, 8128 + 4 * 6 + 1000);
    }

    /// 256 leaves are 8 levels with 4 + 2 + 6 · 1 groups of nodes. On the lowest level, words two apart fall
    /// into even banks, and into odd banks after the gap, so that no two conflict. Leaves 32 apart fall into
    /// consecutive banks.
    #[test]
    fn a_sweep_goes_level_by_level() {
        let [instructions, integers, _] = UP.of_block(256);
        assert_eq!((instructions, integers), (32.0 * 34.0 + 12.0 * 14.0, 32.0 * 13.0 + 12.0 * 5.0));
        assert_eq!((UP.level_of(256, 1), UP.level_of(256, 16)), (vec![3.0; 4], vec![3.0]));
        assert_eq!(UP.level_of(256, 128), [3.0]);
        assert_eq!(DOWN.level_of(256, 128), [5.0]);
    }

    #[test]
    fn adding_loads_one_element_after_another() {
        let eight = add(10, 8);
        assert_eq!((eight.loads, eight.instructions), (9.0, 10.0 * 4.0 * (29.0 + 128.0)));
    }
}
