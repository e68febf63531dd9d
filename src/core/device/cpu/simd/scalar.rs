//! One word at a time. Accesses are volatile, which prevents vectorization by the compiler; order and addresses
//! are otherwise unchanged.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what `Simd` and its subtraits ask for"
)]

use std::ptr::{read_volatile, write_volatile};

use super::{Fold, Index, Lanes, Scatter, Simd};

/// No vector gather, scatter or arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Simd for Scalar {
    const LANES: usize = 1;
    type At = usize;

    #[inline(always)]
    unsafe fn at<I: Index>(from: *const I) -> usize {
        unsafe { read_volatile(from).get() as usize }
    }

    #[inline(always)]
    unsafe fn at_some<I: Index>(_from: *const I, _n: usize) -> usize {
        0
    }

    #[inline(always)]
    unsafe fn first(at: usize) -> usize {
        at
    }

    #[inline(always)]
    unsafe fn through<I: Index>(table: *const I, at: usize) -> usize {
        unsafe { Self::at(table.add(at)) }
    }

    #[inline(always)]
    unsafe fn select<I: Index>(
        locations: *const I,
        n: usize,
        low: u64,
        width: u64,
        queue: *mut u32,
    ) -> usize {
        let mut found = 0;
        for k in 0..n {
            // Append without a branch: the selection is random and would be mispredicted.
            unsafe {
                write_volatile(queue.add(found), k as u32);
                found += usize::from((Self::at(locations.add(k)) as u64).wrapping_sub(low) < width);
            }
        }
        found
    }
}

macro_rules! lanes {
    ($word:ty) => {
        impl Lanes<$word> for Scalar {
            type Data = $word;

            #[inline(always)]
            unsafe fn gather(from: *const $word, at: usize) -> $word {
                unsafe { read_volatile(from.add(at)) }
            }

            #[inline(always)]
            unsafe fn gather_some(_from: *const $word, _at: usize, _n: usize) -> $word {
                0
            }

            #[inline(always)]
            unsafe fn load(from: *const $word) -> $word {
                unsafe { read_volatile(from) }
            }

            #[inline(always)]
            unsafe fn load_some(_from: *const $word, _n: usize) -> $word {
                0
            }

            #[inline(always)]
            unsafe fn store(to: *mut $word, data: $word) {
                unsafe { write_volatile(to, data) }
            }

            #[inline(always)]
            unsafe fn store_some(_to: *mut $word, _data: $word, _n: usize) {}

            #[inline(always)]
            unsafe fn stream(to: *mut $word, data: $word) {
                unsafe { Self::store(to, data) }
            }
        }

        impl Scatter<$word> for Scalar {
            #[inline(always)]
            unsafe fn scatter(to: *mut $word, at: usize, data: $word) {
                unsafe { write_volatile(to.add(at), data) }
            }

            #[inline(always)]
            unsafe fn scatter_some(_to: *mut $word, _at: usize, _data: $word, _n: usize) {}
        }
    };
}

lanes!(u32);
lanes!(u64);

impl Fold for Scalar {
    #[inline(always)]
    unsafe fn zero() -> u64 {
        0
    }

    #[inline(always)]
    unsafe fn fold(a: u64, b: u64) -> u64 {
        super::fold(a, b)
    }

    #[inline(always)]
    unsafe fn total(a: u64) -> u64 {
        a
    }
}
