//! Where segments begin, and how their heads are represented (sengupta2007 §2.2.2).
//!
//! With tag = seed ^ 0x5345474D454E5453 and n elements, of which the first is always a head:
//!
//! ```text
//! constant s    i is a head where i mod s = 0
//! random m      one head in each block j of m elements: p_j = j·m + scale(word64(tag, j), min(m, n − j·m)),
//!               p_0 = 0; lengths are from 1 to 2m − 1
//! geometric m   i is a head where word64(tag, i) ≤ ⌊(2^64 − 1)/m⌋: lengths are geometric with mean m
//! ```
//!
//! `constant` has ⌈n/s⌉ segments and `random` ⌈n/m⌉, whose heads have a closed form. No segment is empty: a
//! flag could not represent it.

use std::ops::Range;

use super::MAX_ELEMENTS;
use crate::case::table::{choice, count, words};
use crate::inputs::mix::{scale, word64};

const TAG: u64 = 0x5345_474D_454E_5453;

choice! {
    /// The lengths of segments.
    #[derive(Eq)]
    pub enum Lengths {
        /// segments of equal length, except for the last
        Constant = "constant" main "length" {
            /// elements of a segment
            length: u64 [count(1, MAX_ELEMENTS)],
        },
        /// one segment begins at a random place in every m elements: lengths from 1 to 2m − 1
        Random = "random" main "mean" {
            /// mean length m; there are ⌈elements/m⌉ segments
            mean: u64 [count(1, MAX_ELEMENTS)],
        },
        /// each element begins a segment with probability 1/m; requires heads that are flags
        Geometric = "geometric" main "mean" {
            /// mean length m
            mean: u64 [count(1, MAX_ELEMENTS)],
        },
    }
}

words! {
    /// How the segments of an array are told (sengupta2007 §2.2.2). The kernels know each by its place.
    pub enum Heads {
        /// Bit i mod 32 of 4-byte word i / 32 is the flag of element i.
        Bits = "bits",
        /// Byte i is.
        Bytes = "bytes",
        /// As the paper's shared memory has them: chunks of 128 flags in 32 4-byte words, flag j of a
        /// chunk in byte j / 32 of word j mod 32.
        Striped = "striped",
        /// The length of each segment, 4 bytes.
        Lengths = "lengths",
        /// The first element of each segment, 4 bytes.
        Pointers = "pointers",
    }
}

impl Lengths {
    /// Elements among which exactly one segment begins; `None` if only counting determines the heads.
    pub fn block(self) -> Option<u64> {
        match self {
            Lengths::Constant { length: block } | Lengths::Random { mean: block } => Some(block),
            Lengths::Geometric { .. } => None,
        }
    }
}

/// Flags in one chunk of [`Heads::Striped`].
pub const CHUNK: u64 = 128;

impl Heads {
    /// True if the representation has an entry per segment rather than a flag per element.
    pub fn per_segment(self) -> bool {
        matches!(self, Heads::Lengths | Heads::Pointers)
    }

    /// Bytes per entry and number of entries, with `segments` segments in `elements` elements.
    pub fn entries(self, elements: u64, segments: u64) -> (u64, u64) {
        match self {
            Heads::Bits => (4, elements.div_ceil(32)),
            Heads::Bytes => (1, elements),
            Heads::Striped => (4, elements.div_ceil(CHUNK) * CHUNK / 4),
            Heads::Lengths | Heads::Pointers => (4, segments),
        }
    }
}

/// The byte of [`Heads::Striped`] that holds the flag of element `i`.
#[inline(always)]
pub fn striped(i: u64) -> u64 {
    let j = i % CHUNK;
    i - j + j % 32 * 4 + j / 32
}

/// The segments of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    pub lengths: Lengths,
    /// n.
    pub elements: u64,
    /// The case's seed, exclusive-ored with `TAG`.
    tag: u64,
}

impl Segments {
    /// The segments of `elements` elements; lengths and means are at least 1.
    pub fn new(lengths: Lengths, elements: u64, seed: u64) -> Segments {
        Segments { lengths, elements, tag: seed ^ TAG }
    }

    /// Like [`new`](Segments::new), with all elements as one segment if `lengths` is `None`.
    pub fn or_one(lengths: Option<Lengths>, elements: u64, seed: u64) -> Segments {
        Segments::new(lengths.unwrap_or(Lengths::Constant { length: elements.max(1) }), elements, seed)
    }

    /// The seed that the kernels take.
    pub fn tag(&self) -> u64 {
        self.tag
    }

    /// True if element `i` begins a segment.
    #[inline(always)]
    pub fn head(&self, i: u64) -> bool {
        match self.lengths {
            Lengths::Constant { length } => i.is_multiple_of(length),
            Lengths::Random { mean } => self.random(i / mean, mean) == i,
            Lengths::Geometric { mean } => i == 0 || word64(self.tag, i) <= u64::MAX / mean,
        }
    }

