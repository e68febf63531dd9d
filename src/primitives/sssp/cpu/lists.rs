//! What the workers of an execution share: the frontiers, in a list for each worker, and what they agree upon.

use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A vertex and the distance that it had fallen to.
pub type Entry = (u32, u32);

/// The lists of one worker.
#[derive(Default)]
#[repr(align(128))]
pub struct Own {
    /// Entries of its part of the frontier that workers have taken.
    pub taken: [AtomicUsize; 3],
    /// Its part of this step's frontier and of the next one's, in turn.
    frontiers: [RwLock<Vec<Entry>>; 2],
    /// The buckets; the nearest stays empty. Nobody else looks at them.
    buckets: Mutex<Vec<Vec<Entry>>>,
}

/// The lists of all workers. Counters are used in one of three successive phases each and reset in the one before.
pub struct Lists {
    pub own: Vec<Own>,
    /// The bucket that comes next, above the least distance there.
    pub next: [AtomicU64; 3],
}

impl Own {
    /// The worker's part of a frontier, to be read.
    pub fn frontier(&self, parity: usize) -> RwLockReadGuard<'_, Vec<Entry>> {
        self.frontiers[parity].read().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker's part of a frontier, to be changed.
    pub fn frontier_mut(&self, parity: usize) -> RwLockWriteGuard<'_, Vec<Entry>> {
        self.frontiers[parity].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The worker's buckets.
    pub fn buckets(&self) -> MutexGuard<'_, Vec<Vec<Entry>>> {
        self.buckets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lists {
    /// Empty lists.
    pub fn new(workers: usize, buckets: u32) -> Lists {
        let own = || Own { buckets: Mutex::new(vec![Vec::new(); buckets as usize]), ..Own::default() };
        Lists { own: (0..workers).map(|_| own()).collect(), next: [const { AtomicU64::new(u64::MAX) }; 3] }
    }
}
