//! multisplit on the CPU: each worker counts the keys of each bucket in its part; the counts of all workers
//! give the place of its first key of each bucket; then it moves its keys there.

mod certificate;
mod kernels;

use super::Spec;
use super::buckets::Buckets;
use super::keys::Keys;
use super::spec::{KEY, Method, OFFSET};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cpu::{Buffer, Context, Isa, OutputArray, Pool, PoolJob, Worker, fence, pieces};
use crate::primitives::cpu::combine::{WorkerPart, WorkerTables, begin};
use crate::primitives::groups;
use kernels::Loop;

/// A case with its arrays.
pub struct Multisplit {
    spec: Spec,
    buckets: Buckets,
    /// Keys and values, and one extra element of each, which only a case with a fault reads.
    keys: Buffer,
    values: Buffer,
    keys_out: Buffer,
    values_out: Buffer,
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
    let group = groups::group(buckets, KEY.max(spec.value) as usize, pair);
    let used = if spec.method == Method::WriteCombining { buckets * group * pair } else { 0 };
    (group, used)
}

impl Multisplit {
    fn n(&self) -> usize {
        self.spec.keys as usize
    }

    fn fill(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let source = Keys::new(&self.spec);
        pool.for_blocks(self.n(), cancel, |block| {
            // SAFETY: blocks are disjoint and nobody else has the buffers yet.
            unsafe { self.fill_block(&source, block.start, block.len()) };
        })?;
        // SAFETY: the workers are done, and the buffers have one extra element.
        unsafe {
            self.fill_block(&source, self.n(), 1);
            self.keys.ptr::<u32>().add(self.n()).write(source.behind());
        }
        self.clear(pool, cancel)
    }

    /// Writes `count` keys and values from `first` on.
    ///
    /// # Safety
    /// Nobody else accesses these elements.
    unsafe fn fill_block(&self, source: &Keys, first: usize, count: usize) {
        for i in first..first + count {
            let at = i as u64;
            // SAFETY: by the caller's promise; the buffers are long enough.
            unsafe {
                self.keys.ptr::<u32>().add(i).write(source.at(at));
                match self.spec.value {
                    4 => self.values.ptr::<u32>().add(i).write(source.value32(at)),
                    8 => self.values.ptr::<u64>().add(i).write(source.value64(at)),
                    _ => {}
                }
            }
        }
    }

    /// A worker's part with its tables; the caller sets the range.
    fn part(&self, own: &WorkerTables) -> WorkerPart {
        // With this fault a worker reads one element further, which the input has.
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let from = |buffer: &Buffer, element: u64| {
            buffer.ptr::<u8>().wrapping_add(beside * element as usize).cast_const()
        };
        let from = (from(&self.keys, KEY), from(&self.values, self.spec.value));
        let to = (self.keys_out.ptr(), self.values_out.ptr());
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

    /// Key and value at a place of the output; the value is 0 if there are none.
    ///
    /// # Safety
    /// The workers are done, and the place exists.
    unsafe fn left(&self, place: usize) -> [u64; 2] {
        let range = place..place + 1;
        // SAFETY: by the caller's promise.
        unsafe {
            let value = match self.spec.value {
                0 => 0,
                4 => self.values_out.read::<u32>(range.clone())[0].into(),
                _ => self.values_out.read::<u64>(range.clone())[0],
            };
            [self.keys_out.read::<u32>(range)[0].into(), value]
        }
    }
}

impl PoolJob for Multisplit {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Multisplit, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        let [keys, values] = [KEY, spec.value].map(|element| (spec.keys * element) as usize);
        let (group, staging) = staging(&spec);
        let own = |_| WorkerTables::new(spec.buckets as usize, staging);
        let job = Multisplit {
            buckets: Buckets::new(&spec).strength_reduced(),
            keys: Buffer::new(keys + KEY as usize)?,
            values: Buffer::new(values + spec.value as usize)?,
            keys_out: Buffer::new(keys)?,
            values_out: Buffer::new(values)?,
            offsets: Buffer::new(spec.offset_bytes() as usize)?,
            own: (0..context.pool.threads()).map(own).collect::<Result<_, _>>()?,
            group,
            sort: kernels::sort(&spec, isa),
            fault: context.fault,
            spec,
        };
        job.fill(&context.pool, context.cancel)?;
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
        let values = OutputArray::new(&self.values_out, self.spec.value.max(4));
        vec![OutputArray::new(&self.keys_out, KEY), values, OutputArray::new(&self.offsets, OFFSET)]
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        // SAFETY: the workers are done.
        let mistake = unsafe { certificate::judge(self, pool, cancel) }?;
        Ok(Verdict::of(mistake, self.spec.keys))
    }
}
