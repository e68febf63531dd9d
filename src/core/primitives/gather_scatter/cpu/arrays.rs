//! The arrays written before the timed region, L and R_in, generated where they will be used.

use std::sync::{Mutex, PoisonError};

use crate::case::Failure;
use crate::device::cpu::simd::Index;
use crate::device::cpu::{Blocks, Buffer, Context, part};
use crate::inputs::partition_of;
use crate::primitives::gather_scatter::spec::{Source, Spec};

/// Writes L. For random partitions, returns where each partition starts, followed by n; otherwise an empty
/// vector.
pub fn generate(
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
