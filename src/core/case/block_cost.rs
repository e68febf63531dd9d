//! The on-chip work of thread blocks while a pass traverses memory: the instructions they execute, their load
//! on shared memory, and the latencies that form chains. Together with the memory accesses this is what a
//! method declares for a GPU.
//!
//! Instruction counts are taken from the machine code (`ptxas -arch=sm_90`, `nvdisasm`) along the path of full
//! tiles. Shared-memory wavefronts follow from the banks: 32 banks of 4 bytes, each of which serves one word
//! per wavefront; lanes that access the same word share it (CUDA C++ Programming Guide, "Shared Memory"). An
//! atomic addition reads and writes its word.

use std::collections::BTreeSet;

/// Lanes of a warp, and banks of shared memory.
pub const LANES: usize = 32;

/// Resident warps on a multiprocessor with 2048 threads.
pub const WARPS: u64 = 64;

/// Number of lane groups over which wavefronts are averaged.
pub const SAMPLE: u64 = 64;

/// Instructions, and the integer and logic instructions among them, for fields of 1 to 8 bits.
pub type ByBits = [[f64; 8]; 2];

/// The work of all blocks in one pass, besides its accesses. Counts are per pass unless stated otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCost {
    /// Blocks launched one after another; 0 if no more blocks are launched than are resident.
    pub blocks: u64,
    /// Tiles: a block processes each one from its loads to its stores before it takes the next.
    pub tiles: u64,
    /// Resident blocks per multiprocessor; 0 if there are so many that no latency is exposed.
    pub resident: u64,
    /// Per tile: dependent loads from memory,
    pub loads: f64,
    /// reads of other blocks' results in the last-level cache,
    pub looks: f64,
    /// and steps that depend on the previous one through shared memory or other lanes' registers: a load, a
    /// shuffle, a barrier.
    pub steps: f64,
    /// Warp instructions of any kind,
    pub instructions: f64,
    /// and the integer and logic instructions among them.
    pub integers: f64,
    /// Wavefronts of shared memory, and of the L1 cache where it has as many.
    pub wavefronts: f64,
}

impl BlockCost {
    /// Blocks that process so many tiles, `resident` of them on a multiprocessor at a time.
    pub fn of(tiles: u64, resident: u64) -> BlockCost {
        BlockCost { tiles, resident, ..BlockCost::default() }
    }

    /// The same with so many blocks, launched one after another.
    pub fn blocks(self, blocks: u64) -> BlockCost {
        BlockCost { blocks, ..self }
    }

    /// The same with so many dependent loads per tile.
    pub fn loads(self, loads: f64) -> BlockCost {
        BlockCost { loads, ..self }
    }

    /// The same with so many reads of other blocks' results per tile.
    pub fn looks(self, looks: f64) -> BlockCost {
        BlockCost { looks, ..self }
    }

    /// The same with so many dependent steps on chip per tile.
    pub fn steps(self, steps: f64) -> BlockCost {
        BlockCost { steps, ..self }
    }

    /// Adds `times` times these instructions, integer instructions and wavefronts.
    pub fn with(mut self, times: f64, [instructions, integers, wavefronts]: [f64; 3]) -> BlockCost {
        self.instructions += times * instructions;
        self.integers += times * integers;
        self.wavefronts += times * wavefronts;
        self
    }
}

/// Wavefronts of one warp access to these words of shared memory, one per lane: the largest number of distinct
/// words in any bank.
pub fn wavefronts(words: impl IntoIterator<Item = u64>) -> usize {
    let different: BTreeSet<u64> = words.into_iter().collect();
    let mut of_bank = [0; LANES];
    different.iter().for_each(|word| of_bank[(word % LANES as u64) as usize] += 1);
    of_bank.into_iter().max().unwrap_or(0)
}

/// Mean number of wavefronts over the first [`SAMPLE`] groups of lanes.
pub fn mean(of_group: impl Fn(u64) -> usize) -> f64 {
    (0..SAMPLE).map(|group| of_group(group) as f64).sum::<f64>() / SAMPLE as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_bank_wait_for_each_other() {
        assert_eq!(wavefronts(0..32), 1);
        assert_eq!(wavefronts([7; 32]), 1);
        assert_eq!(wavefronts((0..32).map(|lane| 2 * lane)), 2);
        assert_eq!(wavefronts((0..32).map(|lane| 32 * lane)), 32);
        // One word of padding after every 32 spreads the words over different banks.
        assert_eq!(wavefronts((0..32).map(|lane| 32 * lane + lane)), 1);
        assert_eq!(wavefronts([]), 0);
    }

    #[test]
    fn what_tiles_do_adds_up() {
        let cost = BlockCost::of(4, 0).with(4.0, [10.0, 5.0, 1.0]).with(1.0, [2.0, 1.0, 0.0]);
        assert_eq!((cost.instructions, cost.integers, cost.wavefronts), (42.0, 21.0, 4.0));
    }
}
