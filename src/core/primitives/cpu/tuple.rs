//! Tuples that move as a whole: one load and one store each; 32-byte tuples may take two.

use std::ptr::{read_volatile, write_volatile};

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::device::cpu::simd::inlined;

/// A tuple, or half a vector of tuples, that moves from place to place. Accesses are volatile, so that they
/// stay separate.
pub trait Tuple: Copy {
    /// Loads a tuple.
    unsafe fn take(from: *const Self) -> Self;

    /// Stores the tuple.
    unsafe fn put(self, to: *mut Self);

    /// Stores the tuple with a non-temporal store; `to` is aligned to its size.
    unsafe fn stream(self, to: *mut Self);
}

macro_rules! tuple {
    ($t:ty, |$value:ident, $to:ident| $stream:expr) => {
        impl Tuple for $t {
            inlined! {
                fn take(from: *const $t) -> $t { read_volatile(from) }
                fn put(self, to: *mut $t) { write_volatile(to, self) }
                #[cfg(target_arch = "x86_64")]
                fn stream(self, $to: *mut $t) {
                    let $value = self;
                    $stream
                }
                #[cfg(not(target_arch = "x86_64"))]
                fn stream(self, to: *mut $t) { self.put(to) }
            }
        }
    };
}

tuple!(u32, |value, to| _mm_stream_si32(to.cast(), value as i32));
tuple!(u64, |value, to| _mm_stream_si64(to.cast(), value as i64));

/// 16 bytes that move through one register.
#[cfg(target_arch = "x86_64")]
pub type Quad = __m128i;
/// 16 bytes that move through two registers.
#[cfg(not(target_arch = "x86_64"))]
pub type Quad = u128;

tuple!(Quad, |value, to| _mm_stream_si128(to, value));
#[cfg(target_arch = "x86_64")]
tuple!(__m256i, |value, to| _mm256_stream_si256(to, value));

/// 32 bytes as two halves.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Halves(Quad, Quad);

impl Tuple for Halves {
    inlined! {
        fn take(from: *const Halves) -> Halves {
            Halves(Quad::take(&raw const (*from).0), Quad::take(&raw const (*from).1))
        }
        fn put(self, to: *mut Halves) {
            self.0.put(&raw mut (*to).0);
            self.1.put(&raw mut (*to).1);
        }
        fn stream(self, to: *mut Halves) {
            self.0.stream(&raw mut (*to).0);
            self.1.stream(&raw mut (*to).1);
        }
    }
}

/// A zero-sized tuple, for keys without tuples.
#[derive(Clone, Copy)]
pub struct None;

impl Tuple for None {
    inlined! {
        fn take(_: *const None) -> None { None }
        fn put(self, _: *mut None) {}
        fn stream(self, _: *mut None) {}
    }
}
