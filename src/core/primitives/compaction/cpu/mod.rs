//! The primitives atop scan on the CPU: each worker sums the bits of its part, all meet, and each places the
//! elements of its part, given the totals of the parts before and behind it.
//!
//! A part is cut into runs at the heads: a run is a segment, or as much of one as lies in the part. Within a
//! run the place of an element depends on the flags alone. If the whole segment must be known, as for a split,
//! its flags in this part are counted first; they are still in the cache when the elements are moved.

mod certificate;
pub mod kernels;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::inputs::Inputs;
use super::{Operation, Spec, work};
use crate::device::cpu::{CacheLineSlot, check};
use crate::primitives::cpu::prelude::*;
use crate::primitives::scan::cpu::chain::{Chain, Total};
use crate::primitives::scan::cpu::{heads, isa};
use kernels::Element;

/// A case with its arrays.
pub struct Compaction {
    spec: Spec,
    inputs: Inputs,
    isa: Isa,
    /// The number of elements handled.
    n: usize,
    input: Buffer,
    /// One bit per element, in words of 8 bytes.
    flags: Buffer,
    heads: Option<Buffer>,
    output: Buffer,
    /// The number of elements of out.
    number: CacheLineSlot,
    /// The starts of the segments in out, or the new heads.
    beside: Buffer,
    before: Chain,
    behind: Chain,
    fault: Option<Fault>,
}

/// The values that determine an element's place: the start or end of its segment, and the number of trues
/// between there and the element. For compact: the numbers of segments and of trues before the element.
#[derive(Clone, Copy, Debug, Default)]
struct Reach {
    at: usize,
    trues: usize,
}

impl Reach {
    /// Combines this reach with the totals of parts, from the farthest to the nearest: a part in which a
    /// segment begins replaces the reach, any other part adds to it.
    fn joined(self, parts: impl Iterator<Item = Total>) -> Reach {
        parts.fold(self, |reach, Total { value, begun }| {
            let [at, trues] = value.map(|word| word as usize);
            if begun { Reach { at, trues } } else { Reach { at: reach.at + at, trues: reach.trues + trues } }
        })
    }

    fn total(self, begun: bool) -> Total {
        Total { value: [self.at as u64, self.trues as u64], begun }
    }
}

impl Compaction {
    fn new(spec: Spec, isa: Isa, pool: &Pool, fault: Option<Fault>) -> Result<Compaction, Failure> {
        let bits = || Buffer::new(spec.elements.div_ceil(64) as usize * 8);
        let read = if spec.operation == Operation::Enumerate { 0 } else { spec.elements * spec.element };
        Ok(Compaction {
            spec,
            inputs: spec.inputs(),
            isa,
            n: spec.handled(fault) as usize,
            input: Buffer::new(read as usize)?,
            flags: if spec.operation.flagged() { bits()? } else { Buffer::new(0)? },
            heads: spec.segmented().then(bits).transpose()?,
            output: Buffer::new((spec.elements * spec.out_element()) as usize)?,
            number: CacheLineSlot::default(),
            beside: Buffer::new(spec.beside() as usize)?,
            before: Chain::new(pool.threads()),
            behind: Chain::new(pool.threads()),
            fault,
        })
    }

    /// Fills the inputs; the flags and heads of elements that are not handled stay clear.
    fn fill(&mut self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let (n, inputs, element) = (self.n, &self.inputs, self.spec.element);
        let bits = |buffer: &mut Buffer, bit: &(dyn Fn(u64) -> bool + Sync)| {
            pool.fill(buffer, buffer.holds::<u64>(), cancel, |w| -> u64 {
                let elements = 64 * w..(64 * w + 64).min(n).max(64 * w);
                elements.map(|i| u64::from(bit(i as u64)) << (i % 64)).sum()
            })
        };
        bits(&mut self.flags, &|i| inputs.flag(i))?;
        if let Some(heads) = &mut self.heads {
            bits(heads, &|i| inputs.segments.head(i))?;
        }
        let elements = self.input.bytes() / element as usize;
        pool.fill_words(&mut self.input, element, elements, cancel, |i| inputs.value(i as u64))?;
        self.clear(pool, cancel)
    }

