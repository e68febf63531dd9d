//! A cheap pseudo-random bijection of [0, 2^k): an order in which to visit an array of 2^k elements, computed
//! in a few instructions, for kernels that time nothing but the visits. [`Permutation`](super::Permutation) is
//! better mixed, supports any n, and costs several times as much.
//!
//! With s = ⌈k/2⌉, arithmetic modulo 2^64, and key = the low k bits of `word64(seed ^ 0x5343_5241_4D42_4C45,
//! 0)`:
//!
//! ```text
//! apply(x):  x = (x + key) * 0x9E3779B97F4A7C15 mod 2^k;  x ^= x >> s
//!            x = x * 0xD1B54A32D192ED03 mod 2^k;          x ^= x >> s
//! ```
//!
//! Odd factors are units modulo 2^k, and x ↦ x ^ (x >> s) is its own inverse because 2s ≥ k.

use super::mix::{inverse, word64};

const TAG: u64 = 0x5343_5241_4D42_4C45;
const FACTORS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03];
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Largest number of bits.
pub const MAX_BITS: u32 = 48;

/// A bijection of [0, 2^bits), passed to kernels by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Scramble {
    key: u64,
    mask: u64,
    shift: u32,
    unused: u32,
}

impl Scramble {
    /// The bijection of [0, 2^bits) with this seed; `bits` is limited to [`MAX_BITS`].
    pub fn new(bits: u32, seed: u64) -> Scramble {
        let bits = bits.min(MAX_BITS);
        let mask = (1 << bits) - 1;
        Scramble { key: word64(seed ^ TAG, 0) & mask, mask, shift: bits.div_ceil(2), unused: 0 }
    }

    /// The image of `x` < 2^bits; higher bits of x are ignored.
    #[inline(always)]
    pub fn apply(self, x: u64) -> u64 {
        let x = x.wrapping_add(self.key).wrapping_mul(FACTORS[0]) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(FACTORS[1]) & self.mask;
        x ^ (x >> self.shift)
    }

    /// [`apply`](Scramble::apply) for at most 2^32 elements, in 32-bit arithmetic, which all vector widths
    /// support.
    #[inline(always)]
    pub fn apply_narrow(self, x: u32) -> u32 {
        let [first, second] = FACTORS.map(|factor| factor as u32);
        let mask = self.mask as u32;
        let x = x.wrapping_add(self.key as u32).wrapping_mul(first) & mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(second) & mask;
        x ^ (x >> self.shift)
    }

    /// True if [`apply_narrow`](Scramble::apply_narrow) is sufficient.
    pub fn is_narrow(self) -> bool {
        self.mask <= u64::from(u32::MAX)
    }

    /// The preimage of `y` < 2^bits.
    pub fn invert(self, y: u64) -> u64 {
        let y = (y ^ (y >> self.shift)).wrapping_mul(INVERSES[1]) & self.mask;
        let y = (y ^ (y >> self.shift)).wrapping_mul(INVERSES[0]);
        y.wrapping_sub(self.key) & self.mask
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_can_be_undone(bits in 0u32..=MAX_BITS, seed in any::<u64>(), x in any::<u64>()) {
            let (order, x) = (Scramble::new(bits, seed), x & ((1 << bits) - 1));
            let y = order.apply(x);
            prop_assert!(y < 1 << bits);
            prop_assert_eq!(order.invert(y), x);
            prop_assert_eq!(order.is_narrow(), bits <= 32);
            if bits <= 32 {
                prop_assert_eq!(u64::from(order.apply_narrow(x as u32)), y);
            }
        }
    }

    #[test]
    fn larger_numbers_start_again() {
        let order = Scramble::new(5, 3);
        assert_eq!(
            (0..32).map(|x| order.apply(x + 32)).collect::<Vec<_>>(),
            (0..32).map(|x| order.apply(x)).collect::<Vec<_>>()
        );
        assert_eq!((Scramble::new(0, 3).apply(7), Scramble::new(0, 3).invert(0)), (0, 0));
    }

    /// Visits look random to a memory if consecutive ones are far apart. For a random order of 2^20 elements,
    /// the probability that two consecutive elements share a line of 16 is 2^-16, and 1024 visits touch 1016
    /// lines.
    #[test]
    fn neighbours_in_time_are_far_apart_in_place() {
        for seed in 0..8 {
            let order = Scramble::new(20, seed);
            let line = |x: u64| order.apply(x) / 16;
            let together = (0..1u64 << 20).filter(|&x| line(x) == line(x + 1)).count();
            assert!(together < 64, "seed {seed}: {together} neighbours share a line");
            let distinct =
                |from: u64| (from..from + 1024).map(line).collect::<std::collections::BTreeSet<_>>().len();
            let mean = (0..64u64).map(|k| distinct(k << 14)).sum::<usize>() / 64;
            assert!(mean > 980, "seed {seed}: 1024 visits touch {mean} lines, of 65536 by chance 1016");
        }
    }

    #[test]
    fn every_bit_of_the_place_takes_both_values_evenly() {
        for seed in 0..4 {
            let order = Scramble::new(30, seed);
            for bit in 0..30 {
                let ones = (0..4096).filter(|&x| order.apply(x) >> bit & 1 == 1).count();
                assert!((1700..2400).contains(&ones), "seed {seed}, bit {bit}: {ones} of 4096");
            }
        }
    }

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Scramble>(), std::mem::offset_of!(Scramble, shift)), (24, 16));
    }
}
