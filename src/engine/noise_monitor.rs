//! Observation of the machine around a measurement.

pub mod children;
mod clock;
mod window;

use std::time::Instant;

use self::clock::Clock;
use self::window::{Moment, Window};
use crate::device::cpu::affinity;
use crate::files;
use crate::stats::noise::Conditions;

/// Observes the machine before and after a round of a case.
pub trait Watch {
    /// Called right before the preparation.
    fn begin(&mut self);

    /// Called after a pause in the middle of a round, to discard the observations so far.
    fn begin_anew(&mut self) {
        self.begin();
    }

    /// Called right after the last sample; returns the conditions since [`begin`](Watch::begin).
    fn end(&mut self) -> Conditions;
}

/// Observes the CPUs of the inherited affinity mask: their load from other processes, and their clock. Every
/// process but this one and the peers that it runs counts as background load, including its own client: a screen
/// redrawn while a sample is timed disturbs it like any other process.
#[derive(Debug)]
pub struct Machine {
    cpus: Vec<usize>,
    started: Instant,
    window: Window,
    clock: Option<Clock>,
}

impl Machine {
    /// Starts the thread that measures the clock.
    pub fn new() -> Machine {
        let cpus = affinity::allowed();
        let clock = cpus.first().and_then(|&cpu| Clock::start(cpu));
        let window = Window::new(cpus.len());
        Machine { cpus, started: Instant::now(), window, clock }
    }

    fn now(&self) -> Option<Moment> {
        let text = files::system("/proc/stat")?;
        let cpus = cpu_time(&text, &self.cpus, ticks_per_second()?)?;
        Some(Moment {
            at: self.started.elapsed().as_secs_f64(),
            cpus,
            own: own_seconds()? + children::seconds(),
        })
    }
}

impl Default for Machine {
    fn default() -> Self {
        Machine::new()
    }
}

impl Watch for Machine {
    fn begin(&mut self) {
        let now = self.now();
        self.window.begin(now);
    }

    fn begin_anew(&mut self) {
        self.window.begin(None);
        self.begin();
    }

    fn end(&mut self) -> Conditions {
        // Read the clock first, while the CPU still runs as it did during the samples.
        let clock = self.clock.as_ref().and_then(Clock::gigahertz);
        let load = self.now().and_then(|now| self.window.end(now));
        Conditions {
            steal: load.map(|load| load.steal),
            background: load.map(|load| load.background),
            clock,
            ..Conditions::default()
        }
    }
}

/// Seconds since boot, summed over several CPUs. The kernel reports them in ticks of 10 ms, each rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// All accounted time.
    pub all: f64,
    /// Idle time, including waiting for I/O.
    pub idle: f64,
    /// Steal time: the hypervisor ran something else.
    pub stolen: f64,
}

/// Sums the lines of these CPUs (ascending); `None` if one of them has no line with the eight fields `user nice
/// system idle iowait irq softirq steal` (Linux proc(5)).
pub fn cpu_time(text: &str, cpus: &[usize], ticks_per_second: f64) -> Option<CpuTime> {
    let (mut sum, mut found) = (CpuTime::default(), 0);
    for line in text.lines() {
        let Some((cpu, fields)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' ')) else { continue };
        if !cpu.parse().is_ok_and(|cpu: usize| cpus.binary_search(&cpu).is_ok()) {
            continue;
        }
        // The two further fields (guest time) are already included in the first two.
        let ticks: Vec<f64> = fields.split_whitespace().take(8).map_while(|f| f.parse().ok()).collect();
        let [.., idle, iowait, _, _, steal] = ticks[..] else { return None };
        if ticks.len() < 8 {
            return None;
        }
        found += 1;
        sum.all += ticks.iter().sum::<f64>() / ticks_per_second;
        sum.idle += (idle + iowait) / ticks_per_second;
        sum.stolen += steal / ticks_per_second;
    }
    (found == cpus.len() && found > 0).then_some(sum)
}

/// Ticks per second in `/proc/stat`.
#[cfg(target_os = "linux")]
pub fn ticks_per_second() -> Option<f64> {
    // SAFETY: a plain query without pointers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

#[cfg(not(target_os = "linux"))]
pub fn ticks_per_second() -> Option<f64> {
    None
}

/// CPU seconds of all threads of this process, with nanosecond resolution.
pub fn own_seconds() -> Option<f64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the write and outlives the call.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    (answer == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_said_of_a_window_too_short_to_tell() {
        let mut machine = Machine::new();
        machine.begin();
        let seen = machine.end();
        assert_eq!((seen.steal, seen.background), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_tells_what_its_cpus_do() {
        let now = Machine::new().now().expect("/proc/stat has a line for each CPU of the mask");
        assert!(now.cpus.all > 0.0 && now.cpus.idle <= now.cpus.all, "{now:?}");
        assert!(now.own > 0.0);
    }

    const TEXT: &str = "\
cpu  100645 0 24328 298564 1990 0 138 160 0 0
cpu0 46992 0 12725 152352 764 0 11 81 0 0
cpu1 53653 7 11603 146212 1226 3 126 78 5 0
cpu10 1 1 1 1 1 1 1 1 1 1
intr 959533 0 0 0
ctxt 1
";

    #[test]
    fn the_lines_of_our_cpus_are_added_up() {
        let one = cpu_time(TEXT, &[1], 100.0).expect("it has a line");
        assert_eq!(one.idle, 1474.38);
        assert_eq!(one.stolen, 0.78);
        assert_eq!(one.all, 2129.08, "time of guests is in the user's already");
        let both = cpu_time(TEXT, &[0, 1], 100.0).expect("lines");
        assert!((both.stolen - 1.59).abs() < 1e-9, "{both:?}");
    }

    #[test]
    fn what_has_no_line_of_its_own_is_not_told() {
        assert_eq!(cpu_time(TEXT, &[0, 2], 100.0), None);
        assert_eq!(cpu_time("", &[0], 100.0), None);
        assert_eq!(cpu_time("cpu0 1 2 3 4 5 6 7\n", &[0], 100.0), None, "an old kernel without steal");
        assert_eq!(cpu_time(TEXT, &[], 100.0), None);
    }
}
