//! Observation of the machine around a measurement.

pub mod children;
mod clock;
mod stat;
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
        let cpus = stat::parse(&text, &self.cpus, stat::ticks_per_second()?)?;
        Some(Moment {
            at: self.started.elapsed().as_secs_f64(),
            cpus,
            own: stat::own_seconds()? + children::seconds(),
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
}
