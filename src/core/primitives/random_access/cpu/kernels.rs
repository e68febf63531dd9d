//! The timed loops: an access reads or writes an element, whose place was computed in advance, or found in the element before.

use std::ops::Range;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::case::Fault;
use crate::device::cpu::Isa;
use crate::inputs::Scramble;
use crate::primitives::random_access::{Kernel, Method, Spec};

/// What the reads of a range add up to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The words, as the definition adds them.
    pub sum: u64,
    /// The words with weights that depend on their positions in the range, which no other order has.
    pub fold: u64,
}

impl Found {
    pub fn times(self, times: u64) -> Found {
        Found { sum: self.sum.wrapping_mul(times), fold: self.fold.wrapping_mul(times) }
    }

    pub fn add(self, other: Found) -> Found {
        Found { sum: self.sum.wrapping_add(other.sum), fold: self.fold.wrapping_add(other.fold) }
    }
}

/// Makes accesses `range` to the array; returns what was read.
///
/// # Safety
/// The array has an element for each place of the order.
pub type Timed = unsafe fn(*mut u8, Scramble, Range<u64>) -> Found;

/// An element, read and written word by word. Several workers may write the same value to the same element, so
/// its words are atomic.
trait Element {
    fn read(&self) -> u64;
    fn write(&self, j: u64);
}

impl Element for AtomicU32 {
    #[inline(always)]
    fn read(&self) -> u64 {
        u64::from(self.load(Ordering::Relaxed))
    }

    #[inline(always)]
    fn write(&self, j: u64) {
        self.store(j as u32, Ordering::Relaxed);
    }
}

impl<const N: usize> Element for [AtomicU64; N] {
    #[inline(always)]
    fn read(&self) -> u64 {
        self.iter().fold(0, |sum, word| sum.wrapping_add(word.load(Ordering::Relaxed)))
    }

    #[inline(always)]
    fn write(&self, j: u64) {
        for (word, w) in self.iter().zip(j * N as u64..) {
            word.store(w, Ordering::Relaxed);
        }
    }
}

/// Adds up in [`SUMS`] partial sums, position by position in turn. After each block they are multiplied by
/// [`WEIGHTS`], so that the fold depends on the block and on the partial sum to which a word was added: four
/// multiplications for 1024 accesses.
#[inline(never)]
unsafe fn read<E: Element, P: Place>(array: *mut u8, order: Scramble, range: Range<u64>) -> Found {
    let (array, mut found, mut folds) = (array.cast::<E>(), Found::default(), [0u64; SUMS]);
    in_blocks(order, range, |_, places: &[P]| {
        let mut sums = [0u64; SUMS];
        let all = places.chunks_exact(SUMS);
        for (sum, at) in sums.iter_mut().zip(all.remainder()) {
            // SAFETY: places lie inside the array.
            *sum = unsafe { (*array.add(at.get())).read() };
        }
        for some in all {
            for (sum, at) in sums.iter_mut().zip(some) {
                // SAFETY: places lie inside the array.
                *sum = sum.wrapping_add(unsafe { (*array.add(at.get())).read() });
            }
        }
        for ((fold, sum), weight) in folds.iter_mut().zip(sums).zip(WEIGHTS) {
            *fold = fold.wrapping_add(sum).wrapping_mul(weight);
            found.sum = found.sum.wrapping_add(sum);
        }
    });
    found.fold = folds.iter().fold(0, |all, fold| all.wrapping_add(*fold));
    found
}

/// Number of independent sums: a single one would allow only one addition per cycle, and an L1 cache delivers
/// more.
pub const SUMS: usize = 4;

/// Odd numbers, the fractional digits of π.
pub const WEIGHTS: [u64; SUMS] =
    [0x243F_6A88_85A3_08D3, 0x1319_8A2E_0370_7345, 0xA409_3822_299F_31D1, 0x082E_FA98_EC4E_6C89];

/// Places that are computed together, before any of them is accessed.
pub const BLOCK: usize = 1024;

/// A place in a block: 32 bits wide if the array is small enough.
trait Place: Copy {
    const NONE: Self;
    /// Computes the places of the accesses from `first` on, in arithmetic of the same width.
    fn fill(order: Scramble, first: u64, places: &mut [Self]);
    fn get(self) -> usize;
}

impl Place for u32 {
    const NONE: u32 = 0;

