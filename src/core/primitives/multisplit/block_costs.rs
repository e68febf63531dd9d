//! On-chip work of the blocks of a multisplit, as far as methods share it: the bucket functions, and the passes of a split.
//!
//! Instruction counts are per warp and 32 keys, by the bits of a bucket's number. Wavefronts of shared memory
//! are counted on the first keys of the case, so that skewed distributions show their bank conflicts.

use super::keys::Keys;
use super::tiles::{self, GROUP, KEPT_GROUP, KernelVariant, Number};
use super::{By, Found, Spec};
use crate::case::block_cost::{self, BlockCost, ByBits, LANES, WARPS, wavefronts};
use crate::inputs::mix::word64;
use crate::primitives::Problem;

/// Keys that a warp processes at a time.
pub const WINDOW: f64 = LANES as f64;

/// Instructions, and integer instructions among them, for 32 keys of the single pass with bulk copies, by 1 to
/// 8 bits, as counted by ncu.
const KEYS: ByBits =
    [[26.7, 34.4, 38.0, 42.3, 47.4, 45.4, 52.8, 63.3], [10.9, 16.0, 19.4, 23.2, 27.6, 29.1, 35.2, 42.8]];
const WITH_4: ByBits =
    [[27.4, 35.3, 38.8, 43.0, 47.7, 57.1, 61.7, 74.1], [11.2, 16.3, 19.6, 23.3, 27.5, 34.6, 38.7, 47.6]];
const WITH_8: ByBits =
    [[29.5, 37.4, 40.9, 45.2, 50.4, 56.2, 67.4, 83.1], [12.5, 17.7, 21.0, 24.8, 29.3, 34.0, 42.2, 53.2]];

/// For 32 keys in the counting kernel, in vectors of four.
const COUNTED: [f64; 2] = [6.0, 3.0];
/// Extra instructions that digits of delta-buckets take over fields, per 32 keys; a digit is computed once in
/// counting and three times in moving. They are multiplications, which have execution lanes of their own.
const COUNTED_DIGIT: f64 = 4.0;
const MOVED_DIGIT: f64 = 3.0;

/// Instructions, and integer instructions among them, that an integer division by an unknown divisor takes over a shift.
pub const DIVISION: [f64; 2] = [20.0, 12.0];

/// Block costs of a multisplit that takes further instructions, and integer instructions among them, to look at 32 keys:
/// when they are counted and when they are moved, not in the pass between, which sums their counts; in one launch, once.
///
/// # Errors
/// Those of the multisplit.
pub fn looking(spec: &Spec, [instructions, integers]: [f64; 2]) -> Result<Vec<BlockCost>, String> {
    let mut costs = spec.block_costs()?;
    let warps = spec.keys as f64 / WINDOW;
    costs.iter_mut().step_by(2).for_each(|cost| *cost = cost.with(warps, [instructions, integers, 0.0]));
    Ok(costs)
}

/// Instructions of a warp to find the bucket of each lane's key, and integer instructions among them.
///
/// # Errors
/// Returns the reason if the function has a loop of its own.
pub fn function(spec: &Spec) -> Result<[f64; 2], String> {
    match spec.by {
        By::Identity { .. } => Ok([4.0, 2.0]),
        By::DeltaBuckets { found: Some(Found::Division) } => Ok([4.0 + DIVISION[0], 2.0 + DIVISION[1]]),
        By::DeltaBuckets { .. } => Ok([6.0, 1.0]),
        By::Hash => Ok([17.0, 9.0]),
        // A search takes one step for each bit, and one more.
        By::Range => {
            let steps = f64::from(spec.bits() + 1);
            Ok([24.0 + 13.0 * steps, 11.0 + 7.0 * steps])
        }
        By::Prime => Err("no model covers the cost of primality tests".to_owned()),
    }
}

