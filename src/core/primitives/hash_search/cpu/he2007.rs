//! hash-search on the CPU with the method `he2007` (§4.2): each worker counts the matches of its keys, sums the counts,
//! writes the ids of the matches, and gathers their records in passes, each over a chunk of the records.
//! A key's entries are read twice, to count and to locate them; each pass reads all ids.

use std::sync::atomic::{AtomicU32, Ordering};

use super::{Keys, Searcher};
use crate::device::cpu::CacheLineSlot;
use crate::device::cpu::check::Bitmap;
use crate::inputs::mix::mix32;
use crate::primitives::cpu::prelude::*;
use crate::primitives::hash_search::layout::slot_word;
use crate::primitives::hash_search::records::{Records, Searches};
use crate::primitives::hash_search::spec::Search;

/// The method with its table.
pub struct He2007 {
    headers: u64,
    /// Where the entries of each header begin, and the last ones end.
    starts: Buffer,
    entries: Buffer,
    records: Buffer,
    count: usize,
    passes: usize,
    offsets: Buffer,
    /// The paper's L.
    ids: Buffer,
    out: Buffer,
    /// The matches of each worker's keys.
    totals: Vec<CacheLineSlot>,
}

fn record(records: &Records, id: usize) -> u64 {
    slot_word(records.key_of_record(id as u64), id as u32)
}

impl He2007 {
    pub fn new(spec: &Search, searches: &Searches, context: &Context) -> Result<He2007, Failure> {
        let (count, most) = (spec.count as usize, spec.most_matches() as usize);
        let (pool, cancel, source) = (&context.pool, context.cancel, &searches.records);
        let mut records = Buffer::new(8 * count)?;
        pool.fill(&mut records, count, cancel, |id| record(source, id))?;
        let he2007 = He2007 {
            headers: spec.headers(),
            starts: Buffer::new(4 * (spec.headers() as usize + 1))?,
            entries: Buffer::new(8 * count)?,
            records,
            count,
            passes: spec.passes() as usize,
            offsets: Buffer::new(4 * (spec.keys as usize + 1))?,
            ids: Buffer::new(4 * most)?,
            out: Buffer::new(8 * most)?,
            totals: (0..pool.threads()).map(|_| CacheLineSlot::default()).collect(),
        };
        he2007.chain(pool, cancel)?;
        Ok(he2007)
    }

    fn header(&self, key: u32) -> usize {
        ((u64::from(mix32(key)) * self.headers) >> 32) as usize
    }

    fn record(&self, id: usize) -> u64 {
        // SAFETY: the records have been written, and nobody writes to them again.
        unsafe { self.records.read::<u64>(id..id + 1)[0] }
    }

    /// Makes the table: entries are counted one header further on than their own, so that once they are stored, the
    /// place behind those of a header is where the next begins.
    fn chain(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        // SAFETY: nobody else has the array yet.
        unsafe { self.starts.write::<u32>(0..self.headers as usize + 1) }.fill(0);
        let next = |id: usize| {
            let header = self.header(self.record(id) as u32);
            // SAFETY: inside the array, which is accessed as atomic words only.
            unsafe { &*self.starts.ptr::<AtomicU32>().add(header + 1) }.fetch_add(1, Ordering::Relaxed)
                as usize
        };
        pool.for_blocks(self.count, cancel, |block| {
            block.for_each(|id| {
                next(id);
            });
        })?;
        // SAFETY: the workers are done.
        let starts = unsafe { self.starts.write::<u32>(0..self.headers as usize + 1) };
        let mut sum = 0;
        starts.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
        pool.for_blocks(self.count, cancel, |block| {
            // SAFETY: each entry has a place of its own.
            block.for_each(|id| unsafe { self.entries.ptr::<u64>().add(next(id)).write(self.record(id)) });
        })
    }

    /// The entries with the hash of a key (steps 1 and 2).
    #[inline(always)]
    fn bucket(&self, key: u32) -> &[u64] {
        let header = self.header(key);
        // SAFETY: nobody writes to the table; starts lie inside the entries.
        unsafe {
            let bounds = self.starts.read::<u32>(header..header + 2);
            self.entries.read::<u64>(bounds[0] as usize..bounds[1] as usize)
        }
    }

