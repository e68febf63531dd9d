//! The bitonic sorting network (he2007 §4.1, reference 20) as a list of launches. Pure.
//!
//! A stage of span k makes sorted runs of k keys of pairs of sorted runs of k / 2. Its first level compares each key of
//! the left run with its mirror image in the right one, and the following levels, of span k / 2, k / 4 … 2, compare keys
//! at half a span's distance. All comparisons put the smaller key first, so the network sorts any number of keys: those
//! behind the end count as infinite, and a comparison with one of them is left out.
//!
//! The levels whose span is at most a tile's are computed in fast memory, one tile after another.

/// Keys of a tile: `NETWORK_TILE` in the kernels.
pub const TILE: u64 = 1 << 12;

/// Levels that a launch over all keys computes at most, in registers.
pub const LEVELS: u32 = 3;

/// A part of the network that reads and writes all keys once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    /// Sorts each tile.
    Tiles,
    /// `levels` levels, the first of this span; `mirrored` if that one begins a stage.
    Levels { span: u64, levels: u32, mirrored: bool },
    /// The levels within tiles of a stage that has begun.
    Rest,
}

/// The launches that sort `n` keys, each with at most `most` levels at a time beyond a tile.
pub fn launches(n: u64, most: u32) -> Vec<Launch> {
    let mut all = Vec::from_iter((n > 0).then_some(Launch::Tiles));
    let mut stage = 2 * TILE;
    while stage / 2 < n {
        let (mut span, mut left) = (stage, (stage / TILE).ilog2());
        while left > 0 {
            let levels = left.min(most);
            all.push(Launch::Levels { span, levels, mirrored: span == stage });
            (span, left) = (span >> levels, left - levels);
        }
        all.push(Launch::Rest);
        stage *= 2;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_has_a_level_for_each_span() {
        assert_eq!(launches(0, 3), []);
        assert_eq!(launches(TILE, 3), [Launch::Tiles]);
        let level = |span: u64, levels, mirrored| Launch::Levels { span: span * TILE, levels, mirrored };
        let two = [Launch::Tiles, level(2, 1, true), Launch::Rest];
        assert_eq!(launches(TILE + 1, 3), two);
        let many = launches(16 * TILE, 3);
        assert_eq!(many[..3], two);
        assert_eq!(many[7..], [level(16, 3, true), level(2, 1, false), Launch::Rest]);
        let single =
            launches(8 * TILE, 1).into_iter().filter(|launch| matches!(launch, Launch::Levels { .. }));
        assert_eq!(single.count(), 1 + 2 + 3);
    }

    /// What the launches stand for sorts any number of keys.
    #[test]
    fn the_network_sorts() {
        let level = |keys: &mut [u64], span: usize, mirrored: bool| {
            for low in (0..keys.len()).filter(|at| at % span < span / 2) {
                let high = if mirrored { low ^ (span - 1) } else { low + span / 2 };
                if high < keys.len() && keys[low] > keys[high] {
                    keys.swap(low, high);
                }
            }
        };
        for n in [1, 31, 33, TILE - 1, TILE + 1, 3 * TILE + 5, 8 * TILE] {
            let mut keys: Vec<u64> = (0..n).map(|i| i * 0x9E37_79B9 % 65_521).collect();
            let mut sorted = keys.clone();
            sorted.sort_unstable();
            for launch in launches(n, LEVELS) {
                match launch {
                    Launch::Tiles => keys.chunks_mut(TILE as usize).for_each(<[u64]>::sort_unstable),
                    Launch::Levels { span, levels, mirrored } => (0..levels).for_each(|step| {
                        level(&mut keys, span as usize >> step, mirrored && step == 0);
                    }),
                    Launch::Rest => {
                        (1..=TILE.ilog2()).rev().for_each(|log| level(&mut keys, 1 << log, false))
                    }
                }
            }
            assert_eq!(keys, sorted, "{n}");
        }
    }
}
