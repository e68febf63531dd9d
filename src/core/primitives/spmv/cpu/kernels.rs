//! The timed loops: products of rows, and of a part of a row, with instances for each type and instruction set. Rows of
//! fewer entries than a vector has lanes are summed one by one with every instruction set.

use std::ops::Range;
use std::ptr::read_volatile;

use crate::device::cpu::memory::prefetch;
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::real::{Real, for_type};
use crate::primitives::spmv::Type;

/// The arrays of a product. z may be null.
#[derive(Clone, Copy)]
pub struct Call {
    pub starts: *const u32,
    pub columns: *const u32,
    pub values: *const u8,
    pub x: *const u8,
    pub z: *const u8,
    pub y: *mut u8,
}

/// The loops over rows and over parts of a row.
#[derive(Clone, Copy)]
pub struct Sum {
    /// Computes some rows.
    ///
    /// # Safety
    /// The arrays hold these rows, columns are inside x, nobody else uses these elements of y, and the processor has the
    /// instruction set.
    pub rows: unsafe fn(&Call, Range<usize>),
    /// The sum of the products of some entries, which may be added to an element of y.
    ///
    /// # Safety
    /// As for `rows`.
    pub part: unsafe fn(&Call, Range<usize>) -> f64,
}

/// The loops of a type and an instruction set.
#[derive(Clone, Copy)]
pub struct Timed {
    /// Sums of products.
    pub gathered: Sum,
    /// Stores the products of some entries whose columns are in a range.
    ///
    /// # Safety
    /// As for [`Sum::rows`]; nobody else uses these products.
    pub products: unsafe fn(&Call, Range<usize>, Range<usize>, *mut u8),
    /// Sums of values that are products already.
    pub summed: Sum,
    /// The same by a scan, which writes to the products.
    pub scanned: Sum,
    /// Sets `y[i]` to a sum, with `z[i]` if there is one, or adds the sum to `y[i]`.
    ///
    /// # Safety
    /// As for [`Sum::rows`].
    pub put: unsafe fn(&Call, usize, f64, bool),
    /// Sets some elements of y to 0, or to those of z if there is one.
    ///
    /// # Safety
    /// As for [`Sum::rows`].
    pub begin: unsafe fn(&Call, Range<usize>),
    /// Adds the products of some entries to y. The first row and column are given; `columns` are places, whose low bits,
    /// so many, are a column and whose others are a row, both counted from the first.
    ///
    /// # Safety
    /// As for [`Sum::rows`].
    pub add: unsafe fn(&Call, Range<usize>, u32, [usize; 2]),
}

/// Sums of products by an instruction set.
trait Sums<T> {
    /// Entries of the longest row for which `rows` prefetches what is [`AHEAD`] of it, before it sums the row. For longer ones
    /// `sum` prefetches, or nobody does: all at once, rows of 399 entries took 1.4 times as long on two threads of an EPYC.
    const SHORT: usize;

    /// The sum of values[e] · x[columns[e]] for `n` entries.
    ///
    /// # Safety
    /// The arrays hold that much, columns are inside x, and the processor has the instruction set.
    unsafe fn sum(values: *const T, columns: *const u32, x: *const T, n: usize) -> T;
}

/// One entry after another; volatile loads keep the compiler from vectorising. Up to 8 entries without a loop, whose
/// counting would cost as much as they do.
struct Scalar;

impl<T: Real> Sums<T> for Scalar {
    const SHORT: usize = 32;

    #[inline(always)]
    unsafe fn sum(values: *const T, columns: *const u32, x: *const T, n: usize) -> T {
        // SAFETY: by the caller's promise.
        let product = |at: usize| unsafe {
            let column = read_volatile(columns.add(at)) as usize;
            read_volatile(values.add(at)) * read_volatile(x.add(column))
        };
        match n {
            0 => T::default(),
            1 => first::<T, 1>(product),
            2 => first::<T, 2>(product),
            3 => first::<T, 3>(product),
            4 => first::<T, 4>(product),
            5 => first::<T, 5>(product),
            6 => first::<T, 6>(product),
            7 => first::<T, 7>(product),
            8 => first::<T, 8>(product),
            _ => (8..n).fold(first::<T, 8>(product), |sum, at| sum + product(at)),
        }
    }
}

/// The sum of the first N products, at least one.
#[inline(always)]
fn first<T: Real, const N: usize>(product: impl Fn(usize) -> T) -> T {
    (1..N).fold(product(0), |sum, at| sum + product(at))
}

