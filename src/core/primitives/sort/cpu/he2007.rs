//! The radix sort of he2007 §4.1 on processors: each worker sorts its share of the keys, and all of them merge the
//! sorted shares into one.
//!
//! A share is split by its highest digit, and each part by the next one, part after part, as long as it does not fit in
//! a first-level cache and there are phases left. What a part has left of its bits sorts it there, the lowest digit first.
//! Digits of few bits have so few parts that the ends of all stay in cache; without this optimisation there is one phase
//! by the bits of all.

#![expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use super::in_cache::{ByDigits, Counts, InCache, Part, no_counts};
use crate::primitives::sort::cpu::prelude::*;
use crate::primitives::sort::methods::he2007_msd::{FITS, Phases};

/// A worker's share of a sort, as [`Run`](super::Run); `counts` has a table for each phase.
pub unsafe fn run<K: Key, V: Tuple>(phases: Phases, counts: *mut u32, sort: &Sort, worker: Worker) {
    let (start, pieces) = sort.share(worker, worker.index);
    let (output, between) = (sort.output.place(), sort.between.place());
    // A single share has nothing to be merged with.
    let (run, other) = if worker.count == 1 { (output, between) } else { (between, output) };
    let [run, other] = [run, other].map(|place| place.further::<K, V>(start));
    let mut share = Share { phases, counts, of_digits: no_counts() };
    unsafe {
        share.split::<K, V>(0, &pieces, (sort.source::<K, V>(), other), run, run);
        worker.meet();
        if worker.count > 1 {
            Runs::<K>::of(sort, worker).merge::<V>(&worker, between, output);
        }
    }
}

/// The arrays with which a worker sorts its share.
struct Share {
    phases: Phases,
    /// A table for each phase.
    counts: *mut u32,
    of_digits: Counts,
}

impl Share {
    /// Splits the keys of `pieces` by a phase's digit, and sorts the parts into `output`, which is `to` or `other`.
    unsafe fn split<K: Key, V: Tuple>(
        &mut self,
        phase: u32,
        pieces: &[Range<usize>],
        (from, to): (Place, Place),
        other: Place,
        output: Place,
    ) {
        let digit = self.phases.digit(phase);
        let before: usize = (0..phase).map(|phase| self.phases.digit(phase).values()).sum();
        unsafe {
            let ends = std::slice::from_raw_parts_mut(self.counts.add(before), digit.values());
            partition::<K, V>(pieces, digit, (from, to), ends);
            let mut start = 0;
            for end in ends.iter().map(|end| *end as usize) {
                let [from, room, to] = [to, other, output].map(|place| place.further::<K, V>(start));
                self.sort::<K, V>(phase + 1, Part { from, room, to, n: end - start });
                start = end;
            }
        }
    }

    /// Sorts a part that is left by the phases before this one.
    unsafe fn sort<K: Key, V: Tuple>(&mut self, phase: u32, part: Part) {
        unsafe {
            if phase == self.phases.count || part.n as u64 <= FITS {
                let rest = self.phases.rest(phase - 1);
                return <ByDigits as InCache<K, V>>::sort(part, rest, &mut self.of_digits);
            }
            let all = [0..part.n, 0..0];
            self.split::<K, V>(phase, &all, (part.from, part.room), part.from, part.to);
        }
    }
}

/// Moves the keys of `pieces` to their parts; `ends` becomes the ends of these.
#[inline(always)]
unsafe fn partition<K: Key, V: Tuple>(
    pieces: &[Range<usize>],
    digit: Digit,
    (from, to): (Place, Place),
    ends: &mut [u32],
) {
    let (keys, values) = (from.keys.cast::<K>(), from.values.cast::<V>());
    let (to_keys, to_values) = (to.keys.cast::<K>(), to.values.cast::<V>());
    ends.fill(0);
    unsafe {
        for i in pieces.iter().cloned().flatten() {
            *ends.get_unchecked_mut(digit.of(K::take(keys.add(i)).wide())) += 1;
        }
        let mut sum = 0;
        for end in ends.iter_mut() {
            sum += std::mem::replace(end, sum);
        }
        for i in pieces.iter().cloned().flatten() {
            let key = K::take(keys.add(i));
            let end = ends.get_unchecked_mut(digit.of(key.wide()));
            key.put(to_keys.add(*end as usize));
            V::take(values.add(i)).put(to_values.add(*end as usize));
            *end += 1;
        }
    }
}

/// The sorted shares.
struct Runs<'a, K> {
    /// Where each share begins.
    starts: Vec<usize>,
    shares: Vec<&'a [K]>,
    field: Digits,
}

impl<'a, K: Key> Runs<'a, K> {
    /// The shares of all workers, who have sorted them.
    unsafe fn of(sort: &'a Sort, worker: Worker) -> Runs<'a, K> {
        let of = |index: usize| {
            let (start, pieces) = sort.share(worker, index);
            start..start + pieces.iter().map(Range::len).sum::<usize>()
        };
        let ranges: Vec<Range<usize>> = (0..worker.count).map(of).collect();
        Runs {
            starts: ranges.iter().map(|range| range.start).collect(),
            shares: ranges.into_iter().map(|range| unsafe { sort.between.buffer.read::<K>(range) }).collect(),
            field: sort.spec.digits(8),
        }
    }

    fn key(&self, key: &K) -> u64 {
        self.field.field(key.wide())
    }

    /// The keys of each share among the first `rank` of all, of which equal ones are in the order of the shares.
    fn among_first(&self, rank: usize) -> Vec<usize> {
        let below = |bound: u64| {
            self.shares.iter().map(move |share| share.partition_point(|key| self.key(key) < bound))
        };
        // The greatest key with so few keys below it.
        let bits = self.field.end - self.field.begin;
        let bound = (0..bits).rev().fold(0, |bound, bit| {
            let higher = bound | 1 << bit;
            if below(higher).sum::<usize>() <= rank { higher } else { bound }
        });
        let mut left = rank - below(bound).sum::<usize>();
        let with_equal = below(bound).zip(&self.shares).map(|(first, share)| {
            let equal = share[first..].partition_point(|key| self.key(key) == bound).min(left);
            left -= equal;
            first + equal
        });
        with_equal.collect()
    }

    /// Writes the worker's part of all keys in order.
    unsafe fn merge<V: Tuple>(&self, worker: &Worker, from: Place, to: Place) {
        let mine = part(self.shares.iter().map(|share| share.len()).sum(), worker.index, worker.count);
        let (mut next, ends) = (self.among_first(mine.start), self.among_first(mine.end));
        let head = |share: usize, at: usize| {
            (at < ends[share]).then(|| Reverse((self.key(&self.shares[share][at]), share)))
        };
        let mut heads: BinaryHeap<_> = (0..ends.len()).filter_map(|share| head(share, next[share])).collect();
        for i in mine {
            let Some(mut first) = heads.peek_mut() else { break };
            let share = first.0.1;
            let at = next[share];
            next[share] += 1;
            unsafe {
                self.shares[share][at].put(to.keys.cast::<K>().add(i));
                V::take(from.values.cast::<V>().add(self.starts[share] + at))
                    .put(to.values.cast::<V>().add(i));
            }
            match head(share, at + 1) {
                Some(head) => *first = head,
                None => drop(PeekMut::pop(first)),
            }
        }
    }
}
