//! The loops that partition: how often each value of a digit comes, and the move of every
//! pair to its value's place, stable. Writes are combined in software: a group of pairs for
//! each value fills up in cache and leaves it in whole lines by non-temporal stores, so that
//! memory is not read where it is only written, and so that as many streams as values need
//! neither lines nor translations of their own at every store.

use std::ops::Range;

use super::tuple::{Halves, Quad, Tuple};
use crate::backend::cpu::Isa;
#[cfg(target_arch = "x86_64")]
use crate::backend::cpu::simd::Avx512;
use crate::backend::cpu::simd::{Index, Lanes, Scalar};
use crate::primitives::gather_scatter::partitioned::Digit;
use crate::primitives::gather_scatter::spec::Spec;
/// One worker's part of a pass that partitions.
#[derive(Clone, Debug)]
pub struct Part {
    pub digit: Digit,
    /// The pairs that it moves.
    pub range: Range<usize>,
    /// L and R, all of them, and where they go.
    pub from: (*const u8, *const u8),
    pub to: (*mut u8, *mut u8),
    /// For each value: counts, or the place of its next pair.
    pub next: *mut u64,
    /// For each value, the place of the worker's first pair.
    pub first: *mut u64,
    /// A group of tuples and one of locations for each value.
    pub staging: *mut u8,
    /// Pairs of a group, a power of two, at least 16: whole lines of both.
    pub group: usize,
}

/// A loop over a part.
///
/// # Safety
/// The pointers are valid for what their fields say, locations and values are in range, and
/// the processor has the instruction set.
pub type Loop = unsafe fn(&Part);

/// One worker's part of the last pass.
#[derive(Clone, Debug)]
pub struct Last {
    /// The pairs that it writes.
    pub range: Range<usize>,
    /// The pairs, all of them.
    pub locations: *const u8,
    pub tuples: *const u8,
    /// R_out.
    pub to: *mut u8,
    /// Tuples of R_out.
    pub places: usize,
    /// Tuples of a chunk.
    pub chunk: usize,
}

/// The loops of a case.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    pub count: Loop,
    pub sort: Loop,
    pub write: unsafe fn(&Last),
}

/// Adds up in `next` how often each value comes.
unsafe fn count<I: Index + Tuple>(part: &Part) {
    let locations = part.from.0.cast::<I>();
    for i in part.range.clone() {
        // SAFETY: by the caller's promise.
        unsafe { *part.next.add(part.digit.of(I::take(locations.add(i)).get())) += 1 };
    }
}

/// Moves every pair of the part.
#[inline(always)]
unsafe fn sort<S: Lanes<u64>, T: Tuple, I: Index + Tuple>(part: &Part) {
    let (locations, tuples) = (part.from.0.cast::<I>(), part.from.1.cast::<T>());
    unsafe {
        for i in part.range.clone() {
            let location = I::take(locations.add(i));
            let value = part.digit.of(location.get());
            let place = *part.next.add(value);
            *part.next.add(value) = place + 1;
            let (staged_locations, staged_tuples) = part.groups::<T, I>(value);
            let k = place as usize & (part.group - 1);
            T::take(tuples.add(i)).put(staged_tuples.add(k));
            location.put(staged_locations.add(k));
            if k == part.group - 1 {
                part.leave::<S, T, I>(value, place + 1);
            }
        }
        for value in 0..part.digit.values() as usize {
            let end = *part.next.add(value);
            if !(end as usize).is_multiple_of(part.group) {
                part.leave::<S, T, I>(value, end);
            }
        }
    }
}

impl Part {
    /// The groups of a value.
    #[inline(always)]
    unsafe fn groups<T, I>(&self, value: usize) -> (*mut I, *mut T) {
        let tuples = self.group * size_of::<T>();
        let start = unsafe { self.staging.add(value * (tuples + self.group * size_of::<I>())) };
        unsafe { (start.add(tuples).cast(), start.cast()) }
    }

    /// Writes the pairs of a value's group that ends before place `end`. Only a group that is
    /// full and all of it this worker's has whole lines of its own.
    #[inline(always)]
    unsafe fn leave<S: Lanes<u64>, T: Tuple, I: Index + Tuple>(&self, value: usize, end: u64) {
        let (to_locations, to_tuples) = (self.to.0.cast::<I>(), self.to.1.cast::<T>());
        unsafe {
            let (locations, tuples) = self.groups::<T, I>(value);
            let start = (end as usize - 1) & !(self.group - 1);
            let first = *self.first.add(value) as usize;
            if first <= start && end as usize == start + self.group {
                lines::<S>(tuples.cast(), to_tuples.add(start).cast(), self.group * size_of::<T>());
                lines::<S>(locations.cast(), to_locations.add(start).cast(), self.group * size_of::<I>());
                return;
            }
            for place in start.max(first)..end as usize {
                T::take(tuples.add(place - start)).put(to_tuples.add(place));
                I::take(locations.add(place - start)).put(to_locations.add(place));
            }
        }
    }
}

/// Copies whole lines without a temporal hint.
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

/// Writes every tuple of the part to its place. The pairs of a permutation lie so that pair i
/// goes to chunk ⌊i/chunk⌋: while it does, one place after another of the next chunk is asked
/// for. Of other locations that is a guess.
unsafe fn write<T: Tuple, I: Index + Tuple>(last: &Last) {
    let (locations, tuples) = (last.locations.cast::<I>(), last.tuples.cast::<T>());
    let to = last.to.cast::<T>();
    for i in last.range.clone() {
        let ahead = i + last.chunk;
        if (ahead * size_of::<T>()).is_multiple_of(LINE) && ahead < last.places {
            ask(to.wrapping_add(ahead));
        }
        // SAFETY: by the caller's promise.
        unsafe { T::take(tuples.add(i)).put(to.add(I::take(locations.add(i)).get() as usize)) };
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for a line that will be written.
#[inline(always)]
fn ask<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch accesses nothing that a program could notice, at any address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_ET0 }>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

unsafe fn sort_scalar<T: Tuple, I: Index + Tuple>(part: &Part) {
    unsafe { sort::<Scalar, T, I>(part) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
unsafe fn sort_avx512<T: Tuple, I: Index + Tuple>(part: &Part) {
    unsafe { sort::<Avx512, T, I>(part) }
}

/// The loops of a case, for an instruction set that is present.
pub fn loops(spec: &Spec, isa: Isa) -> Loops {
    match spec.index {
        4 => by_tuple::<u32>(spec.tuple, isa),
        _ => by_tuple::<u64>(spec.tuple, isa),
    }
}

fn by_tuple<I: Index + Tuple>(tuple: u64, isa: Isa) -> Loops {
    match tuple {
        4 => by_isa::<u32, I>(isa),
        8 => by_isa::<u64, I>(isa),
        16 => by_isa::<Quad, I>(isa),
        _ => by_isa::<Halves, I>(isa),
    }
}

fn by_isa<T: Tuple, I: Index + Tuple>(isa: Isa) -> Loops {
    let sort: Loop = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => sort_avx512::<T, I>,
        _ => sort_scalar::<T, I>,
    };
    Loops { count: count::<I>, sort, write: write::<T, I> }
}
