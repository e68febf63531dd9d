//! Tiles as those of split-radix, each sorted by quicksort in passes over all of its segments at once (sengupta2007 §4.1),
//! and then merged.
//!
//! A pass parts every segment at its first key: falses first, then trues, which begin a segment. It compares > in even
//! passes and ≥ in odd ones, for with one comparison alone a segment whose first key is its greatest, or its least, would
//! stay as it is. Each split is stable and never parts equal keys, so the sort is stable. It ends when the keys are in
//! order; if they are not after the most passes, which adversarial keys reach, they are split by their bits.

use super::split_radix;
use crate::primitives::Costs;
use crate::primitives::sort::Spec;

pub fn costs(spec: &Spec) -> Costs<'_> {
    split_radix::of_tiles(spec)
}

#[expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]
pub mod cpu {
    use super::split_radix::cpu::by_bits;
    use crate::primitives::sort::cpu::prelude::*;
    use crate::primitives::sort::cpu::tiles::Tiles;

    /// A worker has room for the first key of each segment of a tile, of this pass and of the next.
    pub fn method(made: &Made, passes: u64) -> Result<PoolMethod<Sort>, Failure> {
        let tiles = Tiles::new(made)?;
        let starts = || Buffer::new(4 * tiles.tile.min(made.spec.keys as usize));
        let segments = made.each(|| Ok([starts()?, starts()?]))?;
        Ok(by_types!(made.spec, |K, V| Box::new(move |all, worker| {
            let (field, segments) = (all.spec.digits(1), &segments[worker.index]);
            let segments = || segments.each_ref().map(Buffer::ptr);
            // SAFETY: a worker has places and segments of its own for the keys of a tile.
            let in_tile = |turns, n| unsafe { sort::<K, V>(turns, n, field, segments(), passes) };
            // SAFETY: the pool's workers all execute.
            unsafe { tiles.sort::<K, V>(all, worker, in_tile) }
        })))
    }

    /// Sorts `n` keys of the first place, in turn with the second, and returns where they are then.
    ///
    /// # Safety
    /// Both places have room for `n` keys and values that nobody else uses, and `segments` for `n` numbers each.
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
}

pub mod cuda {
    use super::split_radix::cuda::{kernels_of_tiles, of_tiles};
    use crate::primitives::sort::cuda::prelude::*;

    /// The kernel that sorts tiles.
    const BY_PIVOTS: &str = "tile_by_pivots";

    pub fn kernels(spec: &Spec) -> KernelList {
        kernels_of_tiles(spec, BY_PIVOTS)
    }

    pub fn method(gpu: &Gpu, spec: &Spec, passes: u64) -> Result<GpuMethod<Call>, Failure> {
        of_tiles(gpu, spec, BY_PIVOTS, passes as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::sort::cpu::tiles::tests::*;

    #[test]
    fn tiles_are_sorted_stably_by_bits_and_by_pivots() {
        for (keys, passes) in
            inputs().into_iter().flat_map(|keys| [0, 1, 2, 9, 4000].map(|p| (keys.clone(), p)))
        {
            let (n, mut tile) = (keys.len(), pairs(keys.iter().copied()));
            let (mut copy, mut heads) = (tile.clone(), [vec![0; n], vec![0; n]]);
            let places = [place(&mut tile), place(&mut copy)];
            let heads = heads.each_mut().map(|heads| heads.as_mut_ptr());
            // SAFETY: all arrays have n elements.
            let sorted = unsafe { cpu::sort::<u32, u32>(places, n, FIELD, heads, passes) };
            assert_eq!(found(sorted, n), wanted(&keys), "{n} keys in {passes} passes");
        }
    }
}
