//! Vectors of eight words, with masked tails.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what `Simd` and its subtraits ask for"
)]

use std::arch::x86_64::*;

use super::{Fold, Index, Lanes, Scatter, Simd, inlined};

/// AVX-512 F, VL, BW and DQ.
#[derive(Clone, Copy, Debug)]
pub struct Avx512;

/// A mask of the first `n` lanes.
#[inline(always)]
fn first(n: usize) -> __mmask8 {
    ((1u32 << n) - 1) as __mmask8
}

impl Simd for Avx512 {
    const LANES: usize = 8;
    type At = __m512i;

    inlined! {
        fn at<I: Index>(from: *const I) -> __m512i {
            match I::BYTES {
                4 => _mm512_cvtepu32_epi64(_mm256_loadu_si256(from.cast())),
                _ => _mm512_loadu_si512(from.cast()),
            }
        }
        fn at_some<I: Index>(from: *const I, n: usize) -> __m512i {
            match I::BYTES {
                4 => _mm512_cvtepu32_epi64(_mm256_maskz_loadu_epi32(first(n), from.cast())),
                _ => _mm512_maskz_loadu_epi64(first(n), from.cast()),
            }
        }
        fn first(at: __m512i) -> usize { _mm_cvtsi128_si64(_mm512_castsi512_si128(at)) as usize }
        fn through<I: Index>(table: *const I, at: __m512i) -> __m512i {
            match I::BYTES {
                4 => _mm512_cvtepu32_epi64(_mm512_i64gather_epi32::<4>(at, table.cast())),
                _ => _mm512_i64gather_epi64::<8>(at, table.cast()),
            }
        }
    }

    #[inline(always)]
    unsafe fn select<I: Index>(
        locations: *const I,
        n: usize,
        low: u64,
        width: u64,
        queue: *mut u32,
    ) -> usize {
        unsafe {
            let (low, width) = (_mm512_set1_epi64(low as i64), _mm512_set1_epi64(width as i64));
            let mut positions = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
            let (mut found, mut k) = (0, 0);
            while k < n {
                let (at, valid) = match n - k {
                    left @ 1..8 => (Self::at_some(locations.add(k), left), first(left)),
                    _ => (Self::at(locations.add(k)), 0xFF),
                };
                let mine = _mm512_mask_cmplt_epu64_mask(valid, _mm512_sub_epi64(at, low), width);
                // Compress in a register, then store: compressing to memory is microcoded on some CPUs.
                let packed = _mm256_maskz_compress_epi32(mine, positions);
                _mm256_storeu_si256(queue.add(found).cast(), packed);
                found += mine.count_ones() as usize;
                positions = _mm256_add_epi32(positions, _mm256_set1_epi32(8));
                k += 8;
            }
            found
        }
    }
}

impl Lanes<u64> for Avx512 {
    type Data = __m512i;

    inlined! {
        fn gather(from: *const u64, at: __m512i) -> __m512i { _mm512_i64gather_epi64::<8>(at, from.cast()) }
        fn gather_some(from: *const u64, at: __m512i, n: usize) -> __m512i {
            _mm512_mask_i64gather_epi64::<8>(_mm512_setzero_si512(), first(n), at, from.cast())
        }
        fn load(from: *const u64) -> __m512i { _mm512_loadu_si512(from.cast()) }
        fn load_some(from: *const u64, n: usize) -> __m512i {
            _mm512_maskz_loadu_epi64(first(n), from.cast())
        }
        fn store(to: *mut u64, data: __m512i) { _mm512_storeu_si512(to.cast(), data) }
        fn store_some(to: *mut u64, data: __m512i, n: usize) {
            _mm512_mask_storeu_epi64(to.cast(), first(n), data)
        }
        fn stream(to: *mut u64, data: __m512i) { _mm512_stream_si512(to.cast(), data) }
    }
}

impl Scatter<u64> for Avx512 {
    inlined! {
        fn scatter(to: *mut u64, at: __m512i, data: __m512i) {
            _mm512_i64scatter_epi64::<8>(to.cast(), at, data)
        }
        fn scatter_some(to: *mut u64, at: __m512i, data: __m512i, n: usize) {
            _mm512_mask_i64scatter_epi64::<8>(to.cast(), first(n), at, data)
        }
    }
}

impl Lanes<u32> for Avx512 {
    type Data = __m256i;

    inlined! {
        fn gather(from: *const u32, at: __m512i) -> __m256i { _mm512_i64gather_epi32::<4>(at, from.cast()) }
        fn gather_some(from: *const u32, at: __m512i, n: usize) -> __m256i {
            _mm512_mask_i64gather_epi32::<4>(_mm256_setzero_si256(), first(n), at, from.cast())
        }
        fn load(from: *const u32) -> __m256i { _mm256_loadu_si256(from.cast()) }
        fn load_some(from: *const u32, n: usize) -> __m256i {
            _mm256_maskz_loadu_epi32(first(n), from.cast())
        }
        fn store(to: *mut u32, data: __m256i) { _mm256_storeu_si256(to.cast(), data) }
        fn store_some(to: *mut u32, data: __m256i, n: usize) {
            _mm256_mask_storeu_epi32(to.cast(), first(n), data)
        }
        fn stream(to: *mut u32, data: __m256i) { _mm256_stream_si256(to.cast(), data) }
    }
}

impl Scatter<u32> for Avx512 {
    inlined! {
        fn scatter(to: *mut u32, at: __m512i, data: __m256i) {
            _mm512_i64scatter_epi32::<4>(to.cast(), at, data)
        }
        fn scatter_some(to: *mut u32, at: __m512i, data: __m256i, n: usize) {
            _mm512_mask_i64scatter_epi32::<4>(to.cast(), first(n), at, data)
        }
    }
}

impl Fold for Avx512 {
    inlined! {
        fn zero() -> __m512i { _mm512_setzero_si512() }
        fn fold(a: __m512i, b: __m512i) -> __m512i { _mm512_add_epi64(a, b) }
        fn total(a: __m512i) -> u64 {
            let mut words = [0u64; 8];
            _mm512_storeu_si512(words.as_mut_ptr().cast(), a);
            words.into_iter().fold(0, super::fold)
        }
    }
}
