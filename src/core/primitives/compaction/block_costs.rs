//! On-chip work of the warps of the primitives atop scan, pass by pass as in `work`.

use super::spec::{Operation, Spec, TILE};
use super::work::{sums_needed, tiles};
use crate::case::block_cost::{BlockCost, WARPS};
use crate::primitives::scan;

/// Instructions of a warp to place 128 elements, and integer instructions among them.
const ENUMERATE: [f64; 2] = [110.0, 36.0];
const COMPACT: [f64; 2] = [175.0, 50.0];
const DISTRIBUTE: [f64; 2] = [170.0, 75.0];
const SPLIT: [f64; 2] = [310.0, 150.0];
/// Per tile: loading its bits and summing them over lanes.
const SUM: [f64; 2] = [150.0, 80.0];

/// Elements that a warp places at a time.
const ROWS: f64 = 128.0;

/// Block costs for each pass of a case on a GPU.
pub fn block_costs(spec: &Spec) -> Vec<BlockCost> {
    let cleared =
        (spec.operation == Operation::SplitAndSegment && spec.elements > 0).then(BlockCost::default);
    let directions = sums_needed(spec).map(u64::from).iter().sum::<u64>();
    let sums = if directions > 0 { vec![summed(spec), scanned(spec, directions)] } else { Vec::new() };
    cleared.into_iter().chain(sums).chain([placed(spec)]).collect()
}

/// A block has 32 warps, each of which sums one tile independently.
fn summed(spec: &Spec) -> BlockCost {
    let all = tiles(spec.elements);
    of_tiles(all / 32, all, 1.0).with(all as f64, [SUM[0], SUM[1], 0.0])
}

fn of_tiles(blocks: u64, tiles: u64, loads: f64) -> BlockCost {
    BlockCost { blocks, tiles, resident: WARPS, loads, steps: 14.0, ..BlockCost::default() }
}

fn scanned(spec: &Spec, directions: u64) -> BlockCost {
    scan::block_costs::one_pass(scan::spec::Method::Lookback, true, directions * 8 * tiles(spec.elements), 8)
}

/// A warp places its tile's elements a few rows at a time, waiting for the loads of each row.
fn placed(spec: &Spec) -> BlockCost {
    let counts = match spec.operation {
        Operation::Enumerate => ENUMERATE,
        Operation::Compact => COMPACT,
        Operation::Distribute => DISTRIBUTE,
        Operation::Split | Operation::SplitAndSegment => SPLIT,
    };
    let tiles = spec.elements.div_ceil(TILE);
    let rows = TILE as f64 / ROWS;
    let loads = if spec.operation == Operation::Enumerate { 1.0 } else { 1.0 + rows };
    let blocks = tiles.div_ceil(8);
    of_tiles(blocks, tiles, loads)
        .with(tiles as f64, [SUM[0] + rows * counts[0], SUM[1] + rows * counts[1], 0.0])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ALL, spec};
    use super::super::work::work;
    use super::*;
    use crate::case::Backend;

    #[test]
    fn there_is_one_for_each_pass() {
        for operation in ALL {
            for mean in [0, 7] {
                if (operation == Operation::SplitAndSegment) == (mean == 0) && operation.splits() {
                    continue;
                }
                let spec = Spec { backend: Backend::Cuda, ..spec(operation, 10_000, mean, 1) };
                assert_eq!(block_costs(&spec).len(), work(&spec).passes.len(), "{operation:?} {mean}");
            }
        }
    }

    /// 2^20 elements are 256 tiles of 32 rows of 128.
    #[test]
    fn warps_place_their_tiles() {
        let all = block_costs(&Spec { backend: Backend::Cuda, ..spec(Operation::Enumerate, 1 << 20, 0, 1) });
        let last = all.last().expect("a pass");
        assert_eq!((last.tiles, last.blocks, last.instructions), (256, 32, 256.0 * (150.0 + 32.0 * 110.0)));
    }
}
