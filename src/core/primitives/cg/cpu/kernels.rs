//! The timed loops over a range of rows: one generic body, and instances for each instruction set. Every sum has the same
//! lanes in each of them, and no multiplication is fused with an addition, so that results are the same bit for bit.

use std::ops::Range;
use std::ptr::read_volatile;

use crate::device::cpu::{Isa, of_isa};
use crate::primitives::cg::Real;

/// The matrix, in compressed rows, to which `diagonal` times the identity is added.
#[derive(Clone, Copy)]
pub struct Rows<T> {
    pub starts: *const u32,
    pub columns: *const u32,
    pub values: *const T,
    pub diagonal: T,
}

/// Loops over rows.
///
/// # Safety
/// The arrays hold these rows, nobody else writes what is written, and the processor has the instruction set.
pub struct Kernels<T> {
    /// y = A·x
    pub product: unsafe fn(Rows<T>, *const T, *mut T, Range<usize>),
    /// x·y in f64
    pub dot: unsafe fn(*const T, *const T, Range<usize>) -> f64,
    /// y = b·y + a·x
    pub combine: unsafe fn(f64, *const T, f64, *mut T, Range<usize>),
}

/// Lanes of a dot product.
const LANES: usize = 8;

/// The sum of a row in lanes, of which there are as many as a vector of AVX-512 has.
pub trait Lanes: Real {
    /// An array of lanes.
    type Sums: AsMut<[Self]> + Copy;
    const ZERO: Self::Sums;

    /// Adds products values[k]·x[columns[k]] for k in [0, n) to lane k mod LANES; all of them that fill whole vectors,
    /// whose number is returned.
    ///
    /// # Safety
    /// The arrays hold what is read, and the processor has AVX2 or AVX-512.
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx2(values: *const Self, columns: *const u32, x: *const Self, n: usize)
    -> (Self::Sums, usize);
    #[cfg(target_arch = "x86_64")]
    unsafe fn avx512(
        values: *const Self,
        columns: *const u32,
        x: *const Self,
        n: usize,
    ) -> (Self::Sums, usize);
}

/// The sums of a type in arrays of vectors, with the functions that make, add, multiply and load them and gather from x.
macro_rules! lanes {
    ($t:ident in $lanes:literal: $(
        $isa:ident [$vector:ident; $parts:literal] $zero:ident $add:ident $mul:ident $load:ident
        |$x:ident, $columns:ident| $gathered:expr;
    )+) => {
        impl Lanes for $t {
            type Sums = [$t; $lanes];
            const ZERO: [$t; $lanes] = [0.0; $lanes];

            $(
                #[cfg(target_arch = "x86_64")]
                #[inline(always)]
                unsafe fn $isa(values: *const $t, columns: *const u32, $x: *const $t, n: usize) -> ([$t; $lanes], usize) {
                    use std::arch::x86_64::*;
                    let whole = n / $lanes * $lanes;
                    // SAFETY: by the caller's promise; a vector is an array of its lanes.
                    unsafe {
                        let mut sums = [$zero(); $parts];
                        for k in (0..whole).step_by($lanes) {
                            for (part, sum) in sums.iter_mut().enumerate() {
                                let at = k + $lanes / $parts * part;
                                let $columns = columns.add(at).cast();
                                *sum = $add(*sum, $mul($load(values.add(at)), $gathered));
                            }
                        }
                        (std::mem::transmute::<[$vector; $parts], [$t; $lanes]>(sums), whole)
                    }
                }
            )+
        }
    };
}

lanes! { f64 in 8:
    avx2 [__m256d; 2] _mm256_setzero_pd _mm256_add_pd _mm256_mul_pd _mm256_loadu_pd
        |x, columns| _mm256_i32gather_pd::<8>(x, _mm_loadu_si128(columns));
    avx512 [__m512d; 1] _mm512_setzero_pd _mm512_add_pd _mm512_mul_pd _mm512_loadu_pd
        |x, columns| _mm512_i32gather_pd::<8>(_mm256_loadu_si256(columns), x);
}
lanes! { f32 in 16:
    avx2 [__m256; 2] _mm256_setzero_ps _mm256_add_ps _mm256_mul_ps _mm256_loadu_ps
        |x, columns| _mm256_i32gather_ps::<4>(x, _mm256_loadu_si256(columns));
    avx512 [__m512; 1] _mm512_setzero_ps _mm512_add_ps _mm512_mul_ps _mm512_loadu_ps
        |x, columns| _mm512_i32gather_ps::<4>(_mm512_loadu_si512(columns), x);
}

/// An element; in the kernels of one element at a time, volatile loads keep the compiler from vectorizing.
#[inline(always)]
unsafe fn load<T: Copy, const ALONE: bool>(at: *const T) -> T {
    // SAFETY: by the caller's promise.
    unsafe { if ALONE { read_volatile(at) } else { at.read() } }
}

