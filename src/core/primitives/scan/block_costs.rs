//! On-chip work of a scan's blocks, pass by pass as in `work`. Instruction counts are those of u32 sums; other
//! operators and types come close.

use super::spec::{Method, Spec};
use super::tree;
use crate::case::block_cost::BlockCost;

/// A one-pass tile (`kernels/scan/tile.cuh`): its bytes, its warps, and the resident blocks per multiprocessor
/// (`TILE_BLOCKS` in `kernels/scan/scan.cu`).
const TILE: u64 = 7 << 12;
const WARPS: f64 = 8.0;

/// Per warp of a tile: instructions, integer instructions among them, and shared-memory wavefronts. The warp's
/// seven 512-byte vectors (28 wavefronts) cross shared memory five times.
const PLAIN: [f64; 3] = [400.0, 200.0, 5.0 * 28.0];
const SEGMENTED: [f64; 3] = [700.0, 450.0, 5.0 * 28.0];

/// Dependent steps of a tile: vectors go into shared memory and out of it, a sum over lanes, a sum over warps,
/// and the same with the prefix of the tile; five shuffles each, and three barriers.
const STEPS: f64 = 24.0;

/// Block costs for each pass of a case on a GPU.
pub fn block_costs(spec: &Spec) -> Vec<BlockCost> {
    let before = super::work::before(spec).map(|_| BlockCost::default());
    let scan = match spec.method {
        Method::Sengupta2007 { elements_per_thread } => tree::block_costs(spec, elements_per_thread),
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
    let cost =
        BlockCost { blocks: tiles, tiles, resident, loads: 1.0, looks, steps: STEPS, ..BlockCost::default() };
    cost.with(tiles as f64 * WARPS, if segmented { SEGMENTED } else { PLAIN })
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
}
