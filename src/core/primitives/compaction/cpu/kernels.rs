//! The timed loops over flags and elements.

use std::ops::Range;

use crate::device::cpu::Isa;
use crate::primitives::scan::cpu::heads;

/// Copies the elements of `from` whose bits are set contiguously to `to`.
///
/// # Safety
/// `from` has an element for each set bit, `to` has room for as many elements, and the processor has the
/// instruction set.
pub type Keep<T> = unsafe fn(from: *const T, to: *mut T, bits: u64);

/// An element of in.
pub trait Element: Copy + Sync {
    /// The kernel for an available instruction set.
    fn keep(isa: Isa) -> Keep<Self>;
}

macro_rules! element {
    ($t:ty, $avx512:ident) => {
        impl Element for $t {
            fn keep(isa: Isa) -> Keep<$t> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => avx512::$avx512,
                    _ => keep,
                }
            }
        }
    };
}

element!(u32, keep32);
element!(u64, keep64);

/// Keeps one element after the other.
#[inline(never)]
unsafe fn keep<T: Copy>(from: *const T, mut to: *mut T, mut bits: u64) {
    while bits != 0 {
        // SAFETY: by the caller's promise.
        unsafe {
            to.write(from.add(bits.trailing_zeros() as usize).read());
            to = to.add(1);
        }
        bits &= bits - 1;
    }
}

/// Keeps elements by compressing the lanes of vectors.
#[cfg(target_arch = "x86_64")]
mod avx512 {
    use std::arch::x86_64::*;

    macro_rules! keep {
        ($name:ident, $t:ty, $mask:ty, $load:ident, $compress:ident, $store:ident) => {
            #[target_feature(enable = "avx512f,popcnt")]
            #[inline(never)]
            pub unsafe fn $name(from: *const $t, mut to: *mut $t, bits: u64) {
                const LANES: u32 = 64 / size_of::<$t>() as u32;
                for vector in 0..64 / LANES {
                    let kept = (bits >> (vector * LANES)) as $mask;
                    let first = ((1u32 << kept.count_ones()) - 1) as $mask;
                    // SAFETY: by the caller's promise; lanes that are masked off touch nothing.
                    unsafe {
                        let lanes = $load(kept, from.wrapping_add((vector * LANES) as usize).cast());
                        $store(to.cast(), first, $compress(kept, lanes));
                        to = to.wrapping_add(kept.count_ones() as usize);
                    }
                }
            }
        };
    }

    keep!(keep32, u32, u16, _mm512_maskz_loadu_epi32, _mm512_maskz_compress_epi32, _mm512_mask_storeu_epi32);
    keep!(keep64, u64, u8, _mm512_maskz_loadu_epi64, _mm512_maskz_compress_epi64, _mm512_mask_storeu_epi64);
}

/// True if kernels exist for an instruction set; only operations that move elements have AVX-512 kernels.
pub fn has(isa: Isa, moves: bool) -> bool {
    isa == Isa::Scalar || moves && isa == Isa::Avx512
}

/// Splits a range into pieces, each within one word of flags.
pub fn pieces(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let words = range.start / 64..range.end.div_ceil(64);
    let pieces = words.map(move |w| (64 * w).max(range.start)..(64 * w + 64).min(range.end));
    pieces.filter(|piece| !piece.is_empty())
}

/// The flags of a piece, with its first element in the lowest bit.
#[inline(always)]
pub fn flags(bits: *const u8, piece: &Range<usize>) -> u64 {
    heads::within(bits, piece.start / 64, piece) >> (piece.start % 64)
}

/// Writes to each element of a range `count` plus the number of flags set before it in the range.
///
/// # Safety
/// The range lies inside the arrays, and nobody else accesses that range of `out`.
#[inline(never)]
pub unsafe fn number(bits: *const u8, range: Range<usize>, out: *mut u32, mut count: u32) {
    for piece in pieces(range) {
        let mut flags = flags(bits, &piece);
        for i in piece {
            // SAFETY: by the caller's promise.
            unsafe { out.add(i).write(count) };
            count += flags as u32 & 1;
            flags >>= 1;
        }
    }
}

