//! What an execution takes besides its work.
//!
//! Equation: T = max(launch + depth, Σ passes max(pass, start + work)). Launches go ahead while the device
//! works, so what an empty execution takes bounds from below and is not added; what is added
//! is `start`, in which a kernel begins and ends while nothing else can work. Source: the
//! profile's `launch` and `pass`; the kernels of patterns are longer, and take `pattern` in launch's place, less
//! the latency of the word from the last cache that is part of it (first caches are empty when a kernel
//! begins), for `depth` has that of the words read; `start` is what is left of the times of copies in the cache when
//! they are drawn out to no bytes (`Machine::start`).

use super::machine::Machine;
use crate::case::Work;
use crate::case::work::Order;

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
    ///
    /// # Errors
    /// A profile with `pattern` and without a latency.
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

    /// Seconds of a pass whose work takes so long.
    pub fn around(&self, work: f64) -> f64 {
        (self.start + work).max(self.pass)
    }
}

/// A footprint of so many first caches lies in the next one.
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

    /// A pattern's 3e-7 s have 4e-8 s for a word 4 · 64 KiB away.
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
        let pattern = Order::Pattern { indices: vec![0], delta: 1 };
        assert!(close(of(pattern), 2.6e-7));
    }
}
