//! The kernels of `kernels/partitioned.cuh`, typed.

use super::super::kernels::MODULE;
use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::device::cuda::{Named, named};
use crate::primitives::cuda::{grid, launch_over, length};
use crate::primitives::gather_scatter::levels::{DIVIDERS, Level, Levels, WINDOW, items};
use crate::primitives::gather_scatter::spec::Spec;

/// Threads of all others.
const THREADS: u32 = 1024;

/// The kernels of one case.
pub struct Kernels {
    clear: cuda::Kernel,
    count: cuda::Kernel,
    sum: cuda::Kernel,
    coarsen: cuda::Kernel,
    /// Leaves whole locations.
    pass: Tiled,
    /// Leaves 16 bits of each.
    last: Tiled,
    place: cuda::Kernel,
    spread: cuda::Kernel,
}

/// A kernel whose threads have so many tuples each.
struct Tiled {
    kernel: cuda::Kernel,
    items: u32,
}

impl Tiled {
    fn tile(&self) -> u64 {
        u64::from(DIVIDERS * self.items)
    }
}

/// Pairs in order: tuples, and their locations.
#[derive(Clone, Copy)]
pub struct Pairs {
    pub tuples: DevicePtr<u32>,
    pub locations: DevicePtr<u32>,
}

/// What a pass divides: `Divided` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Divided {
    ends: DevicePtr<u64>,
    segments: u64,
    n: u64,
    tile: u64,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers and a device address.
unsafe impl Plain for Divided {}

/// Those for tuples and locations of any size.
const OTHERS: [&str; 3] = ["partitioned_clear", "partitioned_sum", "partitioned_coarsen"];

/// Those for the sizes of a case's tuples and locations: a count, both passes, and two that move.
fn sized(spec: &Spec) -> [String; 5] {
    let (z, x) = (spec.tuple, spec.index);
    let n = items(z, x);
    [
        format!("partitioned_count_i{x}"),
        format!("partitioned_pass_t{z}_i{x}_n{n}"),
        format!("partitioned_last_t{z}_i{x}_n{n}"),
        format!("partitioned_place_t{z}"),
        format!("partitioned_spread_t{z}_i{x}"),
    ]
}

/// The kernels that a case asks for.
pub fn asked(spec: &Spec) -> Vec<Named> {
    [named(MODULE, OTHERS), named(MODULE, sized(spec))].concat()
}

impl Kernels {
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Kernels, Failure> {
        let module = gpu.module(MODULE)?;
        let items = items(spec.tuple, spec.index);
        let tiled = |kernel| Tiled { kernel, items };
        let [clear, sum, coarsen] = module.kernels(OTHERS)?;
        let [count, pass, last, place, spread] = module.kernels(sized(spec))?;
        Ok(Kernels { clear, count, sum, coarsen, pass: tiled(pass), last: tiled(last), place, spread })
    }

    /// Queues the count of all chunks, and its sums: `counters`, those of all passes, become
    /// where the pairs of each of their bins begin.
    pub fn count(
        &self,
        gpu: &Gpu,
        counters: &DeviceBuffer<u64>,
        levels: &Levels,
        locations: DevicePtr<u32>,
        n: u64,
    ) -> Result<(), Failure> {
        let Some((last, coarser)) = levels.levels.split_last() else { return Ok(()) };
        let (bins, chunks) = (at(counters, last)?, levels.chunks);
        launch_over(gpu, &self.clear, chunks, &[(&bins).into(), (&chunks).into()])?;
        self.scan(gpu, bins, levels, locations, n)?;
        gpu.launch(&self.sum, 1, THREADS, 0, &[(&bins).into(), (&chunks).into()])?;
        coarser.iter().try_for_each(|level| {
            let below = (level.digit.shift - levels.shift) as u32;
            let coarse = at(counters, level)?;
            let args = [(&coarse).into(), (&bins).into(), (&below).into(), (&level.bins).into()];
            launch_over(gpu, &self.coarsen, level.bins, &args)
        })
    }

