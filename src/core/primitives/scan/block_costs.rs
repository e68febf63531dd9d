//! On-chip work of a scan's blocks, pass by pass as in `work`. Instruction counts are those of u32 sums; other
//! operators and types come close.
//!
//! sengupta2007's blocks have a balanced tree in shared memory, swept up and down (`kernels/scan/sengupta2007.cuh`). Every warp goes
//! through every level, with a barrier and a division, though most levels have nodes for only one warp.

use super::spec::{BLOCK, Method, Spec};
use super::work::levels;
use crate::case::block_cost::{BlockCost, LANES, wavefronts};

/// A one-pass tile (`kernels/scan/tile.cuh`): its bytes, its warps, and the resident blocks per multiprocessor
/// (`TILE_BLOCKS` in `kernels/scan/scan.cu`).
const TILE: u64 = 7 << 12;
const TILE_WARPS: f64 = 8.0;

/// Per warp of a tile: instructions, integer instructions among them, and shared-memory wavefronts. The warp's
/// seven 512-byte vectors (28 wavefronts) cross shared memory five times.
const PLAIN: [f64; 3] = [400.0, 200.0, 5.0 * 28.0];
const SEGMENTED: [f64; 3] = [700.0, 450.0, 5.0 * 28.0];

/// Dependent steps of a tile: vectors go into shared memory and out of it, a sum over lanes, a sum over warps,
/// and the same with the prefix of the tile; five shuffles each, and three barriers.
const STEPS: f64 = 24.0;

/// Warps per block, and the number of 128-thread blocks that make up the 2048 threads of a multiprocessor.
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

/// Block costs for each pass of a case on a GPU.
pub fn block_costs(spec: &Spec) -> Vec<BlockCost> {
    let before = super::work::before(spec).map(|_| BlockCost::default());
    let scan = match spec.method {
        Method::Sengupta2007 { elements_per_thread } => in_levels(spec, elements_per_thread),
        _ => vec![one_pass(spec.method, spec.segmented(), spec.bytes(), spec.element())],
    };
    before.chain(scan).collect()
}

/// A pass over `bytes` bytes of elements. A tile draws its ticket. With a spine, the tile's sum is stored and
/// found, and its prefix is stored and found; with look-back, the tile's sum is stored and the sums of the
/// tiles before it are found.
pub fn one_pass(method: Method, segmented: bool, bytes: u64, element: u64) -> BlockCost {
    let tiles = bytes.div_ceil(TILE);
    let looks = if method == Method::Spine { 5.0 } else { 3.0 };
    let resident = if element > 8 { 4 } else { 6 };
    BlockCost::of(tiles, resident)
        .blocks(tiles)
        .loads(1.0)
        .looks(looks)
        .steps(STEPS)
        .with(tiles as f64 * TILE_WARPS, if segmented { SEGMENTED } else { PLAIN })
}

/// Block costs for each level of sengupta2007's method, in the order of its passes.
fn in_levels(spec: &Spec, elements_per_thread: u64) -> Vec<BlockCost> {
    let levels = levels(spec.elements, elements_per_thread);
    let blocks = |&level: &u64| level.div_ceil(BLOCK * elements_per_thread);
    let above = levels.len() - 1;
    if !spec.segmented() {
        let scans = levels.iter().map(|level| scan(blocks(level), elements_per_thread));
        let adds = levels.iter().take(above).rev().map(|level| add(blocks(level), elements_per_thread));
        return scans.chain(adds).collect();
    }
    let reduced = levels.iter().take(above).map(|level| reduce(blocks(level), elements_per_thread));
    let last = levels.iter().skip(above).map(|_| whole(elements_per_thread));
    let swept = levels.iter().take(above).rev().map(|level| sweep_down(blocks(level), elements_per_thread));
    reduced.chain(last).chain(swept).collect()
}

