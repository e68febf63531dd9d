//! The elements of in, each a function of (seed, i), chosen so that wrong results show.
//!
//! With n elements, r = i forward and n − 1 − i backward (the number of elements scanned before i), and
//! `word32` taking the lower 32 bits of its counter:
//!
//! ```text
//! add   u32, i32  word32(seed, i)          u64  word64(seed, i)
//!       f32       g(i) − g(i−1), g(i) = word32(seed, i) >> 20, g(−1) = 0
//!       f64       the same with g(i) = word64(seed, i) >> 32
//! max   v: q = r + (word32(seed, i) & 15), shifted to B bits: with L the bit length of n + 14
//!       v = q << (B − L) or q >> (L − B), B = 32, 32, 64, 24, 53 of u32, i32, u64, f32, f64;
//!       as the type: u32, u64 v; i32, f32, f64 v − 2^(B−1)
//! min   2^B − 1 − v, as the type
//! or    word(seed, i) & ((1 << ⌊W·(r+1)/(n+1)⌋) − 1), W = 32 or 64
//! and   the complement of that
//! affine  a = word(seed, 2i) | 1, b = word(seed, 2i+1)
//! ```
//!
//! - A floating-point sum over any contiguous range is g(j) − g(i), and every sum of at most 2^12 elements is
//!   small: all of them are integers that the type represents exactly, so the result is the same to the bit in
//!   any order of summation.
//! - A running maximum of random numbers soon stops changing, and a wrong prefix would not show. These values
//!   rise along the scan, with a jitter that keeps them from being sorted. Likewise the bits of `or` appear one
//!   after the other.
//! - With odd factors a composition never forgets where it began.

use super::operator::{Bits, Operator, Type};
use crate::inputs::mix::{word32, word64};

/// A floating-point sum of up to this many elements is exact even if they are not contiguous.
pub const EXACT: usize = 1 << 12;

/// Largest jitter of a rank.
const JITTER: u64 = 15;

/// The elements of in. Kernels take this struct by value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inputs {
    pub operator: Operator,
    pub ty: Type,
    pub backward: bool,
    /// n.
    pub elements: u64,
    pub seed: u64,
    /// L.
    pub length: u32,
}

impl Inputs {
    /// The inputs of `elements` (at most 2^40) elements.
    pub fn new(operator: Operator, ty: Type, backward: bool, elements: u64, seed: u64) -> Inputs {
        let length = u64::BITS - (elements + JITTER - 1).leading_zeros();
        Inputs { operator, ty, backward, elements, seed, length }
    }

    /// Element `i`; i below n.
    #[inline(always)]
    pub fn bits(&self, i: u64) -> Bits {
        match self.operator {
            Operator::Add => [self.summand(i), 0],
            Operator::Max => [self.as_type(self.rising(i)), 0],
            Operator::Min => [self.as_type(self.top() - self.rising(i)), 0],
            Operator::Or => [self.rare_bits(i), 0],
            Operator::And => [!self.rare_bits(i) & self.ty.mask(), 0],
            Operator::Affine => [self.word(2 * i) | 1, self.word(2 * i + 1)],
        }
    }

    #[inline(always)]
    fn word(&self, i: u64) -> u64 {
        if self.ty.bits() == 64 { word64(self.seed, i) } else { u64::from(word32(self.seed, i as u32)) }
    }

    #[inline(always)]
    fn summand(&self, i: u64) -> u64 {
        let g = |i: u64| self.word(i) >> if self.ty == Type::F32 { 20 } else { 32 };
        let step = || g(i) as i64 - if i == 0 { 0 } else { g(i - 1) as i64 };
        match self.ty {
            Type::F32 => (step() as f32).to_bits().into(),
            Type::F64 => (step() as f64).to_bits(),
            _ => self.word(i),
        }
    }

    /// r.
    #[inline(always)]
    fn rank(&self, i: u64) -> u64 {
        if self.backward { self.elements - 1 - i } else { i }
    }

    /// B.
    #[inline(always)]
    fn width(&self) -> u32 {
        match self.ty {
            Type::U32 | Type::I32 => 32,
            Type::U64 => 64,
            Type::F32 => 24,
            Type::F64 => 53,
        }
    }

    /// 2^B − 1.
    #[inline(always)]
    fn top(&self) -> u64 {
        u64::MAX >> (64 - self.width())
    }

    /// v.
    #[inline(always)]
    fn rising(&self, i: u64) -> u64 {
        let q = self.rank(i) + (u64::from(word32(self.seed, i as u32)) & JITTER);
        let (width, length) = (self.width(), self.length);
        if width >= length { q << (width - length) } else { q >> (length - width) }
    }

