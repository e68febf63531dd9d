//! reduce on the CPU: each worker reduces its part in many lanes; when all have, one joins what they have left.

use std::ops::Range;
use std::ptr::read_volatile;
use std::sync::atomic::Ordering;

use super::{Operator, Spec, Type, key32, key64};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{Buffer, Context, Isa, Pool, PoolJob, Slot, Worker, memory, pieces};

/// A case with its arrays.
pub struct Reduce {
    spec: Spec,
    /// x, and y where there are products; each with one element more, which a case without a fault does not read.
    arrays: Vec<Buffer>,
    timed: Timed,
    fault: Option<Fault>,
    /// The word of each worker, and that of all.
    parts: Vec<Slot>,
    all: Slot,
}

/// The word of `n` terms.
///
/// # Safety
/// The arrays hold as many elements of the case's type, and the processor has the instruction set.
type Timed = unsafe fn(x: *const u8, y: *const u8, n: usize) -> u64;

impl PoolJob for Reduce {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Reduce, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (arrays, bytes) = (1 + usize::from(spec.products()), (spec.elements + 1) * spec.element());
        memory::require(bytes * arrays as u64)?;
        let job = Reduce {
            timed: timed(&spec, isa),
            arrays: (0..arrays).map(|_| Buffer::new(bytes as usize)).collect::<Result<_, _>>()?,
            fault: context.fault,
            parts: (0..context.pool.threads()).map(|_| Slot::default()).collect(),
            all: Slot::default(),
            spec,
        };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let word = |part: Range<usize>| {
            let at = |array: &Buffer| {
                array
                    .ptr::<u8>()
                    .wrapping_add((part.start + beside) * self.spec.element() as usize)
                    .cast_const()
            };
            let y = self.arrays.get(1).map_or(std::ptr::null(), at);
            // SAFETY: the part lies inside the arrays, a fault's one element further.
            unsafe { (self.timed)(at(&self.arrays[0]), y, part.len()) }
        };
        let parts = pieces(self.spec.elements as usize, 64, worker, self.fault).map(word);
        let mine = self.spec.join(parts[0], parts[1]);
        self.parts[worker.index].0.store(mine, Ordering::Relaxed);
        worker.meet();
        if worker.index == 0 {
            let words = self.parts.iter().map(|part| part.0.load(Ordering::Relaxed));
            let all = words.fold(self.spec.identity(), |all, word| self.spec.join(all, word));
            self.all.0.store(all, Ordering::Relaxed);
        }
        worker.meet();
    }

    fn clear(&self, _pool: &Pool, _cancel: &Cancel) -> Result<(), Failure> {
        self.all.0.store(crate::device::cpu::POISON, Ordering::Relaxed);
        Ok(())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let spec = &self.spec;
        let all = std::sync::Mutex::new(spec.identity());
        pool.for_blocks(spec.elements as usize, cancel, |block| {
            let part = block.fold(spec.identity(), |all, i| spec.join(all, spec.term(i as u64)));
            let mut all = all.lock().unwrap_or_else(|e| e.into_inner());
            *all = spec.join(*all, part);
        })?;
        let expected = all.into_inner().unwrap_or_else(|e| e.into_inner());
        Ok(Verdict::of(spec.mistake(self.result(), expected), spec.elements))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(self.result().to_le_bytes()[..self.spec.element() as usize].to_vec())
    }

    fn memory(&self) -> u64 {
        self.arrays.iter().map(|array| array.bytes() as u64).sum()
    }
}

impl Reduce {
    fn fill(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let element = self.spec.element() as usize;
        for (second, array) in [false, true].into_iter().zip(&self.arrays) {
            pool.for_blocks(self.spec.elements as usize + 1, cancel, |block| {
                // SAFETY: blocks are disjoint and nobody else has the buffer yet.
                let bytes = unsafe { array.write::<u8>(block.start * element..block.end * element) };
                for (to, i) in bytes.chunks_exact_mut(element).zip(block) {
                    to.copy_from_slice(&self.spec.bits(second, i as u64).to_le_bytes()[..element]);
                }
            })?;
        }
        Ok(())
    }

    fn result(&self) -> u64 {
        self.spec.result(self.all.0.load(Ordering::Relaxed))
    }
}

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
fn timed(spec: &Spec, isa: Isa) -> Timed {
    match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => avx2::select(spec),
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => avx512::select(spec),
        _ => scalar::select(spec),
    }
}
