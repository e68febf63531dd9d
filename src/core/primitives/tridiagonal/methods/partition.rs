//! Each thread of a GPU eliminates some rows in registers, and the rows that are left, one of each thread, are solved by parallel
//! cyclic reduction in a block. A system of several tiles takes three launches: one leaves the edges of the tiles, one joins
//! them to a system of their own, which is solved in the same way, and one solves the tiles between their edges.

use super::{INPUTS, Method, reads, solved, writes};
use crate::case::Pass;
use crate::case::block_cost::BlockCost;
use crate::primitives::Costs;
use crate::primitives::tridiagonal::tiles::{Levels, TileKernel, of_tiles};
use crate::primitives::tridiagonal::{Layout, Spec, Type};

/// Rows of a thread.
fn rows(spec: &Spec) -> u64 {
    if let Method::Partition { rows: Some(rows) } = spec.method { rows } else { 8 }
}

fn levels(spec: &Spec) -> Levels {
    Levels::over(spec.rows, rows(spec), spec.layout)
}

pub fn costs(spec: &Spec) -> Costs<'_> {
    let levels = levels(spec);
    let cost = of_tiles(&levels.0[0], spec.systems, tile_kernel(spec));
    if levels.tiles() == 1 {
        return Costs::of(vec![solved(spec)]).blocks([cost]);
    }
    let (inputs, tiles) = (Pass::once(reads(spec, INPUTS, spec.count())), levels.tiles() * spec.systems);
    let edges = ["a'", "b'", "c'", "d'", "a\"", "c\"", "d\""];
    let passes = vec![
        inputs.clone().and(writes(spec, edges, tiles)),
        Pass::once(reads(spec, edges, tiles)).and(writes(spec, ["ends"], tiles)),
        inputs.and(reads(spec, ["ends"], tiles)).and(writes(spec, ["x"], spec.count())),
    ];
    let costs = Costs::of(passes).beside(spec.element() * levels.scratch(spec.systems));
    costs.blocks([cost, BlockCost::default(), cost])
}

fn tile_kernel(spec: &Spec) -> TileKernel {
    let strided = spec.layout == Layout::Strided;
    let (registers, instructions) = match (spec.ty, rows(spec), strided) {
        (Type::F32, 8, true) => (64, [840.0, 430.0]),
        (Type::F32, 8, false) => (96, [700.0, 340.0]),
        (Type::F32, _, true) => (112, [1480.0, 770.0]),
        (Type::F32, _, false) => (128, [1340.0, 720.0]),
        // A reciprocal in f64 takes a dozen instructions at half the rate.
        (Type::F64, _, true) => (96, [1700.0, 690.0]),
        (Type::F64, _, false) => (96, [1300.0, 370.0]),
    };
    let (rows, words, exchanged) = (rows(spec), spec.element() / 4, if strided { 5 } else { 0 });
    TileKernel { rows, words, exchanged, loads: 1.0, registers, instructions }
}

pub mod cuda {
    use super::{levels, rows};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::tridiagonal::cuda::{Batch, MODULE, Made, TEAM_WORDS, TilesOf, name};
    use crate::primitives::tridiagonal::tiles::Tiles;
    use crate::primitives::tridiagonal::{Layout, Spec};

    /// The kernels for the case's layout, and for edges of tiles, which are strided.
    fn names(spec: &Spec, kernel: &str) -> [String; 2] {
        let named = |layout: Layout| format!("{}_{}_{}", name(spec, kernel), layout.name(), rows(spec));
        [spec.layout, Layout::Strided].map(named)
    }

    /// Tiles of the second level on are strided; the last level is a single tile.
    pub fn kernels(spec: &Spec) -> KernelList {
        let above = levels(spec).0.len() as u64 - 1;
        let solved =
            KernelList::default().timed_all(MODULE, names(spec, "partition").into_iter().zip([1, above]));
        if above == 0 {
            return solved;
        }
        let edges = names(spec, "edges").into_iter().zip([1, above - 1]);
        solved.timed_all(MODULE, edges).timed(MODULE, name(spec, "join"), above)
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Batch>, Failure> {
        let (spec, levels) = (made.spec, levels(made.spec));
        let solve = made.module.kernels(names(spec, "partition"))?;
        let longer =
            || Ok::<_, Failure>((made.module.kernels(names(spec, "edges"))?, made.kernels(["join"])?));
        let longer = (levels.tiles() > 1).then(longer).transpose()?;
        let scratch = made.scratch(levels.scratch(spec.systems))?;
        // Rows are exchanged in shared memory, too.
        let shared = rows(spec).max(TEAM_WORDS) * spec.element();
        let launch = move |gpu: &Gpu, kernel: &Kernel, tiles: &Tiles, batch: &Batch, out: DevicePtr<u32>| {
            let blocks = u32::try_from(tiles.blocks(batch.systems))
                .map_err(|_| Failure::NotApplicable("more tiles than a launch has blocks".to_owned()))?;
            let (threads, shared) = (tiles.threads as u32, (tiles.threads * shared) as u32);
            gpu.launch(kernel, blocks, threads, shared, args![*batch, TilesOf::of(tiles), out])
        };
        Ok(Box::new(move |gpu, &batch| {
            let (mut batches, mut free) = (vec![batch], 0);
            if let Some((edges, [join])) = &longer {
                for (level, tiles) in levels.0.iter().enumerate().filter(|(_, tiles)| tiles.tiles > 1) {
                    let (batch, n, count) = (batches[level], tiles.tiles, tiles.tiles * batch.systems);
                    launch(gpu, &edges[level.min(1)], tiles, &batch, scratch.at(free)?)?;
                    launch_over(gpu, join, count, args![scratch.at(free)?, n, count])?;
                    let x = scratch.at(free + 7 * count)?;
                    let next = Batch { x, rows: n, row: 1, system: n, ..batch };
                    batches.push(scratch.batch(free, count, next)?);
                    free += 8 * count;
                }
            }
            for (level, tiles) in levels.0.iter().enumerate().rev() {
                let ends = batches.get(level + 1).map_or(DevicePtr::null(), |next| next.x);
                launch(gpu, &solve[level.min(1)], tiles, &batches[level], ends)?;
            }
            Ok(())
        }))
    }
}
