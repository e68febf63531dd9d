//! The number of iterations that a thread has in flight and the grid that hands them out: as set by the recipe,
//! otherwise the values that measured best on an H200 for cases of the same shape. Pure.
//!
//! The measurements (GB/s, blocks of 256 threads, 30 GB moved if that fits; the words of 512 GB for δ = 0) and
//! their explanation:
//!
//! - Blocks of a grid with one block per tile start in address order, so the running blocks lie close together:
//!   memory finds its rows open, and stores meet other stores to the same sector in L2. The less each block has
//!   in flight, the closer together they are. Gathers of a word in each 128-byte line, with 1, 2 and 8 items
//!   and resident with 8: 521, 510, 495, 486 at stride 16, 387, 372, 354, 303 at stride 64. Scatters that fill
//!   no whole sectors: 1072, 1064, 1061, 999 at stride 2, 422, 415, 382, 353 at stride 8, 152, 147, 138, 134 at
//!   stride 32, and 1194, 1043, 736, 654 if uses also overlap (LULESH's third scatter).
//! - Blocks start at no more than 0.9 billion per second (0.6 if they fill a dense side first), so one item per
//!   thread reaches at most 1800 GB/s in a gather and 1200 in a scatter: whole sectors need more. Unit stride
//!   with 1, 2, 4, 8 items: gather 1785, 2960, 4459, 4685, scatter 1196, 2122, 3616, 4674. A scatter of whole
//!   sectors with gaps that later uses fill lies in between: 1197, 2114, 2078, 1659 (LULESH's last scatter).
//! - Words that earlier uses have read are found in the L1 cache if the same multiprocessor continues with the
//!   next uses, as blocks of a resident grid do: 7919 against 5317 for AMG-G1, 14753 against 6904 for stride 1
//!   with each word in 16 uses. If all uses store to the same words (δ = 0), 3345 against 2817.
//! - Gathers without a destination were measured with a resident grid at 4640 for unit stride; a block per tile
//!   of 8 items reached 4368 with one sum for all blocks, which the kernels no longer have: with partial sums
//!   it is 4634 against 4605. Gathers that store to global memory were not measured; they get the values of
//!   gathers that store to shared memory.

use super::walk::{Shape, Steps};
use crate::case::tuning::{DEFAULT_BLOCK as BLOCK, Grid, Offered};
use crate::primitives::Range;
use crate::primitives::pattern::spec::{Kernel, Method, Spec};
use crate::primitives::pattern::{Starts, uses};

/// The tunables for which the kernels are built.
pub const OFFERED: Offered = Offered {
    block: 1024,
    items: &[1, 2, 4, 8],
    grids: &[Grid::Tiles, Grid::Resident],
    fetch: &[32, 64, 128],
    ..Offered::NOTHING
};

/// Words of 8 bytes per sector and per line.
const SECTOR: u64 = 4;
const LINE: u64 = 16;

/// Entries of a long pattern that are examined, and uses of a long list of deltas.
const SAMPLE: usize = 1 << 16;

const fn tiles(items: u32) -> Steps {
    Steps { items, grid: Grid::Tiles }
}

const RESIDENT: Steps = Steps { items: 8, grid: Grid::Resident };

/// The steps with which a case is executed.
pub fn steps(spec: &Spec) -> Steps {
    let (asked, best) = (spec.tuning, best(spec));
    Steps { items: asked.items.unwrap_or(best.items), grid: asked.grid.unwrap_or(best.grid) }
}

/// The number of blocks of a launch if each tile of iterations has its own; `None` for a resident grid.
pub fn blocks(spec: &Spec) -> Option<u64> {
    let steps = Some(steps(spec)).filter(|steps| steps.grid == Grid::Tiles)?;
    let all = Range { first: 0, count: spec.count };
    Some(Shape::of(spec.length(), spec.block()).ok()?.walk(all, steps, 1).blocks().into())
}

