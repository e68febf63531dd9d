//! The operators of a scan: associative functions of two elements with an identity.

use crate::case::table::words;

words! {
    /// An associative function ⊕ (sengupta2007 §2.1). The kernels know each by its place.
    pub enum Operator {
        /// The sum; of integers modulo 2^32 or 2^64.
        Add = "add",
        Min = "min",
        Max = "max",
        /// Bit by bit.
        And = "and",
        /// Bit by bit.
        Or = "or",
        /// Composition of the functions x ↦ a·x + b, the left one applied first:
        /// (a, b) ⊕ (c, d) = (c·a, c·b + d), modulo 2^32 or 2^64. Not commutative.
        Affine = "affine",
    }
}

words! {
    /// The type of an element's words. The kernels identify it by its index.
    pub enum Type {
        U32 = "u32",
        I32 = "i32",
        U64 = "u64",
        F32 = "f32",
        F64 = "f64",
    }
}

/// An element as bits: both words of a pair (a, b), otherwise one word and 0. A 32-bit type occupies the lower
/// half of its word.
pub type Bits = [u64; 2];

impl Operator {
    /// Words per element: 2 for pairs.
    pub fn words(self) -> u64 {
        if self == Operator::Affine { 2 } else { 1 }
    }

    /// True if the operator is defined for floating-point numbers.
    pub fn takes_floats(self) -> bool {
        matches!(self, Operator::Add | Operator::Min | Operator::Max)
    }
}

impl Type {
    /// Bytes of a word.
    pub fn bytes(self) -> u64 {
        if matches!(self, Type::U64 | Type::F64) { 8 } else { 4 }
    }

    /// Bits of a word.
    pub fn bits(self) -> u32 {
        8 * self.bytes() as u32
    }

    /// True if the type is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Type::F32 | Type::F64)
    }

    /// The lowest and the highest value; −∞ and ∞ for floats.
    fn ends(self) -> (u64, u64) {
        match self {
            Type::U32 => (0, u64::from(u32::MAX)),
            Type::I32 => (u64::from(i32::MIN as u32), u64::from(i32::MAX as u32)),
            Type::U64 => (0, u64::MAX),
            Type::F32 => (u64::from(f32::NEG_INFINITY.to_bits()), u64::from(f32::INFINITY.to_bits())),
            Type::F64 => (f64::NEG_INFINITY.to_bits(), f64::INFINITY.to_bits()),
        }
    }

    /// A mask of all bits of the type.
    #[inline(always)]
    pub fn mask(self) -> u64 {
        u64::MAX >> (64 - self.bits())
    }
}

/// The identity element of ⊕.
pub fn identity(operator: Operator, ty: Type) -> Bits {
    match operator {
        Operator::Add | Operator::Or => [0, 0],
        Operator::And => [ty.mask(), 0],
        Operator::Min => [ty.ends().1, 0],
        Operator::Max => [ty.ends().0, 0],
        Operator::Affine => [1, 0],
    }
}

/// p ⊕ q.
#[inline(always)]
pub fn combine(operator: Operator, ty: Type, p: Bits, q: Bits) -> Bits {
    match operator {
        Operator::Add => [add(ty, p[0], q[0]), 0],
        Operator::Min => [if less(ty, q[0], p[0]) { q[0] } else { p[0] }, 0],
        Operator::Max => [if less(ty, p[0], q[0]) { q[0] } else { p[0] }, 0],
        Operator::And => [p[0] & q[0], 0],
        Operator::Or => [p[0] | q[0], 0],
        Operator::Affine => {
            let times = |x: u64| q[0].wrapping_mul(x);
            [times(p[0]) & ty.mask(), times(p[1]).wrapping_add(q[1]) & ty.mask()]
        }
    }
}

#[inline(always)]
fn add(ty: Type, x: u64, y: u64) -> u64 {
    match ty {
        Type::F32 => (f32_of(x) + f32_of(y)).to_bits().into(),
        Type::F64 => (f64::from_bits(x) + f64::from_bits(y)).to_bits(),
        Type::U32 | Type::I32 => u64::from((x as u32).wrapping_add(y as u32)),
        Type::U64 => x.wrapping_add(y),
    }
}

#[inline(always)]
fn less(ty: Type, x: u64, y: u64) -> bool {
    match ty {
        Type::F32 => f32_of(x) < f32_of(y),
        Type::F64 => f64::from_bits(x) < f64::from_bits(y),
        Type::I32 => (x as i32) < y as i32,
        Type::U32 | Type::U64 => x < y,
    }
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TYPES: [Type; 5] = [Type::U32, Type::I32, Type::U64, Type::F32, Type::F64];
    const OPERATORS: [Operator; 6] =
        [Operator::Add, Operator::Min, Operator::Max, Operator::And, Operator::Or, Operator::Affine];

    /// A small integer as an element.
    fn element(operator: Operator, ty: Type, x: i32, y: i32) -> Bits {
        let word = |x: i32| match ty {
            Type::U32 | Type::I32 => u64::from(x as u32),
            Type::U64 => x as i64 as u64,
            Type::F32 => (x as f32).to_bits().into(),
            Type::F64 => f64::from(x).to_bits(),
        };
        [word(x), if operator == Operator::Affine { word(y) } else { 0 }]
    }

    proptest! {
        #[test]
        fn they_are_associative_and_have_an_identity(x in any::<[i16; 6]>()) {
            let x = x.map(i32::from);
            for (operator, ty) in OPERATORS.into_iter().flat_map(|o| TYPES.map(|t| (o, t))) {
                if ty.is_float() && !operator.takes_floats() {
                    continue;
                }
                let [p, q, r] = [0, 2, 4].map(|k| element(operator, ty, x[k], x[k + 1]));
                let of = |p, q| combine(operator, ty, p, q);
                prop_assert_eq!(of(of(p, q), r), of(p, of(q, r)), "{:?} {:?}", operator, ty);
                let one = identity(operator, ty);
                prop_assert_eq!((of(p, one), of(one, p)), (p, p), "{:?} {:?}", operator, ty);
            }
        }

        #[test]
        fn a_composition_applies_the_left_function_first(p in any::<[u32; 2]>(), q in any::<[u32; 2]>(), x: u32) {
            let apply = |f: [u32; 2], x: u32| f[0].wrapping_mul(x).wrapping_add(f[1]);
            let both = combine(Operator::Affine, Type::U32, p.map(u64::from), q.map(u64::from));
            prop_assert_eq!(apply(both.map(|word| word as u32), x), apply(q, apply(p, x)));
        }
    }

    #[test]
    fn signs_count_where_there_are_any() {
        let minus = u64::from(-1i32 as u32);
        assert_eq!(combine(Operator::Max, Type::U32, [minus, 0], [1, 0]), [minus, 0]);
        assert_eq!(combine(Operator::Max, Type::I32, [minus, 0], [1, 0]), [1, 0]);
        assert_eq!(combine(Operator::Add, Type::I32, [minus, 0], [1, 0]), [0, 0]);
    }
}
