//! What a multisplit does to memory, pass by pass.
//!
//! Effective bytes: keys and values read once and written once. The m + 1 offsets are no access:
//! they are few beside n.

use super::labels::{self, Load};
use super::rounds::{self, Rounds};
use super::spec::{KEY, Method, Spec};
use super::subproblems::{Localisation, Subproblems};
use super::tiles::{self, Shape, Way};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

/// Bytes of a line, which combined stores fill.
const LINE: u64 = 64;
/// Bytes of a count.
const COUNT: u64 = 4;

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let bytes = spec.key_bytes() + spec.value_bytes();
    Work {
        passes: passes(spec),
        elements: spec.keys,
        effective_bytes: 2 * bytes,
        system_bytes: 2 * bytes,
        footprint: 2 * bytes + spec.offset_bytes() + between(spec),
        scratch: 0,
    }
}

/// Bytes that the paper's parallel model moves: all keys are read once before the global scan, then keys
/// and values are read and stored, and the scan is free (§6.2.2). 12 a key, 20 a pair of 4 and 4.
pub fn light(spec: &Spec) -> u64 {
    3 * spec.key_bytes() + 2 * spec.value_bytes()
}

/// Bytes of what a method of GPUs writes and reads again in between, each array once.
fn between(spec: &Spec) -> u64 {
    match &spec.method {
        Method::Direct | Method::WriteCombining => 0,
        Method::ScanSplit if spec.bits() == 1 => 2 * COUNT * spec.keys,
        Method::ScanSplit => 2 * COUNT * spec.keys + spec.key_bytes() + spec.value_bytes(),
        Method::Localised(shape) => 2 * COUNT * shape.counts(spec),
        Method::RbSort => labels::bytes(spec),
        Method::Fused => tiles::way(spec).bytes(spec.keys) + rounds::bytes(spec),
    }
}

/// A counting pass, and one that moves.
fn passes(spec: &Spec) -> Vec<Pass> {
    let order = match &spec.method {
        Method::Direct => Order::Partitions { partitions: spec.buckets },
        Method::WriteCombining => Order::Staged { partitions: spec.buckets, tile: LINE / KEY * spec.buckets },
        Method::ScanSplit => return splits(spec),
        Method::Localised(shape) => return localised(spec, shape),
        Method::RbSort => return sorted(spec),
        Method::Fused => return in_rounds(spec),
    };
    vec![pass(vec![read_keys(spec)]), pass(moved(spec, order))]
}

/// Pre-scan, scan and post-scan. A subproblem's counts are a column of H and of G, and those of
/// neighbours lie side by side in each of their m rows.
fn localised(spec: &Spec, shape: &Subproblems) -> Vec<Pass> {
    let order = match shape.localisation {
        Localisation::Direct => Order::Partitions { partitions: spec.buckets },
        _ => Order::Staged { partitions: spec.buckets, tile: shape.tile() },
    };
    let counts = |array, direction, order| access(array, direction, (COUNT, shape.counts(spec)), order);
    let column = Order::Partitions { partitions: spec.buckets };
    let (read, write) = (Direction::Read, Direction::Write);
    let stored = counts("G", read, column.clone());
    vec![
        pass(vec![read_keys(spec), counts("H", write, column)]),
        pass(vec![counts("H", read, Order::Sequential), counts("G", write, Order::Sequential)]),
        pass(moved(spec, order).into_iter().chain([stored]).collect()),
    ]
}

/// A pass over counted tiles; above 256 buckets two, and the search for where buckets begin.
fn in_rounds(spec: &Spec) -> Vec<Pass> {
    let (way, input, output) = (tiles::way(spec), ["keys_in", "values_in"], ["keys_out", "values_out"]);
    let round = |buckets, [keys, values]: [_; 2], [keys_out, values_out]: [_; 2]| {
        fused(spec, way, buckets, [keys, values, keys_out, values_out])
    };
    let Some(rounds) = Rounds::of(spec) else { return round(spec.buckets, input, output) };
    let ([places, supers], between) = (rounds.buckets(), ["keys_between", "values_between"]);
    let looks = Access {
        count: spec.buckets * rounds::looks(spec.keys),
        ..keys(spec, "keys_out", Direction::Read, Order::Random)
    };
    [round(places, input, between), round(supers, between, output), vec![pass(vec![looks])]].concat()
}

