//! On-chip work of the blocks of ashkiani2017's three methods (`kernels/multisplit/subproblems.cuh`,
//! `kernels/multisplit/reordering.cuh`). Windows are handled eight at a time, so the code for eight is executed even if a
//! tile has fewer; work that is done only for existing windows is counted per window.

use super::block_costs::{WINDOW, function, mean, scattered};
use super::spec::Spec;
use super::subproblems::{Localisation, Subproblems};
use crate::case::block_cost::BlockCost;
use crate::primitives::scan;

/// Windows that are handled together.
const BATCH: u64 = 8;

/// Threads per multiprocessor at 64 registers each.
const THREADS: u64 = 1024;

/// Instructions per window, by 1 to 8 bits: votes and the counts of all buckets; votes and the key's place;
/// both, and their packing.
const COUNT: [f64; 8] = [24.0, 29.0, 34.0, 38.0, 43.0, 50.0, 60.0, 75.0];
const DIRECT: [f64; 8] = [27.0, 33.0, 40.0, 47.0, 54.0, 61.0, 69.0, 77.0];
const IN_WARP: [f64; 8] = [27.0, 33.0, 40.0, 46.0, 53.0, 61.0, 71.0, 82.0];
const IN_BLOCK: [f64; 8] = [20.0, 29.0, 37.0, 44.0, 52.0, 62.0, 74.0, 86.0];

/// Further instructions per eight windows: loads, stores and, if tiles are reordered, everything in between.
const LOADS: f64 = 41.0;
const STORES: f64 = 60.0;
const REORDERED_BY_WARP: f64 = 270.0;
const REORDERED_BY_BLOCK: f64 = 370.0;
/// Per warp: finding its subproblem, and its column of H or G for each 32 buckets.
const STARTED: f64 = 65.0;
const COLUMN: f64 = 15.0;
/// Per warp of a block, for each 32 buckets: summing or scanning the counts of all its warps.
const CELLS_SUMMED: f64 = 42.0;
const CELLS_SCANNED: f64 = 100.0;
/// Loads and stores of values.
const VALUES: f64 = 110.0;

/// The share of integer and logic instructions among all of these.
const INTEGERS: f64 = 0.65;

/// Pre-scan, scan and post-scan.
///
/// # Errors
/// Returns the reason if the instructions of the bucket function are not known.
pub fn block_costs(spec: &Spec, shape: &Subproblems) -> Result<Vec<BlockCost>, String> {
    let function = function(spec)?[0];
    let counted = spec.buckets * shape.count(spec.keys) * 4;
    let sums = scan::methods::one_pass::block_cost(scan::Method::Spine, false, counted, 4);
    Ok(vec![prescan(spec, shape, function), sums, postscan(spec, shape, function)])
}

/// The tiles, blocks and resident units of a launch. A unit is a single warp, or a block whose warps wait for
/// each other.
fn shared_by(spec: &Spec, shape: &Subproblems) -> BlockCost {
    let subproblems = shape.count(spec.keys);
    let (tiles, blocks, resident) = match shape.localisation {
        Localisation::Block => (subproblems * shape.tiles, subproblems, THREADS / (32 * shape.warps)),
        _ => (subproblems * shape.tiles, subproblems.div_ceil(shape.warps), THREADS / 32),
    };
    BlockCost::of(tiles, resident).blocks(blocks)
}

/// Batches of eight windows that a warp takes in each tile.
fn batches(shape: &Subproblems) -> f64 {
    shape.windows.div_ceil(BATCH) as f64
}

fn prescan(spec: &Spec, shape: &Subproblems, function: f64) -> BlockCost {
    let batches_of_all = batches_of_all(spec, shape);
    let each = COUNT[spec.bits() as usize - 1] * spec.keys as f64 / WINDOW;
    let instructions =
        each + batches_of_all * (LOADS + 8.0 * function) + of_warps(spec, shape, CELLS_SUMMED, 1);
    let cost = shared_by(spec, shape).loads(batches(shape)).steps(2.0 * shape.windows as f64);
    cost.with(1.0, [instructions, INTEGERS * instructions, 0.0])
}

