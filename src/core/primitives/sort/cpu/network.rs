//! A network that sorts keys of 32 bits by AVX-512 in 16 vectors.
//!
//! It is a bitonic sort of 256 elements, of which 16 lanes × 16 vectors hold element `lane · 16 + vector`.
//! First, 60 comparators sort the vectors of each lane. Then lanes are merged two by two, four times: the first step
//! of a merge compares each element with its mirror image in both lanes, further steps compare lanes at half the
//! distance, and the last four steps compare vectors again. A comparator of vectors takes two instructions for 32
//! keys, and one of lanes three for 16.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises a processor with AVX-512 and valid addresses"
)]

use std::arch::x86_64::*;

/// Keys that the network sorts.
pub const MOST: usize = 256;

type Vectors = [__m512i; 16];

/// Lane `l` has `l ^ of`.
const fn exchanged(of: u32) -> [u32; 16] {
    let mut lanes = [0; 16];
    let mut lane = 0;
    while lane < 16 {
        lanes[lane] = lane as u32 ^ of;
        lane += 1;
    }
    lanes
}

/// The lanes in whose number this bit is set.
const fn upper(bit: u32) -> u16 {
    let mut mask = 0;
    let mut lane = 0;
    while lane < 16 {
        mask |= ((lane & bit != 0) as u16) << lane;
        lane += 1;
    }
    mask
}

/// Compares vectors: the lower number of a pair gets the minima.
macro_rules! compare {
    ($v:ident: $($i:literal-$j:literal)*) => {
        $(($v[$i], $v[$j]) = (_mm512_min_epu32($v[$i], $v[$j]), _mm512_max_epu32($v[$i], $v[$j]));)*
    };
}

/// Sorts the vectors of each lane, by the 60 comparators of the shortest network known for 16 elements.
#[inline(always)]
unsafe fn sort_lanes(v: &mut Vectors) {
    unsafe {
        compare!(v: 0-13 1-12 2-15 3-14 4-8 5-6 7-11 9-10);
        compare!(v: 0-5 1-7 2-9 3-4 6-13 8-14 10-15 11-12);
        compare!(v: 0-1 2-3 4-5 6-8 7-9 10-11 12-13 14-15);
        compare!(v: 0-2 1-3 4-10 5-11 6-7 8-9 12-14 13-15);
        compare!(v: 1-2 3-12 4-6 5-7 8-10 9-11 13-14);
        compare!(v: 1-4 2-6 5-8 7-10 9-13 11-14);
        compare!(v: 2-4 3-6 9-12 11-13);
        compare!(v: 3-5 6-8 7-9 10-12);
        compare!(v: 3-4 5-6 7-8 9-10 11-12);
        compare!(v: 6-7 8-9);
    }
}

/// Sorts the vectors of each lane, which are bitonic.
#[inline(always)]
unsafe fn merge_vectors(v: &mut Vectors) {
    unsafe {
        compare!(v: 0-8 1-9 2-10 3-11 4-12 5-13 6-14 7-15);
        compare!(v: 0-4 1-5 2-6 3-7 8-12 9-13 10-14 11-15);
        compare!(v: 0-2 1-3 4-6 5-7 8-10 9-11 12-14 13-15);
        compare!(v: 0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15);
    }
}

/// Compares each lane with the one whose number differs in `OF`: those with the highest bit of `OF` get the maxima.
/// Vectors `x` and `y` are each other's mirror images, or the same.
#[inline(always)]
unsafe fn compare_lanes<const OF: u32>(x: __m512i, y: __m512i) -> __m512i {
    unsafe {
        let lanes = _mm512_loadu_si512(const { &exchanged(OF) }.as_ptr().cast());
        let other = _mm512_permutexvar_epi32(lanes, y);
        _mm512_mask_max_epu32(_mm512_min_epu32(x, other), const { upper(1 << OF.ilog2()) }, x, other)
    }
}

#[inline(always)]
unsafe fn mirror_lanes<const OF: u32>(v: &mut Vectors) {
    for i in 0..8 {
        unsafe {
            (v[i], v[15 - i]) = (compare_lanes::<OF>(v[i], v[15 - i]), compare_lanes::<OF>(v[15 - i], v[i]))
        };
    }
}

#[inline(always)]
unsafe fn halve_lanes<const DISTANCE: u32>(v: &mut Vectors) {
    for x in v {
        *x = unsafe { compare_lanes::<DISTANCE>(*x, *x) };
    }
}

