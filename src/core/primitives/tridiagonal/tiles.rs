//! How launches of the method `partition` divide systems among blocks and threads, and what their blocks cost: instructions and
//! registers of the machine code (`kernels/build.sh --sass` and `--resources`, sm_90), and the chains of what waits for each other.

use super::Layout;
use crate::case::block_cost::{BlockCost, LANES};

/// Most threads of a block.
const THREADS: u64 = 512;

/// Threads of a block that has a tile of a longer system, or several systems of its own.
const TILE_THREADS: u64 = 256;
const GROUP_THREADS: u64 = 128;

/// Interleaved systems of a block: those of a warp, or as few as still fill a sector.
const GROUPS: [u64; 3] = [32, 16, 8];

/// The division of systems with some number of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tiles {
    /// Threads that solve a system, or a tile of it, together.
    pub team: u64,
    /// Tiles of a system.
    pub tiles: u64,
    /// Systems of a block, and its threads.
    pub group: u64,
    pub threads: u64,
}

impl Tiles {
    /// For systems of `rows` rows, `per_thread` of them in each thread. Strided systems have teams of a power of two
    /// threads, several to a block if they are small. Of interleaved ones a block has 32 side by side, or fewer if it can then hold
    /// all their rows.
    pub fn of(rows: u64, per_thread: u64, layout: Layout) -> Tiles {
        let threads = rows.div_ceil(per_thread).max(1);
        match layout {
            Layout::Strided if threads > THREADS => Tiles {
                team: TILE_THREADS,
                tiles: rows.div_ceil(TILE_THREADS * per_thread),
                group: 1,
                threads: TILE_THREADS,
            },
            Layout::Strided => {
                let team = threads.next_power_of_two();
                let group = (GROUP_THREADS / team).max(1);
                Tiles { team, tiles: 1, group, threads: team * group }
            }
            Layout::Interleaved => {
                let whole = GROUPS.into_iter().find(|lanes| threads * lanes <= THREADS);
                let group = whole.unwrap_or(GROUPS[0]);
                let tiles = threads.div_ceil(THREADS / group);
                let team = threads.div_ceil(tiles);
                Tiles { team, tiles: threads.div_ceil(team), group, threads: group * team }
            }
        }
    }

    /// Blocks for so many systems.
    pub fn blocks(&self, systems: u64) -> u64 {
        self.tiles * systems.div_ceil(self.group)
    }
}

/// The systems, then those of the edges of their tiles, and so on until a system is a single tile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels(pub Vec<Tiles>);

impl Levels {
    /// The levels of systems with these rows, so many of them in each thread. Edges of tiles are strided systems.
    pub fn over(rows: u64, per_thread: u64, layout: Layout) -> Levels {
        let mut levels = vec![Tiles::of(rows, per_thread, layout)];
        while let Some(last) = levels.last().copied().filter(|last| last.tiles > 1) {
            levels.push(Tiles::of(last.tiles, per_thread, Layout::Strided));
        }
        Levels(levels)
    }

    /// Tiles of a system.
    pub fn tiles(&self) -> u64 {
        self.0[0].tiles
    }

    /// Elements that the edges of all levels and their solutions take.
    pub fn scratch(&self, systems: u64) -> u64 {
        self.0.iter().filter(|level| level.tiles > 1).map(|level| 8 * level.tiles * systems).sum()
    }
}

/// Registers of a multiprocessor.
const REGISTERS: u64 = 1 << 16;

/// Chained operations by reads of shared memory, each as long as one: the elimination of a row and its substitution, a step of
/// parallel cyclic reduction, and the exchanges of a tile.
const OF_ROW: f64 = 2.5;
const OF_STEP: f64 = 4.0;
const OF_TILE: f64 = 8.0;

/// A kernel that solves tiles.
#[derive(Clone, Copy, Debug)]
pub struct TileKernel {
    /// Rows of a thread, and words of 4 bytes of an element.
    pub rows: u64,
    pub words: u64,
    /// Arrays that are exchanged by shared memory.
    pub exchanged: u64,
    /// Loads that wait for each other.
    pub loads: f64,
    pub registers: u64,
    /// Instructions of a warp, and the integer and logic instructions among them.
    pub instructions: [f64; 2],
}

/// The cost of solving the tiles of so many systems.
pub fn of_tiles(tiles: &Tiles, systems: u64, kernel: TileKernel) -> BlockCost {
    let warps = tiles.threads.div_ceil(LANES as u64);
    let blocks = tiles.blocks(systems);
    let depth = f64::from(tiles.team.next_power_of_two().ilog2());
    let TileKernel { rows, words, exchanged, loads, registers, instructions } = kernel;
    // The stores of a block are on their way while the next one loads.
    let resident = (REGISTERS / (registers * LANES as u64 * warps)).max(1) + 1;
    let steps = OF_ROW * rows as f64 + OF_STEP * depth + OF_TILE;
    let cost = BlockCost::of(blocks, resident).blocks(blocks).loads(loads).steps(steps);
    let [instructions, integers] = instructions;
    let wavefronts = (2 * exchanged * rows * words) as f64 + 9.0 * depth * words as f64;
    cost.with((blocks * warps) as f64, [instructions + 25.0 * depth, integers + 8.0 * depth, wavefronts])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn tiles_cover_the_rows(rows in 1u64..1 << 26, wide in any::<bool>(), strided in any::<bool>()) {
            let per_thread = if wide { 16 } else { 8 };
            let layout = if strided { Layout::Strided } else { Layout::Interleaved };
            let Levels(levels) = Levels::over(rows, per_thread, layout);
            let mut left = rows;
            for level in &levels {
                prop_assert!(level.tiles * level.team * per_thread >= left);
                prop_assert!((level.tiles - 1) * level.team * per_thread < left);
                prop_assert!(level.threads <= THREADS && level.threads.is_multiple_of(8));
                left = level.tiles;
            }
            prop_assert_eq!(left, 1);
        }
    }

    #[test]
    fn small_systems_share_a_block_and_long_ones_are_cut() {
        let tiles = |rows| Tiles::of(rows, 16, Layout::Strided);
        assert_eq!(tiles(512), Tiles { team: 32, tiles: 1, group: 4, threads: 128 });
        assert_eq!(tiles(8192), Tiles { team: 512, tiles: 1, group: 1, threads: 512 });
        assert_eq!(tiles(8193), Tiles { team: 256, tiles: 3, group: 1, threads: 256 });
        let rows = 1 << 24;
        assert_eq!(Levels::over(rows, 16, Layout::Strided).0.len(), 2);
        let interleaved = Tiles::of(64, 8, Layout::Interleaved);
        assert_eq!(interleaved, Tiles { team: 8, tiles: 1, group: 32, threads: 256 });
        let longer = Tiles::of(512, 8, Layout::Interleaved);
        assert_eq!(longer, Tiles { team: 64, tiles: 1, group: 8, threads: 512 });
    }
}
