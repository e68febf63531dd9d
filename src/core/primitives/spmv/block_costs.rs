//! On-chip work of a product's blocks, pass by pass as in `work`: instructions of warps and wavefronts of shared memory as
//! counted by ncu (`reports/h100-spmv/ncu.csv`), and the loads that wait for each other.

use super::slices::LANES;
use super::spec::{Method, Per, Spec};
use super::tiles::{SORTED_TILE, TILE};
use crate::case::block_cost::{BlockCost, WARPS};

/// Threads of most blocks, and their warps; of a block with a part of x, or a sorted tile, in shared memory.
const BLOCK: u64 = 256;
const BLOCK_WARPS: u64 = BLOCK / 32;
const LARGE_WARPS: u64 = 32;

/// Mean entries of a row up to which threads next to each other find what they need of it in the first-level cache.
const NEIGHBOURS: u64 = 8;

/// Block costs for each pass of a case on a GPU.
///
/// # Errors
/// Threads with long rows of their own: how much of their lines the first-level cache keeps is not known.
pub fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    let mean = spec.shape.entries / spec.shape.rows.max(1);
    Ok(match spec.method {
        Method::Row { per: Some(Per::Thread) } if mean > NEIGHBOURS => {
            return Err(
                "no model covers how much the first-level cache keeps of rows that threads walk along"
                    .to_owned(),
            );
        }
        Method::Row { per: Some(Per::Thread) } => vec![by_threads(spec, mean)],
        Method::Row { per: Some(Per::Warp) } => vec![by_warps(spec, mean)],
        Method::Best | Method::Balanced => vec![balanced(spec)],
        Method::Sorted => vec![sorted(spec)],
        Method::Blocks { .. } => vec![by_layers(spec), BlockCost::default()],
        Method::He2007 { .. } => vec![BlockCost::default(), balanced(spec)],
        Method::Row { .. } | Method::Segscan | Method::Slices => Vec::new(),
    })
}

/// A warp loads row starts, entries, and x, each when it has what is before.
fn by_threads(spec: &Spec, mean: u64) -> BlockCost {
    let instructions = 100.0 + 10.0 * mean as f64;
    of_rows(spec.shape.rows.div_ceil(BLOCK), instructions)
}

/// The same by a warp for each row, however short it is.
fn by_warps(spec: &Spec, mean: u64) -> BlockCost {
    let instructions = 90.0 + 60.0 * mean.div_ceil(4 * LANES as u64) as f64;
    of_rows(spec.shape.rows.div_ceil(BLOCK_WARPS), instructions)
}

/// Blocks of rows, whose warps each execute so many instructions.
fn of_rows(tiles: u64, instructions: f64) -> BlockCost {
    let cost = BlockCost::of(tiles, WARPS / BLOCK_WARPS).blocks(tiles).loads(2.0).looks(1.0);
    cost.with((tiles * BLOCK_WARPS) as f64, [instructions, 0.4 * instructions, 0.0])
}

/// Entries and x are loaded, and products stored and read again.
fn balanced(spec: &Spec) -> BlockCost {
    let tiles = (spec.shape.rows + spec.shape.entries).div_ceil(TILE);
    match spec.element() {
        4 => of_entries(tiles, 6, [4000.0, 1500.0, 570.0]),
        _ => of_entries(tiles, 5, [4300.0, 1650.0, 1370.0]),
    }
}

/// The same in two rounds of a thread's entries.
fn sorted(spec: &Spec) -> BlockCost {
    let tiles = (spec.shape.rows + spec.shape.entries).div_ceil(SORTED_TILE);
    let wide = [18_000.0, 6_400.0, 6_500.0];
    let of_tile = if spec.element() == 4 { [17_900.0, 6_200.0, 4_000.0] } else { wide };
    of_entries(tiles, WARPS / LARGE_WARPS, of_tile)
}

/// Blocks of entries: what each of them executes.
fn of_entries(tiles: u64, resident: u64, of_tile: [f64; 3]) -> BlockCost {
    let cost = BlockCost::of(tiles, resident).blocks(tiles).loads(2.0).looks(1.0).steps(12.0);
    cost.with(tiles as f64, of_tile)
}

/// A slice's bounds, its rows, and its entries, a group of slices of a block at a time.
fn by_layers(spec: &Spec) -> BlockCost {
    let Method::Blocks { columns: Some(width) } = spec.method else { return BlockCost::default() };
    let slices = spec.shape.rows.div_ceil(LANES as u64) * spec.shape.columns.div_ceil(width);
    let entries = spec.shape.entries as f64 / LANES as f64;
    let wavefronts = if spec.element() == 4 { 5.7 } else { 9.7 };
    let cost = BlockCost::of(slices.div_ceil(LARGE_WARPS), 1).loads(2.0).looks(2.0);
    cost.with(entries, [12.9, 5.3, wavefronts]).with(slices as f64, [40.0, 15.0, 0.0])
}

#[cfg(test)]
mod tests {
    use super::super::super::{Definition, words::params};
    use super::*;

    fn costs(words: &str) -> Result<Vec<BlockCost>, String> {
        block_costs(&Spec::read("spmv", &params(&format!("{words} backend=cuda")), 1).expect("a case"))
    }

    #[test]
    fn every_pass_of_work_has_its_cost_or_none_has() {
        let random = "matrix=random matrix.random.rows=100000 matrix.random.entries=20";
        for method in ["best", "row", "balanced", "sorted", "slices", "blocks", "segscan", "he2007"] {
            let words = format!("{random} method={method}");
            let passes = super::super::work::work(
                &Spec::read("spmv", &params(&format!("{words} backend=cuda")), 1).expect("a case"),
            );
            let costs = costs(&words).expect("known").len();
            assert!(costs == 0 || costs == passes.passes.len(), "{method}: {costs}");
        }
    }

    #[test]
    fn long_rows_of_threads_are_not_predicted() {
        let of = |entries: u64| {
            costs(&format!(
                "matrix=random matrix.random.rows=1000 matrix.random.entries={entries} method=row method.row.per=thread"
            ))
        };
        assert!(of(8).is_ok() && of(9).is_err());
    }
}
