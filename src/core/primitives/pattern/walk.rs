//! Division of the iterations and entries of a pattern among blocks and threads. Pure.

use crate::case::Failure;
use crate::case::tuning::Grid;
use crate::primitives::Range;

/// Maximum bytes of a block's dense side.
pub const MAX_SHARED: u64 = 96 << 10;

/// Up to this size each row of threads gets its own dense words: several blocks still fit on a multiprocessor.
const PRIVATE_SHARED: u64 = 16 << 10;

/// Blocks per multiprocessor of a resident grid, if there is work for them: several times the number that fits
/// at once, so that the last blocks to end are short.
const BLOCKS_PER_SM: u64 = 32;

/// Maximum number of blocks per launch.
const MAX_BLOCKS: u64 = (1 << 31) - 1;

/// How a walk hands out the iterations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Steps {
    /// Iterations that a thread has in flight: N in the timed kernels' names, those of [`KEPT`] in kernels that
    /// keep every word, 1 in checking kernels.
    pub items: u32,
    pub grid: Grid,
}

/// Steps of the kernels that keep every word; the items are `KEPT_ITEMS` in the kernels.
pub const KEPT: Steps = Steps { items: 8, grid: Grid::Resident };

/// Steps of the checking kernels.
pub const SINGLE: Steps = Steps { items: 1, grid: Grid::Resident };

/// `Walk` in `kernels/pattern/walk.cuh`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Walk {
    pub length: u64,
    pub first: u64,
    pub last: u64,
    pub columns: u32,
    pub rows: u32,
    pub tiles: u32,
    pub workers: u32,
    pub wrap: u32,
    pub slots: u32,
    pub private_rows: u32,
    pub items: u32,
}

/// The mapping of a pattern's entries to the threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub length: u64,
    columns: u32,
    rows: u32,
    tiles: u32,
}

impl Shape {
    /// Short patterns: as many iterations side by side as fit in a block of so many threads. Long ones: the fewest tiles of
    /// columns, all of nearly the same width.
    ///
    /// # Errors
    /// `NotApplicable` if there are more tiles than blocks in a launch.
    pub fn of(length: u64, block: u32) -> Result<Shape, Failure> {
        let block = u64::from(block);
        let tiles = length.div_ceil(block).max(1);
        let columns = length.div_ceil(tiles).max(1);
        match u32::try_from(tiles).ok().filter(|&tiles| tiles < 1 << 30) {
            Some(tiles) => {
                Ok(Shape { length, columns: columns as u32, rows: (block / columns) as u32, tiles })
            }
            None => Err(Failure::NotApplicable(format!("a pattern of {length} entries is too long"))),
        }
    }

    /// Threads per block: whole warps.
    pub fn threads(self) -> u32 {
        (self.columns * self.rows).next_multiple_of(32)
    }

    /// Maximum number of blocks that share a tile of columns. If a launch cannot have a block for each tile of
    /// iterations, each block continues with further tiles.
    fn most_workers(self, grid: Grid, sms: u32) -> u64 {
        let blocks = match grid {
            Grid::Tiles => MAX_BLOCKS,
            Grid::Resident => u64::from(sms.max(1)) * BLOCKS_PER_SM,
        };
        (blocks / u64::from(self.tiles)).max(1)
    }

    /// The walk over some iterations, without a dense side.
    pub fn walk(self, range: Range, steps: Steps, sms: u32) -> Walk {
        let per_block = u64::from(self.rows) * u64::from(steps.items);
        let most = self.most_workers(steps.grid, sms);
        Walk {
            length: self.length,
            first: range.first,
            last: range.first + range.count,
            columns: self.columns,
            rows: self.rows,
            tiles: self.tiles,
            workers: range.count.div_ceil(per_block).clamp(1, most) as u32,
            wrap: 1,
            slots: self.columns,
            private_rows: 0,
            items: steps.items,
        }
    }

    /// The dense side of a block. The rows of a gather have separate words if these are small; otherwise (wrap
    /// above 8 for short patterns) several rows of a block store to the same word, which then holds the value
    /// of one of them. That is no data race: the stores are volatile, which PTX treats as relaxed, of 8 aligned
    /// bytes each, and the certificate accepts the word of any iteration with the right i mod wrap. A tool that
    /// looks only for barriers between two stores reports it nevertheless. Separate words for every wrap would
    /// multiply the shared memory by the rows of a block, and so lower the occupancy.
    ///
    /// # Errors
    /// `NotApplicable` if the dense side does not fit in shared memory.
    pub fn dense(self, wrap: u64, stores: bool) -> Result<Dense, Failure> {
        let bytes = |slots: u32| u64::from(slots).saturating_mul(wrap).saturating_mul(8);
        let private = self.columns * self.rows;
        let private_rows = stores && bytes(private) <= PRIVATE_SHARED;
        let slots = if private_rows { private } else { self.columns };
        if bytes(slots) > MAX_SHARED {
            return Err(Failure::NotApplicable(format!(
                "a block's dense side of {} KiB (wrap {wrap}) exceeds {} KiB of shared memory",
                bytes(slots).div_ceil(1024),
                MAX_SHARED / 1024
            )));
        }
        Ok(Dense { slots, wrap: wrap as u32, private_rows, bytes: bytes(slots) as u32 })
    }
}

/// A block's dense side in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense {
    slots: u32,
    wrap: u32,
    private_rows: bool,
    /// Shared memory per block, in bytes.
    pub bytes: u32,
}

impl Walk {
    /// The walk with a dense side.
    pub fn with(self, dense: Dense) -> Walk {
        let Dense { slots, wrap, private_rows, .. } = dense;
        Walk { slots, wrap, private_rows: u32::from(private_rows), ..self }
    }