/// Turns lanes into vectors, and vectors into lanes.
#[inline(always)]
unsafe fn transpose(v: &mut Vectors) {
    unsafe {
        let mut w = *v;
        for i in 0..8 {
            let (a, b) = (v[2 * i], v[2 * i + 1]);
            (w[2 * i], w[2 * i + 1]) = (_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
        }
        for i in 0..4 {
            let [a, b, c, d] = [w[4 * i], w[4 * i + 1], w[4 * i + 2], w[4 * i + 3]];
            (v[4 * i], v[4 * i + 1]) = (_mm512_unpacklo_epi64(a, c), _mm512_unpackhi_epi64(a, c));
            (v[4 * i + 2], v[4 * i + 3]) = (_mm512_unpacklo_epi64(b, d), _mm512_unpackhi_epi64(b, d));
        }
        // Quarter q of v[4 g + c] has lane 4 q + c of the vectors 4 g … 4 g + 3.
        for c in 0..4 {
            let even = |a, b| _mm512_shuffle_i32x4::<0x88>(a, b);
            let odd = |a, b| _mm512_shuffle_i32x4::<0xdd>(a, b);
            let (first, second) = ((v[c], v[4 + c]), (v[8 + c], v[12 + c]));
            let evens = (even(first.0, first.1), even(second.0, second.1));
            let odds = (odd(first.0, first.1), odd(second.0, second.1));
            (w[c], w[4 + c]) = (even(evens.0, evens.1), even(odds.0, odds.1));
            (w[8 + c], w[12 + c]) = (odd(evens.0, evens.1), odd(odds.0, odds.1));
        }
        *v = w;
    }
}

/// Sorts `n` ≤ [`MOST`] keys, which may be in the same place; behind them the network has the highest keys.
///
/// # Safety
/// The processor has AVX-512, and n keys may be read and written.
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq")]
pub unsafe fn network(from: *const u32, n: usize, to: *mut u32) {
    let lanes = |i: usize| u16::MAX.checked_shr(16 - n.saturating_sub(16 * i).min(16) as u32).unwrap_or(0);
    let mut v = [_mm512_set1_epi32(-1); 16];
    unsafe {
        for (i, v) in v.iter_mut().enumerate() {
            *v = _mm512_mask_loadu_epi32(*v, lanes(i), from.wrapping_add(16 * i).cast());
        }
        sort_lanes(&mut v);
        mirror_lanes::<1>(&mut v);
        merge_vectors(&mut v);
        mirror_lanes::<3>(&mut v);
        halve_lanes::<1>(&mut v);
        merge_vectors(&mut v);
        mirror_lanes::<7>(&mut v);
        halve_lanes::<2>(&mut v);
        halve_lanes::<1>(&mut v);
        merge_vectors(&mut v);
        mirror_lanes::<15>(&mut v);
        halve_lanes::<4>(&mut v);
        halve_lanes::<2>(&mut v);
        halve_lanes::<1>(&mut v);
        merge_vectors(&mut v);
        transpose(&mut v);
        for (i, v) in v.iter().enumerate() {
            _mm512_mask_storeu_epi32(to.wrapping_add(16 * i).cast(), lanes(i), *v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix::mix64;

    fn sorted(keys: &[u32]) -> Vec<u32> {
        let mut to = vec![0; keys.len()];
        // SAFETY: the test asks for the instruction set first, and the vectors hold as many keys.
        unsafe { network(keys.as_ptr(), keys.len(), to.as_mut_ptr()) };
        to
    }

    /// Random keys, and some of which many are equal.
    #[test]
    fn the_network_sorts() {
        if !is_x86_feature_detected!("avx512dq") {
            return;
        }
        for n in 0..=MOST {
            for kind in 0..64u64 {
                let bits = [1, 4, 32][kind as usize % 3];
                let keys: Vec<u32> =
                    (0..n as u64).map(|i| (mix64(kind << 32 | i) >> (64 - bits)) as u32).collect();
                let mut expected = keys.clone();
                expected.sort_unstable();
                assert_eq!(sorted(&keys), expected, "{n} keys of {bits} bits");
            }
        }
    }

    /// All 2^16 inputs of zeros and ones, each in a lane: comparators that sort these sort any keys.
    #[test]
    fn the_vectors_of_a_lane_are_sorted() {
        if !is_x86_feature_detected!("avx512dq") {
            return;
        }
        for first in (0..1 << 16).step_by(16) {
            let keys: Vec<u32> = (0..256).map(|i| (first + i % 16) >> (i / 16) & 1).collect();
            let ones = keys.iter().sum::<u32>() as usize;
            let found = sorted(&keys);
            assert!(
                found[..256 - ones].iter().all(|&key| key == 0)
                    && found[256 - ones..].iter().all(|&key| key == 1)
            );
        }
    }
}