    /// Adds up the chunks of all locations.
    fn scan(
        &self,
        gpu: &Gpu,
        bins: DevicePtr<u64>,
        levels: &Levels,
        locations: DevicePtr<u32>,
        n: u64,
    ) -> Result<(), Failure> {
        let (shift, chunks) = (levels.shift as u32, levels.chunks);
        let window = chunks.next_power_of_two().min(WINDOW) as u32;
        let blocks = gpu.max_blocks(&self.count, THREADS, 4 * window)?.min(grid(n, THREADS.into()));
        let all = levels.scans() as u32 * blocks;
        let args = [
            (&bins).into(),
            (&locations).into(),
            (&shift).into(),
            (&window).into(),
            (&blocks).into(),
            (&chunks).into(),
            (&n).into(),
        ];
        gpu.launch(&self.count, all, THREADS, 4 * window, &args)
    }

    /// Queues pass k over `n` pairs. The counters of its bins move on to where these end.
    pub fn divide(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        counters: &DeviceBuffer<u64>,
        (levels, k): (&Levels, usize),
        (from, to): (Pairs, Pairs),
        n: u64,
    ) -> Result<(), Failure> {
        let level = &levels.levels[k];
        let whole = level.leaves == spec.index;
        let kernel = if whole { &self.pass } else { &self.last };
        let most = kernel.tile();
        let ends = match k {
            0 => DevicePtr::null(),
            _ => at(counters, &levels.levels[k - 1])?,
        };
        let (next, shift) = (at(counters, level)?, level.digit.shift as u32);
        let bins = level.digit.values() as u32;
        let shared = (most * (spec.tuple + spec.index) + u64::from(bins) * (spec.index + 4)) as u32;
        let blocks = gpu.max_blocks(&kernel.kernel, DIVIDERS, shared)?.min(grid(n, most));
        let tile = even(n, most, blocks);
        let all = Divided { ends, segments: level.segments, n, tile };
        let args = [
            (&to.tuples).into(),
            (&to.locations).into(),
            (&from.tuples).into(),
            (&from.locations).into(),
            (&next).into(),
            (&all).into(),
            (&shift).into(),
            (&bins).into(),
        ];
        gpu.launch(&kernel.kernel, blocks, DIVIDERS, shared, &args)
    }

    /// Queues what writes `n` pairs to their places in `out`, one chunk after another.
    pub fn place(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        counters: &DeviceBuffer<u64>,
        levels: &Levels,
        (from, out): (Pairs, DevicePtr<u32>),
        n: u64,
    ) -> Result<(), Failure> {
        let Some(last) = levels.levels.last() else { return Ok(()) };
        if !levels.shared {
            let args = [(&out).into(), (&from.tuples).into(), (&from.locations).into(), (&n).into()];
            return gpu.launch(&self.spread, grid(n, THREADS.into()), THREADS, 0, &args);
        }
        let (ends, bits, chunks) = (at(counters, last)?, levels.shift as u32, levels.chunks);
        let (places, distinct) = (1u64 << levels.shift, u32::from(!spec.overwrites()));
        let shared = (places * spec.tuple + 4 * places.div_ceil(32)) as u32;
        let blocks = gpu.max_blocks(&self.place, THREADS, shared)?.min(grid(chunks, 1));
        let args = [
            (&out).into(),
            (&from.tuples).into(),
            (&from.locations).into(),
            (&ends).into(),
            (&bits).into(),
            (&chunks).into(),
            (&spec.tuples).into(),
            (&distinct).into(),
        ];
        gpu.launch(&self.place, blocks, THREADS, shared, &args)
    }
}

/// The size of tiles, at most `most`, with which each of `blocks` has as many of n elements.
fn even(n: u64, most: u64, blocks: u32) -> u64 {
    let rounds = n.div_ceil(most * u64::from(blocks)).max(1);
    n.div_ceil(rounds * u64::from(blocks)).next_multiple_of(32).min(most)
}

/// The counters of a pass's bins.
fn at(counters: &DeviceBuffer<u64>, level: &Level) -> Result<DevicePtr<u64>, Failure> {
    counters.pointer_at(length(level.first)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_has_as_many_tiles() {
        assert_eq!(even(1 << 24, 12288, 132), 11_584);
        assert_eq!((even(1, 12288, 1), even(12288, 12288, 1), even(12289, 12288, 2)), (32, 12288, 6176));
        for n in [1, 12_287, 1 << 20, (1 << 28) + 1] {
            let tile = even(n, 12288, 132);
            assert!(
                tile <= 12288 && n.div_ceil(tile).div_ceil(132) == n.div_ceil(12288).div_ceil(132),
                "{n}"
            );
        }
    }
}
