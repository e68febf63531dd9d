//! What multiprocessors execute, and tiles that they take one after another.
//!
//! *Arithmetic.* A multiprocessor issues four instructions of warps a clock, of which two may be of
//! integers and logic: 64 of its 128 lanes have them (CUDA C++ Programming Guide, "Throughput of native
//! arithmetic instructions", 9.0). T = c · max(instructions / 4, integers / 2), c the clock of all
//! multiprocessors together: a wavefront takes one, so that it is the profile's `strided` in the first
//! cache (`issue::wavefront`).
//!
//! *Shared memory* is the first cache: its wavefronts are that resource's, c each.
//!
//! *Turns.* A block loads its tile, works on it and stores it before it takes another. With N blocks
//! on each of P multiprocessors, tiles go round between two places, memory and the multiprocessor, which
//! take D₁ and D₂ seconds for all tiles, and what they wait for, Z = tiles · t / P. Mean value analysis (Reiser
//! and Lavenberg 1980) says how long they are at each when n of them go round: R(n) = D · (1 + Q(n − 1)), who
//! comes finds those who are there already; Q(n) = n · R(n) / (Σ R(n) + Z). T = (Σ R(N) + Z) / N, which
//! is the busiest of the two where N is large, and everything one after another where it is 1.
//! D₂ and Z are those of the multiprocessor with the most tiles, ⌈tiles / P⌉ of them, and no more than these go round.
//! What exceeds the busiest resource is the term. What a tile waits for: loads from memory after another,
//! looks at what others left in the last cache, steps in shared memory, a hit of the first cache each;
//! the profile's `latency`.
//!
//! The last tile's waiting comes on top of everything (`depth`), but for its first load, which an empty
//! execution has too.

use super::demand::Demand;
use super::issue;
use super::machine::Machine;
use crate::case::BlockCost;

/// Instructions of warps that a multiprocessor issues in a clock, and those of integers.
const ISSUED: f64 = 4.0;
const INTEGERS: f64 = 2.0;

/// What the blocks of a pass ask for beside its accesses; these reach over so many bytes.
///
/// # Errors
/// A profile without a latency, or without strided reads of the first cache.
pub fn on_chip(machine: &Machine, cost: &BlockCost, footprint: f64) -> Result<Demand, String> {
    let clock = issue::wavefront(machine)?;
    Ok(Demand {
        first: cost.wavefronts * clock,
        arithmetic: clock * (cost.instructions / ISSUED).max(cost.integers / INTEGERS),
        depth: depth(machine, cost, footprint)?,
        ..Demand::default()
    })
}

/// Seconds by which tiles that are taken in turns exceed the busiest resource, where all that a pass asks for is
/// `asked`.
///
/// # Errors
/// A profile that does not say how many multiprocessors there are, or has no latency.
pub fn turns(machine: &Machine, cost: &BlockCost, footprint: f64, asked: &Demand) -> Result<f64, String> {
    if cost.resident == 0 || cost.tiles == 0 {
        return Ok(0.0);
    }
    let processors =
        machine.processors.ok_or("the profile does not say how many multiprocessors there are")?;
    let tiles = cost.tiles as f64;
    let most = (tiles / processors).ceil();
    let uneven = most / (tiles / processors);
    let waiting = uneven * tiles * waits(machine, cost, footprint)? / processors;
    let [memory, processor] = asked.places();
    let seconds = going_round([memory, uneven * processor], waiting, cost.resident.min(most as u64));
    // Of the waiting that goes round, `depth` has the last tile's already.
    Ok((seconds - asked.busiest() - depth(machine, cost, footprint)?).max(0.0))
}

/// Seconds that the last tile waits after its first load.
fn depth(machine: &Machine, cost: &BlockCost, footprint: f64) -> Result<f64, String> {
    Ok(waits(machine, cost, footprint)? - machine.latency(footprint)? * cost.loads.min(1.0))
}

/// Seconds of all tiles, `n` at a time, between places that take so many for all of them, and waiting.
fn going_round(places: [f64; 2], waiting: f64, n: u64) -> f64 {
    let (mut there, mut seconds) = ([0.0; 2], 0.0);
    for n in 1..=n {
        let each = [0, 1].map(|k| places[k] * (1.0 + there[k]));
        let round = each[0] + each[1] + waiting;
        seconds = round / n as f64;
        there = each.map(|seconds| if round > 0.0 { n as f64 * seconds / round } else { 0.0 });
    }
    seconds
}

