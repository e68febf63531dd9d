//! The steps of an execution. In each, a worker relaxes the arcs of its own vertices that are near, with `fusion` until it has
//! none left, and sends what it finds for others' vertices. Then all meet, which settles the nearest bucket that anybody has or
//! was sent, and take in what was sent to them.
//!
//! With `fusion`, the distances of a step are several buckets, which a worker empties in turn: so it relaxes fewer arcs of
//! vertices that come nearer afterwards, and meets the others no more often.

use std::ops::Range;
use std::sync::MutexGuard;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::Sssp;
use super::lists::{Entry, Kept};
use crate::device::cpu::Worker;
use crate::device::cpu::memory::{prefetch, prefetch_l2};
use crate::inputs::graph::{UNREACHED, WeightedArc};
use crate::primitives::sssp::methods::Window;
use crate::primitives::sssp::record;

/// An entry's row start and distance are fetched so many entries before it is relaxed; both its first arcs and the distances of
/// their targets so many entries after that. Targets of rows within a cache line need no fetching: they are loaded for many arcs
/// at a time.
const AHEAD: usize = 16;
const ARCS_LATER: usize = 8;
const TARGETS_LATER: usize = 14;

/// Arcs of a cache line; how many lines of them are fetched, and the distances of how many.
const ARCS_OF_LINE: usize = 8;
const LINES: usize = 4;
const TARGETS: usize = 64;

/// Vertices that may be nearer than they were, gathered before any is: so the processor can look at the next arcs before it
/// knows what becomes of these, and guesses wrong less often.
const CANDIDATES: usize = 512;

/// Arcs that are looked at between two questions whether there is room.
const PART: usize = 128;

/// One worker's part of an execution.
struct Search<'a> {
    job: &'a Sssp,
    worker: Worker<'a>,
    distances: &'a [AtomicU32],
    window: Window,
    /// Buckets of a step.
    buckets: usize,
    kept: MutexGuard<'a, Kept>,
    /// Phases so far; each ends with a meeting.
    phase: usize,
    /// Which of its two lists for others it fills.
    parity: usize,
    /// The least distance that it has sent in this step.
    least_sent: u32,
    steps: u64,
    relaxed: u64,
    candidates: [Entry; CANDIDATES],
    gathered: usize,
}

/// Executes a worker's part.
pub fn run(job: &Sssp, worker: Worker) {
    let mut search = Search {
        job,
        worker,
        distances: job.written(),
        window: job.spec.window(job.delta),
        buckets: job.spec.buckets_of_step(job.delta) as usize,
        kept: job.lists.own[worker.index].kept(),
        phase: 0,
        parity: 0,
        least_sent: UNREACHED,
        steps: 0,
        relaxed: 0,
        candidates: [(0, 0); CANDIDATES],
        gathered: 0,
    };
    search.begin();
    while search.step() {}
    search.end();
}