    #[inline(always)]
    fn fill(order: Scramble, first: u64, places: &mut [u32]) {
        let mut i = first as u32;
        for place in places {
            *place = order.apply_narrow(i);
            i = i.wrapping_add(1);
        }
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

impl Place for u64 {
    const NONE: u64 = 0;

    #[inline(always)]
    fn fill(order: Scramble, first: u64, places: &mut [u64]) {
        for (place, i) in places.iter_mut().zip(first..) {
            *place = order.apply(i);
        }
    }

    #[inline(always)]
    fn get(self) -> usize {
        self as usize
    }
}

/// Calls `access` with the number of the first visit and the places of each block of `range`. A load that misses occupies the processor's
/// window until its data arrive; with the dozen instructions that compute a place next to each load, few loads
/// would be in flight, and in a cache those instructions would dominate the time. Here an access reads its
/// place from memory, as gathers and scatters do.
#[inline(always)]
fn in_blocks<P: Place>(order: Scramble, range: Range<u64>, mut access: impl FnMut(u64, &[P])) {
    let mut places = [P::NONE; BLOCK];
    let mut first = range.start;
    while first < range.end {
        let places = &mut places[..(range.end - first).min(BLOCK as u64) as usize];
        compute(order, first, places);
        access(first, places);
        first += places.len() as u64;
    }
}

/// Computes the places of the accesses from `first` on, with vectors if available.
#[inline(always)]
fn compute<P: Place>(order: Scramble, first: u64, places: &mut [P]) {
    #[cfg(target_arch = "x86_64")]
    if Isa::Avx2.present() {
        // SAFETY: the processor has AVX2.
        return unsafe { compute_avx2(order, first, places) };
    }
    P::fill(order, first, places);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn compute_avx2<P: Place>(order: Scramble, first: u64, places: &mut [P]) {
    P::fill(order, first, places);
}

/// Places in sequence: a deliberately wrong order.
#[derive(Clone, Copy)]
struct InSequence(u64);

impl Place for InSequence {
    const NONE: InSequence = InSequence(0);

    #[inline(always)]
    fn fill(order: Scramble, first: u64, places: &mut [InSequence]) {
        for (place, i) in places.iter_mut().zip(first..) {
            *place = InSequence(order.invert(order.apply(i)));
        }
    }

    #[inline(always)]
    fn get(self) -> usize {
        self.0 as usize
    }
}

/// Follows a chain through elements that hold places. The fold is rotated at each step, which takes less time
/// than a load.
#[inline(never)]
unsafe fn chase<E: Element>(array: *mut u8, order: Scramble, range: Range<u64>) -> Found {
    let (array, mut at, mut found) = (array.cast::<E>(), order.apply(range.start), Found::default());
    for _ in range {
        // SAFETY: places, and what elements and the guard hold, lie inside the array.
        at = unsafe { (*array.add(at as usize)).read() };
        found.sum = found.sum.wrapping_add(at + 1);
        found.fold = found.fold.rotate_left(1).wrapping_add(at + 1);
    }
    found
}

/// Writes to each element the number of the visit, which says in which order elements are visited.
#[inline(never)]
unsafe fn write<E: Element, P: Place>(array: *mut u8, order: Scramble, range: Range<u64>) -> Found {
    let array = array.cast::<E>();
    in_blocks(order, range, |first, places: &[P]| {
        for (at, i) in places.iter().zip(first..) {
            // SAFETY: places lie inside the array.
            unsafe { (*array.add(at.get())).write(i) };
        }
    });
    Found::default()
}

/// The loop of a case; a fault makes it visit elements in sequence.
pub fn timed(spec: &Spec, fault: Option<Fault>) -> Timed {
    match (spec.method, spec.element) {
        (Method::Direct, _) if fault == Some(Fault::SequentialOrder) => direct::<InSequence>(spec),
        (Method::Direct, _) if spec.order().is_narrow() => direct::<u32>(spec),
        (Method::Direct, _) => direct::<u64>(spec),
        (Method::Chained, 4) => chase::<AtomicU32>,
        (Method::Chained, 8) => chase::<[AtomicU64; 1]>,
        (Method::Chained, _) => chase::<[AtomicU64; 2]>,
    }
}

fn direct<P: Place>(spec: &Spec) -> Timed {
    match (spec.kernel, spec.element) {
        (Kernel::Read, 4) => read::<AtomicU32, P>,
        (Kernel::Read, 8) => read::<[AtomicU64; 1], P>,
        (Kernel::Read, _) => read::<[AtomicU64; 2], P>,
        (Kernel::Write, 4) => write::<AtomicU32, P>,
        (Kernel::Write, 8) => write::<[AtomicU64; 1], P>,
        (Kernel::Write, _) => write::<[AtomicU64; 2], P>,
    }
}
