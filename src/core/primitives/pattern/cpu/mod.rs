//! The CPU job of pattern.
//!
//! Every worker has its own dense side, in its own pages. The certificate runs the same kernels in an
//! instantiation that keeps everything: a dense side as long as a window of consecutive uses, in which
//! no word is written twice.

mod certify;
pub mod kernels;

use std::sync::atomic::{AtomicU64, Ordering, fence};

use crate::case::IndexPattern;
use crate::device::cpu::check::poison;
use crate::device::cpu::{Blocks, CacheLineSlot, POISON};
use crate::inputs::mix::word64;
use crate::primitives::cpu::prelude::*;
use crate::primitives::pattern::spec::{Kernel, Method};
use crate::primitives::pattern::{Spec, Starts};
use certify::Judge;
use kernels::{Timed, Uses};

/// A case with its arrays.
pub struct Patterns {
    spec: Spec,
    /// p, or `p[inner[j]]`; p_g of gs.
    applied: IndexPattern,
    /// S; the source of gs.
    sparse: Buffer,
    /// The destination of gs.
    target: Option<Buffer>,
    /// D, one for each worker.
    dense: Vec<Buffer>,
    /// The pattern that the kernel walks, followed by the outer pattern of the multi-kernels or the scatter
    /// side of gs.
    indices: [Buffer; 2],
    /// Where uses start in the sparse array (for gs the destination), and in gs's source.
    starts: Starts,
    sources: Starts,
    /// The starts in the kernels' format, if read from arrays (for gs the source's first); and whether a start
    /// has 8 bytes.
    arrays: Vec<Buffer>,
    wide: bool,
    timed: Timed,
    /// The kernel that keeps everything: `timed`, unless `timed` stores nothing.
    keeping: Timed,
    fault: Option<Fault>,
    /// Each worker's fold of its last execution, in a separate cache line.
    folds: Vec<CacheLineSlot>,
}

/// Offset of the indices in their buffer. The dense side begins at a page boundary: a processor that first
/// compares only the low 12 bits of addresses would take the load of an index for a load of data that it has
/// just stored there, and wait. On a Zen 4 server this cost cached gathers of 27 to 64 entries a twentieth.
const SKEW: usize = 2048;

/// Indices in the kernel's format, [`SKEW`] bytes into a buffer.
fn narrow(indices: &[u64], bytes: u64) -> Result<Buffer, Failure> {
    let buffer = Buffer::new(SKEW + indices.len() * bytes as usize)?;
    for (at, &index) in (SKEW / bytes as usize..).zip(indices) {
        // SAFETY: inside the buffer, which nobody else has.
        unsafe { buffer.put_number(bytes, at, index) };
    }
    Ok(buffer)
}

/// The starts of uses in the kernels' format.
fn array(starts: &Starts, spec: &Spec, pool: &Pool, cancel: &Cancel) -> Result<Buffer, Failure> {
    let (count, bytes) = (spec.count as usize, spec.base_bytes());
    let mut buffer = Buffer::new(count * bytes as usize)?;
    pool.fill_words(&mut buffer, bytes, count, cancel, |i| starts.at(i as u64))?;
    Ok(buffer)
}

impl Patterns {
    fn count(&self) -> usize {
        self.spec.count as usize
    }

    fn length(&self) -> usize {
        self.applied.len()
    }

    /// The array that a scatter or gs writes.
    fn destination(&self) -> &Buffer {
        self.target.as_ref().unwrap_or(&self.sparse)
    }

    fn fill(&mut self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        if self.spec.kernel.scatters() {
            poison(pool, self.destination(), 8, cancel)?;
        }
        if !self.spec.kernel.scatters() || self.spec.kernel == Kernel::Gs {
            let (n, seed) = (self.sparse.holds::<u64>(), self.spec.seed);
            pool.fill(&mut self.sparse, n, cancel, |k| word64(seed, k as u64))?;
        }
        self.fill_dense(pool, cancel)
    }

