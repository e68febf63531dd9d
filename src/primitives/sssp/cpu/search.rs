//! The steps of an execution. All workers see the same counts between two meetings, and so decide the same.

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use super::Paths;
use super::lists::Entry;
use crate::device::cpu::{Worker, part};
use crate::inputs::graph::UNREACHED;
use crate::primitives::sssp::window::Window;

/// Entries of the frontier that a worker takes at a time.
const CHUNK: usize = 64;

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
}

/// Executes a worker's part.
pub fn run(job: &Paths, worker: Worker) {
    let distances = job.written();
    let window = job.spec.window(job.delta);
    let mut search = Search { job, worker, distances, window, parity: 0, phase: 0, steps: 0, relaxed: 0 };
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
        if self.worker.index == 0 {
            self.job.relaxed.store(0, Relaxed);
            self.job.lists.taken.iter().for_each(|taken| taken.store(0, Relaxed));
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
        if self.worker.index == 0 {
            let next = (self.phase + 1) % 3;
            self.job.lists.taken[next].store(0, Relaxed);
            self.job.lists.next[next].store(u64::MAX, Relaxed);
        }
        self.worker.meet();
        self.phase += 1;
    }

    /// Relaxes the frontier or goes on to the next bucket; false if there is none.
    fn step(&mut self) -> bool {
        let lists = &self.job.lists;
        let frontier: Vec<_> = lists.own.iter().map(|own| own.frontier(self.parity)).collect();
        let count = frontier.iter().map(|list| list.len()).sum();
        if count == 0 {
            drop(frontier);
            return self.go_on();
        }
        let own = &lists.own[self.worker.index];
        {
            let (mut next, mut buckets) = (own.frontier_mut(1 - self.parity), own.buckets());
            loop {
                let first = lists.taken[self.phase % 3].fetch_add(CHUNK, Relaxed);
                if first >= count {
                    break;
                }
                let lists = frontier.iter().map(|list| list.as_slice());
                for &entry in range(lists, first, (first + CHUNK).min(count)) {
                    self.relax(entry, &mut next, &mut buckets);
                }
            }
        }
        drop(frontier);
        self.meet();
        own.frontier_mut(self.parity).clear();
        self.parity = 1 - self.parity;
        self.steps += 1;
        true
    }

    /// Relaxes the arcs that leave a vertex.
    #[inline(always)]
    fn relax(&mut self, (vertex, distance): Entry, next: &mut Vec<Entry>, buckets: &mut [Vec<Entry>]) {
        if self.distances[vertex as usize].load(Relaxed) != distance {
            return;
        }
        let (arcs, limit) = (self.job.graph.leaving(vertex as usize), self.window.limit());
        self.relaxed += arcs.len() as u64;
        for arc in arcs {
            let (at, through) = (&self.distances[arc.target as usize], distance.saturating_add(arc.weight));
            if through >= at.load(Relaxed) || !self.lower(at, through) {
                continue;
            }
            let to = if through < limit {
                &mut *next
            } else {
                &mut buckets[self.window.bucket_of(through) as usize]
            };
            to.push((arc.target, through));
        }
    }

    /// Lowers a distance; returns whether it was higher. A single worker needs no atomic operation.
    #[inline(always)]
    fn lower(&self, at: &AtomicU32, to: u32) -> bool {
        if self.worker.count == 1 {
            at.store(to, Relaxed);
            return true;
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
        let entries = std::mem::take(&mut buckets[bucket as usize]);
        if bucket == last {
            self.window.move_to(least)
        } else {
            self.window.go_on(bucket)
        }
        let (limit, mut frontier) = (self.window.limit(), own.frontier_mut(1 - self.parity));
        for entry in entries.iter().filter(|entry| self.stands(entry)) {
            let to = if entry.1 < limit {
                &mut *frontier
            } else {
                &mut buckets[self.window.bucket_of(entry.1) as usize]
            };
            to.push(*entry);
        }
        drop((frontier, buckets));
        self.meet();
        self.parity = 1 - self.parity;
        true
    }
}

/// The entries from `first` to `end` of lists one behind another.
fn range<'a>(
    lists: impl Iterator<Item = &'a [Entry]>,
    first: usize,
    end: usize,
) -> impl Iterator<Item = &'a Entry> {
    let mut passed = 0;
    lists.flat_map(move |list| {
        let begin = passed;
        passed += list.len();
        let within = |at: usize| at.clamp(begin, begin + list.len()) - begin;
        &list[within(first)..within(end)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_run_across_lists() {
        let lists: [&[Entry]; 4] = [&[(0, 0), (1, 0)], &[], &[(2, 0)], &[(3, 0), (4, 0)]];
        let taken = |first, end| range(lists.into_iter(), first, end).map(|e| e.0).collect::<Vec<_>>();
        assert_eq!(taken(0, 5), [0, 1, 2, 3, 4]);
        assert_eq!((taken(1, 4), taken(2, 3), taken(4, 4)), (vec![1, 2, 3], vec![2], vec![]));
    }
}
