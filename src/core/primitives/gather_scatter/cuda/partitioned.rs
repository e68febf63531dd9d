//! The method `partitioned` on a GPU (`kernels/gather_scatter/partitioned.cuh`): its state besides the case's arrays, and one
//! execution ([`levels`](crate::primitives::gather_scatter::levels)). No step waits for the host, and
//! everything is timed.

use super::MODULE;
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, args, device_struct};
use crate::primitives::cuda::{grid, launch_over, length};
use crate::primitives::gather_scatter::levels::{DIVIDERS, Level, Levels, WINDOW, items};
use crate::primitives::gather_scatter::spec::Spec;

/// The kernels that are independent of the sizes of tuples and locations.
const OTHERS: [&str; 3] = ["partitioned_clear", "partitioned_sum", "partitioned_coarsen"];

/// Threads of the blocks that do not divide.
const THREADS: u32 = 1024;

/// The workspace of a case and its kernels.
pub struct Partitioned {
    levels: Levels,
    /// The counters of all passes; each pass has one per partition that it makes.
    counters: DeviceBuffer<u64>,
    /// Buffers of tuples and locations, to which the passes write in turn.
    between: Vec<(DeviceBuffer<u32>, DeviceBuffer<u32>)>,
    others: [Kernel; 3],
    sized: [Kernel; 5],
}

/// Tuples and their locations, in the same order.
#[derive(Clone, Copy)]
pub struct Pairs {
    pub tuples: DevicePtr<u32>,
    pub locations: DevicePtr<u32>,
}

device_struct! {
    /// The input of a pass: `Divided` in the kernels.
    struct Divided: 32 {
        ends: DevicePtr<u64>,
        segments: u64,
        n: u64,
        tile: u64,
    }
}

/// Bytes of a case's workspace; 0 for other methods.
pub fn workspace(spec: &Spec) -> u64 {
    Levels::of(spec).map_or(0, |levels| levels.workspace(spec))
}

/// The kernels of an execution; none for other methods.
pub fn kernels(spec: &Spec) -> KernelList {
    let Some(Levels { levels, shared, .. }) = Levels::of(spec) else { return KernelList::default() };
    let (passes, whole) = (levels.len(), levels.iter().filter(|level| level.leaves == spec.index).count());
    // Every further pass derives its sums from those of the last pass.
    let others = OTHERS.into_iter().map(str::to_owned).zip([1, 1, passes - 1]);
    let sized = sized(spec).into_iter().zip([1, whole, passes - whole, shared.into(), (!shared).into()]);
    KernelList::default().timed_all(MODULE, others.chain(sized).map(|(name, n)| (name, n as u64)))
}

/// The kernels for the sizes of a case's tuples and locations: one that counts, two that divide and keep whole
/// locations or 16 bits of each, and two that move tuples to chunks in shared memory or directly to R_out.
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

impl Partitioned {
    /// `None` for other methods.
    pub fn new(gpu: &Gpu, spec: &Spec) -> Result<Option<Partitioned>, Failure> {
        let Some(levels) = Levels::of(spec) else { return Ok(None) };
        let buffer = |bytes: u64| gpu.alloc(length((spec.moves() * bytes).div_ceil(4))?);
        let pairs = |location: u64| Ok::<_, Failure>((buffer(spec.tuple)?, buffer(location)?));
        let between = levels.location_bytes().into_iter().map(pairs).collect::<Result<_, _>>()?;
        let counters = gpu.alloc(length(levels.counters())?)?;
        let module = gpu.module(MODULE)?;
        let (others, sized) = (module.kernels(OTHERS)?, module.kernels(sized(spec))?);
        Ok(Some(Partitioned { levels, counters, between, others, sized }))
    }

    /// Queues one execution over `n` pairs; R_out begins at `out`.
    pub fn execute(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        mut from: Pairs,
        out: DevicePtr<u32>,
        n: u64,
    ) -> Result<(), Failure> {
        self.count(gpu, from.locations, n)?;
        for k in 0..self.levels.levels.len() {
            let (tuples, locations) = &self.between[k % self.between.len()];
            let to = Pairs { tuples: tuples.pointer(), locations: locations.pointer() };
            self.divide(gpu, spec, k, (from, to), n)?;
            from = to;
        }
        self.place(gpu, spec, from, out, n)
    }

