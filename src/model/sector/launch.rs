//! The starts of an execution, of its passes and of their blocks of threads.
//!
//! *Launch.* Equation: T = max(launch + depth, Σ passes max(pass, start + work)). Launches are queued while the
//! device works, so the time of an empty execution is a lower bound and is not added. Only `start` is added: the time
//! in which a kernel begins and ends and no other can work. Source: the profile's `launch` and `pass`. Kernels of
//! patterns take `pattern` instead of `launch`, less the latency of the one word that it contains, which comes from
//! the last cache (first caches are empty when a kernel begins), because `depth` accounts for the words read. `start`
//! is the time of cached copies extrapolated to zero bytes (`Machine::start`).
//!
//! *Blocks* of threads start one after another, one for each tile. Equation: T = blocks · τ + Σ bytes / (8 w) ·
//! cost(1), where w accesses form a group and cost(1) is that of a group of contiguous words. A processor holds as
//! many blocks as its threads allow, and each block has to be placed, find its tile and load its indices before its
//! first access. With little work per block this bounds the rate, whatever memory could deliver (Little's law applied
//! to blocks). The issue of the accesses is added to τ, each group at its lowest cost; while their misses are
//! pending, other blocks proceed. Source: the profile's `blocks`, calibrated with one word per thread. The term
//! vanishes if all blocks are resident at once.

use super::issue::{self, Groups};
use super::machine::Machine;
use crate::case::work::Order;
use crate::case::{Access, Direction, Pass, Work};

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

/// Bytes of the elements for which the profile has strided rates.
const WORD: f64 = 8.0;

/// Seconds in which the blocks of a pass start and issue its accesses.
///
/// # Errors
/// A profile without start rates of blocks.
pub fn starting(machine: &Machine, pass: &Pass, blocks: u64) -> Result<f64, String> {
    let scatters =
        pass.accesses.iter().any(|a| a.direction == Direction::Write && a.order != Order::Sequential);
    let direction = if scatters { Direction::Write } else { Direction::Read };
    let each = machine.rates.blocks.iter().find(|start| start.direction == direction);
    let each = each.ok_or("the profile does not say how fast blocks start; calibrate again")?.seconds;
    let issued: Result<f64, String> = pass.accesses.iter().map(|access| issued(machine, access)).sum();
    Ok(blocks as f64 * each + issued?)
}

/// Seconds to issue an access at the most bytes per wavefront.
fn issued(machine: &Machine, access: &Access) -> Result<f64, String> {
    let words = access.bytes() as f64 / WORD / machine.group() as f64;
    Ok(words * issue::seconds(machine, access.direction, &Groups::EASY)?)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy, toy};
    use super::*;

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

    /// 1000 blocks at 1 ns, or 2 ns if they scatter, and 32,000 accesses in groups of 32 at 0.1 ns.
    #[test]
    fn blocks_start_and_issue() {
        on_toy(|toy| {
            let pass = |direction, order| Pass {
                times: 1,
                accesses: vec![access(direction, 32_000, 1 << 20, order)],
            };
            let of = |direction, order| starting(toy, &pass(direction, order), 1000);
            assert!(close(of(Direction::Read, Order::Random).expect("a start"), 1e-6 + 1e-7));
            assert!(close(of(Direction::Write, Order::Sequential).expect("a start"), 1e-6 + 1e-7));
            assert!(close(of(Direction::Write, Order::Random).expect("a start"), 2e-6 + 1e-7));
        });
    }
}
