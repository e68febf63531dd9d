//! Blocks of columns.
//!
//! On GPUs their part of x fits in shared memory, where it is gathered: a block of columns is in slices of 32 rows, a lane
//! for each row ([`Slices`](crate::primitives::spmv::slices::Slices)), and a second kernel adds the sums of each row over
//! the blocks, its layers.
//!
//! On CPUs the matrix is in bands of rows, whose part of y stays in the second-level cache, and each band in blocks of
//! columns (compressed sparse blocks: A. Buluç et al., SPAA 2009). The entries of a band are in the order of their columns,
//! so that x is read from left to right, which caches fetch ahead, and only y is accessed in no order, where it is near.
//! Row and column of an entry, counted from those of its block, share a word: blocks take no more memory than compressed
//! rows. Each worker has the bands of its rows:
//!
//! ```text
//! for each band:
//!     y[i] = z[i], or 0                          for its rows i
//!     for each of its blocks, from left to right:
//!         y[row + r] += value · x[column + c]    for the block's entries (r, c, value), c ascending
//! ```

use std::ops::Range;

use crate::case::BlockCost;
use crate::case::work::{Access, Order, Pass};
use crate::inputs::sparse::Csr;
use crate::primitives::Costs;
use crate::primitives::spmv::Spec;
use crate::primitives::spmv::methods::Method;
use crate::primitives::spmv::slices::LANES;
use crate::primitives::spmv::work::{LARGE_WARPS, results};

/// Columns of a block.
fn width(spec: &Spec) -> u64 {
    if let Method::Blocks { columns: Some(width) } = spec.method { width } else { COLUMNS }
}

pub fn costs(spec: &Spec) -> Costs<'_> {
    if spec.backend.is_cpu() { in_bands(spec) } else { in_layers(spec) }
}

/// A pass in which each band of rows reads x and adds to its part of y.
fn in_bands(spec: &Spec) -> Costs<'_> {
    let (shape, entries, element) = (spec.shape, spec.shape.entries, spec.element());
    // As many bands as one worker has; others have bands of their own, and read x as often.
    let height = most_rows(width(spec)).min(shape.rows).max(1);
    let bands = shape.rows.div_ceil(height);
    let x = Access::reads("x", element, entries.min(shape.columns * bands)).within(element * shape.columns);
    let matrix = [Access::reads("values", element, entries), Access::reads("places", 4, entries), x];
    let sums = [Access::reads, Access::writes].map(|of| of("y", element, entries).within(height * element));
    let sums = sums.map(|sums| sums.ordered(Order::Given).indexed());
    // Beside the compressed rows; each block that has entries takes 8 bytes.
    let blocks = entries.min(shape.columns.div_ceil(width(spec)) * bands);
    Costs::of(vec![Pass::once(matrix).and(results(spec)).and(sums)])
        .beside((element + 4) * entries + 8 * blocks)
}

/// A pass over the slices, and one that adds the sums of each row.
fn in_layers(spec: &Spec) -> Costs<'_> {
    let (entries, element, layers) =
        (spec.shape.entries, spec.element(), spec.shape.columns.div_ceil(width(spec)));
    let sums = spec.shape.rows * layers;
    let products = Pass::once([
        Access::reads("values", element, entries),
        Access::reads("places", 2, entries),
        Access::reads("rows", 4, sums),
        Access::reads("x", element, spec.shape.columns),
        Access::writes("layers", element, sums),
    ]);
    let added = Pass::once([Access::reads("layers", element, sums)]).and(results(spec));
    // A slice's bounds, its rows, and its entries, a group of slices of a block at a time.
    let (slices, wavefronts) =
        (spec.shape.rows.div_ceil(LANES as u64) * layers, if element == 4 { 5.7 } else { 9.7 });
    let cost = BlockCost::of(slices.div_ceil(LARGE_WARPS), 1).loads(2.0).looks(2.0);
    let cost = cost.with(entries as f64 / LANES as f64, [12.9, 5.3, wavefronts]);
    // The slices, with zeros at the ends of short rows, beside the compressed rows that they are made of.
    Costs::of(vec![products, added])
        .beside((element + 2) * (entries + entries / 4) + (8 + element) * sums)
        .blocks([cost.with(slices as f64, [40.0, 15.0, 0.0]), BlockCost::default()])
}

/// Columns of a block, if the case does not say how many.
pub const COLUMNS: u64 = 1 << 15;