/// Copies to `to` the elements of a range whose flags equal `class`.
///
/// # Safety
/// The conditions of [`Keep`], for all pieces of the range.
pub unsafe fn keep_range<T>(
    keep: Keep<T>,
    bits: *const u8,
    range: Range<usize>,
    class: bool,
    from: *const T,
    mut to: *mut T,
) {
    for piece in pieces(range) {
        let all = u64::MAX >> (64 - piece.len());
        let kept = if class { flags(bits, &piece) } else { !flags(bits, &piece) & all };
        // SAFETY: by the caller's promise.
        unsafe { keep(from.wrapping_add(piece.start), to, kept) };
        to = to.wrapping_add(kept.count_ones() as usize);
    }
}

/// Fills a range with one element.
///
/// # Safety
/// The range lies inside `out`, and nobody else accesses it.
#[inline(never)]
pub unsafe fn fill<T: Copy>(out: *mut T, range: Range<usize>, element: T) {
    // SAFETY: by the caller's promise.
    unsafe { std::slice::from_raw_parts_mut(out.add(range.start), range.len()) }.fill(element);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn kept<T: Element + Default>(isa: Isa, input: &[T], bits: u64) -> Vec<T> {
        let mut out = vec![T::default(); bits.count_ones() as usize];
        // SAFETY: `out` is as long as the number of set bits, and the instruction set is present.
        unsafe { T::keep(isa)(input.as_ptr(), out.as_mut_ptr(), bits) };
        out
    }

    proptest! {
        #[test]
        fn every_kernel_keeps_what_is_set(bits: u64, mask: u64, input in prop::collection::vec(any::<u64>(), 64)) {
            let narrow: Vec<u32> = input.iter().map(|&word| word as u32).collect();
            for (isa, bits) in Isa::ALL.into_iter().filter(|isa| isa.present()).flat_map(|isa| {
                [bits, bits & mask, 0, u64::MAX].map(|bits| (isa, bits))
            }) {
                let set: Vec<usize> = (0..64).filter(|j| bits >> j & 1 == 1).collect();
                let wanted: Vec<u64> = set.iter().map(|&j| input[j]).collect();
                prop_assert_eq!(kept(isa, &input, bits), wanted);
                let wanted: Vec<u32> = set.iter().map(|&j| narrow[j]).collect();
                prop_assert_eq!(kept(isa, &narrow, bits), wanted);
            }
        }

        #[test]
        fn ranges_are_kept_and_numbered(
            bits in prop::collection::vec(any::<u64>(), 5), start in 0usize..256, length in 0usize..64, class: bool,
        ) {
            let (range, at) = (start..start + length, bits.as_ptr().cast::<u8>());
            let set = |i: usize| bits[i / 64] >> (i % 64) & 1 == 1;
            let input: Vec<u32> = (0..320).collect();
            let wanted: Vec<u32> = range.clone().filter(|&i| set(i) == class).map(|i| i as u32).collect();
            let (mut out, mut numbers) = (vec![0; wanted.len()], vec![9; 320]);
            // SAFETY: the output is as long as the number of elements of the class, and the range lies inside
            // the arrays.
            unsafe {
                keep_range(keep, at, range.clone(), class, input.as_ptr(), out.as_mut_ptr());
                number(at, range.clone(), numbers.as_mut_ptr(), 7);
            }
            prop_assert_eq!(out, wanted);
            for i in range.clone() {
                prop_assert_eq!(numbers[i], 7 + range.clone().filter(|&k| k < i && set(k)).count() as u32);
            }
            prop_assert!(numbers[..range.start].iter().chain(&numbers[range.end..]).all(|&x| x == 9));
        }
    }
}
