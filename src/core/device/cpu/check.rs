//! Building blocks of certificates: poisoning, a search for the first mistake, and bitmaps of touched elements.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use super::{Buffer, POISON, Pool};
use crate::case::{Cancel, Failure};
use crate::device::cpu::{Blocks, part};

/// Poisons `buffer`, viewed as elements of `size` bytes (a multiple of 4).
pub fn poison(pool: &Pool, buffer: &Buffer, size: usize, cancel: &Cancel) -> Result<(), Failure> {
    fill(pool, buffer, size, POISON as u32, cancel)
}

/// Fills `buffer`, viewed as elements of `size` bytes (a multiple of 4), with a word; each worker fills its part.
pub fn fill(pool: &Pool, buffer: &Buffer, size: usize, word: u32, cancel: &Cancel) -> Result<(), Failure> {
    pool.for_blocks(buffer.bytes() / size, cancel, |block| {
        // SAFETY: blocks are disjoint, and only the workers of this call access the buffer.
        let words = unsafe { buffer.write::<u32>(block.start * size / 4..block.end * size / 4) };
        words.fill(word);
    })
}

/// Applies `first` to the blocks of [0, n), on each worker in order until it finds a mistake. Returns the mistake of
/// the first worker that found any: its lowest.
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

/// One bit per element of an array, set concurrently by all workers.
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

    /// Sets bit `i`; true if it was set before.
    pub fn set(&self, i: usize) -> bool {
        let bit = 1 << (i % 64);
        self.word(i).load(Ordering::Relaxed) & bit != 0
            || self.word(i).fetch_or(bit, Ordering::Relaxed) & bit != 0
    }

    /// A setter for bits that are often close to each other: it sets all bits of a word with one access.
    pub fn setter(&self) -> Setter<'_> {
        Setter { bits: self, word: 0, mask: 0 }
    }

    /// True if bit `i` is set.
    pub fn get(&self, i: usize) -> bool {
        self.word(i).load(Ordering::Relaxed) >> (i % 64) & 1 == 1
    }
}

/// Sets bits of a [`Bitmap`]; the last ones are set when it is dropped.
#[derive(Debug)]
pub struct Setter<'b> {
    bits: &'b Bitmap,
    /// Index of the word that `mask` belongs to.
    word: usize,
    mask: u64,
}

impl Setter<'_> {
    /// Sets bit `i`.
    pub fn set(&mut self, i: usize) {
        if i / 64 != self.word {
            self.write();
            self.word = i / 64;
        }
        self.mask |= 1 << (i % 64);
    }

    fn write(&mut self) {
        if self.mask != 0 {
            let word = self.bits.word(64 * self.word);
            if word.load(Ordering::Relaxed) & self.mask != self.mask {
                word.fetch_or(self.mask, Ordering::Relaxed);
            }
            self.mask = 0;
        }
    }
}

impl Drop for Setter<'_> {
    fn drop(&mut self) {
        self.write();
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
    fn a_setter_sets_what_it_is_given() {
        let (bits, places) = (Bitmap::new(300).expect("memory"), [299, 64, 65, 127, 64, 0, 192, 63]);
        bits.set(66);
        let mut setter = bits.setter();
        places.into_iter().for_each(|i| setter.set(i));
        drop(setter);
        let set: Vec<usize> = (0..300).filter(|i| bits.get(*i)).collect();
        assert_eq!(set, [0, 63, 64, 65, 66, 127, 192, 299]);
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
