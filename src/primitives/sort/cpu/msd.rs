//! A split of all keys by the highest digit, and sorts of the parts by one worker each, in its cache: [`ByDigits`], or
//! for keys alone of 32 bits [`ByNetworks`](super::network::ByNetworks).

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::sync::atomic::Ordering;

use super::{Digit, Digits, Key, Pairs, Place, Sort, Spec, lsd};
use crate::device::cpu::simd::Lanes;
use crate::device::cpu::{Worker, fence};
use crate::primitives::cpu::combine::{self, begin};
use crate::primitives::cpu::tuple::Tuple;

/// At most this many keys are sorted by insertion.
pub const FEW: usize = 32;

/// Most bits of a digit within a part, its values, and most digits.
const RADIX: u32 = 9;
const VALUES: usize = 1 << RADIX;
const MOST: usize = 8;

/// After a sort of n keys by their highest log2(n) + this many bits, few uniform keys are out of order.
const MARGIN: u32 = 2;

/// Moves per key that insertion may take; beyond them another pass per digit takes less time.
const MOVES: usize = 8;

/// Most bytes of a worker's room.
const MOST_ROOM: u64 = 4 << 20;

/// A sort of a part in a worker's cache.
pub trait InCache<K: Key, V: Tuple> {
    /// Sorts the part by a field of its keys, stably where there are values.
    unsafe fn sort(part: Part, field: Digits);
}

/// A worker's share of a sort, as [`Run`](super::Run). If one value has so many of the keys that other workers would
/// wait for the one that sorts them, all of them sort by the lowest digit first instead.
#[inline(always)]
pub unsafe fn run<S: Lanes<u64>, C: InCache<K, V>, K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
    let (high, own) = (sort.spec.high_digit(), &sort.own[worker.index]);
    let (pieces, source) = (sort.pieces(worker), sort.source::<K, V>());
    let rest = Digits { end: high.shift, ..sort.spec.digits(8) };
    let mut part = sort.part(own, high.values(), source, sort.between.place());
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
        let (largest, keys) = parts.largest_and_all();
        if largest * worker.count > keys && worker.count > 1 {
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
        parts.sort_all::<C, K, V>(rest, &sort.rooms[worker.index]);
    }
}

/// Keys for which a worker has room: twice as many as parts of uniform keys have, but no more than caches hold.
pub fn room(spec: &Spec) -> u64 {
    let part = spec.keys >> spec.high_digit().bits;
    (2 * part + FEW as u64).min(MOST_ROOM / (spec.key_bytes() + spec.value()))
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

    /// Keys of the largest part, and of all of them.
    unsafe fn largest_and_all(&self) -> (usize, usize) {
        let counts = (0..self.values).map(|value| unsafe { self.count(value) });
        counts.fold((0, 0), |(largest, all), count| (largest.max(count), all + count))
    }

    /// Sorts the parts that this worker takes.
    #[inline(always)]
    unsafe fn sort_all<C: InCache<K, V>, K: Key, V: Tuple>(&self, rest: Digits, room: &Pairs) {
        let (between, output) = (self.sort.between.place(), self.sort.output.place());
        let (mut value, mut start, mut n) = (0, 0, 0);
        loop {
            let taken = self.sort.next.fetch_add(1, Ordering::Relaxed);
            if taken >= self.values {
                break;
            }
            unsafe {
                while value <= taken {
                    start += n;
                    n = self.count(value);
                    value += 1;
                }
                let to = output.further::<K, V>(start);
                let room = if n <= room.keys.holds::<K>() { room.place() } else { to };
                C::sort(Part { from: between.further::<K, V>(start), room, to, n }, rest);
            }
        }
    }
}

/// Keys that one worker sorts.
#[derive(Clone, Copy)]
pub struct Part {
    pub from: Place,
    /// Room for as many keys: in the worker's cache or, for a part that exceeds it, the destination.
    pub room: Place,
    /// The destination, which may also be where the keys are.
    pub to: Place,
    pub n: usize,
}

