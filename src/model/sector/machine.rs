//! Figures of a profile that the terms need, and quantities derived from them.

use crate::case::Direction;
use crate::model::{Curve, Profile, Random, Rates, Strided};

/// Bytes of a line if the profile states no cache: that of all current processors.
const LINE: f64 = 64.0;

/// A backend on a device.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    pub rates: &'a Rates,
    /// Bytes of the last cache, of its lines and of its sectors.
    pub capacity: f64,
    pub line: f64,
    pub sector: f64,
    /// Bytes of one processor's first cache; 0 if the profile states none.
    pub first: f64,
    /// Multiprocessors of a GPU.
    pub processors: Option<f64>,
}

impl<'a> Machine<'a> {
    /// The backend `name` of the profile.
    ///
    /// # Errors
    /// A backend that the profile lacks.
    pub fn new(profile: &'a Profile, name: &str) -> Result<Machine<'a>, String> {
        let rates = profile
            .rates
            .get(name)
            .ok_or_else(|| format!("the profile {} has no rate for {name}", profile.name))?;
        let last = profile.caches.last();
        Ok(Machine {
            rates,
            capacity: last.map_or(0.0, |cache| cache.capacity as f64),
            line: last.map_or(LINE, |cache| cache.line as f64),
            sector: last.map_or(LINE, |cache| cache.sector as f64),
            first: profile.caches.first().map_or(0.0, |cache| cache.capacity as f64),
            processors: profile.device.processors.map(|processors| processors as f64),
        })
    }

    /// Bytes fetched by a miss.
    pub fn fetch(&self) -> f64 {
        (self.rates.fetch as f64).max(self.sector)
    }

    /// Sectors of an element of this size beyond the first.
    pub fn further_sectors(&self, element: u64) -> f64 {
        ((element as f64 / self.sector).ceil() - 1.0).max(0.0)
    }

    /// Accesses issued together.
    pub fn group(&self) -> usize {
        self.rates.group.max(1) as usize
    }

    /// Seconds in which an execution starts and ends and the next cannot work: the time of cached copies,
    /// extrapolated to zero bytes, but at most the time of an empty execution.
    pub fn start(&self) -> f64 {
        let cached = |(bytes, _): &&(f64, f64)| *bytes <= 0.75 * self.capacity;
        let points: Vec<_> = self.rates.copy.points().iter().filter(cached).collect();
        let [.., (a, rate_a), (b, rate_b)] = points.as_slice() else { return 0.0 };
        let (near, far) = (a / rate_a, b / rate_b);
        (near - a * (far - near) / (b - a)).clamp(0.0, self.rates.launch)
    }

    /// Seconds per byte of a stream, without the start, if it is read again after `bytes` of other data.
    /// Taken from the curve at that size, or at the smallest size whose time is not dominated by the launch.
    pub fn per_byte(&self, curve: &Curve, bytes: f64) -> f64 {
        let bound = |&&(size, rate): &&(f64, f64)| size / rate > 1.5 * self.rates.launch;
        let (least, _) =
            curve.points().iter().find(bound).or(curve.points().last()).copied().unwrap_or((1.0, 1.0));
        let size = bytes.max(least);
        let seconds = size / curve.at(size);
        (seconds - self.start()).max(0.5 * seconds) / size
    }

    /// Seconds per byte that the last cache takes in or delivers.
    pub fn cached_byte(&self, direction: Direction) -> f64 {
        let held = |s: &&Strided| {
            s.direction == direction
                && s.footprint as f64 > self.first
                && (s.footprint as f64) < self.capacity
        };
        let strided = self.rates.strided.iter().find(held).and_then(|s| s.rate.points().first());
        let copy = self.per_byte(&self.rates.copy, 0.5 * self.capacity);
        strided.map_or(copy, |(bytes, rate)| (1.0 / (bytes * rate)).min(copy))
    }

    /// Seconds per byte in which the processors' first caches fill and write back lines of a stream that
    /// comes from outer caches after `bytes`.
    pub fn fill(&self, bytes: f64) -> f64 {
        let copy = &self.rates.copy;
        let all = self.first * self.rates.threads.unwrap_or(1) as f64;
        let near = self.per_byte(copy, 0.5 * all);
        if bytes <= all { 0.0 } else { (self.per_byte(copy, bytes.min(0.5 * self.capacity)) - near).max(0.0) }
    }

    /// The share of a stream that comes from memory if it is read again after `bytes`.
    pub fn share_from_memory(&self, bytes: f64) -> f64 {
        let copy = &self.rates.copy;
        if bytes <= 0.5 * self.capacity {
            return 0.0;
        }
        let far = copy.points().last().map_or(bytes, |(size, _)| *size);
        let near = self.per_byte(copy, 0.5 * self.capacity);
        let slowest = self.per_byte(copy, far);
        share(self.per_byte(copy, bytes), near, slowest).unwrap_or(f64::from(bytes > self.capacity))
    }

    /// The rates of random accesses of one direction to elements of about this size.
    ///
    /// # Errors
    /// A profile without such rates.
    pub fn random(&self, direction: Direction, element: u64) -> Result<&'a Curve, String> {
        nearest(&self.rates.random, direction, element)
            .ok_or_else(|| format!("the profile has no random {}", way(direction)))
    }