/// Further instructions of all warps per subproblem; with blocks, `cells` are added for each of `tiles` tiles.
fn of_warps(spec: &Spec, shape: &Subproblems, cells: f64, tiles: u64) -> f64 {
    let rounds = spec.buckets.div_ceil(32) as f64;
    let subproblems = shape.count(spec.keys) as f64;
    match shape.localisation {
        Localisation::Block => {
            subproblems * shape.warps as f64 * (STARTED + COLUMN * rounds + cells * rounds * tiles as f64)
        }
        _ => subproblems * (STARTED + COLUMN * rounds),
    }
}

/// Batches of all warps.
fn batches_of_all(spec: &Spec, shape: &Subproblems) -> f64 {
    spec.keys as f64 / (WINDOW * shape.windows as f64) * batches(shape)
}

fn postscan(spec: &Spec, shape: &Subproblems, function: f64) -> BlockCost {
    let bits = spec.bits() as usize - 1;
    let (window, batch, functions) = match shape.localisation {
        Localisation::Direct => (DIRECT[bits], STORES, 1.0),
        Localisation::Warp => (IN_WARP[bits], REORDERED_BY_WARP, 2.0),
        Localisation::Block => (IN_BLOCK[bits], REORDERED_BY_BLOCK, 2.0),
    };
    let windows = spec.keys as f64 / WINDOW;
    let values = if spec.value > 0 { VALUES } else { 0.0 };
    let of_batch = LOADS + batch + values + 8.0 * functions * function;
    let instructions = windows * window
        + batches_of_all(spec, shape) * of_batch
        + of_warps(spec, shape, CELLS_SCANNED, shape.tiles);
    // A warp loads its column of G and the keys; values follow.
    let loads = 1.0 + batches(shape) * if spec.value > 0 { 2.0 } else { 1.0 };
    let cost = shared_by(spec, shape).loads(loads).steps(steps(shape));
    cost.with(1.0, [instructions, INTEGERS * instructions, windows * shared(spec, shape)])
}

/// Dependent steps. A reordered tile has sums over lanes, the places of its windows, keys in and out; a block
/// adds four barriers and sums over warps.
fn steps(shape: &Subproblems) -> f64 {
    let windows = shape.windows as f64;
    match shape.localisation {
        Localisation::Direct => 2.0 * windows,
        Localisation::Warp => 2.0 * windows + 12.0,
        Localisation::Block => 2.0 * windows + 12.0 + 12.0,
    }
}

/// Wavefronts per window: keys and values in, and out in order together with their buckets' destinations.
fn shared(spec: &Spec, shape: &Subproblems) -> f64 {
    let words = 1.0 + spec.value as f64 / 4.0;
    match shape.localisation {
        Localisation::Direct => 0.0,
        _ => words * (mean(spec, scattered) + 1.0) + 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::Method;
    use super::super::tests::spec;
    use super::*;
    use crate::primitives::Problem;

    fn of(words: &str) -> (Spec, Vec<BlockCost>) {
        let spec = spec(words);
        let Method::Localised(shape) = spec.method else { panic!("{words}") };
        let all = block_costs(&spec, &shape).expect("counted");
        (spec, all)
    }

    #[test]
    fn there_is_one_for_each_pass() {
        for method in ["dms", "wms", "bms"] {
            let (spec, all) = of(&format!("keys=100000 buckets=64 values=4B method={method}"));
            assert_eq!(all.len(), spec.work().passes.len(), "{method}");
        }
    }

    /// 2^20 keys in subproblems of 128 per warp, eight per block; or of 1024 per block, four of which are
    /// resident at once.
    #[test]
    fn warps_and_blocks_have_subproblems() {
        let (_, dms) = of("keys=1048576 buckets=2 by=identity method=dms");
        assert_eq!((dms[2].blocks, dms[2].tiles, dms[2].resident), (1024, 8192, 32));
        // 24 per window, 41 + 8 · 4 per batch of four windows, 65 + 15 per warp.
        assert_eq!(dms[0].instructions, 32768.0 * 24.0 + 8192.0 * (73.0 + 80.0));
        let (_, bms) = of("keys=1048576 buckets=64 method=bms");
        assert_eq!((bms[2].blocks, bms[2].tiles, bms[2].resident), (1024, 1024, 4));
    }

    #[test]
    fn primes_are_not_known() {
        let spec = spec("keys=9 buckets=2 by=prime method=dms");
        let Method::Localised(shape) = spec.method else { panic!("dms") };
        assert!(block_costs(&spec, &shape).is_err());
    }
}
