//! Where the uses of a pattern start.

use crate::inputs::Permutation;

/// Use k starts at the sum of the first k deltas of a repeated list; with a single delta δ, that is δ·k. The
/// uses are visited one after another, or in the order of a permutation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Starts {
    /// Sums of the first 0, 1, … deltas, as many as there are deltas: ascending, starting with 0.
    pub sums: Vec<u64>,
    /// The sum of all deltas.
    pub total: u64,
    /// Maps the i-th visit to the use that it visits.
    pub order: Option<Permutation>,
}

impl Starts {
    /// The starts of a list of at least one delta.
    pub fn new(deltas: &[u64], order: Option<Permutation>) -> Starts {
        let mut total = 0u64;
        let mut next = |delta: &u64| {
            let before = total;
            total = total.saturating_add(*delta);
            before
        };
        let sums = deltas.iter().map(&mut next).collect();
        Starts { sums, total, order }
    }

    /// The starts of the same uses, visited one after another.
    pub fn in_sequence(&self) -> Starts {
        Starts { order: None, ..self.clone() }
    }

    /// The list of deltas.
    pub fn deltas(&self) -> Vec<u64> {
        let ends = self.sums.iter().skip(1).chain([&self.total]);
        self.sums.iter().zip(ends).map(|(start, end)| end - start).collect()
    }

    /// The start of the use that visit `i` visits.
    #[inline]
    pub fn at(&self, i: u64) -> u64 {
        self.of(self.order.map_or(i, |order| order.apply(i)))
    }

    /// The start of use `k`, in the recipe's order: it never descends.
    #[inline]
    pub fn of(&self, k: u64) -> u64 {
        match self.sums.as_slice() {
            [] | [_] => self.total * k,
            sums => {
                let length = sums.len() as u64;
                self.total * (k / length) + sums[(k % length) as usize]
            }
        }
    }

    /// Like [`of`](Starts::of), but `None` on overflow of 64 bits.
    pub fn checked_of(&self, k: u64) -> Option<u64> {
        let length = self.sums.len().max(1) as u64;
        let rest = self.sums.get((k % length) as usize).copied().unwrap_or(0);
        self.total.checked_mul(k / length)?.checked_add(rest)
    }

    /// The number of uses that start at or before `room`; `None` if all do.
    pub fn up_to(&self, room: u64) -> Option<u64> {
        let (laps, rest) = (room.checked_div(self.total)?, room % self.total);
        let more = self.sums.partition_point(|&sum| sum <= rest) as u64;
        Some(laps.saturating_mul(self.sums.len() as u64).saturating_add(more))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_use_starts_at_the_sum_of_the_deltas_before_it(
            deltas in prop::collection::vec(0..40u64, 1..7),
            room in 0..500u64,
        ) {
            let starts = Starts::new(&deltas, None);
            prop_assert_eq!(&starts.deltas(), &deltas);
            let mut sum = 0;
            for (k, delta) in (0..50u64).zip(deltas.iter().cycle()) {
                prop_assert_eq!(starts.of(k), sum);
                prop_assert_eq!((starts.at(k), starts.checked_of(k)), (sum, Some(sum)));
                sum += delta;
            }
            match starts.up_to(room) {
                Some(uses) => prop_assert!(starts.of(uses - 1) <= room && room < starts.of(uses)),
                None => prop_assert!(deltas.iter().all(|&delta| delta == 0)),
            }
        }

        #[test]
        fn every_use_is_visited_once(count in 1..300u64, seed: u64) {
            let starts = Starts::new(&[3, 5], Permutation::new(count, seed));
            let mut visited: Vec<u64> = (0..count).map(|i| starts.at(i)).collect();
            visited.sort_unstable();
            prop_assert_eq!(visited, (0..count).map(|k| starts.of(k)).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_exceeds_64_bits_is_none() {
        assert_eq!(Starts::new(&[1 << 40, 1], None).checked_of(u64::MAX), None);
        assert_eq!(Starts::new(&[0], None).checked_of(u64::MAX), Some(0));
    }
}
