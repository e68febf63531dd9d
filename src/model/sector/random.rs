//! Independent random accesses, uniform and Zipf-distributed.
//!
//! Equation: T = n / rate(footprint), the profile's rate of random accesses of the same direction and about
//! the same element size. The rate includes cache hits, the sector or granule that each miss moves, memory
//! row activations, and the reach of the TLB. It is looked up at the footprint of the array, because only
//! accesses to that array miss the TLB; a pass that reads several arrays at random passes the footprint of all, which share the
//! last cache.
//!
//! An element of several sectors takes a request for each; memory fetches them in one granule.
//!
//! A chunk that other chunks have evicted since its last use is cold: each of its granules misses once,
//! whereas the rate was measured with an array visited repeatedly. Of the E = k(1 − (1 − 1/k)ⁿ) granules
//! touched (he2007 Eq. 5), those count that would have hit.
//!
//! On processors, loads also wait for lines of streams that come from other caches (see `streams`); stores do
//! not wait.
//!
//! A write that misses fetches its sector, and memory takes the sector back later. If the pass has just read the sector,
//! only the latter is left: the misses of reads of this element size are subtracted.
//!
//! Streams that are not marked as needed only once evict written lines, one line at a time. Let x be the
//! number of accesses per line between its last use and its eviction from an LRU cache of C bytes. Then
//! F(1 − e⁻ˣ) + s·(F/l)·x = C for s bytes of streams per access to F bytes; a share 1 − e⁻ˣ of the accesses
//! hits (Che et al. 2002). Hits are scaled by the ratio of this share to the share without streams. Lines that are
//! only read stay: passes of gathers show no such loss.
//!
//! *Zipf.* Rank r is drawn with probability proportional to r^−s, so the first m ranks receive the share
//! H(m) / H(N) of all draws, H(m) = Σ r^−s. The cache keeps the most popular elements; ranks are placed at
//! random, so each occupies a granule of its own: m = capacity / granule. All other draws are random accesses
//! to the whole footprint. Assumes that popularity alone determines which elements the cache keeps.

use super::demand::Demand;
use super::machine::Machine;
use crate::case::{Access, Direction};
use crate::model::he2007::distinct;

/// The term's name by direction.
pub fn term(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "random reads",
        Direction::Write => "random writes",
    }
}

/// The state of the cache that other accesses leave.
#[derive(Clone, Copy, Debug, Default)]
pub struct Beside {
    /// Whether other chunks are visited between two uses of this one.
    pub cold: bool,
    /// Bytes of streams per access.
    pub streams: f64,
    /// Whether the pass reads the sector before it writes to it.
    pub fetched: bool,
}

/// The demand of random accesses.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn random(machine: &Machine, access: &Access, beside: Beside) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let (n, footprint) = (access.count as f64, access.footprint as f64);
    let (hit, miss) = (machine.hit(curve), machine.miss(curve));
    let alone = machine.hits(curve, footprint);
    let hits = match access.direction {
        Direction::Read => alone,
        Direction::Write => alone * kept(machine, footprint, beside.streams),
    };
    let mut missed = n * (1.0 - hits);
    if beside.cold {
        let granule = if access.direction == Direction::Read { machine.fetch() } else { machine.sector };
        missed += hits * distinct(footprint / granule.max(access.element as f64), n);
    }
    let fetched = if beside.fetched {
        let reads = machine.random(Direction::Read, access.element)?;
        (machine.miss(reads) - machine.hit(reads)).max(0.0)
    } else {
        0.0
    };
    let from_memory = missed.min(n) * (miss - hit - fetched).max(0.0);
    let all = n / curve.at(footprint);
    let warm = n * (1.0 - alone) * (miss - hit).max(0.0);
    // The time beyond that of misses, also if a nearer cache than the last one hits.
    let more = machine.further_sectors(access.element) * n * hit;
    let requests = (all - warm).max(0.0) + more;
    Ok(Demand { requests, ..Demand::memory(term(access.direction), from_memory) })
}

/// Share of its hits that written memory keeps beside streams.
fn kept(machine: &Machine, footprint: f64, streams: f64) -> f64 {
    let capacity = machine.capacity;
    if streams <= 0.0 || capacity <= 0.0 {
        return 1.0;
    }
    let lines = (footprint / machine.line).max(1.0);
    let held = |x: f64| footprint * -f64::exp_m1(-x) + streams * lines * x;
    // `held` grows with x; at the upper end the streams alone fill the cache.
    let (mut low, mut high) = (0.0, capacity / (streams * lines));
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if held(middle) < capacity { low = middle } else { high = middle }
    }
    -f64::exp_m1(-low) / (capacity / footprint).min(1.0)
}