#[inline(always)]
unsafe fn product<T: Lanes, const ALONE: bool>(
    a: Rows<T>,
    x: *const T,
    y: *mut T,
    rows: Range<usize>,
    vectors: impl Fn(*const T, *const u32, *const T, usize) -> (T::Sums, usize),
) {
    for row in rows {
        // SAFETY: by the caller's promise.
        unsafe {
            let (first, end) = (*a.starts.add(row) as usize, *a.starts.add(row + 1) as usize);
            let (values, columns, n) =
                (a.values.wrapping_add(first), a.columns.wrapping_add(first), end - first);
            let (mut sums, done) = vectors(values, columns, x, n);
            let lanes = sums.as_mut();
            let count = lanes.len();
            for k in done..n {
                let column = load::<_, ALONE>(columns.add(k)) as usize;
                let term = load::<_, ALONE>(values.add(k)) * load::<_, ALONE>(x.add(column));
                lanes[k % count] = lanes[k % count] + term;
            }
            let sum = lanes.iter().fold(T::default(), |sum, lane| sum + *lane);
            *y.add(row) = sum + a.diagonal * load::<_, ALONE>(x.add(row));
        }
    }
}

/// Stores the products of some entries whose columns are in a range, one by one with every instruction set.
///
/// # Safety
/// As for [`Kernels`]; nobody else uses these products.
pub unsafe fn gather<T: Real>(
    a: Rows<T>,
    x: *const T,
    entries: Range<usize>,
    columns: Range<usize>,
    products: *mut T,
) {
    for at in entries {
        // SAFETY: by the caller's promise.
        unsafe {
            let column = read_volatile(a.columns.add(at)) as usize;
            if columns.contains(&column) {
                *products.add(at) = *a.values.add(at) * *x.add(column);
            }
        }
    }
}

/// y = A·x, of whose entries the values are products already, one by one with every instruction set.
///
/// # Safety
/// As for [`Kernels`].
pub unsafe fn sums<T: Real>(a: Rows<T>, x: *const T, y: *mut T, rows: Range<usize>) {
    for row in rows {
        // SAFETY: by the caller's promise.
        unsafe {
            let entries = *a.starts.add(row) as usize..*a.starts.add(row + 1) as usize;
            let sum = entries.fold(T::default(), |sum, at| sum + read_volatile(a.values.add(at)));
            *y.add(row) = sum + a.diagonal * *x.add(row);
        }
    }
}

#[inline(always)]
unsafe fn dot<T: Real, const ALONE: bool>(x: *const T, y: *const T, rows: Range<usize>) -> f64 {
    // SAFETY: by the caller's promise.
    let term = |at: usize| unsafe { load::<_, ALONE>(x.add(at)).wide() * load::<_, ALONE>(y.add(at)).wide() };
    let (mut lanes, mut at) = ([0.0; LANES], rows.start);
    while !ALONE && at + LANES <= rows.end {
        for (k, lane) in lanes.iter_mut().enumerate() {
            *lane += term(at + k);
        }
        at += LANES;
    }
    for i in at..rows.end {
        lanes[(i - rows.start) % LANES] += term(i);
    }
    lanes.into_iter().sum()
}

#[inline(always)]
unsafe fn combine<T: Real, const ALONE: bool>(a: f64, x: *const T, b: f64, y: *mut T, rows: Range<usize>) {
    let (a, b) = (T::of(a), T::of(b));
    for i in rows {
        // SAFETY: by the caller's promise.
        unsafe { *y.add(i) = b * load::<_, ALONE>(y.add(i)) + a * load::<_, ALONE>(x.add(i)) };
    }
}

macro_rules! instances {
    ($isa:ident, $alone:literal, $vectors:expr $(, $feature:literal)?) => {
        mod $isa {
            use super::{Kernels, Lanes, Rows};
            use std::ops::Range;

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn product<T: Lanes>(a: Rows<T>, x: *const T, y: *mut T, rows: Range<usize>) {
                // SAFETY: by the caller's promise.
                unsafe { super::product::<T, $alone>(a, x, y, rows, $vectors) }
            }

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn dot<T: Lanes>(x: *const T, y: *const T, rows: Range<usize>) -> f64 {
                // SAFETY: by the caller's promise.
                unsafe { super::dot::<T, $alone>(x, y, rows) }
            }

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn combine<T: Lanes>(a: f64, x: *const T, b: f64, y: *mut T, rows: Range<usize>) {
                // SAFETY: by the caller's promise.
                unsafe { super::combine::<T, $alone>(a, x, b, y, rows) }
            }

            pub fn all<T: Lanes>() -> Kernels<T> {
                Kernels { product, dot, combine }
            }
        }
    };
}

instances!(scalar, true, |_, _, _, _| (T::ZERO, 0));
#[cfg(target_arch = "x86_64")]
instances!(avx2, false, |v, c, x, n| T::avx2(v, c, x, n), "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, false, |v, c, x, n| T::avx512(v, c, x, n), "avx512f,avx512dq,avx512vl");

/// The loops for an instruction set that is present.
pub fn kernels<T: Lanes>(isa: Isa) -> Kernels<T> {
    of_isa!(isa, all())
}
