//! As many copies of the counts as fit in cache or shared memory, each for some lanes: values that meet in a bin then wait for
//! each other less often. One pass over the values. Wavefronts of shared memory are counted on the first values of the case, so
//! that values that fall into the same bin show their conflicts.

use super::cleared;
use crate::case::block_cost::{BlockCost, LANES, SAMPLE, WARPS, wavefronts};
use crate::case::{Access, Pass};
use crate::primitives::Costs;
use crate::primitives::histogram::layout::Layout;
use crate::primitives::histogram::values::Values;
use crate::primitives::histogram::{BITS, By, Spec};

/// Instructions of a warp for 32 values, and integer instructions among them: for even bins, between splitters,
/// and for each further splitter that is compared.
const EVEN: [f64; 2] = [7.9, 2.8];
const RANGE: [f64; 2] = [18.0, 8.0];
const LOOK: [f64; 2] = [7.0, 3.0];

/// Values that a warp has in flight.
const IN_FLIGHT: u64 = 512;

/// Bytes of shared memory that a block may use: enough for any layout, as on GPUs since the A100.
const SHARED: u32 = 128 << 10;

pub fn costs(spec: &Spec) -> Costs<'_> {
    let costs = Costs::of(cleared(spec, Pass::once([Access::reads("x", 4, spec.elements)])));
    match spec.backend.is_cuda() {
        true => costs.blocks_sampled(|| Ok(vec![BlockCost::default(), counted(spec)])),
        false => costs,
    }
}

fn counted(spec: &Spec) -> BlockCost {
    let layout = Layout::new(spec, SHARED);
    let [wavefronts, looks] = asked(spec, &layout);
    let counts = if spec.by == By::Even { EVEN } else { RANGE };
    let [instructions, integers] = [0, 1].map(|k| counts[k] + looks * LOOK[k]);
    let tiles = spec.elements.div_ceil(IN_FLIGHT);
    let cost = BlockCost::of(tiles, WARPS).loads(1.0).steps(ends(spec, &layout));
    cost.with(spec.elements as f64 / LANES as f64, [instructions, integers, wavefronts])
}

/// Steps of a block before and after counting: it clears its counts, builds the table, with a search of twelve
/// comparisons per cell, and sums the copies of each bin.
fn ends(spec: &Spec, layout: &Layout) -> f64 {
    let rounds = |words: u64| words.div_ceil(1024) as f64;
    let cells = rounds(layout.cells());
    let table = if layout.cells() > 0 { 14.0 * cells } else { 0.0 };
    rounds(spec.bins * layout.replicas()) + table + rounds(spec.bins) * layout.replicas() as f64
}

/// The mean costs of 32 values, of the first ones: wavefronts, and splitters that are compared one after another.
fn asked(spec: &Spec, layout: &Layout) -> [f64; 2] {
    let Some(values) = Values::new(spec) else { return [0.0; 2] };
    let table = Table { splitters: spec.splitters(), layout: *layout };
    let lanes = |group: u64| (0..LANES as u64).map(move |lane| group * LANES as u64 + lane);
    let groups =
        (0..SAMPLE).map(|group| table.asked(&lanes(group).map(|i| values.at(i)).collect::<Vec<u32>>()));
    let sums = groups.fold([0, 0], |sums, asked| [sums[0] + asked[0], sums[1] + asked[1]]);
    sums.map(|sum| sum as f64 / SAMPLE as f64)
}

/// The arrangement of the counts and the table in shared memory.
struct Table {
    splitters: Vec<u32>,
    layout: Layout,
}

impl Table {
    fn bin(&self, value: u32) -> u64 {
        self.splitters.partition_point(|s| *s <= value) as u64
    }

    /// The costs of the values of a warp's lanes.
    fn asked(&self, lanes: &[u32]) -> [usize; 2] {
        let replicas = self.layout.replicas();
        let word = |(lane, v): (usize, &u32)| self.bin(*v) * replicas + lane as u64 % replicas;
        // An atomic addition reads and writes its count.
        let added = 2 * wavefronts(lanes.iter().enumerate().map(word));
        if self.layout.cells() == 0 {
            return [added, 0];
        }
        let (looks, looked) = self.looks(lanes);
        [added + self.cells(lanes) + looked, looks]
    }

