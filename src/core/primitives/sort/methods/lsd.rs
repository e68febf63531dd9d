//! A stable split of all keys by each digit of 8 bits, the lowest first, with combined writes. CPUs only.
//! On these, *multisplit-lsd* by digits of the recipe's width (ashkiani2017 §7.1) and *split-radix* of all keys by single
//! bits (sengupta2007 §5) do the same, and *msd* where one part has too many keys.
//!
//! Keys are read once to count all digits. Then each digit that differs between keys takes a pass, which reads keys
//! once more for its counts (but for the first), and reads and writes keys and values once.

use crate::primitives::Costs;
use crate::primitives::sort::Spec;
use crate::primitives::sort::keys::DIGIT_BITS;
use crate::primitives::sort::work::{by_way_of_arrays, combined, moved, performed, read_keys, varying};

pub fn costs(spec: &Spec) -> Costs<'_> {
    by_digits(spec, DIGIT_BITS)
}

/// On processors, a count of all digits, a split by the first, and a count and a split for each other.
pub fn by_digits(spec: &Spec, radix: u32) -> Costs<'_> {
    let split = moved(spec, combined(1 << radix));
    let again = read_keys(spec).and(split.accesses.clone()).times(varying(spec, spec.digits(radix)) - 1);
    by_way_of_arrays(spec, performed([read_keys(spec), split, again]))
}

#[expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]
pub mod cpu {
    use crate::device::cpu::simd::{Lanes, Scalar};
    use crate::primitives::cpu::write_combining::{self, WorkerPart, WorkerTables, begin};
    use crate::primitives::sort::cpu::prelude::*;
    use crate::primitives::write_combining_group;

    pub fn method(made: &Made) -> Result<PoolMethod<Sort>, Failure> {
        by_digits(made, made.spec.digits(DIGIT_BITS))
    }

    /// Digits, and what the workers need to split by them.
    pub struct Splits {
        digits: Digits,
        pub own: Vec<WorkerTables>,
        /// Per worker: the counts of all digits.
        counts: Vec<Buffer>,
        /// Keys of a value of a digit that leave their group together.
        group: usize,
    }

    impl Splits {
        /// Tables for digits of at most so many values, which may be others than `digits`, too.
        pub fn new(made: &Made, digits: Digits, values: usize) -> Result<Splits, Failure> {
            let [key, value] = made.spec.sizes().map(|bytes| bytes as usize);
            let group = write_combining_group(values, key.max(value), key + value);
            Ok(Splits {
                own: made.each(|| WorkerTables::new(values, values * group * (key + value)))?,
                counts: made.each(|| Buffer::new(digits.count() as usize * values * 8))?,
                digits,
                group,
            })
        }

        /// A worker's part of a split into `values` streams; the caller sets the range, and `next` after counting.
        pub fn part(&self, worker: usize, values: usize, from: Place, to: Place) -> WorkerPart {
            self.own[worker].part(values, (from.keys, from.values), (to.keys, to.values), self.group)
        }
    }

    /// The method by digits of any width, also for multisplits and splits by single bits.
    pub fn by_digits(made: &Made, digits: Digits) -> Result<PoolMethod<Sort>, Failure> {
        let splits = Splits::new(made, digits, digits.digit(0).values())?;
        let run: Run<Splits> = by_types!(made.spec, |K, V| match made.isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => avx512::lsd::<K, V>,
            _ => run::<Scalar, K, V>,
        });
        // SAFETY: the pool's workers all execute, and `run` is for an instruction set that is present.
        Ok(Box::new(move |sort, worker| unsafe { run(&splits, sort, worker) }))
    }

    #[cfg(target_arch = "x86_64")]
    mod avx512 {
        use super::{Key, Sort, Splits, Tuple, Worker, run};
        use crate::device::cpu::simd::Avx512;

        #[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
        pub unsafe fn lsd<K: Key, V: Tuple>(splits: &Splits, sort: &Sort, worker: Worker) {
            unsafe { run::<Avx512, K, V>(splits, sort, worker) }
        }
    }

    /// A worker's share of a sort, as [`Run`]. Among the keys that are counted first, later passes divide those that were
    /// moved.
    #[inline(always)]
    pub unsafe fn run<S: Lanes<u64>, K: Key, V: Tuple>(splits: &Splits, sort: &Sort, worker: Worker) {
        let digits = splits.digits;
        let (pieces, source) = (sort.pieces(worker), sort.source::<K, V>());
        unsafe {
            count_all::<K>(splits, worker.index, &pieces, source);
            worker.meet();
            let (varying, keys) = varying(splits);
            let (count, mut from) = (varying.count_ones(), source);
            for place in 0..count {
                let d = nth(varying, place);
                let to = if (count - place) % 2 == 1 { sort.output.place() } else { sort.between.place() };
                let mine = [part(keys, worker.index, worker.count), 0..0];
                let (given, counted) = if place == 0 { (&pieces, true) } else { (&mine, false) };
                split::<S, K, V>(splits, &worker, (d, digits.digit(d)), (from, to), given, counted);
                from = to;
            }
        }
    }

    /// Counts all digits of a worker's keys.
    #[inline(always)]
    unsafe fn count_all<K: Key>(splits: &Splits, index: usize, pieces: &[Range<usize>], from: Place) {
        let (keys, counts, digits) =
            (from.keys.cast::<K>(), splits.counts[index].ptr::<u64>(), splits.digits);
        let (all, count) = (splits.counts[index].holds::<u64>(), digits.count() as usize);
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
    unsafe fn varying(splits: &Splits) -> (u64, usize) {
        let digits = splits.digits;
        let stride = splits.counts[0].holds::<u64>() / digits.count() as usize;
        let total = |d: u32, value: usize| {
            splits
                .counts
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
        splits: &Splits,
        worker: &Worker,
        (d, digit): (u32, Digit),
        (from, to): (Place, Place),
        pieces: &[Range<usize>],
        counted: bool,
    ) {
        let (own, values) = (&splits.own[worker.index], digit.values());
        let mut part = splits.part(worker.index, values, from, to);
        unsafe {
            let counts = own.counts.ptr::<u64>();
            if counted {
                let all = &splits.counts[worker.index];
                let stride = all.holds::<u64>() / splits.digits.count() as usize;
                counts.copy_from_nonoverlapping(all.ptr::<u64>().add(d as usize * stride), values);
            } else {
                counts.write_bytes(0, values);
                for piece in pieces {
                    part.range = piece.clone();
                    write_combining::count::<K>(&digit, &part);
                }
            }
            worker.meet();
            begin(&splits.own, worker.index, values);
            part.next = own.next.ptr();
            for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
                part.range = piece.clone();
                write_combining::sort::<S, V, K>(&digit, &part);
            }
        }
        fence();
        worker.meet();
    }
}
