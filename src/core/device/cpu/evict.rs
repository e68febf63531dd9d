//! Eviction: replaces a case's data in the caches by other data.

use std::ops::Range;

use super::caches::{self, Cache};
use super::{Buffer, Pool, memory};
use crate::case::Failure;

/// Bytes of the other data, in multiples of the cache capacity: replacement is not exact LRU, so once is not enough.
const TIMES: u64 = 2;
/// Stride of the accesses: one per cache line; 128-byte lines are accessed twice.
const LINE: usize = 64;
const PAGE: u64 = 4096;

/// Assumed capacities if the system does not report them: of a CPU's private caches, and of the cache that all CPUs
/// share. Larger than on most processors.
const UNKNOWN_OWN: u64 = 4 << 20;
const UNKNOWN_COMMON: u64 = 128 << 20;

/// Memory that fills the caches of a pool's CPUs; it stays mapped between evictions.
#[derive(Debug)]
pub struct Evictor {
    buffer: Buffer,
    /// Each worker's part of the buffer, bytes.
    parts: Vec<Range<usize>>,
}

impl Evictor {
    /// Allocates twice the cache capacity of the pool's CPUs.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if there is not enough memory.
    pub fn new(pool: &Pool) -> Result<Evictor, Failure> {
        let mut end = 0;
        let parts = sizes(&caches::of(pool.cpus()), pool.cpus()).into_iter().map(|bytes| {
            let start = end;
            end += bytes as usize;
            start..end
        });
        let parts: Vec<_> = parts.collect();
        memory::require(end as u64)?;
        Ok(Evictor { buffer: Buffer::new(end)?, parts })
    }

    /// Bytes allocated, all of which are accessed at each eviction.
    pub fn bytes(&self) -> u64 {
        self.buffer.bytes() as u64
    }

    /// Fills the caches of each worker's CPU with lines of its part; returns the total bytes of these lines.
    ///
    /// The first sweep writes, because a written line is allocated in every cache, even in one that bypasses streaming
    /// reads, and because pages that are only read would all map to the single zero page. The second sweep reads, so
    /// that the caches end up with clean lines: a dirty line would be written back at the expense of the sample that
    /// replaces it.
    pub fn evict(&self, pool: &Pool) -> u64 {
        let touched = pool.run(|worker| {
            let lines = self.parts[worker.index].clone().step_by(LINE);
            for at in lines.clone() {
                // SAFETY: inside the buffer, of which each worker has its own part.
                unsafe { self.buffer.ptr::<u8>().add(at).cast::<u64>().write_volatile(at as u64) };
            }
            worker.meet();
            for at in lines.clone() {
                // SAFETY: as for the write above.
                unsafe { self.buffer.ptr::<u8>().add(at).cast::<u64>().read_volatile() };
            }
            (lines.count() * LINE) as u64
        });
        touched.iter().sum()
    }
}

/// Bytes for each of these CPUs: twice its share of every cache that it sees. The CPUs of `cpus` that see a cache
/// share it equally.
fn sizes(caches: &[Cache], cpus: &[usize]) -> Vec<u64> {
    let share = |cache: &Cache| {
        let sharing = cpus.iter().filter(|cpu| cache.cpus.contains(cpu)).count();
        cache.bytes.div_ceil(sharing.max(1) as u64)
    };
    let visible = |cpu: &usize| -> u64 {
        let seen: Vec<&Cache> = caches.iter().filter(|cache| cache.cpus.contains(cpu)).collect();
        if seen.iter().any(|cache| cache.level > 1) {
            seen.into_iter().map(share).sum()
        } else {
            UNKNOWN_OWN + UNKNOWN_COMMON / cpus.len() as u64
        }
    };
    cpus.iter().map(|cpu| (TIMES * visible(cpu)).next_multiple_of(PAGE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u32, mib: u64, cpus: &[usize]) -> Cache {
        Cache { level, data_only: level == 1, bytes: mib << 20, cpus: cpus.to_vec() }
    }

    #[test]
    fn the_workers_of_a_cache_share_its_size() {
        let caches = [cache(2, 1, &[0]), cache(2, 1, &[1]), cache(3, 32, &[0, 1])];
        assert_eq!(sizes(&caches, &[0, 1]), [34 << 20, 34 << 20]);
        assert_eq!(sizes(&caches, &[0]), [66 << 20], "one thread fills the common cache alone");
        assert_eq!(sizes(&caches[..2], &[1]), [2 << 20], "not every processor has three levels");
    }

    #[test]
    fn a_cpu_whose_caches_are_not_told_gets_plenty() {
        let caches = [cache(1, 1, &[0]), cache(1, 1, &[1])];
        assert_eq!(sizes(&caches, &[0, 1]), [136 << 20, 136 << 20]);
        assert_eq!(sizes(&[], &[3]), [264 << 20]);
    }

    #[test]
    fn an_eviction_goes_over_twice_what_the_caches_hold() {
        let pool = Pool::new(None).expect("a pool");
        let evictor = Evictor::new(&pool).expect("memory");
        let held: u64 = caches::of(pool.cpus()).iter().map(|cache| cache.bytes).sum();
        let touched = evictor.evict(&pool);
        assert!(touched >= 2 * held && touched == evictor.bytes(), "{touched} of {held}");
        let written = |at: usize| {
            // SAFETY: the workers have finished.
            unsafe { evictor.buffer.ptr::<u8>().add(at).cast::<u64>().read() }
        };
        for part in &evictor.parts {
            assert_eq!(written(part.end - LINE), (part.end - LINE) as u64, "the last line of a part");
        }
    }
}
