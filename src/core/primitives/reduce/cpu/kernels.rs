//! The timed loops: one generic body, and instances for each instruction set.

use std::ptr::read_volatile;

use crate::device::cpu::memory::prefetch_l2;
use crate::device::cpu::{Isa, of_isa};
use crate::primitives::reduce::{Operator, Spec, Type, key32, key64};

/// Reduces `n` terms to a word.
///
/// # Safety
/// The arrays hold `n` elements of the case's type, and the processor has the instruction set.
pub type Timed = unsafe fn(x: *const u8, y: *const u8, n: usize) -> u64;

/// Conversion of terms x · y of a type to words, and the combination of two words. Without products y is
/// [`ONE`](Fold::ONE), and the compiler removes the multiplication.
trait Fold {
    type Element: Copy;
    type Word: Copy;
    const ONE: Self::Element;
    const NONE: Self::Word;
    fn of(x: Self::Element, y: Self::Element) -> Self::Word;
    fn join(a: Self::Word, b: Self::Word) -> Self::Word;
    fn bits(word: Self::Word) -> u64;
}

macro_rules! folds {
    ($($name:ident: $operator:ident $ty:ident, $t:ident => $w:ty, $none:expr, |$x:ident, $y:ident| $of:expr,
       |$a:ident, $b:ident| $join:expr, |$word:ident| $bits:expr;)*) => {
        $(
            struct $name;

            impl Fold for $name {
                type Element = $t;
                type Word = $w;
                const ONE: $t = 1 as $t;
                const NONE: $w = $none;

                #[inline(always)]
                fn of($x: $t, $y: $t) -> $w {
                    $of
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
        )*

        /// The loop of a case for an instruction set that is present.
        pub fn timed(spec: &Spec, isa: Isa) -> Timed {
            match (spec.operator, spec.ty, spec.products()) {
                $(
                    (Operator::$operator, Type::$ty, false) => instance::<$name, false>(isa),
                    (Operator::$operator, Type::$ty, true) => instance::<$name, true>(isa),
                )*
            }
        }
    };
}

folds! {
    SumU32: Sum U32, u32 => u32, 0, |x, y| x.wrapping_mul(y), |a, b| a.wrapping_add(b), |w| w.into();
    MinU32: Min U32, u32 => u32, u32::MAX, |x, y| x.wrapping_mul(y), |a, b| a.min(b), |w| w.into();
    MaxU32: Max U32, u32 => u32, 0, |x, y| x.wrapping_mul(y), |a, b| a.max(b), |w| w.into();
    SumU64: Sum U64, u64 => u64, 0, |x, y| x.wrapping_mul(y), |a, b| a.wrapping_add(b), |w| w;
    MinU64: Min U64, u64 => u64, u64::MAX, |x, y| x.wrapping_mul(y), |a, b| a.min(b), |w| w;
    MaxU64: Max U64, u64 => u64, 0, |x, y| x.wrapping_mul(y), |a, b| a.max(b), |w| w;
    SumF32: Sum F32, f32 => f64, 0.0, |x, y| f64::from(x) * f64::from(y), |a, b| a + b, |w| w.to_bits();
    MinF32: Min F32, f32 => u32, 0xFF80_0000, |x, y| key32(x * y, false), |a, b| a.min(b), |w| w.into();
    MaxF32: Max F32, f32 => u32, 0x007F_FFFF, |x, y| key32(x * y, true), |a, b| a.max(b), |w| w.into();
    SumF64: Sum F64, f64 => f64, 0.0, |x, y| x * y, |a, b| a + b, |w| w.to_bits();
    MinF64: Min F64, f64 => u64, 0xFFF0 << 48, |x, y| key64(x * y, false), |a, b| a.min(b), |w| w;
    MaxF64: Max F64, f64 => u64, !(0xFFF0 << 48), |x, y| key64(x * y, true), |a, b| a.max(b), |w| w;
}

/// Number of independent words, so that a join need not wait for the previous one.
const WORDS: usize = 8;

/// Element by element: volatile loads keep the compiler from vectorizing.
#[inline(always)]
unsafe fn one_by_one<F: Fold, const PRODUCTS: bool>(
    x: *const F::Element,
    y: *const F::Element,
    n: usize,
) -> F::Word {
    let mut words = [F::NONE; WORDS];
    for i in 0..n {
        // SAFETY: by the caller's promise.
        let at = |array: *const F::Element| unsafe { read_volatile(array.add(i)) };
        let term = F::of(at(x), if PRODUCTS { at(y) } else { F::ONE });
        words[i % WORDS] = F::join(words[i % WORDS], term);
    }
    words.into_iter().fold(F::NONE, |all, word| F::join(all, word))
}

/// In blocks of all lanes, which the compiler vectorizes.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn in_vectors<F: Fold, const PRODUCTS: bool>(
    x: *const F::Element,
    y: *const F::Element,
    n: usize,
) -> F::Word {
    /// Elements per block: enough whole vectors to hide latencies. With half as many the compiler emits
    /// shuffles.
    const LANES: usize = 64;
    /// Prefetch distance in bytes. Hardware prefetches within a page of 4 KiB; at the next page it would stall,
    /// and longer the fewer terms are in flight.
    const AHEAD: usize = 8192;
    let (mut lanes, whole) = ([F::NONE; LANES], n / LANES * LANES);
    // Data in an L1 or L2 cache are read faster without prefetching.
    let far = n * size_of::<F::Element>() > 1 << 20;
    for first in (0..whole).step_by(LANES) {
        // SAFETY: by the caller's promise; prefetching a line behind the array is harmless.
        let block = |array: *const F::Element| unsafe {
            let block = array.add(first).cast::<[F::Element; LANES]>();
            for line in (0..size_of_val(&*block)).step_by(64).filter(|_| far) {
                prefetch_l2(block.cast::<i8>().wrapping_add(AHEAD + line));
            }
            block.read_unaligned()
        };
        let (xs, ys) = (block(x), if PRODUCTS { block(y) } else { [F::ONE; LANES] });
        for k in 0..LANES {
            lanes[k] = F::join(lanes[k], F::of(xs[k], ys[k]));
        }
    }
    // SAFETY: as above.
    let rest = unsafe { one_by_one::<F, PRODUCTS>(x.wrapping_add(whole), y.wrapping_add(whole), n - whole) };
    lanes.into_iter().fold(rest, |all, lane| F::join(all, lane))
}

macro_rules! instances {
    ($isa:ident, $fold:ident $(, $feature:literal)?) => {
        mod $isa {
            $(#[target_feature(enable = $feature)])?
            #[inline(never)]
            pub unsafe fn of<F: super::Fold, const PRODUCTS: bool>(x: *const u8, y: *const u8, n: usize) -> u64 {
                // SAFETY: by the caller's promise.
                F::bits(unsafe { super::$fold::<F, PRODUCTS>(x.cast(), y.cast(), n) })
            }
        }
    };
}

instances!(scalar, one_by_one);
#[cfg(target_arch = "x86_64")]
instances!(avx2, in_vectors, "avx2");
#[cfg(target_arch = "x86_64")]
instances!(avx512, in_vectors, "avx512f,avx512dq,avx512vl");

fn instance<F: Fold, const PRODUCTS: bool>(isa: Isa) -> Timed {
    of_isa!(isa, of::<F, PRODUCTS>)
}
