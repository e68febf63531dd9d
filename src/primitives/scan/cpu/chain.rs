//! How workers learn what comes before their tiles.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::device::cpu::Worker;
use crate::primitives::scan::operator::Bits;

/// Turns before a waiting worker offers its CPU to others.
const SPINS: u32 = 1 << 14;

/// What a range comes to, and whether nothing before it matters any more.
#[derive(Clone, Copy, Debug)]
pub struct Total {
    pub value: Bits,
    pub begun: bool,
}

/// An element that one worker leaves for others, in a cache line of its own, and what it is.
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
    /// Prefix p of all executions is in place p mod 4. Whoever passes on prefix p has taken
    /// p − 1, whose maker had taken p − 2, so no place is overwritten before it was read.
    passed: [Place; 4],
    /// What each worker leaves for all.
    left: Vec<Place>,
    /// How many prefixes each worker has seen go by in executions before.
    seen: Vec<Place>,
}

impl Chain {
    /// For so many workers.
    pub fn new(workers: usize) -> Chain {
        let places = || (0..workers).map(|_| Place::default()).collect();
        Chain { passed: Default::default(), left: places(), seen: places() }
    }

    /// The number of the prefix before the first tile of an execution. All workers count alike.
    pub fn begin(&self, worker: Worker) -> usize {
        self.seen[worker.index].mark.load(Ordering::Relaxed) as usize
    }

    /// Ends an execution of so many tiles, before the workers meet.
    pub fn end(&self, worker: Worker, tiles: usize) {
        let seen = &self.seen[worker.index].mark;
        seen.store(seen.load(Ordering::Relaxed) + tiles as u64 + 1, Ordering::Relaxed);
    }

    /// Passes on prefix `p`; p is at least 1.
    pub fn pass_on(&self, p: usize, prefix: Bits) {
        self.passed[p % 4].put(p as u64, prefix);
    }

    /// Waits for prefix `p`, which the worker before passes on.
    pub fn take(&self, p: usize) -> Bits {
        let place = &self.passed[p % 4];
        let mut spins = 0;
        while place.mark.load(Ordering::Acquire) != p as u64 {
            spins += 1;
            if spins < SPINS { spin_loop() } else { std::thread::yield_now() }
        }
        place.get()
    }

    /// Leaves what a worker's part comes to, for when the workers have met.
    pub fn leave(&self, worker: Worker, total: Total) {
        self.left[worker.index].put(total.begun.into(), total.value);
    }

    /// What the parts of the workers before this one come to.
    pub fn before(&self, worker: Worker) -> impl Iterator<Item = Total> {
        self.left[..worker.index].iter().map(Place::total)
    }

    /// What the parts of the workers behind this one come to, from the last one on.
    pub fn behind(&self, worker: Worker) -> impl Iterator<Item = Total> {
        self.left[worker.index + 1..].iter().rev().map(Place::total)
    }
}
