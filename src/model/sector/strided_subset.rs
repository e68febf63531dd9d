//! The array accessed beside a pass's locations: of the elements that the pass walks over, a random one in
//! `s` is taken.
//!
//! Equation: a granule of g bytes has g/z elements and is touched with probability 1 − (1 − 1/s)^(g/z); the
//! touched granules lie footprint / touched bytes apart (see `sector_spacing`). A sector is written as a
//! whole only if all its elements are taken. If the array stays in the cache, the touched lines are requests.

use super::demand::Demand;
use super::machine::Machine;
use super::sector_spacing::{Reads, Writes};
use crate::case::{Access, Direction};

/// The demand of such an access, reused after `distance` bytes.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn strided_subset(
    machine: &Machine,
    access: &Access,
    stride: u64,
    distance: f64,
) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let walked = access.footprint as f64;
    let touched = |granule: f64| touched(walked, access.element as f64, granule, stride as f64);
    let lines = touched(machine.line);
    let missed = machine.share_from_memory(distance);
    let requests = (1.0 - missed) * lines * machine.hit(curve);
    let element = access.element as f64;
    let seconds = if access.direction == Direction::Read {
        let granules = touched(machine.fetch());
        let share = granules * machine.fetch().max(element) / walked;
        Reads { granules, runs: granules * (1.0 - share), footprint: walked }.seconds(machine)?
    } else {
        let whole = whole(element, machine.sector, stride as f64) * walked / machine.sector;
        Writes { lines, sectors: touched(machine.sector), whole, footprint: walked, chance: true }
            .seconds(machine)?
    };
    Ok(Demand { requests, ..Demand::memory("strides", missed * seconds) })
}

/// Expected number of granules with at least one taken element.
fn touched(walked: f64, element: f64, granule: f64, stride: f64) -> f64 {
    let elements = (granule / element).max(1.0);
    let missed = if stride > 1.0 { f64::exp(elements * f64::ln_1p(-1.0 / stride)) } else { 0.0 };
    walked / granule.max(element) * (1.0 - missed)
}

/// Share of the sectors of which every element is taken.
fn whole(element: f64, sector: f64, stride: f64) -> f64 {
    stride.recip().powf((sector / element).max(1.0))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::case::work::Order;

    #[test]
    fn granules_touched_by_chance() {
        assert!(close(touched(6400.0, 8.0, 64.0, 1.0), 100.0));
        assert!(close(touched(6400.0, 64.0, 64.0, 4.0), 25.0));
        assert!(close(touched(6400.0, 32.0, 64.0, 2.0), 75.0));
        assert!(close(whole(8.0, 32.0, 2.0), 1.0 / 16.0));
    }

    /// Taking every element is a stream; taking one in a thousand touches a granule each.
    #[test]
    fn between_a_stream_and_random_accesses() {
        on_toy(|toy| {
            let seconds = |count, stride| {
                let access = access(Direction::Read, count, 1 << 30, Order::Strided { stride });
                strided_subset(toy, &access, stride, 1e10).expect("rates").seconds()
            };
            assert!(close(seconds(1 << 27, 1), 1.073_741_824e-2));
            let each = seconds(1 << 14, 1 << 13) / f64::from(1 << 14) * 1e9;
            assert!((each - 1.0).abs() < 0.002, "{each} ns");
        });
    }
}
