//! Ascending streams, where each access takes the next element of a random stream.
//!
//! Among n consecutive accesses, those to one stream are neighbours: D = p(1 − (1 − 1/p)ⁿ) streams (he2007
//! Eq. 7), each with r = n/D elements of z bytes in a row.
//!
//! *Reads.* One processor performs a tile of t accesses, and its first cache keeps their lines. The tile
//! requests D·(1 + (r − 1)·z/l) lines of l bytes, each a random access that hits the last cache. A single
//! stream would request t·z/l lines, which the rate of a stream includes; only the excess counts as requests.
//! The data come from memory once, as a stream. Each page must be translated when a tile first accesses it:
//! for the E = q(1 − (1 − 1/q)ᵗ) pages among the q pages of the streams, a first access costs the excess of a
//! random access to the footprint over a hit.
//!
//! *Writes* leave the first cache a group of w accesses at a time. A run of r elements that begins anywhere
//! in a sector of s bytes, e = s/z, touches 1 + (r − 1)/e sectors, (r − e + 1)/e of them whole; the others,
//! times D, are partial. Streams visited in turn, one element each, write no partial sectors for one stream,
//! w/2 for w/2 streams, and w for w streams (one per access of a group): between these, the time of an access
//! is interpolated in the number of partial sectors. Source: the profile's `interleaved` over the greatest
//! footprint, because other arrays evict the data that the cache would keep of a smaller one.
//!
//! *Staged* writes: a tile of t is sorted in the processor's own memory, so that a run has t/D elements and a
//! group of w falls on 1 + (w − 1)·D/t runs. The lines beyond those of a stream are requests; the partial
//! sectors at the ends of runs are merged in the cache.
//!
//! *Processors:* T = n / interleaved(p), which was measured with the locations and the other array included;
//! the streams of all of them are a separate resource.
//!
//! In the cache, or without `interleaved`: each line that a group touches is a request.

use super::demand::Demand;
use super::machine::Machine;
use crate::case::work::Order;
use crate::case::{Access, Direction};
use crate::model::Strided;
use crate::model::he2007::distinct;

/// Bytes of a page of a GPU's memory: the granularity at which its driver maps it.
const PAGE: f64 = 2097152.0;

/// Demand of an access in `p` streams, and the part of it that counts as a stream, in common with other
/// streams; `cached` if all arrays of the case stay in the last cache.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn partitions(
    machine: &Machine,
    access: &Access,
    p: u64,
    cached: bool,
) -> Result<(Demand, Access), String> {
    let p = p as f64;
    if cached {
        return Ok((in_cache(machine, access, p)?, access.clone()));
    }
    let tile = machine.rates.tile.filter(|_| access.direction == Direction::Read && machine.group() > 1);
    if let Some(tile) = tile {
        let stream = Access { order: Order::Sequential, ..access.clone() };
        return Ok((in_tiles(machine, access, p, tile as f64)?, stream));
    }
    let Some(known) = furthest(machine, access.direction) else {
        return Ok((in_cache(machine, access, p)?, access.clone()));
    };
    let each = if machine.group() > 1 { in_part(machine, access, known, p) } else { 1.0 / known.rate.at(p) };
    Ok((Demand::memory("partitions", access.count as f64 * each), access.clone()))
}

/// Demand of writes in `p` streams, sorted in tiles of `tile` accesses.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn staged(machine: &Machine, access: &Access, p: u64, tile: u64) -> Result<Demand, String> {
    let (w, tile) = (machine.group() as f64, (tile as f64).max(1.0));
    let runs = 1.0 + (w - 1.0) * distinct(p as f64, tile) / tile;
    let requests = more_lines(machine, access, runs, w)?;
    Ok(Demand { requests, ..Demand::default() })
}

/// Seconds for the lines of `runs` runs among each `of` accesses, beyond those of one stream.
fn more_lines(machine: &Machine, access: &Access, runs: f64, of: f64) -> Result<f64, String> {
    let curve = machine.random(access.direction, access.element)?;
    let alone = (access.element as f64 / machine.line).min(1.0);
    let more = runs * (1.0 - alone) - (1.0 - alone);
    Ok(access.count as f64 / of * more.max(0.0) * machine.hit(curve))
}

/// Demand of reads whose lines a first cache keeps for a tile.
fn in_tiles(machine: &Machine, access: &Access, p: f64, tile: f64) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let requests = more_lines(machine, access, distinct(p, tile), tile)?;
    let footprint = access.footprint as f64;
    let pages = distinct(p.min(footprint / PAGE).max(1.0), tile) - 1.0;
    let each = (1.0 / curve.at(footprint) - machine.hit(curve)).max(0.0);
    let translated = access.count as f64 / tile * pages.max(0.0) * each;
    Ok(Demand { requests, ..Demand::memory("partitions", translated) })
}

/// Demand where each line of a group is a request.
fn in_cache(machine: &Machine, access: &Access, p: f64) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let (n, z, w) = (access.count as f64, access.element as f64, machine.group() as f64);
    let streams = distinct(p, w);
    let lines = streams * (1.0 + (w / streams - 1.0) * z / machine.line);
    Ok(Demand { requests: n / w * lines * machine.hit(curve), ..Demand::default() })
}

