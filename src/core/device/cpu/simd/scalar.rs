//! One word at a time. Accesses are volatile, which prevents vectorization by the compiler; order and addresses
//! are otherwise unchanged.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what `Simd` and its subtraits ask for"
)]

use std::ptr::{read_volatile, write_volatile};

use super::{Fold, Index, Lanes, Scatter, Simd, inlined};

/// No vector gather, scatter or arithmetic.
#[derive(Clone, Copy, Debug)]
pub struct Scalar;

impl Simd for Scalar {
    const LANES: usize = 1;
    type At = usize;

    inlined! {
        fn at<I: Index>(from: *const I) -> usize { read_volatile(from).get() as usize }
        fn at_some<I: Index>(_from: *const I, _n: usize) -> usize { 0 }
        fn first(at: usize) -> usize { at }
        fn through<I: Index>(table: *const I, at: usize) -> usize { Self::at(table.add(at)) }
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

            inlined! {
                fn gather(from: *const $word, at: usize) -> $word { read_volatile(from.add(at)) }
                fn gather_some(_from: *const $word, _at: usize, _n: usize) -> $word { 0 }
                fn load(from: *const $word) -> $word { read_volatile(from) }
                fn load_some(_from: *const $word, _n: usize) -> $word { 0 }
                fn store(to: *mut $word, data: $word) { write_volatile(to, data) }
                fn store_some(_to: *mut $word, _data: $word, _n: usize) {}
                fn stream(to: *mut $word, data: $word) { Self::store(to, data) }
            }
        }

        impl Scatter<$word> for Scalar {
            inlined! {
                fn scatter(to: *mut $word, at: usize, data: $word) { write_volatile(to.add(at), data) }
                fn scatter_some(_to: *mut $word, _at: usize, _data: $word, _n: usize) {}
            }
        }
    };
}

lanes!(u32);
lanes!(u64);

impl Fold for Scalar {
    inlined! {
        fn zero() -> u64 { 0 }
        fn fold(a: u64, b: u64) -> u64 { super::fold(a, b) }
        fn total(a: u64) -> u64 { a }
    }
}
