//! Mutual exclusion of timing and background work within the process: no background work starts while anything is
//! timed, and timing starts only once the background work in progress is done.
//!
//! There is one gate for the whole process, because everything on the host shares its CPUs and memory: compiling a
//! kernel disturbs a CPU case as much as a GPU case.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Threads that are timing or waiting to, and background tasks in progress.
struct Activity {
    timing: usize,
    working: usize,
}

static ACTIVITY: Mutex<Activity> = Mutex::new(Activity { timing: 0, working: 0 });
static CHANGED: Condvar = Condvar::new();

/// While this guard lives, no background work starts.
#[derive(Debug)]
#[must_use]
pub struct Timing(());

/// Guard of a background task; timing waits for its drop.
#[derive(Debug)]
#[must_use]
pub struct Working(());

/// Blocks new background work and waits until none is in progress. Reentrant for threads that are already
/// timing; must not be called by a background task.
pub fn timing() -> Timing {
    let mut activity = now();
    activity.timing += 1;
    drop(until(activity, |activity| activity.working > 0));
    Timing(())
}

/// Waits until nothing is timed, and starts a background task.
pub fn working() -> Working {
    let mut activity = until(now(), |activity| activity.timing > 0);
    activity.working += 1;
    Working(())
}

impl Drop for Timing {
    fn drop(&mut self) {
        now().timing -= 1;
        CHANGED.notify_all();
    }
}

impl Drop for Working {
    fn drop(&mut self) {
        now().working -= 1;
        CHANGED.notify_all();
    }
}

fn now() -> MutexGuard<'static, Activity> {
    ACTIVITY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits while `held` is true of the activity.
fn until(
    activity: MutexGuard<'static, Activity>,
    held: impl Fn(&Activity) -> bool,
) -> MutexGuard<'static, Activity> {
    CHANGED.wait_while(activity, |activity| held(activity)).unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::thread;

    use super::*;

    /// Two threads that time, each with a nested guard, beside two background threads.
    #[test]
    fn nothing_goes_on_beside_what_is_timed() {
        let (timed, worked) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let time = move || {
            for _ in 0..200 {
                let _outer = timing();
                let _inner = timing();
                timed.fetch_add(1, Ordering::SeqCst);
                assert_eq!(worked.load(Ordering::SeqCst), 0);
                thread::yield_now();
                assert_eq!(worked.load(Ordering::SeqCst), 0);
                timed.fetch_sub(1, Ordering::SeqCst);
            }
        };
        let work = move || {
            for _ in 0..200 {
                let _working = working();
                worked.fetch_add(1, Ordering::SeqCst);
                assert_eq!(timed.load(Ordering::SeqCst), 0);
                thread::yield_now();
                worked.fetch_sub(1, Ordering::SeqCst);
            }
        };
        // A panicking thread makes the scope panic.
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(time);
                scope.spawn(work);
            }
        });
    }
}
