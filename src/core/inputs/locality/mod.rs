//! Static statistics of an index array: its footprint, its strides, and its reuse distances. Pure.

mod reuse;
mod touch;

use serde::Serialize;

use super::applications::classify;
use crate::memory::{self, NoMemory};
use reuse::Stack;
pub use touch::{LINE_SIZES, Touch, Touched};

/// Size of a sector, the part of a line that a GPU transfers, bytes.
pub const SECTOR: u64 = 32;
/// Size of a page, bytes.
pub const PAGE: u64 = 4096;
/// Capacities of the simulated caches, bytes.
pub const CACHES: [u64; 3] = [32 << 10, 1 << 20, 32 << 20];
/// Most accesses to lines that are simulated. Each one needs up to 48 bytes of memory, hence 6 GiB in total.
pub const MAX_ACCESSES: u64 = 1 << 27;
/// Largest element, bytes.
pub const MAX_ELEMENT: u64 = 4096;
/// Smallest and largest line, bytes; a line must be a power of two.
pub const LINES: [u64; 2] = [8, 1 << 20];

/// The mapping from indices to addresses: element `i` occupies the bytes `[i·element, (i+1)·element)`, and
/// memory is divided into lines from byte 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Layout {
    /// Bytes per element.
    pub element: u64,
    /// Bytes per line.
    pub line: u64,
}

impl Layout {
    /// First and last unit of `bytes` bytes touched by element `index`.
    fn units(self, index: u64, bytes: u64) -> (u64, u64) {
        let first = index * self.element;
        (first / bytes, (first + self.element - 1) / bytes)
    }

    /// The lines touched by the indices, in order of access.
    fn lines(self, indices: &[u64]) -> impl Iterator<Item = u64> {
        indices.iter().flat_map(move |&index| {
            let (first, last) = self.units(index, self.line);
            first..=last
        })
    }
}

/// A bin of a histogram: values from `low` to `high`, inclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Bin<T> {
    pub low: T,
    pub high: T,
    pub count: u64,
}

/// Differences between neighbouring indices, in elements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Strides {
    /// Number of differences: one less than the number of indices.
    pub count: u64,
    /// Number of differences that are exactly 1.
    pub ones: u64,
    /// Histogram by powers of two and sign, ascending, without empty bins.
    pub bins: Vec<Bin<i64>>,
}

/// Reuse distances of lines: the number of distinct other lines touched between two accesses to a line (the
/// exact LRU stack distance).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reuse {
    /// Number of accesses to lines; an element that straddles two lines counts twice.
    pub accesses: u64,
    /// Number of first accesses to a line.
    pub cold: u64,
    /// Number of lines touched more than once.
    pub lines_reused: u64,
    /// Reuse distances of the other accesses, by powers of two, ascending, without empty bins.
    pub bins: Vec<Bin<u64>>,
    pub caches: Vec<CacheHits>,
}

/// Hits of a fully associative LRU cache that is initially empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CacheHits {
    pub bytes: u64,
    /// Number of accesses that hit.
    pub hits: u64,
}

/// The statistics of an index array.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Locality {
    pub layout: Layout,
    /// Number of indices.
    pub count: u64,
    pub min: u64,
    pub max: u64,
    /// The class according to [`classify`].
    pub class: String,
    pub distinct_elements: u64,
    /// Sectors have [`SECTOR`] bytes.
    pub distinct_sectors: u64,
    pub distinct_lines: u64,
    /// Pages have [`PAGE`] bytes.
    pub distinct_pages: u64,
    pub strides: Strides,
    pub reuse: Reuse,
}

impl Locality {
    /// Computes the statistics of `indices`, each below [`arrays::END`](super::arrays::END), in O(n log n)
    /// time.
    ///
    /// # Errors
    /// When the array is empty, the layout is out of range, there are more than [`MAX_ACCESSES`] accesses, or the memory
    /// does not hold them.
    pub fn of(indices: &[u64], layout: Layout) -> Result<Locality, String> {
        check(layout)?;
        let sorted = ascending(indices).map_err(|why| why.to_string())?;
        let (Some(&min), Some(&max)) = (sorted.first(), sorted.last()) else {
            return Err("there are no indices".to_owned());
        };
        if max >= super::arrays::END {
            return Err(format!("the index {max} is too large"));
        }
        let accesses: u64 =
            indices.iter().map(|&i| layout.units(i, layout.line)).map(|(a, b)| b - a + 1).sum();
        if accesses > MAX_ACCESSES {
            return Err(format!(
                "{accesses} accesses to lines are too many; accepted: at most {MAX_ACCESSES}"
            ));
        }
        Ok(Locality {
            layout,
            count: indices.len() as u64,
            min,
            max,
            class: classify(indices).to_string(),
            distinct_elements: sorted.len() as u64,
            distinct_sectors: distinct(&sorted, layout, SECTOR),
            distinct_lines: distinct(&sorted, layout, layout.line),
            distinct_pages: distinct(&sorted, layout, PAGE),
            strides: strides(indices),
            reuse: reuse(indices, &sorted, layout, accesses).map_err(|why| why.to_string())?,
        })
    }
}

