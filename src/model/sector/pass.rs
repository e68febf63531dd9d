//! One pass: dispatches each access to its term.

use super::demand::Demand;
use super::issue::{self, Groups};
use super::launch::starting;
use super::machine::Machine;
use super::multiprocessors::{on_chip, turns};
use super::partitions::{partitions, staged};
use super::pattern::pattern;
use super::random::{Beside, random, term, zipf_share};
use super::streams::{Stream, streams};
use super::strided_subset::{Taken, strided_subset};
use super::touched::Moves;
use crate::case::work::Order;
use crate::case::{Access, BlockCost, Concurrency, Direction, Pass};

/// A pass in the context of its case.
pub struct PassContext<'a> {
    pub machine: &'a Machine<'a>,
    pub pass: &'a Pass,
    /// Bytes of all arrays of the case: the data accessed between an access and its repetition in the next
    /// execution.
    pub all: f64,
    /// Number of blocks of threads that start one after another.
    pub blocks: Option<u64>,
    /// Cost of the blocks' on-chip work.
    pub cost: Option<&'a BlockCost>,
}

/// The demand of a pass.
///
/// # Errors
/// Names the figure that the profile lacks for one of its accesses.
pub fn demand(here: &PassContext) -> Result<Demand, String> {
    let mut streamed = Vec::new();
    let mut sum =
        Demand { first: here.issued()?, latency: here.waiting()?, depth: here.depth()?, ..Demand::default() };
    if let Some(blocks) = here.blocks {
        sum.blocks = starting(here.machine, here.pass, blocks)?;
    }
    for access in &here.pass.accesses {
        let (demand, stream) = here.of(access)?;
        sum = sum.and(demand);
        streamed.extend(stream);
    }
    let all: Vec<Stream> = streamed
        .iter()
        .map(|access| Stream {
            access,
            distance: here.distance(access),
            alone: access.order == Order::Sequential,
        })
        .collect();
    let streamed = streams(here.machine, &all)?;
    if here.machine.group() > 1 {
        sum.latency += here.scanned()?;
    } else if here.is_thin() {
        sum.depth += (here.scanned()? - streamed.seconds()).max(0.0);
    } else {
        let ahead = streamed.fetched_ahead();
        sum.requests += if here.reads_at_random() { ahead.first } else { 0.0 };
        return Ok(sum.and(ahead));
    }
    here.near_the_processor(sum.and(streamed))
}

