//! How workers receive the prefixes of their tiles.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::cpu::Worker;
use crate::primitives::scan::operator::Bits;

/// Spins before a waiting worker yields its CPU.
const SPINS: u32 = 1 << 14;

/// The total of a range, and whether a segment begins in it, so that no prefix matters any more.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    pub value: Bits,
    pub begun: bool,
}

/// An element that one worker leaves for others, in a cache line of its own, with a mark that identifies it.
#[repr(align(128))]
#[derive(Default)]
struct Place {
    mark: AtomicU64,
    value: [AtomicU64; 2],
}

impl Place {
    fn put(&self, mark: u64, value: Bits) {
        for (to, word) in self.value.iter().zip(value) {
            to.store(word, Ordering::Relaxed);
        }
        self.mark.store(mark, Ordering::Release);
    }

    fn get(&self) -> Bits {
        [0, 1].map(|k: usize| self.value[k].load(Ordering::Relaxed))
    }

    fn total(&self) -> Total {
        Total { value: self.get(), begun: self.mark.load(Ordering::Relaxed) == 1 }
    }
}

/// The prefixes on their way from tile to tile, and the totals of the workers' parts.
pub struct Chain {
    /// Prefix p, counted over all executions, is in place p mod 4. The worker that passes on prefix p has taken
    /// p − 1, whose maker had taken p − 2, so no place is overwritten before it is read.
    passed: [Place; 4],
    /// The total that each worker leaves for the others.
    left: Vec<Place>,
    /// Prefixes that have gone by in earlier executions, for each worker.
    seen: Vec<Place>,
}

impl Chain {
    /// A chain for `workers` workers.
    pub fn new(workers: usize) -> Chain {
        let places = || (0..workers).map(|_| Place::default()).collect();
        Chain { passed: Default::default(), left: places(), seen: places() }
    }

    /// The number of the prefix before the first tile of an execution. All workers count alike.
    pub fn begin(&self, worker: Worker) -> usize {
        self.seen[worker.index].mark.load(Ordering::Relaxed) as usize
    }

    /// Ends an execution of `tiles` tiles, before the workers meet.
    pub fn end(&self, worker: Worker, tiles: usize) {
        let seen = &self.seen[worker.index].mark;
        seen.store(seen.load(Ordering::Relaxed) + tiles as u64 + 1, Ordering::Relaxed);
    }

    /// Passes on prefix `p`; p is at least 1.
    pub fn pass_on(&self, p: usize, prefix: Bits) {
        self.passed[p % 4].put(p as u64, prefix);
    }

    /// Waits for prefix `p`, which the previous worker passes on.
    pub fn take(&self, p: usize) -> Bits {
        let place = &self.passed[p % 4];
        let mut spins = 0;
        while place.mark.load(Ordering::Acquire) != p as u64 {
            spins += 1;
            if spins < SPINS { spin_loop() } else { std::thread::yield_now() }
        }
        place.get()
    }

    /// Leaves the total of a worker's part, which others read after the workers have met.
    pub fn leave(&self, worker: Worker, total: Total) {
        self.left[worker.index].put(total.begun.into(), total.value);
    }

    /// The totals of the parts of the workers before this one.
    pub fn before(&self, worker: Worker) -> impl Iterator<Item = Total> {
        self.left[..worker.index].iter().map(Place::total)
    }

    /// The totals of the parts of the workers behind this one, starting with the last.
    pub fn behind(&self, worker: Worker) -> impl Iterator<Item = Total> {
        self.left[worker.index + 1..].iter().rev().map(Place::total)
    }
}