/// Mean wavefronts over groups of 32 of the case's first keys; `of` maps the buckets of a group to the
/// wavefronts that its lanes take.
pub fn mean(spec: &Spec, of: impl Fn(&[u64]) -> usize) -> f64 {
    let keys = Keys::new(spec);
    let bucket = |i: u64| u64::from(keys.bucket(i));
    let group = |g: u64| (g * 32..g * 32 + 32).map(bucket).collect::<Vec<u64>>();
    block_cost::mean(|g| of(&group(g)))
}

/// Wavefronts of 32 keys that go to their places in a tile: a run per bucket, which begins in an arbitrary
/// bank.
pub fn scattered(buckets: &[u64]) -> usize {
    let seed = buckets.iter().sum();
    let place = |(lane, bucket): (usize, &u64)| {
        let before = buckets[..lane].iter().filter(|other| *other == bucket).count() as u64;
        (bucket << 20) + word64(seed, *bucket) % LANES as u64 + before
    };
    wavefronts(buckets.iter().enumerate().map(place))
}

/// A count of each tile, sums of their groups, and the pass; `digit` maps a key's bucket to the number it is
/// split by. Tiles that are kept on chip take the pass alone, in which they exchange their counts.
pub fn split(spec: &Spec, way: KernelVariant, digit: impl Fn(u64) -> u64) -> Vec<BlockCost> {
    let [tiles, groups] = way.counts(spec.keys).map(|counts| counts >> way.bits);
    let moved = moving(spec, way, &digit, tiles);
    match way.kept {
        true => vec![moved],
        false => vec![counting(spec, way, &digit, groups), summing(way, groups), moved],
    }
}

/// The 16 warps of a block work independently: each takes four vectors per lane at a time and adds each key to
/// a counter.
fn counting(spec: &Spec, way: KernelVariant, digit: impl Fn(u64) -> u64, groups: u64) -> BlockCost {
    let copies = if way.bits <= 4 { 32 } else { 512 >> way.bits };
    let word = |(lane, bucket): (usize, &u64)| digit(*bucket) * copies + lane as u64 % copies;
    // An atomic addition reads and writes its counter.
    let added = 2.0 * mean(spec, |buckets| wavefronts(buckets.iter().enumerate().map(word)));
    let warps = 16;
    let rounds = (way.shape().tile() * GROUP / warps).div_ceil(512) as f64;
    let cost = BlockCost::of(groups * warps, WARPS).blocks(groups).loads(rounds);
    let product = if way.number == Number::DeltaDigit { COUNTED_DIGIT } else { 0.0 };
    cost.with(spec.keys as f64 / WINDOW, [COUNTED[0] + product, COUNTED[1], added])
}

/// A block per bucket sums 2048 groups at a time: eight per thread, then over lanes, then over warps.
fn summing(way: KernelVariant, groups: u64) -> BlockCost {
    let rounds = groups.div_ceil(2048) as f64;
    BlockCost::of(1 << way.bits, 0).loads(rounds).steps(12.0 * rounds)
}

