//! The ranges of elements that a launch, right or deliberately wrong, handles.

use crate::case::Fault;

/// Elements [first, first + count).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub first: u64,
    pub count: u64,
}

impl Range {
    /// The part of it below `end` and not below `begin`.
    pub fn within(self, begin: u64, end: u64) -> Range {
        let first = self.first.max(begin);
        Range { first, count: (self.first + self.count).min(end).saturating_sub(first) }
    }
}

/// What is launched for `n` elements, one launch after another, none of them empty. A
/// fault leaves at least one element out; [`Fault::OffByOne`] is the pointers' affair.
pub fn ranges(n: u64, fault: Option<Fault>) -> Vec<Range> {
    let half = Range { first: 0, count: n / 2 };
    let all = match fault {
        None | Some(Fault::OffByOne) => vec![Range { first: 0, count: n }],
        Some(Fault::MissingTail) => vec![Range { first: 0, count: n.saturating_sub(1) }],
        // The second half's worker works on the first half.
        Some(Fault::WrongChunk) => vec![half, half],
        Some(Fault::SkippedStore) => {
            vec![half, Range { first: n / 2 + 1, count: n.saturating_sub(n / 2 + 1) }]
        }
    };
    all.into_iter().filter(|range| range.count > 0).collect()
}

/// [0, n) in windows of `size` (at least 1) elements, the last may be shorter.
pub fn windows(n: u64, size: u64) -> impl Iterator<Item = Range> {
    let size = size.max(1);
    (0..n.div_ceil(size)).map(move |k| Range { first: k * size, count: size.min(n - k * size) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(n: u64, fault: Option<Fault>) -> Vec<u64> {
        ranges(n, fault).iter().flat_map(|r| r.first..r.first + r.count).collect()
    }

    #[test]
    fn without_a_fault_each_element_is_handled_once() {
        for n in [0, 1, 2, 1000] {
            assert_eq!(handled(n, None), (0..n).collect::<Vec<_>>());
        }
    }

    #[test]
    fn each_fault_leaves_an_element_out_and_stays_inside() {
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            for n in [1, 2, 3, 1000] {
                let handled = handled(n, Some(fault));
                assert!(handled.iter().all(|&i| i < n));
                assert!((0..n).any(|i| !handled.contains(&i)), "{fault:?} of {n}");
            }
        }
    }

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
