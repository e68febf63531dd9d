//! The memory accesses of a sort, as far as methods share them.

use super::keys::{DIGIT_BITS, Digits};
use super::{Distribution, Spec};
use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;

/// Keys that leave a group of combined writes together: whole lines.
const GROUP: u64 = 16;

/// Keys and values, read in sequence and written in `order`.
pub fn moved(spec: &Spec, order: Order) -> Pass {
    let both = |from, to, element| {
        [
            Access::reads(from, element, spec.keys),
            Access::writes(to, element, spec.keys).ordered(order.clone()),
        ]
    };
    let values = (spec.value() > 0).then(|| both("values_in", "values_out", spec.value()));
    Pass::once(both("keys_in", "keys_out", spec.key_bytes())).and(values.into_iter().flatten())
}

/// The keys, read in sequence.
pub fn read_keys(spec: &Spec) -> Pass {
    Pass::once([Access::reads("keys_in", spec.key_bytes(), spec.keys)])
}

/// The order of writes that are combined for each of so many partitions.
pub fn combined(partitions: u64) -> Order {
    Order::Staged { partitions, tile: GROUP * partitions }
}

/// The digits that differ between keys, of which there is at least one.
pub fn varying(spec: &Spec, digits: Digits) -> u64 {
    if spec.distribution == Distribution::Equal { 1 } else { digits.count().into() }
}

/// Passes between the input, the output and arrays between, as large as these.
pub fn by_way_of_arrays<'a>(spec: &Spec, passes: Vec<Pass>) -> Costs<'a> {
    Costs::of(passes).beside(spec.bytes())
}

/// Those passes that are performed at all.
pub fn performed(passes: impl IntoIterator<Item = Pass>) -> Vec<Pass> {
    passes.into_iter().filter(|pass| pass.times > 0).collect()
}

/// Bytes that a sort by digits of 8 bits moves at least: keys are read once and counted, then keys and values are read
/// and stored for each digit (Adinets and Merrill 2022): 36 bytes per key of 32 bits, 68 with a value of 4 bytes.
pub fn speed_of_light(spec: &Spec) -> u64 {
    let passes = varying(spec, spec.digits(DIGIT_BITS));
    spec.keys * spec.key_bytes() + 2 * passes * spec.bytes()
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use crate::primitives::Problem;

    /// 36 bytes per u32 key (one histogram, four passes), and 68 per pair, besides the descriptors.
    #[test]
    fn a_key_moves_once_per_digit() {
        let bytes =
            |words: &str| spec(&format!("keys=12288000 backend=cuda {words}")).work().declared_bytes();
        let descriptors = |tiles: u64| 4 * 4 * 4 * 256 * tiles;
        assert_eq!(bytes(""), 12_288_000 * 36 + descriptors(1000));
        assert_eq!(bytes("values=4B"), 12_288_000 * 68 + descriptors(750));
        assert_eq!(bytes("distribution=equal"), 12_288_000 * 12 + descriptors(250));
        assert_eq!(spec("keys=1000 values=4B").work().effective_bytes, 16_000);
        let light = |words: &str| super::speed_of_light(&spec(&format!("keys=1000 {words}")));
        assert_eq!([light(""), light("values=4B"), light("key=u64")], [36_000, 68_000, 136_000]);
        assert_eq!([light("begin=3 end=12"), light("distribution=equal")], [20_000, 12_000]);
    }

    #[test]
    fn processors_count_before_they_move() {
        let bytes = |words: &str| spec(&format!("backend=cpu {words}")).work().declared_bytes();
        assert_eq!(bytes("keys=1000 method=lsd"), 1000 * 4 * 12);
        assert_eq!(bytes("keys=1025 method=msd"), 1025 * (4 + 8 + 8));
        assert_eq!(bytes("keys=1024 method=msd"), 1024 * 8);
        assert_eq!(bytes("keys=1000 method=multisplit-lsd"), 1000 * 5 * 12);
    }

    /// 4 Mi keys are 964 tiles, which ten rounds merge; one bit at a time they move 32 times.
    #[test]
    fn merges_move_all_keys_once_a_round() {
        let bytes = |words: &str| spec(&format!("keys=4194304 backend=cuda {words}")).work().declared_bytes();
        assert_eq!(bytes("method=quicksort"), 4_194_304 * 8 * 11);
        let split = "method=split-radix method.split-radix.scope";
        assert_eq!(bytes(&format!("{split}=block values=4B")), 4_194_304 * 16 * 11);
        assert_eq!(bytes(&format!("{split}=global")), 4_194_304 * (4 + 8 * 32) + 32 * 964 * 16);
    }

    /// Three phases of the paper's: two reads of the keys, locations, and four reads of them for a move.
    #[test]
    fn a_phase_counts_locates_and_moves_in_passes() {
        let bytes = |words: &str| {
            let words = format!("keys=16777216 values=4B method=he2007-msd {words}");
            spec(&words).work().declared_bytes() >> 24
        };
        assert_eq!(bytes("backend=cuda"), 3 * (4 + 8 + 4 * 4 + 16) + 16);
        assert_eq!(bytes("backend=cuda method.he2007-msd.passes=1"), 3 * (4 + 8 + 4 + 16) + 16);
        assert_eq!(bytes("backend=scalar"), 2 * (4 + 16) + 16);
        assert_eq!(bytes("backend=cpu method.he2007-msd.optimised=none"), (4 + 16) + 2 * 16);
    }

    /// Four stages beyond tiles: two launches each for the first three, and three for the last.
    #[test]
    fn a_bitonic_sort_moves_all_keys_in_each_launch() {
        let bytes =
            |words: &str| spec(&format!("keys=65536 method=bitonic {words}")).work().declared_bytes() >> 16;
        assert_eq!(bytes("backend=cuda"), 8 * (1 + 3 * 2 + 3));
        assert_eq!(bytes("backend=cuda values=8B"), 12 + 9 * 16 + 20);
        assert_eq!(bytes("backend=cpu"), 8 * (1 + (1 + 2 + 3 + 4) + 4));
    }

    /// Keys and values are transferred, whatever a method keeps between its passes.
    #[test]
    fn inputs_and_results_are_keys_and_values() {
        for words in ["method=he2007-msd", "method=bitonic", "method=bitonic backend=cpu", "method=onesweep"]
        {
            let spec = spec(&format!("keys=1000 key=u64 values=4B {words}"));
            assert_eq!(spec.work().inputs_and_results(), [12_000; 2], "{words}");
        }
    }
}