/// A count of tiles, the sums of their groups, and the pass that moves keys and values of `way` between
/// these arrays.
fn fused(spec: &Spec, way: Way, buckets: u64, [keys, values, keys_out, values_out]: [&str; 4]) -> Vec<Pass> {
    let (read, write) = (Direction::Read, Direction::Write);
    let [tiles, groups] = way.counts(spec.keys);
    let counts = |array, direction, count| access(array, direction, (COUNT, count), Order::Sequential);
    let tile = Shape::of(way.bits, way.value).tile();
    let staged = Order::Staged { partitions: buckets, tile };
    let all = |array, direction, element, order| access(array, direction, (element, spec.keys), order);
    let values =
        [all(values, read, way.value, Order::Sequential), all(values_out, write, way.value, staged.clone())];
    let moved = [
        all(keys, read, KEY, Order::Sequential),
        all(keys_out, write, KEY, staged),
        counts("tiles", read, tiles),
        counts("before", read, groups),
    ];
    // A bucket's counts lie side by side in one array, and a group's in the other.
    let apart = |array, count| access(array, write, (COUNT, count), Order::Random);
    vec![
        pass(vec![
            all(keys, read, KEY, Order::Sequential),
            counts("tiles", write, tiles),
            apart("groups", groups),
        ]),
        pass(vec![counts("groups", read, groups), apart("before", groups)]),
        pass(moved.into_iter().chain(values.into_iter().filter(|access| access.element > 0)).collect()),
    ]
}

/// Labels with their loads, a split for each digit, and where pairs were packed or numbered, the
/// way back.
fn sorted(spec: &Spec) -> Vec<Pass> {
    let (read, write, load) = (Direction::Read, Direction::Write, Load::of(spec));
    let all = |array, direction, element| access(array, direction, (element, spec.keys), Order::Sequential);
    let labelled = [read_keys(spec), all("labels", write, KEY)].into_iter().chain(match load {
        Load::Key => vec![],
        Load::Pair => vec![all("values_in", read, spec.value), all("loads", write, load.size())],
        Load::Number => vec![all("loads", write, load.size())],
    });
    let mut passes = vec![pass(labelled.collect())];
    let (count, bits) = labels::digits(spec.bits());
    let buckets = if count == 1 { spec.buckets } else { 1 << bits };
    for digit in 0..count {
        let from = if load == Load::Key && digit == 0 { "keys_in" } else { "loads" };
        let to = if load == Load::Key && digit + 1 == count { "keys_out" } else { "sorted" };
        passes.extend(fused(spec, labels::way(spec), buckets, ["labels", from, "labels_out", to]));
    }
    if count > 1 {
        passes.push(pass(vec![all("labels", read, KEY)]));
    }
    let out = [
        keys(spec, "keys_out", write, Order::Sequential),
        values(spec, "values_out", write, Order::Sequential),
    ];
    let gathered = gathered(spec.buckets);
    match load {
        Load::Key => {}
        Load::Pair => passes.push(pass([all("loads", read, load.size())].into_iter().chain(out).collect())),
        Load::Number => {
            let from =
                [keys(spec, "keys_in", read, gathered.clone()), values(spec, "values_in", read, gathered)];
            passes.push(pass([all("loads", read, load.size())].into_iter().chain(from).chain(out).collect()));
        }
    }
    passes
}

/// The order in which keys come that are fetched bucket by bucket. Those of a bucket lie m keys apart, and each
/// bucket goes over all of them: where a line has one of a bucket at most, it is like random.
fn gathered(buckets: u64) -> Order {
    if buckets >= LINE / KEY { Order::Random } else { Order::Partitions { partitions: buckets } }
}

/// For each bit flags, their scan, and a split in two.
fn splits(spec: &Spec) -> Vec<Pass> {
    let all = |array, direction| access(array, direction, (COUNT, spec.keys), Order::Sequential);
    let (read, write) = (Direction::Read, Direction::Write);
    let halves = moved(spec, Order::Partitions { partitions: 2 });
    let passes = [
        vec![read_keys(spec), all("flags", write)],
        vec![all("flags", read), all("ones", write)],
        halves.into_iter().chain([all("ones", read)]).collect(),
    ];
    passes.map(|accesses| Pass { times: spec.bits().into(), accesses }).into()
}

fn read_keys(spec: &Spec) -> Access {
    keys(spec, "keys_in", Direction::Read, Order::Sequential)
}

/// Keys and values read in their order, and written to as many streams as buckets in this one.
pub fn moved(spec: &Spec, order: Order) -> Vec<Access> {
    let keys = [
        keys(spec, "keys_in", Direction::Read, Order::Sequential),
        keys(spec, "keys_out", Direction::Write, order.clone()),
    ];
    let values = [
        values(spec, "values_in", Direction::Read, Order::Sequential),
        values(spec, "values_out", Direction::Write, order),
    ];
    keys.into_iter().chain(values.into_iter().filter(|access| access.element > 0)).collect()
}

/// One execution's pass.
pub fn pass(accesses: Vec<Access>) -> Pass {
    Pass { times: 1, accesses }
}

/// All keys.
pub fn keys(spec: &Spec, array: &str, direction: Direction, order: Order) -> Access {
    access(array, direction, (KEY, spec.keys), order)
}