impl Search<'_> {
    fn begin(&mut self) {
        let lists = &self.job.lists;
        for block in lists.owners.blocks(self.worker.index, self.distances.len()) {
            self.distances[block].iter().for_each(|d| d.store(UNREACHED, Relaxed));
        }
        if self.worker.index == 0 {
            self.job.relaxed.store(0, Relaxed);
            lists.near.iter().for_each(|near| near.store(0, Relaxed));
            lists.next.iter().for_each(|next| next.store(u64::MAX, Relaxed));
        }
        let source = self.job.source;
        if let Some(first) = self.distances.get(source as usize)
            && lists.owners.of(source) == self.worker.index
        {
            first.store(0, Relaxed);
            self.kept.buckets[0].push((source, 0));
        }
        self.worker.meet();
    }

    fn end(&self) {
        self.job.relaxed.fetch_add(self.relaxed, Relaxed);
        if self.worker.index == 0 {
            self.job.steps.store(self.steps, Relaxed);
        }
        self.worker.meet();
    }

    /// Ends a phase, in which the counters of the next one were reset.
    fn meet(&mut self) {
        let next = (self.phase + 1) % 3;
        if self.worker.index == 0 {
            self.job.lists.near[next].store(0, Relaxed);
            self.job.lists.next[next].store(u64::MAX, Relaxed);
        }
        self.worker.meet();
        self.phase += 1;
    }

    /// Relaxes what is near and goes on to the nearest bucket that holds any; false if there is none.
    fn step(&mut self) -> bool {
        let (lists, parity) = (&self.job.lists, self.parity);
        let mut sending = lists.own[self.worker.index].sending(parity);
        sending.iter_mut().for_each(Vec::clear);
        let (near, present) = (&lists.near[self.phase % 3], self.present());
        let count: usize = self.kept.buckets[present.clone()].iter().map(Vec::len).sum();
        near.fetch_add(count as u64, Relaxed);
        for bucket in present {
            while !self.kept.buckets[bucket].is_empty() {
                let kept = &mut *self.kept;
                std::mem::swap(&mut kept.present, &mut kept.buckets[bucket]);
                self.relax_present(&mut sending);
                if !self.job.spec.is_fused() {
                    break;
                }
            }
        }
        drop(sending);
        let nearest = self.nearest();
        let nearest = self.least_of_all(nearest);
        self.parity = 1 - parity;
        self.note(near.load(Relaxed));
        self.take_in(parity);
        nearest.is_some_and(|bucket| self.go_on(bucket as u32))
    }

    /// The buckets of this step; the last one, which holds the rest, is a step by itself.
    fn present(&self) -> Range<usize> {
        let (first, last) = (self.window.bucket() as usize, self.window.last() as usize);
        first..(first + self.buckets).min(last).max(first + 1)
    }

    /// The nearest bucket that this worker has or that it has sent anything for.
    fn nearest(&mut self) -> Option<u64> {
        let own =
            (self.window.bucket()..=self.window.last()).find(|&k| !self.kept.buckets[k as usize].is_empty());
        let least = std::mem::replace(&mut self.least_sent, UNREACHED);
        let sent = (least != UNREACHED).then(|| self.window.bucket_of(least));
        own.into_iter().chain(sent).min().map(u64::from)
    }

    /// Counts this step, and keeps the size of its frontier.
    fn note(&mut self, count: u64) {
        if let (0, Some(slot)) = (self.worker.index, record::slot(self.steps)) {
            self.job.record[slot].store(count, Relaxed);
        }
        self.steps += u64::from(count > 0);
    }

    /// Takes in what was sent to this worker.
    fn take_in(&mut self, parity: usize) {
        for own in &self.job.lists.own {
            for &(vertex, through) in &own.sent(parity)[self.worker.index] {
                self.lower(vertex, through);
            }
        }
    }

    /// Goes on to a bucket; false if that is the last one and holds nothing.
    fn go_on(&mut self, bucket: u32) -> bool {
        if bucket == self.window.last() && bucket > 0 {
            return self.move_on();
        }
        // Those whose distance has fallen since are dropped when they are relaxed.
        self.window.go_on(bucket);
        true
    }

    /// Moves the window to the least distance in the last bucket, and distributes what that holds.
    fn move_on(&mut self) -> bool {
        let kept = &mut *self.kept;
        std::mem::swap(&mut kept.present, &mut kept.buckets[self.window.last() as usize]);
        let mut all = std::mem::take(&mut kept.present);
        all.retain(|entry| self.stands(entry));
        let least = self.least_of_all(all.iter().map(|entry| entry.1.into()).min());
        if let Some(least) = least {
            self.window.move_to(least as u32);
            for entry in all.drain(..) {
                self.kept.buckets[self.window.bucket_of(entry.1) as usize].push(entry);
            }
        }
        self.kept.present = all;
        least.is_some()
    }

    /// The least of what the workers propose.
    fn least_of_all(&mut self, proposed: Option<u64>) -> Option<u64> {
        let next = &self.job.lists.next[self.phase % 3];
        if let Some(proposed) = proposed {
            next.fetch_min(proposed, Relaxed);
        }
        self.meet();
        Some(next.load(Relaxed)).filter(|&least| least != u64::MAX)
    }

    /// Relaxes the arcs that leave the present vertices.
    fn relax_present(&mut self, sending: &mut [Vec<Entry>]) {
        let mut entries = std::mem::take(&mut self.kept.present);
        // Lists are short, so the first entries are prefetched, too, before any is relaxed.
        let ahead = AHEAD.min(entries.len());
        for at in 0..entries.len() + ahead {
            self.fetch(&entries, at);
            if let Some(&entry) = entries.get(at.wrapping_sub(ahead)) {
                self.gather(entry, sending);
            }
        }
        self.lower_all(sending);
        entries.clear();
        self.kept.present = entries;
    }

    /// Fetches what the entry here will need, and those before it that are not looked at yet.
    #[inline(always)]
    fn fetch(&self, entries: &[Entry], at: usize) {
        let graph = &self.job.graph;
        if let Some(&(vertex, _)) = entries.get(at) {
            prefetch(&raw const graph.starts[vertex as usize]);
            prefetch(&raw const self.distances[vertex as usize]);
        }
        if let Some(&(vertex, _)) = entries.get(at.wrapping_sub(ARCS_LATER)) {
            let arcs = graph.leaving(vertex as usize);
            if arcs.len() > ARCS_OF_LINE {
                (0..LINES).for_each(|line| prefetch(arcs.as_ptr().wrapping_add(line * ARCS_OF_LINE)));
            } else {
                // It may end in a line that it does not begin in.
                [arcs.first(), arcs.last()].into_iter().flatten().for_each(|arc| prefetch(arc));
            }
        }
        if let Some(entry) = entries.get(at.wrapping_sub(TARGETS_LATER)) {
            let arcs = graph.leaving(entry.0 as usize);
            if arcs.len() > ARCS_OF_LINE && self.stands(entry) {
                let distance = |arc: &WeightedArc| &raw const self.distances[arc.target as usize];
                arcs.iter().take(TARGETS).for_each(|arc| prefetch_l2(distance(arc)));
            }
        }
    }

    /// Gathers the vertices to which a vertex may be a shorter way. Nothing depends on whether it is: each is written, and
    /// counts only if so.
    #[inline(always)]
    fn gather(&mut self, entry: Entry, sending: &mut [Vec<Entry>]) {
        let arcs = if self.stands(&entry) { self.job.graph.leaving(entry.0 as usize) } else { &[] };
        self.relaxed += arcs.len() as u64;
        for part in arcs.chunks(PART) {
            if self.gathered > CANDIDATES - PART {
                self.lower_all(sending);
            }
            let mut gathered = self.gathered;
            for arc in part {
                let through = entry.1.saturating_add(arc.weight);
                let seen = self.distances[arc.target as usize].load(Relaxed);
                self.candidates[gathered % CANDIDATES] = (arc.target, through);
                gathered += usize::from(through < seen);
            }
            self.gathered = gathered;
        }
    }

    /// Lowers the distances of the worker's own vertices that were gathered, and sends the others.
    fn lower_all(&mut self, sending: &mut [Vec<Entry>]) {
        for at in 0..std::mem::take(&mut self.gathered) {
            let (vertex, through) = self.candidates[at];
            let owner = self.job.lists.owners.of(vertex);
            if owner == self.worker.index {
                self.lower(vertex, through);
            } else {
                sending[owner].push((vertex, through));
                self.least_sent = self.least_sent.min(through);
            }
        }
    }

    /// Lowers the distance of an own vertex, and puts it into its bucket if it came nearer. Nobody else writes it.
    #[inline(always)]
    fn lower(&mut self, vertex: u32, through: u32) {
        let at = &self.distances[vertex as usize];
        if through < at.load(Relaxed) {
            at.store(through, Relaxed);
            self.kept.buckets[self.window.bucket_of(through) as usize].push((vertex, through));
        }
    }

    /// True if an entry's distance still is its vertex's.
    fn stands(&self, &(vertex, distance): &Entry) -> bool {
        self.distances[vertex as usize].load(Relaxed) == distance
    }
}
