//! A count of every tile, then one pass that reorders tiles and stores their runs (`kernels/multisplit/fused.cuh`). GPUs only.
//!
//! Few keys stay on chip between the count and the placement, in a single launch (`kernels/multisplit/kept.cuh`). Otherwise the
//! count, the sums and the pass are three launches, which take longer than moving the keys if keys are few.
//!
//! Among more buckets than one pass supports there are two rounds (ashkiani2017 §6.3). As many neighbouring buckets as a
//! digit has values make up a super-bucket. Keys are split by their bucket's place in its super-bucket, and then by the
//! super-bucket: since both rounds are stable, the keys of a super-bucket come out of the second round in the order of
//! their buckets, whose beginnings are then searched for. The paper's order of the rounds is the reverse, first the
//! super-buckets and then each of them separately, which leaves as many splits of unknown size as there are
//! super-buckets. Each round recomputes its digit of the bucket's number from the key: for delta-buckets at the cost of a
//! product, for fields at no cost.

use crate::case::BlockCost;
use crate::case::block_cost::{LANES, WARPS};
use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::multisplit::block_costs::{WINDOW, function, split};
use crate::primitives::multisplit::tiles::{MOST_BUCKETS, Number, digits, field, way};
use crate::primitives::multisplit::work::{self, ENDS};
use crate::primitives::multisplit::{By, KEY, Spec};

/// The rounds of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Rounds {
    /// Bits of a bucket's place in its super-bucket.
    bits: u32,
    /// The number of super-buckets.
    supers: u64,
}

impl Rounds {
    /// The rounds of a case; `None` if a single pass is enough.
    fn of(spec: &Spec) -> Option<Rounds> {
        let bits = digits(spec.bits()).1;
        (spec.buckets > MOST_BUCKETS).then(|| Rounds { bits, supers: spec.buckets.div_ceil(1 << bits) })
    }
}

/// True if each round can compute its digit of the bucket's number without the whole number.
pub fn has_digits(spec: &Spec) -> bool {
    Rounds::of(spec).is_none() || matches!(spec.by, By::DeltaBuckets { .. }) || field(spec).is_some()
}

/// The rounds, for the record.
pub fn sizes(spec: &Spec) -> Vec<(String, u64)> {
    Rounds::of(spec).map_or(Vec::new(), |Rounds { supers, .. }| {
        vec![("split.rounds".to_owned(), 2), ("split.super-buckets".to_owned(), supers)]
    })
}

/// Keys that a warp reads, 32 at a time, to find where a bucket begins among `n` keys.
fn looks(n: u64) -> u64 {
    let mut left = n;
    let mut looks = 0;
    while left > 0 {
        left = left.div_ceil(32) - 1;
        looks += 32;
    }
    looks
}

/// A single pass over counted tiles; above 256 buckets two passes with arrays between them, and the search for the bucket
/// offsets.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let (way, [keys, values, keys_out, values_out]) = (way(spec), ENDS);
    let round = |buckets, arrays| work::split(spec.keys, way, buckets, arrays);
    let Some(Rounds { bits, supers }) = Rounds::of(spec) else {
        let passes = round(spec.buckets, ENDS);
        return Costs::of(passes).beside(way.bytes(spec.keys)).blocks_sampled(|| block_costs(spec));
    };
    let first = round(1 << bits, [keys, values, "keys_between", "values_between"]);
    let second = round(supers, ["keys_between", "values_between", keys_out, values_out]);
    let looks = Access::reads(keys_out, KEY, spec.buckets * looks(spec.keys))
        .within(KEY * spec.keys)
        .ordered(Order::Random);
    let passes = first.into_iter().chain(second).chain([Pass::once([looks])]).collect();
    let own_bytes = way.bytes(spec.keys) + spec.input();
    Costs::of(passes).beside(own_bytes).blocks_sampled(|| block_costs(spec))
}

/// A single split; or a split by the place in a super-bucket, a split by the super-bucket, and the search for
/// the bucket offsets, a warp for each bucket that looks at 32 keys at a time. Kept keys are hashed when they are ranked and
/// when they are stored.
fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    let way = way(spec);
    if way.kept && way.number == Number::Any {
        let [instructions, integers] = function(spec)?;
        let hashes = 2.0 * spec.keys as f64 / WINDOW;
        let hashed = |cost: BlockCost| cost.with(hashes, [instructions, integers, 0.0]);
        return Ok(split(spec, way, |bucket| bucket).into_iter().map(hashed).collect());
    }
    if way.number == Number::Any {
        return Err(
            "no model covers the cost of this bucket function, which the single pass calls for each key"
                .to_owned(),
        );
    }
    let Some(Rounds { bits, .. }) = Rounds::of(spec) else {
        return Ok(split(spec, way, |bucket| bucket));
    };
    let places = split(spec, way, |bucket| bucket & ((1 << bits) - 1));
    let supers = split(spec, way, |bucket| bucket >> bits);
    let looks = (looks(spec.keys) / LANES as u64) as f64;
    Ok([&places[..], &supers, &[BlockCost::of(spec.buckets, WARPS).loads(looks)]].concat())
}

pub mod cuda {
    use super::Rounds;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::multisplit::Spec;
    use crate::primitives::multisplit::cuda::fused::{Passes, split_kernels};
    use crate::primitives::multisplit::cuda::input::Function;
    use crate::primitives::multisplit::cuda::{MODULE, Split, Stages, pointers, words};
    use crate::primitives::multisplit::tiles::{field, way};