/// Seconds of a write, from the partial sectors of its group.
fn in_part(machine: &Machine, access: &Access, known: &Strided, p: f64) -> f64 {
    let w = machine.group() as f64;
    let whole = access.element as f64 / known.element as f64 / known.rate.at(1.0);
    let [half, all] = [w / 2.0, w].map(|streams| 1.0 / known.rate.at(streams));
    let parts = sectors_in_part(p, w, (machine.sector / access.element as f64).max(1.0));
    let share = parts / (0.5 * w);
    let each =
        if share <= 1.0 { whole + share * (half - whole) } else { half + (share - 1.0) * (all - half) };
    each.max(whole)
}

/// Partial sectors of `e` elements that `w` accesses to `p` streams write. The groups of a single stream are
/// aligned to sectors.
fn sectors_in_part(p: f64, w: f64, e: f64) -> f64 {
    if p <= 1.0 {
        return 0.0;
    }
    let streams = distinct(p, w);
    let run = w / streams;
    let of_run = 1.0 + (run - 1.0) / e - ((run - e + 1.0) / e).max(0.0);
    // Elements as large as sectors leave no partial sectors.
    if e > 1.0 { streams * of_run } else { 0.0 }
}

/// The interleaved streams over the greatest footprint.
fn furthest<'a>(machine: &Machine<'a>, direction: Direction) -> Option<&'a Strided> {
    let of_direction = machine.rates.interleaved.iter().filter(|s| s.direction == direction);
    of_direction.max_by_key(|s| s.footprint)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;

    fn demand(direction: Direction, p: u64, footprint: u64, cached: bool) -> Demand {
        let access = access(direction, 1_024_000, footprint, Order::Partitions { partitions: p });
        let mut found = Demand::default();
        on_toy(|toy| found = partitions(toy, &access, p, cached).expect("rates").0);
        found
    }

    /// One stream writes whole sectors; 32 separate streams write only partial ones.
    #[test]
    fn writes_go_by_the_sectors_in_part() {
        let seconds = |p| demand(Direction::Write, p, 1 << 30, false).seconds();
        assert!(close(seconds(1), 1_024_000.0 / 8e9));
        assert!((seconds(1 << 40) / (1_024_000.0 / 1e9) - 1.0).abs() < 1e-6);
        // Two streams: runs of 16 begin anywhere in a sector of 4, 1.5 partial sectors each.
        assert!((sectors_in_part(2.0, 32.0, 4.0) - 3.0).abs() < 1e-6);
        assert!((sectors_in_part(2.0, 32.0, 2.0) - 2.0).abs() < 1e-6);
        assert_eq!((sectors_in_part(1.0, 32.0, 4.0), sectors_in_part(2.0, 32.0, 1.0)), (0.0, 0.0));
    }

    /// 1000 tiles of 1024 reads in 4 streams, 16 elements per line: 3.75 lines more than one stream's, 0.1 ns
    /// each. Four streams in 1 MiB share one page; in 1 GiB they have four, and the three additional ones
    /// cost 1 ns instead of 0.1.
    #[test]
    fn a_tile_asks_for_lines_and_pages() {
        let reads = |p, footprint| demand(Direction::Read, p, footprint, false);
        assert_eq!(reads(1, 1 << 30).seconds(), 0.0);
        let near = reads(4, 1 << 20);
        assert!(close(near.requests, 1000.0 * (4.0 - 1.0) * 15.0 / 16.0 * 1e-10), "{near:?}");
        assert_eq!(near.memory, [("partitions", 0.0)]);
        assert!(close(reads(4, 1 << 30).memory[0].1, 1000.0 * 3.0 * 0.9e-9));
    }

    /// Tiles of 320 in ten streams: runs of 32, so a group touches 1 + 31/32 runs.
    #[test]
    fn staged_runs_ask_for_the_lines_at_their_ends() {
        let order = Order::Staged { partitions: 10, tile: 320 };
        let access = access(Direction::Write, 320_000, 1 << 30, order);
        on_toy(|toy| {
            let of = |p| staged(toy, &access, p, 320).expect("rates").seconds();
            assert!(close(of(10), 10_000.0 * 31.0 / 32.0 * 15.0 / 16.0 * 2e-10), "{}", of(10));
            assert!(close(of(1), 10_000.0 * 31.0 / 320.0 * 15.0 / 16.0 * 2e-10), "{}", of(1));
        });
    }

    /// In the cache, 32 accesses to one stream make two line requests; to many streams, 32.
    #[test]
    fn in_the_cache_lines_count() {
        let writes = |p| demand(Direction::Write, p, 1 << 18, true).seconds();
        let one = 32_000.0 * 2e-10;
        assert!(close(writes(1), one * (1.0 + 31.0 / 16.0)));
        assert!(writes(1 << 40) > 31.9 * one && writes(1 << 40) <= 32.0 * one);
    }
}
