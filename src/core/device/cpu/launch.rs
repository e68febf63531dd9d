//! Assignment of elements to workers, and faults injected into it.

use std::ops::Range;

use super::Worker;
use crate::case::Fault;

/// Parts start at multiples of this many elements, so that workers share no cache lines and wide non-temporal
/// stores stay aligned.
const GRAIN: usize = 64;

/// Elements of [0, n) processed by worker `index` of `count`: a static, contiguous part.
pub fn part(n: usize, index: usize, count: usize) -> Range<usize> {
    cut(n, index, count, GRAIN)
}

fn cut(n: usize, index: usize, count: usize, grain: usize) -> Range<usize> {
    let units = n.div_ceil(grain) as u128;
    let at = |i: usize| ((units * i as u128 / count as u128) as usize * grain).min(n);
    at(index)..at(index + 1)
}

/// The elements of [0, n) processed by a worker, subject to `fault`: without one, its part and an empty range.
/// `grain` is 64 for array elements and 1 for iterations of a pattern.
///
/// `OffByOne` has no effect here: it shifts a base address (see the primitives). `WrongChunk` gives the last
/// worker its neighbour's part or, if only one worker has any elements, drops the second half of that part.
pub fn pieces(n: usize, grain: usize, worker: Worker, fault: Option<Fault>) -> [Range<usize>; 2] {
    let mine = cut(n, worker.index, worker.count, grain);
    let nothing = mine.end..mine.end;
    match fault {
        Some(Fault::MissingTail) => [mine.start.min(n - n.min(1))..mine.end.min(n - n.min(1)), nothing],
        Some(Fault::SkippedStore) if mine.contains(&(n / 2)) => [mine.start..n / 2, n / 2 + 1..mine.end],
        Some(Fault::WrongChunk) => [wrong_part(n, grain, worker, mine), nothing],
        _ => [mine, nothing],
    }
}

fn wrong_part(n: usize, grain: usize, worker: Worker, mine: Range<usize>) -> Range<usize> {
    let mut busy = (0..worker.count).rev().filter(|&i| !cut(n, i, worker.count, grain).is_empty());
    match (busy.next(), busy.next()) {
        (Some(last), Some(neighbour)) if last == worker.index => cut(n, neighbour, worker.count, grain),
        (Some(_), None) => mine.start..mine.start + mine.len() / 2,
        _ => mine,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::cpu::Pool;
    use proptest::prelude::*;

    fn handled(n: usize, grain: usize, pool: &Pool, fault: Option<Fault>) -> Vec<u32> {
        let mut times = vec![0; n];
        for piece in pool.run(|w| pieces(n, grain, w, fault)).into_iter().flatten() {
            piece.for_each(|i| times[i] += 1);
        }
        times
    }

    proptest! {
        #[test]
        fn parts_cover_everything_once(n in 0usize..5000, count in 1usize..20) {
            let parts: Vec<_> = (0..count).map(|i| part(n, i, count)).collect();
            prop_assert_eq!((parts[0].start, parts[count - 1].end), (0, n));
            for pair in parts.windows(2) {
                prop_assert_eq!(pair[0].end, pair[1].start);
                prop_assert!(pair[1].start % GRAIN == 0 || pair[1].start == n);
            }
        }
    }

    #[test]
    fn faults_leave_something_out() {
        let pools = [Pool::new(Some(1)).expect("a pool"), Pool::new(None).expect("a pool")];
        for (pool, n) in pools.iter().flat_map(|p| [1, 2, 63, 64, 65, 1000].map(|n| (p, n))) {
            for grain in [1, 64] {
                assert!(handled(n, grain, pool, None).iter().all(|&t| t == 1));
                assert!(handled(n, grain, pool, Some(Fault::OffByOne)).iter().all(|&t| t == 1));
                assert!(handled(n, grain, pool, Some(Fault::WrongChunk)).contains(&0), "{n}");
                for (fault, lost) in [(Fault::MissingTail, n - 1), (Fault::SkippedStore, n / 2)] {
                    let times = handled(n, grain, pool, Some(fault));
                    let missing: Vec<_> = (0..n).filter(|&i| times[i] == 0).collect();
                    assert_eq!(missing, [lost], "{fault:?} {n}");
                }
            }
        }
        assert!(handled(0, 1, &pools[0], Some(Fault::MissingTail)).is_empty());
    }
}
