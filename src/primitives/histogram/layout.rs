//! How a block that counts in shared memory uses it. Pure.

use super::Spec;
use super::spec::By;

/// Threads of a block that counts in shared memory.
pub const BLOCK: u32 = 1024;

/// Shared memory that the counts of a block may take, bytes, and its table: with the bounds of
/// 4096 bins two blocks are at work at once on a multiprocessor with 228 KiB, on which each
/// takes 1 KiB more. On an H200 that was the best with up to 256 bins (942 Gelem/s and more);
/// one block with a table twice as large had 5 to 10 % more with 512 bins and beyond.
const COUNTS: u32 = 32 << 10;
const TABLE: u32 = 64 << 10;

/// Most copies of the counts, and of the table: one for each bank, or each pair of banks.
const BANKS: u32 = 5;
const PAIRS: u32 = 4;

/// `Layout` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    bins: u32,
    /// log2 of the copies of the counts.
    replicas: u32,
    /// Of the table, a power of two; 0 for even bins.
    cells: u32,
    /// log2 of the copies of the table.
    spread: u32,
}

impl Layout {
    /// That of a case where a block may have `limit` bytes: less of everything where the whole
    /// does not fit.
    pub fn new(spec: &Spec, limit: u32) -> Layout {
        let of = |halvings: u32| Layout::within(spec, COUNTS >> halvings, TABLE >> halvings);
        (0..3).map(of).find(|layout| layout.bytes() <= limit).unwrap_or_else(|| of(3))
    }

    fn within(spec: &Spec, counts: u32, table: u32) -> Layout {
        let bins = spec.bins as u32;
        let replicas = log2_that_fit(counts / 4, bins, BANKS);
        match spec.by {
            By::Even => Layout { bins, replicas, cells: 0, spread: 0 },
            By::Range => {
                let cells = (8 * bins).next_power_of_two().min(table / 8);
                Layout { bins, replicas, cells, spread: log2_that_fit(table / 8, cells, PAIRS) }
            }
        }
    }

    /// Copies of the counts.
    pub fn replicas(&self) -> u64 {
        1 << self.replicas
    }

    /// Cells of the table; none for even bins.
    pub fn cells(&self) -> u64 {
        self.cells.into()
    }

    /// Copies of the table.
    pub fn spread(&self) -> u64 {
        1 << self.spread
    }

    /// Bytes of shared memory: the counts, the cells of 8 bytes, the bounds.
    pub fn bytes(&self) -> u32 {
        let counts = (self.bins << self.replicas).next_multiple_of(2);
        let bounds = if self.cells > 0 { self.bins } else { 0 };
        4 * counts + 8 * (self.cells << self.spread) + 4 * bounds
    }
}

/// The log2, at most `most`, of the copies of `words` that so much room holds.
fn log2_that_fit(room: u32, words: u32, most: u32) -> u32 {
    (room / words).max(1).ilog2().min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::histogram::tests::spec;
    use proptest::prelude::*;

    proptest! {
        /// Two blocks fit on a multiprocessor, whatever the number of bins, and one where a block
        /// has no more than CUDA promises.
        #[test]
        fn it_fits(bins in 2u64..=4096, range: bool, large: bool) {
            let by = if range { "range" } else { "even" };
            let limit = if large { 227 << 10 } else { 48 << 10 };
            let layout = Layout::new(&spec(&format!("elements=1 bins={bins} by={by}")), limit);
            prop_assert!(layout.bytes() <= limit.min((228 << 10) / 2 - (1 << 10)), "{layout:?}");
            prop_assert_eq!(layout.cells > 0, range);
            prop_assert!(layout.cells == 0 || layout.cells.is_power_of_two());
        }
    }

    #[test]
    fn few_bins_have_a_copy_for_each_bank() {
        let of = |words: &str| Layout::new(&spec(words), 227 << 10);
        let even = of("elements=1 bins=256");
        assert_eq!((1 << even.replicas, even.bytes()), (32, 32 << 10));
        let range = of("elements=1 bins=16 by=range");
        assert_eq!((1 << range.replicas, range.cells, 1 << range.spread), (32, 128, 16));
        let many = of("elements=1 bins=4096 by=range");
        assert_eq!((1 << many.replicas, many.cells, 1 << many.spread), (2, 8192, 1));
    }
}
