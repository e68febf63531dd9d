//! histogram on the CPU: each worker counts its part; when all have finished, each sums its part of the bins
//! over all workers.

pub mod kernels;
mod lanes;

use std::sync::atomic::{AtomicU64, Ordering};

use super::values::Values;
use super::{By, DOMAIN, Spec, oracle, real};
use crate::device::cpu::check;
use crate::primitives::cpu::prelude::*;
use kernels::{Call, Cell, MOST, Timed};

/// A case with its arrays.
pub struct Histogram {
    spec: Spec,
    values: Values,
    splitters: Vec<u32>,
    bounds: Vec<f32>,
    /// The values and one extra value, which only a case with a fault reads.
    input: Buffer,
    counts: Buffer,
    private: Vec<Private>,
    timed: Timed,
    fault: Option<Fault>,
}

/// Arrays that only one worker writes.
struct Private {
    /// Copies of the worker's counts.
    replicas: Buffer,
    /// The worker's counts, 64 bits per bin.
    counts: Buffer,
    /// The worker's table of the splitters, without cells for even bins.
    cells: Buffer,
}

impl Private {
    fn new(spec: &Spec) -> Result<Private, Failure> {
        let bins = spec.bins as usize;
        let cells = if spec.by == By::Range { kernels::cells(bins) } else { 0 };
        Ok(Private {
            replicas: Buffer::new(4 * bins * kernels::replicas(bins))?,
            counts: Buffer::new(8 * bins)?,
            cells: Buffer::new(size_of::<Cell>() * cells)?,
        })
    }
}

impl Histogram {
    fn n(&self) -> usize {
        self.spec.elements as usize
    }

    fn fill(&mut self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let n = self.n();
        pool.fill(&mut self.input, n, cancel, |i| real(self.values.at(i as u64)))?;
        // A value in another bin than the first value, instead of which a fault would count it.
        let first = oracle::bin(&self.spec, &self.splitters, self.values.at(0));
        let behind = if first == 0 { DOMAIN.next_down() } else { 0.0 };
        // SAFETY: the workers are done, and the buffer has one extra value.
        unsafe { self.input.ptr::<f32>().add(self.n()).write(behind) };
        check::poison(pool, &self.counts, 8, cancel)
    }

    /// Adds the values of `range` to a worker's counts.
    ///
    /// # Safety
    /// Only one worker uses `private`, and the range lies inside the input.
    unsafe fn count(&self, range: Range<usize>, private: &Private) {
        let bins = self.bounds.len() + 1;
        for start in range.clone().step_by(MOST) {
            // SAFETY: by the caller's promise.
            let (replicas, totals) = unsafe {
                (
                    private.replicas.write::<u32>(0..private.replicas.holds::<u32>()),
                    private.counts.write::<u64>(0..bins),
                )
            };
            replicas.fill(0);
            let (from, n) = (self.input.ptr::<f32>().wrapping_add(start), MOST.min(range.end - start));
            let cells = private.cells.holds::<Cell>();
            let scale = if cells > 0 { cells as f32 } else { bins as f32 } / DOMAIN;
            let cells = private.cells.ptr();
            // SAFETY: by the caller's promise; the table was built from the bounds.
            unsafe {
                (self.timed)(&mut Call { from, n, bounds: &self.bounds, scale, cells, counts: replicas })
            };
            for (bin, total) in totals.iter_mut().enumerate() {
                *total += replicas[bin..].iter().step_by(bins).map(|&count| u64::from(count)).sum::<u64>();
            }
        }
    }

    /// Sums a worker's part of the bins over all workers.
    ///
    /// # Safety
    /// All workers have counted, and none counts again before all have summed.
    unsafe fn sum(&self, worker: Worker) {
        let bins = part(self.bounds.len() + 1, worker.index, worker.count);
        // SAFETY: parts are disjoint.
        let sums = unsafe { self.counts.write::<u64>(bins.clone()) };
        sums.fill(0);
        for private in &self.private {
            // SAFETY: by the caller's promise.
            let counts = unsafe { private.counts.read::<u64>(bins.clone()) };
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
    }

    /// Counts again, using the integers from which the values are made.
    fn recount(&self, pool: &Pool, cancel: &Cancel) -> Result<Vec<u64>, Failure> {
        let counts: Vec<AtomicU64> = (0..self.spec.bins).map(|_| AtomicU64::new(0)).collect();
        pool.for_blocks(self.n(), cancel, |block| {
            let mut own = vec![0u64; counts.len()];
            for i in block {
                own[oracle::bin(&self.spec, &self.splitters, self.values.at(i as u64))] += 1;
            }
            for (count, own) in counts.iter().zip(own) {
                count.fetch_add(own, Ordering::Relaxed);
            }
        })?;
        Ok(counts.into_iter().map(AtomicU64::into_inner).collect())
    }

    fn mistake(&self, wanted: &[u64]) -> Option<String> {
        // SAFETY: the workers are done.
        let found = unsafe { self.counts.read::<u64>(0..wanted.len()) };
        let bins = found.iter().zip(wanted).enumerate();
        let mut wrong = bins.filter(|(_, (found, wanted))| found != wanted);
        wrong.next().map(|(bin, (found, wanted))| format!("bin {bin} has {found} values instead of {wanted}"))
    }
}

impl PoolJob for Histogram {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Histogram, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let values = Values::new(&spec).ok_or_else(|| Failure::Failed("no such distribution".to_owned()))?;
        let threads = context.pool.threads();
        let mut job = Histogram {
            values,
            splitters: spec.splitters(),
            bounds: spec.bounds(),
            input: Buffer::new(spec.input() as usize + 4)?,
            counts: Buffer::new(spec.output() as usize)?,
            private: (0..threads).map(|_| Private::new(&spec)).collect::<Result<_, _>>()?,
            timed: kernels::timed(spec.by, spec.bins as usize, isa),
            fault: context.fault,
            spec,
        };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let private = &self.private[worker.index];
        // SAFETY: each worker has its own arrays, and all meet before and after the sums; a fault reads one
        // value further, which the input has.
        unsafe {
            let cells = private.cells.write::<Cell>(0..private.cells.holds::<Cell>());
            kernels::build_table(&self.bounds, cells, DOMAIN);
            private.counts.write::<u64>(0..self.bounds.len() + 1).fill(0);
            let beside = usize::from(self.fault == Some(Fault::OffByOne));
            for piece in
                pieces(self.n(), 64, worker, self.fault).into_iter().filter(|piece| !piece.is_empty())
            {
                self.count(piece.start + beside..piece.end + beside, private);
            }
            worker.meet();
            self.sum(worker);
            worker.meet();
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.counts, 8)]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let wanted = self.recount(pool, cancel)?;
        Ok(Verdict::of(self.mistake(&wanted), self.spec.elements))
    }
}
