//! The timed loops: one generic body, and instances of it for each instruction set.

use std::ptr::read_volatile;

use crate::device::cpu::Isa;
use crate::primitives::reduce::{Operator, Spec, Type, key32, key64};

/// The word of `n` terms.
///
/// # Safety
/// The arrays hold as many elements of the case's type, and the processor has the instruction set.
pub type Timed = unsafe fn(x: *const u8, y: *const u8, n: usize) -> u64;

/// How terms of a type become words, and words one.
trait Fold {
    type Element: Copy;
    type Word: Copy;
    const NONE: Self::Word;
    fn of(x: Self::Element) -> Self::Word;
    fn of_product(x: Self::Element, y: Self::Element) -> Self::Word;
    fn join(a: Self::Word, b: Self::Word) -> Self::Word;
    fn bits(word: Self::Word) -> u64;
}

macro_rules! folds {
    ($($name:ident: $t:ty => $w:ty, $none:expr, |$x:ident| $of:expr, |$p:ident, $q:ident| $product:expr,
       |$a:ident, $b:ident| $join:expr, |$word:ident| $bits:expr;)*) => { $(
        struct $name;

        impl Fold for $name {
            type Element = $t;
            type Word = $w;
            const NONE: $w = $none;

            #[inline(always)]
            fn of($x: $t) -> $w {
                $of
            }

            #[inline(always)]
            fn of_product($p: $t, $q: $t) -> $w {
                $product
            }

            #[inline(always)]
            fn join($a: $w, $b: $w) -> $w {
                $join
            }

            #[inline(always)]
            fn bits($word: $w) -> u64 {
                $bits
            }
        }
    )* };
}

folds! {
    SumU32: u32 => u32, 0, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.wrapping_add(b), |w| w.into();
    MinU32: u32 => u32, u32::MAX, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.min(b), |w| w.into();
    MaxU32: u32 => u32, 0, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.max(b), |w| w.into();
    SumU64: u64 => u64, 0, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.wrapping_add(b), |w| w;
    MinU64: u64 => u64, u64::MAX, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.min(b), |w| w;
    MaxU64: u64 => u64, 0, |x| x, |x, y| x.wrapping_mul(y), |a, b| a.max(b), |w| w;
    SumF32: f32 => f64, 0.0, |x| x.into(), |x, y| f64::from(x) * f64::from(y), |a, b| a + b, |w| w.to_bits();
    MinF32: f32 => u32, 0xFF80_0000, |x| key32(x, false), |x, y| key32(x * y, false), |a, b| a.min(b), |w| w.into();
    MaxF32: f32 => u32, 0x007F_FFFF, |x| key32(x, true), |x, y| key32(x * y, true), |a, b| a.max(b), |w| w.into();
    SumF64: f64 => f64, 0.0, |x| x, |x, y| x * y, |a, b| a + b, |w| w.to_bits();
    MinF64: f64 => u64, 0xFFF0 << 48, |x| key64(x, false), |x, y| key64(x * y, false), |a, b| a.min(b), |w| w;
    MaxF64: f64 => u64, 0x000F_FFFF_FFFF_FFFF, |x| key64(x, true), |x, y| key64(x * y, true), |a, b| a.max(b), |w| w;
}

/// Lanes that are kept apart: whole vectors, as many as hide what a sum waits for the one before it.
const LANES: usize = 32;

/// One element, or of `VECTORS` many at a time: volatile loads keep the compiler from making vectors.
#[inline(always)]
unsafe fn fold<F: Fold, const PRODUCTS: bool, const VECTORS: bool>(
    x: *const u8,
    y: *const u8,
    n: usize,
) -> u64 {
    let (x, y) = (x.cast::<F::Element>(), y.cast::<F::Element>());
    // SAFETY: by the caller's promise.
    let load = |at: *const F::Element| unsafe { if VECTORS { *at } else { read_volatile(at) } };
    // SAFETY: as above.
    let term = |i: usize| unsafe {
        if PRODUCTS { F::of_product(load(x.add(i)), load(y.add(i))) } else { F::of(load(x.add(i))) }
    };
    let mut lanes = [F::NONE; LANES];
    let whole = n / LANES * LANES;
    for first in (0..whole).step_by(LANES) {
        for (lane, all) in lanes.iter_mut().enumerate() {
            *all = F::join(*all, term(first + lane));
        }
    }
    for i in whole..n {
        lanes[i - whole] = F::join(lanes[i - whole], term(i));
    }
    F::bits(lanes.into_iter().fold(F::NONE, F::join))
}

macro_rules! instances {
    ($isa:ident, $vectors:literal $(, $feature:literal)?) => {
        mod $isa {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn of<F: Fold, const PRODUCTS: bool>(x: *const u8, y: *const u8, n: usize) -> u64 {
                // SAFETY: by the caller's promise.
                unsafe { fold::<F, PRODUCTS, $vectors>(x, y, n) }
            }

            fn either<F: Fold>(products: bool) -> Timed {
                if products { of::<F, true> } else { of::<F, false> }
            }

            pub fn select(spec: &Spec) -> Timed {
                let pick = match (spec.operator, spec.ty) {
                    (Operator::Sum, Type::U32) => either::<SumU32>,
                    (Operator::Min, Type::U32) => either::<MinU32>,
                    (Operator::Max, Type::U32) => either::<MaxU32>,
                    (Operator::Sum, Type::U64) => either::<SumU64>,
                    (Operator::Min, Type::U64) => either::<MinU64>,
                    (Operator::Max, Type::U64) => either::<MaxU64>,
                    (Operator::Sum, Type::F32) => either::<SumF32>,
                    (Operator::Min, Type::F32) => either::<MinF32>,
                    (Operator::Max, Type::F32) => either::<MaxF32>,
                    (Operator::Sum, Type::F64) => either::<SumF64>,
                    (Operator::Min, Type::F64) => either::<MinF64>,
                    (Operator::Max, Type::F64) => either::<MaxF64>,
                };
                pick(spec.products())
            }
        }
    };
}

instances!(scalar, false);
#[cfg(target_arch = "x86_64")]
instances!(avx2, true, "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, true, "avx512f,avx512dq,avx512vl");

/// The loop of a case for an instruction set that is present.
pub fn timed(spec: &Spec, isa: Isa) -> Timed {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::select(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::select(spec),
        _ => scalar::select(spec),
    }
}
