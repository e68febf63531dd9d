//! random-access on the CPU: every access is a scalar load or store, with as many in flight as the processor
//! supports. Places are computed in advance, one block at a time.

mod kernels;

use std::sync::atomic::{AtomicU64, Ordering};

use super::{Kernel, Method, Spec};
use crate::device::cpu::{CacheLineSlot, POISON, check};
use crate::primitives::cpu::prelude::*;
use kernels::{BLOCK, Found, SUMS, Timed, WEIGHTS};

/// A case with its array.
pub struct RandomAccess {
    spec: Spec,
    array: Buffer,
    timed: Timed,
    fault: Option<Fault>,
    /// The sum of each worker's reads, in a separate cache line; what its loop returned in `folds`.
    sums: Vec<CacheLineSlot>,
    folds: Vec<CacheLineSlot>,
    /// How often each worker has executed its share, also in a separate cache line, and had when the outputs were
    /// cleared.
    executed: Vec<CacheLineSlot>,
    cleared: AtomicU64,
}

impl RandomAccess {
    /// Fills an array to be read with its own words, an array to be written with poison.
    fn fill(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        if self.spec.kernel == Kernel::Write {
            return self.clear(pool, cancel);
        }
        let elements = self.spec.elements();
        let in_sequence = self.spec.method == Method::Chained && self.fault == Some(Fault::SequentialOrder);
        let word = |j: u64, w| match in_sequence {
            true if w == 0 => (j + 1) % elements,
            true => 0,
            false => self.spec.word(j, w),
        };
        pool.for_blocks(elements as usize, cancel, |block| {
            for (j, w) in block.flat_map(|j| (0..self.spec.words()).map(move |w| (j as u64, w))) {
                // SAFETY: blocks are disjoint, and nobody else has the array yet.
                unsafe { self.put(j, w, word(j, w)) };
            }
        })?;
        self.lead_back();
        Ok(())
    }

    /// A wrong chain may reach the guard; the guard leads back into the array.
    fn lead_back(&self) {
        let guard = self.spec.elements();
        let words = if self.spec.method == Method::Chained { self.spec.words() } else { 0 };
        // SAFETY: a guard of more than an element lies behind the last one.
        (0..words).for_each(|w| unsafe { self.put(guard, w, self.spec.word(guard, w)) });
    }

    unsafe fn put(&self, j: u64, w: u64, word: u64) {
        let at = (j * self.spec.words() + w) as usize;
        // SAFETY: by the caller's promise, inside the array.
        unsafe {
            match self.spec.element {
                4 => self.array.ptr::<u32>().add(at).write(word as u32),
                _ => self.array.ptr::<u64>().add(at).write(word),
            }
        }
    }

    fn found(&self, j: u64, w: u64) -> u64 {
        let at = (j * self.spec.words() + w) as usize;
        // SAFETY: nobody writes while this is checked.
        unsafe { self.array.number(self.spec.element, at) }
    }

    /// Accesses that the workers divide at a time: each element once, so that a worker visits elements of its
    /// own, as in a gather or a scatter. A chain continues through all accesses.
    fn lap(&self) -> u64 {
        match self.spec.method {
            Method::Direct => self.spec.elements(),
            Method::Chained => self.spec.accesses,
        }
    }

    fn total(&self) -> u64 {
        self.sums.iter().fold(0, |sum, s| sum.wrapping_add(s.0.load(Ordering::Relaxed)))
    }

    /// What reading a range must find, visit by visit.
    fn wanted(&self, range: Range<u64>, cancel: &Cancel) -> Result<Found, Failure> {
        let (order, chained) = (self.spec.order(), self.spec.method == Method::Chained);
        let (mut wanted, mut folds) = (Found::default(), [0u64; SUMS]);
        let last = range.end.wrapping_sub(1);
        for (i, at) in range.clone().zip(0..) {
            if i % (1 << 18) == 0 {
                cancel.check()?;
            }
            let word = self.spec.sum_of(order.apply(i));
            wanted.sum = wanted.sum.wrapping_add(word);
            if chained {
                wanted.fold = wanted.fold.rotate_left(1).wrapping_add(word);
                continue;
            }
            let fold = &mut folds[at % BLOCK % SUMS];
            *fold = fold.wrapping_add(word);
            if at % BLOCK == BLOCK - 1 || i == last {
                folds.iter_mut().zip(WEIGHTS).for_each(|(fold, weight)| *fold = fold.wrapping_mul(weight));
            }
        }
        wanted.fold = folds.iter().fold(wanted.fold, |all, fold| all.wrapping_add(*fold));
        Ok(wanted)
    }

