//! Building blocks of certificates: poisoning, a search for the first mistake, and bitmaps of touched elements.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Buffer, POISON, Pool};
use crate::case::{Cancel, Failure};
use crate::device::cpu::{Blocks, part};

/// Poisons `buffer`, viewed as elements of `size` bytes (a multiple of 4); each worker fills its part.
pub fn poison(pool: &Pool, buffer: &Buffer, size: usize, cancel: &Cancel) -> Result<(), Failure> {
    pool.for_blocks(buffer.bytes() / size, cancel, |block| {
        // SAFETY: blocks are disjoint, and only the workers of this call access the buffer.
        let words = unsafe { buffer.write::<u32>(block.start * size / 4..block.end * size / 4) };
        words.fill(POISON as u32);
    })
}

/// Applies `first` to every block of [0, n) until it finds a mistake. Returns the lowest one found by the first
/// worker that found any.
pub fn find(
    pool: &Pool,
    n: usize,
    cancel: &Cancel,
    first: impl Fn(Range<usize>) -> Option<String> + Sync,
) -> Result<Option<String>, Failure> {
    let found = pool.try_run(|worker| {
        for block in Blocks::of(part(n, worker.index, worker.count)) {
            cancel.check()?;
            if let Some(mistake) = first(block) {
                return Ok(Some(mistake));
            }
        }
        Ok(None)
    })?;
    Ok(found.into_iter().flatten().next())
}

/// A bit for each element of an array, set concurrently by all workers.
#[derive(Debug)]
pub struct Bitmap(Buffer);

impl Bitmap {
    /// `n` cleared bits.
    pub fn new(n: usize) -> Result<Bitmap, Failure> {
        Ok(Bitmap(Buffer::new(n.div_ceil(64) * 8)?))
    }

    fn word(&self, i: usize) -> &AtomicU64 {
        debug_assert!(i / 64 < self.0.holds::<u64>());
        // SAFETY: inside the buffer, aligned, and accessed only as atomic words.
        unsafe { &*self.0.ptr::<AtomicU64>().add(i / 64) }
    }

    /// Sets bit `i`; returns whether it was set before.
    pub fn set(&self, i: usize) -> bool {
        let bit = 1 << (i % 64);
        self.word(i).load(Ordering::Relaxed) & bit != 0
            || self.word(i).fetch_or(bit, Ordering::Relaxed) & bit != 0
    }

    /// Whether bit `i` is set.
    pub fn get(&self, i: usize) -> bool {
        self.word(i).load(Ordering::Relaxed) >> (i % 64) & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_mistake_is_reported() {
        let pool = Pool::new(None).expect("a pool");
        let odd = |r: Range<usize>| r.into_iter().find(|&i| i >= 300_001).map(|i| format!("at {i}"));
        let found = find(&pool, 1 << 20, &Cancel::default(), odd).expect("not cancelled");
        assert_eq!(found.as_deref(), Some("at 300001"));
    }

    #[test]
    fn bits_are_set_once() {
        let bits = Bitmap::new(130).expect("memory");
        assert!(!bits.set(129) && bits.set(129) && bits.get(129) && !bits.get(128));
    }

    #[test]
    fn poison_fills_to_the_end() {
        let (pool, buffer) = (Pool::new(None).expect("a pool"), Buffer::new(4 * 1001).expect("memory"));
        poison(&pool, &buffer, 4, &Cancel::default()).expect("not cancelled");
        // SAFETY: there are no more writers.
        let words = unsafe { buffer.read::<u32>(0..1001) };
        assert!(words.iter().all(|&w| w == 0xDEAD_BEEF));
    }
}
