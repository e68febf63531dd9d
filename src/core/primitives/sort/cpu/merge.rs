//! A round of a parallel merge: every two neighbouring sorted runs become one, stably.
//!
//! Workers have equal parts of the output, wherever runs begin. By *merge path* (Odeh, Green, Mwassi, Shmueli, Birk: Merge
//! Path, 2012) each finds how many of the keys before its part come from the first run, and how many from the second.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::ops::Range;

use super::tiles::copy_all;
use super::{Key, Place};
use crate::primitives::cpu::tuple::Tuple;

/// A round for `n` keys in sorted runs of `width`.
#[derive(Clone, Copy)]
pub struct Round {
    pub from: Place,
    pub to: Place,
    pub n: usize,
    pub width: usize,
}

impl Round {
    /// Writes the keys `mine` of the output, compared by the bits of `mask`.
    #[inline(always)]
    pub unsafe fn run<K: Key, V: Tuple>(self, mask: u64, mine: Range<usize>) {
        let mut at = mine.start;
        while at < mine.end {
            let start = at - at % (2 * self.width);
            let middle = self.n.min(start + self.width);
            let end = self.n.min(start + 2 * self.width);
            let stop = mine.end.min(end);
            unsafe { self.merge::<K, V>(mask, [start, middle, end], at..stop) };
            at = stop;
        }
    }

    /// Writes keys `out` of the run that is made of start … middle and middle … end.
    #[inline(always)]
    unsafe fn merge<K: Key, V: Tuple>(
        self,
        mask: u64,
        [start, middle, end]: [usize; 3],
        mut out: Range<usize>,
    ) {
        unsafe {
            let taken = self.taken::<K>(mask, [start, middle, end], out.start - start);
            let (mut a, mut b) = (start + taken, middle + out.start - start - taken);
            while a < middle && b < end && !out.is_empty() {
                let (left, right) = (self.from.take::<K, V>(a), self.from.take::<K, V>(b));
                let first = left.key.wide() & mask <= right.key.wide() & mask;
                (if first { left } else { right }).put(self.to, out.start);
                a += usize::from(first);
                b += usize::from(!first);
                out.start += 1;
            }
            let rest = if a < middle { a } else { b };
            copy_all::<K, V>(self.from.further::<K, V>(rest), self.to.further::<K, V>(out.start), out.len());
        }
    }

    /// How many of the first `so_many` keys come from the first run; among equal keys, those of the first run do so first.
    #[inline(always)]
    unsafe fn taken<K: Key>(self, mask: u64, [start, middle, end]: [usize; 3], so_many: usize) -> usize {
        let key = |at: usize| unsafe { self.from.key::<K>(at) }.wide() & mask;
        let (mut low, mut high) = (so_many.saturating_sub(end - middle), so_many.min(middle - start));
        while low < high {
            let i = (low + high) / 2;
            if key(start + i) <= key(middle + so_many - 1 - i) { low = i + 1 } else { high = i }
        }
        low
    }
}