    /// This worker's elements, in whole words of flags.
    fn part(&self, worker: Worker) -> Range<usize> {
        part(self.n, worker.index, worker.count)
    }

    fn trues(&self, range: Range<usize>) -> usize {
        if self.spec.operation.flagged() { heads::count(self.flags.ptr(), range) } else { 0 }
    }

    /// The first or last head of a range, as `find` selects; one segment of all elements has its head at 0.
    fn head(
        &self,
        find: fn(*const u8, Range<usize>) -> Option<usize>,
        range: &Range<usize>,
    ) -> Option<usize> {
        match &self.heads {
            Some(heads) => find(heads.ptr(), range.clone()),
            None => range.contains(&0).then_some(0),
        }
    }

    /// The total of a part, as the parts behind it see it.
    fn before_others(&self, part: Range<usize>) -> Total {
        if self.spec.operation == Operation::Compact {
            let segments = self.heads.as_ref().map_or(0, |heads| heads::count(heads.ptr(), part.clone()));
            return Reach { at: segments, trues: self.trues(part) }.total(false);
        }
        let head = self.head(heads::last, &part);
        let trues = self.trues(head.unwrap_or(part.start)..part.end);
        Reach { at: head.unwrap_or(0), trues }.total(head.is_some())
    }

    /// The total of a part, as the parts before it see it.
    fn behind_others(&self, part: Range<usize>) -> Total {
        let head = self.head(heads::first, &part);
        let trues = self.trues(part.start..head.unwrap_or(part.end));
        Reach { at: head.unwrap_or(0), trues }.total(head.is_some())
    }

    /// Sums this worker's part for the others.
    fn leave(&self, worker: Worker) {
        let part = self.part(worker);
        if self.spec.operation == Operation::SplitAndSegment {
            // SAFETY: a part has whole words, and no bit is set before all have met.
            unsafe { self.beside.write::<u32>(part.start / 32..part.end.div_ceil(32)) }.fill(0);
        }
        let [before, behind] = work::sums_needed(&self.spec);
        if before {
            self.before.leave(worker, self.before_others(part.clone()));
        }
        if behind {
            self.behind.leave(worker, self.behind_others(part));
        }
    }

    /// Places the elements of this worker's part.
    fn place<T: Element>(&self, worker: Worker) {
        let part = self.part(worker);
        // Directions that are not needed have left no totals.
        let mut reach = Reach::default().joined(self.before.before(worker));
        let ahead = Reach { at: self.n, trues: 0 }.joined(self.behind.behind(worker));
        let mut start = part.start;
        while start < part.end {
            let end = self.head(heads::first, &(start + 1..part.end)).unwrap_or(part.end);
            let begins = self.head(heads::first, &(start..start + 1)).is_some();
            let behind = if end == part.end { ahead } else { Reach { at: end, trues: 0 } };
            reach = self.run::<T>(start..end, begins, reach, behind);
            start = end;
        }
        if self.spec.operation == Operation::Compact && worker.index + 1 == worker.count {
            self.number.0.store(reach.trues as u64, Ordering::Relaxed);
        }
    }

    /// Places the elements of a run, which may begin a segment, between `before` and `behind` in its segment.
    /// Returns the reach before the next run.
    fn run<T: Element>(&self, run: Range<usize>, begins: bool, before: Reach, behind: Reach) -> Reach {
        let (from, to) = (self.input.ptr::<T>(), self.out::<T>());
        if self.spec.operation == Operation::Compact {
            return self.keep::<T>(run, begins, before);
        }
        let before = if begins { Reach { at: run.start, trues: 0 } } else { before };
        let own = self.trues(run.clone());
        // SAFETY: runs are disjoint and so are the places of their elements, which lie inside the arrays or,
        // with a fault, one element behind, in the guard.
        unsafe {
            match self.spec.operation {
                Operation::Enumerate => {
                    kernels::number(self.flags.ptr(), run, self.out::<u32>(), before.trues as u32)
                }
                Operation::Distribute => {
                    let source = if self.spec.backward() { behind.at - 1 } else { before.at };
                    kernels::fill(to, run, from.add(source).read())
                }
                _ => {
                    let keep = T::keep(self.isa);
                    let falses = run.start - before.trues;
                    let trues = behind.at - behind.trues - own;
                    self.begin_segments(&run, before, falses, trues, own);
                    kernels::keep_range(keep, self.flags.ptr(), run.clone(), false, from, to.add(falses));
                    kernels::keep_range(keep, self.flags.ptr(), run, true, from, to.add(trues));
                }
            }
        }
        Reach { trues: before.trues + own, ..before }
    }

