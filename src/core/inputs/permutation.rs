//! Pseudo-random permutations of [0, n) that are computed, not stored: a Feistel network with unbalanced
//! halves, and cycle walking if n is not a power of two.
//!
//! The algorithm, which the CUDA implementation in `kernels/common/inputs.cuh` shares: let b be the least integer with
//! 2^b ≥ n, `bits_left` = ⌊b/2⌋ and `bits_right` = b − `bits_left`. The keys are `keys[r]` = upper 32 bits of
//! `word64(seed ^ 0x5045_524D_5554_4521, r)`. Arithmetic is 32-bit unsigned, except that the product has 64
//! bits:
//!
//! ```text
//! F(x, k):    t = (x ^ k) * 0xD256D193;  return (low half of t) ^ (high half of t)
//! round(i):   left = i >> bits_right;  right = i & (2^bits_right − 1)
//!             for r in 0, 2, 4:  left  ^= F(right, keys[r])   & (2^bits_left  − 1)
//!                                right ^= F(left,  keys[r+1]) & (2^bits_right − 1)
//!             return left << bits_right | right
//! apply(i):   do i = round(i) while i ≥ n;  return i
//! invert(j):  the same with the rounds taken backwards
//! ```
//!
//! Since 2^b < 2n, `apply` takes fewer than two rounds on average.

use super::mix::word64;

/// Number of rounds, each with one key and one multiplication.
pub const ROUNDS: usize = 6;

/// Largest n.
pub const MAX_ELEMENTS: u64 = 1 << 40;

const TAG: u64 = 0x5045_524D_5554_4521;
const MULTIPLIER: u32 = 0xD256_D193;

/// A permutation of [0, n), passed to kernels by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Permutation {
    /// Number of elements, at most [`MAX_ELEMENTS`].
    pub n: u64,
    /// Width of the left (upper) half, at most 20.
    pub bits_left: u32,
    /// Width of the right half, at most 20.
    pub bits_right: u32,
    /// A key for each round.
    pub keys: [u32; ROUNDS],
}

#[inline(always)]
fn fold(x: u32, key: u32) -> u32 {
    let t = u64::from(x ^ key) * u64::from(MULTIPLIER);
    t as u32 ^ (t >> 32) as u32
}

impl Permutation {
    /// The permutation of `n` elements with this seed; `None` if n exceeds 2^40.
    pub fn new(n: u64, seed: u64) -> Option<Permutation> {
        if n > MAX_ELEMENTS {
            return None;
        }
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        let keys = std::array::from_fn(|r| (word64(seed ^ TAG, r as u64) >> 32) as u32);
        Some(Permutation { n, bits_left: bits / 2, bits_right: bits - bits / 2, keys })
    }

    /// The image of `i`, which must be below `n`: otherwise the walk may never end.
    #[inline(always)]
    pub fn apply(&self, i: u64) -> u64 {
        debug_assert!(i < self.n, "{i} is not below {}", self.n);
        let mut i = self.forward(i);
        while i >= self.n {
            i = self.forward(i);
        }
        i
    }

    /// The preimage of `j`, which must be below `n`: otherwise the walk may never end.
    #[inline(always)]
    pub fn invert(&self, j: u64) -> u64 {
        debug_assert!(j < self.n, "{j} is not below {}", self.n);
        let mut j = self.backward(j);
        while j >= self.n {
            j = self.backward(j);
        }
        j
    }

    #[inline(always)]
    fn split(&self, i: u64) -> (u32, u32, u32, u32) {
        let (mask_left, mask_right) = ((1u32 << self.bits_left) - 1, (1u32 << self.bits_right) - 1);
        ((i >> self.bits_right) as u32, i as u32 & mask_right, mask_left, mask_right)
    }

    #[inline(always)]
    fn join(&self, left: u32, right: u32) -> u64 {
        u64::from(left) << self.bits_right | u64::from(right)
    }

    #[inline(always)]
    fn forward(&self, i: u64) -> u64 {
        let (mut left, mut right, mask_left, mask_right) = self.split(i);
        for r in (0..ROUNDS).step_by(2) {
            left ^= fold(right, self.keys[r]) & mask_left;
            right ^= fold(left, self.keys[r + 1]) & mask_right;
        }
        self.join(left, right)
    }

    #[inline(always)]
    fn backward(&self, j: u64) -> u64 {
        let (mut left, mut right, mask_left, mask_right) = self.split(j);
        for r in (0..ROUNDS).step_by(2).rev() {
            right ^= fold(left, self.keys[r + 1]) & mask_right;
            left ^= fold(right, self.keys[r]) & mask_left;
        }
        self.join(left, right)
    }
}

#[cfg(test)]
#[path = "permutation_tests.rs"]
mod tests;
