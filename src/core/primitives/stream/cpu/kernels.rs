//! The timed loops: one generic body, and a named function for each kernel and instruction set.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::ptr::{read_volatile, write_volatile};

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use crate::device::cpu::simd::inlined;
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::stream::{Kernel, Method, Q, WRITTEN};

/// One launch: `n` elements of the destination and of up to two sources.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    pub to: *mut f64,
    pub x: *const f64,
    pub y: *const f64,
    pub n: usize,
}

/// A timed kernel. `read` returns the sum, the others return 0.
///
/// # Safety
/// The span's arrays hold `n` elements, and the processor has the instruction set.
pub type Timed = unsafe fn(&Span) -> f64;

/// A vector of f64.
trait Lanes: Copy {
    const N: usize;
    unsafe fn splat(value: f64) -> Self;
    unsafe fn load(from: *const f64) -> Self;
    unsafe fn store(self, to: *mut f64);
    /// Non-temporal store; `to` is aligned to the vector.
    unsafe fn stream(self, to: *mut f64);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn mul(self, other: Self) -> Self;
}

/// A single element: volatile accesses keep the compiler from vectorizing.
impl Lanes for f64 {
    const N: usize = 1;

    inlined! {
        fn splat(value: f64) -> f64 { value }
        fn load(from: *const f64) -> f64 { read_volatile(from) }
        fn store(self, to: *mut f64) { write_volatile(to, self) }
        #[cfg(target_arch = "x86_64")]
        fn stream(self, to: *mut f64) { _mm_stream_si64(to.cast(), self.to_bits() as i64) }
        #[cfg(not(target_arch = "x86_64"))]
        fn stream(self, to: *mut f64) { self.store(to) }
        fn add(self, other: f64) -> f64 { self + other }
        fn mul(self, other: f64) -> f64 { self * other }
    }
}

macro_rules! lanes {
    ($($v:ty: $n:literal, $splat:ident $load:ident $store:ident $stream:ident $add:ident $mul:ident;)+) => { $(
        #[cfg(target_arch = "x86_64")]
        impl Lanes for $v {
            const N: usize = $n;

            inlined! {
                fn splat(value: f64) -> $v { $splat(value) }
                fn load(from: *const f64) -> $v { $load(from) }
                fn store(self, to: *mut f64) { $store(to, self) }
                fn stream(self, to: *mut f64) { $stream(to, self) }
                fn add(self, other: $v) -> $v { $add(self, other) }
                fn mul(self, other: $v) -> $v { $mul(self, other) }
            }
        }
    )+ };
}

lanes! {
    __m256d: 4, _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_stream_pd _mm256_add_pd _mm256_mul_pd;
    __m512d: 8, _mm512_set1_pd _mm512_loadu_pd _mm512_storeu_pd _mm512_stream_pd _mm512_add_pd _mm512_mul_pd;
}

/// The value that a kernel stores at element `i`.
trait Formula {
    unsafe fn value<V: Lanes>(s: &Span, i: usize) -> V;
}

macro_rules! formula {
    ($name:ident, |$s:ident, $i:ident| $value:expr) => {
        struct $name;
        impl Formula for $name {
            inlined! {
                fn value<V: Lanes>($s: &Span, $i: usize) -> V { $value }
            }
        }
    };
}

formula!(Write, |_s, _i| V::splat(WRITTEN));
formula!(Copied, |s, i| V::load(s.x.add(i)));
formula!(Scale, |s, i| V::splat(Q).mul(V::load(s.x.add(i))));
formula!(Add, |s, i| V::load(s.x.add(i)).add(V::load(s.y.add(i))));
formula!(Triad, |s, i| V::load(s.x.add(i)).add(V::splat(Q).mul(V::load(s.y.add(i)))));

/// Vectors per iteration of an unrolled loop.
const UNROLL: usize = 4;

#[inline(always)]
unsafe fn put<V: Lanes, const NT: bool>(value: V, to: *mut f64) {
    unsafe { if NT { value.stream(to) } else { value.store(to) } }
}

#[inline(always)]
unsafe fn map<V: Lanes, F: Formula, const NT: bool>(s: &Span) -> f64 {
    unsafe {
        let mut i = 0;
        if NT {
            while i < s.n && !(s.to.add(i) as usize).is_multiple_of(size_of::<V>()) {
                F::value::<f64>(s, i).store(s.to.add(i));
                i += 1;
            }
        }
        while i + UNROLL * V::N <= s.n {
            let mut u = 0;
            while u < UNROLL {
                put::<V, NT>(F::value(s, i + u * V::N), s.to.add(i + u * V::N));
                u += 1;
            }
            i += UNROLL * V::N;
        }
        while i < s.n {
            F::value::<f64>(s, i).store(s.to.add(i));
            i += 1;
        }
    }
    0.0
}

/// Sums in eight vectors of partial sums: exact, because values are small integers.
#[inline(always)]
unsafe fn sum<V: Lanes>(s: &Span) -> f64 {
    unsafe {
        let mut partial = [V::splat(0.0); 8];
        let mut i = 0;
        while i + 8 * V::N <= s.n {
            let mut u = 0;
            while u < 8 {
                partial[u] = partial[u].add(V::load(s.x.add(i + u * V::N)));
                u += 1;
            }
            i += 8 * V::N;
        }
        let mut total = 0.0;
        let mut lanes = [0.0; 8];
        for vector in partial {
            vector.store(lanes.as_mut_ptr());
            for lane in lanes.iter().take(V::N) {
                total += read_volatile(lane);
            }
        }
        while i < s.n {
            total += f64::load(s.x.add(i));
            i += 1;
        }
        total
    }
}

macro_rules! named {
    ($isa:ident, $v:ty $(, $feature:literal)?) => {
        named!(@mod $isa, $v, [$($feature)?],
            Write write Write, Copy copy Copied, Scale scale Scale, Add add Add, Triad triad Triad);
    };
    (@mod $isa:ident, $v:ty, $features:tt, $($kernel:ident $name:ident $formula:ident),*) => {
        /// The kernels of one instruction set.
        pub mod $isa {
            use super::*;

            named!(@fn $features, read, [], super::sum::<$v>);
            $(named!(@fn $features, $name, [const NT: bool], map::<$v, $formula, NT>);)*

            pub(super) fn select(kernel: Kernel, method: Method) -> Timed {
                match (kernel, method) {
                    (Kernel::Read, _) => read,
                    $(
                        (Kernel::$kernel, Method::Direct) => $name::<false>,
                        (Kernel::$kernel, Method::Streaming) => $name::<true>,
                    )*
                }
            }
        }
    };
    (@fn [$($feature:literal)?], $name:ident, [$($generics:tt)*], $body:expr) => {
        $(#[target_feature(enable = $feature)])?
        #[inline(never)]
        unsafe fn $name<$($generics)*>(s: &Span) -> f64 {
            unsafe { $body(s) }
        }
    };
}

named!(scalar, f64);
#[cfg(target_arch = "x86_64")]
named!(avx2, __m256d, "avx2");
#[cfg(target_arch = "x86_64")]
named!(avx512, __m512d, "avx512f");

/// The timed kernel of an instruction set that is present.
pub fn timed(kernel: Kernel, method: Method, isa: Isa) -> Timed {
    of_isa!(isa, select(kernel, method))
}