    /// The number of segments; `None` if only counting determines it.
    pub fn count(&self) -> Option<u64> {
        self.lengths.block().map(|block| self.elements.div_ceil(block))
    }

    /// The first element of segment `j`, n after the last; `None` if only counting determines it.
    #[inline(always)]
    pub fn pointer(&self, j: u64) -> Option<u64> {
        match self.lengths {
            Lengths::Constant { length } => Some(j.saturating_mul(length).min(self.elements)),
            Lengths::Random { mean } if j.saturating_mul(mean) < self.elements => Some(self.random(j, mean)),
            Lengths::Random { .. } => Some(self.elements),
            Lengths::Geometric { .. } => None,
        }
    }

    /// The elements of the segment that holds element `i`, i below n; `None` if only counting determines them.
    #[inline(always)]
    pub fn around(&self, i: u64) -> Option<Range<u64>> {
        let block = i / self.lengths.block()?;
        let behind = self.pointer(block).is_some_and(|head| head > i);
        let segment = block - u64::from(behind);
        Some(self.pointer(segment)?..self.pointer(segment + 1)?)
    }

    /// p_j.
    #[inline(always)]
    fn random(&self, j: u64, mean: u64) -> u64 {
        let start = j * mean;
        let size = mean.min(self.elements.saturating_sub(start));
        if j == 0 { 0 } else { start + scale(word64(self.tag, j), size) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lengths(kind: u8, mean: u64) -> Lengths {
        match kind % 3 {
            0 => Lengths::Constant { length: mean },
            1 => Lengths::Random { mean },
            _ => Lengths::Geometric { mean },
        }
    }

    proptest! {
        /// Flags and pointers agree, and the first element begins a segment.
        #[test]
        fn flags_and_pointers_agree(kind: u8, mean in 1u64..70, n in 0u64..500, seed: u64) {
            let segments = Segments::new(lengths(kind, mean), n, seed);
            let heads: Vec<u64> = (0..n).filter(|&i| segments.head(i)).collect();
            prop_assert_eq!(heads.first().copied(), (n > 0).then_some(0));
            if let Some(count) = segments.count() {
                let pointers: Vec<u64> = (0..count).filter_map(|j| segments.pointer(j)).collect();
                prop_assert_eq!(pointers, heads);
                prop_assert_eq!(segments.pointer(count), Some(n));
                for i in 0..n {
                    let around = segments.around(i).expect("a segment");
                    prop_assert!(around.contains(&i) && segments.head(around.start));
                    prop_assert!(around.end == n || segments.head(around.end));
                    prop_assert!((around.start + 1..around.end).all(|k| !segments.head(k)));
                }
            }
        }
    }

    #[test]
    fn lengths_have_their_mean() {
        let n = 1 << 18;
        for (kind, mean) in [(1, 16), (2, 16), (2, 1), (1, 1), (2, 1000)] {
            let segments = Segments::new(lengths(kind, mean), n, 5);
            let found = (0..n).filter(|&i| segments.head(i)).count() as f64;
            let wanted = n as f64 / mean as f64;
            assert!((found / wanted - 1.0).abs() < 0.15, "{kind} {mean}: {found} instead of {wanted}");
        }
    }

    /// sengupta2007 §2.2.2: word 0 has f0, f32, f64 and f96, word 31 f31, f63, f95 and f127.
    #[test]
    fn stripes_are_the_papers() {
        let bytes = |word: u64| (0..128).filter(|&i| striped(i) / 4 == word).collect::<Vec<_>>();
        assert_eq!((bytes(0), bytes(1)), (vec![0, 32, 64, 96], vec![1, 33, 65, 97]));
        assert_eq!((bytes(31), striped(128), striped(161)), (vec![31, 63, 95, 127], 128, 133));
        let mut all: Vec<u64> = (0..384).map(striped).collect();
        all.sort_unstable();
        assert_eq!(all, (0..384).collect::<Vec<_>>());
    }

    #[test]
    fn sizes_of_the_representations() {
        let bytes = |heads: Heads| heads.entries(129, 5).0 * heads.entries(129, 5).1;
        let all: Vec<u64> = Heads::NAMES.iter().map(|(_, heads)| bytes(*heads)).collect();
        assert_eq!(all, [20, 129, 256, 20, 20]);
    }

    /// The CUDA counterpart must give the same values.
    #[test]
    fn golden() {
        let heads = |lengths| {
            let segments = Segments::new(lengths, 1 << 10, 42);
            (0..100).filter(|&i| segments.head(i)).collect::<Vec<_>>()
        };
        let found = [heads(Lengths::Random { mean: 8 }), heads(Lengths::Geometric { mean: 8 })];
        insta::assert_debug_snapshot!(found.map(|heads| format!("{heads:?}")));
    }
}
