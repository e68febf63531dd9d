//! The clock of a CPU, timed: virtual machines have no `cpufreq` to ask, and where there
//! is one it tells what was asked for.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use crate::backend::cpu::affinity;

/// Additions in one burst: 30 µs at 3 GHz.
const ADDS: u32 = 96_000;
/// Additions in one turn of the loop.
const UNROLLED: u32 = 64;
/// Bursts in one reading. A burst during which the thread is interrupted or its CPU is
/// stolen is longer; the quickest of ten in a row was not.
const BURSTS: u32 = 10;

/// A thread pinned to one CPU that times it when asked. It is one on which cases run, so
/// that the reading is of a CPU that has just been working, not of one that wakes up.
#[derive(Debug)]
pub struct Clock {
    ask: Sender<()>,
    answers: Receiver<f64>,
}

impl Clock {
    /// `None` where there is no probe for this kind of processor, or no thread.
    pub fn start(cpu: usize) -> Option<Clock> {
        let ((ask, asked), (answer, answers)) = (mpsc::channel::<()>(), mpsc::channel());
        let serve = move || {
            affinity::pin(cpu);
            while asked.recv().is_ok() && answer.send(read()).is_ok() {}
        };
        burst(1)?;
        thread::Builder::new().name("clock".into()).spawn(serve).ok()?;
        Some(Clock { ask, answers })
    }

    /// The clock now, in GHz; takes 0.3 ms.
    pub fn gigahertz(&self) -> Option<f64> {
        self.ask.send(()).ok()?;
        let clock = self.answers.recv().ok()?;
        (clock.is_finite() && clock > 0.0).then_some(clock)
    }
}

/// GHz: additions over nanoseconds, one addition a cycle.
fn read() -> f64 {
    let bursts = (0..BURSTS).filter_map(|_| burst(ADDS / UNROLLED));
    f64::from(ADDS) / bursts.fold(f64::INFINITY, f64::min)
}

/// Nanoseconds of `turns` × [`UNROLLED`] additions, each of which waits for the one before
/// it; `None` where we know no way to write that.
///
/// Every processor of the last thirty years adds two registers in one cycle. Adding a
/// constant would not do: some of today's (Intel's Golden Cove among them) carry several
/// of those out in a cycle, at renaming.
fn burst(turns: u32) -> Option<f64> {
    let start = Instant::now();
    chain(turns).then(|| start.elapsed().as_secs_f64() * 1e9)
}

#[cfg(target_arch = "x86_64")]
fn chain(turns: u32) -> bool {
    // SAFETY: only registers that are named here change.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept {unrolled}",
            "add {sum}, {step}",
            ".endr",
            "dec {left:e}",
            "jnz 2b",
            unrolled = const UNROLLED,
            sum = inout(reg) 0u64 => _,
            step = in(reg) 1u64,
            left = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    true
}

#[cfg(target_arch = "aarch64")]
fn chain(turns: u32) -> bool {
    // SAFETY: only registers that are named here change.
    unsafe {
        std::arch::asm!(
            "2:",
            ".rept {unrolled}",
            "add {sum}, {sum}, {step}",
            ".endr",
            "subs {left:w}, {left:w}, #1",
            "b.ne 2b",
            unrolled = const UNROLLED,
            sum = inout(reg) 0u64 => _,
            step = in(reg) 1u64,
            left = inout(reg) turns => _,
            options(nomem, nostack),
        );
    }
    true
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn chain(_turns: u32) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The range is of processors, not of this one.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn the_clock_is_a_processors() {
        let clock = Clock::start(affinity::allowed()[0]).expect("a thread");
        let read = clock.gigahertz().expect("a reading");
        assert!((0.1..10.0).contains(&read), "{read} GHz");
    }
}
