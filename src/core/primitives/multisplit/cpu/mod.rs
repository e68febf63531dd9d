//! multisplit on the CPU: each worker counts the keys of each bucket in its part; the counts of all workers
//! give the place of its first key of each bucket; then it moves its keys there.

mod certificate;
mod kernels;

use super::buckets::Buckets;
use super::keys::Keys;
use super::methods::combines;
use super::{KEY, OFFSET, Spec};
use crate::device::cpu::fence;
use crate::primitives::cpu::Pairs;
use crate::primitives::cpu::prelude::*;
use crate::primitives::cpu::write_combining::{WorkerPart, WorkerTables, begin};
use crate::primitives::write_combining_group;
use kernels::Loop;

/// A case with its arrays.
pub struct Multisplit {
    spec: Spec,
    buckets: Buckets,
    /// Keys and values, and one extra element of each, which only a case with a fault reads.
    input: Pairs,
    output: Pairs,
    offsets: Buffer,
    /// The tables of each worker.
    own: Vec<WorkerTables>,
    /// Keys that are gathered per bucket before they are stored.
    group: usize,
    sort: Loop,
    fault: Option<Fault>,
}

/// Keys per group, and bytes of all groups.
fn staging(spec: &Spec) -> (usize, usize) {
    let (buckets, pair) = (spec.buckets as usize, (KEY + spec.value) as usize);
    let group = write_combining_group(buckets, KEY.max(spec.value) as usize, pair);
    let used = if combines(spec) { buckets * group * pair } else { 0 };
    (group, used)
}

impl Multisplit {
    fn n(&self) -> usize {
        self.spec.keys as usize
    }

    /// A worker's part with its tables; the caller sets the range.
    fn part(&self, own: &WorkerTables) -> WorkerPart {
        // With this fault a worker reads one element further, which the input has.
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let from = |buffer: &Buffer, element: u64| {
            buffer.ptr::<u8>().wrapping_add(beside * element as usize).cast_const()
        };
        let from = (from(&self.input.keys, KEY), from(&self.input.values, self.spec.value));
        let to = (self.output.keys.ptr(), self.output.values.ptr());
        own.part(self.spec.buckets as usize, from, to, self.group)
    }

    /// Writes the offsets, which follow from where the first worker's keys of each bucket begin and from the
    /// number of keys.
    ///
    /// # Safety
    /// All workers have counted, and only the first worker calls this.
    unsafe fn write_offsets(&self) {
        let m = self.spec.buckets as usize;
        // SAFETY: by the caller's promise.
        unsafe {
            let last = self.own.iter().map(|own| own.counts.ptr::<u64>().add(m - 1).read()).sum::<u64>();
            let (first, offsets) = (self.own[0].first.read::<u64>(0..m), self.offsets.write::<u32>(0..m + 1));
            offsets.iter_mut().zip(first).for_each(|(offset, &first)| *offset = first as u32);
            offsets[m] = (first[m - 1] + last) as u32;
        }
    }
}

impl PoolJob for Multisplit {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Multisplit, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let (n, sizes) = (spec.keys, [KEY, spec.value]);
        let (group, staging) = staging(&spec);
        let own = |_| WorkerTables::new(spec.buckets as usize, staging);
        let mut job = Multisplit {
            buckets: Buckets::new(&spec).strength_reduced(),
            input: Pairs::new(n + 1, sizes)?,
            output: Pairs::new(n, sizes)?,
            offsets: Buffer::new(spec.offset_bytes() as usize)?,
            own: (0..context.pool.threads()).map(own).collect::<Result<_, _>>()?,
            group,
            sort: kernels::sort(&spec, isa),
            fault: context.fault,
            spec,
        };
        let source = Keys::new(&spec);
        let key = |i| if i < n { source.at(i) } else { source.behind() }.into();
        job.input.fill(&context.pool, context.cancel, key, |i| source.value(i, spec.value))?;
        job.clear(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        let own = &self.own[worker.index];
        let (m, mut part) = (self.spec.buckets as usize, self.part(own));
        let pieces = pieces(self.n(), 64, worker, self.fault);
        // SAFETY: the tables have an entry per bucket, and the arrays are as long as the case; the workers'
        // parts of the input are disjoint, and so are, by their counts, their places in the output; the counts
        // stay unchanged until all workers have used them.
        unsafe {
            own.counts.write::<u64>(0..m).fill(0);
            for piece in &pieces {
                part.range = piece.clone();
                kernels::count(&self.buckets, &part);
            }
            worker.meet();
            begin(&self.own, worker.index, m);
            if worker.index == 0 {
                self.write_offsets();
            }
            part.next = own.next.ptr();
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                part.range = piece;
                (self.sort)(&self.buckets, &part);
            }
        }
        fence();
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let mut outputs = self.output.outputs();
        outputs.push(OutputArray::new(&self.offsets, OFFSET));
        outputs
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.input.keys).into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        // SAFETY: the workers are done.
        let mistake = unsafe { certificate::judge(self, pool, cancel) }?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}