    /// Compares what each worker has read in the last execution with the elements that it was to visit, in their
    /// order.
    fn wrong_sum(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let mistakes = pool.try_run(|worker| {
            let at = worker.index;
            let executed = self.executed[at].0.load(Ordering::Relaxed);
            let begin = self.spec.begin(executed.saturating_sub(1));
            // Each whole lap reads what the first one does.
            let (n, lap) = (self.spec.accesses, self.lap());
            let whole = n.checked_div(lap).unwrap_or(0);
            let mut wanted = Found::default();
            for (first, length, times) in [(begin, lap, whole), (begin + whole * lap, n - whole * lap, 1)] {
                for piece in pieces(length as usize, 1, worker, None).into_iter().filter(|_| times > 0) {
                    let range = first + piece.start as u64..first + piece.end as u64;
                    wanted = wanted.add(self.wanted(range, cancel)?.times(times));
                }
            }
            let load = |slots: &[CacheLineSlot]| slots[at].0.load(Ordering::Relaxed);
            let found = Found { sum: load(&self.sums), fold: load(&self.folds) };
            Ok(if found.sum != wanted.sum {
                Some(format!("the sum of thread {at} is {:#x}, not {:#x}", found.sum, wanted.sum))
            } else if found.fold != wanted.fold {
                Some(format!("thread {at} has read the right elements in the wrong order"))
            } else {
                None
            })
        })?;
        Ok(mistakes.into_iter().flatten().next())
    }

    /// Checks that every element visited since the last clearing holds the number of a visit, and all others
    /// poison.
    fn wrong_element(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        let (spec, order) = (&self.spec, self.spec.order());
        let poison = if spec.element == 4 { POISON & u64::from(u32::MAX) } else { POISON };
        let (cleared, executed) = (self.cleared.load(Ordering::Relaxed), self.executions());
        let (begin, mask) = (spec.begin(cleared), spec.elements() - 1);
        let visits = spec.accesses.saturating_mul(executed.saturating_sub(cleared).max(1));
        let most = mask.saturating_add(spec.accesses);
        check::find(pool, spec.elements() as usize, cancel, |block| {
            block.into_iter().find_map(|j| {
                let x = order.invert(j as u64);
                let visited = x.wrapping_sub(begin) & mask < visits;
                (0..spec.words()).find_map(|w| {
                    let found = self.found(j as u64, w);
                    let right = if visited { spec.is_written(found, x, w, most) } else { found == poison };
                    let expected = if visited { x } else { poison };
                    (!right).then(|| format!("a[{j}] word {w} is {found:#x} instead of {expected:#x}"))
                })
            })
        })
    }

    fn executions(&self) -> u64 {
        self.executed.first().map_or(0, |slot| slot.0.load(Ordering::Relaxed))
    }
}

impl PoolJob for RandomAccess {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(RandomAccess, Isa), Failure> {
        let isa = context.isa_or(|| Isa::Scalar)?;
        if isa != Isa::Scalar {
            let reason = format!("random-access loads and stores element by element, without {isa}");
            return Err(Failure::NotApplicable(reason));
        }
        let array = Buffer::new(spec.footprint as usize)?;
        let slots = || (0..context.pool.threads()).map(|_| CacheLineSlot::default()).collect();
        let (sums, folds, executed) = (slots(), slots(), slots());
        let job = RandomAccess {
            timed: kernels::timed(&spec, context.fault),
            spec,
            array,
            fault: context.fault,
            sums,
            folds,
            executed,
            cleared: AtomicU64::new(0),
        };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.element as usize } else { 0 };
        let (array, order) = (self.array.ptr::<u8>().wrapping_add(beside), self.spec.order());
        let mut found = Found::default();
        let begin = self.spec.begin(self.executed[worker.index].0.fetch_add(1, Ordering::Relaxed));
        let (mut lap, end) = (begin, begin + self.spec.accesses);
        while lap < end {
            let length = (end - lap).min(self.lap());
            for piece in pieces(length as usize, 1, worker, self.fault) {
                let range = lap + piece.start as u64..lap + piece.end as u64;
                // SAFETY: the array has an element for each place, and a guard behind the last.
                found = found.add(unsafe { (self.timed)(array, order, range) });
            }
            lap += length;
        }
        self.sums[worker.index].0.store(found.sum, Ordering::Relaxed);
        self.folds[worker.index].0.store(found.fold, Ordering::Relaxed);
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.sums.iter().chain(&self.folds).for_each(|slot| slot.0.store(0, Ordering::Relaxed));
        self.cleared.store(self.executions(), Ordering::Relaxed);
        match self.spec.kernel {
            Kernel::Read => Ok(()),
            Kernel::Write => check::poison(pool, &self.array, self.spec.element as usize, cancel),
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let written =
            (self.spec.kernel == Kernel::Write).then(|| OutputArray::new(&self.array, self.spec.element));
        written.into_iter().collect()
    }

    fn words(&self) -> Vec<&AtomicU64> {
        let slots = self.sums.iter().chain(&self.folds).map(|slot| &slot.0);
        slots.filter(|_| self.spec.kernel == Kernel::Read).collect()
    }

    fn input(&self) -> Option<InputArray<'_>> {
        (self.spec.kernel == Kernel::Read).then(|| (&self.array).into())
    }

    fn rewind(&self) {
        self.executed.iter().for_each(|slot| slot.0.store(0, Ordering::Relaxed));
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = match self.spec.kernel {
            Kernel::Read => self.wrong_sum(pool, cancel)?,
            Kernel::Write => self.wrong_element(pool, cancel)?,
        };
        Ok(Verdict::of(mistake, self.spec.accesses))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        Ok(match self.spec.kernel {
            Kernel::Read => self.total().to_le_bytes().to_vec(),
            // SAFETY: the workers are done.
            Kernel::Write => unsafe { self.array.to_vec() },
        })
    }
}