/// The pass with bulk copies, as from compute capability 9.0 on: ranks by counters, key after key; the places
/// of the warps; and keys and values into the tile and out of it.
fn moving(spec: &Spec, way: KernelVariant, digit: impl Fn(u64) -> u64, tiles: u64) -> BlockCost {
    let shape = way.shape();
    let warps = f64::from(shape.threads) / WINDOW;
    let items = f64::from(shape.items);
    let digits = |buckets: &[u64]| buckets.iter().map(|b| digit(*b)).collect::<Vec<_>>();
    let counters = mean(spec, |buckets| wavefronts(digits(buckets)));
    let places = mean(spec, |buckets| scattered(&digits(buckets)));
    let words = way.value as f64 / 4.0;
    // Two reads of counters and one write; keys and values in. The bulk copies out are not issued by the warps.
    let shared = 3.0 * counters + (1.0 + words) * places;
    let counts = match way.value {
        0 => KEYS,
        4 => WITH_4,
        _ => WITH_8,
    };
    let [instructions, integers] = counts.map(|by_bits| by_bits[way.bits as usize - 1]);
    // A tile's copies out overlap with the ranking of the next tile, whose keys are already being loaded:
    // as if two blocks were resident. A tile kept on chip has no next one, its values are loaded with its keys, and the
    // block waits for other tiles' counts: they are read once in a single group, or else by the block that sums them and by
    // each tile beside the sums.
    let (resident, loads, looks) = match (way.kept, way.value) {
        (true, _) if tiles <= 1 => (u64::from(shape.blocks), 1.0, 0.0),
        (true, _) => (u64::from(shape.blocks), 1.0, if tiles <= KEPT_GROUP { 1.0 } else { 3.0 }),
        (false, 0) => (2 * u64::from(shape.blocks), 1.0, 0.0),
        _ => (2 * u64::from(shape.blocks), 2.0, 0.0),
    };
    // A counter is read and written for each of a thread's keys; three barriers, two walks over the warps'
    // counters several at a time, sums over lanes, keys in and out.
    let steps = 2.0 * items + warps / 2.0 + 16.0;
    let cost = BlockCost::of(tiles, resident).loads(loads).looks(looks).steps(steps);
    let product = if way.number == Number::DeltaDigit { MOVED_DIGIT } else { 0.0 };
    cost.with(spec.keys as f64 / WINDOW, [instructions + product, integers, shared])
}

/// The pass of a multisplit backwards, without the instructions of the bucket function: keys are ranked as they are when
/// they move, results are read into the tile, and each thread takes those of its keys from there. A warp reads one run
/// after another, 32 results at a time, and waits for them; a tile is done before the block takes the next.
pub fn back(spec: &Spec) -> BlockCost {
    let way = tiles::way(spec);
    let shape = way.shape();
    let ahead = moving(spec, way, |bucket| bucket, way.counts(spec.keys)[0] >> way.bits);
    let warps = u64::from(shape.threads) / LANES as u64;
    let run = shape.tile().div_ceil(spec.buckets).div_ceil(LANES as u64);
    let loads = 1.0 + (spec.buckets.div_ceil(warps) * run) as f64;
    BlockCost { resident: u64::from(shape.blocks), loads, ..ahead }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    /// If all keys are in one bucket, the lanes' keys are contiguous; with more buckets, runs share banks.
    #[test]
    fn runs_meet_in_banks() {
        assert_eq!(scattered(&[3; 32]), 1);
        let one = spec("keys=4096 buckets=8 distribution=one-bucket");
        assert_eq!(mean(&one, scattered), 1.0);
        let many = mean(&spec("keys=4096 buckets=256"), scattered);
        assert!((2.5..4.5).contains(&many), "{many}");
        // Each of 32 buckets has a bank of its own.
        assert_eq!(mean(&spec("keys=4096 buckets=32"), |b| wavefronts(b.iter().copied())), 1.0);
    }

    /// 2^20 keys in tiles of 4096 and groups of 8 tiles: 32 blocks count with 16 warps, each of which counts
    /// 2048 keys.
    #[test]
    fn counting_takes_warps_in_rounds() {
        let spec = spec("keys=1048576 buckets=32 method=fused");
        let costs = split(&spec, KernelVariant::counted(5, 0, Number::Field), |b| b);
        let [count, sum, pass] = costs[..] else { panic!("three launches") };
        assert_eq!((count.blocks, count.tiles, count.loads), (32, 512, 4.0));
        assert_eq!((sum.tiles, sum.loads), (32, 1.0));
        assert_eq!((pass.tiles, pass.resident, pass.loads), (256, 8, 1.0));
        assert_eq!(pass.instructions, 32768.0 * 47.4);
        let [kept] = split(&spec, KernelVariant::kept(5, 0, Number::Field), |b| b)[..] else {
            panic!("one launch")
        };
        assert_eq!((kept.tiles, kept.resident, kept.loads, kept.looks), (256, 2, 1.0, 3.0));
    }
}
