//! The values of a profile as individual knobs, and the profile with some of them changed.

use std::collections::BTreeMap;

use crate::case::{Direction, units};
use crate::model::{Cache, Curve, He2007, Profile, Rates};

/// The number of steps by which each value is changed, by the value's name.
pub type Steps = BTreeMap<String, i32>;

/// A value of a profile that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Knob {
    /// `L2 capacity`, `cuda random read 8 B` …
    pub name: String,
    /// The value with its unit.
    pub value: String,
}

/// The size of one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// For sizes, which are powers of two.
    Double,
    /// For times and rates: a quarter of a doubling.
    Quarter,
}

/// The factor for a number of steps: 2 per step of a size, 2^(1/4) per step of a time or a rate.
fn factor(step: Step, steps: i32) -> f64 {
    match step {
        Step::Double => f64::from(steps).exp2(),
        Step::Quarter => (f64::from(steps) / 4.0).exp2(),
    }
}

/// The profile with these changes, and every value that concerns one of these backends, in the profile's order.
pub fn turned(base: &Profile, backends: &[String], steps: &Steps) -> (Profile, Vec<Knob>) {
    let mut profile = base.clone();
    let mut turn = Turn { steps, knobs: Vec::new(), sizes: Resized::default() };
    profile.caches.iter_mut().for_each(|cache| turn.cache(cache));
    turn.sizes = Resized::between(&base.caches, &profile.caches);
    for (backend, rates) in profile.rates.iter_mut().filter(|(b, _)| backends.contains(b)) {
        turn.rates(backend, rates);
    }
    for (backend, he2007) in profile.he2007.iter_mut().filter(|(b, _)| backends.contains(b)) {
        turn.he2007(backend, he2007);
    }
    (profile, turn.knobs)
}

struct Turn<'s> {
    steps: &'s Steps,
    knobs: Vec<Knob>,
    /// The changes of the cache capacities.
    sizes: Resized,
}

impl Turn<'_> {
    fn by(&self, name: &str, step: Step) -> f64 {
        factor(step, self.steps.get(name).copied().unwrap_or(0))
    }

    fn told(&mut self, name: String, value: String) {
        self.knobs.push(Knob { name, value });
    }

    fn bytes(&mut self, name: String, bytes: &mut u64) {
        *bytes = ((*bytes as f64 * self.by(&name, Step::Double)).round() as u64).max(1);
        let value = units::fmt_bytes(*bytes);
        self.told(name, value);
    }

    fn seconds(&mut self, name: String, seconds: &mut f64) {
        *seconds *= self.by(&name, Step::Quarter);
        let value = units::fmt_seconds(*seconds);
        self.told(name, value);
    }

    fn rate(&mut self, name: String, rate: &mut f64) {
        *rate *= self.by(&name, Step::Quarter);
        let value = units::fmt_rate(*rate / 1e9);
        self.told(name, value);
    }

    /// A curve as a whole; its value is the factor it is multiplied by.
    fn curve(&mut self, name: String, curve: &mut Curve) {
        let by = self.by(&name, Step::Quarter);
        let points = curve.points().iter().map(|(x, y)| (*x, y * by)).collect();
        // Scaling keeps values positive and finite, unless the factor overflows.
        if let Ok(scaled) = Curve::new(points) {
            *curve = scaled;
        }
        self.told(name, format!("× {}", units::three_digits(by)));
    }

    /// A curve over footprints, which also moves along with the cache capacities.
    fn by_footprint(&mut self, name: String, curve: &mut Curve) {
        *curve = self.sizes.moved(curve);
        self.curve(name, curve);
    }

    fn cache(&mut self, cache: &mut Cache) {
        let name = cache.name.clone();
        self.bytes(format!("{name} capacity"), &mut cache.capacity);
        self.bytes(format!("{name} line"), &mut cache.line);
        self.bytes(format!("{name} sector"), &mut cache.sector);
    }

    fn rates(&mut self, backend: &str, rates: &mut Rates) {
        self.seconds(format!("{backend} launch"), &mut rates.launch);
        if let Some(pass) = &mut rates.pass {
            self.seconds(format!("{backend} pass"), pass);
        }
        self.bytes(format!("{backend} fetch"), &mut rates.fetch);
        self.by_footprint(format!("{backend} read"), &mut rates.read);
        self.by_footprint(format!("{backend} write"), &mut rates.write);
        self.by_footprint(format!("{backend} copy"), &mut rates.copy);
        for random in &mut rates.random {
            self.by_footprint(name(backend, "random", random.direction, random.element), &mut random.rate);
        }
        for moves in &mut rates.moves {
            let called = name(backend, "move", moves.direction, moves.element);
            moves.rate *= self.by(&called, Step::Quarter);
            let value = units::fmt_throughput(moves.rate);
            self.told(called, value);
        }
        for strided in &mut rates.strided {
            let head = name(backend, "strided", strided.direction, strided.element);
            self.curve(format!("{head} in {}", units::label_bytes(strided.footprint)), &mut strided.rate);
        }
        for streams in &mut rates.interleaved {
            let head = name(backend, "interleaved", streams.direction, streams.element);
            self.curve(format!("{head} in {}", units::label_bytes(streams.footprint)), &mut streams.rate);
        }
        if let Some(scan) = &mut rates.scan {
            self.curve(format!("{backend} scan"), scan);
        }
        if let Some(latency) = &mut rates.latency {
            self.by_footprint(format!("{backend} latency"), latency);
        }
        if let Some(page) = &mut rates.page {
            self.bytes(format!("{backend} page"), page);
        }
        if let Some(reach) = &mut rates.tlb_reach {
            self.bytes(format!("{backend} TLB reach"), reach);
        }
    }

    fn he2007(&mut self, backend: &str, he2007: &mut He2007) {
        let called = |what: &str| format!("{backend} he2007 {what}");
        self.rate(called("B_seq"), &mut he2007.b_seq);
        self.bytes(called("cache"), &mut he2007.cache);
        self.bytes(called("l"), &mut he2007.block);
        self.bytes(called("l'"), &mut he2007.transfer);
        self.seconds(called("δ"), &mut he2007.delta);
    }
}