/// Share of the draws that go to the `m` first of `n` ranks.
pub fn zipf_share(m: f64, n: f64, exponent: f64) -> f64 {
    if m >= n { 1.0 } else { harmonic(m, exponent) / harmonic(n, exponent) }
}

/// Σ r^−s for r up to m: the first terms exactly, the others by the integral between the midpoints before the
/// first and after the last of them. O(1).
fn harmonic(m: f64, s: f64) -> f64 {
    const FIRST: u32 = 64;
    let whole = m.min(f64::from(FIRST)).floor();
    let first: f64 = (1..=whole as u32).map(|r| f64::from(r).powf(-s)).sum();
    if m <= f64::from(FIRST) {
        return first + (m - whole) * (whole + 1.0).powf(-s);
    }
    let (low, high) = (f64::from(FIRST) + 0.5, m + 0.5);
    let rest = if (s - 1.0).abs() < 1e-9 {
        (high / low).ln()
    } else {
        (high.powf(1.0 - s) - low.powf(1.0 - s)) / (1.0 - s)
    };
    first + rest
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::case::work::Order;
    use proptest::prelude::*;

    fn seconds(direction: Direction, n: u64, footprint: u64, cold: bool) -> f64 {
        beside(direction, n, footprint, Beside { cold, ..Beside::default() })
    }

    fn beside(direction: Direction, n: u64, footprint: u64, beside: Beside) -> f64 {
        let access = access(direction, n, footprint, Order::Random);
        let mut seconds = 0.0;
        on_toy(|toy| seconds = random(toy, &access, beside).expect("rates").seconds());
        seconds
    }

    #[test]
    fn the_rate_is_the_profiles() {
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 18, false), 1e-4));
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 30, false), 1e-3));
        assert!(close(seconds(Direction::Write, 1_000_000, 1 << 30, false), 2e-3));
    }

    /// A million reads of a cold chunk of 256 KiB touch all its 4096 granules: 4096 misses instead of hits.
    #[test]
    fn a_cold_chunk_misses_each_granule_once() {
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 18, true), 1e-4 + 4096.0 * (1e-9 - 1e-10)));
        // If all accesses miss already, a cold chunk adds nothing.
        assert!(close(seconds(Direction::Read, 1_000_000, 1 << 30, true), 1e-3));
    }

    /// 512 KiB in a cache of 1 MiB: 4096 lines. At x = 1 the written lines hold 1 − 1/e of them, which leaves
    /// 717 KiB for streams: 175 bytes per access.
    #[test]
    fn streams_push_out_what_is_written() {
        let (half, e) = (f64::from(1 << 19), f64::exp(-1.0));
        let streams = (2.0 * half - half * (1.0 - e)) / 4096.0;
        on_toy(|toy| assert!((kept(toy, half, streams) - (1.0 - e)).abs() < 1e-9));
        let of = |way, streams| beside(way, 1_000_000, 1 << 19, Beside { streams, ..Beside::default() });
        assert!(close(of(Direction::Write, streams), 1e-6 * (200.0 + e * 1800.0)));
        assert!(close(of(Direction::Read, streams), of(Direction::Read, 0.0)));
        assert!(of(Direction::Write, 1e-3) < of(Direction::Write, 0.0) * (1.0 + 1e-9));
    }

    /// Of the 1.8 ns by which a write that misses exceeds one that hits, a read of the sector has taken 0.9.
    #[test]
    fn a_sector_that_was_read_is_not_fetched_again() {
        let of = |way| beside(way, 1_000_000, 1 << 30, Beside { fetched: true, ..Beside::default() });
        assert!(close(of(Direction::Write), 1e-6 * (2000.0 - 900.0)));
    }

    #[test]
    fn the_sum_is_the_sum() {
        for s in [0.0, 0.5, 1.0, 1.5, 3.0] {
            for m in [1u32, 10, 64, 65, 1000, 100_000] {
                let sum: f64 = (1..=m).map(|r| f64::from(r).powf(-s)).sum();
                assert!((harmonic(f64::from(m), s) / sum - 1.0).abs() < 1e-4, "s {s}, m {m}");
            }
        }
    }

    proptest! {
        #[test]
        fn more_streams_keep_less(bits in 10.0..40.0f64, streams in 0.0..1e4f64, more in 0.0..1e4f64) {
            on_toy(|toy| {
                let of = |streams| kept(toy, bits.exp2(), streams);
                assert!((0.0..=1.0 + 1e-9).contains(&of(streams)) && of(streams + more) <= of(streams) + 1e-9);
            });
        }

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

        #[test]
        fn a_share_grows_with_the_ranks(m in 1.0..1e9f64, more in 1.0..1e9f64, n in 1.0..1e9f64, s in 0.0..4.0f64) {
            let few = zipf_share(m, n, s);
            prop_assert!((0.0..=1.0).contains(&few) && zipf_share(m + more, n, s) >= few - 1e-9);
        }
    }
}
