//! Elimination from the first row to the last and back (Thomas 1949): a system for each thread of a GPU, or for each lane of a
//! processor. GPUs keep c' in memory, and d' in the place of x.

use super::{APART, INPUTS, reads, solved, writes};
use crate::case::Pass;
use crate::case::block_cost::{BlockCost, LANES, WARPS};
use crate::primitives::Costs;
use crate::primitives::tridiagonal::{Layout, Spec};

/// Threads of a block.
const THREADS: u64 = 128;

/// Threads load a row when they have stored the one before.
pub fn costs(spec: &Spec) -> Costs<'_> {
    if !spec.backend.is_cuda() {
        return Costs::of(vec![solved(spec)]);
    }
    let (count, rows) = (spec.count(), spec.rows as f64);
    let passes = vec![
        Pass::once(reads(spec, INPUTS, count)).and(writes(spec, ["c'", "x"], count)),
        Pass::once(reads(spec, ["c'", "x"], count)).and(writes(spec, ["x"], count)),
    ];
    let costs = Costs::of(passes).beside(spec.element() * count);
    if spec.layout == Layout::Strided {
        return costs.unknown(APART);
    }
    let blocks = spec.systems.div_ceil(THREADS);
    let sweep = BlockCost::of(blocks, WARPS / (THREADS / LANES as u64)).blocks(blocks).loads(rows);
    costs.blocks([sweep.steps(3.0 * rows), sweep.steps(rows)])
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::real::Real;
    use crate::primitives::tridiagonal::cpu::{Solver, thomas};
    use crate::primitives::tridiagonal::{Layout, Spec};

    pub fn solver<T: Real>(spec: &Spec, isa: Isa) -> Solver<T> {
        let interleaved = spec.layout == Layout::Interleaved;
        let scratch = thomas::scratch::<T>(spec.rows as usize, spec.systems as usize, interleaved);
        (thomas::kernel::<T>(isa), scratch)
    }
}

pub mod cuda {
    use super::THREADS;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::tridiagonal::Spec;
    use crate::primitives::tridiagonal::cuda::{Batch, Made, named};

    pub fn kernels(spec: &Spec) -> KernelList {
        named(spec, [("thomas", 1)])
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Batch>, Failure> {
        let ([kernel], upper) = (made.kernels(["thomas"])?, made.scratch(made.spec.count())?);
        Ok(Box::new(move |gpu, &batch| {
            let upper = upper.at(0)?;
            gpu.launch(&kernel, grid(batch.systems, THREADS), THREADS as u32, 0, args![batch, upper])
        }))
    }
}