/// Values that are products already, summed one by one.
struct Products;

impl<T: Real> Sums<T> for Products {
    const SHORT: usize = 0;

    #[inline(always)]
    unsafe fn sum(values: *const T, _columns: *const u32, _x: *const T, n: usize) -> T {
        // SAFETY: by the caller's promise.
        (0..n).fold(T::default(), |sum, at| sum + unsafe { read_volatile(values.add(at)) })
    }
}

/// Products that a backward scan replaces with its sums, of which the first is the result.
struct Scanned;

impl<T: Real> Sums<T> for Scanned {
    const SHORT: usize = 0;

    #[inline(always)]
    unsafe fn sum(values: *const T, _columns: *const u32, _x: *const T, n: usize) -> T {
        let mut sum = T::default();
        for at in (0..n).rev() {
            // SAFETY: by the caller's promise; products are in memory that may be written.
            unsafe {
                sum = read_volatile(values.add(at)) + sum;
                values.cast_mut().add(at).write_volatile(sum);
            }
        }
        sum
    }
}

/// Gathers of 256 bits.
#[cfg(target_arch = "x86_64")]
struct Avx2;

/// Gathers of 512 bits.
#[cfg(target_arch = "x86_64")]
struct Avx512;

/// A gather's indices of 32 bits are signed: it takes column − 2^31 from the address of x[2^31].
#[cfg(target_arch = "x86_64")]
const MIDDLE: u32 = 1 << 31;

