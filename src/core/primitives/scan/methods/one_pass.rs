//! One pass over memory, in which each tile takes the prefix of the tiles before it.
//!
//! - On GPUs, `lookback` looks at what the tiles before have published (Merrill and Garland 2016), and with a `spine` one
//!   more block gives each tile its prefix (`scan::cuda::one_pass`). Up to 2^19 bytes are divided into short tiles.
//! - On CPUs, workers take tiles in turn. A worker reduces its tile, which brings the tile into its cache, waits for the
//!   prefix of the tile before, passes its own prefix on, and scans the tile out of the cache. A single worker already
//!   knows the prefix and does not reduce. While a tile is written, the worker's next tile is prefetched.

use super::{Method, scanned};
use crate::case::BlockCost;
use crate::primitives::Costs;
use crate::primitives::scan::Spec;
use crate::primitives::scan::shape::Shape;

/// Per warp of a tile: instructions, integer instructions among them, and shared-memory wavefronts. The warp's
/// five 512-byte vectors (20 wavefronts) cross shared memory five times; that of a short tile stays in registers.
/// Instruction counts are those of u32 sums; other operators and types come close.
const SHORT: [f64; 3] = [130.0, 65.0, 0.0];
const PLAIN: [f64; 3] = [305.0, 155.0, 5.0 * 20.0];
const SEGMENTED: [f64; 3] = [535.0, 345.0, 5.0 * 20.0];

/// The most bytes of elements that are divided into short tiles.
const SHORT_BYTES: u64 = 1 << 19;

/// True if look-back divides so many bytes of elements into short tiles.
fn short(method: Method, segmented: bool, bytes: u64) -> bool {
    method == Method::Lookback && !segmented && bytes <= SHORT_BYTES
}

/// Dependent steps of a tile: a sum over lanes, a sum over warps, and the same with the prefix of the tile; five shuffles
/// each, and three barriers.
const STEPS: f64 = 18.0;
/// Further ones, unless the tile is short: vectors go into shared memory and out of it.
const TURNS: f64 = 6.0;

pub fn costs(spec: &Spec) -> Costs<'_> {
    let blocks = block_cost(spec.method, spec.segmented(), spec.bytes(), spec.element());
    Costs::of(vec![scanned(spec)]).blocks([blocks])
}

/// The blocks of a pass over `bytes` bytes of elements. A tile draws its ticket, unless it is short: there are 64 of these at
/// most. With a spine, the tile's sum is stored and found, and its prefix is stored and found; with look-back, the tile's sum
/// is stored and the sums of the tiles before it are found. The blocks that are resident on a multiprocessor are those of the
/// launch bounds in `kernels/scan/scan.cu`.
pub fn block_cost(method: Method, segmented: bool, bytes: u64, element: u64) -> BlockCost {
    let short = short(method, segmented, bytes);
    let shape = if short { Shape::SHORT } else { Shape::TILE };
    let (tiles, warps) = (shape.tiles(bytes), f64::from(shape.threads / 32));
    let looks = match method {
        Method::Spine => 5.0,
        _ if short => 2.0,
        _ => 3.0,
    };
    let steps = if short { STEPS } else { STEPS + TURNS };
    let resident = if short {
        2
    } else if element > 8 {
        4
    } else {
        6
    };
    let each = if short {
        SHORT
    } else if segmented {
        SEGMENTED
    } else {
        PLAIN
    };
    let cost = BlockCost::of(tiles, resident).blocks(tiles).loads(1.0).looks(looks).steps(steps);
    cost.with(tiles as f64 * warps, each)
}

pub mod cpu {
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::scan::cpu::Scan;
    use crate::primitives::scan::cpu::chain::Chain;
    use crate::primitives::scan::cpu::kernels::Arrays;

    pub fn method(workers: usize) -> PoolMethod<Scan> {
        let chain = Chain::new(workers);
        Box::new(move |scan, worker| {
            let tiles = scan.tiles();
            if worker.count == 1 {
                return scan.scan_tiles(0..tiles, scan.identity(), worker);
            }
            let first = chain.begin(worker);
            for t in (worker.index..tiles).step_by(worker.count) {
                let range = scan.tile_at(t);
                let arrays = Arrays { ahead: ahead(scan, t, worker), ..scan.arrays(&range, worker) };
                let total = scan.total(&arrays, range.clone());
                let prefix = if t == 0 { scan.identity() } else { chain.take(first + t) };
                chain.pass_on(first + t + 1, scan.behind(prefix, total));
                scan.scan(&arrays, range, t, prefix, worker);
            }
            chain.end(worker, tiles);
            worker.meet();
        })
    }

    /// Bytes from the tile at place `t` to the next tile of the same worker, or 0 if there is none or the
    /// arrays fit in the caches.
    fn ahead(scan: &Scan, t: usize, worker: Worker) -> isize {
        match t + worker.count {
            next if scan.streaming && next < scan.tiles() => {
                let [here, there] = [t, next].map(|t| scan.tile_at(t).start as isize);
                (there - here) * scan.spec.element() as isize
            }
            _ => 0,
        }
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::scan::cuda::one_pass::{Launch, OnePass, Variant};
    use crate::primitives::scan::cuda::{MODULE, family};
    use crate::primitives::scan::{Method, Spec};

    fn variant(spec: &Spec) -> Variant {
        let (spine, segmented) = (spec.method == Method::Spine, spec.segmented());
        let short = super::short(spec.method, segmented, spec.bytes());
        Variant { spine, segmented, short, family: family(spec).0, element: spec.element() }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, variant(spec).name(), 1)
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Launch>, Failure> {
        let mut scan = OnePass::new(gpu, variant(spec), spec.elements)?;
        Ok(Box::new(move |gpu, launch| scan.execute(gpu, *launch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^22 · 5 elements of 4 bytes are 4096 tiles of 8 warps.
    #[test]
    fn a_pass_has_a_block_for_each_tile() {
        let spine = block_cost(Method::Spine, false, 5 << 24, 4);
        assert_eq!((spine.blocks, spine.tiles, spine.resident, spine.looks), (4096, 4096, 6, 5.0));
        assert_eq!((spine.instructions, spine.wavefronts), (4096.0 * 2440.0, 4096.0 * 8.0 * 100.0));
        let short = block_cost(Method::Lookback, false, 1 << 19, 4);
        assert_eq!((short.tiles, short.wavefronts, short.looks), (64, 0.0, 2.0));
        assert_eq!(block_cost(Method::Lookback, true, 5 << 24, 16).resident, 4);
    }
}
