//! A split of all keys by their highest digit; then each worker sorts parts in its cache, one after another. Writes of the split
//! are combined, unless the workers' caches hold keys and values. Where a large part has more keys than a worker's share, all
//! sort as `lsd`. Few keys are sorted by one worker, without a split. CPUs only.
//!
//! Keys are read three times, to count, to split and to sort, and values twice; either are written twice, if the parts fit
//! in caches. Few keys are read and written once: what lies between is in a cache.

use crate::case::work::Order;
use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::keys::{AT_ONCE, DIGIT_BITS, Digit, Digits};
use crate::primitives::sort::work::{by_way_of_arrays, combined, moved, read_keys};

/// Bytes of a small L2 cache.
const L2: u64 = 1 << 19;

/// Most bits of the highest digit: writes can be combined for so many parts.
const MOST_BITS: u32 = 11;

/// Keys that one worker sorts in its first-level cache in the time in which others would get their part of them.
const ALONE: u64 = 1 << 10;

/// A count and a split by the highest digit; then every part is read, and written once it is sorted. The writes of the split
/// are declared as combined, since whether caches hold all keys and values depends on the processor.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let sorted = moved(spec, Order::Sequential);
    if spec.keys <= ALONE {
        return by_way_of_arrays(spec, vec![sorted]);
    }
    let split = moved(spec, combined(high_digit(spec).values() as u64));
    by_way_of_arrays(spec, vec![read_keys(spec), split, sorted])
}

/// The highest digit, by which msd splits all keys: into parts of about 200 keys, if 2^11 suffice; more keys into so many that
/// one of them and its copy fit in an L2 cache, if keys are uniform.
fn high_digit(spec: &Spec) -> Digit {
    let Digits { begin, end, .. } = spec.digits(DIGIT_BITS);
    let bits_of = |parts: u64| parts.next_power_of_two().ilog2();
    let bits = match bits_of(spec.keys.div_ceil(AT_ONCE as u64)) {
        bits @ ..=MOST_BITS => bits.max(1),
        _ => bits_of((2 * spec.bytes()).div_ceil(L2)).clamp(8, MOST_BITS),
    };
    let bits = bits.min(end - begin);
    Digit { shift: end - bits, bits }
}

#[expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]
pub mod cpu {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::super::lsd::cpu::{self as lsd, Splits};
    use super::{ALONE, Spec, high_digit};
    use crate::device::cpu::simd::{Lanes, Scalar};
    use crate::primitives::cpu::tuple::None;
    use crate::primitives::cpu::write_combining::{self, WorkerTables, begin};
    use crate::primitives::sort::cpu::in_cache::{ByDigits, ByRecords, Counts, FEW, InCache, Part};
    use crate::primitives::sort::cpu::prelude::*;
    #[cfg(target_arch = "x86_64")]
    use crate::primitives::sort::cpu::ranges::{Places, Ranges, Whole};

    /// About how often a worker takes parts: seldom, since all of them wait for one counter, and often enough for equal shares.
    const TAKES: usize = 16;

    /// Keys that one worker sorts sooner than all of them sort by digits.
    const SOON: usize = 1 << 14;

    /// Most bytes of a worker's room.
    const MOST_ROOM: u64 = 4 << 20;

    /// The arrays of the workers, and how far they are.
    struct Own {
        high: Digit,
        /// The tables for the highest digit, and for those of `lsd`.
        splits: Splits,
        /// Per worker: room in its cache for a part.
        rooms: Vec<Room>,
        /// Per worker: the counts of the digits of a part.
        counts: Vec<Buffer>,
        /// The next part that a worker takes.
        next: AtomicUsize,
        /// Parts that a worker takes at a time.
        per_take: usize,
        /// True if one worker sorts all keys.
        alone: bool,
        /// True if caches hold the keys and values that the split reads and writes.
        cached: bool,
    }

