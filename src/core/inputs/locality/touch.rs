//! The sectors and lines touched by each iteration. Pure.

use super::{Layout, SECTOR, check, distinct};
use crate::inputs::arrays;

/// Line sizes to be counted, bytes: those of CPUs and of GPUs.
pub const LINE_SIZES: [u64; 2] = [64, 128];

/// A sector or line touched by an iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// Number of the sector or line, counted from byte 0.
    pub unit: u64,
    /// Number of elements of the iteration that overlap it.
    pub elements: u32,
}

/// The sectors and lines touched by a sequence of iterations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Bytes per element.
    pub element: u64,
    /// Sectors of each iteration, ascending.
    pub sectors: Vec<Vec<Touch>>,
    /// For each of [`LINE_SIZES`], the lines of each iteration, ascending.
    pub lines: [Vec<Vec<Touch>>; 2],
    /// Number of indices.
    pub accesses: u64,
    pub distinct_elements: u64,
    pub distinct_sectors: u64,
    /// Number of distinct lines for each of [`LINE_SIZES`].
    pub distinct_lines: [u64; 2],
}

impl Touched {
    /// Computes the sectors and lines for iterations of `each` indices, with elements of `element` bytes.
    ///
    /// # Errors
    /// When there are no indices, when one is too large, or when the element size is outside the limits of
    /// [`Locality`](super::Locality).
    pub fn of(indices: &[u64], each: usize, element: u64) -> Result<Touched, String> {
        let layouts = LINE_SIZES.map(|line| Layout { element, line });
        check(layouts[0])?;
        let mut sorted = indices.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        match sorted.last() {
            None => return Err("there are no indices".to_owned()),
            Some(max) if *max >= arrays::END => return Err(format!("the index {max} is too large")),
            Some(_) => {}
        }
        let rows = |bytes| -> Vec<Vec<Touch>> {
            indices.chunks(each.max(1)).map(|row| touches(row, layouts[0], bytes)).collect()
        };
        Ok(Touched {
            element,
            sectors: rows(SECTOR),
            lines: LINE_SIZES.map(rows),
            accesses: indices.len() as u64,
            distinct_elements: sorted.len() as u64,
            distinct_sectors: distinct(&sorted, layouts[0], SECTOR),
            distinct_lines: layouts.map(|layout| distinct(&sorted, layout, layout.line)),
        })
    }

    /// Total bytes of the distinct elements.
    pub fn used(&self) -> u64 {
        self.distinct_elements * self.element
    }

    /// All distinct lines, ascending, for the line size at position `length` of [`LINE_SIZES`].
    pub fn all_lines(&self, length: usize) -> Vec<u64> {
        let mut lines: Vec<u64> = self.lines[length].iter().flatten().map(|touch| touch.unit).collect();
        lines.sort_unstable();
        lines.dedup();
        lines
    }
}

/// The units of `bytes` bytes that overlap the elements of a row.
fn touches(row: &[u64], layout: Layout, bytes: u64) -> Vec<Touch> {
    let of = |index: &u64| {
        let (first, last) = layout.units(*index, bytes);
        first..=last
    };
    let mut units: Vec<u64> = row.iter().flat_map(of).collect();
    units.sort_unstable();
    let runs = units.chunk_by(|a, b| a == b);
    runs.map(|run| Touch { unit: run[0], elements: run.len() as u32 }).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::Locality;
    use super::*;

    fn row(touched: &Touched, at: usize) -> Vec<(u64, u32)> {
        touched.sectors[at].iter().map(|touch| (touch.unit, touch.elements)).collect()
    }

    #[test]
    fn iterations_touch_what_their_elements_lie_in() {
        // Stride 4 with 8-byte elements: one element per sector; the next iteration touches the same sectors.
        let touched = Touched::of(&[0, 4, 8, 12, 1, 5, 9, 13], 4, 8).expect("touched");
        assert_eq!(row(&touched, 0), [(0, 1), (1, 1), (2, 1), (3, 1)]);
        assert_eq!(row(&touched, 1), row(&touched, 0));
        assert_eq!((touched.distinct_sectors, touched.distinct_lines, touched.used()), (4, [2, 1], 64));
        assert_eq!((touched.all_lines(0), touched.all_lines(1)), (vec![0, 1], vec![0]));
        // An element of 24 bytes at byte 24 overlaps two sectors.
        let across = Touched::of(&[1, 1], 2, 24).expect("touched");
        assert_eq!(row(&across, 0), [(0, 2), (1, 2)]);
        assert_eq!(across.lines[0], [[Touch { unit: 0, elements: 2 }]], "and in one line");
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for (indices, element) in [(&[][..], 8), (&[1][..], 0), (&[1][..], 1 << 20), (&[u64::MAX][..], 8)] {
            assert!(Touched::of(indices, 1, element).is_err(), "{indices:?} {element}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn the_counts_are_those_of_the_statistics(
            indices in proptest::collection::vec(0u64..5000, 1..200),
            element in 1u64..100,
            each in 1usize..40,
        ) {
            let touched = Touched::of(&indices, each, element).expect("touched");
            for (at, line) in LINE_SIZES.into_iter().enumerate() {
                let locality = Locality::of(&indices, Layout { element, line }).expect("statistics");
                prop_assert_eq!(touched.distinct_elements, locality.distinct_elements);
                prop_assert_eq!(touched.distinct_sectors, locality.distinct_sectors);
                prop_assert_eq!(touched.distinct_lines[at], locality.distinct_lines);
                prop_assert_eq!(touched.all_lines(at).len() as u64, locality.distinct_lines);
            }
            let sectors: std::collections::BTreeSet<u64> =
                touched.sectors.iter().flatten().map(|touch| touch.unit).collect();
            prop_assert_eq!(sectors.len() as u64, touched.distinct_sectors);
        }
    }
}
