//! Exact counts of the granules that the uses of a pattern touch.

/// The greatest number of accesses that are counted one by one.
const MOST: usize = 1 << 18;

/// The granules that a pattern touches as it moves over memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    /// Distinct granules touched by all uses together.
    pub granules: f64,
    /// Granules of which every byte is touched.
    pub whole: f64,
    /// Granules whose lower neighbour is not touched: the number of runs.
    pub runs: f64,
}

/// The movement of a pattern: use k starts at the sum of the first k deltas, which repeat cyclically.
#[derive(Clone, Copy, Debug)]
pub struct Moves<'a> {
    pub indices: &'a [u64],
    pub deltas: &'a [u64],
    pub uses: u64,
}

impl Moves<'_> {
    /// The indices of the first uses: at most `accesses` accesses, but at least one use.
    pub fn first(&self, accesses: usize) -> Vec<u64> {
        let uses = (accesses / self.indices.len().max(1)).max(1).min(self.uses as usize);
        let mut start = 0;
        let mut all = Vec::with_capacity(uses * self.indices.len());
        for k in 0..uses {
            all.extend(self.indices.iter().map(|p| p + start));
            start += self.deltas[k % self.deltas.len()];
        }
        all
    }

    /// Granules of `granule` elements that all uses touch together. With d the sum of the deltas, the touched
    /// set is periodic with period lcm(d, granule) elements. It is counted on a ring of that length,
    /// O(granule · entries · deltas), up to [`MOST`] accesses, and on the line if the uses do not complete
    /// the ring once.
    pub fn touched(&self, granule: u64) -> Touched {
        let d: u64 = self.deltas.iter().sum();
        let laps = if d == 0 { 1 } else { granule / gcd(d, granule) };
        let lap = self.deltas.len() as u64;
        let round = (laps * lap).max(1);
        if d == 0 || self.uses <= 2 * round {
            return self.on_the_line(granule);
        }
        let ring = laps * d;
        let indices = self.first(((round as usize) * self.indices.len()).min(MOST));
        let looked_at = (indices.len() / self.indices.len()) as f64;
        let found = count(indices.iter().map(|i| i % ring), granule, Some(ring / granule));
        let rounds = self.uses as f64 / looked_at;
        found.times(rounds)
    }

    fn on_the_line(&self, granule: u64) -> Touched {
        let indices = self.first(MOST);
        let looked_at = (indices.len() / self.indices.len().max(1)) as f64;
        let found = count(indices.into_iter(), granule, None);
        let rest = if self.deltas.iter().all(|d| *d == 0) { 1.0 } else { self.uses as f64 / looked_at };
        found.times(rest)
    }
}

impl Touched {
    fn times(self, factor: f64) -> Touched {
        let Touched { granules, whole, runs } = self;
        Touched { granules: granules * factor, whole: whole * factor, runs: runs * factor }
    }
}

/// Distinct granules, and those with all elements touched, on a ring of `ring` granules if given. O(n log n)
/// in the indices.
fn count(indices: impl Iterator<Item = u64>, granule: u64, ring: Option<u64>) -> Touched {
    let mut elements: Vec<u64> = indices.collect();
    elements.sort_unstable();
    elements.dedup();
    let granules: Vec<&[u64]> = elements.chunk_by(|a, b| a / granule == b / granule).collect();
    let whole = granules.iter().filter(|elements| elements.len() as u64 == granule).count();
    let at = |k: usize| granules[k][0] / granule;
    let last = granules.len().checked_sub(1).map(at);
    let begins = |k: &usize| match (*k, ring) {
        (0, None) => true,
        // On a ring the last granule may be the neighbour of the first.
        (0, Some(ring)) => at(0) > 0 || last != ring.checked_sub(1),
        (k, _) => at(k - 1) + 1 != at(k),
    };
    let runs = (0..granules.len()).filter(begins).count();
    Touched { granules: granules.len() as f64, whole: whole as f64, runs: runs as f64 }
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn moves<'a>(indices: &'a [u64], deltas: &'a [u64], uses: u64) -> Moves<'a> {
        Moves { indices, deltas, uses }
    }

    #[test]
    fn counted_by_hand() {
        // Every second word: all granules of 4 words, none whole, in one run around the ring.
        let every_second = moves(&[0], &[2], 4000).touched(4);
        assert_eq!((every_second.granules, every_second.whole, every_second.runs), (2000.0, 0.0, 0.0));
        // Half of each 16 words: two of four granules of 4, both whole, in one run.
        let halves = moves(&[0, 1, 2, 3, 4, 5, 6, 7], &[16], 100).touched(4);
        assert_eq!((halves.granules, halves.whole, halves.runs), (200.0, 200.0, 100.0));
        // A pattern that does not move.
        let still = moves(&[0, 9], &[0], 1 << 40).touched(4);
        assert_eq!((still.granules, still.whole, still.runs), (2.0, 0.0, 2.0));
        // Elements that later uses touch again count once.
        assert_eq!(moves(&[0, 64], &[8], 10_000).touched(8).granules, 10_000.0);
    }

    /// A line of 128 bytes has 128 one-byte elements.
    #[test]
    fn a_granule_may_have_many_elements() {
        let bytes: Vec<u64> = (0..128).collect();
        let found = moves(&bytes, &[256], 1000).touched(128);
        assert_eq!((found.granules, found.whole, found.runs), (1000.0, 1000.0, 1000.0));
        assert_eq!(moves(&bytes[..127], &[256], 1000).touched(128).whole, 0.0);
    }

    proptest! {
        /// The count on the ring equals that on the line, except at the ends.
        #[test]
        fn the_ring_is_the_line(
            indices in prop::collection::vec(0..200u64, 1..12),
            deltas in prop::collection::vec(0..30u64, 1..4),
            uses in 1..2000u64,
            granule in prop::sample::select(vec![1u64, 4, 8, 16, 100]),
        ) {
            let moves = moves(&indices, &deltas, uses);
            let all = moves.first(usize::MAX);
            let exact = all.iter().map(|i| i / granule).collect::<BTreeSet<_>>().len() as f64;
            let found = moves.touched(granule);
            // The ends: as many granules as the pattern spans.
            let ends = 2.0 * (200.0 + 90.0 * granule as f64) / granule as f64 + 2.0;
            prop_assert!((found.granules - exact).abs() <= ends, "{found:?}, {exact}");
            prop_assert!(found.whole <= found.granules && found.runs <= found.granules);
        }
    }
}
