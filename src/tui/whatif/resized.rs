//! Moves curves over footprints when caches grow or shrink.

use crate::model::{Cache, Curve};

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