    /// The kernel that searches for the offsets.
    const OFFSETS: &str = "fused_offsets";

    pub fn kernels(spec: &Spec, bulk: bool) -> KernelList {
        let split = split_kernels(way(spec), bulk);
        match Rounds::of(spec) {
            None => split,
            Some(_) => KernelList::default().and(split, 2).timed(MODULE, OFFSETS, 1),
        }
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<Stages, Failure> {
        let (passes, spec) = (Passes::new(gpu, way(spec), spec.keys)?, *spec);
        let Some(Rounds { bits, .. }) = Rounds::of(&spec) else {
            // The paper's names for the corresponding stages (ashkiani2017 §4.1).
            let names: &[&str] = if way(&spec).kept { &[] } else { &["pre-scan", "scan", "post-scan"] };
            return Ok(Stages::new(names, move |gpu, what, stage| {
                let function = what.function.as_number(&spec);
                passes.step(gpu, &Split { function, ..*what }, u32::MAX, stage)
            }));
        };
        let seek = gpu.module(MODULE)?.kernel(OFFSETS)?;
        let between = [words(gpu, spec.keys)?, words(gpu, spec.value_bytes() / 4)?];
        // The first key of the highest place; no key is in a higher super-bucket than the greatest key.
        let behind = [(((1 << bits) - 1) * spec.delta()) as u32, u32::MAX];
        Ok(Stages::new(&["first-round", "second-round", "offsets"], move |gpu, what, stage| {
            let ([low, high], between) = (digits(&spec, what.function, bits), pointers(&between));
            let moved = Split { offsets: DevicePtr::null(), ..*what };
            match stage {
                0 => passes.split(gpu, &Split { to: between, function: low, ..moved }, behind[0]),
                1 => passes.split(gpu, &Split { from: between, function: high, ..moved }, behind[1]),
                _ => what.seek(gpu, &seek, spec.buckets),
            }
        }))
    }

    /// The `low` low bits of the bucket's number, and the bits above them.
    fn digits(spec: &Spec, function: Function, low: u32) -> [Function; 2] {
        [(0, low), (low, spec.bits() - low)].map(|(shift, bits)| match field(spec) {
            Some(first) => Function::field(first + shift, bits, 1 << bits),
            None => function.digit(shift, bits),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::multisplit::tests::{spec, work};

    #[test]
    fn two_rounds_tell_all_buckets_apart() {
        let of = |m: u64| Rounds::of(&spec(&format!("keys=1 buckets={m}")));
        assert_eq!([of(2), of(256)], [None, None]);
        assert_eq!(of(257), Some(Rounds { bits: 5, supers: 9 }));
        assert_eq!(of(65_536), Some(Rounds { bits: 8, supers: 256 }));
        for m in 257..=65_536 {
            let Rounds { bits, supers } = of(m).expect("two rounds");
            let places = 1 << bits;
            assert!(places * supers >= m && places * (supers - 1) < m, "{m}");
            assert!(places <= 256 && supers <= places, "{m}");
        }
    }

    #[test]
    fn a_search_ends_with_the_last_few_keys() {
        assert_eq!([0, 1, 31, 32, 33, 64, 1024, 1025].map(looks), [0, 32, 32, 32, 64, 64, 64, 64]);
    }

    #[test]
    fn fields_and_deltas_have_digits() {
        let has = |by: &str, m: u64| has_digits(&spec(&format!("keys=1 buckets={m} by={by}")));
        assert!(has("delta-buckets", 300) && has("delta-buckets", 512) && has("identity", 300));
        assert!(!has("range", 300) && !has("hash", 512));
    }

    /// Keys three times, values twice, and the counts of tiles and of their groups.
    #[test]
    fn a_pass_adds_the_counts_of_tiles() {
        let three = "method=fused method.fused.launches=three";
        let all = work(&format!("keys=65536 buckets=64 {three}"));
        assert_eq!(all.declared_bytes(), 65_536 * 12 + 4 * 64 * (2 * 6 + 4));
        let pairs = work(&format!("keys=16384 buckets=64 values=4B {three}"));
        assert_eq!(pairs.declared_bytes(), 16_384 * 20 + 4 * 64 * (2 * 2 + 4));
    }

    /// Keys and values twice; each of 5 tiles writes its counts and reads those of all.
    #[test]
    fn tiles_on_chip_are_read_once() {
        let pairs = work("keys=16385 buckets=32 values=4B method=fused");
        assert_eq!(pairs.declared_bytes(), 16_385 * 16 + 8 * 32 * (5 + 5 * 5));
        let groups = work("keys=69632 buckets=4 method=fused");
        assert_eq!(
            groups.declared_bytes(),
            69_632 * 8 + 8 * 4 * (17 + 17 + 2 + 17 * 2) + 8 * (17 * 4 * 15 / 2)
        );
        assert_eq!(work("keys=4096 buckets=2 method=fused").declared_bytes(), 4096 * 8);
    }

    /// Every round reads keys twice and values once, and writes both; the arrays between the rounds add one
    /// more copy.
    #[test]
    fn rounds_move_all_keys_twice() {
        let words = "keys=16384 buckets=257 values=4B method=fused method.fused.launches=three";
        let pairs = work(words);
        let counts = 4 * 32 * (2 * 2 + 4);
        assert_eq!(pairs.declared_bytes(), 2 * (16_384 * 20 + counts) + 257 * 96 * 4);
        let way = way(&spec(words));
        assert_eq!(pairs.footprint, 16_384 * 24 + 258 * 4 + way.bytes(16_384));
    }
}