/// Sums by vectors of so many lanes. The expression has the products of the next entries, at most as many, and 0 in the
/// other lanes.
#[cfg(target_arch = "x86_64")]
macro_rules! gathered {
    ($isa:ident, $t:ty, $lanes:literal, $zero:ident, $add:ident, |$values:ident, $columns:ident, $middle:ident, $n:ident| $products:expr) => {
        impl Sums<$t> for $isa {
            const SHORT: usize = $lanes - 1;

            #[inline(always)]
            unsafe fn sum(values: *const $t, columns: *const u32, x: *const $t, n: usize) -> $t {
                use std::arch::x86_64::*;
                if n < $lanes {
                    // SAFETY: by the caller's promise.
                    return unsafe { Scalar::sum(values, columns, x, n) };
                }
                // A few entries behind whole vectors take less time one by one than with a mask.
                let rest = if n % $lanes <= $lanes / 2 { n % $lanes } else { 0 };
                // SAFETY: by the caller's promise; lanes behind the last entry are masked.
                unsafe {
                    let behind = Scalar::sum(values.add(n - rest), columns.add(n - rest), x, rest);
                    let mut sums = $zero();
                    for first in (0..n - rest).step_by($lanes) {
                        let ($values, $columns, $n) = (values.add(first), columns.add(first), n - first);
                        let $middle = x.wrapping_add(MIDDLE as usize);
                        fetch_later($values, $columns);
                        sums = $add(sums, $products);
                    }
                    let sums: [$t; $lanes] = std::mem::transmute(sums);
                    total(sums) + behind
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
gathered!(Avx2, f32, 8, _mm256_setzero_ps, _mm256_add_ps, |values, columns, middle, n| {
    let lanes =
        _mm256_cmpgt_epi32(_mm256_set1_epi32(n.min(8) as i32), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    let columns =
        _mm256_xor_si256(_mm256_maskload_epi32(columns.cast(), lanes), _mm256_set1_epi32(MIDDLE as i32));
    let x = _mm256_mask_i32gather_ps::<4>(_mm256_setzero_ps(), middle, columns, _mm256_castsi256_ps(lanes));
    _mm256_mul_ps(_mm256_maskload_ps(values, lanes), x)
});
#[cfg(target_arch = "x86_64")]
gathered!(Avx2, f64, 4, _mm256_setzero_pd, _mm256_add_pd, |values, columns, middle, n| {
    let half = _mm_cmpgt_epi32(_mm_set1_epi32(n.min(4) as i32), _mm_setr_epi32(0, 1, 2, 3));
    let columns = _mm_xor_si128(_mm_maskload_epi32(columns.cast(), half), _mm_set1_epi32(MIDDLE as i32));
    let lanes = _mm256_cvtepi32_epi64(half);
    let x = _mm256_mask_i32gather_pd::<8>(_mm256_setzero_pd(), middle, columns, _mm256_castsi256_pd(lanes));
    _mm256_mul_pd(_mm256_maskload_pd(values, lanes), x)
});
#[cfg(target_arch = "x86_64")]
gathered!(Avx512, f32, 16, _mm512_setzero_ps, _mm512_add_ps, |values, columns, middle, n| {
    let lanes = u16::MAX >> 16usize.saturating_sub(n);
    let columns = _mm512_maskz_loadu_epi32(lanes, columns.cast());
    let columns = _mm512_xor_si512(columns, _mm512_set1_epi32(MIDDLE as i32));
    let x = _mm512_mask_i32gather_ps::<4>(_mm512_setzero_ps(), lanes, columns, middle);
    _mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, values), x)
});
#[cfg(target_arch = "x86_64")]
gathered!(Avx512, f64, 8, _mm512_setzero_pd, _mm512_add_pd, |values, columns, middle, n| {
    let lanes = u8::MAX >> 8usize.saturating_sub(n);
    let columns = _mm256_maskz_loadu_epi32(lanes, columns.cast());
    let columns = _mm256_xor_si256(columns, _mm256_set1_epi32(MIDDLE as i32));
    let x = _mm512_mask_i32gather_pd::<8>(_mm512_setzero_pd(), lanes, columns, middle);
    _mm512_mul_pd(_mm512_maskz_loadu_pd(lanes, values), x)
});

/// The sum of a vector's lanes, a power of two: half of them at a time.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn total<T: Real, const N: usize>(mut lanes: [T; N]) -> T {
    let mut half = N / 2;
    while half > 0 {
        (0..half).for_each(|at| lanes[at] = lanes[at] + lanes[at + half]);
        half /= 2;
    }
    lanes[0]
}

/// Entries between what is summed and what is fetched: 2 KiB of columns. Loads of x wait, and with them the loads of what
/// comes next.
const AHEAD: usize = 512;

/// Fetches a value and a column that are [`AHEAD`] entries after these.
#[inline(always)]
fn fetch_later<T>(values: *const T, columns: *const u32) {
    prefetch(values.wrapping_add(AHEAD));
    prefetch(columns.wrapping_add(AHEAD));
}

#[inline(always)]
unsafe fn rows<T: Real, S: Sums<T>>(call: &Call, rows: Range<usize>) {
    let (values, x) = (call.values.cast::<T>(), call.x.cast::<T>());
    for row in rows {
        // SAFETY: by the caller's promise.
        unsafe {
            let (begin, end) = (*call.starts.add(row) as usize, *call.starts.add(row + 1) as usize);
            if end - begin <= S::SHORT {
                let mut at = begin;
                while at < end {
                    fetch_later(values.add(at), call.columns.add(at));
                    at += 64 / size_of::<T>();
                }
            }
            let sum = S::sum(values.add(begin), call.columns.add(begin), x, end - begin);
            let z = if call.z.is_null() { T::default() } else { *call.z.cast::<T>().add(row) };
            *call.y.cast::<T>().add(row) = sum + z;
        }
    }
}

#[inline(always)]
unsafe fn part<T: Real, S: Sums<T>>(call: &Call, entries: Range<usize>) -> f64 {
    let (values, columns) = (call.values.cast::<T>(), call.columns);
    // SAFETY: by the caller's promise.
    unsafe {
        S::sum(values.add(entries.start), columns.add(entries.start), call.x.cast(), entries.len()).wide()
    }
}

unsafe fn products<T: Real>(call: &Call, entries: Range<usize>, columns: Range<usize>, products: *mut u8) {
    let (values, x, products) = (call.values.cast::<T>(), call.x.cast::<T>(), products.cast::<T>());
    for at in entries {
        // SAFETY: by the caller's promise.
        unsafe {
            let column = read_volatile(call.columns.add(at)) as usize;
            if columns.contains(&column) {
                *products.add(at) = *values.add(at) * *x.add(column);
            }
        }
    }
}

unsafe fn put<T: Real>(call: &Call, row: usize, sum: f64, more: bool) {
    // SAFETY: by the caller's promise.
    unsafe {
        let y = call.y.cast::<T>().add(row);
        *y = match (more, call.z.is_null()) {
            (true, _) => *y + T::of(sum),
            (false, true) => T::of(sum),
            (false, false) => *call.z.cast::<T>().add(row) + T::of(sum),
        };
    }
}

unsafe fn begin<T: Real>(call: &Call, rows: Range<usize>) {
    for row in rows {
        // SAFETY: by the caller's promise.
        unsafe {
            let z = if call.z.is_null() { T::default() } else { *call.z.cast::<T>().add(row) };
            *call.y.cast::<T>().add(row) = z;
        }
    }
}

unsafe fn add<T: Real>(call: &Call, entries: Range<usize>, bits: u32, [row, column]: [usize; 2]) {
    let (places, values, mask) = (call.columns, call.values.cast::<T>(), (1u32 << bits) - 1);
    // SAFETY: by the caller's promise.
    let (x, y) = unsafe { (call.x.cast::<T>().add(column), call.y.cast::<T>().add(row)) };
    for at in entries {
        // SAFETY: by the caller's promise.
        unsafe {
            let place = read_volatile(places.add(at));
            let product = *values.add(at) * *x.add((place & mask) as usize);
            let sum = y.add((place >> bits) as usize);
            *sum = *sum + product;
        }
    }
}

macro_rules! instances {
    ($isa:ident, $sums:ident $(, $feature:literal)?) => {
        mod $isa {
            use super::{Call, Range, Real, Sum, Sums};

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn rows<T: Real>(call: &Call, rows: Range<usize>)
            where
                super::$sums: Sums<T>,
            {
                // SAFETY: by the caller's promise.
                unsafe { super::rows::<T, super::$sums>(call, rows) }
            }

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn part<T: Real>(call: &Call, entries: Range<usize>) -> f64
            where
                super::$sums: Sums<T>,
            {
                // SAFETY: by the caller's promise.
                unsafe { super::part::<T, super::$sums>(call, entries) }
            }

            pub fn sum<T: Real>() -> Sum
            where
                super::$sums: Sums<T>,
            {
                Sum { rows: rows::<T>, part: part::<T> }
            }
        }
    };
}

instances!(scalar, Scalar);
instances!(summed, Products);
instances!(scanned, Scanned);
#[cfg(target_arch = "x86_64")]
instances!(avx2, Avx2, "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, Avx512, "avx512f,avx512dq,avx512vl");

/// The loops for values of a type and an instruction set that is present.
pub fn timed(ty: Type, isa: Isa) -> Timed {
    for_type!(ty, T => Timed {
        gathered: of_isa!(isa, sum::<T>()),
        products: products::<T>,
        summed: summed::sum::<T>(),
        scanned: scanned::sum::<T>(),
        put: put::<T>,
        begin: begin::<T>,
        add: add::<T>,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::Buffer;

    /// Sums of 0 to 64 entries, with columns at the ends of both halves of 32 bits.
    #[test]
    fn sums_reach_every_column_of_32_bits() {
        const COLUMNS: [u32; 4] = [0, (1 << 31) - 1, 1 << 31, u32::MAX];
        let at = |k: usize| (COLUMNS[k % 4], (k + 1) as f64, (k % 4 + 1) as f64);
        for (ty, bytes) in [(Type::F32, 4), (Type::F64, 8)] {
            // Of x only the pages are in memory that are used.
            let x = Buffer::new(bytes << 32).expect("addresses");
            let (values, columns) =
                (Buffer::new(64 * bytes).expect("memory"), Buffer::new(256).expect("memory"));
            let put = |array: &Buffer, at: usize, number: f64| {
                // SAFETY: inside the arrays, which nobody else uses.
                unsafe {
                    match ty {
                        Type::F32 => array.ptr::<f32>().add(at).write(number as f32),
                        Type::F64 => array.ptr::<f64>().add(at).write(number),
                    }
                }
            };
            for k in 0..64 {
                let (column, value, factor) = at(k);
                put(&x, column as usize, factor);
                put(&values, k, value);
                // SAFETY: inside the array, which nobody else uses.
                unsafe { columns.ptr::<u32>().add(k).write(column) };
            }
            let call = Call {
                starts: std::ptr::null(),
                columns: columns.ptr(),
                values: values.ptr(),
                x: x.ptr(),
                z: std::ptr::null(),
                y: std::ptr::null_mut(),
            };
            for isa in Isa::ALL.into_iter().filter(|isa| isa.present()) {
                for n in 0..=64 {
                    let sum = (0..n).map(at).map(|(_, value, factor)| value * factor).sum::<f64>();
                    // SAFETY: the arrays hold these entries, and the instruction set is present.
                    assert_eq!(
                        unsafe { (timed(ty, isa).gathered.part)(&call, 0..n) },
                        sum,
                        "{ty:?} {isa:?}, {n} entries"
                    );
                }
            }
        }
    }
}
