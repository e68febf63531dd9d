//! What an execution takes besides its work.
//!
//! Equation: T = max(launch + depth, Σ passes max(pass, start + work)). Launches go ahead while the device
//! works, so what an empty execution takes bounds from below and is not added; what is added
//! is `start`, in which a kernel begins and ends while nothing else can work. Source: the
//! profile's `launch` and `pass`; `start` is what is left of the times of copies in the cache when
//! they are drawn out to no bytes (`Machine::start`).

use super::machine::Machine;
use crate::primitives::Work;

/// Name of the term.
pub const TERM: &str = "launch";

/// Of one case.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Seconds that an execution takes at least.
    pub execution: f64,
    /// Seconds that a pass takes at least.
    pass: f64,
    start: f64,
}

impl Launch {
    /// Of a case's passes: only where there are several does each have a least time.
    pub fn new(machine: &Machine, work: &Work) -> Launch {
        let passes: u64 = work.passes.iter().map(|pass| pass.times).sum();
        let launch = machine.rates.launch;
        let pass = if passes > 1 { machine.rates.pass.unwrap_or(launch) } else { 0.0 };
        Launch { execution: launch, pass, start: machine.start() }
    }

    /// Seconds of a pass whose work takes so long.
    pub fn around(&self, work: f64) -> f64 {
        (self.start + work).max(self.pass)
    }
}
