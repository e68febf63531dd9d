//! The memory traffic of a sort, pass by pass.

use super::Spec;
use super::bitonic::{self, LEVELS};
use super::digits::Digits;
use super::he2007::Phases;
use super::onesweep::{DESCRIPTOR, DIGIT_BITS, DIGITS, Shape};
use super::spec::{Distribution, Method, Optimised, Scope};
use super::{multisplits, tiles};
use crate::case::Backend;
use crate::case::work::{Access, Order, Pass};

/// Keys that leave a group of combined writes together: whole lines.
const GROUP: u64 = 16;

/// Arrays of keys and values: input and output, and the one between if there are several passes. In a bitonic sort
/// the latter has the places of keys that have values.
pub fn arrays(spec: &Spec) -> u64 {
    match spec.method {
        Method::Bitonic if spec.value() == 0 => 2,
        Method::Library => 2,
        _ => 3,
    }
}

/// The passes of the method.
pub fn passes(spec: &Spec) -> Vec<Pass> {
    match spec.method {
        Method::Best | Method::Auto | Method::Onesweep { .. } => onesweep(spec),
        Method::Lsd => lsd(spec, DIGIT_BITS),
        Method::Msd => msd(spec),
        Method::MultisplitLsd { radix, by, .. } if spec.backend.is_cuda() => {
            multisplits::passes(spec, radix, by)
        }
        Method::MultisplitLsd { radix, .. } => splits_on_cpus(spec, radix as u32),
        Method::SplitRadix { scope: Scope::Global } => bits(spec),
        Method::SplitRadix { scope: Scope::Block } | Method::Quicksort { .. } => merged(spec),
        Method::He2007Msd { passes, .. } if spec.backend.is_cuda() => he2007_on_gpus(spec, passes),
        Method::He2007Msd { optimised, .. } => he2007_on_cpus(spec, optimised),
        Method::Bitonic => bitonic(spec),
        // The library sorts in place: what it reads again is in caches.
        Method::Library => vec![moved(spec, Order::Sequential)],
    }
}

