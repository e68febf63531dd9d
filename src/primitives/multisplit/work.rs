//! What a multisplit does to memory, pass by pass.
//!
//! Effective bytes: keys and values read once and written once. The m + 1 offsets are no access:
//! they are few beside n.

use super::spec::{KEY, Method, Spec};
use crate::primitives::{Access, Concurrency, Direction, Order, Pass, Work};

/// Bytes of a line, which combined stores fill.
const LINE: u64 = 64;

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let bytes = spec.key_bytes() + spec.value_bytes();
    Work {
        passes: passes(spec),
        elements: spec.keys,
        effective_bytes: 2 * bytes,
        system_bytes: 2 * bytes,
        footprint: 2 * bytes + spec.offset_bytes(),
        scratch: 0,
    }
}

/// A counting pass, and one that moves.
fn passes(spec: &Spec) -> Vec<Pass> {
    let counted = pass(vec![keys(spec, "keys_in", Direction::Read, Order::Sequential)]);
    let order = match spec.method {
        Method::Direct => Order::Partitions { partitions: spec.buckets },
        Method::WriteCombining => Order::Staged { partitions: spec.buckets, tile: LINE / KEY * spec.buckets },
    };
    vec![counted, pass(moved(spec, order))]
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
}
