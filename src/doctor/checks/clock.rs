//! The clock that times samples.

use std::time::Instant;

use crate::doctor::{About, Check, Finding};
use crate::engine::environment::kernel::clock_source;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "clock",
    about: "cost and resolution of the clock that times samples; warns if either exceeds a microsecond",
    of: About::Measuring,
    examine: |_| judge(cost(), resolution(), &source()),
};

/// Number of timed pairs of clock readings.
const READINGS: u32 = 20_000;
/// Largest acceptable cost, in seconds: a hundredth of the shortest sample.
const MOST: f64 = 1e-6;

/// Seconds that a pair of readings takes.
fn cost() -> f64 {
    let began = Instant::now();
    for _ in 0..READINGS {
        std::hint::black_box(Instant::now().elapsed());
    }
    began.elapsed().as_secs_f64() / f64::from(READINGS)
}

/// The smallest step between two different readings, seconds.
fn resolution() -> f64 {
    let step = |_| {
        let began = Instant::now();
        let steps = std::iter::repeat_with(|| began.elapsed());
        steps.take(READINGS as usize).find(|step| !step.is_zero()).map_or(1.0, |step| step.as_secs_f64())
    };
    (0..100).map(step).fold(1.0, f64::min)
}

fn source() -> String {
    clock_source(&System::here()).unwrap_or_else(|| "unnamed".into())
}

fn judge(cost: f64, resolution: f64, source: &str) -> Finding {
    let text = format!(
        "{source}: {:.0} ns per pair of readings, steps of at most {:.0} ns",
        cost * 1e9,
        resolution * 1e9
    );
    match cost.max(resolution) > MOST {
        true => Finding::warning(text)
            .advice("choose a faster clock source (tsc, kvm-clock) at boot: clocksource=tsc"),
        false => Finding::ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_slow_clock_is_a_warning() {
        assert_eq!(judge(2e-6, 1e-9, "hpet").level, Level::Warning);
        assert_eq!(judge(2e-8, 1e-9, "tsc").level, Level::Ok);
        assert!(cost() > 0.0 && resolution() > 0.0);
    }
}
