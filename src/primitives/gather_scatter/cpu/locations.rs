//! L, made where it will be used.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::case::{Cancel, Failure};
use crate::device::cpu::simd::Index;
use crate::device::cpu::{Blocks, Buffer, Pool, part};
use crate::inputs::partition_of;
use crate::primitives::gather_scatter::spec::{Source, Spec};

/// Writes L and returns, for random partitions, where each partition starts (and n at
/// the end); otherwise nothing.
pub fn generate(
    spec: &Spec,
    origin: (&Source, Option<&[u64]>),
    to: &Buffer,
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Vec<u64>, Failure> {
    match spec.index {
        4 => write::<u32>(spec, origin, to, pool, cancel),
        _ => write::<u64>(spec, origin, to, pool, cancel),
    }
}

fn write<I: Index>(
    spec: &Spec,
    origin: (&Source, Option<&[u64]>),
    to: &Buffer,
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Vec<u64>, Failure> {
    let n = spec.moves() as usize;
    match origin {
        (_, Some(all)) => each::<I>(n, |i| all[i], to, pool, cancel),
        (Source::Partitions { count, seed }, _) => partitions::<I>(n, *count, *seed, to, pool, cancel),
        (source, _) => each::<I>(n, |i| source.location(i as u64).unwrap_or(0), to, pool, cancel),
    }
}

/// Each location by itself, each worker its part.
fn each<I: Index>(
    n: usize,
    location: impl Fn(usize) -> u64 + Sync,
    to: &Buffer,
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Vec<u64>, Failure> {
    pool.for_blocks(n, cancel, |block| {
        // SAFETY: blocks are disjoint and nobody else has the buffer yet.
        let locations = unsafe { to.write::<I>(block.clone()) };
        for (stored, i) in locations.iter_mut().zip(block) {
            *stored = I::of(location(i));
        }
    })?;
    Ok(Vec::new())
}

/// Each worker counts the tuples of each partition in its part; a scan over partitions,
/// and within one over workers, gives each worker its first place in each partition;
/// each worker then hands out places in the order of its tuples. So L is stable.
fn partitions<I: Index>(
    n: usize,
    count: u64,
    seed: u64,
    to: &Buffer,
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Vec<u64>, Failure> {
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
    let places: Vec<std::sync::Mutex<Vec<u64>>> = places.into_iter().map(std::sync::Mutex::new).collect();
    pool.try_run(|worker| {
        let mut places = places[worker.index].lock().unwrap_or_else(|e| e.into_inner());
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

/// The locations as the certificate reads them.
#[derive(Clone, Copy, Debug)]
pub struct Stored<'a> {
    buffer: &'a Buffer,
    index: u64,
}

impl<'a> Stored<'a> {
    /// L in `buffer`, indices of `index` bytes.
    pub fn new(buffer: &'a Buffer, index: u64) -> Stored<'a> {
        Stored { buffer, index }
    }

    /// `L[i]`
    #[inline(always)]
    pub fn get(&self, i: usize) -> u64 {
        // SAFETY: L is only read once it has been written.
        unsafe {
            match self.index {
                4 => u64::from(self.buffer.read::<u32>(i..i + 1)[0]),
                _ => self.buffer.read::<u64>(i..i + 1)[0],
            }
        }
    }
}

/// Whether each tuple's location lies in the range of its partition and they are
/// distinct; then L is a permutation, and every partition holds exactly its own. Also
/// checks, within each block of tuples, that locations ascend in a partition (the rank is
/// stable). The first mistake, in words.
pub fn check_partitions(
    stored: Stored,
    (n, count, seed): (usize, u64, u64),
    starts: &[u64],
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Option<String>, Failure> {
    use crate::device::cpu::check::{Bitmap, find};
    let taken = Bitmap::new(n)?;
    let descents = AtomicU64::new(u64::MAX);
    let mistake = find(pool, n, cancel, |block| {
        let mut last = vec![0; count as usize];
        for i in block {
            let (l, q) = (stored.get(i), partition_of(seed, i as u64, count) as usize);
            if l < starts[q] || l >= starts[q + 1] {
                let range = format!("[{}, {})", starts[q], starts[q + 1]);
                return Some(format!("L[{i}] is {l}, outside its partition {range}"));
            }
            if taken.set(l as usize) {
                return Some(format!("L[{i}] is {l}, which another tuple has too"));
            }
            if l < last[q] {
                descents.fetch_min(i as u64, Ordering::Relaxed);
            }
            last[q] = l;
        }
        None
    })?;
    let descent = descents.into_inner();
    Ok(mistake.or_else(|| {
        (descent != u64::MAX).then(|| format!("L[{descent}] precedes an earlier tuple of its partition"))
    }))
}
