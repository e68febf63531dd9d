//! The tiles that a block, or a worker, sorts alone before runs of them are merged (sengupta2007 §5). Pure.

use super::Spec;

/// Keys of a tile on GPUs: `SORT_TILE` in the kernels (`kernels/sort/tile.cuh`), and its threads.
const BLOCK_TILE: u64 = 17 * THREADS as u64;
pub const THREADS: u32 = 256;

/// Bytes of the sum of a tile's falses.
pub const DESCRIPTOR: u64 = 8;

/// Bytes of a tile at most on CPUs: a quarter of a small L2 cache, which also has to hold the tile's copy.
const CACHED: u64 = 1 << 17;

/// Keys per tile.
pub fn tile(spec: &Spec) -> u64 {
    match spec.backend.is_cuda() {
        true => BLOCK_TILE,
        false => 1 << (CACHED / (spec.key_bytes() + spec.value())).ilog2(),
    }
}

/// The rounds of a merge of `n` keys: each makes one sorted run of every two, of a tile at first.
pub fn rounds(n: u64, tile: u64) -> u32 {
    n.div_ceil(tile).max(1).next_power_of_two().ilog2()
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    #[test]
    fn rounds_merge_all_tiles() {
        let found: Vec<u32> = [0, 1, 10, 11, 20, 21, 40, 41].map(|n| rounds(n, 10)).to_vec();
        assert_eq!(found, [0, 0, 0, 1, 1, 2, 2, 3]);
    }

    #[test]
    fn tiles_fit() {
        let tile = |words: &str| tile(&spec(&format!("keys=9 {words}")));
        assert_eq!(tile("backend=cuda key=u64 values=8B"), 4352);
        assert_eq!(tile("backend=cpu"), 32768);
        assert_eq!(tile("backend=scalar key=u64 values=4B"), 8192);
    }
}