    #[inline(always)]
    fn as_type(&self, v: u64) -> u64 {
        match self.ty {
            Type::U32 | Type::U64 => v,
            Type::I32 => v ^ 0x8000_0000,
            Type::F32 => ((v as i32 - (1 << 23)) as f32).to_bits().into(),
            Type::F64 => ((v as i64 - (1 << 52)) as f64).to_bits(),
        }
    }

    #[inline(always)]
    fn rare_bits(&self, i: u64) -> u64 {
        let allowed = u64::from(self.ty.bits()) * (self.rank(i) + 1) / (self.elements + 1);
        self.word(i) & ((1 << allowed) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::super::operator::{combine, identity};
    use super::*;

    fn all(operator: Operator, ty: Type, backward: bool, n: u64) -> Vec<Bits> {
        let inputs = Inputs::new(operator, ty, backward, n, 11);
        (0..n).map(|i| inputs.bits(i)).collect()
    }

    /// The number of times that a running total changes.
    fn changes(operator: Operator, ty: Type, backward: bool, n: u64) -> usize {
        let mut input = all(operator, ty, backward, n);
        if backward {
            input.reverse();
        }
        let mut total = identity(operator, ty);
        let mut changes = 0;
        for element in input {
            let next = combine(operator, ty, total, element);
            changes += usize::from(next != total);
            total = next;
        }
        changes
    }

    #[test]
    fn extremes_keep_changing_all_the_way() {
        for (operator, backward) in [(Operator::Min, false), (Operator::Max, true), (Operator::Max, false)] {
            for ty in [Type::U32, Type::I32, Type::U64, Type::F32, Type::F64] {
                let found = changes(operator, ty, backward, 2000);
                assert!((500..2000).contains(&found), "{operator:?} {ty:?}: {found} of 2000");
            }
        }
    }

    #[test]
    fn bits_come_one_after_the_other() {
        for (operator, ty, backward) in [
            (Operator::Or, Type::U32, false),
            (Operator::And, Type::U64, true),
            (Operator::And, Type::I32, false),
        ] {
            let found = changes(operator, ty, backward, 1 << 14);
            assert!(found > 16, "{operator:?} {ty:?}: {found}");
        }
    }

    /// In any order, the floating-point sum equals the sum of the integers.
    #[test]
    fn floating_point_sums_are_exact() {
        for (ty, most) in [(Type::F32, 1u64 << 24), (Type::F64, 1 << 53)] {
            let value = |bits: Bits| match ty {
                Type::F32 => f64::from(f32::from_bits(bits[0] as u32)),
                _ => f64::from_bits(bits[0]),
            };
            let input = all(Operator::Add, ty, false, 1 << 16);
            let (mut sum, mut largest) = (0.0, 0.0f64);
            for element in &input {
                sum += value(*element);
                largest = largest.max(value(*element).abs());
                assert!((0.0..most as f64).contains(&sum));
            }
            assert!(largest * EXACT as f64 <= most as f64, "{ty:?}: {largest}");
            assert!(largest.fract() == 0.0 && largest > 1000.0);
        }
    }

    /// The values cover both signs and both halves of the unsigned range, so that a comparison of the wrong
    /// kind shows.
    #[test]
    fn values_spread_over_the_type() {
        for n in [100, 1 << 20] {
            for ty in [Type::U32, Type::I32, Type::U64] {
                let high = |bits: Bits| bits[0] >> (ty.bits() - 1) == 1;
                let inputs = Inputs::new(Operator::Max, ty, false, n, 3);
                assert_ne!(high(inputs.bits(0)), high(inputs.bits(n - 1)), "{ty:?} {n}");
            }
            let inputs = Inputs::new(Operator::Min, Type::F32, false, n, 3);
            let value = |i| f32::from_bits(inputs.bits(i)[0] as u32);
            assert!(value(0) > 0.0 && value(n - 1) < 0.0);
        }
    }

    /// The CUDA counterpart must give the same values.
    #[test]
    fn golden() {
        let of = |operator, ty, backward, n, i| Inputs::new(operator, ty, backward, n, 42).bits(i);
        let found = [
            of(Operator::Add, Type::U32, false, 10, 3),
            of(Operator::Add, Type::F32, false, 10, 3),
            of(Operator::Add, Type::F64, true, 10, 0),
            of(Operator::Max, Type::I32, false, 1000, 999),
            of(Operator::Min, Type::F32, true, 1 << 30, 5),
            of(Operator::Max, Type::U64, false, 1 << 33, (1 << 32) + 7),
            of(Operator::Or, Type::U32, false, 100, 60),
            of(Operator::And, Type::U64, true, 100, 60),
            of(Operator::Affine, Type::U64, false, 100, 60),
            of(Operator::Affine, Type::I32, false, 1 << 33, (1 << 32) + 1),
        ];
        insta::assert_debug_snapshot!(found);
    }
}
