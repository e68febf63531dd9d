//! How launches of the method `partition` divide systems among blocks and threads.

use super::{Layout, Method, Spec};

/// Most threads of a block.
const THREADS: u64 = 512;

/// Threads of a block that has a tile of a longer system, or several systems of its own.
const TILE_THREADS: u64 = 256;
const GROUP_THREADS: u64 = 128;

/// Interleaved systems of a block: those of a warp, or as few as still fill a sector.
const LANES: [u64; 3] = [32, 16, 8];

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
                let whole = LANES.into_iter().find(|lanes| threads * lanes <= THREADS);
                let group = whole.unwrap_or(LANES[0]);
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
    /// Of a case by the method `partition`.
    pub fn of(spec: &Spec) -> Levels {
        let per_thread = if let Method::Partition { rows: Some(rows) } = spec.method { rows } else { 8 };
        Levels::over(spec.rows, per_thread, spec.layout)
    }

    /// Of systems with these rows. Edges of tiles are strided systems.
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

    /// Launches of an execution: of a level with several tiles one for the edges, one that joins them, and one that solves.
    pub fn launches(&self) -> u64 {
        self.0.iter().map(|level| if level.tiles > 1 { 3 } else { 1 }).sum()
    }
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
