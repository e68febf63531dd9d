//! reduce on the CPU: each worker reduces its part in many lanes; when all are done, one worker combines their
//! words.

pub mod kernels;

use std::sync::atomic::{AtomicU64, Ordering};

use super::Spec;
use crate::device::cpu::{CacheLineSlot, POISON};
use crate::primitives::cpu::prelude::*;
use kernels::Timed;

/// A case with its arrays.
pub struct Reduce {
    spec: Spec,
    /// x, and y if there are products; each has an extra element, which is read only with a fault.
    arrays: Vec<Buffer>,
    timed: Timed,
    fault: Option<Fault>,
    /// The word of each worker, and the combined word.
    parts: Vec<CacheLineSlot>,
    all: CacheLineSlot,
}

impl PoolJob for Reduce {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Reduce, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (arrays, bytes) = (1 + usize::from(spec.products()), (spec.elements + 1) * spec.element());
        let array = |second| {
            let (mut array, n) = (Buffer::new(bytes as usize)?, spec.elements as usize + 1);
            let element = |i| spec.bits(second, i as u64);
            context.pool.fill_words(&mut array, spec.element(), n, context.cancel, element)?;
            Ok(array)
        };
        let job = Reduce {
            spec,
            arrays: [false, true].into_iter().take(arrays).map(array).collect::<Result<_, Failure>>()?,
            timed: kernels::timed(&spec, isa),
            fault: context.fault,
            parts: (0..context.pool.threads()).map(|_| CacheLineSlot::default()).collect(),
            all: CacheLineSlot::default(),
        };
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let word = |part: Range<usize>| {
            let first = (part.start + beside) * self.spec.element() as usize;
            let at = |array: &Buffer| array.ptr::<u8>().wrapping_add(first).cast_const();
            let y = self.arrays.get(1).map_or(std::ptr::null(), at);
            // SAFETY: the part lies inside the arrays; with a fault it extends at most to the extra element.
            unsafe { (self.timed)(at(&self.arrays[0]), y, part.len()) }
        };
        let words = pieces(self.spec.elements as usize, 64, worker, self.fault).map(word);
        self.parts[worker.index].0.store(self.spec.joined(words), Ordering::Relaxed);
        worker.meet();
        if worker.index == 0 {
            let words = self.parts.iter().map(|part| part.0.load(Ordering::Relaxed));
            self.all.0.store(self.spec.joined(words), Ordering::Relaxed);
        }
        worker.meet();
    }

    fn clear(&self, _pool: &Pool, _cancel: &Cancel) -> Result<(), Failure> {
        self.all.0.store(POISON, Ordering::Relaxed);
        Ok(())
    }

    fn words(&self) -> Vec<&AtomicU64> {
        vec![&self.all.0]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        self.arrays.first().map(InputArray::from)
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let spec = &self.spec;
        let join = |all, i| spec.join(all, spec.term(i as u64));
        let words = pool.fold(spec.elements as usize, cancel, spec.identity(), join)?;
        Ok(Verdict::of(spec.mistake(self.result(), spec.joined(words)), spec.elements))
    }

    fn tolerance(&self) -> f64 {
        self.spec.tolerance()
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(self.result().to_le_bytes()[..self.spec.element() as usize].to_vec())
    }
}

impl Reduce {
    fn result(&self) -> u64 {
        self.spec.result(self.all.0.load(Ordering::Relaxed))
    }
}