    /// Marks where the falses and the trues of a segment begin, if this run holds the first of them.
    fn begin_segments(&self, run: &Range<usize>, before: Reach, falses: usize, trues: usize, own: usize) {
        if self.spec.operation != Operation::SplitAndSegment {
            return;
        }
        let mark = |at: usize| {
            // SAFETY: inside the array, whose words are only accessed atomically meanwhile.
            let word = unsafe { &*self.beside.ptr::<AtomicU32>().add(at / 32) };
            word.fetch_or(1 << (at % 32), Ordering::Relaxed);
        };
        if falses == before.at && own < run.len() {
            mark(falses);
        }
        if before.trues == 0 && own > 0 {
            mark(trues);
        }
    }

    /// Keeps the elements of a run whose flags are true.
    fn keep<T: Element>(&self, run: Range<usize>, begins: bool, before: Reach) -> Reach {
        let mut behind = before;
        if begins && self.heads.is_some() {
            // SAFETY: a segment begins in one run.
            unsafe { self.beside.ptr::<u32>().add(before.at).write(before.trues as u32) };
            behind.at += 1;
        }
        behind.trues += self.trues(run.clone());
        // SAFETY: as in `run`.
        unsafe {
            let to = self.out::<T>().add(before.trues);
            kernels::keep_range(T::keep(self.isa), self.flags.ptr(), run, true, self.input.ptr(), to);
        }
        behind
    }

    fn out<T>(&self) -> *mut T {
        let beside = if self.fault == Some(Fault::OffByOne) { 1 } else { 0 };
        self.output.ptr::<T>().wrapping_add(beside)
    }
}

impl PoolJob for Compaction {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Compaction, Isa), Failure> {
        let isa = isa(context, spec.operation.name(), |isa| kernels::has(isa, spec.operation.moves()))?;
        let mut job = Compaction::new(spec, isa, &context.pool, context.fault)?;
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        self.leave(worker);
        worker.meet();
        match self.spec.element {
            4 => self.place::<u32>(worker),
            _ => self.place::<u64>(worker),
        }
        worker.meet();
        if let Some(at) = self.spec.skipped(self.fault).filter(|_| worker.index == 0) {
            let size = self.spec.out_element() as usize;
            // SAFETY: all workers have met, and only this one writes from here on.
            unsafe { self.output.write::<u8>(at as usize * size..(at as usize + 1) * size) }.fill(0xDE);
        }
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.number.0.store(u64::MAX, Ordering::Relaxed);
        check::poison(pool, &self.beside, 4, cancel)?;
        check::poison(pool, &self.output, 4, cancel)
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        [&self.output, &self.beside].map(|array| OutputArray::new(array, 4)).into()
    }

    fn words(&self) -> Vec<&AtomicU64> {
        vec![&self.number.0]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = certificate::first_mistake(self, pool, cancel)?;
        Ok(Verdict::of(mistake, self.spec.elements))
    }

    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        // SAFETY: the workers are done.
        let (mut out, beside) = unsafe { (self.output.to_vec(), self.beside.to_vec()) };
        let mut all = Vec::new();
        if self.spec.operation == Operation::Compact {
            let number = self.number.0.load(Ordering::Relaxed);
            all.extend(number.to_le_bytes());
            out.truncate((number.min(self.spec.elements) * self.spec.out_element()) as usize);
        }
        all.extend(out);
        all.extend(beside);
        Ok(all)
    }
}
