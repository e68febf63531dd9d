//! Division of the elements of a timed launch into tiles, and of the tiles among blocks.

use super::{MAX_GRID, grid};
use crate::case::Failure;
use crate::case::tuning::{DEFAULT_BLOCK as BLOCK, Grid, Tuning};
use crate::device::cuda::{Gpu, Kernel};

/// The tiles of one kernel; a block handles one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Threads per block.
    pub block: u32,
    /// Elements per tile.
    size: u64,
    /// Maximum number of blocks per launch.
    most: u32,
}

impl Tiles {
    /// The tiles of a kernel whose threads have `per_item` elements in flight for each item.
    ///
    /// # Errors
    /// `NotApplicable` if no multiprocessor has the registers for such a block.
    pub fn new(gpu: &Gpu, kernel: &Kernel, tuning: &Tuning, per_item: u64) -> Result<Tiles, Failure> {
        let block = tuning.block.unwrap_or(BLOCK);
        let at_once = gpu.max_blocks(kernel, block, 0)?;
        Ok(Tiles::of(tuning, per_item, at_once))
    }

    fn of(tuning: &Tuning, per_item: u64, at_once: u32) -> Tiles {
        let block = tuning.block.unwrap_or(BLOCK);
        let size = u64::from(block) * u64::from(tuning.items.unwrap_or(1)) * per_item;
        let most = if tuning.grid == Some(Grid::Resident) { at_once } else { u32::MAX };
        Tiles { block, size, most }
    }

    /// The number of full tiles among `n` elements, limited to what a block number can count, and the number of
    /// elements in them.
    pub fn full(&self, n: u64) -> (u32, u64) {
        let tiles = (n / self.size).min(MAX_GRID);
        (tiles as u32, tiles * self.size)
    }

    /// The number of blocks for `n` elements, including a partial tile.
    pub fn blocks(&self, n: u64) -> u32 {
        grid(n, self.size).min(self.most.max(1))
    }

    /// True if each block has at most one tile.
    pub fn one_each(&self, n: u64) -> bool {
        u64::from(self.blocks(n)) == n.div_ceil(self.size).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tiles(grid: Grid) -> Tiles {
        let tuning = Tuning { block: Some(128), items: Some(4), grid: Some(grid), ..Tuning::default() };
        Tiles::of(&tuning, 2, 8)
    }

    #[test]
    fn every_element_has_a_block() {
        let tiles = tiles(Grid::Tiles);
        for (n, full, blocks) in [(1, 0, 1), (1023, 0, 1), (1024, 1, 1), (1025, 1, 2), (1 << 20, 1024, 1024)]
        {
            let elements = u64::from(full) * 1024;
            assert_eq!((tiles.full(n), tiles.blocks(n)), ((full, elements), blocks), "{n}");
        }
        let (most, elements) = tiles.full(u64::MAX);
        assert_eq!((u64::from(most), elements), (MAX_GRID, MAX_GRID * 1024));
    }

    #[test]
    fn a_resident_grid_has_no_more_blocks_than_are_at_work_at_once() {
        let tiles = tiles(Grid::Resident);
        assert_eq!([1, 8 << 10, 1 << 30].map(|n| tiles.blocks(n)), [1, 8, 8]);
        assert_eq!([1, 8 << 10, (8 << 10) + 1].map(|n| tiles.one_each(n)), [true, true, false]);
    }

    #[test]
    fn unset_tunables_are_one_item_in_blocks_of_256() {
        assert_eq!(Tiles::of(&Tuning::default(), 1, 8).full(600), (2, 512));
    }
}