    /// Latency of one access to a footprint, seconds.
    ///
    /// # Errors
    /// A profile without a latency.
    pub fn latency(&self, footprint: f64) -> Result<f64, String> {
        let latency = self.rates.latency.as_ref().ok_or("the profile has no latency")?;
        Ok(latency.at(footprint))
    }

    /// Seconds of a random access to a footprint that the last cache holds.
    pub fn hit(&self, curve: &Curve) -> f64 {
        1.0 / curve.at(0.25 * self.capacity)
    }

    /// Seconds of a random access to memory.
    pub fn miss(&self, curve: &Curve) -> f64 {
        1.0 / curve.points().last().map_or(1.0, |(_, rate)| *rate)
    }

    /// Share of random accesses to a footprint that hit the last cache.
    pub fn hits(&self, curve: &Curve, footprint: f64) -> f64 {
        1.0 - share(1.0 / curve.at(footprint), self.hit(curve), self.miss(curve)).unwrap_or(0.0)
    }
}

/// The curve whose element size is nearest in ratio.
fn nearest(rates: &[Random], direction: Direction, element: u64) -> Option<&Curve> {
    let ratio = |random: &Random| (random.element as f64 / element as f64).ln().abs();
    let of_direction = rates.iter().filter(|random| random.direction == direction);
    of_direction.min_by(|a, b| ratio(a).total_cmp(&ratio(b))).map(|random| &random.rate)
}

/// Position of `value` between `low` (0) and `high` (1); `None` if the two do not differ.
fn share(value: f64, low: f64, high: f64) -> Option<f64> {
    (high > low).then(|| ((value - low) / (high - low)).clamp(0.0, 1.0))
}

/// The direction's name in a sentence.
pub fn way(direction: Direction) -> &'static str {
    match direction {
        Direction::Read => "reads",
        Direction::Write => "writes",
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{close, on_toy, toy};
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_worked_out() {
        on_toy(|toy| {
            // Copies of 256 and 512 KiB have the same rate, so the time at zero bytes is 0.
            assert_eq!(toy.start(), 0.0);
            assert!(close(toy.per_byte(&toy.rates.read, 1e12), 1e-11));
            let shares = [0.0, 5e5, 1_048_576.0, 1e9].map(|bytes| toy.share_from_memory(bytes));
            assert_eq!(shares[..2], [0.0, 0.0]);
            assert!(close(shares[2], 1.0) && close(shares[3], 1.0), "{shares:?}");
            let reads = toy.random(Direction::Read, 4).expect("the nearest element");
            assert!(close(toy.hit(reads), 1e-10) && close(toy.miss(reads), 1e-9));
            assert_eq!([1e5, 1e8].map(|f| toy.hits(reads, f)), [1.0, 0.0]);
        });
    }

    /// Copies of a and 2a bytes take 3 and 5 µs, so the start is 1 µs.
    #[test]
    fn the_start_is_what_no_bytes_would_take() {
        let mut profile = toy();
        let rates = profile.rates.get_mut("cuda").expect("a backend");
        rates.launch = 2e-6;
        rates.copy = Curve::new(vec![(2e5, 2e5 / 3e-6), (4e5, 4e5 / 5e-6), (1e9, 8e10)]).expect("a curve");
        assert!((Machine::new(&profile, "cuda").expect("a backend").start() - 1e-6).abs() < 1e-12);
    }

    #[test]
    fn what_a_profile_lacks_has_a_reason() {
        let mut profile = toy();
        assert!(Machine::new(&profile, "cpu").is_err_and(|e| e.ends_with("no rate for cpu")));
        profile.rates.get_mut("cuda").expect("a backend").random.clear();
        let machine = Machine::new(&profile, "cuda").expect("a backend");
        assert!(machine.random(Direction::Write, 8).is_err_and(|e| e.ends_with("no random writes")));
    }

    proptest! {
        #[test]
        fn shares_are_shares_and_grow(bytes in 1.0..1e12f64, more in 0.0..1e12f64) {
            on_toy(|toy| {
                let few = toy.share_from_memory(bytes);
                assert!((0.0..=1.0).contains(&few) && toy.share_from_memory(bytes + more) >= few - 1e-9);
                let reads = toy.random(Direction::Read, 8).expect("reads");
                assert!(toy.hits(reads, bytes) >= toy.hits(reads, bytes + more) - 1e-9);
            });
        }
    }
}
