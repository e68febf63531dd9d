//! What blocks of threads do near the processor while a pass goes over memory: what they execute,
//! what they ask of shared memory, and what of it waits for what. Beside the accesses it is the
//! other half of what a method declares for a GPU.
//!
//! Counts of instructions are those of the machine code (`ptxas -arch=sm_90`, `nvdisasm`) on the way
//! that whole tiles take. Wavefronts of shared memory follow from the banks: 32 of 4 bytes, each of
//! which has one word a wavefront; lanes with the same word share it (CUDA C++ Programming Guide,
//! "Shared Memory"). An atomic addition reads and writes its word.

use std::collections::BTreeSet;

/// Lanes of a warp, and banks of shared memory.
pub const LANES: usize = 32;

/// Warps that a multiprocessor with 2048 threads has at work at once.
pub const WARPS: u64 = 64;

/// Groups of lanes on which wavefronts are counted.
pub const SAMPLE: u64 = 64;

/// Instructions, and those of integers and logic among them, by 1 to 8 bits.
pub type ByBits = [[f64; 8]; 2];

/// What the blocks of one pass do, besides its accesses. A count per pass unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BlockCost {
    /// Blocks of threads that start one after another; 0 where no more start than are at work at once.
    pub blocks: u64,
    /// Tiles, each taken by a block from its loads to its stores before the block takes another.
    pub tiles: u64,
    /// Blocks at work at once on a multiprocessor; 0 where so many are that nothing waits for them.
    pub resident: u64,
    /// Of one tile: loads from memory that wait for each other,
    pub loads: f64,
    /// looks at what other blocks have left in the last cache,
    pub looks: f64,
    /// and what waits for the step before it in shared memory or registers of other lanes: a load,
    /// a shuffle, a barrier.
    pub steps: f64,
    /// Instructions of warps, of any kind,
    pub instructions: f64,
    /// and those that integers and logic take.
    pub integers: f64,
    /// Wavefronts of shared memory, and of the first cache where it has as many.
    pub wavefronts: f64,
}

impl BlockCost {
    /// What every tile does `times` times more: instructions, integers among them, wavefronts.
    #[must_use]
    pub fn with(mut self, times: f64, [instructions, integers, wavefronts]: [f64; 3]) -> BlockCost {
        self.instructions += times * instructions;
        self.integers += times * integers;
        self.wavefronts += times * wavefronts;
        self
    }
}

/// Wavefronts that these words of shared memory take, the lanes of a warp one after another: the most
/// different ones of a bank.
pub fn wavefronts(words: impl IntoIterator<Item = u64>) -> usize {
    let different: BTreeSet<u64> = words.into_iter().collect();
    let mut of_bank = [0; LANES];
    different.iter().for_each(|word| of_bank[(word % LANES as u64) as usize] += 1);
    of_bank.into_iter().max().unwrap_or(0)
}

/// Mean wavefronts of the first groups of lanes.
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
        // With a gap after every 32 they lie in different banks again.
        assert_eq!(wavefronts((0..32).map(|lane| 32 * lane + lane)), 1);
        assert_eq!(wavefronts([]), 0);
    }

    #[test]
    fn what_tiles_do_adds_up() {
        let cost = BlockCost { tiles: 4, ..BlockCost::default() }
            .with(4.0, [10.0, 5.0, 1.0])
            .with(1.0, [2.0, 1.0, 0.0]);
        assert_eq!((cost.instructions, cost.integers, cost.wavefronts), (42.0, 21.0, 4.0));
    }
}
