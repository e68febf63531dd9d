//! On-chip work of a histogram's blocks, pass by pass as in its work. Wavefronts of shared memory are counted
//! on the first values of the case, so that values that fall into the same bin show their conflicts.

use super::layout::Layout;
use super::spec::{By, Ending, Method, Spec};
use super::values::Values;
use crate::case::block_cost::{BlockCost, ByBits, LANES, SAMPLE, WARPS, wavefronts};

/// Instructions of a warp for 32 values, and integer instructions among them: for even bins, between splitters,
/// and for each further splitter that is compared.
const EVEN: [f64; 2] = [7.9, 2.8];
const RANGE: [f64; 2] = [18.0, 8.0];
const LOOK: [f64; 2] = [7.0, 3.0];

/// Instructions for a vote on 128 values, by 1 to 8 bits, with even bins and between splitters.
const EVEN_VOTES: ByBits = [
    [69.0, 87.0, 108.0, 129.0, 145.0, 173.0, 207.0, 263.0],
    [41.0, 61.0, 80.0, 99.0, 117.0, 142.0, 170.0, 214.0],
];
const RANGE_VOTES: ByBits = [
    [58.0, 100.0, 144.0, 177.0, 225.0, 266.0, 312.0, 403.0],
    [37.0, 66.0, 97.0, 124.0, 155.0, 183.0, 213.0, 275.0],
];

/// Values that a warp has in flight, counting in shared memory and voting.
const IN_FLIGHT: u64 = 512;
const VOTED_IN_FLIGHT: u64 = 128;

/// Bytes of shared memory that a block may use: enough for any layout, as on GPUs since the A100.
const SHARED: u32 = 128 << 10;

/// Block costs for each pass of a case on a GPU: the clearing, the count, and the ending.
pub fn block_costs(spec: &Spec) -> Vec<BlockCost> {
    match spec.method {
        Method::Best => vec![BlockCost::default(), shared(spec)],
        Method::Ballot { ending: Ending::Atomics } => vec![BlockCost::default(), voted(spec)],
        Method::Ballot { ending: Ending::Reduction } => vec![voted(spec), BlockCost::default()],
    }
}

fn voted(spec: &Spec) -> BlockCost {
    let counts = if spec.by == By::Even { EVEN_VOTES } else { RANGE_VOTES };
    let bits = spec.bins.next_power_of_two().ilog2() as usize;
    let [instructions, integers] = counts.map(|by_bits| by_bits[bits - 1]);
    let tiles = spec.elements.div_ceil(VOTED_IN_FLIGHT);
    let cost = BlockCost::of(tiles, WARPS).blocks(spec.subproblems()).loads(1.0);
    // A search compares a splitter per bit; the lanes compare at most as many different ones as the step has.
    let searched = if spec.by == By::Even { 0.0 } else { 4.0 * bits as f64 };
    cost.with(tiles as f64, [instructions, integers, searched])
}

fn shared(spec: &Spec) -> BlockCost {
    let layout = Layout::new(spec, SHARED);
    let Asked { wavefronts, looks } = asked(spec, &layout);
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

/// Shared-memory costs of 32 values on average.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Asked {
    wavefronts: f64,
    /// Splitters that are compared one after another.
    looks: f64,
}

/// The mean costs of the first groups of values.
fn asked(spec: &Spec, layout: &Layout) -> Asked {
    let Some(values) = Values::new(spec) else { return Asked { wavefronts: 0.0, looks: 0.0 } };
    let table = Table::new(spec, layout);
    let mut sum = Asked { wavefronts: 0.0, looks: 0.0 };
    for group in 0..SAMPLE {
        let lanes: Vec<u32> = (0..LANES as u64).map(|lane| values.at(group * LANES as u64 + lane)).collect();
        let one = table.asked(&lanes);
        sum.wavefronts += one.wavefronts / SAMPLE as f64;
        sum.looks += one.looks / SAMPLE as f64;
    }
    sum
}

/// The arrangement of the counts and the table in shared memory.
struct Table {
    splitters: Vec<u32>,
    layout: Layout,
}

impl Table {
    fn new(spec: &Spec, layout: &Layout) -> Table {
        Table { splitters: spec.splitters(), layout: *layout }
    }

    fn bin(&self, value: u32) -> u64 {
        self.splitters.partition_point(|s| *s <= value) as u64
    }

    /// The costs of the values of a warp's lanes.
    fn asked(&self, lanes: &[u32]) -> Asked {
        let copy = |lane: usize, replicas: u64| lane as u64 % replicas;
        let replicas = self.layout.replicas();
        let words = lanes.iter().enumerate().map(|(lane, v)| self.bin(*v) * replicas + copy(lane, replicas));
        // An atomic addition reads and writes its count.
        let added = 2 * wavefronts(words);
        if self.layout.cells() == 0 {
            return Asked { wavefronts: added as f64, looks: 0.0 };
        }
        let (looks, looked) = self.looks(lanes);
        Asked { wavefronts: (added + self.cells(lanes) + looked) as f64, looks: looks as f64 }
    }

    /// Cells have two words, so half a warp reads them at a time.
    fn cells(&self, lanes: &[u32]) -> usize {
        let spread = self.layout.spread();
        let word = |(lane, v): (usize, &u32)| 2 * (self.cell(*v) * spread + lane as u64 % spread);
        let all: Vec<u64> = lanes.iter().enumerate().map(word).collect();
        all.chunks(LANES / 2).map(|half| wavefronts(half.iter().copied())).sum()
    }

    fn cell(&self, value: u32) -> u64 {
        (u64::from(value) * self.layout.cells()) >> super::spec::BITS
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

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    fn asked_of(words: &str) -> Asked {
        let spec = spec(words);
        asked(&spec, &Layout::new(&spec, SHARED))
    }

    /// With a copy of each count in each bank, lanes never conflict; an addition takes two wavefronts.
    #[test]
    fn copies_keep_lanes_apart() {
        assert_eq!(asked_of("elements=4096 bins=2"), Asked { wavefronts: 2.0, looks: 0.0 });
        assert_eq!(asked_of("elements=4096 bins=256 distribution=skewed").wavefronts, 2.0);
    }

    /// 32 random words in as many banks: the fullest bank has 3.5 on average, and an addition accesses it
    /// twice.
    #[test]
    fn many_bins_meet_in_banks() {
        let many = asked_of("elements=4096 bins=4096").wavefronts;
        assert!((6.0..8.0).contains(&many), "{many}");
        let ranges = asked_of("elements=4096 bins=4096 by=range");
        assert!(ranges.wavefronts > many + 5.0 && ranges.looks >= 1.0, "{ranges:?}");
        let one = asked_of("elements=4096 bins=4096 by=range distribution=skewed").wavefronts;
        assert!(one < 0.8 * ranges.wavefronts, "{one} {ranges:?}");
    }

    #[test]
    fn a_warp_takes_its_values_in_rounds() {
        let [_, best] = block_costs(&spec("elements=1048576 bins=64"))[..] else { panic!("two passes") };
        assert_eq!((best.tiles, best.resident), (2048, 64));
        assert_eq!(best.instructions, 32768.0 * 7.9);
        let [_, ballot] = block_costs(&spec("elements=1048576 bins=64 method=ballot"))[..] else {
            panic!("two passes")
        };
        assert_eq!((ballot.blocks, ballot.instructions), (16, 8192.0 * 173.0));
    }
}
