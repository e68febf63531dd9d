//! A table over the domain that narrows the search for a bin between splitters: cells of the
//! same width, each with the splitters below it counted and the least one in or above it. Where
//! a cell has no more than one, its bin takes one comparison.

/// Marks a cell with more than one splitter.
const SEVERAL: u32 = 1 << 31;

/// One cell.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C)]
pub struct Cell {
    /// The least splitter in or above the cell; infinite where there is none.
    next: f32,
    /// Splitters below the cell, and [`SEVERAL`].
    below: u32,
}

impl Cell {
    /// A cell of no table.
    pub const NONE: Cell = Cell { next: f32::INFINITY, below: 0 };
}

/// Cells for so many bins: a power of two, about eight a bin.
pub fn cells(bins: usize) -> usize {
    (8 * bins).next_power_of_two().min(1 << 14)
}

/// Writes the table of ascending `splitters` to `cells`, a power of two of them. Takes time in
/// proportion to both.
pub fn build(splitters: &[f32], cells: &mut [Cell], domain: f32) {
    let scale = cells.len() as f32 / domain;
    let mut below = 0;
    for (c, cell) in cells.iter_mut().enumerate() {
        // The product is exact, as the factor is a power of two.
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
/// `splitters` are those that the table was built of.
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
