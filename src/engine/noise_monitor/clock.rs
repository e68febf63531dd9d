//! The clock of a CPU, timed: virtual machines have no `cpufreq` to ask, and where there
//! is one it tells what was asked for.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use crate::device::cpu::affinity;

/// Additions in one burst: 10 µs at 3 GHz.
const ADDS: u32 = 32_000;
/// Additions in one turn of the loop.
const UNROLLED: u32 = 64;
/// Bursts in one reading. A burst during which the thread is interrupted or its CPU is
/// stolen is longer; the quickest of so many in a row was not.
const BURSTS: u32 = 30;
/// Readings while they are lower than the highest so far. On a loaded virtual machine one
/// in a thousand readings was 20% low, because the CPU was interrupted every few
/// microseconds for a millisecond on end; of 20,000 with as many repetitions as this, over
/// 3 ms, none was 5% low. A clock that is really held down stays so for longer.
const READINGS: u32 = 10;
/// As high as the highest: a clock pair's resolution is 0.3% of a burst.
const SAME: f64 = 0.99;

/// A thread pinned to one CPU that times it when asked. It is one on which cases run, so
/// that the reading is of a CPU that has just been working, not of one that wakes up. It
/// is of one core at work, whatever was before: those of many cores at once, which are
/// lower on most processors, are over when it is read.
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
            let mut highest = 0.0;
            while asked.recv().is_ok() && answer.send(settled(&mut highest, read)).is_ok() {}
        };
        burst(1)?;
        thread::Builder::new().name("clock".into()).spawn(serve).ok()?;
        Some(Clock { ask, answers })
    }

    /// The clock now, in GHz; takes 0.3 ms, and 3 ms where it is lower than it was.
    pub fn gigahertz(&self) -> Option<f64> {
        self.ask.send(()).ok()?;
        let clock = self.answers.recv().ok()?;
        (clock.is_finite() && clock > 0.0).then_some(clock)
    }
}

/// The highest of as many readings as it takes to come to `highest` of all so far, or of
/// [`READINGS`].
fn settled(highest: &mut f64, mut read: impl FnMut() -> f64) -> f64 {
    let mut clock = 0.0;
    for _ in 0..READINGS {
        clock = f64::max(clock, read());
        if clock >= SAME * *highest {
            break;
        }
    }
    *highest = f64::max(*highest, clock);
    clock
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

    #[test]
    fn a_reading_that_was_disturbed_is_repeated() {
        let mut highest = 0.0;
        let mut readings = [3.7, 3.0, 3.1, 3.69, 9.9].into_iter();
        let mut read = || readings.next().unwrap_or(0.0);
        assert_eq!(settled(&mut highest, &mut read), 3.7);
        assert_eq!(settled(&mut highest, &mut read), 3.69);
        let mut asked = 0;
        let mut slow = || {
            asked += 1;
            2.5
        };
        assert_eq!((settled(&mut highest, &mut slow), asked), (2.5, READINGS));
        assert_eq!(highest, 3.7);
    }

    /// The range is of processors, not of this one.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn the_clock_is_a_processors() {
        let clock = Clock::start(affinity::allowed()[0]).expect("a thread");
        let read = clock.gigahertz().expect("a reading");
        assert!((0.1..10.0).contains(&read), "{read} GHz");
    }
}
