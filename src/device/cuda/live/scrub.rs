//! Waiting for the driver to clear what was freed.
//!
//! Memory that goes back to the driver is overwritten in the background before anybody gets
//! it again, and whatever runs meanwhile has less of the memory's bandwidth: on an H200
//! (driver 580) a write that reaches 4.66 TB/s reached 4.23 for 2.7 ms after each GiB that
//! was freed (1, 4, 16, 32 and 64 GiB: 3, 11, 42, 80 and 175 ms), touched or not. An
//! allocation costs nothing of the kind. A lab that allocates anew for every round would
//! measure that for its first samples.

use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// What the wait allows for each GiB: half as much again as was measured.
const PER_GIB: Duration = Duration::from_millis(4);

/// When the memory that was freed so far is clear.
#[derive(Default)]
pub(super) struct Scrub {
    clear: Mutex<Option<Instant>>,
}

impl Scrub {
    /// `bytes` were freed just now.
    pub fn freed(&self, bytes: u64) {
        let mut clear = self.clear.lock().unwrap_or_else(PoisonError::into_inner);
        *clear = Some(clear_at(*clear, Instant::now(), bytes));
    }

    /// Returns when all of it is clear.
    pub fn wait(&self) {
        let clear = self.clear.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(left) = clear.and_then(|at| at.checked_duration_since(Instant::now())) {
            thread::sleep(left);
        }
    }
}

/// What was freed before is cleared first.
fn clear_at(before: Option<Instant>, now: Instant, bytes: u64) -> Instant {
    let takes = PER_GIB.mul_f64(bytes as f64 / f64::from(1 << 30));
    before.unwrap_or(now).max(now) + takes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_freed_is_cleared_one_after_the_other() {
        let now = Instant::now();
        let first = clear_at(None, now, 1 << 30);
        assert_eq!(first - now, PER_GIB);
        assert_eq!(clear_at(Some(first), now, 2 << 30) - now, 3 * PER_GIB);
        let later = now + Duration::from_secs(1);
        assert_eq!(clear_at(Some(first), later, 0), later);
    }

    #[test]
    fn the_wait_is_for_what_is_left() {
        let scrub = Scrub::default();
        scrub.wait();
        let start = Instant::now();
        scrub.freed(5 << 30);
        scrub.wait();
        assert!(start.elapsed() >= 5 * PER_GIB);
    }
}
