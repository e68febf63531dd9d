//! The timed loops of the method `partitioned`.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::ops::Range;

use crate::device::cpu::Isa;
use crate::device::cpu::memory::prefetch_to_write;
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::Avx512;
use crate::device::cpu::simd::{Index, Scalar};
use crate::primitives::cpu::tuple::{Halves, Quad, Tuple};
use crate::primitives::cpu::write_combining::{Labels, WorkerPart, count, sort};
use crate::primitives::gather_scatter::Spec;
use crate::primitives::gather_scatter::methods::Digit;

/// A loop over a part.
///
/// # Safety
/// The pointers are valid as described by their fields, locations and values are in range, and the processor has the
/// instruction set.
pub type Loop = unsafe fn(Digit, &WorkerPart);

/// One worker's part of the last pass.
#[derive(Clone, Debug)]
pub struct Last {
    /// The pairs that the worker writes.
    pub range: Range<usize>,
    /// All pairs.
    pub locations: *const u8,
    pub tuples: *const u8,
    /// R_out.
    pub to: *mut u8,
    /// Number of tuples in R_out.
    pub places: usize,
    /// Tuples per chunk.
    pub chunk: usize,
}

/// The loops of a case.
#[derive(Clone, Copy, Debug)]
pub struct Loops {
    pub count: Loop,
    pub sort: Loop,
    pub write: unsafe fn(&Last),
}

impl<I: Index> Labels<I> for Digit {
    #[inline(always)]
    fn label(&self, location: I) -> usize {
        self.of(location.get())
    }
}

unsafe fn count_pairs<I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { count::<I>(&digit, part) }
}

/// Writes every tuple of the part to its place. The pairs of a permutation are ordered so that pair i goes to
/// chunk ⌊i/chunk⌋; meanwhile the lines of the next chunk are prefetched one after another. For other
/// locations, that is a guess.
unsafe fn write<T: Tuple, I: Index + Tuple>(last: &Last) {
    let (locations, tuples) = (last.locations.cast::<I>(), last.tuples.cast::<T>());
    let to = last.to.cast::<T>();
    for i in last.range.clone() {
        let ahead = i + last.chunk;
        if (ahead * size_of::<T>()).is_multiple_of(LINE) && ahead < last.places {
            prefetch_to_write(to.wrapping_add(ahead));
        }
        // SAFETY: by the caller's promise.
        unsafe { T::take(tuples.add(i)).put(to.add(I::take(locations.add(i)).get() as usize)) };
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

unsafe fn sort_scalar<T: Tuple, I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { sort::<Scalar, T, I>(&digit, part) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
unsafe fn sort_avx512<T: Tuple, I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { sort::<Avx512, T, I>(&digit, part) }
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
    Loops { count: count_pairs::<I>, sort, write: write::<T, I> }
}