/// By as many of the highest bits as tell most keys apart, digit by digit, the lowest first, and then by insertion. If
/// that takes long, since many keys have these bits in common, by all digits.
pub struct ByDigits;

impl<K: Key, V: Tuple> InCache<K, V> for ByDigits {
    #[inline(always)]
    unsafe fn sort(part: Part, field: Digits) {
        let highest = field.highest(part.n.max(1).ilog2() + MARGIN);
        unsafe {
            if part.n <= FEW {
                if part.from.keys != part.to.keys {
                    copy::<K, V>(part.from, part.to, part.n);
                }
                insert::<K, V>(part.to, part.n, field, usize::MAX);
                return;
            }
            part.sort_by_digits::<K, V>(highest);
            if highest.begin > field.begin && !insert::<K, V>(part.to, part.n, field, MOVES * part.n) {
                let room = if part.room.keys == part.to.keys { part.from } else { part.room };
                Part { from: part.to, room, ..part }.sort_by_digits::<K, V>(field);
            }
        }
    }
}

impl Digits {
    /// The highest `bits` bits of the field, in digits of even length; the field if it has no more.
    fn highest(self, bits: u32) -> Digits {
        let bits = bits.min(self.end - self.begin).max(1);
        let begin = self.end.saturating_sub(bits).max(self.begin);
        Digits { begin, end: self.end, radix: bits.div_ceil(bits.div_ceil(RADIX)) }
    }
}

impl Part {
    /// Sorts the keys by each digit that differs between them, the lowest first. Passes write to the room and back; the
    /// last one writes to the destination.
    #[inline(always)]
    unsafe fn sort_by_digits<K: Key, V: Tuple>(self, digits: Digits) {
        let mut counts = [[0u32; VALUES]; MOST];
        let Part { from, room, to, n } = self;
        let mut at = from;
        unsafe {
            count::<K>(from, n, digits, &mut counts);
            let differs = |d: &u32| !counts[*d as usize].contains(&(n as u32));
            let mut left = (0..digits.count()).filter(differs).fold(0u32, |bits, d| bits | 1 << d);
            while left != 0 {
                let d = left.trailing_zeros();
                left &= left - 1;
                let next = match at.keys {
                    keys if left == 0 && keys != to.keys => to,
                    keys if keys == from.keys => room,
                    _ => from,
                };
                scatter::<K, V>((at, next), n, digits.digit(d), &mut counts[d as usize]);
                at = next;
            }
            if at.keys != to.keys {
                copy::<K, V>(at, to, n);
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

/// Sorts keys where they are, stably; false if that takes more than `most` moves, and the keys are then in some stable
/// order between.
#[inline(always)]
pub unsafe fn insert<K: Key, V: Tuple>(at: Place, n: usize, field: Digits, most: usize) -> bool {
    let (keys, values) = (at.keys.cast::<K>(), at.values.cast::<V>());
    let mut left = most;
    for i in 1..n {
        unsafe {
            let (key, value) = (K::take(keys.add(i)), V::take(values.add(i)));
            let of = field.field(key.wide());
            let mut hole = i;
            while hole > 0 && field.field(K::take(keys.add(hole - 1)).wide()) > of {
                K::take(keys.add(hole - 1)).put(keys.add(hole));
                V::take(values.add(hole - 1)).put(values.add(hole));
                hole -= 1;
            }
            if hole < i {
                key.put(keys.add(hole));
                value.put(values.add(hole));
                let moves = i - hole;
                if moves > left {
                    return false;
                }
                left -= moves;
            }
        }
    }
    true
}

/// Copies keys and values.
#[inline(always)]
unsafe fn copy<K: Key, V: Tuple>(from: Place, to: Place, n: usize) {
    unsafe {
        to.keys.copy_from_nonoverlapping(from.keys, n * size_of::<K>());
        to.values.copy_from_nonoverlapping(from.values, n * size_of::<V>());
    }
}
