//! CPU time of our own child processes: a peer that is measured is no disturbance.

use std::sync::{Mutex, PoisonError};

/// Process ids of the children that run.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// A running child whose CPU time counts as ours, until this is dropped.
#[derive(Debug)]
pub struct Counted(u32);

impl Counted {
    /// Counts the CPU time of the child with this process id.
    pub fn new(id: u32) -> Counted {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).push(id);
        Counted(id)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        RUNNING.lock().unwrap_or_else(PoisonError::into_inner).retain(|id| *id != self.0);
    }
}

/// CPU seconds of all children: of those that have been waited for, and of counted ones that run.
pub fn seconds() -> f64 {
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    ended() + running.iter().filter_map(|id| seconds_of(*id)).sum::<f64>()
}

fn ended() -> f64 {
    // SAFETY: all bytes 0 are a valid `rusage`, which is written by the call and outlives it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::getrusage(libc::RUSAGE_CHILDREN, &mut usage) == 0).then_some(usage)
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 * 1e-6;
    usage.map_or(0.0, |usage| seconds(usage.ru_utime) + seconds(usage.ru_stime))
}

/// CPU seconds of all threads of another process; `None` if it has ended.
#[cfg(target_os = "linux")]
fn seconds_of(id: u32) -> Option<f64> {
    let mut clock = 0;
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: both calls write to a local variable that outlives them.
    let told = unsafe {
        libc::clock_getcpuclockid(libc::pid_t::try_from(id).ok()?, &mut clock) == 0
            && libc::clock_gettime(clock, &mut time) == 0
    };
    told.then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(not(target_os = "linux"))]
fn seconds_of(_id: u32) -> Option<f64> {
    None
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::{Duration, Instant};

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_child_counts_while_it_runs_and_once_it_has_ended() {
        let before = seconds();
        let mut child = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().expect("a shell");
        let counted = Counted::new(child.id());
        let start = Instant::now();
        while seconds() < before + 0.1 {
            assert!(start.elapsed() < Duration::from_secs(20), "its time is not counted");
            std::thread::sleep(Duration::from_millis(10));
        }
        child.kill().and_then(|()| child.wait().map(|_| ())).expect("it ends");
        drop(counted);
        assert!(seconds() >= before + 0.1);
    }
}
