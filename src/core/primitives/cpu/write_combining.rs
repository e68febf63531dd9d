//! Moves pairs of a key and a tuple, stably, to one stream per label. Writes are combined in software: a group
//! of pairs for each label fills up in cache and leaves it in whole lines by non-temporal stores. Memory that
//! is only written is then not read, and the many streams do not each need a cache line and a TLB entry at
//! every store.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::ops::Range;

use super::tuple::Tuple;
use crate::case::Failure;
use crate::device::cpu::Buffer;
use crate::device::cpu::simd::Lanes;

/// Maps keys to labels.
pub trait Labels<K> {
    /// The label of a key.
    fn label(&self, key: K) -> usize;
}

/// Number of copies of the counts. An increment waits for the preceding store to the same count, and in skewed
/// inputs keys of the same label follow each other.
const COPIES: usize = 4;

/// Maximum number of labels whose counts are kept in copies; these fit in an L1 cache.
const MOST_COPIED: usize = 512;

/// A worker's tables, one word per label unless stated otherwise, and its groups.
pub struct WorkerTables {
    /// Keys of each label so far, followed by room for the copies of the counts.
    pub counts: Buffer,
    /// The place of each label's next pair.
    pub next: Buffer,
    /// The place of each label's first pair.
    pub first: Buffer,
    /// The place of the first pair in each label's group.
    pub starts: Buffer,
    /// The slot of each label's next pair in the groups: 32 bits, so that more slots stay in an L1 cache.
    pub slots: Buffer,
    pub staging: Buffer,
}

impl WorkerTables {
    /// Tables for at most `labels` labels, with `staging` bytes of groups.
    pub fn new(labels: usize, staging: usize) -> Result<WorkerTables, Failure> {
        let table = || Buffer::new(labels * 8);
        let [next, first, starts] = [table()?, table()?, table()?];
        // Digits with fewer labels use the same tables.
        let counted = labels.max(COPIES * labels.min(MOST_COPIED));
        let [counts, slots] = [Buffer::new(counted * 8)?, Buffer::new(labels * 4)?];
        Ok(WorkerTables { counts, next, first, starts, slots, staging: Buffer::new(staging)? })
    }

    /// A worker's part of a pass into `labels` streams, with these tables, which begins as a count; the caller sets its
    /// range.
    pub fn part(
        &self,
        labels: usize,
        from: (*const u8, *const u8),
        to: (*mut u8, *mut u8),
        group: usize,
    ) -> WorkerPart {
        WorkerPart {
            labels,
            range: 0..0,
            from,
            to,
            next: self.counts.ptr(),
            first: self.first.ptr(),
            starts: self.starts.ptr(),
            slots: self.slots.ptr(),
            staging: self.staging.ptr(),
            group,
        }
    }
}

/// Computes where each label's pairs of worker `index` begin, into the worker's `next` and `first`: pairs are
/// ordered by label and, within a label, by worker.
///
/// # Safety
/// All workers have counted, none counts again meanwhile, and only worker `index` uses its other tables.
pub unsafe fn begin(own: &[WorkerTables], index: usize, labels: usize) {
    let (next, first) = (own[index].next.ptr::<u64>(), own[index].first.ptr::<u64>());
    let mut place = 0;
    for label in 0..labels {
        for (worker, own) in own.iter().enumerate() {
            // SAFETY: by the caller's promise.
            unsafe {
                if worker == index {
                    (*next.add(label), *first.add(label)) = (place, place);
                }
                place += *own.counts.ptr::<u64>().add(label);
            }
        }
    }
}

