//! Tiles that fit in a cache, each sorted by one worker, and a merge of all of them, in rounds, by all workers
//! (sengupta2007 §5). Memory is read and written once for the tiles, and once for each doubling of the sorted runs.

#![expect(clippy::undocumented_unsafe_blocks, reason = "each caller promises what `Run` asks for")]

use crate::primitives::sort::cpu::prelude::*;
use crate::primitives::sort::methods::split_radix::{rounds, tile};

/// The rooms in which workers sort tiles.
pub struct Tiles {
    /// Keys of a tile.
    pub tile: usize,
    /// Per worker: room for another tile.
    copies: Vec<Pairs>,
}

impl Tiles {
    /// Room for tiles of the case.
    pub fn new(made: &Made) -> Result<Tiles, Failure> {
        let (tile, n) = (tile(made.spec), made.spec.keys);
        let copies = made.each(|| Pairs::new(tile.min(n), made.spec.sizes()))?;
        Ok(Tiles { tile: tile as usize, copies })
    }

    /// A worker's share of a sort, whose tiles `in_tile` sorts: so many keys of the first place, in turn with the second;
    /// it returns where they are then. The output and the array between take turns, so that the last round writes the
    /// output.
    ///
    /// # Safety
    /// As for [`Run`](super::Run).
    pub unsafe fn sort<K: Key, V: Tuple>(
        &self,
        sort: &Sort,
        worker: Worker,
        in_tile: impl Fn([Place; 2], usize) -> Place,
    ) {
        let (n, tile) = (sort.taken(worker), self.tile);
        let rounds = rounds(n as u64, tile as u64);
        let turns = [sort.output.place(), sort.between.place()];
        let after = |round: u32| turns[(rounds - round) as usize % 2];
        for start in (worker.index * tile..n).step_by(worker.count * tile) {
            let (range, copy) = (start..n.min(start + tile), self.copies[worker.index].place());
            let (tile, n) = (after(0).further::<K, V>(start), range.len());
            unsafe {
                load::<K, V>(sort, worker, range, tile);
                let sorted = in_tile([tile, copy], n);
                if sorted.keys != tile.keys {
                    copy_all::<K, V>(sorted, tile, n);
                }
            }
        }
        for round in 0..rounds {
            worker.meet();
            let mine = part(n, worker.index, worker.count);
            let merge = MergeRound { from: after(round), to: after(round + 1), n, width: tile << round };
            unsafe { merge.run::<K, V>(sort.spec.digits(8).mask(), mine) };
        }
    }
}

/// Copies keys `range` of those given.
unsafe fn load<K: Key, V: Tuple>(sort: &Sort, worker: Worker, range: Range<usize>, to: Place) {
    let (source, mut before) = (sort.source::<K, V>(), 0);
    for piece in sort.given(worker) {
        let here = range.start.max(before)..range.end.min(before + piece.len());
        if !here.is_empty() {
            let from = source.further::<K, V>(piece.start + here.start - before);
            unsafe { copy_all::<K, V>(from, to.further::<K, V>(here.start - range.start), here.len()) };
        }
        before += piece.len();
    }
}

/// Copies `n` keys and values.
#[inline(always)]
unsafe fn copy_all<K: Key, V: Tuple>(from: Place, to: Place, n: usize) {
    for i in 0..n {
        unsafe { from.take::<K, V>(i).put(to, i) };
    }
}

/// A round of the merge of `n` keys: every two neighbouring sorted runs of `width` become one, stably.
///
/// Workers have equal parts of the output, wherever runs begin. By *merge path* (Odeh, Green, Mwassi, Shmueli, Birk: Merge
/// Path, 2012) each finds how many of the keys before its part come from the first run, and how many from the second.
#[derive(Clone, Copy)]
struct MergeRound {
    from: Place,
    to: Place,
    n: usize,
    width: usize,
}

impl MergeRound {
    /// Writes the keys `mine` of the output, compared by the bits of `mask`.
    #[inline(always)]
    unsafe fn run<K: Key, V: Tuple>(self, mask: u64, mine: Range<usize>) {
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

    /// The number of the first `so_many` keys that come from the first run; among equal keys, those of the first run do so first.
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

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::inputs::mix::mix64;

    pub const FIELD: Digits = Digits { begin: 2, end: 9, radix: 1 };

    /// Keys, each with its place as value.
    pub fn pairs(keys: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<u32>) {
        let keys: Vec<u32> = keys.collect();
        let places = (0..keys.len() as u32).collect();
        (keys, places)
    }

    pub fn place((keys, values): &mut (Vec<u32>, Vec<u32>)) -> Place {
        Place { keys: keys.as_mut_ptr().cast(), values: values.as_mut_ptr().cast() }
    }

    /// The result of a stable sort.
    pub fn wanted(keys: &[u32]) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        all.sort_by_key(|(key, _)| FIELD.field(u64::from(*key)));
        all
    }

    /// The key and the value at a place.
    pub fn found(at: Place, n: usize) -> Vec<(u32, u32)> {
        (0..n)
            .map(|i| {
                // SAFETY: the place is in one of the test's arrays of n keys and values.
                let pair = unsafe { at.take::<u32, u32>(i) };
                (pair.key, pair.value)
            })
            .collect()
    }

    pub fn inputs() -> Vec<Vec<u32>> {
        let random = |n: u64, most: u64| (0..n).map(move |i| (mix64(i) % most) as u32).collect();
        let mut all: Vec<Vec<u32>> =
            [1, 2, 31, 32, 33, 1000].into_iter().flat_map(|n| [random(n, 1 << 30), random(n, 40)]).collect();
        all.extend([(0..900).collect(), (0..900).rev().collect(), vec![7; 99]]);
        all
    }

    #[test]
    fn runs_are_merged_stably_by_any_number_of_workers() {
        for (keys, width) in inputs().into_iter().flat_map(|keys| [1, 3, 16, 500].map(|w| (keys.clone(), w)))
        {
            let (n, mut from) = (keys.len(), pairs(keys.iter().copied()));
            let mut to = from.clone();
            for start in (0..n).step_by(width) {
                let run = start..n.min(start + width);
                for (i, (key, of)) in wanted(&keys[run.clone()]).into_iter().enumerate() {
                    (from.0[start + i], from.1[start + i]) = (key, start as u32 + of);
                }
            }
            for round in 0..rounds(n as u64, width as u64) {
                let merge =
                    MergeRound { from: place(&mut from), to: place(&mut to), n, width: width << round };
                for worker in 0..7 {
                    // SAFETY: all arrays have n elements.
                    unsafe { merge.run::<u32, u32>(FIELD.mask(), n * worker / 7..n * (worker + 1) / 7) };
                }
                std::mem::swap(&mut from, &mut to);
            }
            assert_eq!(found(place(&mut from), n), wanted(&keys), "{n} keys in runs of {width}");
        }
    }
}
