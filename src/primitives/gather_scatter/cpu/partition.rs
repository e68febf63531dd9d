//! The method `partitioned`: what it holds beside R_in, R_out and L, and its passes.
//!
//! In each pass every worker counts the values of its part of L; exclusive sums over values,
//! and within one over workers, say where each worker's pairs of each value begin, so the
//! pass is stable; then every worker moves its part. The last pass scatters the pairs as
//! they lie, each worker its part, while it asks for the lines of the next chunk.

use super::sort::{Last, Loops, loops};
use super::{Buffer, Moves};
use crate::case::{Cancel, Failure, Fault};
use crate::device::cpu::check::poison;
use crate::device::cpu::{Isa, Pool, Worker, fence, part, pieces};
use crate::primitives::cpu::combine::{Own, Part, begin};
use crate::primitives::gather_scatter::partitioned::{Cut, Digit, group};
use crate::primitives::gather_scatter::spec::Spec;

/// What partitioning needs.
pub struct Partition {
    cut: Cut,
    loops: Loops,
    /// L and R between the passes.
    pairs: Vec<(Buffer, Buffer)>,
    /// Of each worker.
    own: Vec<Own>,
}

/// The tables and groups of a worker.
fn own(spec: &Spec, digits: &[Digit]) -> Result<Own, Failure> {
    let values = digits.iter().map(|digit| digit.values() as usize);
    let pair = (spec.tuple + spec.index) as usize;
    let staging = values.clone().map(|values| values * group(spec, values) * pair).max().unwrap_or(0);
    Own::new(values.max().unwrap_or(0), staging)
}

impl Partition {
    /// For a case that is cut so. The pairs' memory is first touched by the workers that read
    /// it.
    pub fn new(spec: &Spec, cut: Cut, isa: Isa, pool: &Pool, cancel: &Cancel) -> Result<Partition, Failure> {
        let moves = spec.moves() as usize;
        let mut pairs = Vec::new();
        for _ in 0..cut.digits.len().min(2) {
            let buffers =
                (Buffer::new(moves * spec.index as usize)?, Buffer::new(moves * spec.tuple as usize)?);
            poison(pool, &buffers.0, spec.index as usize, cancel)?;
            poison(pool, &buffers.1, spec.tuple as usize, cancel)?;
            pairs.push(buffers);
        }
        let own = (0..pool.threads()).map(|_| own(spec, &cut.digits)).collect::<Result<_, _>>()?;
        Ok(Partition { loops: loops(spec, isa), cut, pairs, own })
    }

    /// Bytes that it holds.
    pub fn memory(&self) -> u64 {
        let pairs = self.pairs.iter().flat_map(|(locations, tuples)| [locations, tuples]);
        pairs.map(|buffer| buffer.bytes() as u64).chain(self.own.iter().map(Own::bytes)).sum()
    }
}

impl Moves {
    /// One worker's share of an execution.
    pub(super) fn partitioned(&self, partition: &Partition, worker: Worker) {
        let mut from = (self.locations.ptr::<u8>(), self.from.ptr::<u8>());
        for (pass, &digit) in partition.cut.digits.iter().enumerate() {
            let pairs = &partition.pairs[pass % 2];
            let to = (pairs.0.ptr::<u8>(), pairs.1.ptr::<u8>());
            self.partition_pass(partition, worker, digit, (from, to));
            from = to;
        }
        self.write(partition, from, worker);
    }

    fn partition_pass(
        &self,
        partition: &Partition,
        worker: Worker,
        digit: Digit,
        (from, to): ((*mut u8, *mut u8), (*mut u8, *mut u8)),
    ) {
        let own = &partition.own[worker.index];
        let values = digit.values() as usize;
        let mut part = Part {
            labels: values,
            range: part(self.spec.moves() as usize, worker.index, worker.count),
            from: (from.0, from.1),
            to,
            next: own.counts.ptr(),
            first: own.first.ptr(),
            starts: own.starts.ptr(),
            slots: own.slots.ptr(),
            staging: own.staging.ptr(),
            group: group(&self.spec, values),
        };
        // SAFETY: the arrays are as long as the case, the tables as long as a digit has values,
        // and parts of workers are disjoint, before and, by their counts, after.
        unsafe {
            own.counts.write::<u64>(0..values).fill(0);
            (partition.loops.count)(digit, &part);
            worker.meet();
            begin(&partition.own, worker.index, values);
            part.next = own.next.ptr();
            (partition.loops.sort)(digit, &part);
        }
        fence();
        worker.meet();
    }

    /// Writes R_out from the pairs as they lie.
    fn write(&self, partition: &Partition, (locations, tuples): (*mut u8, *mut u8), worker: Worker) {
        let beside = if self.fault == Some(Fault::OffByOne) { self.spec.tuple as usize } else { 0 };
        for range in pieces(self.spec.moves() as usize, 64, worker, self.fault) {
            let last = Last {
                range,
                locations,
                tuples,
                to: self.to.ptr::<u8>().wrapping_add(beside),
                places: self.spec.output() as usize,
                chunk: 1 << partition.cut.shift,
            };
            // SAFETY: as for the passes of the other methods.
            unsafe { (partition.loops.write)(&last) };
        }
    }
}