impl PassContext<'_> {
    /// Adds the on-chip work of the blocks.
    fn near_the_processor(&self, sum: Demand) -> Result<Demand, String> {
        let Some(what) = self.cost else { return Ok(sum) };
        let largest = self.pass.accesses.iter().map(|access| access.footprint as f64).fold(0.0, f64::max);
        let mut sum = sum.and(on_chip(self.machine, what, largest)?);
        if what.blocks > 0 {
            sum.blocks = starting(self.machine, self.pass, what.blocks)?;
        }
        sum.turns = turns(self.machine, what, largest, &sum)?;
        Ok(sum)
    }

    /// The demand of an access besides streams, and the part of it that is a stream.
    fn of(&self, access: &Access) -> Result<(Demand, Option<Access>), String> {
        let machine = self.machine;
        match &access.order {
            Order::Sequential
                if access.bytes() > access.footprint && access.footprint as f64 <= self.private_bytes() =>
            {
                Ok((kept_near(machine, access)?, None))
            }
            Order::Sequential => Ok((Demand::default(), Some(access.clone()))),
            Order::Random | Order::Given => {
                let together = Access { footprint: self.shared_footprint(access), ..access.clone() };
                Ok((random(machine, &together, self.beside(access))?, None))
            }
            Order::Chunks { chunks } => chunks_of(machine, access, (*chunks).max(1)),
            Order::Zipf { exponent } => Ok((self.skewed(access, *exponent)?, None)),
            Order::Strided { stride, run } => {
                let taken = Taken::new(*stride, *run);
                Ok((strided_subset(machine, access, taken, self.distance(access))?, None))
            }
            Order::Partitions { partitions: p } => {
                let cached = self.all <= machine.capacity;
                partitions(machine, access, *p, cached).map(|(demand, stream)| (demand, Some(stream)))
            }
            Order::Staged { partitions: p, tile } => {
                let stream = Access { order: Order::Sequential, ..access.clone() };
                Ok((staged(machine, access, *p, *tile)?, Some(stream)))
            }
            Order::Pattern { indices, delta } => {
                self.moving(access, indices, &[*delta], false).map(|demand| (demand, None))
            }
            Order::Visits { indices, deltas, shuffled } => {
                self.moving(access, indices, deltas, *shuffled).map(|demand| (demand, None))
            }
        }
    }

    /// Bytes of the arrays that the pass reads at random if it reads this one so: they share the last cache.
    fn shared_footprint(&self, access: &Access) -> u64 {
        let shares = |a: &&Access| {
            a.order == Order::Random && a.direction == access.direction && a.array != access.array
        };
        match access.direction {
            Direction::Write => access.footprint,
            Direction::Read => {
                access.footprint + self.pass.accesses.iter().filter(shares).map(|a| a.footprint).sum::<u64>()
            }
        }
    }

    /// Bytes kept by a processor: its first cache, or at least the private memory of a tile.
    fn private_bytes(&self) -> f64 {
        self.machine.first.max(4096.0)
    }

    fn moving(
        &self,
        access: &Access,
        indices: &[u64],
        deltas: &[u64],
        shuffled: bool,
    ) -> Result<Demand, String> {
        if indices.is_empty() || deltas.is_empty() {
            return Err("a pattern without entries".to_owned());
        }
        let uses = (access.count / indices.len() as u64).max(1);
        let moves = Moves { indices, deltas, uses };
        if shuffled { self.shuffled(access, moves) } else { pattern(self.machine, access, moves) }
    }

    /// Uses in random order: each granule of a use is a random access.
    fn shuffled(&self, access: &Access, moves: Moves) -> Result<Demand, String> {
        let one = Moves { uses: 1, ..moves };
        let machine = self.machine;
        let unit = if access.direction == Direction::Read { machine.fetch() } else { machine.sector };
        let granules = one.touched((unit as u64 / access.element).max(1)).granules;
        let each = Access { count: (granules * moves.uses as f64) as u64, ..access.clone() };
        let groups = issue::groups(machine, &moves.first(4096), access.element);
        let mut demand = random(machine, &each, Beside::default())?;
        demand.first = access.count as f64 / machine.group() as f64
            * issue::seconds(machine, access.direction, &groups)?;
        Ok(demand)
    }

    /// Zipf draws: the cache keeps the most popular elements.
    fn skewed(&self, access: &Access, exponent: f64) -> Result<Demand, String> {
        let machine = self.machine;
        let curve = machine.random(access.direction, access.element)?;
        let unit = if access.direction == Direction::Read { machine.fetch() } else { machine.sector };
        let elements = access.footprint as f64 / access.element as f64;
        let popular = zipf_share(machine.capacity / unit.max(access.element as f64), elements, exponent);
        let hits = popular.max(machine.hits(curve, access.footprint as f64));
        let (n, hit, miss) = (access.count as f64, machine.hit(curve), machine.miss(curve));
        let from_memory = Demand::memory(term(access.direction), n * (1.0 - hits) * (miss - hit).max(0.0));
        let more = machine.further_sectors(access.element);
        Ok(Demand { requests: n * hit * (1.0 + more), ..from_memory })
    }

    /// Whether loads miss the first cache, which answers none while lines of streams enter it.
    fn reads_at_random(&self) -> bool {
        let random = |a: &Access| matches!(a.order, Order::Random | Order::Given | Order::Zipf { .. });
        self.pass.accesses.iter().any(|a| a.direction == Direction::Read && random(a))
    }

    /// Whether the pass takes only a part of the elements it walks over, and other passes take the rest.
    pub(super) fn is_thin(&self) -> bool {
        self.pass.accesses.iter().any(|a| matches!(a.order, Order::Strided { .. }))
    }

    /// The state of the cache that other accesses leave: other passes evict this pass's part of the randomly
    /// accessed array, and its own streams pass through. In a single pass, streams are marked as not needed
    /// again.
    fn beside(&self, random: &Access) -> Beside {
        let cold = self.is_thin() && self.all > self.machine.capacity;
        let streams = if cold { self.touches() - random.footprint as f64 } else { 0.0 };
        let reads =
            |a: &Access| a.direction == Direction::Read && a.array == random.array && a.order == random.order;
        let fetched = random.direction == Direction::Write && self.pass.accesses.iter().any(reads);
        Beside { cold, streams: streams.max(0.0) / (random.count as f64).max(1.0), fetched }
    }

    /// Seconds of indexed moves on processors that issue one access at a time. If both sides are indexed,
    /// each counts as half a move.
    fn issued(&self) -> Result<f64, String> {
        let one_by_one = |a: &&Access| a.concurrency == Concurrency::Indexed && self.machine.group() == 1;
        let mut led = self.pass.accesses.iter().filter(one_by_one).peekable();
        let Some(way) = led.peek().map(|first| first.direction) else { return Ok(0.0) };
        led.map(|a| Ok(0.5 * a.count as f64 * issue::moved(self.machine, way, a.element)?)).sum()
    }

    /// Bytes that the pass touches.
    fn touches(&self) -> f64 {
        let of = |a: &Access| match a.order {
            Order::Strided { stride, run } => Taken::new(stride, run).bytes(a, self.machine.fetch()),
            _ => a.footprint as f64,
        };
        self.pass.accesses.iter().map(of).sum()
    }

    /// Reuse distance in bytes: a pass among several scans its locations again in the next pass; everything
    /// else is reused in the next execution.
    pub(super) fn distance(&self, access: &Access) -> f64 {
        let again = self.is_thin() && access.order == Order::Sequential;
        if again { self.touches() } else { self.all }
    }
}