/// The most rows of a band: 512 KiB of y in f32, 1 MiB in f64. Narrower bands read x more often.
const ROWS: u64 = 1 << 17;

/// Bits of a place that are a column of a block with so many columns; the others are a row of the band.
fn column_bits(columns: u64) -> u32 {
    u64::BITS - columns.saturating_sub(1).leading_zeros()
}

/// The most rows of a band whose blocks have so many columns.
fn most_rows(columns: u64) -> u64 {
    ROWS.min(1 << (u32::BITS - column_bits(columns).min(u32::BITS)))
}

/// Some rows in as few bands of at most so many rows as possible, all of about the same height.
fn cut(rows: Range<usize>, most: usize) -> impl Iterator<Item = Range<usize>> {
    let bands = rows.len().div_ceil(most);
    let at = move |band: usize| rows.start + (rows.len() as u128 * band as u128 / bands as u128) as usize;
    (0..bands).map(move |band| at(band)..at(band + 1))
}

/// Entries of a band whose columns are in one block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Block {
    /// The first column.
    column: u32,
    /// Behind the last entry; the first is at the end of the block before it.
    end: u32,
}

/// A band: its entries have the positions that those of its rows have in compressed rows.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Band {
    /// The rows.
    rows: Range<usize>,
    /// The position of the first entry.
    first: usize,
    /// The blocks that have entries, from left to right.
    blocks: Vec<Block>,
}

/// Column, position and row of the entries of some rows, in the order of their columns and those of a column in that of
/// their rows. Columns are counted where that takes no more memory than the entries.
fn in_columns(matrix: &Csr<f64>, rows: Range<usize>) -> Vec<(u32, u32, u32)> {
    let of_row = |row: usize| matrix.row(row).map(move |at| (matrix.indices[at], at as u32, row as u32));
    let entries = || rows.clone().flat_map(of_row);
    let count = matrix.starts[rows.end] as usize - matrix.starts[rows.start] as usize;
    if count < matrix.columns as usize {
        let mut order: Vec<(u32, u32, u32)> = entries().collect();
        order.sort_unstable_by_key(|(column, at, _)| u64::from(*column) << 32 | u64::from(*at));
        return order;
    }
    let mut next = vec![0usize; matrix.columns as usize + 1];
    entries().for_each(|(column, ..)| next[column as usize + 1] += 1);
    let mut sum = 0;
    for place in &mut next {
        sum += *place;
        *place = sum;
    }
    let mut order = vec![(0, 0, 0); count];
    for entry in entries() {
        let place = &mut next[entry.0 as usize];
        order[*place] = entry;
        *place += 1;
    }
    order
}

impl Band {
    /// The band of some rows with blocks of so many columns. `put` gets position, place (row and column within the block)
    /// and value of each entry. Those of a column are in the order of their rows, and so is each row's sum in that of its
    /// columns.
    fn new(
        matrix: &Csr<f64>,
        rows: Range<usize>,
        columns: u64,
        mut put: impl FnMut(usize, u32, f64),
    ) -> Band {
        let first = matrix.starts[rows.start] as usize;
        let order = in_columns(matrix, rows.clone());
        let (bits, width) = (column_bits(columns), columns as u32);
        let mut blocks: Vec<Block> = Vec::new();
        for (to, (column, at, row)) in (first..).zip(order) {
            let begin = column - column % width;
            if blocks.last().is_none_or(|block| block.column != begin) {
                blocks.push(Block { column: begin, end: 0 });
            }
            if let Some(block) = blocks.last_mut() {
                block.end = to as u32 + 1;
            }
            put(to, (row - rows.start as u32) << bits | (column - begin), matrix.values[at as usize]);
        }
        Band { rows, first, blocks }
    }

    /// First column and entries of each block.
    fn parts(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let begins = std::iter::once(self.first).chain(self.blocks.iter().map(|block| block.end as usize));
        self.blocks
            .iter()
            .zip(begins)
            .map(|(block, begin)| (block.column as usize, begin..block.end as usize))
    }
}

pub mod cpu {
    use super::{Band, column_bits, cut, most_rows, width};
    use crate::device::{Counted, Held};
    use crate::inputs::shared::Contents;
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::spmv::cpu::kernels::{Call, Timed};
    use crate::primitives::spmv::cpu::{Made, Spmv};

