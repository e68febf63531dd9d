//! The CPU job of gather and scatter. L and R_in are generated where they will be used.

mod certificate;
pub mod kernels;
pub mod partition;

use std::sync::{Arc, Mutex, PoisonError};

use super::{Source, Spec, methods, tuple_word, user_indices};
use crate::case::params;
use crate::device::cpu::Blocks;
use crate::device::cpu::simd::Index;
use crate::inputs::partition_of;
use crate::primitives::cpu::prelude::*;
use kernels::Move;

/// A case with its arrays: R_in, R_out and L.
pub struct GatherScatter {
    pub spec: Spec,
    source: Source,
    pub from: Buffer,
    pub to: Buffer,
    pub locations: Buffer,
    /// Where each random partition starts; empty without partitions.
    starts: Vec<u64>,
    /// A user-provided L, for the certificate.
    user_indices: Option<Arc<Vec<u64>>>,
    method: PoolMethod<GatherScatter>,
    pub fault: Option<Fault>,
}

impl GatherScatter {
    /// Bytes by which the array that is accessed through L is misplaced.
    pub fn beside(&self) -> usize {
        if self.fault == Some(Fault::OffByOne) { self.spec.tuple as usize } else { 0 }
    }

    /// The launch over `n` tuples from `first` on, for these locations.
    pub fn launch(&self, first: usize, n: usize, locations: Range<u64>) -> Move {
        let (z, beside) = (self.spec.tuple as usize, self.beside());
        let (to, from) = if self.spec.scatters() { (beside, first * z) } else { (first * z, beside) };
        Move {
            to: self.to.ptr::<u8>().wrapping_add(to),
            from: self.from.ptr::<u8>().wrapping_add(from),
            locations: self.locations.ptr::<u8>().wrapping_add(first * self.spec.index as usize),
            n,
            low: locations.start,
            width: locations.end - locations.start,
        }
    }
}

impl PoolJob for GatherScatter {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(GatherScatter, Isa), Failure> {
        let user_indices = user_indices::load(&spec, context.stored)?;
        let isa = context.isa_or(|| methods::cpu::isa(&spec))?;
        if spec.scatters() && isa == Isa::Avx2 {
            return Err(params::avx2_cannot_scatter().into());
        }
        let (input, output) = (spec.input() * spec.tuple, spec.output() * spec.tuple);
        let indices = spec.moves() * spec.index;
        let source = spec.source()?;
        let (mut from, to) = (Buffer::new(input as usize)?, Buffer::new(output as usize)?);
        let mut locations = Buffer::new(indices as usize)?;
        let brought = user_indices.as_deref().map(Vec::as_slice);
        let starts = generate(&spec, &source, brought, &mut locations, context)?;
        // Words of longer tuples are numbered consecutively: word k overall is word k of the stream.
        let word = |k| tuple_word(spec.seed, spec.tuple.min(8), k as u64, 0);
        let words = (spec.input() * spec.words()) as usize;
        context.pool.fill_words(&mut from, spec.tuple, words, context.cancel, word)?;
        let (method, fault) = (methods::cpu::method(&spec, isa, context)?, context.fault);
        let job = GatherScatter { spec, source, from, to, locations, starts, user_indices, method, fault };
        job.clear(&context.pool, context.cancel)?;
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        (self.method)(self, worker);
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.to, self.spec.tuple)]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some((&self.from).into())
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

/// Writes L. For random partitions, returns where each partition starts, followed by n; otherwise an empty
/// vector.
fn generate(
    spec: &Spec,
    source: &Source,
    user_indices: Option<&[u64]>,
    to: &mut Buffer,
    context: &Context,
) -> Result<Vec<u64>, Failure> {
    let (n, pool, cancel) = (spec.moves() as usize, &context.pool, context.cancel);
    match (user_indices, source) {
        (Some(all), _) => pool.fill_words(to, spec.index, n, cancel, |i| all[i])?,
        (None, &Source::Partitions { count, seed }) => {
            let make = if spec.index == 4 { partitions::<u32> } else { partitions::<u64> };
            return make(n, count, seed, to, context);
        }
        (None, source) => {
            pool.fill_words(to, spec.index, n, cancel, |i| source.location(i as u64).unwrap_or(0))?;
        }
    }
    Ok(Vec::new())
}

/// Each worker counts the tuples of each partition in its part; a scan over partitions and, within a partition,
/// over workers gives each worker its first place in each partition; each worker then hands out places in the
/// order of its tuples. L is therefore stable.
fn partitions<I: Index>(
    n: usize,
    count: u64,
    seed: u64,
    to: &Buffer,
    context: &Context,
) -> Result<Vec<u64>, Failure> {
    let Context { pool, cancel, .. } = context;
    let mut places = pool.try_run(|worker| {
        let mut counts = vec![0u64; count as usize];
        for block in Blocks::of(part(n, worker.index, worker.count)) {
            cancel.check()?;
            for i in block {
                counts[partition_of(seed, i as u64, count) as usize] += 1;
            }
        }
        Ok(counts)
    })?;
    let (mut starts, mut next) = (Vec::with_capacity(count as usize + 1), 0);
    for partition in 0..count as usize {
        starts.push(next);
        for worker in &mut places {
            next += std::mem::replace(&mut worker[partition], next);
        }
    }
    starts.push(next);
    let places: Vec<Mutex<Vec<u64>>> = places.into_iter().map(Mutex::new).collect();
    pool.try_run(|worker| {
        let mut places = places[worker.index].lock().unwrap_or_else(PoisonError::into_inner);
        for block in Blocks::of(part(n, worker.index, worker.count)) {
            cancel.check()?;
            // SAFETY: blocks are disjoint and nobody else has the buffer yet.
            let locations = unsafe { to.write::<I>(block.clone()) };
            for (location, i) in locations.iter_mut().zip(block) {
                let place = &mut places[partition_of(seed, i as u64, count) as usize];
                *location = I::of(*place);
                *place += 1;
            }
        }
        Ok(())
    })?;
    Ok(starts)
}
