//! A pattern of indices that moves over memory (lavin2020 §3.1).
//!
//! Resources, the slowest of which decides:
//! - issue (see `issue`);
//! - misses of the first cache: the distinct lines and sectors of the accesses that one
//!   processor performs at a time (`tile`), because later uses run elsewhere. Every store leaves a GPU's
//!   first cache, as a request for each line of each group; a processor's cache keeps the line;
//! - misses of the last cache: each granule that any use touches, once, if all of them
//!   together exceed the cache (see `touched` and `sector_spacing`). Reads fetch granules; partially written
//!   sectors are read and written.

use super::demand::Demand;
use super::issue::{self, Groups};
use super::machine::Machine;
use super::sector_spacing::{Reads, Writes};
use super::touched::Moves;
use crate::case::{Access, Direction};

/// Number of accesses considered if the profile has no tile.
const WINDOW: u64 = 4096;

/// The demand of a pattern's uses, one after another.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn pattern(machine: &Machine, access: &Access, moves: Moves) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let tile = machine.rates.tile.unwrap_or(WINDOW) as usize;
    let indices = moves.first(tile.max(moves.indices.len().min(4 * tile)));
    let groups = issue::groups(machine, &indices, access.element);
    let (n, looked_at) = (access.count as f64, indices.len() as f64);
    let all_groups = n / looked_at * groups.groups;
    let (lines, sectors) = if access.direction == Direction::Read || machine.group() == 1 {
        (of_all(&indices, access, machine.line), of_all(&indices, access, machine.sector))
    } else {
        (groups.groups * groups.lines, groups.groups * groups.sectors)
    };
    let times = n / looked_at;
    let handed = sectors * machine.sector * machine.cached_byte(access.direction);
    let asked = if access.direction == Direction::Read && machine.group() > 1 {
        lines * machine.hit(curve)
    } else {
        0.0
    };
    let demand = Demand {
        first: first(machine, access, &groups, all_groups, times * sectors)?,
        cache: times * handed.max(asked),
        ..Demand::default()
    };
    Ok(demand.and(memory(machine, access, moves)?))
}

/// Seconds of the first caches: answers to all groups, plus one wavefront for each sector filled, unless they
/// hold everything. Stores bypass them.
fn first(
    machine: &Machine,
    access: &Access,
    groups: &Groups,
    all_groups: f64,
    filled: f64,
) -> Result<f64, String> {
    let leaves = access.direction == Direction::Write && machine.group() > 1;
    if leaves {
        return Ok(all_groups * issue::stored(machine, groups)?);
    }
    let answered = all_groups * issue::seconds(machine, access.direction, groups)?;
    let kept = machine.group() == 1 || access.footprint as f64 <= machine.first;
    Ok(answered + if kept { 0.0 } else { filled * issue::wavefront(machine)? })
}

/// Distinct units of `unit` bytes among these accesses.
fn of_all(indices: &[u64], access: &Access, unit: f64) -> f64 {
    let unit = unit as u64;
    let mut units: Vec<u64> = indices.iter().map(|i| i * access.element / unit).collect();
    units.sort_unstable();
    units.dedup();
    units.len() as f64
}

fn memory(machine: &Machine, access: &Access, moves: Moves) -> Result<Demand, String> {
    let touched = |bytes: f64| moves.touched((bytes as u64 / access.element).max(1));
    let footprint = access.footprint as f64;
    let reads = access.direction == Direction::Read;
    let granules = touched(if reads { machine.fetch() } else { machine.sector });
    let bytes = granules.granules * if reads { machine.fetch() } else { machine.sector };
    if bytes <= machine.capacity {
        return Ok(Demand::default());
    }
    let seconds = if reads {
        Reads { granules: granules.granules, runs: granules.runs, footprint }.seconds(machine)?
    } else {
        let lines = touched(machine.line).granules;
        Writes { lines, sectors: granules.granules, whole: granules.whole, footprint, beside: None }
            .seconds(machine)?
    };
    Ok(Demand::memory("patterns", seconds))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::case::work::Order;

    fn demand(direction: Direction, indices: &[u64], delta: u64, uses: u64) -> Demand {
        let footprint = 8 * (indices.iter().max().unwrap_or(&0) + delta * (uses - 1) + 1);
        let order = Order::Pattern { indices: indices.to_vec().into(), delta };
        let access = access(direction, indices.len() as u64 * uses, footprint, order);
        let mut found = Demand::default();
        on_toy(|toy| {
            found = pattern(toy, &access, Moves { indices, deltas: &[delta], uses }).expect("rates");
        });
        found
    }

    /// 16 contiguous words that move by 16: a stream. It takes two wavefronts per 32 words, plus one, of 50
    /// ps, for each sector filled into the first cache.
    #[test]
    fn a_pattern_without_gaps_is_a_stream() {
        let words: Vec<u64> = (0..16).collect();
        let found = demand(Direction::Read, &words, 16, 1 << 20);
        assert!(close(found.memory[0].1, f64::from(1 << 27) / 1e11));
        assert!(close(found.first, f64::from(1 << 24) / 3.2e11 + f64::from(1 << 22) * 5e-11));
        let written = demand(Direction::Write, &words, 16, 1 << 20);
        assert!(close(written.memory[0].1, f64::from(1 << 27) / 1e11));
    }

    /// Data shared by several uses are fetched once, and a pattern that does not move stays in the cache.
    #[test]
    fn memory_sees_each_granule_once() {
        let words: Vec<u64> = (0..16).collect();
        let shared = demand(Direction::Read, &words, 1, 1 << 24);
        assert!((shared.memory[0].1 / (f64::from(1 << 27) / 1e11) - 1.0).abs() < 1e-3);
        assert!(demand(Direction::Read, &words, 0, 1 << 24).memory.is_empty());
    }

    /// One word in each 1024 bytes: a strided read, and a partially written line.
    #[test]
    fn words_far_apart_are_strided() {
        let n = f64::from(1 << 20);
        let memory = |direction| demand(direction, &[0], 128, 1 << 20).memory[0].1;
        assert!((memory(Direction::Read) * 1e9 / n - 1.0).abs() < 1e-4);
        assert!((memory(Direction::Write) * 2.5e8 / n - 1.0).abs() < 1e-4);
    }
}