/// The distinct indices, ascending. Where they are dense, a bit for each possible one takes less memory than a copy.
fn ascending(indices: &[u64]) -> Result<Vec<u64>, NoMemory> {
    let least = indices.iter().copied().min().unwrap_or(0);
    let span = indices.iter().copied().max().unwrap_or(0) - least;
    let words = span / 64 + 1;
    if words > indices.len() as u64 / 4 {
        let mut sorted = memory::collected(indices.len(), indices.iter().copied())?;
        sorted.sort_unstable();
        sorted.dedup();
        return Ok(sorted);
    }
    let mut bits = memory::filled(words as usize, 0u64)?;
    for index in indices {
        let at = index - least;
        bits[(at / 64) as usize] |= 1 << (at % 64);
    }
    let distinct = bits.iter().map(|word| word.count_ones() as usize).sum();
    let set = |(word, bits): (u64, &u64)| {
        let bits = *bits;
        (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| least + 64 * word + bit)
    };
    memory::collected(distinct, (0..).zip(&bits).flat_map(set))
}

fn check(layout: Layout) -> Result<(), String> {
    let [shortest, longest] = LINES;
    if !(1..=MAX_ELEMENT).contains(&layout.element) {
        return Err(format!("an element of {} bytes; accepted: 1 to {MAX_ELEMENT}", layout.element));
    }
    if !layout.line.is_power_of_two() || !(shortest..=longest).contains(&layout.line) {
        let accepted = format!("powers of two from {shortest} to {longest}");
        return Err(format!("a line of {} bytes; accepted: {accepted}", layout.line));
    }
    Ok(())
}

/// Number of units of `bytes` bytes touched by distinct indices in ascending order.
fn distinct(sorted: &[u64], layout: Layout, bytes: u64) -> u64 {
    let (mut next, mut count) = (0, 0);
    for &index in sorted {
        let (first, last) = layout.units(index, bytes);
        count += (last + 1).saturating_sub(first.max(next));
        next = last + 1;
    }
    count
}

/// Bin number: 0 for 0, otherwise 1 + ⌊log2 v⌋; so the bins are 0, 1, 2–3, 4–7 …
fn bin(value: u64) -> usize {
    (u64::BITS - value.leading_zeros()) as usize
}

/// Smallest and largest value of a bin.
fn ends(bin: usize) -> (u64, u64) {
    match bin {
        0 => (0, 0),
        _ => (1 << (bin - 1), (1u64 << (bin - 1)) * 2 - 1),
    }
}

fn strides(indices: &[u64]) -> Strides {
    let (mut up, mut down, mut ones) = ([0u64; 64], [0u64; 64], 0);
    for pair in indices.windows(2) {
        let side = if pair[1] < pair[0] { &mut down } else { &mut up };
        side[bin(pair[1].abs_diff(pair[0]))] += 1;
        ones += u64::from(pair[1] == pair[0] + 1);
    }
    // Indices are below 2^40, so the bounds fit.
    let signed = |sign: i64, at: usize, count: u64| {
        let (low, high) = ends(at);
        let (a, b) = (sign * low as i64, sign * high as i64);
        Bin { low: a.min(b), high: a.max(b), count }
    };
    let below = (1..42).rev().map(|at| signed(-1, at, down[at]));
    let above = (0..42).map(|at| signed(1, at, up[at]));
    let bins = below.chain(above).filter(|bin| bin.count > 0).collect();
    Strides { count: indices.len() as u64 - 1, ones, bins }
}

fn reuse(indices: &[u64], sorted: &[u64], layout: Layout, accesses: u64) -> Result<Reuse, NoMemory> {
    let lines = Lines::new(sorted, layout, accesses)?;
    let mut stack = Stack::new(lines.ids())?;
    let mut bins = [0u64; 64];
    let mut caches = CACHES.map(|bytes| CacheHits { bytes, hits: 0 });
    for line in layout.lines(indices) {
        let Some(distance) = stack.touch(lines.id(line)) else { continue };
        bins[bin(distance)] += 1;
        for cache in &mut caches {
            cache.hits += u64::from(distance < cache.bytes / layout.line);
        }
    }
    let whole = |(at, &count): (usize, &u64)| {
        let (low, high) = ends(at);
        (count > 0).then_some(Bin { low, high, count })
    };
    Ok(Reuse {
        accesses,
        cold: stack.cold(),
        lines_reused: stack.reused(),
        bins: bins.iter().enumerate().filter_map(whole).collect(),
        caches: caches.to_vec(),
    })
}

/// A mapping from lines to small consecutive ids.
enum Lines {
    /// Dense lines, by their offset from the first.
    From { first: u64, count: usize },
    /// Sparse lines, by their rank.
    Ranked(Vec<u64>),
}

impl Lines {
    fn new(sorted: &[u64], layout: Layout, accesses: u64) -> Result<Lines, NoMemory> {
        let first = sorted.first().map_or(0, |&index| layout.units(index, layout.line).0);
        let last = sorted.last().map_or(0, |&index| layout.units(index, layout.line).1);
        let span = last - first + 1;
        if span <= accesses.max(1024) {
            return Ok(Lines::From { first, count: span as usize });
        }
        let mut lines = Vec::new();
        for line in layout.lines(sorted) {
            if lines.last() != Some(&line) {
                memory::push(&mut lines, line)?;
            }
        }
        Ok(Lines::Ranked(lines))
    }

    fn ids(&self) -> usize {
        match self {
            Lines::From { count, .. } => *count,
            Lines::Ranked(lines) => lines.len(),
        }
    }

    fn id(&self, line: u64) -> usize {
        match self {
            Lines::From { first, .. } => (line - first) as usize,
            Lines::Ranked(lines) => lines.partition_point(|&known| known < line),
        }
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
