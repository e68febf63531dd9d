//! The memory traffic of a multisplit, pass by pass.
//!
//! Effective bytes: keys and values read once and written once. The m + 1 offsets are not counted: they are few
//! compared with n.

use super::labels::{self, Load};
use super::rounds::{self, Rounds};
use super::spec::{KEY, Method, Spec};
use super::subproblems::{Localisation, Subproblems};
use super::tiles::{self, KernelVariant, Shape};
use crate::case::work::{Access, Order, Pass};

/// Bytes of a cache line, which combined stores fill.
const LINE: u64 = 64;
/// Bytes per count.
pub const COUNT: u64 = 4;

/// The arrays from which a method reads keys and values, and to which it writes them.
const ENDS: [&str; 4] = ["keys_in", "values_in", "keys_out", "values_out"];

/// Bytes that the paper's parallel model moves: all keys are read once before the global scan, then keys and
/// values are read and stored, and the scan is free (§6.2.2): 12 bytes per key, 20 per pair of 4-byte key and
/// 4-byte value.
pub fn speed_of_light(spec: &Spec) -> u64 {
    3 * spec.key_bytes() + 2 * spec.value_bytes()
}

/// Bytes of the intermediate arrays that a GPU method writes and reads again, each array once.
pub fn between(spec: &Spec) -> u64 {
    match &spec.method {
        Method::Direct | Method::WriteCombining => 0,
        Method::ScanSplit if spec.bits() == 1 => 2 * COUNT * spec.keys,
        Method::ScanSplit => 2 * COUNT * spec.keys + spec.input(),
        Method::Localised(shape) => 2 * COUNT * shape.counts(spec),
        Method::RbSort => labels::bytes(spec),
        Method::Fused => tiles::way(spec).bytes(spec.keys) + rounds::bytes(spec),
    }
}

/// A counting pass and a moving pass, or the passes of the method.
pub fn passes(spec: &Spec) -> Vec<Pass> {
    let partitions = spec.buckets;
    let order = match &spec.method {
        Method::Direct => Order::Partitions { partitions },
        Method::WriteCombining => Order::Staged { partitions, tile: LINE / KEY * partitions },
        Method::ScanSplit => return splits(spec),
        Method::Localised(shape) => return localised(spec, shape),
        Method::RbSort => return sorted(spec),
        Method::Fused => return in_rounds(spec),
    };
    vec![Pass::once([read_keys(spec)]), moved(spec.keys, spec.value, ENDS, order)]
}

/// Pre-scan, scan and post-scan. The counts of a subproblem are a column of H and of G; the counts of
/// neighbouring subproblems are adjacent in each of the m rows.
fn localised(spec: &Spec, shape: &Subproblems) -> Vec<Pass> {
    let column = Order::Partitions { partitions: spec.buckets };
    let order = match shape.localisation {
        Localisation::Direct => column.clone(),
        _ => Order::Staged { partitions: spec.buckets, tile: shape.tile() },
    };
    let counts = shape.counts(spec);
    let column_of_g = Access::reads("G", COUNT, counts).ordered(column.clone());
    vec![
        Pass::once([read_keys(spec), Access::writes("H", COUNT, counts).ordered(column)]),
        Pass::once([Access::reads("H", COUNT, counts), Access::writes("G", COUNT, counts)]),
        moved(spec.keys, spec.value, ENDS, order).and([column_of_g]),
    ]
}

/// A single pass over counted tiles; above 256 buckets two passes, and the search for the bucket offsets.
fn in_rounds(spec: &Spec) -> Vec<Pass> {
    let round = |buckets, arrays| fused(spec.keys, tiles::way(spec), buckets, arrays);
    let Some(rounds) = Rounds::of(spec) else { return round(spec.buckets, ENDS).into() };
    let ([places, supers], [keys, values, keys_out, values_out]) = (rounds.buckets(), ENDS);
    let first = round(places, [keys, values, "keys_between", "values_between"]);
    let second = round(supers, ["keys_between", "values_between", keys_out, values_out]);
    let looks = Access::reads(keys_out, KEY, spec.buckets * rounds::looks(spec.keys))
        .within(KEY * spec.keys)
        .ordered(Order::Random);
    first.into_iter().chain(second).chain([Pass::once([looks])]).collect()
}

/// A count of each tile, the sums of their groups, and the pass that moves `n` keys and values between `arrays`
/// with the kernels `way`.
fn fused(n: u64, way: KernelVariant, buckets: u64, arrays: [&str; 4]) -> [Pass; 3] {
    let [tiles, groups] = way.counts(n);
    let tile = Shape::of(way.bits, way.value).tile();
    let mut moved = moved(n, way.value, arrays, Order::Staged { partitions: buckets, tile });
    let counts = [Access::reads("tiles", COUNT, tiles), Access::reads("before", COUNT, groups)];
    moved.accesses.splice(2..2, counts);
    // One array has the counts of a bucket side by side, the other those of a group.
    let apart = |array| Access::writes(array, COUNT, groups).ordered(Order::Random);
    [
        Pass::once([
            Access::reads(arrays[0], KEY, n),
            Access::writes("tiles", COUNT, tiles),
            apart("groups"),
        ]),
        Pass::once([Access::reads("groups", COUNT, groups), apart("before")]),
        moved,
    ]
}

