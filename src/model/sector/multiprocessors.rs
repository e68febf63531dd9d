//! Arithmetic of multiprocessors, and tiles that they process one after another.
//!
//! *Arithmetic.* A multiprocessor issues four warp instructions per clock, of which two may be integer or
//! logic: 64 of its 128 lanes support these (CUDA C++ Programming Guide, "Throughput of native arithmetic
//! instructions", 9.0). T = c · max(instructions / 4, integers / 2), where c is the clock period divided by
//! the number of multiprocessors. A wavefront takes one clock, so c comes from the profile's `strided` in the
//! first cache (`issue::wavefront`).
//!
//! *Shared memory* is the first cache: its wavefronts occupy that resource for c each.
//!
//! *Turns.* A block loads its tile, works on it and stores it before it takes another. With N blocks on each
//! of P multiprocessors, tiles circulate between two stations, memory and the multiprocessor, with service
//! demands of D₁ and D₂ seconds for all tiles, and a delay Z = tiles · t / P, where t is the waiting time per
//! tile. Mean value analysis (Reiser and Lavenberg 1980) gives the residence times with n tiles in
//! circulation: R(n) = D · (1 + Q(n − 1)), since an arriving tile finds those already there; Q(n) = n · R(n)
//! / (Σ R(n) + Z). T = (Σ R(N) + Z) / N, which tends to the busier of the two stations for large N, and to
//! the sum for N = 1. D₂ and Z are those of the multiprocessor with the most tiles, ⌈tiles / P⌉, and at most
//! that many circulate. The term is the excess of T over the busiest resource. A tile waits for dependent
//! loads from memory, for looks at the results of other tiles in the last cache, and for steps in shared
//! memory, each at the latency of the first cache; source: the profile's `latency`.
//!
//! The waiting of the last tile is added to everything (`depth`), except for its first load, which an empty
//! execution has too.

use super::demand::Demand;
use super::issue;
use super::machine::Machine;
use crate::case::BlockCost;

/// Warp instructions that a multiprocessor issues per clock, and integer ones among them.
const ISSUED: f64 = 4.0;
const INTEGERS: f64 = 2.0;

/// Demands of a pass's blocks besides its accesses, which cover `footprint` bytes.
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

/// Seconds by which tiles processed in turns exceed the busiest resource of the pass's total demand `asked`.
///
/// # Errors
/// A profile that lacks the number of multiprocessors, or a latency.
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
    // `depth` already contains the waiting of the last tile.
    Ok((seconds - asked.busiest() - depth(machine, cost, footprint)?).max(0.0))
}

/// Seconds that the last tile waits after its first load.
fn depth(machine: &Machine, cost: &BlockCost, footprint: f64) -> Result<f64, String> {
    Ok(waits(machine, cost, footprint)? - machine.latency(footprint)? * cost.loads.min(1.0))
}

/// Seconds for all tiles with `n` in circulation, from the service demands of the two stations and the
/// waiting, each for all tiles (mean value analysis).
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

/// Seconds that one tile waits.
fn waits(machine: &Machine, cost: &BlockCost, footprint: f64) -> Result<f64, String> {
    let step = machine.latency(0.0)?;
    let look = machine.latency(0.5 * machine.capacity)?;
    Ok(cost.loads * machine.latency(footprint)? + cost.looks * look + cost.steps * step)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{close, on_toy};
    use super::*;

    /// A wavefront of the toy takes 50 ps. 4000 instructions take 1000 clocks; with 3000 integer ones, 1500.
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

    /// With one tile, times add up: 5. Alone, a tile is at the stations for 3 and 1 of 5, and waits for 1. So
    /// a second one finds 3/5 and 1/5 tiles there and takes 3 · 1.6 + 1 · 1.2 + 1 = 7 for two tiles.
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

    /// The toy has ten multiprocessors, 20 ns for a hit of the first cache and 500 ns for a load from its
    /// whole memory. 1000 tiles of two loads and five steps wait 1.1 µs each; the first load is part of an
    /// empty execution. One block per multiprocessor with 1 µs of work takes that plus 1000 · 1.1 / 10 µs, of
    /// which the last tile's waiting counts as `depth`.
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
