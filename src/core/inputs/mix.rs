//! Counter-based random numbers: word `i` of a seed is a function of (seed, i) alone, so that any thread can
//! generate any word. For a fixed seed the function is a bijection, so that `i` can be recovered from the word.
//!
//! All arithmetic is unsigned and wraps around:
//!
//! ```text
//! mix64(x):  x ^= x >> 27;  x *= 0x3C79AC492BA7B653;
//!            x ^= x >> 33;  x *= 0x1C69B3F74AC4AE35;  x ^= x >> 27
//! mix32(x):  x ^= x >> 16;  x *= 0x7FEB352D;
//!            x ^= x >> 15;  x *= 0x846CA68B;          x ^= x >> 16
//! key64(seed)     = mix64(seed + 0x9E3779B97F4A7C15)
//! word64(seed, i) = mix64(i + key64(seed))
//! word32(seed, i) = mix32(i + low 32 bits of key64(seed))
//! ```
//!
//! The shifts and multipliers of `mix64` are P. Evensen's moremur, those of `mix32` are C. Wellons's lowbias32.

const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
const MULTIPLIERS64: [u64; 2] = [0x3C79_AC49_2BA7_B653, 0x1C69_B3F7_4AC4_AE35];
const MULTIPLIERS32: [u32; 2] = [0x7FEB_352D, 0x846C_A68B];

/// Inverse of an odd number modulo 2^64, by Newton's iteration. The first approximation, the number itself, has
/// three correct bits, and each round doubles them.
pub(super) const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut round = 0;
    while round < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        round += 1;
    }
    x
}

const INVERSES64: [u64; 2] = [inverse(MULTIPLIERS64[0]), inverse(MULTIPLIERS64[1])];
const INVERSES32: [u32; 2] =
    [inverse(MULTIPLIERS32[0] as u64) as u32, inverse(MULTIPLIERS32[1] as u64) as u32];

/// Scrambles 64 bits; a bijection.
#[inline(always)]
pub const fn mix64(mut x: u64) -> u64 {
    x ^= x >> 27;
    x = x.wrapping_mul(MULTIPLIERS64[0]);
    x ^= x >> 33;
    x = x.wrapping_mul(MULTIPLIERS64[1]);
    x ^ (x >> 27)
}

/// Inverse of [`mix64`].
#[inline(always)]
pub const fn unmix64(mut x: u64) -> u64 {
    x ^= (x >> 27) ^ (x >> 54);
    x = x.wrapping_mul(INVERSES64[1]);
    x ^= x >> 33;
    x = x.wrapping_mul(INVERSES64[0]);
    x ^ (x >> 27) ^ (x >> 54)
}

/// Scrambles 32 bits; a bijection.
#[inline(always)]
pub const fn mix32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(MULTIPLIERS32[0]);
    x ^= x >> 15;
    x = x.wrapping_mul(MULTIPLIERS32[1]);
    x ^ (x >> 16)
}

/// Inverse of [`mix32`].
#[inline(always)]
pub const fn unmix32(mut x: u32) -> u32 {
    x ^= x >> 16;
    x = x.wrapping_mul(INVERSES32[1]);
    x ^= (x >> 15) ^ (x >> 30);
    x = x.wrapping_mul(INVERSES32[0]);
    x ^ (x >> 16)
}

/// The key of a seed: a scrambled seed, which is added to the counter and is passed to GPU kernels instead of the
/// seed.
#[inline(always)]
pub const fn key64(seed: u64) -> u64 {
    mix64(seed.wrapping_add(GOLDEN))
}

/// The key of a seed for 32-bit words: the lower half of [`key64`].
#[inline(always)]
pub const fn key32(seed: u64) -> u32 {
    key64(seed) as u32
}

/// 64-bit random word `i` of a seed: a bijection of `i`.
#[inline(always)]
pub const fn word64(seed: u64, i: u64) -> u64 {
    mix64(i.wrapping_add(key64(seed)))
}

/// The `i` whose [`word64`] is `word`.
#[inline(always)]
pub const fn index_of_word64(seed: u64, word: u64) -> u64 {
    unmix64(word).wrapping_sub(key64(seed))
}

/// 32-bit random word `i` of a seed: a bijection of `i`.
#[inline(always)]
pub const fn word32(seed: u64, i: u32) -> u32 {
    mix32(i.wrapping_add(key32(seed)))
}

/// The `i` whose [`word32`] is `word`.
#[inline(always)]
pub const fn index_of_word32(seed: u64, word: u32) -> u32 {
    unmix32(word).wrapping_sub(key32(seed))
}

/// Random word `i` of a seed with so many bytes, 4 or 8; 0 where it has none.
#[inline(always)]
pub const fn word(seed: u64, i: u64, bytes: u64) -> u64 {
    match bytes {
        0 => 0,
        4 => word32(seed, i as u32) as u64,
        _ => word64(seed, i),
    }
}

/// The `i` whose [`word`] of so many bytes, 4 or 8, is `word`.
#[inline(always)]
pub const fn index_of_word(seed: u64, word: u64, bytes: u64) -> u64 {
    match bytes {
        4 => index_of_word32(seed, word as u32) as u64,
        _ => index_of_word64(seed, word),
    }
}

/// Maps a uniform random word to [0, n): the upper half of the 128-bit product, `floor(word * n / 2^64)`.
#[inline(always)]
pub const fn scale(word: u64, n: u64) -> u64 {
    ((word as u128 * n as u128) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn words_decode(seed: u64, i: u64, j: u32) {
            prop_assert_eq!(index_of_word64(seed, word64(seed, i)), i);
            prop_assert_eq!(index_of_word32(seed, word32(seed, j)), j);
            prop_assert_eq!(mix64(unmix64(i)), i);
            prop_assert_eq!(mix32(unmix32(j)), j);
        }

        #[test]
        fn scaling_stays_below(word: u64, n in 1..=u64::MAX) {
            prop_assert!(scale(word, n) < n);
        }
    }

    /// Checks that each output bit depends on each of the low bits of the counter.
    #[test]
    fn a_flipped_bit_flips_half_of_the_word() {
        for bit in 0..32 {
            let flipped: u32 =
                (0..1024).map(|i| (word64(7, i) ^ word64(7, i ^ (1 << bit))).count_ones()).sum();
            let mean = f64::from(flipped) / 1024.0;
            assert!((mean - 32.0).abs() < 1.0, "bit {bit}: {mean} of 64");
        }
    }

    /// The CUDA implementation must produce the same values.
    #[test]
    fn golden() {
        assert_eq!(GOLDEN64, [word64(0, 0), word64(0, 1), word64(42, 1 << 40), word64(u64::MAX, u64::MAX)]);
        assert_eq!(GOLDEN32, [word32(0, 0), word32(0, 1), word32(42, 1 << 31), word32(u64::MAX, u32::MAX)]);
    }

    const GOLDEN64: [u64; 4] =
        [0xE729_9DCD_09E4_14D0, 0x37CB_7B0B_869F_4007, 0xB8C1_58DC_6E42_81F8, 0x4026_F991_03C7_181E];
    const GOLDEN32: [u32; 4] = [0x1984_8CB9, 0x3F2E_8907, 0x1C21_E549, 0x4D2B_79B5];
}
