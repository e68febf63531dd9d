//! On-chip work of blocks, pass by pass as in `work`: instructions and registers of the machine code (`kernels/build.sh --sass` and
//! `--resources`, sm_90), and the chains of what waits for each other.

use super::tiles::{Levels, Tiles};
use super::work::{coalesced, work};
use super::{CYCLIC_ROWS, Layout, Method, PARALLEL_ROWS, Spec, Type};
use crate::case::block_cost::{BlockCost, LANES, WARPS, wavefronts};

/// Registers of a multiprocessor.
const REGISTERS: u64 = 1 << 16;

/// Chained operations by reads of shared memory, each as long as one: the elimination of a row and its substitution, a step of
/// parallel cyclic reduction, and the exchanges of a tile.
const OF_ROW: f64 = 2.5;
const OF_STEP: f64 = 4.0;
const OF_TILE: f64 = 8.0;

/// A kernel that solves tiles.
#[derive(Clone, Copy, Debug)]
pub struct TileKernel {
    /// Rows of a thread, and words of 4 bytes of an element.
    pub rows: u64,
    pub words: u64,
    /// Arrays that are exchanged by shared memory.
    pub exchanged: u64,
    /// Loads that wait for each other.
    pub loads: f64,
    pub registers: u64,
    /// Instructions of a warp, and the integer and logic instructions among them.
    pub instructions: [f64; 2],
}

/// The cost of solving the tiles of so many systems.
pub fn of_tiles(tiles: &Tiles, systems: u64, kernel: TileKernel) -> BlockCost {
    let warps = tiles.threads.div_ceil(LANES as u64);
    let blocks = tiles.blocks(systems);
    let depth = f64::from(tiles.team.next_power_of_two().ilog2());
    let TileKernel { rows, words, exchanged, loads, registers, instructions } = kernel;
    // What a block has stored is on its way while the next one loads.
    let resident = (REGISTERS / (registers * LANES as u64 * warps)).max(1) + 1;
    let steps = OF_ROW * rows as f64 + OF_STEP * depth + OF_TILE;
    let cost = BlockCost::of(blocks, resident).blocks(blocks).loads(loads).steps(steps);
    let [instructions, integers] = instructions;
    let wavefronts = (2 * exchanged * rows * words) as f64 + 9.0 * depth * words as f64;
    cost.with((blocks * warps) as f64, [instructions + 25.0 * depth, integers + 8.0 * depth, wavefronts])
}

/// Block costs for each pass of a case on a GPU.
///
/// # Errors
/// Lanes of a warp that read rows far apart: how much of their lines the caches keep is not known.
pub fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    if !coalesced(spec) {
        return Err("no model covers how much the caches keep of rows that threads walk along".to_owned());
    }
    Ok(match spec.method {
        Method::Partition { rows: Some(rows) } => {
            let levels = Levels::of(spec);
            let kernel = of_partition(spec, rows);
            let cost = of_tiles(&levels.0[0], spec.systems, kernel);
            if levels.tiles() == 1 { vec![cost] } else { vec![cost, BlockCost::default(), cost] }
        }
        Method::CyclicReduction if spec.rows <= CYCLIC_ROWS => vec![cyclic(spec)],
        Method::ParallelCyclicReduction if spec.rows <= PARALLEL_ROWS => vec![parallel(spec)],
        Method::Thomas => thomas(spec),
        _ => vec![BlockCost::default(); work(spec).passes.len()],
    })
}

fn of_partition(spec: &Spec, rows: u64) -> TileKernel {
    let strided = spec.layout == Layout::Strided;
    let (registers, instructions) = match (spec.ty, rows, strided) {
        (Type::F32, 8, true) => (64, [840.0, 430.0]),
        (Type::F32, 8, false) => (96, [700.0, 340.0]),
        (Type::F32, _, true) => (112, [1480.0, 770.0]),
        (Type::F32, _, false) => (128, [1340.0, 720.0]),
        // A reciprocal in f64 takes a dozen instructions at half the rate.
        (Type::F64, _, true) => (96, [1700.0, 690.0]),
        (Type::F64, _, false) => (96, [1300.0, 370.0]),
    };
    TileKernel {
        rows,
        words: spec.element() / 4,
        exchanged: if strided { 5 } else { 0 },
        loads: 1.0,
        registers,
        instructions,
    }
}