/// Parts (chunks) that are visited one after another, each in random order. A chunk that fits in a cache
/// leaves it whole, as a stream to memory; in the last cache each access is a request.
fn chunks_of(machine: &Machine, access: &Access, chunks: u64) -> Result<(Demand, Option<Access>), String> {
    let part = access.footprint / chunks;
    if part as f64 > machine.capacity {
        let alone = Access { footprint: part, ..access.clone() };
        return Ok((random(machine, &alone, Beside { cold: true, ..Beside::default() })?, None));
    }
    let cost = part as f64 <= machine.first;
    let curve = machine.random(access.direction, access.element)?;
    let sectors = 1.0 + machine.further_sectors(access.element);
    let requests = if cost { 0.0 } else { access.count as f64 * sectors * machine.hit(curve) };
    // However often a part is visited, it comes from memory once.
    let count = access.count.min(access.footprint / access.element.max(1));
    let stream = Access { order: Order::Sequential, count, ..access.clone() };
    Ok((Demand { requests, ..Demand::default() }, Some(stream)))
}

/// Stores and loads in a processor's own memory, contiguous. Where accesses are issued one by one, they are
/// the other side of a move.
fn kept_near(machine: &Machine, access: &Access) -> Result<Demand, String> {
    let group = machine.group() as f64;
    if machine.group() == 1 {
        return Ok(Demand::default());
    }
    let one = issue::seconds(machine, access.direction, &Groups::EASY)?;
    Ok(Demand { first: access.count as f64 / group * one, ..Demand::default() })
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_processors, on_toy};
    use super::*;

    /// Processors move indexed elements one by one, at 1.6e11 per second; each side counts as half a move.
    #[test]
    fn processors_move_what_is_led_one_by_one() {
        let reads = access(Direction::Read, 1000, 8000, Order::Sequential);
        let led = Access { concurrency: Concurrency::Indexed, ..reads.clone() };
        let first = |machine: &Machine, access: &Access| {
            let pass = Pass { times: 1, accesses: vec![access.clone()] };
            demand(&PassContext { machine, pass: &pass, all: 8000.0, blocks: None, cost: None })
                .expect("rates")
                .first
        };
        on_processors(|two| {
            assert!(close(first(two, &led), 500.0 / 1.6e11) && first(two, &reads) == 0.0);
        });
        on_toy(|toy| assert_eq!(first(toy, &led), 0.0));
    }

    /// A pass that takes one in 64 of 2^28 elements inspects 1e10 per second and reads them at 2.5e10. On a
    /// GPU this is part of the waiting; a processor does it before any move.
    #[test]
    fn processors_scan_before_they_move() {
        let n = 1 << 28;
        let scan = access(Direction::Read, n, 4 * n, Order::Sequential);
        let scan = Access { element: 4, ..scan };
        let moved = access(Direction::Write, n / 64, 8 * n, Order::Strided { stride: 64, run: 1.0 });
        let pass = Pass { times: 1, accesses: vec![scan, moved] };
        let of = |machine: &Machine| {
            let found = demand(&PassContext { machine, pass: &pass, all: 1e12, blocks: None, cost: None })
                .expect("rates");
            (found.latency, found.depth)
        };
        let (looked_at, read) = (n as f64 / 1e10, 4.0 * n as f64 / 1e11);
        on_processors(|two| assert!(close(of(two).1, looked_at - read) && of(two).0 == 0.0));
        on_toy(|toy| assert!(close(of(toy).0, looked_at) && of(toy).1 == 0.0));
    }

    /// Chunks in the first cache are a stream; in the last cache each access is a request besides; beyond it,
    /// all accesses miss.
    #[test]
    fn chunks_by_the_cache_that_holds_one() {
        let n = 1 << 24;
        on_toy(|toy| {
            let requests = |chunks| {
                let writes = access(Direction::Write, n, 8 * n, Order::Chunks { chunks });
                let (demand, stream) = chunks_of(toy, &writes, chunks).expect("rates");
                (demand.seconds(), stream.is_some())
            };
            assert_eq!(requests(1 << 11), (0.0, true));
            assert!(close(requests(1 << 8).0, n as f64 * 2e-10) && requests(1 << 8).1);
            assert!(close(requests(1).0, n as f64 * 2e-9) && !requests(1).1);
        });
    }
}
