//! A part of the keys is divided into ranges of about 200 keys, and each range sorted by an AVX-512 network of 256 keys of 32
//! bits ([`network`](super::network::network)): keys of 32 bits themselves by [`Whole`], all others by [`Places`].

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises a processor with AVX-512 and what `Run` asks for"
)]

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::in_cache::{ByDigits, Counts, InCache, Part, insert};
use super::network::{MOST, network};
use crate::primitives::cpu::tuple::None;
use crate::primitives::sort::cpu::prelude::*;
use crate::primitives::sort::keys::AT_ONCE;

/// Most ranges of a part.
const RANGES: usize = 4096;

/// At most this many keys are sorted by insertion: the network takes as long for few keys as for all it holds.
const FEW: usize = 12;

/// Moves per key that insertion may take; beyond them all keys of the range have their higher bits in common.
const MOVES: usize = 8;

/// A sort of at most [`MOST`] elements.
pub trait Few<K: Key, V: Tuple> {
    /// The sort of what exceeds the network.
    type Else: InCache<K, V>;

    /// Sorts n > 0 elements by a non-empty field of their keys.
    unsafe fn sort_few(part: Part, field: Digits, counts: &mut Counts);
}

/// A sort of a part by ranges.
pub struct Ranges<F>(PhantomData<F>);

impl<K: Key, V: Tuple, F: Few<K, V>> InCache<K, V> for Ranges<F> {
    type Key = <F::Else as InCache<K, V>>::Key;
    type Value = <F::Else as InCache<K, V>>::Value;
    const BELOW: u32 = F::Else::BELOW;

    #[inline(always)]
    fn moved(key: K, value: V) -> (Self::Key, Self::Value) {
        F::Else::moved(key, value)
    }

    #[inline(always)]
    fn apart(key: Self::Key, value: Self::Value) -> Pair<K, V> {
        F::Else::apart(key, value)
    }

    fn freed(from: Place, n: usize) -> Place {
        F::Else::freed(from, n)
    }

    #[inline(always)]
    unsafe fn sort(part: Part, field: Digits, counts: &mut Counts) {
        let Part { from, room, to, n } = part;
        let ranges = n.div_ceil(AT_ONCE);
        unsafe {
            if n <= MOST {
                return sort_range::<F, K, V>(part, field, counts);
            }
            if ranges > RANGES || room.keys == to.keys || field.begin == field.end {
                return F::Else::sort(part, field, counts);
            }
            let high = High::of(field);
            let range =
                |key: Self::Key| ((high.bits(key.wide() >> Self::BELOW) * ranges as u64) >> 32) as usize;
            let mut room_for_ends = [const { MaybeUninit::<u32>::uninit() }; RANGES];
            room_for_ends[..ranges].fill(MaybeUninit::new(0));
            let ends = std::slice::from_raw_parts_mut(room_for_ends.as_mut_ptr().cast::<u32>(), ranges);
            for i in 0..n {
                *ends.get_unchecked_mut(range(from.key(i))) += 1;
            }
            let mut sum = 0;
            for end in &mut *ends {
                sum += std::mem::replace(end, sum);
            }
            for i in 0..n {
                let element: Pair<Self::Key, Self::Value> = from.take(i);
                let place = ends.get_unchecked_mut(range(element.key));
                element.put(room, *place as usize);
                *place += 1;
            }
            let mut begin = 0;
            for &mut end in ends {
                let [from, room] = [room, from].map(|place| place.further::<Self::Key, Self::Value>(begin));
                let part = Part { from, room, to: to.further::<K, V>(begin), n: end as usize - begin };
                sort_range::<F, K, V>(part, field, counts);
                begin = end as usize;
            }
        }
    }
}

