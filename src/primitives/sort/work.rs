//! The memory traffic of a sort, pass by pass.

use super::Spec;
use super::digits::Digits;
use super::onesweep::{DESCRIPTOR, DIGIT_BITS, DIGITS, Shape};
use super::spec::{Distribution, Method, Scope, Splits};
use super::tiles;
use crate::case::Direction::{Read, Write};
use crate::case::work::Order;
use crate::case::{Access, Pass};

/// Keys that leave a group of combined writes together: whole lines.
const GROUP: u64 = 16;

/// Arrays of keys and values: input and output, and the one between if there are several passes.
pub fn arrays(spec: &Spec) -> u64 {
    if spec.method == Method::Library { 2 } else { 3 }
}

/// The passes of the method.
pub fn passes(spec: &Spec) -> Vec<Pass> {
    match spec.method {
        Method::Best | Method::Onesweep { .. } => onesweep(spec),
        Method::Lsd => lsd(spec, DIGIT_BITS),
        Method::Msd => msd(spec),
        Method::MultisplitLsd { radix, by } => multisplits(spec, radix as u32, by),
        Method::SplitRadix { scope: Scope::Global } => bits(spec),
        Method::SplitRadix { scope: Scope::Block } | Method::Quicksort { .. } => merged(spec),
        // The library sorts in place: what it reads again is in caches.
        Method::Library => vec![Pass::once(moved(spec, Order::Sequential))],
    }
}

/// Keys and values, read in sequence and written in `order`.
fn moved(spec: &Spec, order: Order) -> Vec<Access> {
    let both = |from, to, element| {
        let write = Access { order: order.clone(), ..Access::sequential(to, Write, element, spec.keys) };
        [Access::sequential(from, Read, element, spec.keys), write]
    };
    let mut accesses = both("keys_in", "keys_out", spec.key_bytes()).to_vec();
    if spec.value() > 0 {
        accesses.extend(both("values_in", "values_out", spec.value()));
    }
    accesses
}

fn read_keys(spec: &Spec) -> Access {
    Access::sequential("keys_in", Read, spec.key_bytes(), spec.keys)
}

/// The digits that differ between keys, of which there is at least one.
fn varying(spec: &Spec, digits: Digits) -> u64 {
    if spec.distribution == Distribution::Equal { 1 } else { digits.count().into() }
}

/// A read of the keys, and a pass per digit. A tile's counts are written by it and read by the spine, its places
/// the other way round.
fn onesweep(spec: &Spec) -> Vec<Pass> {
    let shape = Shape::of(spec);
    let descriptors = |direction| {
        Access::sequential("descriptors", direction, DESCRIPTOR, 2 * DIGITS * shape.tiles(spec.keys))
    };
    let mut pass = moved(spec, Order::Staged { partitions: DIGITS, tile: shape.tile() });
    pass.extend([descriptors(Write), descriptors(Read)]);
    let times = varying(spec, spec.digits(DIGIT_BITS));
    vec![Pass::once(vec![read_keys(spec)]), Pass { times, accesses: pass }]
}

/// A count of all digits, a split by the first, and a count and a split for each other.
fn lsd(spec: &Spec, radix: u32) -> Vec<Pass> {
    let (digits, split) = (spec.digits(radix), moved(spec, combined(1 << radix)));
    let times = varying(spec, digits);
    let again = Pass { times: times - 1, accesses: [vec![read_keys(spec)], split.clone()].concat() };
    let mut passes = vec![Pass::once(vec![read_keys(spec)]), Pass::once(split)];
    passes.extend((again.times > 0).then_some(again));
    passes
}

fn combined(partitions: u64) -> Order {
    Order::Staged { partitions, tile: GROUP * partitions }
}

/// A count and a split by the highest digit; then every part is read, and written once it is sorted.
fn msd(spec: &Spec) -> Vec<Pass> {
    let partitions = spec.high_digit().values() as u64;
    vec![
        Pass::once(vec![read_keys(spec)]),
        Pass::once(moved(spec, combined(partitions))),
        Pass::once(moved(spec, Order::Sequential)),
    ]
}

/// A multisplit per digit: keys are read and counted, and moved.
fn multisplits(spec: &Spec, radix: u32, by: Splits) -> Vec<Pass> {
    let digits = spec.digits(radix);
    let order = match by {
        _ if !spec.backend.is_cuda() => combined(1 << radix),
        Splits::Bms => Order::Staged { partitions: 1 << radix, tile: 1024 },
        Splits::Fused => Order::Staged { partitions: 1 << radix, tile: 1 << 13 },
    };
    let times = digits.count().into();
    vec![Pass { times, accesses: vec![read_keys(spec)] }, Pass { times, accesses: moved(spec, order) }]
}

/// A split of all keys per bit. GPUs count the ones of all bits once, and a tile scans those of a bit from the sums of
/// tiles before it.
fn bits(spec: &Spec) -> Vec<Pass> {
    if !spec.backend.is_cuda() {
        return lsd(spec, 1);
    }
    let tile = tiles::tile(spec);
    let sums = |direction| Access::sequential("sums", direction, tiles::DESCRIPTOR, spec.keys.div_ceil(tile));
    let mut split = moved(spec, Order::Staged { partitions: 2, tile });
    split.extend([sums(Write), sums(Read)]);
    let times = spec.digits(1).count().into();
    vec![Pass::once(vec![read_keys(spec)]), Pass { times, accesses: split }]
}

/// Tiles are sorted on chip; then every round of the merge moves all keys.
fn merged(spec: &Spec) -> Vec<Pass> {
    let times = 1 + u64::from(tiles::rounds(spec.keys, tiles::tile(spec)));
    vec![Pass { times, accesses: moved(spec, Order::Sequential) }]
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
}
