//! hash-search on the CPU with the method `partitioned`: each worker partitions its keys by the high bits of their
//! hashes and searches in that order, in which a part of the table stays in its cache. If the order is to be restored,
//! it then goes through its keys again, and takes each result from where its partition has come to.

use super::{Keys, Lookup, Searcher, result};
use crate::device::cpu::check::Bitmap;
use crate::inputs::mix::mix32;
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;

/// Partitions at most.
const MOST: usize = 256;

/// The partition of a key: the high bits of its hash.
#[derive(Clone, Copy)]
pub struct Parts {
    shift: u32,
}

impl Parts {
    /// Partitions by `bits` bits, 1 to 8.
    pub fn new(bits: u64) -> Parts {
        Parts { shift: 32 - bits as u32 }
    }

    #[inline(always)]
    pub fn of(self, key: u32) -> usize {
        // At most 8 bits are left; the mask saves the check of the bounds.
        (mix32(key) >> self.shift) as usize & (MOST - 1)
    }

    /// Where each partition of some keys begins, and where the last one ends.
    pub fn starts(self, keys: impl Iterator<Item = u32>) -> [u32; MOST + 1] {
        let mut starts = [0; MOST + 1];
        keys.for_each(|key| starts[self.of(key) + 1] += 1);
        (0..MOST).for_each(|part| starts[part + 1] += starts[part]);
        starts
    }
}

/// The method with its table.
pub struct Partitioned {
    lookup: Lookup,
    parts: Parts,
    /// The keys in the order of the partitions.
    keys: Buffer,
    /// Restored: the results in that order; free: the numbers of the searches.
    beside: Buffer,
    free: bool,
    out: Buffer,
}

impl Partitioned {
    pub fn new(spec: &Search, lookup: Lookup) -> Result<Partitioned, Failure> {
        let room = || Buffer::new(4 * spec.keys as usize);
        let free = spec.order_is_free();
        let parts = Parts::new(spec.bits());
        Ok(Partitioned { lookup, parts, keys: room()?, beside: room()?, free, out: room()? })
    }

    /// Searches for the keys of a range, of which no other worker has any.
    fn piece(&self, keys: &[u32], range: Range<usize>) {
        // SAFETY: workers have disjoint ranges.
        let [split, beside, out] =
            [&self.keys, &self.beside, &self.out].map(|array| unsafe { array.write::<u32>(range.clone()) });
        let starts = self.parts.starts(keys.iter().copied());
        let mut next = starts;
        for (&key, q) in keys.iter().zip(range.start as u32..) {
            let at = take(&mut next, self.parts.of(key));
            split[at] = key;
            if self.free {
                beside[at] = q;
            }
        }
        if self.free {
            return self.lookup.search(split, out);
        }
        self.lookup.search(split, beside);
        let mut next = starts;
        for (&key, out) in keys.iter().zip(out) {
            *out = beside[take(&mut next, self.parts.of(key))];
        }
    }
}

/// The next place of a partition.
#[inline(always)]
pub fn take(next: &mut [u32; MOST + 1], part: usize) -> usize {
    let at = next[part];
    next[part] = at + 1;
    at as usize
}

impl Searcher for Partitioned {
    fn search(&self, keys: &Keys, worker: Worker) {
        for piece in keys.pieces(worker) {
            self.piece(keys.some(piece.clone()), piece);
        }
    }

    /// The numbers of the searches, if the order is free, then the results.
    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let beside = OutputArray::new(&self.beside, 4);
        vec![if self.free { beside } else { beside.first(0) }, OutputArray::new(&self.out, 4)]
    }

    fn mistake(&self, searches: &Searches, at: usize, seen: &Bitmap) -> Option<String> {
        let q = if self.free { result(&self.beside, at) as usize } else { at };
        if self.free && (q >= self.out.holds::<u32>() || seen.set(q)) {
            return Some(format!("result {at} is of search {q:#x}, which is another's or none"));
        }
        searches.mistake(q as u64, result(&self.out, at))
    }
}
