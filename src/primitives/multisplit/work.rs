//! What a multisplit does to memory, pass by pass.
//!
//! Effective bytes: keys and values read once and written once. The m + 1 offsets are no access:
//! they are few beside n.

use super::spec::{KEY, Method, Spec};
use super::subproblems::{Localisation, Subproblems};
use crate::primitives::{Access, Concurrency, Direction, Order, Pass, Work};

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

/// Bytes of what a method of GPUs writes and reads again in between, each array once.
fn between(spec: &Spec) -> u64 {
    match &spec.method {
        Method::Direct | Method::WriteCombining => 0,
        Method::ScanSplit if spec.bits() == 1 => 2 * COUNT * spec.keys,
        Method::ScanSplit => 2 * COUNT * spec.keys + spec.key_bytes() + spec.value_bytes(),
        Method::Localised(shape) => 2 * COUNT * shape.counts(spec),
    }
}

/// A counting pass, and one that moves.
fn passes(spec: &Spec) -> Vec<Pass> {
    let order = match &spec.method {
        Method::Direct => Order::Partitions { partitions: spec.buckets },
        Method::WriteCombining => Order::Staged { partitions: spec.buckets, tile: LINE / KEY * spec.buckets },
        Method::ScanSplit => return splits(spec),
        Method::Localised(shape) => return localised(spec, shape),
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

    /// 28 bytes a key for each bit, and twice the value's.
    #[test]
    fn splits_repeat_for_each_bit() {
        let two = work(&spec("keys=1000 buckets=2 method=scan-split"));
        assert_eq!((two.declared_bytes(), two.footprint), (28_000, 16_012));
        let five = work(&spec("keys=1000 buckets=5 values=8B method=scan-split"));
        assert_eq!((five.declared_bytes(), five.footprint), (3 * 44_000, 24_000 + 24 + 20_000));
    }
}
