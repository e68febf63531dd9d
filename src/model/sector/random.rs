//! Independent random accesses.
//!
//! Equation: T = n / rate(footprint), the profile's rate of random accesses of the same
//! direction and about the same element. It holds what the caches keep of the footprint, the
//! sector or the granule that each miss moves, the rows that memory opens, and the reach of the
//! translation buffers: it is looked up at the footprint of the one array, as only accesses to
//! that array need translations that are not at hand.
//!
//! A chunk of an array that other chunks have pushed out since it was last used is cold: each
//! of its granules misses once, where the rate was measured with the array visited over and
//! over. Of E = k(1 − (1 − 1/k)ⁿ) granules touched (he2007 Eq. 5) those count that would have
//! hit.

use super::demand::Demand;
use super::machine::Machine;
use crate::model::he2007::distinct;
use crate::primitives::{Access, Direction};

/// The term's name by direction.
pub fn term(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "random reads",
        Direction::Write => "random writes",
    }
}

/// What random accesses ask for; `cold` where other chunks come between two uses of this one.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn random(machine: &Machine, access: &Access, cold: bool) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let (n, footprint) = (access.count as f64, access.footprint as f64);
    let (hit, miss) = (machine.hit(curve), machine.miss(curve));
    let hits = machine.hits(curve, footprint);
    let mut missed = n * (1.0 - hits);
    if cold {
        let granule = if access.direction == Direction::Read { machine.fetch() } else { machine.sector };
        missed += hits * distinct(footprint / granule.max(access.element as f64), n);
    }
    let from_memory = missed.min(n) * (miss - hit).max(0.0);
    let all = n / curve.at(footprint);
    let warm = n * (1.0 - hits) * (miss - hit).max(0.0);
    // What the rate has beyond misses, also where a cache nearer than the last one hits.
    let requests = (all - warm).max(0.0);
    Ok(Demand { requests, ..Demand::memory(term(access.direction), from_memory) })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::primitives::Order;
    use proptest::prelude::*;

    fn seconds(direction: Direction, n: u64, footprint: u64, cold: bool) -> f64 {
        let access = access(direction, n, footprint, Order::Random);
        let mut seconds = 0.0;
        on_toy(|toy| seconds = random(toy, &access, cold).expect("rates").seconds());
        seconds
    }

    #[test]
    fn the_rate_is_the_profiles() {
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 18, false), 1e-4));
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 30, false), 1e-3));
        assert!(close(seconds(Direction::Write, 1_000_000, 1 << 30, false), 2e-3));
    }

    /// A million reads of a cold chunk of 256 KiB touch all its 4096 granules: 4096 misses
    /// for hits.
    #[test]
    fn a_cold_chunk_misses_each_granule_once() {
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 18, true), 1e-4 + 4096.0 * (1e-9 - 1e-10)));
        // Where all miss already, nothing more can.
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 30, true), 1e-3));
    }

    proptest! {
        #[test]
        fn time_grows_with_accesses_footprint_and_cold(
            n in 1..1u64 << 32, more in 0..1u64 << 32, f in 8..1u64 << 40, wider in 0..1u64 << 40, writes: bool,
        ) {
            let way = if writes { Direction::Write } else { Direction::Read };
            let least = seconds(way, n, f, false) * (1.0 - 1e-9);
            prop_assert!(least > 0.0 && least.is_finite());
            prop_assert!(seconds(way, n + more, f, false) >= least);
            prop_assert!(seconds(way, n, f + wider, false) >= least);
            prop_assert!(seconds(way, n, f, true) >= least);
        }
    }
}
