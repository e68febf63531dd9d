//! Ascending streams of which each access takes the next element of a random one.
//!
//! Equation, where the array exceeds the cache: T = n / interleaved(p, footprint), the profile's
//! rate of p streams side by side, between its footprints in log-log scale. It holds what the
//! cache can take in when a group of accesses goes to many lines, what becomes of rows of memory
//! among p streams, and the translation buffers' reach when each stream has a page.
//!
//! In the cache, or without that rate: of the w accesses that are issued together, those of one
//! stream are neighbours: D = p(1 − (1 − 1/p)^w) streams (he2007 Eq. 7), each with w/D elements in a
//! row, make D·(1 + (w/D − 1)·z/l) requests of lines, each a random access that hits. The streams that
//! the rate was measured with leave lines in the first cache, where random partitions leave
//! none: reads make these requests in any case, at the same time as memory works.

use super::demand::Demand;
use super::machine::Machine;
use crate::model::Strided;
use crate::model::he2007::distinct;
use crate::primitives::{Access, Direction};

/// What an access in `p` streams asks for; `cached` where all arrays of the case stay in the
/// last cache. What it shares with other streams is not in it.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn partitions(machine: &Machine, access: &Access, p: u64, cached: bool) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let (n, z, w) = (access.count as f64, access.element as f64, machine.group() as f64);
    let streams = distinct(p as f64, w);
    let lines = streams * (1.0 + (w / streams - 1.0) * z / machine.line);
    let requests = n / w * lines * machine.hit(curve);
    let reads = access.direction == Direction::Read;
    match side_by_side(machine, access, p as f64).filter(|_| !cached) {
        Some(rate) if reads => Ok(Demand { first: requests, ..Demand::memory("partitions", n / rate) }),
        Some(rate) => Ok(Demand::memory("partitions", n / rate)),
        None => Ok(Demand { requests, ..Demand::default() }),
    }
}

/// Accesses per second of so many streams over the access's footprint.
fn side_by_side(machine: &Machine, access: &Access, p: f64) -> Option<f64> {
    let of_direction = machine.rates.interleaved.iter().filter(|s| s.direction == access.direction);
    let mut known: Vec<&Strided> = of_direction.collect();
    known.sort_by_key(|s| s.footprint);
    let footprint = access.footprint as f64;
    let next = known.partition_point(|s| (s.footprint as f64) < footprint);
    match (next.checked_sub(1).map(|i| known[i]), known.get(next)) {
        (Some(less), Some(more)) => {
            let size = |s: &Strided| (s.footprint as f64).ln();
            let share = (footprint.ln() - size(less)) / (size(more) - size(less));
            Some((less.rate.at(p).ln() * (1.0 - share) + more.rate.at(p).ln() * share).exp())
        }
        (None, Some(end)) => Some(end.rate.at(p)),
        (Some(end), None) => Some(end.rate.at(p)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::primitives::Order;

    fn writes(p: u64, footprint: u64, cached: bool) -> f64 {
        let access = access(Direction::Write, 1_000_000, footprint, Order::Partitions { partitions: p });
        let mut seconds = 0.0;
        on_toy(|toy| seconds = partitions(toy, &access, p, cached).expect("rates").seconds());
        seconds
    }

    #[test]
    fn the_rate_is_that_of_streams_side_by_side() {
        assert!(close(writes(1, 1 << 24, false), 1e6 / 8e9));
        assert!(close(writes(64, 1 << 24, false), 1e6 / 4e9));
        assert!(close(writes(64, 1 << 34, false), 1e6 / 1e9));
        // 2^27 lies in the middle between 2^24 and 2^30: the geometric mean of 4 and 1.
        assert!(close(writes(64, 1 << 27, false), 1e6 / 2e9));
    }

    /// In the cache 32 accesses to one stream make two requests of a line; to many streams 32.
    #[test]
    fn in_the_cache_lines_count() {
        let one = 1e6 / 32.0 * 2e-10;
        assert!(close(writes(1, 1 << 18, true), one * (1.0 + 31.0 / 16.0)));
        assert!(writes(1 << 40, 1 << 18, true) > 31.9 * one && writes(1 << 40, 1 << 18, true) <= 32.0 * one);
    }
}