    /// The products of a row are added from left to right, unless workers share it.
    pub fn method(made: &Made) -> Result<PoolMethod<Spmv>, Failure> {
        let blocks = Blocks::new(made)?;
        Ok(Box::new(move |product, worker| {
            let (call, timed) = (product.call(), &product.timed);
            // SAFETY: nobody else uses the elements of y of a worker's whole rows.
            let whole = || unsafe { blocks.multiply(&call, timed, worker.index) };
            product.in_shares(worker, &call, &timed.gathered, Some(&whole));
        }))
    }

    /// A matrix in blocks. Entries of rows that workers share are left out.
    struct Blocks {
        /// Row and column of each entry.
        places: Buffer,
        values: Buffer,
        /// Bits of a place that are the column.
        bits: u32,
        /// The bands of each worker.
        bands: Vec<Vec<Band>>,
        _held: Held,
        /// What the arrays are copies of.
        _shared: Counted<Bands>,
    }

    /// A band with its entries: place and value of each.
    struct Arranged {
        band: Band,
        places: Vec<u32>,
        values: Vec<f64>,
    }

    /// The bands of each worker, as cases share them.
    struct Bands(Vec<Vec<Arranged>>);

    impl Contents for Bands {
        fn bytes(&self) -> u64 {
            let of_band = |one: &Arranged| one.places.bytes() + one.values.bytes() + one.band.blocks.bytes();
            self.0.iter().flatten().map(of_band).sum()
        }
    }

    /// Arranges a matrix, each worker the rows of its own.
    fn arranged(made: &Made, columns: u64) -> Result<Bands, Failure> {
        let band = |rows: Range<usize>| {
            made.cancel.check()?;
            let first = made.matrix.starts[rows.start] as usize;
            let count = made.matrix.starts[rows.end] as usize - first;
            let (mut places, mut values) = (vec![0; count], vec![0.0; count]);
            let band = Band::new(made.matrix, rows, columns, |to, place, value| {
                (places[to - first], values[to - first]) = (place, value);
            });
            Ok(Arranged { band, places, values })
        };
        let most = most_rows(columns) as usize;
        let bands = made.pool.try_run(|worker| {
            let own = made.whole_rows(worker.index).into_iter();
            own.flat_map(|rows| cut(rows, most)).map(band).collect::<Result<Vec<Arranged>, Failure>>()
        })?;
        Ok(Bands(bands))
    }

    impl Blocks {
        /// Rearranges a matrix into blocks.
        ///
        /// # Errors
        /// Missing memory, and a request to stop.
        fn new(made: &Made) -> Result<Blocks, Failure> {
            let (spec, columns) = (made.spec, width(made.spec));
            let (element, entries) = (spec.element(), made.matrix.values.len());
            let form = format!("blocks of {columns}, {} workers, {:?}", made.pool.threads(), made.fault);
            let shared = made.form(&form, 24 * entries as u64, || arranged(made, columns))?;
            let (places, values) = (Buffer::new(entries * 4)?, Buffer::new(entries * element as usize)?);
            made.pool.try_run(|worker| {
                for band in &shared.0[worker.index] {
                    made.cancel.check()?;
                    let own = band.band.first..band.band.first + band.places.len();
                    // SAFETY: bands have positions of their own, which are inside the buffers.
                    unsafe {
                        places.write::<u32>(own.clone()).copy_from_slice(&band.places);
                        match element {
                            4 => {
                                let to = values.write::<f32>(own).iter_mut();
                                to.zip(&band.values).for_each(|(to, value)| *to = *value as f32);
                            }
                            _ => values.write::<f64>(own).copy_from_slice(&band.values),
                        }
                    }
                }
                Ok::<(), Failure>(())
            })?;
            let of_worker = |bands: &Vec<Arranged>| bands.iter().map(|one| one.band.clone()).collect();
            let bands: Vec<Vec<Band>> = shared.0.iter().map(of_worker).collect();
            let blocks: usize = bands.iter().flatten().map(|band| size_of_val(&band.blocks[..])).sum();
            let (bits, held) = (column_bits(columns), Held::new(blocks as u64));
            Ok(Blocks { places, values, bits, bands, _held: held, _shared: shared })
        }

        /// Computes the rows of a worker.
        ///
        /// # Safety
        /// Nobody else uses their elements of y.
        unsafe fn multiply(&self, call: &Call, timed: &Timed, worker: usize) {
            let call = Call { columns: self.places.ptr(), values: self.values.ptr(), ..*call };
            for band in &self.bands[worker] {
                // SAFETY: by the caller's promise; bands lie inside the matrix.
                unsafe {
                    (timed.begin)(&call, band.rows.clone());
                    for (column, entries) in band.parts() {
                        (timed.add)(&call, entries, self.bits, [band.rows.start, column]);
                    }
                }
            }
        }
    }
}