/// Sorts elements, whose room may be as large as they are, in the network if they fit.
#[inline(always)]
unsafe fn sort_range<F: Few<K, V>, K: Key, V: Tuple>(part: Part, field: Digits, counts: &mut Counts) {
    let Part { from, to, n, .. } = part;
    unsafe {
        if n > MOST {
            F::Else::sort(part, field, counts);
        } else if n <= FEW || field.begin == field.end {
            for i in 0..n {
                let element: Pair<_, _> = from.take(i);
                F::Else::apart(element.key, element.value).put(to, i);
            }
            insert::<K, V>(to, n, field, usize::MAX);
        } else {
            F::sort_few(part, field, counts);
        }
    }
}

/// The highest 32 bits of a field, which has at least one.
#[derive(Clone, Copy)]
struct High {
    up: u32,
    mask: u64,
}

impl High {
    fn of(field: Digits) -> High {
        High { up: 64 - field.end, mask: u64::MAX << (64 - (field.end - field.begin)) }
    }

    /// These bits of a key; lower ones are zero if the field has fewer.
    #[inline(always)]
    fn bits(self, key: u64) -> u64 {
        (key << self.up & self.mask) >> 32
    }
}

/// Sorts whole keys of 32 bits, whose bits beyond the field are the same.
pub struct Whole;

impl Few<u32, None> for Whole {
    type Else = ByDigits;

    #[inline(always)]
    unsafe fn sort_few(part: Part, _: Digits, _: &mut Counts) {
        unsafe { network(part.from.keys.cast(), part.n, part.to.keys.cast()) };
    }
}

/// Sorts the highest 24 bits of the field, each above the 8 bits of its place, then moves each element once.
/// Elements that have these bits in common are in the order of their places, and few if keys are uniform: insertion puts them in
/// order. If there are many, the other sort begins again.
pub struct Places<E>(PhantomData<E>);

impl<K: Key, V: Tuple, E: InCache<K, V>> Few<K, V> for Places<E> {
    type Else = E;

