//! The rows of each worker, and deliberate mistakes in them.

use std::ops::Range;

use crate::case::Fault;

/// Rows whose part of a dot product is one sum, whoever makes it.
pub const CHUNK: usize = 32;

/// Two ranges of rows for each worker.
pub struct Shares(Vec<[Range<usize>; 2]>);

impl Shares {
    /// Whole chunks, with about as many rows and entries in each share.
    pub fn new(starts: &[u32], workers: usize, fault: Option<Fault>) -> Shares {
        let n = starts.len() - 1;
        let weight = |row: usize| row as u64 + u64::from(starts[row]);
        let ends: Vec<usize> = (0..=workers as u64)
            .map(|worker| {
                let wanted = weight(n) * worker / workers as u64;
                let chunks = (0..n.div_ceil(CHUNK)).collect::<Vec<_>>();
                (chunks.partition_point(|chunk| weight(chunk * CHUNK) < wanted) * CHUNK).min(n)
            })
            .collect();
        let mut shares: Vec<_> = ends.windows(2).map(|ends| [ends[0]..ends[1], n..n]).collect();
        let busy = |share: &[Range<usize>; 2]| !share[0].is_empty();
        if let (Some(fault), Some(last)) = (fault, shares.iter().rposition(busy)) {
            let neighbour = shares[..last].iter().rfind(|share| busy(share)).cloned();
            shares[last] = wrong(fault, shares[last][0].clone(), neighbour);
        }
        Shares(shares)
    }

    /// The chunks of a worker, with their rows.
    pub fn chunks(&self, worker: usize) -> impl Iterator<Item = (usize, Range<usize>)> {
        let ranges = self.0[worker].iter().filter(|range| !range.is_empty());
        ranges.flat_map(|range| {
            let rows = |chunk: usize| (chunk * CHUNK).max(range.start)..((chunk + 1) * CHUNK).min(range.end);
            (range.start / CHUNK..range.end.div_ceil(CHUNK)).map(move |chunk| (chunk, rows(chunk)))
        })
    }
}

/// The share of the last worker that has one, by a mistake of rows: without its last row, without one in its middle, or
/// its neighbour's (its first half, if it has none).
fn wrong(fault: Fault, own: Range<usize>, neighbour: Option<[Range<usize>; 2]>) -> [Range<usize>; 2] {
    let (middle, nothing) = (own.start + own.len() / 2, own.end..own.end);
    match fault {
        Fault::MissingTail => [own.start..own.end - 1, nothing],
        Fault::SkippedStore => [own.start..middle, middle + 1..own.end],
        Fault::WrongChunk => neighbour.unwrap_or([own.start..middle, nothing]),
        _ => [own, nothing],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(n: usize, workers: usize, fault: Option<Fault>) -> Vec<u32> {
        let starts: Vec<u32> = (0..=n as u32).map(|row| row * row / 2).collect();
        let shares = Shares::new(&starts, workers, fault);
        let mut times = vec![0; n];
        for (chunk, rows) in (0..workers).flat_map(|worker| shares.chunks(worker)) {
            assert!(rows.start / CHUNK == chunk && rows.end <= (chunk + 1) * CHUNK);
            rows.for_each(|row| times[row] += 1);
        }
        times
    }

    #[test]
    fn each_row_is_handled_once_and_a_mistake_leaves_one_out() {
        for (n, workers) in [0, 1, 31, 32, 33, 1000].into_iter().flat_map(|n| [1, 2, 3, 16].map(|w| (n, w))) {
            assert!(handled(n, workers, None).iter().all(|times| *times == 1), "{n} rows, {workers} workers");
            for fault in [Fault::MissingTail, Fault::SkippedStore, Fault::WrongChunk] {
                assert!(
                    n == 0 || handled(n, workers, Some(fault)).contains(&0),
                    "{fault:?} of {n}, {workers}"
                );
            }
        }
    }

    #[test]
    fn shares_have_as_many_entries_as_rows_of_one_chunk_allow() {
        let starts: Vec<u32> = (0..=100_000u32).map(|row| 50 * row).collect();
        let shares = Shares::new(&starts, 7, None);
        for worker in 0..7 {
            let rows: usize = shares.chunks(worker).map(|(_, rows)| rows.len()).sum();
            assert!(rows.abs_diff(100_000 / 7) <= CHUNK, "{rows}");
        }
    }
}
