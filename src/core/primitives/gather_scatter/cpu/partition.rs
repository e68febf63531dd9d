//! The method `partitioned` on CPUs: its state besides R_in, R_out and L, and its passes.
//!
//! In each pass every worker counts the digit values of its part of L. Exclusive sums over values and, within a
//! value, over workers give the start of each worker's pairs of each value, so the pass is stable; then every
//! worker moves its part. The last pass scatters the pairs in their final order, each worker its part, and
//! prefetches the lines of the next chunk meanwhile.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of its type or trait asks for"
)]

use std::ops::Range;

use super::{Buffer, Moves};
use crate::case::{Failure, Fault};
use crate::device::cpu::check::poison;
use crate::device::cpu::memory::prefetch_to_write;
#[cfg(target_arch = "x86_64")]
use crate::device::cpu::simd::Avx512;
use crate::device::cpu::simd::{Index, Scalar};
use crate::device::cpu::{Context, Isa, Worker, fence, part, pieces};
use crate::primitives::cpu::combine::{Labels, WorkerPart, WorkerTables, begin, count, sort};
use crate::primitives::cpu::tuple::{Halves, Quad, Tuple};
use crate::primitives::gather_scatter::partitioned::{Cut, Digit, group};
use crate::primitives::gather_scatter::spec::Spec;

/// The state that partitioning needs.
pub struct Partition {
    cut: Cut,
    loops: Loops,
    /// L and R between the passes.
    pairs: Vec<(Buffer, Buffer)>,
    /// The tables of each worker.
    own: Vec<WorkerTables>,
}

/// Allocates the tables and groups of a worker.
fn own(spec: &Spec, digits: &[Digit]) -> Result<WorkerTables, Failure> {
    let values = digits.iter().map(|digit| digit.values() as usize);
    let pair = (spec.tuple + spec.index) as usize;
    let staging = values.clone().map(|values| values * group(spec, values) * pair).max().unwrap_or(0);
    WorkerTables::new(values.max().unwrap_or(0), staging)
}

impl Partition {
    /// Allocates the state for a case with this cut. The pairs' memory is first touched by the workers that read it.
    pub fn new(spec: &Spec, cut: Cut, isa: Isa, context: &Context) -> Result<Partition, Failure> {
        let buffer = |bytes: u64| {
            let buffer = Buffer::new((spec.moves() * bytes) as usize)?;
            poison(&context.pool, &buffer, bytes as usize, context.cancel)?;
            Ok::<_, Failure>(buffer)
        };
        let pairs = |_| Ok::<_, Failure>((buffer(spec.index)?, buffer(spec.tuple)?));
        let pairs = (0..cut.digits.len().min(2)).map(pairs).collect::<Result<_, _>>()?;
        let own = |_| own(spec, &cut.digits);
        let own = (0..context.pool.threads()).map(own).collect::<Result<_, _>>()?;
        Ok(Partition { loops: loops(spec, isa), cut, pairs, own })
    }
}

/// L and R, or copies of them.
type Pairs = (*mut u8, *mut u8);

impl Moves {
    /// One worker's share of an execution.
    pub(super) fn partitioned(&self, partition: &Partition, worker: Worker) {
        let mut from = (self.locations.ptr::<u8>(), self.from.ptr::<u8>());
        for (pass, &digit) in partition.cut.digits.iter().enumerate() {
            let pairs = &partition.pairs[pass % 2];
            let to = (pairs.0.ptr::<u8>(), pairs.1.ptr::<u8>());
            self.partition_pass(partition, worker, digit, from, to);
            from = to;
        }
        self.write(partition, from, worker);
    }

    fn partition_pass(&self, partition: &Partition, worker: Worker, digit: Digit, from: Pairs, to: Pairs) {
        let own = &partition.own[worker.index];
        let values = digit.values() as usize;
        let range = part(self.spec.moves() as usize, worker.index, worker.count);
        let mut part =
            WorkerPart { range, ..own.part(values, (from.0, from.1), to, group(&self.spec, values)) };
        // SAFETY: the arrays are as long as the case, the tables have one entry per digit value, and the parts
        // of workers are disjoint, in the input and, by their counts, in the output.
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

    /// Writes R_out from the pairs in their final order.
    fn write(&self, partition: &Partition, (locations, tuples): Pairs, worker: Worker) {
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

/// A loop over a part.
///
/// # Safety
/// The pointers are valid as described by their fields, locations and values are in range, and the processor has the
/// instruction set.
type Loop = unsafe fn(Digit, &WorkerPart);

/// One worker's part of the last pass.
#[derive(Clone, Debug)]
struct Last {
    /// The pairs that the worker writes.
    range: Range<usize>,
    /// All pairs.
    locations: *const u8,
    tuples: *const u8,
    /// R_out.
    to: *mut u8,
    /// Number of tuples in R_out.
    places: usize,
    /// Tuples per chunk.
    chunk: usize,
}

/// The loops of a case.
#[derive(Clone, Copy, Debug)]
struct Loops {
    count: Loop,
    sort: Loop,
    write: unsafe fn(&Last),
}

impl<I: Index> Labels<I> for Digit {
    #[inline(always)]
    fn label(&self, location: I) -> usize {
        self.of(location.get())
    }
}

unsafe fn count_pairs<I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { count::<I>(&digit, part) }
}

/// Writes every tuple of the part to its place. The pairs of a permutation are ordered so that pair i goes to
/// chunk ⌊i/chunk⌋; meanwhile the lines of the next chunk are prefetched one after another. For other
/// locations, that is a guess.
unsafe fn write<T: Tuple, I: Index + Tuple>(last: &Last) {
    let (locations, tuples) = (last.locations.cast::<I>(), last.tuples.cast::<T>());
    let to = last.to.cast::<T>();
    for i in last.range.clone() {
        let ahead = i + last.chunk;
        if (ahead * size_of::<T>()).is_multiple_of(LINE) && ahead < last.places {
            prefetch_to_write(to.wrapping_add(ahead));
        }
        // SAFETY: by the caller's promise.
        unsafe { T::take(tuples.add(i)).put(to.add(I::take(locations.add(i)).get() as usize)) };
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

unsafe fn sort_scalar<T: Tuple, I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { sort::<Scalar, T, I>(&digit, part) }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512bw,avx512dq,popcnt")]
unsafe fn sort_avx512<T: Tuple, I: Index + Tuple>(digit: Digit, part: &WorkerPart) {
    unsafe { sort::<Avx512, T, I>(&digit, part) }
}

/// The loops of a case, for an instruction set that is present.
fn loops(spec: &Spec, isa: Isa) -> Loops {
    match spec.index {
        4 => by_tuple::<u32>(spec.tuple, isa),
        _ => by_tuple::<u64>(spec.tuple, isa),
    }
}

fn by_tuple<I: Index + Tuple>(tuple: u64, isa: Isa) -> Loops {
    match tuple {
        4 => by_isa::<u32, I>(isa),
        8 => by_isa::<u64, I>(isa),
        16 => by_isa::<Quad, I>(isa),
        _ => by_isa::<Halves, I>(isa),
    }
}

fn by_isa<T: Tuple, I: Index + Tuple>(isa: Isa) -> Loops {
    let sort: Loop = match isa {
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => sort_avx512::<T, I>,
        _ => sort_scalar::<T, I>,
    };
    Loops { count: count_pairs::<I>, sort, write: write::<T, I> }
}