/// The accesses of a fused multisplit backwards, which takes what was found for each key in the order of the buckets back
/// to the order of the keys: a tile reads its keys again and its counts, and a run of results per bucket.
pub fn back(spec: &Spec) -> Pass {
    let way = tiles::way(spec);
    let ([tiles, groups], tile) = (way.counts(spec.keys), Shape::of(way.bits, way.value).tile());
    let runs = Order::Staged { partitions: spec.buckets, tile };
    Pass::once([
        read_keys(spec),
        Access::reads("tiles", COUNT, tiles),
        Access::reads("before", COUNT, groups),
        Access::reads("found", COUNT, spec.keys).ordered(runs),
        Access::writes("out", COUNT, spec.keys),
    ])
}

/// Labels with their loads, a split for each digit and, if pairs were packed or numbered, their unpacking.
fn sorted(spec: &Spec) -> Vec<Pass> {
    let (load, n) = (Load::of(spec), spec.keys);
    let loads = Access::writes("loads", load.size(), n);
    let labelled = Pass::once([read_keys(spec), Access::writes("labels", KEY, n)]);
    let mut passes = vec![match load {
        Load::Key => labelled,
        Load::Pair => labelled.and([Access::reads("values_in", spec.value, n), loads]),
        Load::Number => labelled.and([loads]),
    }];
    let (count, bits) = labels::digits(spec.bits());
    let buckets = if count == 1 { spec.buckets } else { 1 << bits };
    for digit in 0..count {
        let from = if load == Load::Key && digit == 0 { "keys_in" } else { "loads" };
        let to = if load == Load::Key && digit + 1 == count { "keys_out" } else { "sorted" };
        passes.extend(fused(n, labels::way(spec), buckets, ["labels", from, "labels_out", to]));
    }
    if count > 1 {
        passes.push(Pass::once([Access::reads("labels", KEY, n)]));
    }
    let gathered = |array, element| Access::reads(array, element, n).ordered(gathered(spec.buckets));
    let unpacked = Pass::once([Access::reads("loads", load.size(), n)]);
    let unpacked = match load {
        Load::Key => return passes,
        Load::Pair => unpacked,
        Load::Number => unpacked.and([gathered("keys_in", KEY), gathered("values_in", spec.value)]),
    };
    let out = [Access::writes("keys_out", KEY, n), Access::writes("values_out", spec.value, n)];
    passes.push(unpacked.and(out));
    passes
}

/// The order of a gather of keys, bucket by bucket. The keys of a bucket lie about m apart, and every bucket
/// sweeps the whole array; if a cache line holds at most one key of a bucket, the gather is as good as random.
fn gathered(buckets: u64) -> Order {
    if buckets >= LINE / KEY { Order::Random } else { Order::Partitions { partitions: buckets } }
}

/// For each bit: flags, their scan, and a split in two.
fn splits(spec: &Spec) -> Vec<Pass> {
    let flags = Pass::once([read_keys(spec), Access::writes("flags", COUNT, spec.keys)]);
    let scan = [Access::reads("flags", COUNT, spec.keys), Access::writes("ones", COUNT, spec.keys)];
    let halves = moved(spec.keys, spec.value, ENDS, Order::Partitions { partitions: 2 })
        .and([Access::reads("ones", COUNT, spec.keys)]);
    [flags, Pass::once(scan), halves].map(|pass| pass.times(spec.bits().into())).into()
}

fn read_keys(spec: &Spec) -> Access {
    Access::reads(ENDS[0], KEY, spec.keys)
}

