//! A tile sorted by quicksort in passes over all segments at once (sengupta2007 §4.1).
//!
//! A pass parts every segment at its first key: falses first, then trues, which begin a segment. It compares > in even
//! passes and ≥ in odd ones, for with one comparison alone a segment whose first key is its greatest, or its least, would
//! stay as it is. Each split is stable and never parts equal keys, so the sort is stable. It ends when the keys are in
//! order; if they are not after the most passes, which adversarial keys reach, they are split by their bits.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use super::tiles::by_bits;
use super::{Key, Place};
use crate::primitives::cpu::tuple::Tuple;
use crate::primitives::sort::digits::Digits;

/// Sorts `n` keys of the first place, in turn with the second, and returns where they are then. `segments` have room for
/// `n` numbers each.
#[inline(always)]
pub unsafe fn sort<K: Key, V: Tuple>(
    [mut from, mut to]: [Place; 2],
    n: usize,
    field: Digits,
    [mut heads, mut next]: [*mut u32; 2],
    most: u64,
) -> Place {
    let (mask, mut segments) = (field.mask(), 1);
    unsafe { *heads = 0 };
    for pass in 0..most {
        unsafe {
            if in_order::<K>(from, n, mask) {
                return from;
            }
            let mut made = 0;
            for segment in 0..segments {
                let start = *heads.add(segment) as usize;
                let end = if segment + 1 < segments { *heads.add(segment + 1) as usize } else { n };
                let falses = split::<K, V>((from, to), (start, end), mask, pass % 2 == 0);
                *next.add(made) = start as u32;
                made += 1;
                if falses > 0 && start + falses < end {
                    *next.add(made) = (start + falses) as u32;
                    made += 1;
                }
            }
            segments = made;
        }
        (from, to, heads, next) = (to, from, next, heads);
    }
    unsafe { by_bits::<K, V>([from, to], n, field) }
}

#[inline(always)]
unsafe fn in_order<K: Key>(at: Place, n: usize, mask: u64) -> bool {
    (1..n).all(|i| unsafe { at.key::<K>(i - 1).wide() & mask <= at.key::<K>(i).wide() & mask })
}

/// Splits a segment at its first key; returns the number of falses.
#[inline(always)]
unsafe fn split<K: Key, V: Tuple>(
    (from, to): (Place, Place),
    (start, end): (usize, usize),
    mask: u64,
    greater: bool,
) -> usize {
    unsafe {
        let pivot = from.key::<K>(start).wide() & mask;
        let is_false = |key: K| {
            let key = key.wide() & mask;
            usize::from(if greater { key <= pivot } else { key < pivot })
        };
        let falses: usize = (start..end).map(|i| is_false(from.key::<K>(i))).sum();
        let mut f = 0;
        for i in start..end {
            let pair = from.take::<K, V>(i);
            let this = is_false(pair.key);
            pair.put(to, if this == 1 { start + f } else { i - f + falses });
            f += this;
        }
        falses
    }
}
