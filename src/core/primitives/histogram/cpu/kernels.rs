//! The timed loops: one generic body for each way to count, and a named function of it for each instruction
//! set.
//!
//! A few bins are counted in registers, by a comparison with each splitter. With more bins, vectors compute
//! places whose counts are incremented one by one, with neighbouring values in different copies: an increment
//! waits for the previous store to the same place, which is the usual case for skewed inputs.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{__m256, __m512};

use super::lanes::{Lanes, WIDEST};
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::histogram::By;

/// Upper limit on the bins that are counted in registers: each bin takes two instructions per vector. Places
/// counted one by one take a few instructions per value, and cells several times as many.
fn few_bins(by: By, isa: Isa) -> usize {
    match (isa, by) {
        (Isa::Scalar, By::Even) => 2,
        (Isa::Scalar, By::Range) => 8,
        _ => 16,
    }
}

/// Upper limit on the values per call: a 32-bit count holds this many.
pub const MOST: usize = 1 << 30;

/// Bytes of all copies of the counts, within a first-level cache.
const ROOM: usize = 32 << 10;

/// The number of copies of the counts of `bins` bins.
pub fn replicas(bins: usize) -> usize {
    1 << (ROOM / 4 / bins).clamp(1, 8).ilog2()
}

/// Marks a cell with more than one splitter.
const SEVERAL: u32 = 1 << 31;

/// A cell of a table over the domain that narrows the search for a bin between splitters. All cells have the same width;
/// each stores the number of splitters below it and the least splitter in or above it. In a cell with at most one splitter,
/// a single comparison gives the bin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Cell {
    /// The least splitter in or above the cell; infinite if there is none.
    next: f32,
    /// The number of splitters below the cell, and the flag [`SEVERAL`].
    below: u32,
}

impl Cell {
    /// A placeholder cell that belongs to no table.
    pub const NONE: Cell = Cell { next: f32::INFINITY, below: 0 };
}

/// Cells of a table for `bins` bins: a power of two, at least eight per bin up to a limit of 2^14.
pub fn cells(bins: usize) -> usize {
    (8 * bins).next_power_of_two().min(1 << 14)
}

/// Writes the table of ascending `splitters` to `cells`, whose number is a power of two. Takes time
/// proportional to the number of splitters and cells.
pub fn build_table(splitters: &[f32], cells: &mut [Cell], domain: f32) {
    let scale = cells.len() as f32 / domain;
    let mut below = 0;
    for (c, cell) in cells.iter_mut().enumerate() {
        // The product is exact, since the factor is a power of two.
        while splitters.get(below).is_some_and(|s| ((s * scale) as usize) < c) {
            below += 1;
        }
        let several = splitters.get(below + 1).is_some_and(|s| (s * scale) as usize == c);
        let next = splitters.get(below).copied().unwrap_or(f32::INFINITY);
        *cell = Cell { next, below: below as u32 | if several { SEVERAL } else { 0 } };
    }
}

/// The bin of `x`, which lies in `cell`.
///
/// # Safety
/// `splitters` are those from which the table was built.
#[inline(always)]
unsafe fn bin(cell: Cell, splitters: &[f32], x: f32) -> usize {
    let bin = cell.below + u32::from(x >= cell.next);
    if bin & SEVERAL == 0 {
        return bin as usize;
    }
    let mut bin = (bin & !SEVERAL) as usize;
    // SAFETY: `bin` has not passed the end.
    while bin < splitters.len() && x >= unsafe { *splitters.get_unchecked(bin) } {
        bin += 1;
    }
    bin
}

/// The arguments of a call: values, and a description of the bins.
pub struct Call<'a> {
    pub from: *const f32,
    pub n: usize,
    /// The least value of each bin from the second on.
    pub bounds: &'a [f32],
    /// m / 1024, or the number of table cells divided by 1024.
    pub scale: f32,
    /// The table, where bins lie between random splitters.
    pub cells: *const Cell,
    /// The copies of the counts, one behind the other.
    pub counts: &'a mut [u32],
}

/// Adds the values of a call to its counts.
///
/// # Safety
/// `from` points to `n` values in the domain, at most [`MOST`]; the table was built from the bounds; and the
/// processor has the instruction set.
pub type Timed = unsafe fn(&mut Call);