/// All values; of no bytes where there are none.
pub fn values(spec: &Spec, array: &str, direction: Direction, order: Order) -> Access {
    access(array, direction, (spec.value, spec.keys), order)
}

/// `count` elements of as many bytes, each once.
pub fn access(array: &str, direction: Direction, (element, count): (u64, u64), order: Order) -> Access {
    Access {
        array: array.to_owned(),
        direction,
        element,
        count,
        footprint: element * count,
        order,
        concurrency: Concurrency::Independent,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn keys_and_values_count_twice() {
        let alone = work(&spec("keys=1000 buckets=8"));
        assert_eq!(
            (alone.elements, alone.effective_bytes, alone.declared_bytes(), alone.footprint),
            (1000, 8000, 12_000, 8036)
        );
        let pairs = work(&spec("keys=1000 buckets=8 values=8B method=write-combining"));
        assert_eq!((pairs.effective_bytes, pairs.declared_bytes()), (24_000, 28_000));
        assert_eq!(pairs.passes[1].accesses.len(), 4);
    }

    /// What §6.2.2 prints: G keys and pairs a second of a Tesla K40c and of a GTX 1080 (26.67 as 26.6), and
    /// the parts of them that Table 5's rates are. What it rounds to 63 % and 60 % are 62 and 59.
    #[test]
    fn the_speed_of_light_is_the_papers() {
        let rate = |bandwidth: f64, words: &str| {
            bandwidth / light(&spec(&format!("keys=1 buckets=2 {words}"))) as f64
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

    /// Keys three times, values twice, and four times m · L counts (§6.2.2).
    #[test]
    fn subproblems_add_their_counts() {
        for (method, size) in [("dms", 128), ("wms", 128), ("bms", 1024)] {
            let all = work(&spec(&format!("keys=4096 buckets=64 values=4B method={method}")));
            let counts = 64 * (4096 / size) * 4;
            assert_eq!((all.declared_bytes(), all.effective_bytes), (4096 * 20 + 4 * counts, 4096 * 16));
            assert_eq!(all.footprint, 4096 * 16 + 65 * 4 + 2 * counts);
        }
    }

    /// Keys three times, values twice, and the counts of tiles and of their groups.
    #[test]
    fn a_pass_adds_the_counts_of_tiles() {
        let all = work(&spec("keys=65536 buckets=64 method=fused"));
        assert_eq!(all.declared_bytes(), 65_536 * 12 + 4 * 64 * (2 * 6 + 4));
        let pairs = work(&spec("keys=16384 buckets=64 values=4B method=fused"));
        assert_eq!(pairs.declared_bytes(), 16_384 * 20 + 4 * 64 * (2 * 2 + 4));
    }

    /// Every round reads keys twice and values once, and writes both; in between they lie once more.
    #[test]
    fn rounds_move_all_keys_twice() {
        let pairs = work(&spec("keys=16384 buckets=257 values=4B method=fused"));
        let counts = 4 * 32 * (2 * 2 + 4);
        assert_eq!(pairs.declared_bytes(), 2 * (16_384 * 20 + counts) + 257 * 96 * 4);
        let way = tiles::way(&spec("keys=16384 buckets=257 values=4B method=fused"));
        assert_eq!(pairs.footprint, 16_384 * 24 + 258 * 4 + way.bytes(16_384));
    }

    /// Labels are written, counted, moved; keys of 4 bytes go along, pairs in 8, numbers in 4.
    #[test]
    fn labels_go_along() {
        let counts = |tiles: u64| 4 * 2 * (2 * tiles + 4);
        let bytes = |words: &str| work(&spec(&format!("keys=49152 {words} method=rb-sort"))).declared_bytes();
        assert_eq!(bytes("buckets=2"), 49_152 * (8 + 4 + 16) + counts(6));
        assert_eq!(bytes("buckets=2 values=4B"), 49_152 * (8 + 12 + 4 + 24 + 16) + counts(7));
        assert_eq!(bytes("buckets=2 values=8B"), 49_152 * (8 + 4 + 4 + 16 + 4 + 24) + counts(6));
        let many = 49_152 * (8 + 2 * 20 + 4) + 2 * 32 * counts(6);
        assert_eq!(bytes("buckets=4096"), many);
    }

    /// 28 bytes a key for each bit, and twice the value's.
    #[test]
    fn splits_repeat_for_each_bit() {
        let two = work(&spec("keys=1000 buckets=2 method=scan-split"));
        assert_eq!((two.declared_bytes(), two.footprint), (28_000, 16_012));
        let five = work(&spec("keys=1000 buckets=5 values=8B method=scan-split"));
        assert_eq!((five.declared_bytes(), five.footprint), (3 * 44_000, 24_000 + 24 + 20_000));
    }
}
