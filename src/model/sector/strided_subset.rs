//! The array accessed beside a pass's locations: of the elements that the pass walks over, one in `s` is taken, at
//! random places, r of them on average without a gap.
//!
//! Equation: whether an element is taken depends on the one before it, with chance 1 − 1/r behind a taken one and
//! c = 1 / (r (s − 1)) behind another; at r = s / (s − 1), the least, both are 1/s, and elements are independent. A
//! granule of g bytes has e = g/z elements and is touched with probability 1 − (1 − 1/s)(1 − c)^(e − 1); the touched
//! granules lie footprint / touched bytes apart (see `sector_spacing`). A sector is written as a whole only if all its
//! elements are taken. If the array stays in the cache, the touched lines are requests.

use super::demand::Demand;
use super::machine::Machine;
use super::sector_spacing::{Reads, Writes};
use crate::case::{Access, Direction};

/// Which elements are taken.
#[derive(Clone, Copy)]
pub struct Taken {
    /// s: one in so many.
    pub one_in: f64,
    /// r: so many without a gap, or fewer than independent ones have.
    pub run: f64,
}

/// The demand of such an access, reused after `distance` bytes.
///
/// # Errors
/// A profile without random accesses of this direction.
pub fn strided_subset(
    machine: &Machine,
    access: &Access,
    taken: Taken,
    distance: f64,
) -> Result<Demand, String> {
    let curve = machine.random(access.direction, access.element)?;
    let (walked, element) = (access.footprint as f64, access.element as f64);
    let touched = |granule: f64| walked / granule.max(element) * taken.touched(granule / element);
    let lines = touched(machine.line);
    let missed = machine.share_from_memory(distance);
    let requests = (1.0 - missed) * lines * machine.hit(curve);
    let seconds = if access.direction == Direction::Read {
        let granules = touched(machine.fetch());
        let share = granules * machine.fetch().max(element) / walked;
        let runs = (granules * (1.0 - share)).min(walked / element / taken.one_in / taken.run());
        Reads { granules, runs, footprint: walked }.seconds(machine)?
    } else {
        let whole = taken.whole(machine.sector / element) * walked / machine.sector;
        Writes { lines, sectors: touched(machine.sector), whole, footprint: walked, chance: true }
            .seconds(machine)?
    };
    Ok(Demand { requests, ..Demand::memory("strides", missed * seconds) })
}

impl Taken {
    fn run(self) -> f64 {
        if self.one_in > 1.0 { self.run.max(self.one_in / (self.one_in - 1.0)) } else { f64::INFINITY }
    }

    /// The chance that one of so many elements next to each other is taken.
    fn touched(self, elements: f64) -> f64 {
        if self.one_in <= 1.0 {
            return 1.0;
        }
        let begins = (self.run() * (self.one_in - 1.0)).recip();
        1.0 - (1.0 - self.one_in.recip()) * (1.0 - begins).powf((elements - 1.0).max(0.0))
    }

    /// The chance that all of them are taken.
    fn whole(self, elements: f64) -> f64 {
        self.one_in.recip() * (1.0 - self.run().recip()).powf((elements - 1.0).max(0.0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::case::work::Order;

    #[test]
    fn granules_touched_by_chance() {
        let by_chance = |one_in| Taken { one_in, run: 1.0 };
        assert!(close(by_chance(1.0).touched(8.0), 1.0) && close(by_chance(1.0).whole(8.0), 1.0));
        assert!(close(by_chance(4.0).touched(1.0), 0.25));
        assert!(close(by_chance(2.0).touched(2.0), 0.75));
        assert!(close(by_chance(4.0).touched(0.5), 0.25));
        assert!(close(by_chance(2.0).whole(4.0), 1.0 / 16.0));
    }

    /// Runs of 100 in every 400: of 8 next to each other one is taken where a run covers the first, or begins at one of
    /// the seven behind it.
    #[test]
    fn runs_touch_few_granules() {
        let runs = Taken { one_in: 4.0, run: 100.0 };
        let (touched, begins) = (runs.touched(8.0), 1.0 / 300.0);
        assert!(close(touched, 0.25 + 0.75 * (1.0 - f64::powi(1.0 - begins, 7))));
        assert!(touched < 0.27 && Taken { one_in: 4.0, run: 1.0 }.touched(8.0) > 0.89);
        assert!(close(runs.whole(8.0), 0.25 * f64::powi(0.99, 7)));
    }

    /// Taking every element is a stream; taking one in a thousand touches a granule each.
    #[test]
    fn between_a_stream_and_random_accesses() {
        on_toy(|toy| {
            let seconds = |count, stride| {
                let access = access(Direction::Read, count, 1 << 30, Order::Strided { stride, run: 1 });
                strided_subset(toy, &access, Taken { one_in: stride as f64, run: 1.0 }, 1e10)
                    .expect("rates")
                    .seconds()
            };
            assert!(close(seconds(1 << 27, 1), 1.073_741_824e-2));
            let each = seconds(1 << 14, 1 << 13) / f64::from(1 << 14) * 1e9;
            assert!((each - 1.0).abs() < 0.002, "{each} ns");
        });
    }
}
