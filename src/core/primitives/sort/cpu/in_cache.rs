//! Sorts of a part of the keys by one worker, in its cache: [`ByDigits`], for keys and values of 32 bits [`ByRecords`], and
//! with AVX-512 those by networks ([`Ranges`](super::ranges::Ranges)).

#![expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]

use crate::primitives::cpu::tuple::None;
use crate::primitives::sort::cpu::prelude::*;

/// At most this many keys are sorted by insertion.
pub const FEW: usize = 32;

/// Most bits of a digit within a part, its values, and most digits.
const RADIX: u32 = 11;
const VALUES: usize = 1 << RADIX;
const MOST: usize = 8;

/// Counts of the digits of a part. A worker has one for all its parts: only the values that digits have are cleared.
pub type Counts = [[u32; VALUES]; MOST];
pub const fn no_counts() -> Counts {
    [[0; VALUES]; MOST]
}

/// After a sort of n keys by their highest log2(n) + this many bits, few uniform keys are out of order.
const MARGIN: u32 = 4;

/// Moves per key that insertion may take; beyond them another pass per digit takes less time.
const MOVES: usize = 8;

/// A sort of a part in a worker's cache.
pub trait InCache<K: Key, V: Tuple> {
    /// An element that the split moves: keys and values, or records of both.
    type Key: Key;
    type Value: Tuple;
    /// Bits of a record below its key.
    const BELOW: u32;

    /// The element of a key and its value.
    fn moved(key: K, value: V) -> (Self::Key, Self::Value);

    /// The key and the value of an element.
    fn apart(key: Self::Key, value: Self::Value) -> Pair<K, V>;

    /// Room for n keys and their values where n elements have been.
    fn freed(from: Place, n: usize) -> Place;

    /// Sorts the part, which the split has moved, by a field of its keys, stably where there are values.
    unsafe fn sort(part: Part, field: Digits, counts: &mut Counts);
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
    type Key = K;
    type Value = V;
    const BELOW: u32 = 0;

    #[inline(always)]
    fn moved(key: K, value: V) -> (K, V) {
        (key, value)
    }

    #[inline(always)]
    fn apart(key: K, value: V) -> Pair<K, V> {
        Pair { key, value }
    }

    fn freed(from: Place, _: usize) -> Place {
        from
    }

    #[inline(always)]
    unsafe fn sort(part: Part, field: Digits, counts: &mut Counts) {
        let Part { from, room, to, n } = part;
        let highest = field.highest(n);
        unsafe {
            if n <= FEW {
                if from.keys != to.keys {
                    copy::<K, V>(from, to, n);
                }
                insert::<K, V>(to, n, field, usize::MAX);
                return;
            }
            part.sort_by_digits::<K, V>(highest, counts);
            if highest.begin > field.begin && !insert::<K, V>(to, n, field, MOVES * n) {
                let room = if room.keys == to.keys { from } else { room };
                Part { from: to, room, to, n }.sort_by_digits::<K, V>(field, counts);
            }
        }
    }
}

/// As [`ByDigits`], in records of 64 bits whose higher half is the key. A record moves at once, from and to half as many
/// places; the last pass takes them apart.
pub struct ByRecords;

impl InCache<u32, u32> for ByRecords {
    type Key = u64;
    type Value = None;
    const BELOW: u32 = 32;

    #[inline(always)]
    fn moved(key: u32, value: u32) -> (u64, None) {
        (u64::from(key) << 32 | u64::from(value), None)
    }

    #[inline(always)]
    fn apart(record: u64, _: None) -> Pair<u32, u32> {
        Pair { key: (record >> 32) as u32, value: record as u32 }
    }

    fn freed(from: Place, n: usize) -> Place {
        Place { values: from.keys.wrapping_add(4 * n), ..from }
    }

    #[inline(always)]
    unsafe fn sort(part: Part, field: Digits, counts: &mut Counts) {
        let Part { from, room, to, n } = part;
        let highest = field.highest(n);
        unsafe {
            // A part that exceeds the room for records is taken apart before it is sorted.
            let sorted = if n <= FEW {
                take_apart(from, to, n);
                insert::<u32, u32>(to, n, field, usize::MAX)
            } else if room.keys == to.keys {
                take_apart(from, to, n);
                false
            } else {
                part.sort_records(highest, counts);
                highest.begin == field.begin || insert::<u32, u32>(to, n, field, MOVES * n)
            };
            if !sorted {
                let room = Self::freed(from, n);
                Part { from: to, room, to, n }.sort_by_digits::<u32, u32>(field, counts);
            }
        }
    }
}

impl ByDigits {
    /// Sorts a part by all digits of the field.
    pub unsafe fn sort_all<K: Key, V: Tuple>(part: Part, field: Digits, counts: &mut Counts) {
        unsafe { part.sort_by_digits::<K, V>(field, counts) };
    }
}

impl Digits {
    /// The highest bits of the field, in digits of even length, which tell most of n keys apart; the field if it has no
    /// more.
    fn highest(self, n: usize) -> Digits {
        let bits = (n.max(1).ilog2() + MARGIN).min(self.end - self.begin).max(1);
        let begin = self.end.saturating_sub(bits).max(self.begin);
        Digits { begin, end: self.end, radix: bits.div_ceil(bits.div_ceil(RADIX)) }
    }
}