/// `cuda random read 8 B`.
fn name(backend: &str, what: &str, direction: Direction, element: u64) -> String {
    let direction = match direction {
        Direction::Read => "read",
        Direction::Write => "write",
    };
    format!("{backend} {what} {direction} {}", units::label_bytes(element))
}

/// The capacities of the caches before and after a change, in bytes, ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resized(Vec<(f64, f64)>);

impl Resized {
    /// Pairs up two lists of caches in the same order.
    pub fn between(before: &[Cache], after: &[Cache]) -> Resized {
        let capacities =
            before.iter().zip(after).map(|(old, new)| (old.capacity as f64, new.capacity as f64));
        let mut pairs: Vec<(f64, f64)> = capacities.collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        Resized(pairs)
    }

    /// Moves the curve along with the capacities, so that a footprint has the hit rate that a footprint of the
    /// same proportion to the cache had before. Between two capacities the footprints are interpolated on a log
    /// scale; beyond them they scale like the nearest capacity. If the caches change places, the curve stays as
    /// it is.
    pub fn moved(&self, curve: &Curve) -> Curve {
        if self.0.iter().all(|(old, new)| old == new) {
            return curve.clone();
        }
        let points = curve.points().iter().map(|(bytes, rate)| (self.place(*bytes), *rate)).collect();
        Curve::new(points).unwrap_or_else(|_| curve.clone())
    }

    fn place(&self, bytes: f64) -> f64 {
        let next = self.0.partition_point(|(old, _)| *old < bytes);
        match (next.checked_sub(1).map(|at| self.0[at]), self.0.get(next)) {
            (Some((low, low_now)), Some(&(high, high_now))) => {
                let share = (bytes / low).ln() / (high / low).ln();
                low_now * (high_now / low_now).powf(share)
            }
            (Some((old, new)), None) | (None, Some(&(old, new))) => bytes * new / old,
            (None, None) => bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(capacity: u64) -> Cache {
        Cache { name: "L".to_owned(), capacity, stated: None, line: 64, sector: 32 }
    }

    fn curve() -> Curve {
        Curve::new((0..12).map(|i| (f64::from(1 << i), 100.0 / f64::from(1 + i))).collect()).expect("a curve")
    }

    #[test]
    fn a_larger_cache_holds_a_larger_footprint_at_the_same_rate() {
        let sizes = Resized::between(&[cache(16), cache(256)], &[cache(16), cache(1024)]);
        let (was, is) = (curve(), sizes.moved(&curve()));
        for (then, now) in [(4.0, 4.0), (16.0, 16.0), (64.0, 128.0), (256.0, 1024.0), (512.0, 2048.0)] {
            assert!((was.at(then) - is.at(now)).abs() < 1e-9, "{then}");
        }
    }

    #[test]
    fn nothing_moves_without_a_change_or_where_caches_change_places() {
        let same = [cache(16), cache(256)];
        assert_eq!(Resized::between(&same, &same).moved(&curve()), curve());
        assert_eq!(Resized::between(&same, &[cache(512), cache(256)]).moved(&curve()), curve());
        assert_eq!(Resized::default().moved(&curve()), curve());
    }
}
