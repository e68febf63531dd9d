//! Throughput of the first caches for accesses that are issued together.
//!
//! Equation: a first cache answers a group of accesses in wavefronts, of up to a line's width of accesses
//! each. A wavefront combines parts of a few lines (`answer_lines`), one element from each of the banks,
//! which interleave over a line; accesses to the same element share it. Accesses are served first come, first
//! served: those that do not fit wait for the next wavefront. T = groups · cost(wavefronts); source: the
//! profile's `strided` over the smallest footprint, whose strides have known numbers of wavefronts.
//! Processors issue one access at a time: T = n / moves, the profile's rate of indexed moves.

use std::collections::{BTreeMap, BTreeSet};

use super::machine::{Machine, way};
use crate::case::Direction;
use crate::model::{Moves, Strided};

/// Average cost figures of groups of accesses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Groups {
    /// Number of groups considered.
    pub groups: f64,
    pub wavefronts: f64,
    /// Distinct lines and sectors.
    pub lines: f64,
    pub sectors: f64,
    /// Distinct packets exchanged between a processor and the last cache.
    pub packets: f64,
}

impl Groups {
    /// A group of contiguous accesses that one wavefront answers.
    pub const EASY: Groups = Groups { groups: 1.0, wavefronts: 1.0, lines: 1.0, sectors: 1.0, packets: 1.0 };
}

/// Bytes that a processor sends to the last cache at a time: 64 B per clock and SM since Volta (Jia,
/// Maggioni, Staiger, Scarpazza 2018, §3.6).
const PACKET: f64 = 64.0;

/// The averages over these accesses: indices of elements of `element` bytes, in the order of issue.
pub fn groups(machine: &Machine, indices: &[u64], element: u64) -> Groups {
    let mut sum = Groups { groups: 0.0, wavefronts: 0.0, lines: 0.0, sectors: 0.0, packets: 0.0 };
    for group in indices.chunks(machine.group()) {
        let within =
            |unit: f64| group.iter().map(|i| i * element / unit as u64).collect::<BTreeSet<_>>().len() as f64;
        sum.groups += 1.0;
        sum.wavefronts += wavefronts(machine, group, element) as f64;
        sum.lines += within(machine.line);
        sum.sectors += within(machine.sector);
        sum.packets += within(PACKET);
    }
    let n = sum.groups.max(1.0);
    let [wavefronts, lines, sectors, packets] =
        [sum.wavefronts, sum.lines, sum.sectors, sum.packets].map(|all| all / n);
    Groups { groups: n, wavefronts, lines, sectors, packets }
}

/// Wavefronts of a group. O(n²) in the size of the group.
fn wavefronts(machine: &Machine, group: &[u64], element: u64) -> usize {
    let banks = (machine.line as u64 / element).max(1);
    let lines = machine.rates.answer_lines.unwrap_or(1).max(1) as usize;
    group.chunks(banks as usize).map(|part| answers(part, banks, lines)).sum()
}

/// Wavefronts of these accesses: each takes elements in different banks and at most `most_lines` lines.
fn answers(part: &[u64], banks: u64, most_lines: usize) -> usize {
    let mut waiting = part.to_vec();
    let mut answers = 0;
    while !waiting.is_empty() {
        let (mut lines, mut of_bank) = (BTreeSet::new(), BTreeMap::new());
        waiting.retain(|i| {
            let (line, bank) = (i / banks, i % banks);
            let fits = (lines.contains(&line) || lines.len() < most_lines)
                && of_bank.get(&bank).is_none_or(|there| there == i);
            if fits {
                lines.insert(line);
                of_bank.insert(bank, *i);
            }
            !fits
        });
        answers += 1;
    }
    answers
}

/// Seconds of a group, without its misses. If accesses are issued one by one: seconds of one indexed word.
///
/// # Errors
/// A profile without strided accesses within a first cache; without moves.
pub fn seconds(machine: &Machine, direction: Direction, groups: &Groups) -> Result<f64, String> {
    if machine.group() == 1 {
        return moved(machine, direction, WORD);
    }
    let near = nearest(machine, direction)?;
    let mut points: Vec<(f64, f64)> =
        near.rate.points().iter().map(|point| at(machine, near, *point)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Ok(line_through(&points, groups.wavefronts))
}

/// Bytes of the elements of patterns.
const WORD: u64 = 8;

/// Seconds in which processors load an index, load an element and store it, while their first caches hold all
/// three; `direction` is the indexed side.
///
/// # Errors
/// A profile without moves.
pub fn moved(machine: &Machine, direction: Direction, element: u64) -> Result<f64, String> {
    let ratio = |moves: &Moves| (moves.element as f64 / element as f64).ln().abs();
    let of_direction = machine.rates.moves.iter().filter(|moves| moves.direction == direction);
    let nearest = of_direction.min_by(|a, b| ratio(a).total_cmp(&ratio(b)));
    let missing = "the profile does not say how fast processors move elements; calibrate again";
    Ok(1.0 / nearest.ok_or(missing)?.rate)
}

/// Seconds of one wavefront among many: that of the stride with the most wavefronts.
///
/// # Errors
/// As [`seconds`].
pub fn wavefront(machine: &Machine) -> Result<f64, String> {
    let near = nearest(machine, Direction::Read)?;
    let points = near.rate.points().iter().map(|point| at(machine, near, *point));
    let most = points.max_by(|a, b| a.0.total_cmp(&b.0));
    Ok(most.map_or(0.0, |(wavefronts, seconds)| seconds / wavefronts))
}

/// Seconds in which a group's stores leave for the last cache, a [`PACKET`] at a time.
///
/// # Errors
/// As [`seconds`].
pub fn stored(machine: &Machine, groups: &Groups) -> Result<f64, String> {
    Ok(groups.packets * wavefront(machine)?)
}

/// The strided accesses over the smallest footprint, which must fit into a cache near the processor: the
/// first one if the profile states its size, else the last.
fn nearest<'a>(machine: &Machine<'a>, direction: Direction) -> Result<&'a Strided, String> {
    let held = if machine.first > 0.0 { machine.first } else { machine.capacity };
    let of_direction = machine.rates.strided.iter().filter(|s| s.direction == direction);
    let near = of_direction.min_by_key(|s| s.footprint).filter(|s| s.footprint as f64 <= held);
    near.ok_or_else(|| {
        format!("the profile has no strided {} of the first cache; calibrate again", way(direction))
    })
}