    /// The walk with one dense side for all blocks, of `wrap` times the pattern's length.
    pub fn sharing(self, wrap: u64) -> Walk {
        Walk { slots: self.length as u32, wrap: wrap as u32, ..self }
    }

    /// A walk of a single block whose words are the whole shared dense side.
    pub fn alone(self) -> Walk {
        Walk { columns: self.slots, tiles: 1, workers: 1, private_rows: 0, ..self }
    }

    /// The walk with at most this many blocks per tile.
    pub fn at_most(self, workers: u64) -> Walk {
        Walk { workers: u64::from(self.workers).min(workers.max(1)) as u32, ..self }
    }

    pub fn blocks(&self) -> u32 {
        self.tiles * self.workers
    }

    /// Words of the dense sides of all blocks.
    pub fn left_words(&self) -> u64 {
        u64::from(self.blocks()) * self.dense_words()
    }

    /// Words of a block's dense side.
    pub fn dense_words(&self) -> u64 {
        u64::from(self.slots) * u64::from(self.wrap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::tuning::DEFAULT_BLOCK as BLOCK;

    const RANGE: Range = Range { first: 3, count: 1000 };

    #[test]
    fn the_layout_is_the_kernels() {
        assert_eq!((size_of::<Walk>(), std::mem::offset_of!(Walk, private_rows)), (56, 48));
    }

    #[test]
    fn every_entry_has_a_column() {
        for length in [1, 8, 16, 100, 128, 129, 255, 256, 257, 1000, 8193, 1 << 20] {
            let s = Shape::of(length, BLOCK).unwrap();
            assert!(s.rows >= 1 && s.columns * s.rows <= BLOCK && s.threads() <= BLOCK, "{s:?}");
            assert!(u64::from(s.columns) * u64::from(s.tiles) >= length, "{s:?}");
            assert!(u64::from(s.columns) * u64::from(s.tiles - 1) < length, "{s:?}");
        }
    }

    /// Short patterns fill blocks of about 256 threads.
    #[test]
    fn blocks_are_full() {
        for length in [1, 8, 9, 16, 100] {
            assert!(Shape::of(length, BLOCK).unwrap().threads() >= 224, "{length}");
        }
    }

    /// The loop of the kernels, in Rust: visits each (i, j) once.
    #[test]
    fn each_iteration_of_each_entry_is_walked_once() {
        let resident = |length, items, sms| (length, Steps { items, grid: Grid::Resident }, sms);
        let tiles =
            [1, 2, 4, 8].map(|items| (300 - 30 * u64::from(items), Steps { items, grid: Grid::Tiles }, 1));
        let all = [
            resident(8, 8, 1),
            resident(8, 1, 2),
            resident(300, 8, 1),
            resident(3, 8, 132),
            resident(9, 8, 3),
        ];
        for (length, steps, sms) in all.into_iter().chain(tiles) {
            let shape = Shape::of(length, BLOCK).unwrap();
            let w = shape.walk(RANGE, steps, sms);
            let unroll = u64::from(w.items);
            let mut seen = vec![0; (length * (w.last + 1)) as usize];
            for block in 0..w.blocks() {
                for thread in 0..shape.threads() {
                    let (row, column) = (thread / w.columns, thread % w.columns);
                    let j = u64::from(block % w.tiles * w.columns + column);
                    if row >= w.rows || j >= w.length {
                        continue;
                    }
                    let tile = u64::from(w.rows) * unroll;
                    let mut i = w.first + u64::from(block / w.tiles) * tile + u64::from(row);
                    while i < w.last {
                        (0..unroll).map(|u| i + u * u64::from(w.rows)).filter(|&i| i < w.last).for_each(
                            |i| {
                                seen[(i * length + j) as usize] += 1;
                            },
                        );
                        i += tile * u64::from(w.workers);
                    }
                }
            }
            let wanted = |k: usize| usize::from((RANGE.first..w.last).contains(&(k as u64 / length)));
            assert!(seen.iter().enumerate().all(|(k, &times)| times == wanted(k)), "{length}, {steps:?}");
        }
    }

    /// One block per tile, or as many as a launch can have.
    #[test]
    fn a_grid_of_tiles_strides_only_where_it_must() {
        let walk = |length, items, count| {
            Shape::of(length, BLOCK).unwrap().walk(
                Range { first: 0, count },
                Steps { items, grid: Grid::Tiles },
                132,
            )
        };
        assert_eq!((walk(256, 1, 1 << 30).blocks(), walk(256, 8, 1 << 30).blocks()), (1 << 30, 1 << 27));
        assert_eq!(walk(256, 1, 1 << 40).blocks(), (1 << 31) - 1);
        assert_eq!(walk(512, 1, 1 << 40).blocks(), (1 << 31) - 2);
        let resident = Shape::of(256, BLOCK).unwrap().walk(Range { first: 0, count: 1 << 30 }, KEPT, 132);
        assert_eq!(resident.blocks(), 132 * 32);
    }

    #[test]
    fn dense_sides_are_private_where_they_are_small() {
        let shape = Shape::of(8, BLOCK).unwrap();
        assert_eq!(shape.dense(1, true).unwrap().bytes, 2048);
        assert!(shape.dense(8, true).unwrap().private_rows);
        let shared = shape.dense(32, true).unwrap();
        assert_eq!((shared.private_rows, shared.bytes), (false, 2048));
        assert!(!shape.dense(1, false).unwrap().private_rows);
        assert!(shape.dense(1536, true).is_ok());
        let reason = shape.dense(1537, true).unwrap_err().to_string();
        assert!(reason.contains("exceeds 96 KiB of shared memory"), "{reason}");
        assert!(shape.dense(u64::MAX, true).is_err());
    }
}
