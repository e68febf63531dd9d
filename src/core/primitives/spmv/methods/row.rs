//! Each row by itself: on CPUs by one thread, all of which have as many rows; on GPUs by a thread, a warp or a block. One
//! pass over the matrix, in which x is gathered.

use super::Method;
use crate::case::BlockCost;
use crate::case::block_cost::WARPS;
use crate::primitives::Costs;
use crate::primitives::spmv::slices::LANES;
use crate::primitives::spmv::work::{BLOCK, BLOCK_WARPS, in_one_pass};
use crate::primitives::spmv::{Per, Spec};

/// Mean entries of a row up to which threads next to each other find what they need of it in the first-level cache.
const NEIGHBOURS: u64 = 8;

/// A warp loads row starts, entries, and x, each when it has what is before. It is unknown how much of long rows the
/// first-level cache keeps for threads that walk along them.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let (costs, mean) =
        (Costs::of_sampled(|| in_one_pass(spec)), spec.shape.entries / spec.shape.rows.max(1));
    match per(spec) {
        Per::Thread if mean > NEIGHBOURS => costs
            .unknown("no model covers how much of the rows that threads walk along stays in the L1 cache"),
        Per::Thread => costs.blocks([block(spec, BLOCK, 100.0 + 10.0 * mean as f64)]),
        // A warp for each row, however short it is.
        Per::Warp => {
            let instructions = 90.0 + 60.0 * mean.div_ceil(4 * LANES as u64) as f64;
            costs.blocks([block(spec, BLOCK_WARPS, instructions)])
        }
        Per::Block => costs,
    }
}

/// The threads that sum a row.
fn per(spec: &Spec) -> Per {
    if let Method::Row { per: Some(per) } = spec.method { per } else { Per::Block }
}

/// Blocks of so many rows, whose warps each execute so many instructions.
fn block(spec: &Spec, rows: u64, instructions: f64) -> BlockCost {
    let tiles = spec.shape.rows.div_ceil(rows);
    let cost = BlockCost::of(tiles, WARPS / BLOCK_WARPS).blocks(tiles).loads(2.0).looks(1.0);
    cost.with((tiles * BLOCK_WARPS) as f64, [instructions, 0.4 * instructions, 0.0])
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::Spmv;

    pub fn method() -> PoolMethod<Spmv> {
        Box::new(|product, worker| {
            for rows in pieces(product.rows(), 64, worker, product.fault) {
                // SAFETY: pieces of workers are disjoint and inside the arrays.
                unsafe { (product.timed.gathered.rows)(&product.call(), rows) };
            }
        })
    }
}

pub mod cuda {
    use super::per;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, named};
    use crate::primitives::spmv::{Per, Spec};

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, named(spec, per(spec).name()), 1)
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let kernel = made.kernel(per(made.spec).name())?;
        let per_block = match per(made.spec) {
            Per::Thread => BLOCK,
            Per::Warp => BLOCK / 32,
            Per::Block => 1,
        };
        Ok(Box::new(move |gpu, &Call { a, x, z, y, rows }| {
            gpu.launch(&kernel, grid(rows.into(), per_block.into()), BLOCK, 0, args![a, x, z, y, rows])
        }))
    }
}
