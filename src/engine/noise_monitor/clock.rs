//! Measures the clock of a CPU: virtual machines have no `cpufreq`, and elsewhere it may report the requested
//! frequency.

use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Instant;

use crate::device::cpu::affinity;

/// Additions per burst: 10 µs at 3 GHz.
const ADDS: u32 = 32_000;
/// Additions per iteration of the loop.
const UNROLLED: u32 = 64;
/// Bursts per reading. Interrupts and steal time lengthen a burst; the fastest of this many consecutive bursts
/// is undisturbed.
const BURSTS: u32 = 30;
/// Most readings while they stay below the highest so far. On a loaded virtual machine one in a thousand
/// readings was 20% low, because the CPU was interrupted every few microseconds for a whole millisecond; with
/// this many repetitions, spread over 3 ms, none of 20,000 was 5% low. A throttled clock stays low for longer.
const READINGS: u32 = 10;
/// Fraction of the highest reading that counts as equal: the timer's resolution is 0.3% of a burst.
const SAME: f64 = 0.99;

/// A thread pinned to one CPU that measures its clock on request. It is one of the CPUs on which cases run, so
/// that the reading is of a CPU that was just working and not of one that wakes up. The reading is of a single
/// busy core: the lower all-core clock that most CPUs have under full load is over by then.
#[derive(Debug)]
pub struct Clock {
    ask: Sender<()>,
    answers: Receiver<f64>,
}

impl Clock {
    /// `None` if there is no probe for this architecture, or no thread can be started.
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

    /// The current clock in GHz. Takes 0.3 ms, or 3 ms if it is lower than before.
    pub fn gigahertz(&self) -> Option<f64> {
        self.ask.send(()).ok()?;
        let clock = self.answers.recv().ok()?;
        (clock.is_finite() && clock > 0.0).then_some(clock)
    }
}

/// The highest of several readings, taken until one reaches [`SAME`] × the highest ever seen, but at most
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

/// GHz: additions over nanoseconds, at one addition per cycle.
fn read() -> f64 {
    let bursts = (0..BURSTS).filter_map(|_| burst(ADDS / UNROLLED));
    f64::from(ADDS) / bursts.fold(f64::INFINITY, f64::min)
}

/// Nanoseconds taken by `turns` × [`UNROLLED`] dependent additions; `None` on an architecture without an
/// implementation.
///
/// Practically every CPU adds two registers in one cycle. Adding an immediate would not do: some cores,
/// such as Intel's Golden Cove, execute several of those per cycle at renaming.
fn burst(turns: u32) -> Option<f64> {
    let start = Instant::now();
    chain(turns).then(|| start.elapsed().as_secs_f64() * 1e9)
}

#[cfg(target_arch = "x86_64")]
fn chain(turns: u32) -> bool {
    // SAFETY: changes only the registers named here.
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
    // SAFETY: changes only the registers named here.
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

    /// A range that covers all CPUs.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn the_clock_is_a_processors() {
        let clock = Clock::start(affinity::allowed()[0]).expect("a thread");
        let read = clock.gigahertz().expect("a reading");
        assert!((0.1..10.0).contains(&read), "{read} GHz");
    }
}
