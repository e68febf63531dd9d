//! Ranges of elements.

use crate::inputs::mix::{scale, word64};

/// Elements [first, first + count).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u64,
    pub count: u64,
}

impl Range {
    /// `count` of `of` elements, from a place that the seed draws, to be executed alone as a probe.
    pub fn probe(seed: u64, count: u64, of: u64) -> Range {
        const PROBES: u64 = 0x5052_4F42_4553_0000;
        Range { first: scale(word64(seed ^ PROBES, count), of - count + 1), count }
    }

    /// The part of the range in [`begin`, `end`).
    pub fn within(self, begin: u64, end: u64) -> Range {
        let first = self.first.max(begin);
        Range { first, count: (self.first + self.count).min(end).saturating_sub(first) }
    }
}

/// Splits [0, n) into windows of `size` (at least 1) elements; the last may be shorter.
pub fn windows(n: u64, size: u64) -> impl Iterator<Item = Range> {
    let size = size.max(1);
    (0..n.div_ceil(size)).map(move |k| Range { first: k * size, count: size.min(n - k * size) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_cover_everything_once() {
        for (n, size) in [(0, 4), (1, 4), (8, 4), (9, 4), (3, 0)] {
            let all: Vec<u64> = windows(n, size).flat_map(|w| w.first..w.first + w.count).collect();
            assert_eq!(all, (0..n).collect::<Vec<_>>(), "{n} by {size}");
        }
    }

    #[test]
    fn parts_of_ranges() {
        let range = Range { first: 10, count: 10 };
        assert_eq!(range.within(0, 15), Range { first: 10, count: 5 });
        assert_eq!(range.within(15, 40), Range { first: 15, count: 5 });
        assert_eq!(range.within(30, 40).count, 0);
        assert_eq!(range.within(0, 5).count, 0);
    }
}
