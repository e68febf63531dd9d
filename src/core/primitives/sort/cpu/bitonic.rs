//! The bitonic sorting network (`sort::bitonic`): all levels of a span that fits in a tile are computed tile after tile,
//! which stays in cache, by the tile's worker; for each other level the workers divide the comparisons. Keys with values
//! take the numbers of their places along, by which equal keys are compared, and by which the values are gathered at
//! the end.

#![expect(
    clippy::undocumented_unsafe_blocks,
    reason = "each block is the body of an unsafe function, whose caller promises what the documentation of `Run` asks for"
)]

use std::ops::Range;

use super::{Digits, Key, Place, Sort};
use crate::device::cpu::{Worker, part};
use crate::primitives::cpu::tuple::{None, Tuple};
use crate::primitives::sort::bitonic::{Launch, TILE, launches};

/// A worker's share of a sort, as [`Run`](super::Run).
pub unsafe fn run<K: Key, V: Tuple>(sort: &Sort, worker: Worker) {
    unsafe {
        if size_of::<V>() > 0 {
            with_places::<K, V, u32>(sort, worker)
        } else {
            with_places::<K, V, None>(sort, worker)
        }
    }
}

/// The same with places of type `P`, which may be nothing.
unsafe fn with_places<K: Key, V: Tuple, P: Position>(sort: &Sort, worker: Worker) {
    let (n, (mut next, pieces)) = (sort.taken(worker), sort.share(worker, worker.index));
    let network: Network<K, P> = Network {
        keys: sort.output.keys.ptr(),
        places: sort.between.place().keys.cast(),
        n,
        field: sort.spec.digits(8),
    };
    let from = sort.source::<K, V>();
    unsafe {
        for i in pieces.into_iter().flatten() {
            K::take(from.keys.cast::<K>().add(i)).put(network.keys.add(next));
            P::at(i).put(network.places.add(next));
            next += 1;
        }
        worker.meet();
        network.sort(&worker);
        gather::<V, P>(network.places, from, sort.output.place(), part(n, worker.index, worker.count));
    }
}

/// Moves the values of these places.
unsafe fn gather<V: Tuple, P: Position>(places: *const P, from: Place, to: Place, range: Range<usize>) {
    for i in range {
        unsafe {
            V::take(from.values.cast::<V>().add(P::take(places.add(i)).place()))
                .put(to.values.cast::<V>().add(i));
        }
    }
}

/// The number of a place in the input, or nothing.
trait Position: Tuple {
    fn at(i: usize) -> Self;

    fn place(self) -> usize;
}

impl Position for u32 {
    fn at(i: usize) -> u32 {
        i as u32
    }

    #[inline(always)]
    fn place(self) -> usize {
        self as usize
    }
}

impl Position for None {
    fn at(_: usize) -> None {
        None
    }

    #[inline(always)]
    fn place(self) -> usize {
        0
    }
}

/// Keys that a network sorts where they are.
struct Network<K, P> {
    keys: *mut K,
    places: *mut P,
    n: usize,
    field: Digits,
}

impl<K: Key, P: Position> Network<K, P> {
    /// Sorts all keys; all workers call it.
    unsafe fn sort(&self, worker: &Worker) {
        for launch in launches(self.n as u64, 1) {
            unsafe {
                match launch {
                    Launch::Tiles => self.in_tiles(worker, |tile| self.sort_tile(tile)),
                    Launch::Rest => self.in_tiles(worker, |tile| self.finish_tile(tile)),
                    Launch::Levels { span, mirrored, .. } => {
                        // As many comparisons as if the last span were full.
                        let all = self.n.next_multiple_of(span as usize) / 2;
                        self.level(part(all, worker.index, worker.count), span as usize, mirrored);
                    }
                }
            }
            worker.meet();
        }
    }

    /// Calls `then` with the comparisons of each of the worker's tiles.
    fn in_tiles(&self, worker: &Worker, then: impl Fn(Range<usize>)) {
        let (tile, tiles) = (TILE as usize, self.n.div_ceil(TILE as usize));
        let at = |index: usize| tiles * index / worker.count;
        (at(worker.index)..at(worker.index + 1)).for_each(|i| then(i * tile / 2..(i + 1) * tile / 2));
    }

    fn sort_tile(&self, tile: Range<usize>) {
        for stage in 1..=TILE.ilog2() {
            for log in (1..=stage).rev() {
                // SAFETY: a tile's comparisons are of its own keys, and one worker's.
                unsafe { self.level(tile.clone(), 1 << log, log == stage) };
            }
        }
    }

    fn finish_tile(&self, tile: Range<usize>) {
        for log in (1..=TILE.ilog2()).rev() {
            // SAFETY: as above.
            unsafe { self.level(tile.clone(), 1 << log, false) };
        }
    }

    /// Some of the comparisons of a level, of which each pair of keys in a span has one.
    #[inline(always)]
    unsafe fn level(&self, comparisons: Range<usize>, span: usize, mirrored: bool) {
        let half = span / 2;
        for c in comparisons {
            let low = (c & !(half - 1)) * 2 + (c & (half - 1));
            let high = if mirrored { low ^ (span - 1) } else { low + half };
            if low >= self.n {
                break;
            }
            if high < self.n {
                unsafe { self.exchange(low, high) };
            }
        }
    }

    /// Puts the smaller of two keys first.
    #[inline(always)]
    unsafe fn exchange(&self, low: usize, high: usize) {
        unsafe {
            let [a, b] = [low, high].map(|at| K::take(self.keys.add(at)));
            let [p, q] = [low, high].map(|at| P::take(self.places.add(at)));
            if (self.field.field(a.wide()), p.place()) > (self.field.field(b.wide()), q.place()) {
                a.put(self.keys.add(high));
                b.put(self.keys.add(low));
                p.put(self.places.add(high));
                q.put(self.places.add(low));
            }
        }
    }
}