impl Part {
    /// Sorts the keys by each digit that differs between them, the lowest first. Passes write to the room and to where the keys
    /// are by turns; the last one writes to the destination.
    #[inline(always)]
    unsafe fn sort_by_digits<K: Key, V: Tuple>(self, digits: Digits, counts: &mut Counts) {
        let Part { from, room, to, n } = self;
        let mut at = from;
        unsafe {
            let differing = count(n, digits, counts, |i| from.key::<K>(i).wide());
            for (d, last) in differing {
                let next = match at.keys {
                    keys if last && keys != to.keys => to,
                    keys if keys == from.keys => room,
                    _ => from,
                };
                scatter(n, digits.digit(d), &mut counts[d as usize], |i| {
                    let pair: Pair<K, V> = at.take(i);
                    (pair.key.wide(), move |place| pair.put(next, place))
                });
                at = next;
            }
            if at.keys != to.keys {
                copy::<K, V>(at, to, n);
            }
        }
    }

    /// The same of records, which the last pass takes apart.
    #[inline(always)]
    unsafe fn sort_records(self, digits: Digits, counts: &mut Counts) {
        let Part { from, room, to, n } = self;
        let [mut at, mut next] = [from, room].map(|place| place.keys.cast::<u64>());
        unsafe {
            let differing = count(n, digits, counts, |i| *at.add(i) >> 32);
            if differing.0 == 0 {
                take_apart(from, to, n);
            }
            for (d, last) in differing {
                let (digit, counts) = (digits.digit(d), &mut counts[d as usize]);
                let record = |i| u64::take(at.add(i));
                if last {
                    scatter(n, digit, counts, |i| {
                        let record = record(i);
                        (record >> 32, move |place| pair_of(record).put(to, place))
                    });
                } else {
                    scatter(n, digit, counts, |i| {
                        let record = record(i);
                        (record >> 32, move |place| record.put(next.add(place)))
                    });
                    (at, next) = (next, at);
                }
            }
        }
    }
}

fn pair_of(record: u64) -> Pair<u32, u32> {
    ByRecords::apart(record, None)
}

/// Writes the keys and values of records.
#[inline(always)]
unsafe fn take_apart(from: Place, to: Place, n: usize) {
    for i in 0..n {
        unsafe { pair_of(u64::take(from.keys.cast::<u64>().add(i))).put(to, i) }
    }
}

/// Counts all digits of n keys; the digits that differ between keys, the lowest first, and which of them is the last.
#[inline(always)]
unsafe fn count(n: usize, digits: Digits, counts: &mut Counts, key: impl Fn(usize) -> u64) -> Differing {
    for (counts, digit) in counts.iter_mut().zip(digits.all()) {
        counts[..digit.values()].fill(0);
    }
    unsafe {
        match digits.count() {
            1 => tally::<1>(n, digits, counts, &key),
            2 => tally::<2>(n, digits, counts, &key),
            3 => tally::<3>(n, digits, counts, &key),
            _ => tally::<MOST>(n, digits, counts, &key),
        }
    }
    let same = |d: u32| counts[d as usize][..digits.digit(d).values()].contains(&(n as u32));
    let bits = (0..digits.count()).filter(|&d| !same(d)).fold(0u32, |bits, d| bits | 1 << d);
    Differing(bits)
}

/// Adds n keys to the counts of all their digits, of which there are at most `MOST_DIGITS`, and exactly so many if it is less
/// than [`MOST`].
#[inline(always)]
unsafe fn tally<const MOST_DIGITS: usize>(
    n: usize,
    digits: Digits,
    counts: &mut Counts,
    key: &impl Fn(usize) -> u64,
) {
    let count = digits.count() as usize;
    let all: [Digit; MOST_DIGITS] = std::array::from_fn(|d| digits.digit(d.min(count.max(1) - 1) as u32));
    for i in 0..n {
        let key = key(i);
        for (d, digit) in all.iter().enumerate() {
            if MOST_DIGITS < MOST || d < count {
                unsafe { *counts[d].get_unchecked_mut(digit.of(key)) += 1 };
            }
        }
    }
}

/// Digits, as bits: an iterator over them, the lowest first, and whether each is the last.
struct Differing(u32);

impl Iterator for Differing {
    type Item = (u32, bool);

    fn next(&mut self) -> Option<(u32, bool)> {
        let d = (self.0 != 0).then(|| self.0.trailing_zeros())?;
        self.0 &= self.0 - 1;
        Some((d, self.0 == 0))
    }
}

/// Moves all keys, as `take` gives them, to the places of their digit; `next` has the counts of its values, and then
/// their next places.
#[inline(always)]
unsafe fn scatter<P: FnOnce(usize)>(
    n: usize,
    digit: Digit,
    next: &mut [u32; VALUES],
    take: impl Fn(usize) -> (u64, P),
) {
    let mut sum = 0;
    for count in &mut next[..digit.values()] {
        sum += std::mem::replace(count, sum);
    }
    for i in 0..n {
        let (key, put) = take(i);
        let place = unsafe { next.get_unchecked_mut(digit.of(key)) };
        put(*place as usize);
        *place += 1;
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
