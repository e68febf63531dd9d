//! Whose the vertices are, and the lists of vertices that workers keep and send to each other.

use std::ops::Range;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::inputs::mix::mix64;

/// A vertex and the distance that it had fallen to.
pub type Entry = (u32, u32);

/// Blocks of vertices for each worker, or up to twice as many. Larger blocks hold longer parts of paths where neighbours have
/// numbers near each other; more of them are shared more evenly, above all those of few vertices with most of the arcs.
const BLOCKS: usize = 16;
const BLOCKS_OF_CONNECTED: usize = 256;

/// The binary logarithm of the fewest vertices of a block, which share no cache line with others.
const LEAST: u32 = 6;

/// The workers that vertices belong to: of as many blocks as there are workers, each gets one.
pub struct Owners {
    shift: u32,
    /// The worker of each block.
    of_block: Vec<u16>,
}

impl Owners {
    /// The owners of `n` vertices, which may have many arcs each.
    pub fn new(n: usize, connected: bool, workers: usize) -> Owners {
        let blocks = if connected { BLOCKS_OF_CONNECTED } else { BLOCKS };
        let shift = (n / (blocks * workers)).checked_ilog2().unwrap_or(0).max(LEAST);
        let turned = |block: usize| block + mix64((block / workers) as u64) as usize % workers;
        let of_block = (0..=n >> shift).map(|block| (turned(block) % workers) as u16).collect();
        Owners { shift, of_block }
    }

    /// The vertices below `n` of a worker.
    pub fn blocks(&self, worker: usize, n: usize) -> impl Iterator<Item = Range<usize>> {
        let own = (0..).zip(&self.of_block).filter(move |(_, owner)| usize::from(**owner) == worker);
        own.map(move |(block, _): (usize, _)| block << self.shift..((block + 1) << self.shift).min(n))
    }

    /// The worker that a vertex belongs to.
    #[inline(always)]
    pub fn of(&self, vertex: u32) -> usize {
        self.of_block[(vertex >> self.shift) as usize].into()
    }
}

/// The lists in which a worker keeps its own vertices.
pub struct Kept {
    /// Those that wait, by bucket.
    pub buckets: Vec<Vec<Entry>>,
    /// Those that are relaxed at present; empty in between, and kept for its room.
    pub present: Vec<Entry>,
}

/// The lists of one worker.
#[repr(align(128))]
pub struct Own {
    /// Nobody else looks at it.
    kept: Mutex<Kept>,
    /// The entries that it has found for the vertices of each worker, in steps with even and odd numbers.
    sent: [RwLock<Vec<Vec<Entry>>>; 2],
}

/// The lists and counters that the workers of an execution share. Counters are used in one of three successive phases each
/// and reset in the one before.
pub struct Lists {
    pub own: Vec<Own>,
    pub owners: Owners,
    /// Vertices that are near.
    pub near: [AtomicU64; 3],
    /// The nearest bucket that holds any, or the least distance in the last one.
    pub next: [AtomicU64; 3],
}

impl Own {
    /// The lists of the worker's own vertices.
    pub fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries that the worker sends.
    pub fn sending(&self, parity: usize) -> RwLockWriteGuard<'_, Vec<Vec<Entry>>> {
        self.sent[parity].write().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entries that the worker has sent.
    pub fn sent(&self, parity: usize) -> RwLockReadGuard<'_, Vec<Vec<Entry>>> {
        self.sent[parity].read().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lists {
    /// Empty lists.
    pub fn new(owners: Owners, workers: usize, buckets: u32) -> Lists {
        let own = || Own {
            kept: Mutex::new(Kept { buckets: vec![Vec::new(); buckets as usize], present: Vec::new() }),
            sent: [(); 2].map(|()| RwLock::new(vec![Vec::new(); workers])),
        };
        Lists {
            own: (0..workers).map(|_| own()).collect(),
            owners,
            near: [const { AtomicU64::new(0) }; 3],
            next: [const { AtomicU64::new(u64::MAX) }; 3],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For all numbers of vertices, workers have about as many each, and no two the same cache line.
    #[test]
    fn vertices_are_shared_evenly() {
        let cases = [(1, 3), (100, 1), (1 << 20, 2), (1_000_003, 16)];
        for ((n, workers), connected) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
            let owners = Owners::new(n, connected, workers);
            let mut counts = vec![0; workers];
            (0..n as u32).for_each(|v| counts[owners.of(v)] += 1);
            let fair = n.div_ceil(workers);
            let blocks = (0..workers).map(|worker| owners.blocks(worker, n).map(|block| block.len()).sum());
            assert_eq!(blocks.collect::<Vec<usize>>(), counts, "{n} {workers}");
            let block = 1 << owners.shift;
            assert!(counts.iter().all(|count| fair.abs_diff(*count) <= block), "{n} {workers} {counts:?}");
            assert!(block >= 64 && block <= fair.max(64), "{n} {workers}");
        }
    }
}
