//! The array accessed beside a pass's locations: of the elements that the pass walks over, one in `s` is taken, at
//! random places, r of them on average without a gap.
//!
//! Equation: whether an element is taken depends on the one before it, with chance 1 − 1/r behind a taken one and
//! c = 1 / (r (s − 1)) behind another; at r = s / (s − 1), the least, both are 1/s, and elements are independent. Of e
//! elements next to each other at least one is taken with probability t(e) = 1 − (1 − 1/s)(1 − c)^(e − 1). A granule of
//! g bytes has e = g/z elements and is touched with probability t(e), the last of a run of touched ones with
//! t(2e) − t(e), and behind a touched one the next is touched with 2 − t(2e) / t(e). The touched granules lie footprint
//! / touched bytes apart (see `sector_spacing`). A sector is written as a whole only if all its elements are taken. If
//! the array stays in the cache, the touched lines are requests.

use super::demand::Demand;
use super::machine::Machine;
use super::sector_spacing::{Reads, Writes};
use crate::case::{Access, Direction};

/// Which elements are taken.
#[derive(Clone, Copy)]
pub struct Taken {
    /// s: one in so many.
    one_in: f64,
    /// r: elements without a gap, on average.
    run: f64,
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
    let touched = |granule: f64| taken.bytes(access, granule) / granule.max(element);
    let lines = touched(machine.line);
    let missed = machine.share_from_memory(distance);
    let requests = (1.0 - missed) * lines * machine.hit(curve);
    let seconds = if access.direction == Direction::Read {
        let e = elements(element, machine.fetch());
        let runs = walked / machine.fetch().max(element) * (taken.any(2.0 * e) - taken.any(e));
        Reads { granules: touched(machine.fetch()), runs, footprint: walked }.seconds(machine)?
    } else {
        let e = elements(element, machine.line);
        let beside = Some(2.0 - taken.any(2.0 * e) / taken.any(e));
        let whole = taken.all(elements(element, machine.sector)) * walked / machine.sector;
        Writes { lines, sectors: touched(machine.sector), whole, footprint: walked, beside }
            .seconds(machine)?
    };
    Ok(Demand { requests, ..Demand::memory("strides", missed * seconds) })
}

impl Taken {
    /// One in `one_in` elements; `run` without a gap on average, or as many as by chance if that is more.
    pub fn new(one_in: u64, run: f64) -> Taken {
        let one_in = one_in.max(1) as f64;
        Taken { one_in, run: run.max(one_in / (one_in - 1.0)) }
    }

    /// Bytes of the touched granules.
    pub fn bytes(self, access: &Access, granule: f64) -> f64 {
        access.footprint as f64 * self.any(elements(access.element as f64, granule))
    }

    /// The chance that at least one of so many elements next to each other is taken.
    fn any(self, elements: f64) -> f64 {
        if self.one_in <= 1.0 {
            return 1.0;
        }
        let begins = (self.run * (self.one_in - 1.0)).recip();
        1.0 - (1.0 - self.one_in.recip()) * (1.0 - begins).powf(elements - 1.0)
    }

    /// The chance that all of them are taken.
    fn all(self, elements: f64) -> f64 {
        self.one_in.recip() * (1.0 - self.run.recip()).powf(elements - 1.0)
    }
}

/// Elements of a granule, which has at least a part of one.
fn elements(element: f64, granule: f64) -> f64 {
    (granule / element).max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{access, close, on_toy};
    use super::*;
    use crate::case::work::Order;

    #[test]
    fn granules_touched_by_chance() {
        let by_chance = |one_in| Taken::new(one_in, 1.0);
        assert!(close(by_chance(1).any(8.0), 1.0) && close(by_chance(1).all(8.0), 1.0));
        assert!(close(by_chance(4).any(1.0), 0.25));
        assert!(close(by_chance(2).any(2.0), 0.75));
        assert!(close(by_chance(2).all(4.0), 1.0 / 16.0));
    }

    /// Of 800 elements two runs of 100 are taken: of 8 next to each other one is where a run covers the first, or begins at
    /// one of the seven behind it.
    #[test]
    fn runs_touch_few_granules() {
        let runs = Taken::new(4, 100.0);
        let (touched, begins) = (runs.any(8.0), 1.0 / 300.0);
        assert!(close(touched, 0.25 + 0.75 * (1.0 - f64::powi(1.0 - begins, 7))));
        assert!(touched < 0.27 && Taken::new(4, 1.0).any(8.0) > 0.89);
        assert!(close(runs.all(8.0), 0.25 * f64::powi(0.99, 7)));
        // As many runs of granules end as runs of elements, but for those that a granule joins.
        let ends = runs.any(16.0) - touched;
        assert!(ends < 8.0 / 400.0 && ends > 0.95 * 8.0 / 400.0, "{ends}");
    }

    /// Taking every element is a stream; taking one in a thousand touches a granule each.
    #[test]
    fn between_a_stream_and_random_accesses() {
        on_toy(|toy| {
            let seconds = |count, stride| {
                let access = access(Direction::Read, count, 1 << 30, Order::Strided { stride, run: 1.0 });
                strided_subset(toy, &access, Taken::new(stride, 1.0), 1e10).expect("rates").seconds()
            };
            assert!(close(seconds(1 << 27, 1), 1.073_741_824e-2));
            let each = seconds(1 << 14, 1 << 13) / f64::from(1 << 14) * 1e9;
            assert!((each - 1.0).abs() < 0.002, "{each} ns");
        });
    }
}