fn of_blocks(blocks: u64, loads: f64, steps: f64) -> BlockCost {
    BlockCost::of(blocks, RESIDENT).blocks(blocks).loads(loads).steps(steps)
}

/// A tree has twice as many leaves as threads; a thread with more elements sums its own first.
fn scan(blocks: u64, elements: u64) -> BlockCost {
    let leaves = 2 * BLOCK;
    let [up, down] = [UP, DOWN].map(|sweep| sweep.of_block(leaves));
    // Loads, stores, and the total of the block.
    let ends = if elements > 2 { [247.0, 106.0, 4.0] } else { [126.0, 45.0, 4.0] };
    let all = blocks as f64;
    of_blocks(blocks, 1.0, steps(2 * depth(leaves))).with(all, up).with(all, down).with(all * WARPS, ends)
}

/// A thread's elements one after another, each loaded, added to and stored.
fn add(blocks: u64, elements: u64) -> BlockCost {
    let each = elements as f64;
    let counts = [29.0 + 16.0 * each, 11.0 + 6.0 * each, 0.0];
    of_blocks(blocks, 1.0 + each, 0.0).with(blocks as f64 * WARPS, counts)
}

/// Loads flags and elements one after another, and stores both trees.
fn reduce(blocks: u64, elements: u64) -> BlockCost {
    let (leaves, each, all) = (elements * BLOCK, elements as f64, blocks as f64);
    let ends = [87.0 + 78.0 * each, 10.0 + 50.0 * each, 6.0 * each];
    let block_costs = of_blocks(blocks, 2.0 * each, steps(depth(leaves)));
    block_costs.with(all, SEGMENTED_UP.of_block(leaves)).with(all * WARPS, ends)
}

/// Loads the flags, both trees, and the prefix of the block.
fn sweep_down(blocks: u64, elements: u64) -> BlockCost {
    let (leaves, each, all) = (elements * BLOCK, elements as f64, blocks as f64);
    let ends = [76.0 + 80.0 * each, 8.0 + 46.0 * each, 6.0 * each];
    let block_costs = of_blocks(blocks, 2.0 * each + 1.0, steps(depth(leaves)));
    block_costs.with(all, SEGMENTED_DOWN.of_block(leaves)).with(all * WARPS, ends)
}

/// A level of one block, swept up and down.
fn whole(elements: u64) -> BlockCost {
    let leaves = elements * BLOCK;
    let block_costs = of_blocks(1, 2.0 * elements as f64, steps(2 * depth(leaves)));
    block_costs.with(1.0, SEGMENTED_UP.of_block(leaves)).with(1.0, SEGMENTED_DOWN.of_block(leaves))
}

fn depth(leaves: u64) -> u32 {
    leaves.ilog2()
}

/// Dependent steps of `levels` levels: a load, a store and a barrier each.
fn steps(levels: u32) -> f64 {
    f64::from(3 * levels)
}

/// The position of a leaf in shared memory, `padded` in the kernels.
fn padded(leaf: u64) -> u64 {
    leaf + leaf / 32
}

impl Sweep {
    /// Costs of a block: instructions, integer instructions among them, wavefronts.
    fn of_block(&self, leaves: u64) -> [f64; 3] {
        let levels = f64::from(depth(leaves)) * WARPS;
        let groups: Vec<f64> = (0..depth(leaves)).flat_map(|k| self.level_of(leaves, 1 << k)).collect();
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

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^22 · 7 elements of 4 bytes are 4096 tiles of 8 warps.
    #[test]
    fn a_pass_has_a_block_for_each_tile() {
        let spine = one_pass(Method::Spine, false, 7 << 24, 4);
        assert_eq!((spine.blocks, spine.tiles, spine.resident, spine.looks), (4096, 4096, 6, 5.0));
        assert_eq!((spine.instructions, spine.wavefronts), (4096.0 * 3200.0, 4096.0 * 8.0 * 140.0));
        assert_eq!(one_pass(Method::Lookback, true, 7 << 24, 16).resident, 4);
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