/// Keys and values, read in sequence and written in `order`.
fn moved(spec: &Spec, order: Order) -> Pass {
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
fn read_keys(spec: &Spec) -> Pass {
    Pass::once([Access::reads("keys_in", spec.key_bytes(), spec.keys)])
}

/// The digits that differ between keys, of which there is at least one.
fn varying(spec: &Spec, digits: Digits) -> u64 {
    if spec.distribution == Distribution::Equal { 1 } else { digits.count().into() }
}

/// Bytes that a sort by digits of 8 bits moves at least: keys are read once and counted, then keys and values are read
/// and stored for each digit (Adinets and Merrill 2022): 36 bytes per key of 32 bits, 68 with a value of 4 bytes.
pub fn speed_of_light(spec: &Spec) -> u64 {
    let passes = varying(spec, spec.digits(DIGIT_BITS));
    spec.keys * spec.key_bytes() + 2 * passes * spec.bytes()
}

/// A read of the keys, and a pass per digit. A tile's counts are written by it and read by the spine, its places
/// the other way round.
fn onesweep(spec: &Spec) -> Vec<Pass> {
    let shape = Shape::of(spec);
    let counts = 2 * DIGITS * shape.tiles(spec.keys);
    let descriptors = [Access::writes, Access::reads].map(|of| of("descriptors", DESCRIPTOR, counts));
    let split = moved(spec, Order::Staged { partitions: DIGITS, tile: shape.tile() }).and(descriptors);
    vec![read_keys(spec), split.times(varying(spec, spec.digits(DIGIT_BITS)))]
}

/// A count of all digits, a split by the first, and a count and a split for each other.
fn lsd(spec: &Spec, radix: u32) -> Vec<Pass> {
    let split = moved(spec, combined(1 << radix));
    let again = read_keys(spec).and(split.accesses.clone()).times(varying(spec, spec.digits(radix)) - 1);
    performed([read_keys(spec), split, again])
}

/// Those passes that are performed at all.
fn performed(passes: impl IntoIterator<Item = Pass>) -> Vec<Pass> {
    passes.into_iter().filter(|pass| pass.times > 0).collect()
}

fn combined(partitions: u64) -> Order {
    Order::Staged { partitions, tile: GROUP * partitions }
}

/// A count and a split by the highest digit; then every part is read, and written once it is sorted.
fn msd(spec: &Spec) -> Vec<Pass> {
    let partitions = spec.high_digit().values() as u64;
    vec![read_keys(spec), moved(spec, combined(partitions)), moved(spec, Order::Sequential)]
}

/// A multisplit per digit: keys are read and counted, and moved.
fn splits_on_cpus(spec: &Spec, radix: u32) -> Vec<Pass> {
    let times = spec.digits(radix).count().into();
    vec![read_keys(spec).times(times), moved(spec, combined(1 << radix)).times(times)]
}

/// A split of all keys per bit. GPUs count the ones of all bits once, and a tile scans those of a bit from the sums of
/// tiles before it.
fn bits(spec: &Spec) -> Vec<Pass> {
    if !spec.backend.is_cuda() {
        return lsd(spec, 1);
    }
    let tile = tiles::tile(spec);
    let tiles = spec.keys.div_ceil(tile);
    let sums = [Access::writes, Access::reads].map(|of| of("sums", tiles::DESCRIPTOR, tiles));
    let split = moved(spec, Order::Staged { partitions: 2, tile }).and(sums);
    vec![read_keys(spec), split.times(spec.digits(1).count().into())]
}

/// Tiles are sorted on chip; then every round of the merge moves all keys.
fn merged(spec: &Spec) -> Vec<Pass> {
    let rounds = tiles::rounds(spec.keys, tiles::tile(spec));
    vec![moved(spec, Order::Sequential).times(1 + u64::from(rounds))]
}

/// he2007's phases, and the sorts of the parts. A phase reads the keys for its counts and again for their locations;
/// each pass of its scatter reads all locations, and moves the keys of one chunk of the output, which has its share of
/// the partitions.
fn he2007_on_gpus(spec: &Spec, passes: u64) -> Vec<Pass> {
    let phases = Phases::of(spec);
    let (times, partitions): (u64, u64) = (phases.count.into(), 1 << phases.bits);
    let chunk = Spec { keys: spec.keys.div_ceil(passes), ..*spec };
    let share = Order::Partitions { partitions: (partitions / passes).max(1) };
    vec![
        read_keys(spec).times(times),
        read_keys(spec).and([Access::writes("locations", 4, spec.keys)]).times(times),
        Pass::once([Access::reads("locations", 4, spec.keys)])
            .and(moved(&chunk, share).accesses)
            .times(times * passes),
        moved(spec, Order::Sequential),
    ]
}

/// A count and a scatter per phase, the sorts of the parts in cache, and the merge of the threads' shares. Parts that
/// outgrow the caches are written wherever their end is; those of the optimised phases leave them in whole lines.
fn he2007_on_cpus(spec: &Spec, optimised: Optimised) -> Vec<Pass> {
    let phases = Phases::of(spec);
    let (times, partitions) = (phases.count.into(), 1 << phases.digit(0).bits);
    let order = match optimised {
        Optimised::Cache => combined(partitions),
        Optimised::None => Order::Partitions { partitions },
    };
    let merges = u64::from(spec.backend != Backend::Scalar);
    vec![
        read_keys(spec).times(times),
        moved(spec, order).times(times),
        moved(spec, Order::Sequential).times(1 + merges),
    ]
}

/// All keys for each launch over all of them, or on CPUs for each level, with their places if they have values, which
/// are gathered at the end.
fn bitonic(spec: &Spec) -> Vec<Pass> {
    let most = if spec.backend.is_cuda() { LEVELS } else { 1 };
    let times = bitonic::launches(spec.keys, most).len() as u64;
    let (key, value, n) = (spec.key_bytes(), spec.value(), spec.keys);
    let first = read_keys(spec).and([Access::writes("keys_out", key, n)]);
    let again = Pass::once([Access::reads("keys_out", key, n), Access::writes("keys_out", key, n)]);
    if value == 0 {
        return performed([first, again.times(times.saturating_sub(1))]);
    }
    let [places, placed] = [Access::reads, Access::writes].map(|of| of("places", 4, n));
    let gathered = Access::reads("values_in", value, n).ordered(Order::Random);
    performed([
        first.and([placed.clone()]),
        again.and([places.clone(), placed]).times(times.saturating_sub(1)),
        Pass::once([places, gathered, Access::writes("values_out", value, n)]),
    ])
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
        let bytes = |words: &str| spec(&format!("keys=1000 backend=cpu {words}")).work().declared_bytes();
        assert_eq!(bytes("method=lsd"), 1000 * 4 * 12);
        assert_eq!(bytes("method=msd"), 1000 * (4 + 8 + 8));
        assert_eq!(bytes("method=multisplit-lsd"), 1000 * 5 * 12);
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

    /// What is transferred are keys and values, whatever a method keeps between its passes.
    #[test]
    fn inputs_and_results_are_keys_and_values() {
        for words in ["method=he2007-msd", "method=bitonic", "method=bitonic backend=cpu", "method=onesweep"]
        {
            let spec = spec(&format!("keys=1000 key=u64 values=4B {words}"));
            assert_eq!(spec.work().inputs_and_results(), [12_000; 2], "{words}");
        }
    }
}
