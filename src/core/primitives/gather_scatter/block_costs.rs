//! On-chip work of the blocks of a partitioned scatter on a GPU, for each of the passes of [`Levels::passes`].
//!
//! The instructions per warp and 32 pairs or locations are those of the sm_90 machine code for whole tiles;
//! those of the last pass are estimates, because its loops have remainders of their own. Locations are assumed
//! random, so the words of 32 lanes lie in arbitrary banks.

use super::levels::{DIVIDERS, Levels, WINDOW, items, size_class};
use super::spec::Spec;
use crate::case::block_cost::{BlockCost, LANES, mean, wavefronts};
use crate::inputs::mix::word64;

/// Threads of the blocks that count, sum and assemble chunks.
const THREADS: u64 = 1024;

/// Locations that each counting thread loads at a time.
const COUNTED_AT_ONCE: u64 = 16;

/// Counters that each summing thread loads at a time.
const SUMMED_AT_ONCE: u64 = 4;

/// Counting, for locations of 4 and 8 bytes: all instructions per warp, and the integer ones among them.
const COUNT: [[f64; 2]; 2] = [[15.0, 5.7], [17.5, 6.9]];

/// Dividing, for locations of 4 and 8 bytes and tuples of 4, 8, 16 and 32 bytes; `PLACE` by the tuples alone.
const DIVIDE: [[[f64; 2]; 4]; 2] = [
    [[78.7, 30.8], [84.7, 33.5], [102.3, 38.3], [134.2, 46.4]],
    [[77.8, 32.9], [80.9, 33.3], [94.1, 48.6], [123.4, 61.0]],
];
const PLACE: [[f64; 2]; 4] = [[10.0, 4.5], [21.0, 10.3], [42.0, 19.7], [86.0, 31.6]];

/// The costs of each pass of a case on a GPU.
pub fn block_costs(spec: &Spec, levels: &Levels) -> Vec<BlockCost> {
    if spec.moves() == 0 {
        return Vec::new();
    }
    let mut all = vec![BlockCost::default(), counting(spec, levels), summing(levels)];
    all.extend(levels.levels.iter().map(|_| dividing(spec)));
    all.push(if levels.shared { placing(spec, levels) } else { BlockCost::default() });
    all
}

fn counting(spec: &Spec, levels: &Levels) -> BlockCost {
    let tiles = spec.moves().div_ceil(THREADS * COUNTED_AT_ONCE);
    // With counters of 64 KiB and more, a multiprocessor has no room for a second block.
    let resident = if levels.chunks.min(WINDOW) > WINDOW / 2 { 1 } else { 2 };
    let [instructions, integers] = COUNT[usize::from(spec.index == 8)];
    let cost = BlockCost::of(tiles, resident).loads(1.0).steps(4.0);
    // An atomic addition reads and writes its counter.
    cost.with(warps(spec), [instructions, integers, 2.0 * random()])
}

/// One block of 1024 threads, which carries a sum from one round to the next.
fn summing(levels: &Levels) -> BlockCost {
    let rounds = levels.chunks.div_ceil(THREADS * SUMMED_AT_ONCE) as f64;
    BlockCost::of(1, 0).loads(rounds).steps(12.0 * rounds)
}

/// A tile: ranks by counters, room in the partitions (whose counters stay in L2), and pairs moved into and out
/// of shared memory. A block has a multiprocessor to itself, but loads a tile while it stores the previous one.
fn dividing(spec: &Spec) -> BlockCost {
    let tile = u64::from(DIVIDERS * items(spec.tuple, spec.index));
    let words = (spec.tuple + spec.index) as f64 / 4.0;
    let [instructions, integers] = DIVIDE[usize::from(spec.index == 8)][size_class(spec.tuple)];
    // Counters, look-ups and pairs hit random banks; reads are in order, and neighbours mostly share a bin.
    let shared = 3.0 * random() + words * random() + words + 1.0;
    // Six barriers, five shuffles, a sum over the warps' sums, counters and places.
    let steps = 11.0 + f64::from(DIVIDERS) / LANES as f64 + 8.0;
    let cost = BlockCost::of(spec.moves().div_ceil(tile), 2).loads(1.0).looks(1.0).steps(steps);
    cost.with(warps(spec), [instructions, integers, shared])
}

/// Chunk by chunk: its start, then its pairs, which are stored anywhere in shared memory and leave it in order.
fn placing(spec: &Spec, levels: &Levels) -> BlockCost {
    let words = spec.tuple as f64 / 4.0;
    let [instructions, integers] = PLACE[size_class(spec.tuple)];
    let cost = BlockCost::of(levels.chunks, 1).loads(1.0).looks(1.0).steps(10.0);
    cost.with(warps(spec), [instructions, integers, words * random() + words])
}

fn warps(spec: &Spec) -> f64 {
    spec.moves() as f64 / LANES as f64
}

/// Mean number of wavefronts of 32 words in arbitrary banks.
fn random() -> f64 {
    mean(|group| wavefronts((0..LANES as u64).map(|lane| word64(group, lane))))
}

#[cfg(test)]
mod tests {
    use super::super::levels::tests::levels as of;
    use super::*;

    #[test]
    fn there_is_one_for_each_pass() {
        for (tuples, bits, passes) in [(1 << 20, 5, 1), (1 << 28, 14, 2), (1 << 28, 11, 1), (1, 1, 1)] {
            let (spec, levels) = of(tuples, 8, bits, passes);
            assert_eq!(block_costs(&spec, &levels).len(), levels.passes(&spec).len(), "{tuples} {bits}");
        }
    }

    /// 2^20 pairs of 8 and 4 bytes: 64 tiles of 2^14 locations to count, 86 of 12288 pairs to divide, 64 chunks.
    #[test]
    fn tiles_are_those_of_the_kernels() {
        let (spec, levels) = of(1 << 20, 8, 6, 1);
        let all = block_costs(&spec, &levels);
        let tiles: Vec<u64> = all.iter().map(|block_costs| block_costs.tiles).collect();
        assert_eq!(tiles, [0, 64, 1, 86, 64]);
        assert_eq!(all[3].instructions, 84.7 * 32768.0);
        // 3 R + 3 R + 3 + 1, R of random words between 3 and 4.
        let each = all[3].wavefronts / 32768.0;
        assert!((22.0..28.0).contains(&each), "{each}");
    }

    #[test]
    fn chunks_beyond_shared_memory_are_spread_by_threads_alone() {
        let (spec, levels) = of(1 << 28, 8, 11, 1);
        assert_eq!(block_costs(&spec, &levels).last(), Some(&BlockCost::default()));
    }
}