    /// The records that the last execution has found, as far as there is room for them.
    fn found(&self) -> u64 {
        let last = self.offsets.holds::<u32>() - 1;
        // SAFETY: nobody writes between executions.
        let total = unsafe { self.offsets.read::<u32>(last..last + 1)[0] };
        (self.out.holds::<u64>() as u64).min(total.into())
    }

    /// The keys of a worker; with a fault fewer than all.
    fn part(keys: &Keys, worker: Worker) -> Range<usize> {
        let n = match keys.fault {
            Some(Fault::MissingTail) => keys.n.saturating_sub(1),
            Some(Fault::WrongChunk | Fault::SkippedStore) => keys.n / 2,
            _ => keys.n,
        };
        part(n, worker.index, worker.count)
    }

    /// Writes the ids of a worker's matches (step 3), from `begin` to `end`.
    fn locate(&self, keys: &[u32], range: Range<usize>, begin: usize, end: usize) {
        // SAFETY: workers have disjoint keys and matches.
        let (offsets, ids) = unsafe { (self.offsets.write::<u32>(range), self.ids.write::<u32>(begin..end)) };
        let mut at = 0;
        for (offset, &key) in offsets.iter_mut().zip(keys) {
            *offset = (begin + at) as u32;
            for &entry in self.bucket(key).iter().filter(|&&entry| entry as u32 == key) {
                ids[at] = (entry >> 32) as u32;
                at += 1;
            }
        }
    }

    /// Gathers the records of a worker's matches (step 4).
    fn gather(&self, range: Range<usize>) {
        // SAFETY: workers have disjoint matches.
        let (ids, out) = unsafe { (self.ids.read::<u32>(range.clone()), self.out.write::<u64>(range)) };
        let span = self.count.div_ceil(self.passes).max(1);
        for low in (0..self.count).step_by(span) {
            for (out, &id) in out.iter_mut().zip(ids) {
                if (id as usize).wrapping_sub(low) < span {
                    *out = self.record(id as usize);
                }
            }
        }
    }
}

impl Searcher for He2007 {
    fn search(&self, keys: &Keys, worker: Worker) {
        let mine = He2007::part(keys, worker);
        let own = keys.some(mine.clone());
        let matches = |key: u32| self.bucket(key).iter().filter(|&&entry| entry as u32 == key).count();
        let total: usize = own.iter().map(|&key| matches(key)).sum();
        self.totals[worker.index].0.store(total as u64, Ordering::Relaxed);
        worker.meet();
        let earlier =
            self.totals[..worker.index].iter().map(|total| total.0.load(Ordering::Relaxed) as usize);
        let begin = earlier.sum::<usize>();
        let last = mine.end;
        self.locate(own, mine, begin, begin + total);
        if worker.index + 1 == worker.count {
            // SAFETY: the last worker alone writes the number of all matches.
            unsafe { self.offsets.ptr::<u32>().add(last).write((begin + total) as u32) };
        }
        self.gather(begin..begin + total);
        worker.meet();
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        let [offsets, ids] = [&self.offsets, &self.ids].map(|array| OutputArray::new(array, 4));
        vec![offsets, ids.first(0), OutputArray::new(&self.out, 8).first(self.found())]
    }

    /// The results of a search are those of its key, which has its place.
    fn mistake(&self, searches: &Searches, q: usize, _seen: &Bitmap) -> Option<String> {
        let wanted = searches.records.matches(searches.number(q as u64));
        // SAFETY: nobody writes while this is checked.
        let bounds = unsafe { self.offsets.read::<u32>(q..q + 2) };
        let (begin, end) = (bounds[0] as usize, bounds[1] as usize);
        let there = (wanted.end - wanted.start) as usize;
        if end.wrapping_sub(begin) != there || end > self.out.holds::<u64>() || (q == 0 && begin != 0) {
            return Some(format!("the results of search {q} are from {begin} to {end}, not {there}"));
        }
        // SAFETY: the same.
        let found = unsafe { self.out.read::<u64>(begin..end) };
        let right = |&word: &u64| {
            wanted.contains(&(word >> 32)) && word as u32 == searches.records.key_of_record(word >> 32)
        };
        let all = found
            .iter()
            .fold(0u32, |all, word| all | 1u32.unbounded_shl((word >> 32).wrapping_sub(wanted.start) as u32));
        let complete = found.iter().all(right) && all.count_ones() as usize == there;
        (!complete).then(|| format!("search {q} has found {found:x?} instead of records {wanted:?}"))
    }
}
