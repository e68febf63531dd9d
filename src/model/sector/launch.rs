//! Launch overhead of an execution.
//!
//! Equation: T = max(launch + depth, Σ passes max(pass, start + work)). Launches are queued while the device
//! works, so the time of an empty execution is a lower bound and is not added. Only `start` is added: the
//! time in which a kernel begins and ends and no other can work. Source: the profile's `launch` and `pass`.
//! Kernels of patterns take `pattern` instead of `launch`, less the latency of the one word that it contains,
//! which comes from the last cache (first caches are empty when a kernel begins), because `depth` accounts
//! for the words read. `start` is the time of cached copies extrapolated to zero bytes (`Machine::start`).

use super::machine::Machine;
use crate::case::Work;
use crate::case::work::Order;

/// Name of the term.
pub const TERM: &str = "launch";

/// Launch times of one case.
#[derive(Clone, Copy, Debug)]
pub struct Launch {
    /// Lower bound of an execution, seconds.
    pub execution: f64,
    /// Lower bound of a pass, seconds.
    pass: f64,
    start: f64,
}

impl Launch {
    /// The launch times for a case's passes; a pass has a lower bound only if there are several.
    ///
    /// # Errors
    /// A profile with `pattern` but without a latency.
    pub fn new(machine: &Machine, work: &Work) -> Result<Launch, String> {
        let passes: u64 = work.passes.iter().map(|pass| pass.times).sum();
        let launch = machine.rates.launch;
        let pass = if passes > 1 { machine.rates.pass.unwrap_or(launch) } else { 0.0 };
        let execution = match machine.rates.pattern.filter(|_| is_pattern(work)) {
            Some(pattern) => pattern - machine.latency(BEYOND * machine.first)?,
            None => launch,
        };
        Ok(Launch { execution, pass, start: machine.start() })
    }

    /// Seconds of a pass with `work` seconds of work.
    pub fn around(&self, work: f64) -> f64 {
        (self.start + work).max(self.pass)
    }
}

/// A footprint of this many first caches lies in the next cache.
const BEYOND: f64 = 4.0;

fn is_pattern(work: &Work) -> bool {
    let mut accesses = work.passes.iter().flat_map(|pass| &pass.accesses);
    accesses.any(|a| matches!(a.order, Order::Pattern { .. } | Order::Visits { .. }))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, toy};
    use super::*;
    use crate::case::{Direction, Pass};

    /// Of a pattern's 3e-7 s, 4e-8 s are the latency of a word in 4 · 64 KiB.
    #[test]
    fn the_kernels_of_patterns_have_a_launch_of_their_own() {
        let work = |order| Work {
            passes: vec![Pass { times: 1, accesses: vec![access(Direction::Read, 16, 128, order)] }],
            elements: 16,
            effective_bytes: 128,
            system_bytes: 128,
            footprint: 128,
            scratch: 0,
        };
        let mut profile = toy();
        let rates = profile.rates.get_mut("cuda").expect("a backend");
        rates.pattern = Some(3e-7);
        rates.latency = crate::model::Curve::new(vec![(65536.0, 2e-8), (262_144.0, 4e-8)]).ok();
        let machine = Machine::new(&profile, "cuda").expect("a backend");
        let of = |order| Launch::new(&machine, &work(order)).expect("a latency").execution;
        assert!(close(of(Order::Random), 1e-7));
        let pattern = Order::Pattern { indices: vec![0].into(), delta: 1 };
        assert!(close(of(pattern), 2.6e-7));
    }
}