/// Each level reads twelve words of neighbours a growing distance apart and writes four, then reads five and writes one.
fn cyclic(spec: &Spec) -> BlockCost {
    let (n, words) = (spec.rows.max(1), spec.element() / 4);
    let warps = n.div_ceil(2).div_ceil(LANES as u64);
    let levels = f64::from(n.max(2).ilog2());
    let of_level = |level: u32| {
        let by = 2u64 << level;
        let threads = (n / by).max(1);
        let lanes = threads.min(LANES as u64);
        let of_access = wavefronts((0..lanes).map(|lane| lane * by * words)) as f64 * words as f64;
        threads.div_ceil(LANES as u64) as f64 * 22.0 * of_access
    };
    let of_block: f64 = (0..n.max(2).ilog2()).map(of_level).sum();
    // Every warp waits at every barrier.
    let instructions = warps as f64 * (60.0 + 70.0 * levels);
    of_systems(spec, (WARPS / warps).min(32), 17.0 * levels)
        .with(spec.systems as f64, [instructions, 0.4 * instructions, of_block])
}

/// Each step reads twelve words and writes four of every row.
fn parallel(spec: &Spec) -> BlockCost {
    let (n, words) = (spec.rows.max(1), spec.element() / 4);
    let warps = n.div_ceil(LANES as u64);
    let levels = f64::from(n.max(2).ilog2());
    let of_warp = [60.0 + 75.0 * levels, 30.0 + 25.0 * levels, 16.0 * levels * words as f64];
    let cost = of_systems(spec, (WARPS / warps).clamp(1, 32), 11.0 * levels);
    cost.with((spec.systems * warps) as f64, of_warp)
}

/// A block for each system.
fn of_systems(spec: &Spec, resident: u64, steps: f64) -> BlockCost {
    BlockCost::of(spec.systems, resident).blocks(spec.systems).loads(1.0).steps(steps)
}

/// Threads load a row when they have stored the one before.
fn thomas(spec: &Spec) -> Vec<BlockCost> {
    let (threads, rows) = (128, spec.rows as f64);
    let blocks = spec.systems.div_ceil(threads);
    let sweep = BlockCost::of(blocks, WARPS / (threads / LANES as u64)).blocks(blocks).loads(rows);
    vec![sweep.steps(3.0 * rows), sweep.steps(rows)]
}

#[cfg(test)]
mod tests {
    use super::super::super::{Definition, words::params};
    use super::*;

    fn spec(words: &str) -> Spec {
        Spec::read("tridiagonal", &params(&format!("{words} backend=cuda")), 1).expect("a case")
    }

    #[test]
    fn every_pass_of_work_has_its_cost() {
        for method in ["partition", "cyclic-reduction", "parallel-cyclic-reduction"] {
            for rows in [9, 512, 1000, 5000, 1 << 20] {
                let spec = spec(&format!("rows={rows} systems=3 method={method}"));
                let costs = block_costs(&spec).expect("known");
                assert_eq!(costs.len(), work(&spec).passes.len(), "{method}, {rows} rows");
                assert!(
                    costs.iter().all(|cost| cost.tiles == 0 || cost.resident > 0),
                    "{method}, {rows} rows"
                );
            }
        }
    }

    #[test]
    fn threads_that_walk_along_rows_are_not_predicted() {
        let of = |layout| block_costs(&spec(&format!("rows=64 systems=999 method=thomas layout={layout}")));
        assert!(of("strided").is_err() && of("interleaved").is_ok_and(|costs| costs.len() == 2));
    }
}