/// `n` keys, and values of `value` bytes if there are any, read sequentially from the first two arrays and
/// written in `order` to the other two.
fn moved(n: u64, value: u64, [keys, values, keys_out, values_out]: [&str; 4], order: Order) -> Pass {
    let both = |from, to, element| {
        [Access::reads(from, element, n), Access::writes(to, element, n).ordered(order.clone())]
    };
    let values = (value > 0).then(|| both(values, values_out, value));
    Pass::once(both(keys, keys_out, KEY)).and(values.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{spec, work};
    use super::*;

    #[test]
    fn keys_and_values_count_twice() {
        let alone = work("keys=1000 buckets=8");
        assert_eq!(
            (alone.elements, alone.effective_bytes, alone.declared_bytes(), alone.footprint),
            (1000, 8000, 12_000, 8036)
        );
        let pairs = work("keys=1000 buckets=8 values=8B method=write-combining");
        assert_eq!((pairs.effective_bytes, pairs.declared_bytes()), (24_000, 28_000));
        assert_eq!(pairs.passes[1].accesses.len(), 4);
    }

    /// §6.2.2 prints the rates in Gkeys/s and Gpairs/s for a Tesla K40c and a GTX 1080 (26.67 as 26.6), and the
    /// rates of Table 5 as percentages of them. The percentages that it rounds to 63 % and 60 % are 62 and 59.
    #[test]
    fn the_speed_of_light_is_the_papers() {
        let rate = |bandwidth: f64, words: &str| {
            bandwidth / speed_of_light(&spec(&format!("keys=1 buckets=2 {words}"))) as f64
        };
        let [keys, pairs] = ["", "values=4B"];
        assert_eq!([rate(288.0, keys), rate(288.0, pairs), rate(320.0, pairs)], [24.0, 14.4, 16.0]);
        assert_eq!((rate(320.0, keys) * 10.0).floor() / 10.0, 26.6);
        assert_eq!(rate(280.0, "values=8B"), 10.0);
        for (bandwidth, reached, percent) in
            [(320.0, 18.93, 71.0), (320.0, 16.64, 62.0), (288.0, 7.57, 32.0), (288.0, 14.15, 59.0)]
        {
            let part: f64 = 100.0 * reached / rate(bandwidth, keys);
            assert!((part - percent).abs() < 0.5, "{reached}: {part}");
        }
    }

    /// Keys three times, values twice, and m · L counts four times (§6.2.2).
    #[test]
    fn subproblems_add_their_counts() {
        for (method, size) in [("dms", 128), ("wms", 128), ("bms", 1024)] {
            let all = work(&format!("keys=4096 buckets=64 values=4B method={method}"));
            let counts = 64 * (4096 / size) * 4;
            assert_eq!((all.declared_bytes(), all.effective_bytes), (4096 * 20 + 4 * counts, 4096 * 16));
            assert_eq!(all.footprint, 4096 * 16 + 65 * 4 + 2 * counts);
        }
    }

    /// Keys three times, values twice, and the counts of tiles and of their groups.
    #[test]
    fn a_pass_adds_the_counts_of_tiles() {
        let all = work("keys=65536 buckets=64 method=fused");
        assert_eq!(all.declared_bytes(), 65_536 * 12 + 4 * 64 * (2 * 6 + 4));
        let pairs = work("keys=16384 buckets=64 values=4B method=fused");
        assert_eq!(pairs.declared_bytes(), 16_384 * 20 + 4 * 64 * (2 * 2 + 4));
    }

    /// Every round reads keys twice and values once, and writes both; the arrays between the rounds add one
    /// more copy.
    #[test]
    fn rounds_move_all_keys_twice() {
        let pairs = work("keys=16384 buckets=257 values=4B method=fused");
        let counts = 4 * 32 * (2 * 2 + 4);
        assert_eq!(pairs.declared_bytes(), 2 * (16_384 * 20 + counts) + 257 * 96 * 4);
        let way = tiles::way(&spec("keys=16384 buckets=257 values=4B method=fused"));
        assert_eq!(pairs.footprint, 16_384 * 24 + 258 * 4 + way.bytes(16_384));
    }

    /// Labels are written, counted and moved; keys of 4 bytes go along, pairs as 8 bytes, numbers as 4.
    #[test]
    fn labels_go_along() {
        let counts = |tiles: u64| 4 * 2 * (2 * tiles + 4);
        let bytes = |words: &str| work(&format!("keys=49152 {words} method=rb-sort")).declared_bytes();
        assert_eq!(bytes("buckets=2"), 49_152 * (8 + 4 + 16) + counts(6));
        assert_eq!(bytes("buckets=2 values=4B"), 49_152 * (8 + 12 + 4 + 24 + 16) + counts(7));
        assert_eq!(bytes("buckets=2 values=8B"), 49_152 * (8 + 4 + 4 + 16 + 4 + 24) + counts(6));
        let many = 49_152 * (8 + 2 * 20 + 4) + 2 * 32 * counts(6);
        assert_eq!(bytes("buckets=4096"), many);
    }

    /// 28 bytes per key for each bit, and twice the value's bytes.
    #[test]
    fn splits_repeat_for_each_bit() {
        let two = work("keys=1000 buckets=2 method=scan-split");
        assert_eq!((two.declared_bytes(), two.footprint), (28_000, 16_012));
        let five = work("keys=1000 buckets=5 values=8B method=scan-split");
        assert_eq!((five.declared_bytes(), five.footprint), (3 * 44_000, 24_000 + 24 + 20_000));
    }
}
