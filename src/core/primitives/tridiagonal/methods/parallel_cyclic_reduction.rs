//! Parallel cyclic reduction on GPUs: every row loses its neighbours in each step, until it stands alone. A block has a system
//! of up to 1024 rows in shared memory; longer ones take a step across memory for each doubling of the distance.

use super::{INPUTS, REDUCED, across_memory, by_blocks, reads, writes};
use crate::case::Pass;
use crate::case::block_cost::{LANES, WARPS};
use crate::primitives::Costs;
use crate::primitives::tridiagonal::Spec;

/// Rows of a system up to which a block holds it in shared memory.
const ROWS: u64 = 1024;

pub fn costs(spec: &Spec) -> Costs<'_> {
    if spec.rows <= ROWS {
        return on_chip(spec);
    }
    let (count, steps) = (spec.count(), u64::from((spec.rows - 1).ilog2()));
    let reduced = Pass::once(reads(spec, REDUCED, count));
    let first = Pass::once(reads(spec, INPUTS, count)).and(writes(spec, REDUCED, count));
    let further = reduced.clone().and(writes(spec, REDUCED, count));
    let further = (steps > 1).then(|| further.times(steps - 1));
    let last = reduced.and(writes(spec, ["x"], count));
    across_memory([first].into_iter().chain(further).chain([last]).collect())
        .beside(8 * spec.element() * count)
}

/// Each step reads twelve words and writes four of every row.
fn on_chip(spec: &Spec) -> Costs<'_> {
    let (n, words) = (spec.rows.max(1), spec.element() / 4);
    let warps = n.div_ceil(LANES as u64);
    let levels = f64::from(n.max(2).ilog2());
    let of_warp = [60.0 + 75.0 * levels, 30.0 + 25.0 * levels, 16.0 * levels * words as f64];
    let resident = (WARPS / warps).clamp(1, 32) as f64;
    by_blocks(spec, [resident, 11.0 * levels], (spec.systems * warps) as f64, of_warp)
}

pub mod cuda {
    use super::ROWS;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cuda::{Batch, Made, named};

    pub fn kernels(spec: &Spec) -> KernelList {
        let steps = if spec.rows <= ROWS { 0 } else { u64::from((spec.rows - 1).ilog2()) + 1 };
        named(spec, [("parallel", u64::from(steps == 0)), ("step", steps)])
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Batch>, Failure> {
        let [solve, step] = made.kernels(["parallel", "step"])?;
        let (rows, size, element) = (made.spec.rows, made.spec.count(), made.spec.element());
        let scratch = made.scratch(if rows > ROWS { 8 * size } else { 0 })?;
        Ok(Box::new(move |gpu, batch| {
            if rows <= ROWS {
                let (shared, threads) = ((8 * rows * element) as u32, (rows as u32).next_multiple_of(32));
                return gpu.launch(&solve, grid(batch.systems, 1), threads, shared, args![*batch]);
            }
            let (mut from, mut by, mut half, count) = (*batch, 1, 0, rows * batch.systems);
            while 2 * by < rows {
                launch_over(gpu, &step, count, args![from, by, scratch.at(4 * half * size)?, size])?;
                from = scratch.batch(4 * half * size, size, from)?;
                (by, half) = (2 * by, 1 - half);
            }
            launch_over(gpu, &step, count, args![from, by, DevicePtr::<u32>::null(), size])
        }))
    }
}