    /// The counters of a pass's bins.
    fn bins(&self, level: &Level) -> Result<DevicePtr<u64>, Failure> {
        self.counters.pointer_at(length(level.first)?)
    }

    /// Queues the count of all chunks and its sums: the counters of all passes become the starts of the pairs
    /// of their bins.
    fn count(&self, gpu: &Gpu, locations: DevicePtr<u32>, n: u64) -> Result<(), Failure> {
        let Levels { shift, chunks, ref levels, .. } = self.levels;
        let Some((last, coarser)) = levels.split_last() else { return Ok(()) };
        let ([clear, sum, coarsen], [count, ..]) = (&self.others, &self.sized);
        let (bins, bits) = (self.bins(last)?, shift as u32);
        launch_over(gpu, clear, chunks, args![bins, chunks])?;
        let window = chunks.next_power_of_two().min(WINDOW) as u32;
        let blocks = gpu.max_blocks(count, THREADS, 4 * window)?.min(grid(n, THREADS.into()));
        let args = args![bins, locations, bits, window, blocks, chunks, n];
        gpu.launch(count, self.levels.scans() as u32 * blocks, THREADS, 4 * window, args)?;
        gpu.launch(sum, 1, THREADS, 0, args![bins, chunks])?;
        coarser.iter().try_for_each(|level| {
            let (coarse, below) = (self.bins(level)?, (level.digit.shift - shift) as u32);
            launch_over(gpu, coarsen, level.bins, args![coarse, bins, below, level.bins])
        })
    }

    /// Queues pass k over `n` pairs. The counters of its bins advance to the ends of the bins' pairs.
    fn divide(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        k: usize,
        (from, to): (Pairs, Pairs),
        n: u64,
    ) -> Result<(), Failure> {
        let (level, [_, whole, within, ..]) = (&self.levels.levels[k], &self.sized);
        let kernel = if level.leaves == spec.index { whole } else { within };
        let ends = match k {
            0 => DevicePtr::null(),
            _ => self.bins(&self.levels.levels[k - 1])?,
        };
        let most = u64::from(DIVIDERS * items(spec.tuple, spec.index));
        let (next, shift, bins) = (self.bins(level)?, level.digit.shift as u32, level.digit.values() as u32);
        let shared = (most * (spec.tuple + spec.index) + u64::from(bins) * (spec.index + 4)) as u32;
        let blocks = gpu.max_blocks(kernel, DIVIDERS, shared)?.min(grid(n, most));
        let all = Divided { ends, segments: level.segments, n, tile: even(n, most, blocks) };
        let args = args![to.tuples, to.locations, from.tuples, from.locations, next, all, shift, bins];
        gpu.launch(kernel, blocks, DIVIDERS, shared, args)
    }

    /// Queues the kernel that writes `n` pairs to their places in `out`, one chunk after another.
    fn place(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        Pairs { tuples, locations }: Pairs,
        out: DevicePtr<u32>,
        n: u64,
    ) -> Result<(), Failure> {
        let Levels { shift, chunks, ref levels, shared } = self.levels;
        let Some(last) = levels.last() else { return Ok(()) };
        let [.., place, spread] = &self.sized;
        if !shared {
            let args = args![out, tuples, locations, n];
            return gpu.launch(spread, grid(n, THREADS.into()), THREADS, 0, args);
        }
        let (ends, bits, places) = (self.bins(last)?, shift as u32, 1u64 << shift);
        let distinct = u32::from(!spec.overwrites());
        let shared = (places * spec.tuple + 4 * places.div_ceil(32)) as u32;
        let blocks = gpu.max_blocks(place, THREADS, shared)?.min(grid(chunks, 1));
        let args = args![out, tuples, locations, ends, bits, chunks, spec.tuples, distinct];
        gpu.launch(place, blocks, THREADS, shared, args)
    }
}

/// The tile size, at most `most`, with which each of `blocks` blocks has the same number of tiles of n
/// elements.
fn even(n: u64, most: u64, blocks: u32) -> u64 {
    let rounds = n.div_ceil(most * u64::from(blocks)).max(1);
    n.div_ceil(rounds * u64::from(blocks)).next_multiple_of(32).min(most)
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