    /// Sets word k of every worker's dense side to word k of the seed's stream.
    fn fill_dense(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        pool.try_run(|worker| {
            let dense = &self.dense[worker.index];
            for block in Blocks::of(0..dense.holds::<u64>()) {
                cancel.check()?;
                // SAFETY: only this worker touches its dense side.
                let words = unsafe { dense.write::<u64>(block.clone()) };
                for (word, k) in words.iter_mut().zip(block) {
                    *word = word64(self.spec.seed, k as u64);
                }
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The launch of uses `range` with a dense side of `wrap` tiles, starting at tile `phase`. The spec bounds
    /// every index and start (one more with a fault: the guard). Starts that are read from arrays are relative
    /// to the beginning of the sparse array.
    fn launch(&self, range: &Range<usize>, dense: *mut u64, phase: usize, wrap: usize) -> Uses {
        let beside = usize::from(self.fault == Some(Fault::OffByOne));
        let gs = self.spec.kernel == Kernel::Gs;
        let delta = if gs { self.spec.delta_gather } else { self.spec.delta } as usize;
        let target_delta = self.spec.delta_scatter as usize;
        let (here, there) = if gs { (0, beside) } else { (beside, 0) };
        let target = self.target.as_ref().map_or(std::ptr::null_mut(), Buffer::ptr::<u64>);
        let first = if self.arrays.is_empty() { range.start } else { 0 };
        let skipped = range.start * if self.wide { 8 } else { 4 };
        let from = |starts: &Buffer| starts.ptr::<u8>().wrapping_add(skipped).cast_const();
        let [starts, target_starts] =
            [self.arrays.first(), self.arrays.last()].map(|starts| starts.map_or(std::ptr::null(), from));
        Uses {
            sparse: self.sparse.ptr::<u64>().wrapping_add(first * delta + here),
            step: delta,
            target: target.wrapping_add(first * target_delta + there),
            target_step: target_delta,
            dense,
            pattern: self.indices[0].ptr::<u8>().wrapping_add(SKEW),
            second: self.indices[1].ptr::<u8>().wrapping_add(SKEW),
            length: self.length(),
            count: range.len(),
            phase,
            wrap,
            starts: [starts, target_starts],
            wide: self.wide,
        }
    }

    /// Executes this worker's share of the uses `window`, keeping everything in `kept`, whose first tile
    /// belongs to the window's first use.
    fn keep(&self, worker: Worker, window: &Range<usize>, kept: &Buffer) {
        let stands_in = self.fault.filter(|fault| fault.stands_in());
        let executes = stands_in.is_none_or(|fault| fault == Fault::LostPart);
        let pieces = pieces(window.len(), 1, worker, self.fault);
        for piece in pieces.into_iter().filter(|_| executes) {
            let range = window.start + piece.start..window.start + piece.end;
            let dense = kept.ptr::<u64>().wrapping_add(piece.start * self.length());
            // SAFETY: as in `execute`; the tiles of different workers are disjoint. There are more tiles than
            // uses, so the kernel never returns to the first tile.
            unsafe { (self.keeping)(&self.launch(&range, dense, 0, window.len() + 1)) };
        }
        if let Some(fault) = stands_in {
            worker.meet();
            if worker.index == 0 {
                self.keep_instead(fault, window, kept);
            }
            worker.meet();
        }
    }

    /// Keeps what the kernel of a fault does that runs in place of the case's own. A copy of S to the tiles of D is one to
    /// the kept tile of each use.
    fn keep_instead(&self, fault: Fault, window: &Range<usize>, kept: &Buffer) {
        let scatters = self.spec.kernel.scatters();
        let to = if scatters { self.destination() } else { kept };
        // SAFETY: the other workers wait.
        let to = unsafe { to.write::<u64>(0..to.holds::<u64>()) };
        let from = if scatters && self.spec.kernel != Kernel::Gs { kept } else { &self.sparse };
        // SAFETY: nobody writes what is read, which is another array.
        let from = unsafe { from.read::<u64>(0..from.holds::<u64>()) };
        let tiles = self.spec.wrap as usize * self.length();
        let place = |k: usize| if scatters { k } else { (window.start * self.length() + k) % tiles };
        match fault {
            Fault::Zeros => to.fill(0),
            Fault::Identity => {
                (0..).zip(to).for_each(|(k, word)| *word = from.get(place(k)).copied().unwrap_or(0));
            }
            Fault::LostPart => {
                let lost = Fault::lost_part(to.len() as u64);
                to[lost.start as usize..lost.end as usize].fill(POISON);
            }
            _ => {}
        }
    }

    /// Executes this worker's share of the uses `window` as in the timed region.
    fn execute_uses(&self, worker: Worker, window: &Range<usize>) {
        let (wrap, dense) = (self.spec.wrap as usize, self.dense[worker.index].ptr());
        let mut fold = 0u64;
        for piece in pieces(window.len(), 1, worker, self.fault) {
            let piece = window.start + piece.start..window.start + piece.end;
            let uses = self.launch(&piece, dense, piece.start % wrap, wrap);
            // SAFETY: the dense side is this worker's own. If uses of different workers write the same sparse
            // word, the definition leaves open which one is last.
            fold = fold.wrapping_add(unsafe { (self.timed)(&uses) });
        }
        if self.spec.fenced {
            fence(Ordering::Release);
        }
        self.folds[worker.index].0.store(fold, Ordering::Relaxed);
    }
}

impl PoolJob for Patterns {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Patterns, Isa), Failure> {
        let scatters = spec.kernel.scatters();
        let isa = context.isa_or(|| if scatters { Isa::for_scatters() } else { Isa::for_gathers() })?;
        let missing = || Failure::NotApplicable("AVX2 has no scatter instruction".to_owned());
        let timed = kernels::timed(&spec, isa).ok_or_else(missing)?;
        let stores = Spec { method: Method::Direct, ..spec.clone() };
        let keeping = kernels::timed(&stores, isa).ok_or_else(missing)?;
        let threads = context.pool.threads();
        let (first, second) = match spec.kernel {
            Kernel::Gather | Kernel::Scatter => (&spec.pattern, &[][..]),
            Kernel::Gs => (&spec.gather, &spec.scatter[..]),
            Kernel::Multigather | Kernel::Multiscatter => (&spec.inner, &spec.pattern[..]),
        };
        let indices = [narrow(first, spec.index)?, narrow(second, spec.index)?];
        let words = |n: u64| Buffer::new(n as usize * 8);
        let (sparse, target) = match spec.kernel {
            Kernel::Gs => (words(spec.source_words())?, Some(words(spec.sparse_words())?)),
            _ => (words(spec.sparse_words())?, None),
        };
        let sides = spec.sides().into_iter().filter(|_| spec.based());
        let array = |(_, starts): (_, Starts)| {
            let wrong = context.fault == Some(Fault::SequentialOrder);
            let starts = if wrong { starts.in_sequence() } else { starts };
            array(&starts, &spec, &context.pool, context.cancel)
        };
        let mut job = Patterns {
            applied: if spec.kernel == Kernel::Gs { spec.gather.clone() } else { spec.applied() },
            sparse,
            target,
            dense: (0..threads).map(|_| words(spec.dense_words())).collect::<Result<_, _>>()?,
            indices,
            starts: spec.starts(),
            sources: spec.source_starts(),
            arrays: sides.map(array).collect::<Result<_, _>>()?,
            wide: spec.base_bytes() == 8,
            timed,
            keeping,
            fault: context.fault,
            folds: (0..threads).map(|_| CacheLineSlot::default()).collect(),
            spec,
        };
        job.fill(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        self.execute_uses(worker, &(0..self.count()));
    }

    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        self.folds.iter().for_each(|fold| fold.0.store(0, Ordering::Relaxed));
        match (self.spec.kernel.scatters(), self.spec.method) {
            (true, _) => poison(pool, self.destination(), 8, cancel),
            (false, Method::ReadOnly) => Ok(()),
            (false, _) => self.dense.iter().try_for_each(|dense| poison(pool, dense, 8, cancel)),
        }
    }

    /// Of a gather, the first tile of the first worker's dense side, which its first use writes, is what can be lost.
    fn outputs(&self) -> Vec<OutputArray<'_>> {
        match (self.spec.kernel.scatters(), self.spec.method) {
            (true, _) => vec![OutputArray::new(self.destination(), 8)],
            (false, Method::ReadOnly) => Vec::new(),
            (false, _) => {
                let tile = |worker| if worker == 0 { self.length() as u64 } else { 0 };
                let dense = self.dense.iter().enumerate();
                dense.map(|(worker, dense)| OutputArray::new(dense, 8).first(tile(worker))).collect()
            }
        }
    }

    fn words(&self) -> Vec<&AtomicU64> {
        let folds = self.folds.iter().map(|fold| &fold.0);
        folds.filter(|_| self.spec.method == Method::ReadOnly).collect()
    }

    fn input(&self) -> Option<InputArray<'_>> {
        let dense = self.spec.kernel.scatters() && self.spec.kernel != Kernel::Gs;
        if dense { self.dense.first().map(InputArray::from) } else { Some((&self.sparse).into()) }
    }

    fn prove(&self, pool: &Pool, cancel: &Cancel) -> Result<Option<String>, Failure> {
        Judge { case: self, pool, cancel }.wrong_beyond_output()
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let mistake = Judge { case: self, pool, cancel }.wrong_output(&(0..self.count()))?;
        Ok(Verdict::of(mistake, self.spec.count * self.spec.length()))
    }

    fn output(&self, pool: &Pool) -> Result<Vec<u8>, Failure> {
        let (cancel, all) = (Cancel::default(), 0..self.count());
        let mut kept = Buffer::new(self.count() * self.length() * 8)?;
        if self.spec.kernel.scatters() {
            poison(pool, self.destination(), 8, &cancel)?;
            let n = kept.holds::<u64>();
            pool.fill(&mut kept, n, &cancel, |k| word64(self.spec.seed, k as u64))?;
        } else {
            poison(pool, &kept, 8, &cancel)?;
        }
        pool.run(|worker| self.keep(worker, &all, &kept));
        let output = if self.spec.kernel.scatters() { self.destination() } else { &kept };
        // SAFETY: the workers are done.
        Ok(unsafe { output.to_vec() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Params, Value};
    use crate::primitives::Problem;

    #[test]
    fn gs_needs_two_bits_for_each_word_of_its_destination() {
        let word = |word: &str| Value::Text(word.to_owned());
        let list = |last: u64| Value::Indices(vec![0, last].into());
        let params = Params::default()
            .with("kernel", word("gs"))
            .with("gather", word("custom"))
            .with("gather.custom.indices", list(3))
            .with("scatter", word("custom"))
            .with("scatter.custom.indices", list((1 << 34) - 1))
            .with("index", Value::Int(8))
            .with("count", Value::Int(1));
        let work = Spec::from_params(&params, 0).map(|spec| spec.work()).expect("its work");
        assert_eq!(work.scratch, 1 << 32);
    }
}
