//! The CPU job of gather and scatter.

mod arrays;
mod body;
mod certificate;
pub mod kernels;
mod partition;

use std::ops::Range;
use std::sync::Arc;

use crate::case::{Cancel, Failure, Fault, Verdict, reader};
use crate::device::cpu::{Buffer, Context, Isa, OutputArray, Pool, PoolJob, Worker, fence, pieces};
use crate::primitives::gather_scatter::partitioned::Cut;
use crate::primitives::gather_scatter::spec::{Kernel, Method, Source, part, tuple_word};
use crate::primitives::gather_scatter::{Spec, user_indices};
use body::Move;
use kernels::Timed;
use partition::Partition;

/// A case with its arrays: R_in, R_out and L.
pub struct Moves {
    spec: Spec,
    source: Source,
    from: Buffer,
    to: Buffer,
    locations: Buffer,
    /// Where each random partition starts; empty without partitions.
    starts: Vec<u64>,
    /// A user-provided L, for the certificate.
    user_indices: Option<Arc<Vec<u64>>>,
    timed: Timed,
    /// The additional state of the method `partitioned`.
    partition: Option<Partition>,
    fault: Option<Fault>,
}

/// Tuples of 4 and 8 bytes move by gather and scatter instructions in a single pass. Longer tuples, and tuples
/// selected by a filter of L, move one by one, for which the widest registers and comparisons are best
/// (measured on Zen 5: 16 passes over 2^24 tuples run 1.5 times as fast with AVX-512's filter as with the
/// scalar one). Partitioning stores whole lines, for which the widest registers are best, too.
fn auto(spec: &Spec) -> Isa {
    if spec.cut.is_some() {
        return if Isa::widest() == Isa::Avx512 { Isa::Avx512 } else { Isa::Scalar };
    }
    let one_by_one = spec.tuple > 8 || spec.method.segments_and_passes().1 > 1;
    match (spec.kernel, one_by_one, Isa::widest()) {
        (Kernel::Gather, true, widest) => widest,
        (Kernel::Scatter, true, Isa::Avx512) => Isa::Avx512,
        (Kernel::Gather, false, _) => Isa::for_gathers(),
        (Kernel::Scatter, _, _) => Isa::for_scatters(),
    }
}

impl Moves {
    /// The launch over tuples `range` of a segment, for locations [low, low + width).
    fn launch(&self, range: &Range<usize>, low: u64, width: u64) -> Move {
        let (z, first) = (self.spec.tuple as usize, range.start);
        let beside = if self.fault == Some(Fault::OffByOne) { z } else { 0 };
        let (to, from) = match self.spec.kernel {
            Kernel::Gather => (first * z, beside),
            Kernel::Scatter => (beside, first * z),
        };
        Move {
            to: self.to.ptr::<u8>().wrapping_add(to),
            from: self.from.ptr::<u8>().wrapping_add(from),
            locations: self.locations.ptr::<u8>().wrapping_add(first * self.spec.index as usize),
            n: range.len(),
            low,
            width,
        }
    }

    /// Pass `pass` of `passes` over tuples `segment`: this worker's part.
    fn pass(&self, worker: Worker, segment: &Range<usize>, pass: u64, passes: u64) {
        let n = self.spec.tuples;
        let wrong = self.fault == Some(Fault::WrongChunk) && passes > 1;
        let chunk = if wrong && pass + 1 == passes { pass - 1 } else { pass };
        let (low, high) = (part(chunk, passes, n), part(chunk + 1, passes, n));
        let fault = if wrong { None } else { self.fault };
        for piece in pieces(segment.len(), 64, worker, fault) {
            let range = segment.start + piece.start..segment.start + piece.end;
            // SAFETY: ranges lie inside the arrays and locations are below n (one more with a fault: the
            // guard). Workers write disjoint tuples; with a user-provided L they may write the same tuple by
            // volatile stores, any of which is right.
            unsafe { (self.timed)(&self.launch(&range, low, high - low)) };
        }
    }
}

impl PoolJob for Moves {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Moves, Isa), Failure> {
        let user_indices = user_indices::load(&spec, context.stored)?;
        let isa = context.isa_or(|| auto(&spec))?;
        if spec.kernel == Kernel::Scatter && isa == Isa::Avx2 {
            return Err(reader::avx2_cannot_scatter().into());
        }
        if spec.method == Method::Streaming && cfg!(not(target_arch = "x86_64")) {
            return Err(Failure::NotApplicable("no non-temporal stores on this architecture".to_owned()));
        }
        let (input, output) = (spec.input() * spec.tuple, spec.output() * spec.tuple);
        let indices = spec.moves() * spec.index;
        let source = spec.source()?;
        let (mut from, to) = (Buffer::new(input as usize)?, Buffer::new(output as usize)?);
        let mut locations = Buffer::new(indices as usize)?;
        let brought = user_indices.as_deref().map(Vec::as_slice);
        let starts = arrays::generate(&spec, &source, brought, &mut locations, context)?;
        // Words of longer tuples are numbered consecutively: word k overall is word k of the stream.
        let word = |k| tuple_word(spec.seed, spec.tuple.min(8), k as u64, 0);
        let words = (spec.input() * spec.words()) as usize;
        context.pool.fill_words(&mut from, spec.tuple, words, context.cancel, word)?;
        let timed = kernels::timed(&spec, isa);
        let partition = |cut: &Cut| Partition::new(&spec, cut.clone(), isa, context);
        let partition = spec.cut.as_ref().map(partition).transpose()?;
        let fault = context.fault;
        let job = Moves { spec, source, from, to, locations, starts, user_indices, timed, partition, fault };
        job.clear(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        if let Some(partition) = &self.partition {
            return self.partitioned(partition, worker);
        }
        let (n, (segments, passes)) = (self.spec.moves(), self.spec.method.segments_and_passes());
        for segment in 0..segments {
            let range = part(segment, segments, n) as usize..part(segment + 1, segments, n) as usize;
            for pass in 0..passes {
                self.pass(worker, &range, pass, passes);
                if segments * passes > 1 {
                    worker.meet();
                }
            }
        }
        if self.spec.method == Method::Streaming {
            fence();
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.to, self.spec.tuple)]
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = match self.wrong_location(pool, cancel)? {
            Some(mistake) => Some(mistake),
            None if self.spec.overwrites() => self.wrong_landing(pool, cancel)?,
            None => self.wrong_tuple(pool, cancel)?,
        };
        Ok(Verdict::of(mistake, self.spec.output()))
    }
}
