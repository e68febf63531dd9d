//! On-chip work of the blocks of the methods that solve a system on chip.

use super::tiles::Levels;
use super::work::{coalesced, work};
use super::{Method, Spec};
use crate::case::block_cost::{BlockCost, WARPS};

/// Block costs for each pass of a case on a GPU.
///
/// # Errors
/// Lanes of a warp that read rows far apart: how much of their lines the caches keep is not known.
pub fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    if !coalesced(spec) {
        return Err("no model covers how much the caches keep of rows that threads walk along".to_owned());
    }
    let passes = work(spec).passes.len();
    let Method::Partition { rows: Some(rows) } = spec.method else { return Ok(Vec::new()) };
    let tiles = Levels::of(spec).0[0];
    let warps = tiles.threads / 32;
    let blocks = tiles.blocks(spec.systems);
    let steps = f64::from(tiles.team.max(2).ilog2()) + 4.0;
    let words = spec.element() as f64 / 4.0;
    let cost = BlockCost {
        blocks,
        tiles: blocks,
        resident: WARPS / 4 / warps.max(1) + 1,
        loads: 1.0,
        steps,
        ..BlockCost::default()
    };
    // Of a warp: exchanges of five arrays by shared memory, about 30 operations a row, and nine words a step of reduction.
    let of_warp = [
        rows as f64 * 45.0 * words + 40.0 * steps,
        rows as f64 * 10.0,
        (10.0 * rows as f64 + 9.0 * steps) * words,
    ];
    let cost = cost.with((blocks * warps) as f64, of_warp);
    Ok(match passes {
        1 => vec![cost],
        _ => vec![cost, BlockCost::default(), cost],
    })
}
