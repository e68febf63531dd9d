//! A split of all keys by the highest digit, and sorts of the parts by one worker each, in its cache.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::{Digit, Digits, Key, Place, Sort, lsd};
use crate::device::cpu::simd::Lanes;
use crate::device::cpu::{Worker, fence};
use crate::primitives::cpu::combine::{self, begin};
use crate::primitives::cpu::tuple::Tuple;

/// At most this many keys of a part are sorted by insertion.
const FEW: usize = 32;

/// Values of a digit within a part, and digits at most.
const VALUES: usize = 256;
const MOST: usize = 8;

/// A worker's share of a sort, as [`Run`](super::Run). If one value has so many of the keys that other workers would
/// wait for the one that sorts them, all of them sort by the lowest digit first instead.
pub unsafe fn run<S: Lanes<u64>, K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
    let (high, own) = (sort.spec.high_digit(), &sort.own[worker.index]);
    let (pieces, source) = (sort.pieces(worker), sort.source::<K, V>());
    let rest = Digits { end: high.shift, ..sort.spec.digits(8) };
    // With an odd number of further passes, the parts end in the output.
    let middle = if rest.count() % 2 == 1 { &sort.between } else { &sort.output }.place();
    let mut part = sort.part(own, high.values(), source, middle);
    unsafe {
        own.counts.ptr::<u64>().write_bytes(0, high.values());
        for piece in &pieces {
            part.range = piece.clone();
            combine::count::<K>(&high, &part);
        }
        if worker.index == 0 {
            sort.next.store(0, Ordering::Relaxed);
        }
        worker.meet();
        let parts = Parts { sort, values: high.values() };
        if parts.largest() * worker.count > parts.keys() && worker.count > 1 {
            worker.meet();
            return lsd::run::<S, K, V>(sort, worker);
        }
        begin(&sort.own, worker.index, high.values());
        part.next = own.next.ptr();
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            part.range = piece;
            combine::sort::<S, V, K>(&high, &part);
        }
        fence();
        worker.meet();
        parts.sort_all::<K, V>(&worker, rest, middle);
    }
}

/// The parts of a split by the highest digit.
struct Parts<'a> {
    sort: &'a Sort,
    values: usize,
}

impl Parts<'_> {
    /// Keys of one value of the digit.
    unsafe fn count(&self, value: usize) -> usize {
        self.sort.own.iter().map(|own| unsafe { *own.counts.ptr::<u64>().add(value) as usize }).sum()
    }

    unsafe fn largest(&self) -> usize {
        (0..self.values).map(|value| unsafe { self.count(value) }).max().unwrap_or(0)
    }

    unsafe fn keys(&self) -> usize {
        (0..self.values).map(|value| unsafe { self.count(value) }).sum()
    }

    /// Sorts the parts that this worker takes.
    #[inline(always)]
    unsafe fn sort_all<K: Key, V: Tuple>(&self, worker: &Worker, rest: Digits, middle: Place) {
        let (mut value, mut start) = (0, 0);
        let output = self.sort.output.place();
        let other = if middle.keys == output.keys { self.sort.between.place() } else { output };
        loop {
            let taken = self.sort.next.fetch_add(1, Ordering::Relaxed);
            if taken >= self.values {
                break;
            }
            unsafe {
                while value < taken {
                    start += self.count(value);
                    value += 1;
                }
                let part = Part {
                    from: middle.further::<K, V>(start),
                    other: other.further::<K, V>(start),
                    n: self.count(value),
                };
                part.sort::<K, V>(rest, output.further::<K, V>(start));
            }
        }
        worker.meet();
    }
}

/// Keys that one worker sorts, and room for as many.
pub struct Part {
    pub from: Place,
    pub other: Place,
    pub n: usize,
}

impl Part {
    /// Sorts the keys by the digits, into the output, which is `from` or `other`.
    #[inline(always)]
    pub unsafe fn sort<K: Key, V: Tuple>(self, digits: Digits, output: Place) {
        let mut counts = [[0u32; VALUES]; MOST];
        let (mut from, mut to) = (self.from, self.other);
        unsafe {
            if self.n <= FEW {
                insert::<K, V>(from, self.n, digits);
            } else {
                count::<K>(from, self.n, digits, &mut counts);
                for (d, digit) in digits.all().enumerate() {
                    if counts[d].contains(&(self.n as u32)) {
                        continue;
                    }
                    scatter::<K, V>((from, to), self.n, digit, &mut counts[d]);
                    (from, to) = (to, from);
                }
            }
            if from.keys != output.keys {
                copy::<K, V>(from, output, 0..self.n);
            }
        }
    }
}

/// Counts all digits.
#[inline(always)]
unsafe fn count<K: Key>(from: Place, n: usize, digits: Digits, counts: &mut [[u32; VALUES]; MOST]) {
    let keys = from.keys.cast::<K>();
    for i in 0..n {
        let key = unsafe { K::take(keys.add(i)) }.wide();
        for (counts, digit) in counts.iter_mut().zip(digits.all()) {
            counts[digit.of(key)] += 1;
        }
    }
}

/// Moves all keys to the places of their digit; `next` has the counts of its values, and then their next places.
#[inline(always)]
unsafe fn scatter<K: Key, V: Tuple>(
    (from, to): (Place, Place),
    n: usize,
    digit: Digit,
    next: &mut [u32; VALUES],
) {
    let mut sum = 0;
    for count in next.iter_mut() {
        sum += std::mem::replace(count, sum);
    }
    let (keys, values) = (from.keys.cast::<K>(), from.values.cast::<V>());
    let (to_keys, to_values) = (to.keys.cast::<K>(), to.values.cast::<V>());
    for i in 0..n {
        unsafe {
            let key = K::take(keys.add(i));
            let place = next.get_unchecked_mut(digit.of(key.wide()));
            key.put(to_keys.add(*place as usize));
            V::take(values.add(i)).put(to_values.add(*place as usize));
            *place += 1;
        }
    }
}

/// Sorts a few keys where they are, stably.
#[inline(always)]
unsafe fn insert<K: Key, V: Tuple>(at: Place, n: usize, digits: Digits) {
    let (keys, values) = (at.keys.cast::<K>(), at.values.cast::<V>());
    for i in 1..n {
        unsafe {
            let (key, value) = (K::take(keys.add(i)), V::take(values.add(i)));
            let mut hole = i;
            while hole > 0 && digits.field(K::take(keys.add(hole - 1)).wide()) > digits.field(key.wide()) {
                K::take(keys.add(hole - 1)).put(keys.add(hole));
                V::take(values.add(hole - 1)).put(values.add(hole));
                hole -= 1;
            }
            key.put(keys.add(hole));
            value.put(values.add(hole));
        }
    }
}

/// Copies keys and values.
#[inline(always)]
unsafe fn copy<K: Key, V: Tuple>(from: Place, to: Place, range: Range<usize>) {
    unsafe {
        to.keys.copy_from_nonoverlapping(from.keys, range.len() * size_of::<K>());
        to.values.copy_from_nonoverlapping(from.values, range.len() * size_of::<V>());
    }
}