/// One worker's part of a pass that moves pairs.
#[derive(Clone, Debug)]
pub struct WorkerPart {
    pub labels: usize,
    /// The pairs that the worker moves.
    pub range: Range<usize>,
    /// All keys and tuples, and their destination.
    pub from: (*const u8, *const u8),
    pub to: (*mut u8, *mut u8),
    /// Per label: first its count, followed by the copies' room as in [`WorkerTables::counts`], which [`count`]
    /// clears itself; then the place of its next pair.
    pub next: *mut u64,
    /// Per label: the place of the worker's first pair.
    pub first: *mut u64,
    /// Per label: one word of scratch space.
    pub starts: *mut u64,
    /// Per label: 32 bits of scratch space.
    pub slots: *mut u32,
    /// One group of keys per label, then one group of tuples per label.
    pub staging: *mut u8,
    /// Pairs per group: a power of two, at least 16, so that keys and tuples fill whole lines.
    pub group: usize,
}

/// Adds the number of keys of each label to `next`.
///
/// # Safety
/// The pointers are valid as described by their fields, and labels are in range.
#[inline(always)]
pub unsafe fn count<K: Tuple>(labels: &impl Labels<K>, part: &WorkerPart) {
    // SAFETY: by the caller's promise.
    unsafe {
        if part.labels > MOST_COPIED {
            return tally::<K, 1>(labels, part);
        }
        let (counts, copies) = (part.next, part.next.add(part.labels));
        copies.write_bytes(0, (COPIES - 1) * part.labels);
        tally::<K, COPIES>(labels, part);
        for at in 0..(COPIES - 1) * part.labels {
            *counts.add(at % part.labels) += *copies.add(at);
        }
    }
}

/// Counts the keys of each label in `TABLES` adjacent tables; neighbouring keys use different tables.
#[inline(always)]
unsafe fn tally<K: Tuple, const TABLES: usize>(labels: &impl Labels<K>, part: &WorkerPart) {
    let keys = part.from.0.cast::<K>();
    let (first, end) = (part.range.start, part.range.end);
    let whole = end - part.range.len() % TABLES;
    // SAFETY: by the caller's promise.
    let add = |at: usize, table: usize| unsafe {
        let label = labels.label(K::take(keys.add(at)));
        *part.next.add(table * part.labels + label) += 1;
    };
    for at in (first..whole).step_by(TABLES) {
        for table in 0..TABLES {
            add(at + table, table);
        }
    }
    (whole..end).for_each(|at| add(at, 0));
}

/// Moves every pair of the part.
///
/// # Safety
/// As for [`count`]; in addition, nobody else writes to the places of the part, and the processor has the
/// instruction set.
#[inline(always)]
pub unsafe fn sort<S: Lanes<u64>, T: Tuple, K: Tuple>(labels: &impl Labels<K>, part: &WorkerPart) {
    let (keys, tuples) = (part.from.0.cast::<K>(), part.from.1.cast::<T>());
    unsafe { sort_as::<S, T, K>(labels, part, |i| (K::take(keys.add(i)), T::take(tuples.add(i)))) }
}

/// The same of pairs that `take` makes of what is at a place of the input.
///
/// # Safety
/// As for [`sort`].
#[inline(always)]
pub unsafe fn sort_as<S: Lanes<u64>, T: Tuple, K: Tuple>(
    labels: &impl Labels<K>,
    part: &WorkerPart,
    take: impl Fn(usize) -> (K, T),
) {
    let groups = part.groups::<T, K>();
    // The group size is a power of two, which the compiler does not know; it would emit a division.
    let behind = part.group - 1;
    // SAFETY: by the caller's promise.
    unsafe {
        part.begin_groups();
        for i in part.range.clone() {
            let (key, tuple) = take(i);
            let label = labels.label(key);
            let slot = *part.slots.add(label) as usize;
            key.put(groups.keys.add(slot));
            tuple.put(groups.tuples.add(slot));
            *part.slots.add(label) = slot as u32 + 1;
            if slot & behind == behind {
                part.leave::<S, T, K>(&groups, label, part.group);
                *part.slots.add(label) = (slot - behind) as u32;
            }
        }
        part.end_groups::<S, T, K>(&groups);
    }
}

