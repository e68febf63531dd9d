//! Sequential reads and writes.
//!
//! Equation: with r and w bytes that come from beyond the cache and b = min(r, w), T = 2b / copy + (r − b) /
//! read + (w − b) / write: concurrent reads and writes run at the rate of a copy. Assumes that streams of any
//! number and element size behave like a copy of doubles. Source: the profile's `read`, `write`, `copy`, by
//! bytes of all arrays.
//!
//! A processor's first cache answers no accesses while lines enter and leave it: per byte of a stream from an
//! outer cache it is busy for the time of a copy there minus that of a copy in the first cache. This time
//! adds to the accesses that it answers; data from memory arrive slowly enough not to matter. A processor
//! prefetches streams while other loads wait, so all their time forms one resource, except in passes that
//! skip, which filter a block of locations before they move anything.

use super::demand::Demand;
use super::machine::Machine;
use crate::case::{Access, Direction};

/// A sequential access, and its reuse distance in bytes.
pub struct Stream<'a> {
    pub access: &'a Access,
    pub distance: f64,
    /// Whether its time in memory belongs to this term; else another term has it.
    pub alone: bool,
}

/// The joint demand of all sequential accesses of a pass.
///
/// # Errors
/// A profile without random accesses, whose request rate the streams share.
pub fn streams(machine: &Machine, all: &[Stream]) -> Result<Demand, String> {
    let sum = |direction: Direction, weight: &dyn Fn(&Stream) -> f64| -> f64 {
        let of_direction = all.iter().filter(|stream| stream.access.direction == direction);
        of_direction.map(|stream| stream.access.bytes() as f64 * weight(stream)).sum()
    };
    let distance = all.iter().map(|stream| stream.distance).fold(0.0, f64::max);
    let alone = |stream: &Stream| f64::from(u8::from(stream.alone));
    let missed = |stream: &Stream| alone(stream) * machine.share_from_memory(stream.distance);
    let [reads, writes] = [Direction::Read, Direction::Write].map(|way| sum(way, &|_| 1.0));
    let [far_reads, far_writes] = [Direction::Read, Direction::Write].map(|way| sum(way, &missed));
    let cache = side_by_side(machine, reads, writes, distance);
    // Streams alone take the time of their curves: the split into memory and requests must not exceed it.
    let memory = side_by_side(machine, far_reads, far_writes, f64::INFINITY).min(cache);
    let mut requests = 0.0;
    for way in [Direction::Read, Direction::Write] {
        let near = sum(way, &|stream| alone(stream) - missed(stream));
        if near > 0.0 {
            requests += near / machine.line * machine.hit(machine.random(way, 8)?);
        }
    }
    let cached = reads + writes - far_reads - far_writes;
    let first = if machine.group() == 1 { cached * machine.fill(distance) } else { 0.0 };
    Ok(Demand { first, cache, requests: requests.min(cache - memory), ..Demand::memory("streams", memory) })
}

/// Seconds to read and write these numbers of bytes.
fn side_by_side(machine: &Machine, reads: f64, writes: f64, distance: f64) -> f64 {
    let both = reads.min(writes);
    let [copy, read, write] = [&machine.rates.copy, &machine.rates.read, &machine.rates.write]
        .map(|curve| machine.per_byte(curve, distance.min(curve.points().last().map_or(1.0, |p| p.0))));
    2.0 * both * copy + (reads - both) * read + (writes - both) * write
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_processors, on_toy};
    use super::*;
    use crate::case::work::Order;

    fn far(reads: u64, writes: u64) -> f64 {
        let of = |direction, count: u64| access(direction, count, 8 * count, Order::Sequential);
        let all = [of(Direction::Read, reads), of(Direction::Write, writes)];
        let all: Vec<Stream> =
            all.iter().map(|access| Stream { access, distance: 1e9, alone: true }).collect();
        let mut seconds = 0.0;
        on_toy(|toy| seconds = streams(toy, &all).expect("rates").seconds());
        seconds
    }

    /// 8e8 bytes read at 1e11 take 8 ms; read and written together at 8e10, 20 ms.
    #[test]
    fn what_is_side_by_side_goes_as_a_copy() {
        assert!(close(far(100_000_000, 0), 8e-3) && close(far(0, 100_000_000), 8e-3));
        assert!(close(far(100_000_000, 100_000_000), 20e-3));
        assert!(close(far(300_000_000, 100_000_000), 20e-3 + 16e-3));
    }

    /// 200 kB from the second cache at 4e11 bytes per second, from the first at 8e11; 8 MB from memory do not
    /// occupy the first cache.
    #[test]
    fn lines_that_enter_a_processors_first_cache_take_it() {
        on_processors(|two| {
            let first = |count: u64| {
                let read = access(Direction::Read, count, 8 * count, Order::Sequential);
                let all = [Stream { access: &read, distance: 8.0 * count as f64, alone: true }];
                streams(two, &all).expect("rates").first
            };
            assert!(close(first(25_000), 200_000.0 * (1.0 / 4e11 - 1.0 / 8e11)));
            assert!(first(10_000) == 0.0 && first(1_000_000) < 1e-18);
        });
    }

    /// In the cache, a stream takes the time of its curve and requests one line at a time.
    #[test]
    fn in_the_cache_there_is_no_memory() {
        on_toy(|toy| {
            let read = access(Direction::Read, 10_000, 80_000, Order::Sequential);
            let demand =
                streams(toy, &[Stream { access: &read, distance: 1e5, alone: true }]).expect("rates");
            assert!(close(demand.cache, 80_000.0 / 4e11));
            assert!(close(demand.requests, 80_000.0 / 128.0 * 1e-10));
            assert_eq!(demand.memory, [("streams", 0.0)]);
        });
    }
}
