//! *lsd*: a stable split of all keys by each digit, the lowest first; *multisplit-lsd* by digits of the recipe's width
//! (ashkiani2017 §7.1) and *split-radix* of all keys by single bits (sengupta2007 §5) are the same.
//!
//! Keys are read once to count all digits. Then each digit that differs between keys takes a pass, which reads keys
//! once more for its counts (but for the first), and reads and writes keys and values once.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::ops::Range;

use super::{Digit, Digits, Key, Place, Sort, digits};
use crate::device::cpu::simd::Lanes;
use crate::device::cpu::{Worker, fence, part};
use crate::primitives::cpu::combine::{self, begin};
use crate::primitives::cpu::tuple::Tuple;

/// A worker's share of a sort, as [`Run`](super::Run). Among the keys that are counted first, later passes divide
/// those that were moved.
#[inline(always)]
pub unsafe fn run<S: Lanes<u64>, K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
    let digits = digits(&sort.spec);
    let (pieces, source) = (sort.pieces(worker), sort.source::<K, V>());
    unsafe {
        count_all::<K>(sort, worker.index, digits, &pieces, source);
        worker.meet();
        let (varying, keys) = varying(sort, digits);
        let (count, mut from) = (varying.count_ones(), source);
        for place in 0..count {
            let d = nth(varying, place);
            let to = if (count - place) % 2 == 1 { sort.output.place() } else { sort.between.place() };
            let mine = [part(keys, worker.index, worker.count), 0..0];
            let (given, counted) = if place == 0 { (&pieces, true) } else { (&mine, false) };
            split::<S, K, V>(sort, &worker, (d, digits.digit(d)), (from, to), given, counted);
            from = to;
        }
    }
}

/// Counts all digits of a worker's keys.
#[inline(always)]
unsafe fn count_all<K: Key>(sort: &Sort, index: usize, digits: Digits, pieces: &[Range<usize>], from: Place) {
    let (keys, counts) = (from.keys.cast::<K>(), sort.counts[index].ptr::<u64>());
    let (all, count) = (sort.counts[index].holds::<u64>(), digits.count() as usize);
    let stride = all / count;
    unsafe {
        counts.write_bytes(0, all);
        for i in pieces.iter().cloned().flatten() {
            let key = K::take(keys.add(i)).wide();
            for (d, digit) in digits.all().enumerate() {
                *counts.add(d * stride + digit.of(key)) += 1;
            }
        }
    }
}

/// The digits that differ between keys, as bits, and the number of keys; the lowest digit if none differs.
unsafe fn varying(sort: &Sort, digits: Digits) -> (u64, usize) {
    let stride = sort.counts[0].holds::<u64>() / digits.count() as usize;
    let total = |d: u32, value: usize| {
        sort.counts
            .iter()
            .map(|counts| unsafe { *counts.ptr::<u64>().add(d as usize * stride + value) })
            .sum::<u64>()
    };
    let keys: u64 = (0..digits.digit(0).values()).map(|value| total(0, value)).sum();
    let differs = |d: &u32| (0..digits.digit(*d).values()).all(|value| total(*d, value) != keys);
    let bits = (0..digits.count()).filter(differs).fold(0u64, |bits, d| bits | 1 << d);
    (if bits == 0 { 1 } else { bits }, keys as usize)
}

/// The place of the n-th bit that is set.
fn nth(mut bits: u64, n: u32) -> u32 {
    (0..n).for_each(|_| bits &= bits - 1);
    bits.trailing_zeros()
}

/// Splits all keys by a digit; the worker moves the keys of `pieces`, which were `counted` if these are the first.
#[inline(always)]
unsafe fn split<S: Lanes<u64>, K: Key, V: Tuple>(
    sort: &Sort,
    worker: &Worker,
    (d, digit): (u32, Digit),
    (from, to): (Place, Place),
    pieces: &[Range<usize>],
    counted: bool,
) {
    let (own, values) = (&sort.own[worker.index], digit.values());
    let mut part = sort.part(own, values, from, to);
    unsafe {
        let counts = own.counts.ptr::<u64>();
        if counted {
            let all = &sort.counts[worker.index];
            let stride = all.holds::<u64>() / digits(&sort.spec).count() as usize;
            counts.copy_from_nonoverlapping(all.ptr::<u64>().add(d as usize * stride), values);
        } else {
            counts.write_bytes(0, values);
            for piece in pieces {
                part.range = piece.clone();
                combine::count::<K>(&digit, &part);
            }
        }
        worker.meet();
        begin(&sort.own, worker.index, values);
        part.next = own.next.ptr();
        for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
            part.range = piece.clone();
            combine::sort::<S, V, K>(&digit, &part);
        }
    }
    fence();
    worker.meet();
}
