//! Tiles that fit in a cache, each sorted by one worker, and a merge of all of them, in rounds, by all workers
//! (sengupta2007 §5): *split-radix* by one bit of the keys after another (§2.3.3), *quicksort* by pivots (§4.1).
//!
//! Memory is read and written once for the tiles, and once for each doubling of the sorted runs. In its cache a tile is
//! moved once for each bit, or for each pass of quicksort.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::ops::Range;

use super::{Key, Pairs, Place, Sort, quicksort};
use crate::case::Failure;
use crate::device::cpu::{Buffer, Worker, part};
use crate::primitives::cpu::tuple::Tuple;
use crate::primitives::sort::Spec;
use crate::primitives::sort::digits::Digits;
use crate::primitives::sort::spec::Method;
use crate::primitives::sort::tiles;

/// What a worker needs to sort a tile.
pub struct Room {
    copy: Pairs,
    /// quicksort: the first key of each segment, of this pass and of the next.
    segments: [Buffer; 2],
}

impl Room {
    /// Room for a tile of the case.
    pub fn new(spec: &Spec) -> Result<Room, Failure> {
        let tile = tiles::tile(spec).min(spec.keys);
        let segments = if matches!(spec.method, Method::Quicksort { .. }) { tile } else { 0 };
        let starts = || Buffer::new(4 * segments as usize);
        Ok(Room {
            copy: Pairs::new(tile, [spec.key_bytes(), spec.value()])?,
            segments: [starts()?, starts()?],
        })
    }
}

/// A worker's share of a sort, as [`Run`](super::Run). The output and the array between take turns, so that the last
/// round writes the output.
pub unsafe fn run<K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
    let (n, tile) = (given(sort, worker).map(|piece| piece.len()).sum::<usize>().min(sort.n()), tile(sort));
    let rounds = tiles::rounds(n as u64, tile as u64);
    let turns = [sort.output.place(), sort.between.place()];
    let after = |round: u32| turns[(rounds - round) as usize % 2];
    for start in (worker.index * tile..n).step_by(worker.count * tile) {
        unsafe { sort_tile::<K, V>(sort, worker, start..n.min(start + tile), after(0)) };
    }
    for round in 0..rounds {
        worker.meet();
        let mine = part(n, worker.index, worker.count);
        let merge = MergeRound { from: after(round), to: after(round + 1), n, width: tile << round };
        unsafe { merge.run::<K, V>(sort.spec.digits(8).mask(), mine) };
    }
}

fn tile(sort: &Sort) -> usize {
    tiles::tile(&sort.spec) as usize
}

/// The parts of the input that are sorted, one behind the other: all of it, unless there is a mistake.
fn given<'a>(sort: &'a Sort, worker: Worker<'a>) -> impl Iterator<Item = Range<usize>> + 'a {
    (0..worker.count).flat_map(move |index| {
        let mut other = worker;
        other.index = index;
        sort.pieces(other)
    })
}

/// Sorts keys `range` of those given, into the same places of `to`.
unsafe fn sort_tile<K: Key, V: Tuple>(sort: &Sort, worker: Worker, range: Range<usize>, to: Place) {
    let (room, n, digits) = (&sort.tile_rooms[worker.index], range.len(), sort.spec.digits(1));
    let (tile, copy) = (to.further::<K, V>(range.start), room.copy.place());
    let source = sort.source::<K, V>();
    let mut before = 0;
    for piece in given(sort, worker) {
        let here = range.start.max(before)..range.end.min(before + piece.len());
        if !here.is_empty() {
            let from = source.further::<K, V>(piece.start + here.start - before);
            unsafe { copy_all::<K, V>(from, tile.further::<K, V>(here.start - range.start), here.len()) };
        }
        before += piece.len();
    }
    let sorted = unsafe {
        match sort.spec.method {
            Method::Quicksort { passes } => {
                let segments = room.segments.each_ref().map(Buffer::ptr::<u32>);
                quicksort::sort::<K, V>([tile, copy], n, digits, segments, passes)
            }
            _ => by_bits::<K, V>([tile, copy], n, digits),
        }
    };
    if sorted.keys != tile.keys {
        unsafe { copy_all::<K, V>(sorted, tile, n) };
    }
}

/// Copies `n` keys and values.
#[inline(always)]
unsafe fn copy_all<K: Key, V: Tuple>(from: Place, to: Place, n: usize) {
    for i in 0..n {
        unsafe { from.take::<K, V>(i).put(to, i) };
    }
}

/// Splits `n` keys by each bit of the field, the lowest first, from the first place to the second and back; returns where
/// they are then.
#[inline(always)]
pub unsafe fn by_bits<K: Key, V: Tuple>([mut from, mut to]: [Place; 2], n: usize, field: Digits) -> Place {
    let is_false = |key: K, bit: u32| usize::from(key.wide() >> bit & 1 == 0);
    let mut falses: usize = (0..n).map(|i| is_false(unsafe { from.key::<K>(i) }, field.begin)).sum();
    for bit in field.begin..field.end {
        // Falses go to f, the number of falses before them, trues to i − f + NF. The next bit's falses are counted meanwhile.
        let (mut f, mut next, following) = (0, 0, (bit + 1).min(field.end - 1));
        for i in 0..n {
            let pair = unsafe { from.take::<K, V>(i) };
            let this = is_false(pair.key, bit);
            let at = if this == 1 { f } else { i - f + falses };
            f += this;
            next += is_false(pair.key, following);
            unsafe { pair.put(to, at) };
        }
        (from, to, falses) = (to, from, next);
    }
    from
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix::mix64;

    const FIELD: Digits = Digits { begin: 2, end: 9, radix: 1 };

    /// Keys, each with its place as value.
    fn pairs(keys: impl Iterator<Item = u32>) -> (Vec<u32>, Vec<u32>) {
        let keys: Vec<u32> = keys.collect();
        let places = (0..keys.len() as u32).collect();
        (keys, places)
    }

    fn place((keys, values): &mut (Vec<u32>, Vec<u32>)) -> Place {
        Place { keys: keys.as_mut_ptr().cast(), values: values.as_mut_ptr().cast() }
    }

    /// What a stable sort leaves.
    fn wanted(keys: &[u32]) -> Vec<(u32, u32)> {
        let mut all: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        all.sort_by_key(|(key, _)| FIELD.field(u64::from(*key)));
        all
    }

    /// What lies at a place.
    fn found(at: Place, n: usize) -> Vec<(u32, u32)> {
        (0..n)
            .map(|i| {
                // SAFETY: the place is in one of the test's arrays of n keys and values.
                let pair = unsafe { at.take::<u32, u32>(i) };
                (pair.key, pair.value)
            })
            .collect()
    }

    fn inputs() -> Vec<Vec<u32>> {
        let random = |n: u64, most: u64| (0..n).map(move |i| (mix64(i) % most) as u32).collect();
        let mut all: Vec<Vec<u32>> =
            [1, 2, 31, 32, 33, 1000].into_iter().flat_map(|n| [random(n, 1 << 30), random(n, 40)]).collect();
        all.extend([(0..900).collect(), (0..900).rev().collect(), vec![7; 99]]);
        all
    }

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
            let sorted = unsafe { quicksort::sort::<u32, u32>(places, n, FIELD, heads, passes) };
            assert_eq!(found(sorted, n), wanted(&keys), "{n} keys in {passes} passes");
        }
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
            for round in 0..tiles::rounds(n as u64, width as u64) {
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
