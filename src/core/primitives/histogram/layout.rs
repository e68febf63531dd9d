//! The use of shared memory by a block that counts there. Pure.

use super::{By, Spec};

/// Threads of a block that counts in shared memory.
pub const BLOCK: u32 = 1024;

/// Bytes of shared memory for the counts of a block and for its table. With the bounds of 4096 bins, two blocks
/// are resident on a multiprocessor with 228 KiB, where each takes 1 KiB extra. On an H200 this was best with
/// up to 256 bins (942 Gelem/s and more); one block with a table twice as large was 5 to 10 % faster with 512
/// bins and more.
const COUNTS: u32 = 32 << 10;
const TABLE: u32 = 64 << 10;

/// Upper limits on log2 of the copies of the counts, one per bank, and of the table, one per pair of banks.
const BANKS: u32 = 5;
const PAIRS: u32 = 4;

/// `Layout` in the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Layout {
    bins: u32,
    /// log2 of the copies of the counts.
    replicas: u32,
    /// Cells of the table, a power of two; 0 for even bins.
    cells: u32,
    /// log2 of the copies of the table.
    spread: u32,
}

impl Layout {
    /// The layout of a case whose blocks may use `limit` bytes; counts and table are halved until they fit.
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

    /// The number of copies of the counts.
    pub fn replicas(&self) -> u64 {
        1 << self.replicas
    }

    /// The number of cells of the table; 0 for even bins.
    pub fn cells(&self) -> u64 {
        self.cells.into()
    }

    /// The number of copies of the table.
    pub fn spread(&self) -> u64 {
        1 << self.spread
    }

    /// Bytes of shared memory: the counts, the cells of 8 bytes each, the bounds.
    pub fn bytes(&self) -> u32 {
        let counts = (self.bins << self.replicas).next_multiple_of(2);
        let bounds = if self.cells > 0 { self.bins } else { 0 };
        4 * counts + 8 * (self.cells << self.spread) + 4 * bounds
    }
}

/// log2, at most `most`, of the number of copies of `words` that fit into `room`.
fn log2_that_fit(room: u32, words: u32, most: u32) -> u32 {
    (room / words).max(1).ilog2().min(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::histogram::tests::spec;
    use proptest::prelude::*;

    proptest! {
        /// For every number of bins, two blocks fit on a multiprocessor, and one fits if a block has only the
        /// shared memory that CUDA guarantees.
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
