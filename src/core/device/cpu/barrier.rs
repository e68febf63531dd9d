//! A spinning barrier, used between the passes of a method and before the clock starts.

use std::hint::spin_loop;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Spins before a waiting thread yields its CPU. Under steal time, the missing thread may be off its CPU for
/// milliseconds.
const SPINS: u32 = 1 << 14;

/// A reusable barrier for a fixed number of threads.
#[derive(Debug)]
pub struct Barrier {
    count: usize,
    arrived: AtomicUsize,
    generation: AtomicUsize,
}

impl Barrier {
    /// A barrier for `count` threads.
    pub fn new(count: usize) -> Barrier {
        Barrier { count, arrived: AtomicUsize::new(0), generation: AtomicUsize::new(0) }
    }

    /// Returns when all threads have called it. Their earlier writes are visible afterwards.
    pub fn wait(&self) {
        let generation = self.generation.load(Ordering::Acquire);
        if self.arrived.fetch_add(1, Ordering::AcqRel) + 1 == self.count {
            self.arrived.store(0, Ordering::Relaxed);
            self.generation.store(generation.wrapping_add(1), Ordering::Release);
            return;
        }
        let mut spins = 0;
        while self.generation.load(Ordering::Acquire) == generation {
            spins += 1;
            if spins < SPINS { spin_loop() } else { std::thread::yield_now() }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_passes_before_all_have_arrived() {
        let (barrier, arrived) = (Barrier::new(3), AtomicUsize::new(0));
        std::thread::scope(|s| {
            for _ in 0..3 {
                s.spawn(|| {
                    for round in 1..=200 {
                        arrived.fetch_add(1, Ordering::SeqCst);
                        barrier.wait();
                        assert_eq!(arrived.load(Ordering::SeqCst), 3 * round);
                        barrier.wait();
                    }
                });
            }
        });
    }
}