    #[inline(always)]
    unsafe fn sort_few(part: Part, field: Digits, counts: &mut Counts) {
        let Part { from, to, n, .. } = part;
        let (high, keys) = (High::of(field), from.keys.cast::<E::Key>());
        let mut places = [0u32; MOST];
        unsafe {
            for (i, place) in places[..n].iter_mut().enumerate() {
                let key = (*keys.add(i)).wide() >> E::BELOW;
                *place = high.bits(key) as u32 & !0xFF | i as u32;
            }
            network(places.as_ptr(), n, places.as_mut_ptr());
            for (i, place) in places[..n].iter().enumerate() {
                let element: Pair<E::Key, E::Value> = from.take((place & 0xFF) as usize);
                E::apart(element.key, element.value).put(to, i);
            }
            let differ =
                places[..n].iter().zip(&places[1..n]).fold(u32::MAX, |least, (a, b)| least.min(a ^ b));
            if differ < 1 << 8 && field.end - field.begin > 24 && !insert::<K, V>(to, n, field, MOVES * n) {
                ByDigits::sort_all::<K, V>(Part { from: to, room: E::freed(from, n), to, n }, field, counts);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::in_cache::{ByRecords, no_counts};
    use super::*;
    use crate::inputs::mix::mix64;

    /// Keys with their places as values, sorted by the field; `to_key` and `to_value` make elements of words.
    fn sorted<C: InCache<K, V>, K: Key, V: Tuple>(
        words: &[u64],
        field: Digits,
        to_key: fn(u64) -> K,
        to_value: fn(u64) -> V,
    ) -> Vec<(u64, V)> {
        let (n, mut counts) = (words.len(), no_counts());
        let mut arrays: [Vec<u64>; 6] = std::array::from_fn(|_| vec![0; n + 1]);
        let places: Vec<Place> = arrays
            .chunks_mut(2)
            .map(|pair| Place { keys: pair[0].as_mut_ptr().cast(), values: pair[1].as_mut_ptr().cast() })
            .collect();
        let [from, room, to] = [places[0], places[1], places[2]];
        // SAFETY: the caller has asked for AVX-512, and all arrays have room for n elements of any type.
        unsafe {
            for (i, word) in words.iter().enumerate() {
                let (key, value) = C::moved(to_key(*word), to_value(i as u64));
                Pair { key, value }.put(from, i);
            }
            C::sort(Part { from, room, to, n }, field, &mut counts);
            (0..n).map(|i| to.take::<K, V>(i)).map(|pair| (pair.key.wide(), pair.value)).collect()
        }
    }

    /// Inputs that tell the ways apart: random ones, some with few values, and some with most bits in common.
    fn word(kind: u64, seed: u64, i: u64) -> u64 {
        let random = mix64(seed ^ i << 8);
        match kind {
            0 => random,
            1 => random % 5 * 0x0123_4567_89AB_CDEF,
            2 => random & 0xFF00_0000_0000_0FFF,
            3 => i << 40 | i,
            4 => (!i) << 20,
            5 => random & 0xFFFF,
            _ => 42,
        }
    }

    fn check(n: usize, kind: u64, seed: u64, begin: u32, end: u32) {
        if !is_x86_feature_detected!("avx512dq") {
            return;
        }
        let words: Vec<u64> = (0..n as u64).map(|i| word(kind, seed, i)).collect();
        let field = |width: u32| {
            let end = end.min(width);
            Digits { begin: begin.min(end), end, radix: 8 }
        };
        let wanted = |keys: &[u64], field: Digits| {
            let mut all: Vec<(u64, usize)> = keys.iter().copied().zip(0..).collect();
            all.sort_by_key(|(key, _)| field.field(*key));
            all
        };
        let narrow: Vec<u64> = words.iter().map(|word| word >> 32).collect();
        let (low, high) = (field(32), field(64));
        let found = sorted::<Ranges<Places<ByDigits>>, u64, u64>(&words, high, |word| word, |i| i);
        let found: Vec<_> = found.into_iter().map(|(key, i)| (key, i as usize)).collect();
        assert_eq!(found, wanted(&words, high), "{n} keys of kind {kind}");
        let found = sorted::<Ranges<Places<ByDigits>>, u32, u64>(&narrow, low, |word| word as u32, |i| i);
        let found: Vec<_> = found.into_iter().map(|(key, i)| (key, i as usize)).collect();
        assert_eq!(found, wanted(&narrow, low), "{n} keys of kind {kind}");
        let found =
            sorted::<Ranges<Places<ByRecords>>, u32, u32>(&narrow, low, |word| word as u32, |i| i as u32);
        let found: Vec<_> = found.into_iter().map(|(key, i)| (key, i as usize)).collect();
        assert_eq!(found, wanted(&narrow, low), "{n} records of kind {kind}");
        // Whole keys of 32 bits have the bits beyond the field in common.
        let (low, common) = (Digits { begin: 0, ..low }, 0xA5A5_A5A5u32.checked_shl(low.end).unwrap_or(0));
        let below: Vec<u64> = narrow.iter().map(|word| word & low.mask() | u64::from(common)).collect();
        let found = sorted::<Ranges<Whole>, u32, None>(&below, low, |word| word as u32, |_| None);
        let found: Vec<u64> = found.into_iter().map(|(key, _)| key).collect();
        let expected: Vec<u64> = wanted(&below, low).into_iter().map(|(key, _)| key).collect();
        assert_eq!(found, expected, "{n} whole keys of kind {kind}");
    }

    #[test]
    fn parts_of_any_size_are_sorted() {
        let sizes =
            [0, 1, 2, 11, 12, 13, 31, 32, 33, 127, 128, 129, 199, 200, 255, 256, 257, 511, 1000, 4095, 4097];
        for (n, kind) in sizes.into_iter().flat_map(|n| (0..7).map(move |kind| (n, kind))) {
            for (begin, end) in [(0, 64), (0, 53), (0, 32), (0, 21), (3, 29), (0, 5), (0, 0)] {
                check(n, kind, n as u64, begin, end);
            }
        }
    }

    proptest! {
        #[test]
        fn any_part_is_sorted(n in 0usize..3000, kind in 0u64..7, seed: u64, begin in 0u32..40, bits in 0u32..64) {
            check(n, kind, seed, begin, begin + bits);
        }
    }
}