pub mod cuda {
    use super::width;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, MODULE, Made, named};
    use crate::primitives::spmv::slices::cuda::SliceBuffers;
    use crate::primitives::spmv::slices::{LANES, SliceWords, Slices};

    /// Threads of a block that has a part of x in shared memory.
    const THREADS: u32 = 1024;

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed_all(MODULE, ["blocks", "layers"].map(|word| (named(spec, word), 1)))
    }

    pub fn method(made: &Made) -> Result<GpuMethod<Call>, Failure> {
        let (gpu, shape, element, width) = (made.gpu, made.spec.shape, made.spec.element(), width(made.spec));
        let columns = length(width)?;
        let words = made.forms.get(&format!("slices of blocks of {width}"), shape.entries * 12, || {
            let slices = Slices::new(&made.matrix.with_sorted_columns(), columns, 16 / element as usize);
            Ok(SliceWords::of(slices, |values| made.words(values), |slices| slices.halves())?)
        })?;
        let count = words.slices.count() as u64;
        let (multiply, add) = (made.kernel("blocks")?, made.kernel("layers")?);
        let shared = (width * element) as u32;
        let most = gpu.max_blocks(&multiply, THREADS, shared)?;
        let blocks = grid(count, u64::from(THREADS) / LANES as u64).min(most);
        let matrix = SliceBuffers::new(gpu, &words, blocks)?;
        let layers = shape.columns.div_ceil(width);
        let sums: DeviceBuffer<u32> = array(gpu, (layers * shape.rows * element / 4).max(1))?;
        let (n, columns, width, layers) =
            (shape.rows as u32, shape.columns as u32, width as u32, layers as u32);
        Ok(Box::new(move |gpu, &Call { x, z, y, rows, .. }| {
            if count > 0 {
                let (shares, matrix) = (&matrix.shares, matrix.pointers());
                let args = args![matrix, shares, x, sums, n, columns, width, rows];
                gpu.launch(&multiply, blocks, THREADS, shared, args)?;
            }
            launch_over(gpu, &add, rows.into(), args![sums, z, y, layers, n, rows])
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::sparse::Nas;

    #[test]
    fn bands_hold_every_entry_once() {
        for (n, most, columns) in [(1, 1, 1), (33, 7, 5), (300, 300, 64), (1400, 256, 1 << 15)] {
            let matrix = Nas::new(n, 4, 0.5).make().expect("a matrix");
            let mut entries = vec![(0, 0.0); matrix.indices.len()];
            let bands: Vec<Band> = cut(0..n as usize, most)
                .map(|rows| {
                    Band::new(&matrix, rows, columns, |to, place, value| entries[to] = (place, value))
                })
                .collect();
            assert!(bands.iter().all(|band| band.rows.len() <= most));
            let (bits, mut found) = (column_bits(columns), Vec::new());
            for band in &bands {
                let mut last = 0;
                for (column, at) in band.parts() {
                    for (place, value) in &entries[at] {
                        let within = place & ((1 << bits) - 1);
                        assert!(u64::from(within) < columns && column as u32 + within >= last);
                        last = column as u32 + within;
                        found.push((band.rows.start as u32 + (place >> bits), last, *value));
                    }
                }
            }
            found.sort_by_key(|entry| (entry.0, entry.1));
            let again = Csr::from_entries(n.into(), n.into(), &found).expect("inside");
            assert_eq!(again, matrix, "{n} {most} {columns}");
        }
    }

    #[test]
    fn a_place_holds_every_row_and_column() {
        for columns in [1, 2, 3, 100, COLUMNS, COLUMNS + 1, 1 << 16] {
            assert!(columns <= 1 << column_bits(columns));
            let last = (most_rows(columns) - 1) << column_bits(columns) | (columns - 1);
            assert!(u32::try_from(last).is_ok(), "{columns}");
        }
        assert_eq!([most_rows(1), most_rows(COLUMNS), most_rows(1 << 16)], [1 << 17, 1 << 17, 1 << 16]);
    }

    #[test]
    fn no_rows_are_no_bands() {
        assert_eq!(cut(5..5, 7).count(), 0);
        assert_eq!(cut(5..20, 7).collect::<Vec<_>>(), [5..10, 10..15, 15..20]);
    }
}
