//! reduce on the CPU: each worker reduces its part in many lanes; when all have, one joins what they have left.

pub mod kernels;

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::Spec;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{Buffer, Context, Isa, POISON, Pool, PoolJob, Slot, Worker, memory, pieces};
use kernels::Timed;

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

impl PoolJob for Reduce {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Reduce, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (arrays, bytes) = (1 + usize::from(spec.products()), (spec.elements + 1) * spec.element());
        memory::require(bytes * arrays as u64)?;
        let job = Reduce {
            timed: kernels::timed(&spec, isa),
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
        self.all.0.store(POISON, Ordering::Relaxed);
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
