//! The steps of an execution. All workers see the same counts between two meetings, and so decide the same.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicUsize};

use super::Paths;
use super::lists::Entry;
use crate::device::cpu::memory::prefetch;
use crate::device::cpu::{Worker, part};
use crate::inputs::graph::UNREACHED;
use crate::primitives::sssp::record;
use crate::primitives::sssp::window::Window;

/// Entries of a list that a worker takes at a time.
const CHUNK: usize = 64;

/// A worker among others goes on alone with no more entries than this; more are shared.
const SMALL: usize = 2048;

/// How many entries ahead of the one that is looked at its row start and its distance are fetched, and then its first arcs.
/// The distances of targets need no fetching: they are loaded for many arcs at a time.
const AHEAD_START: usize = 8;
const AHEAD_ARCS: usize = 4;

/// Vertices that may be nearer than they were, gathered before any is: so the processor can look at the next arcs before it
/// knows what becomes of these, and guesses wrong less often.
const CANDIDATES: usize = 512;

/// One worker's part of an execution.
struct Search<'a> {
    job: &'a Paths,
    worker: Worker<'a>,
    distances: &'a [AtomicU32],
    window: Window,
    /// Which of its two lists is this step's frontier.
    parity: usize,
    /// Phases so far; each ends with a meeting.
    phase: usize,
    steps: u64,
    relaxed: u64,
    candidates: [Entry; CANDIDATES],
    gathered: usize,
    /// What it relaxes alone; kept for its room.
    alone: Vec<Entry>,
}

/// Executes a worker's part.
pub fn run(job: &Paths, worker: Worker) {
    let distances = job.written();
    let window = job.spec.window(job.delta);
    let mut search = Search {
        job,
        worker,
        distances,
        window,
        parity: 0,
        phase: 0,
        steps: 0,
        relaxed: 0,
        candidates: [(0, 0); CANDIDATES],
        gathered: 0,
        alone: Vec::new(),
    };
    search.begin();
    while search.step() {}
    search.end();
}

