//! Vectors of f32 values for each instruction set: their products truncated to integers, and counts of the
//! values that are at least a splitter.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;
use std::ptr::read_volatile;

use crate::device::cpu::simd::inlined;

/// The most values that a vector has.
pub const WIDEST: usize = 16;

/// A vector of values.
///
/// # Safety
/// The functions use the instruction set without checking that it is present.
pub trait Lanes: Copy {
    const N: usize;
    /// A 32-bit count for each lane.
    type Counts: Copy;

    unsafe fn load(from: *const f32) -> Self;
    unsafe fn splat(value: f32) -> Self;
    /// Writes ⌊self · scale⌋ of each lane, computed without rounding; the products must be below 2^31.
    unsafe fn floors(self, scale: f32, to: *mut u32);
    unsafe fn none() -> Self::Counts;
    /// Adds one to the counts of the lanes that are at least `splitter`'s.
    unsafe fn count(self, splitter: Self, counts: Self::Counts) -> Self::Counts;
    unsafe fn total(counts: Self::Counts) -> u64;
}

/// A single value: the volatile load keeps the compiler from vectorising.
impl Lanes for f32 {
    const N: usize = 1;
    type Counts = u32;

    inlined! {
        fn load(from: *const f32) -> f32 { read_volatile(from) }
        fn splat(value: f32) -> f32 { value }
        fn floors(self, scale: f32, to: *mut u32) {
            // The product of two f32 is exact in f64.
            *to = (f64::from(self) * f64::from(scale)).to_int_unchecked::<i32>() as u32;
        }
        fn none() -> u32 { 0 }
        fn count(self, splitter: f32, counts: u32) -> u32 { counts + u32::from(self >= splitter) }
        fn total(counts: u32) -> u64 { u64::from(counts) }
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for __m256 {
    const N: usize = 8;
    type Counts = __m256i;

    inlined! {
        fn load(from: *const f32) -> __m256 { _mm256_loadu_ps(from) }
        fn splat(value: f32) -> __m256 { _mm256_set1_ps(value) }
        fn floors(self, scale: f32, to: *mut u32) {
            let scale = _mm256_set1_pd(f64::from(scale));
            let low = _mm256_cvtps_pd(_mm256_castps256_ps128(self));
            let high = _mm256_cvtps_pd(_mm256_extractf128_ps::<1>(self));
            _mm_storeu_si128(to.cast(), _mm256_cvttpd_epi32(_mm256_mul_pd(low, scale)));
            _mm_storeu_si128(to.add(4).cast(), _mm256_cvttpd_epi32(_mm256_mul_pd(high, scale)));
        }
        fn none() -> __m256i { _mm256_setzero_si256() }
        fn count(self, splitter: __m256, counts: __m256i) -> __m256i {
            // A lane that compares true is −1.
            _mm256_sub_epi32(counts, _mm256_castps_si256(_mm256_cmp_ps::<_CMP_GE_OQ>(self, splitter)))
        }
        fn total(counts: __m256i) -> u64 {
            let mut lanes = [0u32; 8];
            _mm256_storeu_si256(lanes.as_mut_ptr().cast(), counts);
            lanes.into_iter().map(u64::from).sum()
        }
    }
}

#[cfg(target_arch = "x86_64")]
impl Lanes for __m512 {
    const N: usize = 16;
    type Counts = __m512i;

    inlined! {
        fn load(from: *const f32) -> __m512 { _mm512_loadu_ps(from) }
        fn splat(value: f32) -> __m512 { _mm512_set1_ps(value) }
        fn floors(self, scale: f32, to: *mut u32) {
            // The product is rounded towards zero, so it keeps the integer part of the exact product.
            const CUT: i32 = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
            let product = _mm512_mul_round_ps::<CUT>(self, _mm512_set1_ps(scale));
            _mm512_storeu_si512(to.cast(), _mm512_cvttps_epi32(product));
        }
        fn none() -> __m512i { _mm512_setzero_si512() }
        fn count(self, splitter: __m512, counts: __m512i) -> __m512i {
            let above = _mm512_cmp_ps_mask::<_CMP_GE_OQ>(self, splitter);
            _mm512_mask_add_epi32(counts, above, counts, _mm512_set1_epi32(1))
        }
        fn total(counts: __m512i) -> u64 {
            let mut lanes = [0u32; 16];
            _mm512_storeu_si512(lanes.as_mut_ptr().cast(), counts);
            lanes.into_iter().map(u64::from).sum()
        }
    }
}
