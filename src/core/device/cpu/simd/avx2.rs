//! Vectors of four words. AVX2 has gathers but no scatters.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what `Simd` and its subtraits ask for"
)]

use std::arch::x86_64::*;

use super::{Fold, Index, Lanes, Simd, inlined};

/// AVX2.
#[derive(Clone, Copy, Debug)]
pub struct Avx2;

/// A mask of the first `n` of four 64-bit lanes.
#[inline(always)]
unsafe fn first(n: usize) -> __m256i {
    unsafe { _mm256_cmpgt_epi64(_mm256_set1_epi64x(n as i64), _mm256_setr_epi64x(0, 1, 2, 3)) }
}

/// A mask of the first `n` of four 32-bit lanes.
#[inline(always)]
unsafe fn first_halves(n: usize) -> __m128i {
    unsafe { _mm_cmpgt_epi32(_mm_set1_epi32(n as i32), _mm_setr_epi32(0, 1, 2, 3)) }
}

/// For each 4-bit mask, the indices of its set bits, packed to the front.
const PACKED: [[u32; 4]; 16] = packed();

const fn packed() -> [[u32; 4]; 16] {
    let mut table = [[0; 4]; 16];
    let mut mask = 0;
    while mask < 16 {
        let (mut lane, mut found) = (0, 0);
        while lane < 4 {
            if mask >> lane & 1 == 1 {
                table[mask][found] = lane;
                found += 1;
            }
            lane += 1;
        }
        mask += 1;
    }
    table
}

impl Simd for Avx2 {
    const LANES: usize = 4;
    type At = __m256i;

    inlined! {
        fn at<I: Index>(from: *const I) -> __m256i {
            match I::BYTES {
                4 => _mm256_cvtepu32_epi64(_mm_loadu_si128(from.cast())),
                _ => _mm256_loadu_si256(from.cast()),
            }
        }
        fn at_some<I: Index>(from: *const I, n: usize) -> __m256i {
            match I::BYTES {
                4 => _mm256_cvtepu32_epi64(_mm_maskload_epi32(from.cast(), first_halves(n))),
                _ => _mm256_maskload_epi64(from.cast(), first(n)),
            }
        }
        fn first(at: __m256i) -> usize { _mm_cvtsi128_si64(_mm256_castsi256_si128(at)) as usize }
        fn through<I: Index>(table: *const I, at: __m256i) -> __m256i {
            match I::BYTES {
                4 => _mm256_cvtepu32_epi64(_mm256_i64gather_epi32::<4>(table.cast(), at)),
                _ => _mm256_i64gather_epi64::<8>(table.cast(), at),
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
            // Comparisons are signed, so flip the sign bits of both sides.
            let sign = _mm256_set1_epi64x(i64::MIN);
            let low = _mm256_xor_si256(_mm256_set1_epi64x(low as i64), sign);
            let width = _mm256_xor_si256(_mm256_set1_epi64x(width as i64), sign);
            let (mut found, mut k) = (0, 0);
            while k < n {
                let (at, valid) = match n - k {
                    left @ 1..4 => (Self::at_some(locations.add(k), left), (1 << left) - 1),
                    _ => (Self::at(locations.add(k)), 0xF),
                };
                let below = _mm256_cmpgt_epi64(width, _mm256_sub_epi64(at, low));
                let mine = _mm256_movemask_pd(_mm256_castsi256_pd(below)) as usize & valid;
                let packed = _mm_loadu_si128(PACKED[mine].as_ptr().cast());
                let positions = _mm_add_epi32(packed, _mm_set1_epi32(k as i32));
                _mm_storeu_si128(queue.add(found).cast(), positions);
                found += mine.count_ones() as usize;
                k += 4;
            }
            found
        }
    }
}

impl Lanes<u64> for Avx2 {
    type Data = __m256i;

    inlined! {
        fn gather(from: *const u64, at: __m256i) -> __m256i { _mm256_i64gather_epi64::<8>(from.cast(), at) }
        fn gather_some(from: *const u64, at: __m256i, n: usize) -> __m256i {
            let nothing = _mm256_setzero_si256();
            _mm256_mask_i64gather_epi64::<8>(nothing, from.cast(), at, first(n))
        }
        fn load(from: *const u64) -> __m256i { _mm256_loadu_si256(from.cast()) }
        fn load_some(from: *const u64, n: usize) -> __m256i { _mm256_maskload_epi64(from.cast(), first(n)) }
        fn store(to: *mut u64, data: __m256i) { _mm256_storeu_si256(to.cast(), data) }
        fn store_some(to: *mut u64, data: __m256i, n: usize) {
            _mm256_maskstore_epi64(to.cast(), first(n), data)
        }
        fn stream(to: *mut u64, data: __m256i) { _mm256_stream_si256(to.cast(), data) }
    }
}

impl Lanes<u32> for Avx2 {
    type Data = __m128i;

    inlined! {
        fn gather(from: *const u32, at: __m256i) -> __m128i { _mm256_i64gather_epi32::<4>(from.cast(), at) }
        fn gather_some(from: *const u32, at: __m256i, n: usize) -> __m128i {
            let nothing = _mm_setzero_si128();
            _mm256_mask_i64gather_epi32::<4>(nothing, from.cast(), at, first_halves(n))
        }
        fn load(from: *const u32) -> __m128i { _mm_loadu_si128(from.cast()) }
        fn load_some(from: *const u32, n: usize) -> __m128i {
            _mm_maskload_epi32(from.cast(), first_halves(n))
        }
        fn store(to: *mut u32, data: __m128i) { _mm_storeu_si128(to.cast(), data) }
        fn store_some(to: *mut u32, data: __m128i, n: usize) {
            _mm_maskstore_epi32(to.cast(), first_halves(n), data)
        }
        fn stream(to: *mut u32, data: __m128i) { _mm_stream_si128(to.cast(), data) }
    }
}

impl Fold for Avx2 {
    inlined! {
        fn zero() -> __m256i { _mm256_setzero_si256() }
        fn fold(a: __m256i, b: __m256i) -> __m256i { _mm256_add_epi64(a, b) }
        fn total(a: __m256i) -> u64 {
            let mut words = [0u64; 4];
            _mm256_storeu_si256(words.as_mut_ptr().cast(), a);
            words.into_iter().fold(0, super::fold)
        }
    }
}