/// A point of the curve as wavefronts and seconds of a group.
fn at(machine: &Machine, near: &Strided, (stride, rate): (f64, f64)) -> (f64, f64) {
    let step = (stride / near.element as f64).max(1.0) as u64;
    let indices: Vec<u64> = (0..machine.group() as u64).map(|i| i * step).collect();
    (groups(machine, &indices, near.element).wavefronts, machine.group() as f64 / rate)
}

/// Linear interpolation at `x` between ascending points; beyond the last point, proportional to it.
fn line_through(points: &[(f64, f64)], x: f64) -> f64 {
    let next = points.partition_point(|point| point.0 < x);
    match (next.checked_sub(1).map(|i| points[i]), points.get(next)) {
        (Some((x0, y0)), Some((x1, y1))) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (None, Some((_, y))) => *y,
        (Some((x0, y0)), None) => y0 * (x / x0).max(1.0),
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{close, on_toy, toy};
    use super::*;

    fn wavefronts_of(indices: &[u64]) -> f64 {
        let mut found = 0.0;
        on_toy(|toy| found = groups(toy, indices, 8).wavefronts);
        found
    }

    fn strided(stride: u64) -> Vec<u64> {
        (0..32).map(|i| i * stride).collect()
    }

    /// 16 banks of 8 bytes: 32 contiguous words take two wavefronts, and each doubling of the stride halves
    /// the number of banks used.
    #[test]
    fn strides_meet_in_banks() {
        let found = [1, 2, 4, 8, 16, 32].map(|stride| wavefronts_of(&strided(stride)));
        assert_eq!(found, [2.0, 4.0, 8.0, 16.0, 32.0, 32.0]);
        // Odd strides have no bank conflicts, but touch 32 lines, two per answer.
        assert_eq!(wavefronts_of(&strided(17)), 16.0);
    }

    #[test]
    fn equal_elements_share_an_answer() {
        assert_eq!(wavefronts_of(&[7; 32]), 2.0);
        // Half of one line and half of the next, in different banks; then parts of three lines.
        let of = |parts: [std::ops::Range<u64>; 3]| {
            wavefronts_of(&parts.into_iter().flatten().chain([0; 16]).collect::<Vec<_>>())
        };
        assert_eq!(of([0..8, 24..32, 0..0]), 2.0);
        assert_eq!(of([0..8, 24..28, 44..48]), 3.0);
    }

    /// 4 words in each of 8 lines of 128 bytes: two packets of 64 bytes per line. A packet takes as long as
    /// one of the 32 wavefronts of words in a single bank.
    #[test]
    fn stores_leave_in_packets() {
        on_toy(|toy| {
            let of = groups(toy, &strided(4), 8);
            let one = wavefront(toy).expect("strided reads");
            assert!(close(one, 1.6e-9 / 32.0) && of.packets == 16.0, "{one} {of:?}");
            assert!(close(stored(toy, &of).expect("strided reads"), 16.0 * one));
        });
    }

    #[test]
    fn a_profile_without_a_first_cache_says_so() {
        let mut profile = toy();
        profile.rates.get_mut("cuda").expect("a backend").strided.retain(|s| s.footprint > 1 << 20);
        let machine = Machine::new(&profile, "cuda").expect("a backend");
        let of = seconds(&machine, Direction::Write, &Groups::EASY);
        assert!(of.is_err_and(|why| why.contains("no strided writes of the first cache")));
    }

    #[test]
    fn lines_and_sectors_of_a_group() {
        on_toy(|toy| {
            let of = groups(toy, &strided(4), 8);
            assert_eq!((of.groups, of.lines, of.sectors), (1.0, 8.0, 32.0));
            // 32 accesses at 3.2e11 per second for two wavefronts, at 1.6e11 for four.
            for (stride, seconds) in [(1, 1e-10), (2, 2e-10), (16, 1.6e-9)] {
                let found = super::seconds(toy, Direction::Read, &groups(toy, &strided(stride), 8));
                assert!(close(found.expect("strided reads"), seconds));
            }
        });
    }
}
