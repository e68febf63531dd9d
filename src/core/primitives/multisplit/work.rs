//! The memory traffic that methods of multisplit share.
//!
//! Effective bytes: keys and values read once and written once. The m + 1 offsets are not counted: they are few
//! compared with n.

use super::tiles::{self, KEPT_COUNT, KEPT_GROUP, KernelVariant};
use super::{KEY, Spec};
use crate::case::work::{Access, Order, Pass};

/// Bytes of a cache line, which combined stores fill.
pub const LINE: u64 = 64;
/// Bytes per count.
pub const COUNT: u64 = 4;

/// The arrays from which a method reads keys and values, and to which it writes them.
pub const ENDS: [&str; 4] = ["keys_in", "values_in", "keys_out", "values_out"];

/// The passes of a split of `n` keys and values between `arrays` with the kernels `way`: a count of each tile, the sums of
/// their groups, and the pass that moves all; or, where tiles are kept on chip, the last with the counts that it exchanges. A
/// device that holds fewer blocks than tiles reads keys and values again, except those of each block's last tile; this is not
/// declared, since it depends on the device.
pub fn split(n: u64, way: KernelVariant, buckets: u64, arrays: [&str; 4]) -> Vec<Pass> {
    let [tiles, groups] = way.counts(n);
    let tile = way.shape().tile();
    let mut moved = moved(n, way.value, arrays, Order::Staged { partitions: buckets, tile });
    if way.kept {
        return vec![if n > tile { moved.and(exchanged(way, tiles, groups)) } else { moved }];
    }
    let counts = [Access::reads("tiles", COUNT, tiles), Access::reads("before", COUNT, groups)];
    moved.accesses.splice(2..2, counts);
    // One array has the counts of a bucket side by side, the other those of a group.
    let apart = |array| Access::writes(array, COUNT, groups).ordered(Order::Random);
    vec![
        Pass::once([
            Access::reads(arrays[0], KEY, n),
            Access::writes("tiles", COUNT, tiles),
            apart("groups"),
        ]),
        Pass::once([Access::reads("groups", COUNT, groups), apart("before")]),
        moved,
    ]
}

/// The counts of tiles kept on chip: each tile writes its own, and the first of a group also the group's sums. Each reads the
/// counts of earlier tiles in its group and the sums of all groups; or, if there is one group, the counts of all tiles. Loads
/// of several rows at a time read the last one again where fewer are left, which is not declared.
fn exchanged(way: KernelVariant, tiles: u64, groups: u64) -> Vec<Access> {
    let read = |array, counts, size| Access::reads(array, KEPT_COUNT, counts).within(KEPT_COUNT * size);
    let (written, rows) = (Access::writes("tiles", KEPT_COUNT, tiles), tiles >> way.bits);
    if rows <= KEPT_GROUP {
        return vec![written, read("tiles", tiles * rows, tiles)];
    }
    // A group's sums read all of its tiles, and its tiles half of them on average.
    vec![
        written,
        read("tiles", tiles + tiles * (KEPT_GROUP - 1) / 2, tiles),
        Access::writes("groups", KEPT_COUNT, groups),
        read("groups", rows * groups, groups),
    ]
}

/// The accesses of a fused multisplit backwards, which takes what was found for each key in the order of the buckets back
/// to the order of the keys: a tile reads its keys again and its counts, and a run of results per bucket.
pub fn back(spec: &Spec) -> Pass {
    let way = tiles::way(spec);
    let ([tiles, groups], tile) = (way.counts(spec.keys), way.shape().tile());
    let runs = Order::Staged { partitions: spec.buckets, tile };
    Pass::once([
        read_keys(spec),
        Access::reads("tiles", COUNT, tiles),
        Access::reads("before", COUNT, groups),
        Access::reads("found", COUNT, spec.keys).ordered(runs),
        Access::writes("out", COUNT, spec.keys),
    ])
}

/// The keys of the input.
pub fn read_keys(spec: &Spec) -> Access {
    Access::reads(ENDS[0], KEY, spec.keys)
}

/// `n` keys, and values of `value` bytes if there are any, read sequentially from the first two arrays and
/// written in `order` to the other two.
pub fn moved(n: u64, value: u64, [keys, values, keys_out, values_out]: [&str; 4], order: Order) -> Pass {
    let both = |from, to, element| {
        [Access::reads(from, element, n), Access::writes(to, element, n).ordered(order.clone())]
    };
    let values = (value > 0).then(|| both(values, values_out, value));
    Pass::once(both(keys, keys_out, KEY)).and(values.into_iter().flatten())
}

#[cfg(test)]
mod tests {
    use super::super::tests::{spec, work};

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
            bandwidth / spec(&format!("keys=1 buckets=2 {words}")).speed_of_light() as f64
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
}