/// Moves every pair of the part, as [`sort_as`], with a store of its own: where a cache holds the destination, this takes fewer
/// instructions, and leaves the pairs there.
///
/// # Safety
/// As for [`sort`], whatever the instruction set.
#[inline(always)]
pub unsafe fn sort_in_cache<T: Tuple, K: Tuple>(
    labels: impl Labels<K>,
    part: &WorkerPart,
    take: impl Fn(usize) -> (K, T),
) {
    let (keys, tuples, next) = (part.to.0.cast::<K>(), part.to.1.cast::<T>(), part.next);
    for i in part.range.clone() {
        let (key, tuple) = take(i);
        // SAFETY: by the caller's promise.
        unsafe {
            let next = next.add(labels.label(key));
            let place = *next as usize;
            *next = place as u64 + 1;
            key.put(keys.add(place));
            tuple.put(tuples.add(place));
        }
    }
}

/// The groups of all labels.
struct Groups<T, K> {
    keys: *mut K,
    tuples: *mut T,
}

impl WorkerPart {
    fn groups<T, K>(&self) -> Groups<T, K> {
        let keys = self.staging.cast::<K>();
        Groups { keys, tuples: keys.wrapping_add(self.labels * self.group).cast() }
    }

    /// Splits each label's next place into the start of its group, in `starts`, and its slot in the groups, in
    /// `slots`. This saves a few instructions per pair.
    #[inline(always)]
    unsafe fn begin_groups(&self) {
        for label in 0..self.labels {
            unsafe {
                let place = *self.next.add(label);
                let slot = place & (self.group as u64 - 1);
                *self.starts.add(label) = place - slot;
                *self.slots.add(label) = (label * self.group) as u32 + slot as u32;
            }
        }
    }

    /// Turns slots back into places, and writes the pairs that remain in the groups.
    #[inline(always)]
    unsafe fn end_groups<S: Lanes<u64>, T: Tuple, K: Tuple>(&self, groups: &Groups<T, K>) {
        for label in 0..self.labels {
            unsafe {
                let pairs = *self.slots.add(label) as usize - label * self.group;
                *self.next.add(label) = *self.starts.add(label) + pairs as u64;
                self.leave::<S, T, K>(groups, label, pairs);
            }
        }
    }

    /// Writes the first `pairs` of a label's group. Only a full group that belongs entirely to this worker has
    /// whole lines of its own.
    #[inline(always)]
    unsafe fn leave<S: Lanes<u64>, T: Tuple, K: Tuple>(
        &self,
        groups: &Groups<T, K>,
        label: usize,
        pairs: usize,
    ) {
        let (to_keys, to_tuples) = (self.to.0.cast::<K>(), self.to.1.cast::<T>());
        unsafe {
            let slots = label * self.group;
            let (keys, tuples) = (groups.keys.add(slots), groups.tuples.add(slots));
            let (start, first) = (*self.starts.add(label) as usize, *self.first.add(label) as usize);
            *self.starts.add(label) = (start + pairs) as u64;
            if first <= start && pairs == self.group {
                lines::<S>(tuples.cast(), to_tuples.add(start).cast(), self.group * size_of::<T>());
                lines::<S>(keys.cast(), to_keys.add(start).cast(), self.group * size_of::<K>());
                return;
            }
            for place in start.max(first)..start + pairs {
                T::take(tuples.add(place - start)).put(to_tuples.add(place));
                K::take(keys.add(place - start)).put(to_keys.add(place));
            }
        }
    }
}

/// Copies whole lines with non-temporal stores.
#[inline(always)]
unsafe fn lines<S: Lanes<u64>>(from: *const u64, to: *mut u64, bytes: usize) {
    let mut word = 0;
    while word < bytes / 8 {
        unsafe {
            match S::LANES {
                1 => u64::take(from.add(word)).stream(to.add(word)),
                _ => S::stream(to.add(word), S::load(from.add(word))),
            }
        }
        word += S::LANES;
    }
}