/// Seconds that a tile waits.
fn waits(machine: &Machine, cost: &BlockCost, footprint: f64) -> Result<f64, String> {
    let step = machine.latency(0.0)?;
    let look = machine.latency(0.5 * machine.capacity)?;
    Ok(cost.loads * machine.latency(footprint)? + cost.looks * look + cost.steps * step)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{close, on_toy};
    use super::*;

    /// A wavefront of the toy takes 50 ps: of 4000 instructions 1000 clocks, of 3000 with integers 1500.
    #[test]
    fn integers_have_half_the_lanes() {
        let of = |[instructions, integers, wavefronts]: [f64; 3]| {
            let mut found = Demand::default();
            let what = BlockCost::default().with(1.0, [instructions, integers, wavefronts]);
            on_toy(|toy| found = on_chip(toy, &what, 1e6).expect("figures"));
            found
        };
        assert!(close(of([4000.0, 1000.0, 0.0]).arithmetic, 1000.0 * 5e-11));
        assert!(close(of([4000.0, 3000.0, 0.0]).arithmetic, 1500.0 * 5e-11));
        assert!(close(of([0.0, 0.0, 100.0]).first, 100.0 * 5e-11));
    }

    /// One at a time all is one after another. Two at a time: alone each is at the places for 3 and 1 of 5, and waits
    /// for 1; the second finds 3/5 and 1/5 there, so that it takes 3 · 1.6 + 1 · 1.2 + 1 = 7 for two.
    #[test]
    fn tiles_find_others_where_they_come_to() {
        assert_eq!(going_round([3.0, 1.0], 1.0, 1), 5.0);
        assert!(close(going_round([3.0, 1.0], 1.0, 2), 3.5));
        let many = going_round([3.0, 1.0], 1.0, 1000);
        assert!((3.0..3.01).contains(&many), "{many}");
        assert_eq!(going_round([0.0, 0.0], 0.0, 3), 0.0);
    }

    /// Eleven tiles on ten multiprocessors take as long as twenty.
    #[test]
    fn the_last_tiles_keep_few_busy() {
        let of = |tiles: u64| {
            let what = BlockCost { tiles, resident: 1, steps: 5.0, ..BlockCost::default() };
            let asked = Demand { arithmetic: 1e-7 * tiles as f64, ..Demand::default() };
            let mut seconds = 0.0;
            on_toy(|toy| seconds = turns(toy, &what, 1e6, &asked).expect("figures") + asked.arithmetic);
            seconds
        };
        assert!(close(of(11), of(20)) && of(10) < of(11));
    }

    /// The toy has ten multiprocessors, 20 ns for a hit of the first cache and 500 ns for one load of its whole
    /// memory. 1000 tiles of two loads and five steps wait 1.1 µs each, of which the first load is
    /// an empty execution's. One block a multiprocessor with 1 µs of work takes that after 1000 · 1.1 / 10 µs, of which
    /// the last tile's is `depth`'s.
    #[test]
    fn tiles_wait() {
        let what = BlockCost { tiles: 1000, resident: 1, loads: 2.0, steps: 5.0, ..BlockCost::default() };
        on_toy(|toy| {
            let asked = Demand { arithmetic: 1e-6, ..Demand::default() };
            let far = (1u64 << 30) as f64;
            assert!(close(on_chip(toy, &what, far).expect("figures").depth, 6e-7));
            assert!(close(turns(toy, &what, far, &asked).expect("figures"), 1.1e-4 - 6e-7));
            let free = BlockCost { resident: 0, ..what };
            assert_eq!(turns(toy, &free, far, &asked), Ok(0.0));
        });
    }

    #[test]
    fn what_a_profile_lacks_has_a_reason() {
        let mut profile = super::super::fixture::toy();
        profile.device.processors = None;
        let machine = Machine::new(&profile, "cuda").expect("a backend");
        let what = BlockCost { tiles: 1, resident: 1, ..BlockCost::default() };
        assert!(turns(&machine, &what, 1e6, &Demand::default()).is_err_and(|why| why.contains("how many")));
    }
}
