//! What is timed is alone in its process: work beside it waits until nothing is timed, and who times
//! something waits until the work beside it that has begun is done.
//!
//! There is one gate for the whole process, because the host's processors and memory are shared by
//! whatever runs on it: a kernel that is compiled disturbs a case of the processors as well as one of a GPU.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// How many time something now or wait to begin, and how many pieces of work go on beside.
struct Activity {
    timing: usize,
    working: usize,
}

static ACTIVITY: Mutex<Activity> = Mutex::new(Activity { timing: 0, working: 0 });
static CHANGED: Condvar = Condvar::new();

/// While it lives, no work begins beside.
#[derive(Debug)]
#[must_use]
pub struct Timing(());

/// A piece of work, which who times something waits for.
#[derive(Debug)]
#[must_use]
pub struct Working(());

/// Keeps work from beginning, and waits until none goes on. May be called by who times something
/// already; not by who works beside.
pub fn timing() -> Timing {
    let mut activity = now();
    activity.timing += 1;
    drop(until(activity, |activity| activity.working > 0));
    Timing(())
}

/// Waits until nothing is timed.
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

/// Waits for as long as this holds.
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

    /// Two who time in turn, one of them twice at a time, and two who work beside.
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
        // One that panics has the scope panic.
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(time);
                scope.spawn(work);
            }
        });
    }
}
