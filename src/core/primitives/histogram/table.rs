//! A table over the domain that narrows the search for a bin between splitters. It has cells of the same width;
//! each stores the number of splitters below it and the least splitter in or above it. In a cell with at most
//! one splitter, a single comparison gives the bin.

/// Marks a cell with more than one splitter.
const SEVERAL: u32 = 1 << 31;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Cell {
    /// The least splitter in or above the cell; infinite if there is none.
    next: f32,
    /// The number of splitters below the cell, and the flag [`SEVERAL`].
    below: u32,
}

impl Cell {
    /// A placeholder cell that belongs to no table.
    pub const NONE: Cell = Cell { next: f32::INFINITY, below: 0 };
}

/// Cells for `bins` bins: a power of two, at least eight per bin up to a limit of 2^14.
pub fn cells(bins: usize) -> usize {
    (8 * bins).next_power_of_two().min(1 << 14)
}

/// Writes the table of ascending `splitters` to `cells`, whose number is a power of two. Takes time
/// proportional to the number of splitters and cells.
pub fn build(splitters: &[f32], cells: &mut [Cell], domain: f32) {
    let scale = cells.len() as f32 / domain;
    let mut below = 0;
    for (c, cell) in cells.iter_mut().enumerate() {
        // The product is exact, since the factor is a power of two.
        while splitters.get(below).is_some_and(|s| ((s * scale) as usize) < c) {
            below += 1;
        }
        let several = splitters.get(below + 1).is_some_and(|s| (s * scale) as usize == c);
        let next = splitters.get(below).copied().unwrap_or(f32::INFINITY);
        *cell = Cell { next, below: below as u32 | if several { SEVERAL } else { 0 } };
    }
}

/// The bin of `x`, which lies in `cell`.
///
/// # Safety
/// `splitters` are those from which the table was built.
#[inline(always)]
pub unsafe fn bin(cell: Cell, splitters: &[f32], x: f32) -> usize {
    let bin = cell.below + u32::from(x >= cell.next);
    if bin & SEVERAL == 0 {
        return bin as usize;
    }
    let mut bin = (bin & !SEVERAL) as usize;
    // SAFETY: `bin` has not passed the end.
    while bin < splitters.len() && x >= unsafe { *splitters.get_unchecked(bin) } {
        bin += 1;
    }
    bin
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_finds_what_a_search_finds(
            mut splitters in prop::collection::vec(0u32..1 << 12, 1..60),
            x in 0u32..1 << 12,
            bits in 0u32..8,
        ) {
            splitters.sort_unstable();
            let reals: Vec<f32> = splitters.iter().map(|&s| s as f32).collect();
            let mut table = vec![Cell::NONE; 1 << bits];
            build(&reals, &mut table, 4096.0);
            let cell = table[(x >> (12 - bits)) as usize];
            // SAFETY: they are the same splitters.
            let found = unsafe { bin(cell, &reals, x as f32) };
            prop_assert_eq!(found, splitters.partition_point(|&s| s <= x));
        }
    }
}