/// Counts the values that are not below each of the splitters, at most `S`.
///
/// Arrays are filled in loops: the calls that `map` makes of an array are inlined in some builds and not in others,
/// and instructions of a set are calls, too, outside of functions that have it.
#[inline(always)]
unsafe fn few<V: Lanes, const S: usize>(call: &mut Call) {
    let mut splitters = [f32::INFINITY; S];
    splitters[..call.bounds.len()].copy_from_slice(call.bounds);
    let whole = call.n - call.n % V::N;
    // SAFETY: by the caller's promise.
    let above = unsafe {
        let mut vectors = [V::splat(f32::INFINITY); S];
        for (vector, &splitter) in vectors.iter_mut().zip(&splitters) {
            *vector = V::splat(splitter);
        }
        let mut counts = [V::none(); S];
        let mut i = 0;
        while i < whole {
            let x = V::load(call.from.add(i));
            for (count, &splitter) in counts.iter_mut().zip(&vectors) {
                *count = x.count(splitter, *count);
            }
            i += V::N;
        }
        let mut above = [0; S];
        for (sum, &count) in above.iter_mut().zip(&counts) {
            *sum = V::total(count);
        }
        for at in whole..call.n {
            let x = f32::load(call.from.add(at));
            for (count, &splitter) in above.iter_mut().zip(&splitters) {
                *count += u64::from(x >= splitter);
            }
        }
        above
    };
    let mut not_below = call.n as u64;
    let bins = call.bounds.len() + 1;
    for (bin, count) in call.counts[..bins].iter_mut().enumerate() {
        let next = above.get(bin).copied().unwrap_or(0);
        *count += (not_below - next) as u32;
        not_below = next;
    }
}

#[inline(always)]
unsafe fn few_any<V: Lanes>(call: &mut Call) {
    // SAFETY: by the caller's promise.
    unsafe {
        match call.bounds.len() {
            1 => few::<V, 1>(call),
            2..4 => few::<V, 3>(call),
            4..8 => few::<V, 7>(call),
            _ => few::<V, 15>(call),
        }
    }
}

/// Counts places one by one; between random splitters a place is a cell.
#[inline(always)]
unsafe fn many<V: Lanes, const C: usize, const RANGE: bool>(call: &mut Call) {
    let bins = call.bounds.len() + 1;
    let counts = call.counts.as_mut_ptr();
    // SAFETY: places are bins or cells of values in the domain; there are `C` copies.
    unsafe {
        let one = |place: u32, at: usize| {
            let bin = match RANGE {
                true => bin(*call.cells.add(place as usize), call.bounds, *call.from.add(at)),
                false => place as usize,
            };
            *counts.add(at % C * bins + bin) += 1;
        };
        let mut places = [0u32; WIDEST];
        let whole = call.n - call.n % WIDEST;
        let mut i = 0;
        while i < whole {
            for v in 0..WIDEST / V::N {
                V::load(call.from.add(i + v * V::N)).floors(call.scale, places.as_mut_ptr().add(v * V::N));
            }
            for (u, &place) in places.iter().enumerate() {
                one(place, i + u);
            }
            i += WIDEST;
        }
        for at in whole..call.n {
            f32::load(call.from.add(at)).floors(call.scale, places.as_mut_ptr());
            one(places[0], at);
        }
    }
}

#[inline(always)]
unsafe fn many_any<V: Lanes, const RANGE: bool>(call: &mut Call) {
    // SAFETY: by the caller's promise.
    unsafe {
        match replicas(call.bounds.len() + 1) {
            8 => many::<V, 8, RANGE>(call),
            4 => many::<V, 4, RANGE>(call),
            2 => many::<V, 2, RANGE>(call),
            _ => many::<V, 1, RANGE>(call),
        }
    }
}

macro_rules! named {
    ($isa:ident, $v:ty $(, $feature:literal)?) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            named!(@fn few, super::few_any::<$v> $(, $feature)?);
            named!(@fn even, super::many_any::<$v, false> $(, $feature)?);
            named!(@fn range, super::many_any::<$v, true> $(, $feature)?);
        }
    };
    (@fn $name:ident, $body:expr $(, $feature:literal)?) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        pub(super) unsafe fn $name(call: &mut Call) {
            unsafe { $body(call) }
        }
    };
}

named!(scalar, f32);
#[cfg(target_arch = "x86_64")]
named!(avx2, __m256, "avx2");
#[cfg(target_arch = "x86_64")]
named!(avx512, __m512, "avx512f");

/// The timed kernel for an available instruction set.
pub fn timed(by: By, bins: usize, isa: Isa) -> Timed {
    match by {
        _ if bins <= few_bins(by, isa) => of_isa!(isa, few),
        By::Even => of_isa!(isa, even),
        By::Range => of_isa!(isa, range),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_search_finds(
            mut splitters in prop::collection::vec(0u32..1 << 12, 1..60),
            x in 0u32..1 << 12,
            bits in 0u32..8,
        ) {
            splitters.sort_unstable();
            let reals: Vec<f32> = splitters.iter().map(|&s| s as f32).collect();
            let mut table = vec![Cell::NONE; 1 << bits];
            build_table(&reals, &mut table, 4096.0);
            let cell = table[(x >> (12 - bits)) as usize];
            // SAFETY: they are the same splitters.
            let found = unsafe { bin(cell, &reals, x as f32) };
            prop_assert_eq!(found, splitters.partition_point(|&s| s <= x));
        }
    }
}
