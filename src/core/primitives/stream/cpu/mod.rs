//! The CPU job of stream, and its certificate.

pub mod kernels;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::cpu::{CacheLineSlot, check, fence};
use crate::primitives::cpu::prelude::*;
use crate::primitives::stream::{Array, Kernel, Method, Spec};
use kernels::{Span, Timed};

/// A stream case with its arrays.
pub struct Stream {
    spec: Spec,
    n: usize,
    /// The arrays a, b and c, if the kernel uses them.
    arrays: [Option<Buffer>; 3],
    timed: Timed,
    fault: Option<Fault>,
    /// The bits of each worker's sum, each in a separate cache line.
    sums: Vec<CacheLineSlot>,
}

impl Stream {
    fn pointer(&self, array: Option<Array>) -> *mut f64 {
        array.and_then(|a| self.arrays[a as usize].as_ref()).map_or(std::ptr::null_mut(), Buffer::ptr)
    }

    fn destination(&self) -> Option<&Buffer> {
        self.spec.kernel.destination().and_then(|a| self.arrays[a as usize].as_ref())
    }

    fn fill(&mut self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        for &array in self.spec.kernel.sources() {
            let Some(buffer) = &mut self.arrays[array as usize] else { continue };
            let spec = self.spec;
            pool.fill(buffer, self.n, cancel, |i| spec.input(array, i as u64))?;
        }
        self.clear(pool, cancel)
    }

    fn span(&self, range: &Range<usize>) -> Span {
        let sources = self.spec.kernel.sources();
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let at = |array: Option<&Array>, shift: usize| {
            self.pointer(array.copied()).wrapping_add(range.start + shift)
        };
        let shift = if sources.is_empty() { beside } else { 0 };
        Span {
            to: at(self.spec.kernel.destination().as_ref(), shift),
            x: at(sources.first(), beside),
            y: at(sources.get(1), beside),
            n: range.len(),
        }
    }

    fn total(&self) -> f64 {
        self.sums.iter().map(|s| f64::from_bits(s.0.load(Ordering::Relaxed))).sum()
    }

    /// Compares each worker's sum with that of its part.
    fn wrong_sum(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let add = |sum, i| sum + self.spec.element(i as u64) as u64;
        let sums = pool.fold(self.n, cancel, 0, add)?;
        let found = self.sums.iter().map(|sum| f64::from_bits(sum.0.load(Ordering::Relaxed)));
        let mut pairs = found.zip(sums).enumerate();
        let wrong = pairs.find(|(_, (found, expected))| *found != *expected as f64);
        Ok(wrong.map(|(at, (found, expected))| format!("the sum of thread {at} is {found}, not {expected}")))
    }

    fn wrong_element(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let Some(buffer) = self.destination() else { return Ok(None) };
        let name = self.spec.kernel.destination().map_or("", Array::name);
        check::find(pool, self.n, cancel, |block| {
            // SAFETY: the workers only read now.
            let found = unsafe { buffer.read::<f64>(block.clone()) };
            found.iter().zip(block).find_map(|(&found, i)| {
                let expected = self.spec.element(i as u64);
                (found.to_bits() != expected.to_bits())
                    .then(|| format!("{name}[{i}] is {found:e}, not {expected}"))
            })
        })
    }
}

impl PoolJob for Stream {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Stream, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        if spec.method == Method::Streaming && cfg!(not(target_arch = "x86_64")) {
            return Err(Failure::NotApplicable("no non-temporal stores on this architecture".to_owned()));
        }
        let bytes = spec.elements.saturating_mul(8);
        let mut arrays = [None, None, None];
        for array in spec.arrays() {
            arrays[array as usize] = Some(Buffer::new(bytes as usize)?);
        }
        let sums = (0..context.pool.threads()).map(|_| CacheLineSlot::default()).collect();
        let timed = kernels::timed(spec.kernel, spec.method, isa);
        let n = spec.elements as usize;
        let mut job = Stream { spec, n, arrays, timed, fault: context.fault, sums };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let mut sum = 0.0;
        for piece in pieces(self.n, 64, worker, self.fault) {
            // SAFETY: the pieces lie inside the arrays, or extend by one element into the guard; destinations
            // of different workers are disjoint.
            sum += unsafe { (self.timed)(&self.span(&piece)) };
        }
        self.sums[worker.index].0.store(sum.to_bits(), Ordering::Relaxed);
        if self.spec.method == Method::Streaming {
            fence();
        }
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.sums.iter().for_each(|s| s.0.store(0, Ordering::Relaxed));
        self.destination().map_or(Ok(()), |buffer| check::poison(pool, buffer, 8, cancel))
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        self.destination().map(|array| OutputArray::new(array, 8)).into_iter().collect()
    }

    fn words(&self) -> Vec<&AtomicU64> {
        let none = self.destination().is_none();
        self.sums.iter().map(|sum| &sum.0).filter(|_| none).collect()
    }

    fn input(&self) -> Option<InputArray<'_>> {
        let source = *self.spec.kernel.sources().first()?;
        self.arrays[source as usize].as_ref().map(InputArray::from)
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = match self.spec.kernel {
            Kernel::Read => self.wrong_sum(pool, cancel)?,
            _ => self.wrong_element(pool, cancel)?,
        };
        Ok(Verdict::of(mistake, self.n as u64))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(match self.destination() {
            // SAFETY: the workers are done.
            Some(buffer) => unsafe { buffer.to_vec() },
            None => self.total().to_le_bytes().to_vec(),
        })
    }
}