    /// Cells have two words, so half a warp reads them at a time.
    fn cells(&self, lanes: &[u32]) -> usize {
        let spread = self.layout.spread();
        let word = |(lane, v): (usize, &u32)| 2 * (self.cell(*v) * spread + lane as u64 % spread);
        let all: Vec<u64> = lanes.iter().enumerate().map(word).collect();
        all.chunks(LANES / 2).map(|half| wavefronts(half.iter().copied())).sum()
    }

    fn cell(&self, value: u32) -> u64 {
        (u64::from(value) * self.layout.cells()) >> BITS
    }

    /// Lanes whose cell has several splitters compare them one after another, from the second on. Returns the
    /// number of comparisons of the slowest lane and the wavefronts of all comparisons.
    fn looks(&self, lanes: &[u32]) -> (usize, usize) {
        let walks: Vec<Vec<u64>> = lanes.iter().map(|v| self.walk(*v)).collect();
        let longest = walks.iter().map(Vec::len).max().unwrap_or(0);
        let at = |k: usize| wavefronts(walks.iter().filter_map(|walk| walk.get(k).copied()));
        (longest, (0..longest).map(at).sum())
    }

    /// The splitters with which a value is compared after the first one of its cell.
    fn walk(&self, value: u32) -> Vec<u64> {
        let cell = self.cell(value);
        let below = self.splitters.partition_point(|s| self.cell(*s) < cell);
        let several = self.splitters.get(below + 1).is_some_and(|s| self.cell(*s) == cell);
        let from = below as u64 + u64::from(self.splitters.get(below).is_some_and(|s| *s <= value));
        if several { (from..=self.bin(value)).collect() } else { Vec::new() }
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::histogram::Spec;
    use crate::primitives::histogram::cuda::{MODULE, Made, Step};
    use crate::primitives::histogram::layout::{BLOCK, Layout};

    fn name(spec: &Spec) -> String {
        format!("histogram_shared_{}", spec.by.name())
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, name(spec), 1)
    }

    /// No more blocks than there are tiles (`ITEMS` vectors of four per thread) are resident, but enough that 32 bits can count
    /// the values of each.
    pub fn method(made: &Made) -> Result<GpuMethod<Step>, Failure> {
        let kernel = made.module.kernel(&name(made.spec))?;
        let layout = Layout::new(made.spec, made.gpu.device().shared_per_block);
        let resident = made.gpu.max_blocks(&kernel, BLOCK, layout.bytes())?;
        Ok(Box::new(move |gpu, step| {
            let &Step::Part { x, n, bounds, counts } = step else { return Ok(()) };
            let blocks = grid(n, 16 * u64::from(BLOCK)).min(resident).max(grid(n, 1 << 31));
            gpu.launch(&kernel, blocks, BLOCK, layout.bytes(), args![x, n, bounds, layout, counts])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::histogram::tests::spec;

    fn asked_of(words: &str) -> [f64; 2] {
        let spec = spec(words);
        asked(&spec, &Layout::new(&spec, SHARED))
    }

    /// With a copy of each count in each bank, lanes never conflict; an addition takes two wavefronts.
    #[test]
    fn copies_keep_lanes_apart() {
        assert_eq!(asked_of("elements=4096 bins=2"), [2.0, 0.0]);
        assert_eq!(asked_of("elements=4096 bins=256 distribution=skewed")[0], 2.0);
    }

    /// 32 random words in as many banks: the fullest bank has 3.5 on average, and an addition accesses it
    /// twice.
    #[test]
    fn many_bins_meet_in_banks() {
        let many = asked_of("elements=4096 bins=4096")[0];
        assert!((6.0..8.0).contains(&many), "{many}");
        let ranges = asked_of("elements=4096 bins=4096 by=range");
        assert!(ranges[0] > many + 5.0 && ranges[1] >= 1.0, "{ranges:?}");
        let one = asked_of("elements=4096 bins=4096 by=range distribution=skewed")[0];
        assert!(one < 0.8 * ranges[0], "{one} {ranges:?}");
    }

    #[test]
    fn a_warp_takes_its_values_in_rounds() {
        let costs = spec("elements=1048576 bins=64 backend=cuda").block_costs().expect("known");
        let [_, best] = costs[..] else { panic!("two passes") };
        assert_eq!((best.tiles, best.resident), (2048, 64));
        assert_eq!(best.instructions, 32768.0 * 7.9);
    }
}
