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

/// Lanes that are kept apart: whole vectors, as many as hide what each waits for. With half of them the compiler shuffles.
const LANES: usize = 64;

/// The same without vectors.
const WORDS: usize = 8;

/// One after another: volatile loads keep the compiler from making vectors of several.
#[inline(always)]
unsafe fn one_by_one<F: Fold, const PRODUCTS: bool>(
    x: *const F::Element,
    y: *const F::Element,
    n: usize,
) -> F::Word {
    let mut words = [F::NONE; WORDS];
    for i in 0..n {
        // SAFETY: by the caller's promise.
        let term = unsafe {
            let x = read_volatile(x.add(i));
            if PRODUCTS { F::of_product(x, read_volatile(y.add(i))) } else { F::of(x) }
        };
        words[i % WORDS] = F::join(words[i % WORDS], term);
    }
    words.into_iter().fold(F::NONE, |all, word| F::join(all, word))
}

/// In blocks of all lanes, which the compiler makes vectors of.
#[inline(always)]
unsafe fn in_vectors<F: Fold, const PRODUCTS: bool>(
    x: *const F::Element,
    y: *const F::Element,
    n: usize,
) -> F::Word {
    let (mut lanes, whole) = ([F::NONE; LANES], n / LANES * LANES);
    for first in (0..whole).step_by(LANES) {
        // SAFETY: by the caller's promise.
        let block = |array: *const F::Element| unsafe {
            array.add(first).cast::<[F::Element; LANES]>().read_unaligned()
        };
        let xs = block(x);
        if PRODUCTS {
            let ys = block(y);
            for k in 0..LANES {
                lanes[k] = F::join(lanes[k], F::of_product(xs[k], ys[k]));
            }
        } else {
            for k in 0..LANES {
                lanes[k] = F::join(lanes[k], F::of(xs[k]));
            }
        }
    }
    // SAFETY: as above.
    let rest = unsafe { one_by_one::<F, PRODUCTS>(x.wrapping_add(whole), y.wrapping_add(whole), n - whole) };
    lanes.into_iter().fold(rest, |all, lane| F::join(all, lane))
}

macro_rules! instances {
    ($isa:ident, $fold:ident $(, $feature:literal)?) => {
        mod $isa {
            use super::*;

            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            unsafe fn of<F: Fold, const PRODUCTS: bool>(x: *const u8, y: *const u8, n: usize) -> u64 {
                // SAFETY: by the caller's promise.
                F::bits(unsafe { $fold::<F, PRODUCTS>(x.cast(), y.cast(), n) })
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

instances!(scalar, one_by_one);
#[cfg(target_arch = "x86_64")]
instances!(avx2, in_vectors, "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, in_vectors, "avx512f,avx512dq,avx512vl");

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
