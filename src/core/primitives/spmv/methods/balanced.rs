//! Equal shares of rows and entries together, cut within rows where necessary ([`tiles`](super::super::tiles)). One pass
//! over the matrix, in which x is gathered; what shares have of rows that end in later ones is added when all are done.

use crate::case::BlockCost;
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::tiles::{TILE, tile_cost};
use crate::primitives::spmv::work::in_one_pass;

pub fn costs(spec: &Spec) -> Costs<'_> {
    Costs::of_sampled(|| in_one_pass(spec)).blocks([tiles(spec)])
}

/// Entries and x are loaded, and products stored and read again.
pub fn tiles(spec: &Spec) -> BlockCost {
    match spec.element() {
        4 => tile_cost(spec, TILE, 6, [4000.0, 1500.0, 570.0]),
        _ => tile_cost(spec, TILE, 5, [4300.0, 1650.0, 1370.0]),
    }
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::Spmv;

    pub fn method() -> PoolMethod<Spmv> {
        Box::new(|product, worker| {
            product.in_shares(worker, &product.call(), &product.timed.gathered, None);
        })
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, named};
    use crate::primitives::spmv::tiles;

    /// The first row of each tile, what tiles leave for rows that end in later ones, and the kernel that adds it.
    pub struct Tiles {
        pub firsts: DeviceBuffer<u32>,
        pub carries: DeviceBuffer<u32>,
        carry: Kernel,
    }

    impl Tiles {
        /// Tiles that begin in these rows.
        pub fn new(made: &Made, firsts: &[u32]) -> Result<Tiles, Failure> {
            let carries = made.gpu.alloc(firsts.len() * made.spec.element() as usize / 4)?;
            Ok(Tiles { firsts: made.gpu.upload(firsts)?, carries, carry: made.kernel("carry")? })
        }

        /// The number of tiles.
        pub fn count(&self) -> u32 {
            self.firsts.len() as u32 - 1
        }

        /// Queues the sums of what tiles have left.
        pub fn carry(&self, gpu: &Gpu, call: &Call) -> Result<(), Failure> {
            let (blocks, count) = (grid(self.count().into(), BLOCK.into()), self.count());
            gpu.launch(
                &self.carry,
                blocks,
                BLOCK,
                0,
                args![self.firsts, self.carries, count, call.rows, call.y],
            )
        }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed_all(MODULE, ["balanced", "carry"].map(|word| (named(spec, word), 1)))
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        in_tiles(made, "balanced")
    }

    /// The sums of tiles by a kernel that gathers x, or reads products that were made before.
    pub fn in_tiles(made: &Made, kernel: &str) -> Result<GpuMethod<Call>, Failure> {
        let tiles = Tiles::new(made, &tiles::firsts(&made.matrix.starts, tiles::TILE))?;
        let (kernel, total) = (made.kernel(kernel)?, made.spec.shape.rows + made.spec.shape.entries);
        Ok(Box::new(move |gpu, call| {
            let (Tiles { firsts, carries, .. }, &Call { a, x, z, y, rows }) = (&tiles, call);
            gpu.launch(&kernel, tiles.count(), BLOCK, 0, args![firsts, a, total, x, z, y, carries, rows])?;
            tiles.carry(gpu, call)
        }))
    }
}