    pub fn method(made: &Made) -> Result<PoolMethod<Sort>, Failure> {
        let (spec, high, digits) = (made.spec, high_digit(made.spec), made.spec.digits(DIGIT_BITS));
        let own = Own {
            high,
            splits: Splits::new(made, digits, digits.digit(0).values().max(high.values()))?,
            rooms: made.each(|| Room::new(spec, room(spec)))?,
            counts: made.each(|| Buffer::new(size_of::<Counts>()))?,
            next: AtomicUsize::new(0),
            per_take: (high.values() / (TAKES * made.workers)).max(1),
            alone: spec.keys <= ALONE,
            cached: 2 * spec.bytes() <= made.caches,
        };
        let run: Run<Own> = match (spec.sizes(), made.isa) {
            #[cfg(target_arch = "x86_64")]
            ([4, 0], Isa::Avx512) if !digits.is_field(32) => avx512::msd::<Ranges<Whole>, u32, None>,
            #[cfg(target_arch = "x86_64")]
            ([4, 4], Isa::Avx512) => avx512::msd::<Ranges<Places<ByRecords>>, u32, u32>,
            ([4, 4], _) => run::<Scalar, ByRecords, u32, u32>,
            _ => by_types!(spec, |K, V| match made.isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => avx512::msd::<Ranges<Places<ByDigits>>, K, V>,
                _ => run::<Scalar, ByDigits, K, V>,
            }),
        };
        // SAFETY: the pool's workers all execute, and `run` is for an instruction set that is present.
        Ok(Box::new(move |sort, worker| unsafe { run(&own, sort, worker) }))
    }

    #[cfg(target_arch = "x86_64")]
    mod avx512 {
        use super::{InCache, Key, Own, Sort, Tuple, Worker, run};
        use crate::device::cpu::simd::Avx512;

        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt,bmi2")]
        pub unsafe fn msd<C: InCache<K, V>, K: Key, V: Tuple>(own: &Own, sort: &Sort, worker: Worker) {
            unsafe { run::<Avx512, C, K, V>(own, sort, worker) }
        }
    }

    /// Keys for which a worker has room: twice as many as parts of uniform keys have, but no more than caches hold.
    fn room(spec: &Spec) -> u64 {
        let part = spec.keys >> high_digit(spec).bits;
        (2 * part + FEW as u64).max(ALONE).min(MOST_ROOM / spec.sizes().iter().sum::<u64>())
    }

    /// A worker's share of a sort, as [`Run`]. If one value has so many of the keys that other workers would
    /// wait for the one that sorts them, all of them sort by the lowest digit first instead.
    #[inline(always)]
    unsafe fn run<S: Lanes<u64>, C: InCache<K, V>, K: Key, V: Tuple>(own: &Own, sort: &Sort, worker: Worker) {
        if own.alone {
            if worker.index == 0 {
                unsafe { own.sort_alone::<C, K, V>(sort, worker) };
            }
            return;
        }
        let (high, splits, tables) = (own.high, &own.splits, &own.splits.own[worker.index]);
        let (pieces, source) = (sort.pieces(worker), sort.source::<K, V>());
        let rest = Digits { end: high.shift, ..sort.spec.digits(8) };
        let mut part = splits.part(worker.index, high.values(), source, sort.between.place());
        unsafe {
            tables.counts.ptr::<u64>().write_bytes(0, high.values());
            for piece in &pieces {
                part.range = piece.clone();
                write_combining::count::<K>(&high, &part);
            }
            if worker.index == 0 {
                own.next.store(0, Ordering::Relaxed);
            }
            worker.meet();
            let (largest, keys) = own.largest_and_all();
            if largest * worker.count > keys && largest > SOON && worker.count > 1 {
                worker.meet();
                return lsd::run::<S, K, V>(splits, sort, worker);
            }
            begin(&splits.own, worker.index, high.values());
            part.next = tables.next.ptr();
            let digit = Digit { shift: high.shift + C::BELOW, ..high };
            let moved = move |i| {
                let Pair { key, value } = source.take::<K, V>(i);
                C::moved(key, value)
            };
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                part.range = piece;
                if own.cached {
                    write_combining::sort_in_cache::<C::Value, C::Key>(digit, &part, moved);
                } else {
                    write_combining::sort_as::<S, C::Value, C::Key>(&digit, &part, moved);
                }
            }
            fence();
            worker.meet();
            own.sort_all::<C, K, V>(rest, worker.index, sort);
        }
    }

    impl Own {
        /// Sorts the keys of all workers.
        #[inline(always)]
        unsafe fn sort_alone<C: InCache<K, V>, K: Key, V: Tuple>(&self, sort: &Sort, worker: Worker) {
            let (source, from, mut n) = (sort.source::<K, V>(), sort.between.place(), 0);
            unsafe {
                for i in sort.given(worker).flatten().take(sort.n()) {
                    let Pair { key, value } = source.take::<K, V>(i);
                    let (key, value) = C::moved(key, value);
                    Pair { key, value }.put(from, n);
                    n += 1;
                }
                let (room, to) = (self.rooms[0].place(), sort.output.place());
                let counts = &mut *self.counts[0].ptr::<Counts>();
                C::sort(Part { from, room, to, n }, sort.spec.digits(8), counts);
            }
        }

        /// Keys of one value of the digit.
        unsafe fn count(&self, value: usize) -> usize {
            let of = |own: &WorkerTables| unsafe { *own.counts.ptr::<u64>().add(value) as usize };
            self.splits.own.iter().map(of).sum()
        }

        /// Keys of the largest part, and of all of them.
        unsafe fn largest_and_all(&self) -> (usize, usize) {
            let counts = (0..self.high.values()).map(|value| unsafe { self.count(value) });
            counts.fold((0, 0), |(largest, all), count| (largest.max(count), all + count))
        }

        /// Sorts the parts that this worker takes.
        #[inline(always)]
        unsafe fn sort_all<C: InCache<K, V>, K: Key, V: Tuple>(
            &self,
            rest: Digits,
            worker: usize,
            sort: &Sort,
        ) {
            let (between, output, room) = (sort.between.place(), sort.output.place(), &self.rooms[worker]);
            let counts = unsafe { &mut *self.counts[worker].ptr::<Counts>() };
            let (mut before, mut start) = (0, 0);
            loop {
                let first = self.next.fetch_add(self.per_take, Ordering::Relaxed);
                if first >= self.high.values() {
                    break;
                }
                let end = self.high.values().min(first + self.per_take);
                unsafe {
                    start += (before..first).map(|value| self.count(value)).sum::<usize>();
                    before = end;
                    for n in (first..end).map(|value| self.count(value)) {
                        let to = output.further::<K, V>(start);
                        let room = if n <= room.n { room.place() } else { to };
                        let from = between.further::<C::Key, C::Value>(start);
                        C::sort(Part { from, room, to, n }, rest, counts);
                        start += n;
                    }
                }
            }
        }
    }
}