fn best(spec: &Spec) -> Steps {
    match spec.kernel {
        Kernel::Gather | Kernel::Multigather => {
            reading(spec.method, &spec.applied(), &spec.starts(), spec.count)
        }
        Kernel::Scatter | Kernel::Multiscatter => writing(&spec.applied(), &spec.starts(), spec.count),
        Kernel::Gs => slower(
            reading(Method::Direct, &spec.gather, &spec.source_starts(), spec.count),
            writing(&spec.scatter, &spec.starts(), spec.count),
        ),
    }
}

/// gs was not measured. It takes the steps of the side with less in flight, which is the side that memory
/// delays more.
fn slower(read: Steps, written: Steps) -> Steps {
    match read.items.cmp(&written.items) {
        std::cmp::Ordering::Less => read,
        std::cmp::Ordering::Equal if read.grid == Grid::Resident => read,
        _ => written,
    }
}

fn reading(method: Method, pattern: &[u64], starts: &Starts, count: u64) -> Steps {
    let step = Step::of(pattern, starts, count);
    match method {
        _ if starts.total == 0 || served_before(pattern, starts) => RESIDENT,
        _ if 2 * step.lines > step.words => tiles(1),
        Method::ReadOnly => RESIDENT,
        _ => tiles(8),
    }
}

fn writing(pattern: &[u64], starts: &Starts, count: u64) -> Steps {
    let step = Step::of(pattern, starts, count);
    match () {
        () if starts.total == 0 => RESIDENT,
        () if !fills(step.words, SECTOR * step.sectors) => tiles(1),
        () if !fills(step.words, step.extent) => tiles(2),
        () => tiles(8),
    }
}

/// Whether `words` fill most of `of`; the ends of a run may fill sectors only partially.
fn fills(words: u64, of: u64) -> bool {
    4 * words >= 3 * of
}

/// Memory that the threads of a block touch at once, with one word of S each: distinct words, sectors and
/// lines, and the number of words from the first to the last. Summed over several blocks for a long pattern.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    words: u64,
    sectors: u64,
    lines: u64,
    extent: u64,
}

impl Step {
    fn of(pattern: &[u64], starts: &Starts, count: u64) -> Step {
        let rows = (u64::from(BLOCK) / pattern.len().max(1) as u64).min(count).max(1);
        let touched: Vec<u64> = uses(pattern, starts, rows).take(SAMPLE).collect();
        touched.chunks(BLOCK as usize).map(Step::of_words).fold(Step::default(), Step::with)
    }

    fn of_words(touched: &[u64]) -> Step {
        let of = |size: u64| distinct(touched.iter().map(|word| word / size));
        let first = touched.iter().min().copied().unwrap_or(0);
        let last = touched.iter().max().copied().unwrap_or(0);
        Step { words: of(1), sectors: of(SECTOR), lines: of(LINE), extent: last - first + 1 }
    }

    fn with(self, other: Step) -> Step {
        Step {
            words: self.words + other.words,
            sectors: self.sectors + other.sectors,
            lines: self.lines + other.lines,
            extent: self.extent + other.extent,
        }
    }
}

/// Whether at least a quarter of a use's words were touched by earlier uses. Two uses, however far apart, share
/// a word if entries differ by a sum of deltas; with one delta δ, if the entries are congruent modulo δ. Uses
/// in an order drawn from the seed do not find their words in a cache.
fn served_before(pattern: &[u64], starts: &Starts) -> bool {
    if starts.order.is_some() || starts.total == 0 {
        return false;
    }
    let pattern = &pattern[..pattern.len().min(SAMPLE)];
    let sums = &starts.sums[..starts.sums.len().min((SAMPLE / pattern.len().max(1)).max(1))];
    let all = sums.len() as u64 * distinct(pattern.iter().copied());
    let remainders = sums.iter().flat_map(|sum| pattern.iter().map(move |p| (p + sum) % starts.total));
    4 * distinct(remainders) <= 3 * all
}

fn distinct(values: impl Iterator<Item = u64>) -> u64 {
    let mut values: Vec<u64> = values.collect();
    values.sort_unstable();
    values.dedup();
    values.len() as u64
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