impl Search<'_> {
    fn begin(&mut self) {
        let own = &self.job.lists.own[self.worker.index];
        for d in &self.distances[part(self.distances.len(), self.worker.index, self.worker.count)] {
            d.store(UNREACHED, Relaxed);
        }
        [0, 1].iter().for_each(|&parity| own.frontier_mut(parity).clear());
        own.taken.iter().for_each(|taken| taken.store(0, Relaxed));
        if self.worker.index == 0 {
            self.job.relaxed.store(0, Relaxed);
            self.job.lists.next.iter().for_each(|next| next.store(u64::MAX, Relaxed));
        }
        self.worker.meet();
        if let (0, Some(first)) = (self.worker.index, self.distances.get(self.job.source as usize)) {
            first.store(0, Relaxed);
            own.frontier_mut(0).push((self.job.source, 0));
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
        self.job.lists.own[self.worker.index].taken[next].store(0, Relaxed);
        if self.worker.index == 0 {
            self.job.lists.next[next].store(u64::MAX, Relaxed);
        }
        self.worker.meet();
        self.phase += 1;
    }

    /// Relaxes the frontier or goes on to the next bucket; false if there is none.
    fn step(&mut self) -> bool {
        let lists = &self.job.lists;
        let frontier: Vec<_> = lists.own.iter().map(|own| own.frontier(self.parity)).collect();
        let count = frontier.iter().map(|list| list.len() as u64).sum();
        if count == 0 {
            drop(frontier);
            return self.go_on();
        }
        self.note(count);
        let own = &lists.own[self.worker.index];
        let mut buckets = own.buckets();
        for nth in 0..frontier.len() {
            let owner = (self.worker.index + nth) % frontier.len();
            self.relax_shared(&frontier[owner], &lists.own[owner].taken[self.phase % 3], &mut buckets);
        }
        if self.job.spec.is_fused() {
            self.relax_alone(&mut buckets);
        }
        drop(frontier);
        self.pass_on(&mut buckets);
        drop(buckets);
        self.meet();
        own.frontier_mut(self.parity).clear();
        self.parity = 1 - self.parity;
        self.steps += 1;
        true
    }

    /// Makes the worker's part of the next frontier of its present bucket.
    fn pass_on(&self, buckets: &mut [Vec<Entry>]) {
        let own = &self.job.lists.own[self.worker.index];
        std::mem::swap(&mut *own.frontier_mut(1 - self.parity), &mut buckets[self.window.bucket() as usize]);
    }

    /// Keeps the size of this step's frontier.
    fn note(&self, count: u64) {
        if let (0, Some(slot)) = (self.worker.index, record::slot(self.steps)) {
            self.job.record[slot].store(count, Relaxed);
        }
    }

    /// Relaxes chunks of a list, as long as other workers leave any.
    fn relax_shared(&mut self, list: &[Entry], taken: &AtomicUsize, buckets: &mut [Vec<Entry>]) {
        // Without a look first, workers would write to each other's counters in each step.
        while taken.load(Relaxed) < list.len() {
            let first = taken.fetch_add(CHUNK, Relaxed);
            if first < list.len() {
                self.relax_all(&list[first..(first + CHUNK).min(list.len())], buckets);
            }
        }
    }

    /// Relaxes what this worker has found near, until nothing is left or so much that others should have a share.
    fn relax_alone(&mut self, buckets: &mut [Vec<Entry>]) {
        let most = if self.worker.count == 1 { usize::MAX } else { SMALL };
        let (bucket, mut present) = (self.window.bucket() as usize, std::mem::take(&mut self.alone));
        while (1..=most).contains(&buckets[bucket].len()) {
            std::mem::swap(&mut present, &mut buckets[bucket]);
            self.relax_all(&present, buckets);
            present.clear();
        }
        self.alone = present;
    }

    /// Relaxes the arcs that leave vertices.
    fn relax_all(&mut self, entries: &[Entry], buckets: &mut [Vec<Entry>]) {
        for (at, &entry) in entries.iter().enumerate() {
            self.fetch(entries, at);
            self.gather(entry, buckets);
        }
        self.lower_all(buckets);
    }

    /// Fetches what the entries behind one will need.
    #[inline(always)]
    fn fetch(&self, entries: &[Entry], at: usize) {
        let graph = &self.job.graph;
        if let Some(&(vertex, _)) = entries.get(at + AHEAD_START) {
            prefetch(&raw const graph.starts[vertex as usize]);
            prefetch(&raw const self.distances[vertex as usize]);
        }
        if let Some(&(vertex, _)) = entries.get(at + AHEAD_ARCS) {
            prefetch(graph.arcs.as_ptr().wrapping_add(graph.starts[vertex as usize] as usize));
        }
    }

    /// Gathers the vertices to which a vertex may be a shorter way. Nothing depends on whether it is: each is written, and
    /// counts only if so.
    #[inline(always)]
    fn gather(&mut self, entry: Entry, buckets: &mut [Vec<Entry>]) {
        let arcs = if self.stands(&entry) { self.job.graph.leaving(entry.0 as usize) } else { &[] };
        self.relaxed += arcs.len() as u64;
        for arc in arcs {
            let through = entry.1.saturating_add(arc.weight);
            let seen = self.distances[arc.target as usize].load(Relaxed);
            self.candidates[self.gathered % CANDIDATES] = (arc.target, through);
            self.gathered += usize::from(through < seen);
            if self.gathered == CANDIDATES {
                self.lower_all(buckets);
            }
        }
    }

    /// Lowers the distances of what was gathered, and puts each vertex that came nearer into its bucket; those that are
    /// near are in the present one.
    fn lower_all(&mut self, buckets: &mut [Vec<Entry>]) {
        for &(vertex, through) in &self.candidates[..std::mem::take(&mut self.gathered)] {
            if self.lower(&self.distances[vertex as usize], through) {
                buckets[self.window.bucket_of(through) as usize].push((vertex, through));
            }
        }
    }

    /// Lowers a distance; returns whether it was higher. A single worker needs no atomic operation.
    #[inline(always)]
    fn lower(&self, at: &AtomicU32, to: u32) -> bool {
        if self.worker.count == 1 {
            let higher = at.load(Relaxed) > to;
            if higher {
                at.store(to, Relaxed);
            }
            return higher;
        }
        at.fetch_min(to, Relaxed) > to
    }

    /// Whether an entry's distance still is its vertex's.
    fn stands(&self, &(vertex, distance): &Entry) -> bool {
        self.distances[vertex as usize].load(Relaxed) == distance
    }

    /// Makes a frontier of the next bucket that anybody has.
    fn go_on(&mut self) -> bool {
        let own = &self.job.lists.own[self.worker.index];
        let next = &self.job.lists.next[self.phase % 3];
        let last = self.window.last();
        let mut buckets = own.buckets();
        let nearest = (self.window.bucket() + 1..last).find(|&bucket| !buckets[bucket as usize].is_empty());
        let farthest =
            || buckets[last as usize].iter().filter(|entry| self.stands(entry)).map(|entry| entry.1).min();
        let proposed = match nearest {
            Some(bucket) => Some(u64::from(bucket) << 32),
            None if last == 0 => None,
            None => farthest().map(|least| u64::from(last) << 32 | u64::from(least)),
        };
        if let Some(proposed) = proposed {
            next.fetch_min(proposed, Relaxed);
        }
        self.meet();
        let next = next.load(Relaxed);
        if next == u64::MAX {
            buckets.iter_mut().for_each(Vec::clear);
            return false;
        }
        let (bucket, least) = ((next >> 32) as u32, next as u32);
        if bucket == last {
            self.window.move_to(least);
            self.distribute(&mut buckets);
        } else {
            // Those whose distance has fallen since are dropped when they are relaxed.
            self.window.go_on(bucket);
        }
        self.pass_on(&mut buckets);
        drop(buckets);
        self.meet();
        self.parity = 1 - self.parity;
        true
    }

    /// Distributes what the last bucket holds, after the window has moved.
    fn distribute(&self, buckets: &mut [Vec<Entry>]) {
        let last = self.window.last() as usize;
        for entry in std::mem::take(&mut buckets[last]) {
            if self.stands(&entry) {
                buckets[self.window.bucket_of(entry.1) as usize].push(entry);
            }
        }
    }
}
