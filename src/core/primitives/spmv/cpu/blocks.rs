//! Products by blocks ([`bands`]), each worker the bands of its rows:
//!
//! ```text
//! for each band:
//!     y[i] = z[i], or 0                          for its rows i
//!     for each of its blocks, from left to right:
//!         y[row + r] += value · x[column + c]    for the block's entries (r, c, value), c ascending
//! ```
//!
//! The products of a row are added from left to right, unless workers share it.

use std::ops::Range;

use super::super::bands::{self, Band};
use super::super::spec::Spec;
use super::kernels::{Call, Timed};
use crate::case::{Cancel, Failure};
use crate::device::cpu::{Buffer, Pool};
use crate::device::held::Held;
use crate::inputs::sparse::Csr;

/// A matrix in blocks. Entries of rows that workers share are left out.
pub struct Blocks {
    /// Row and column of each entry.
    places: Buffer,
    values: Buffer,
    /// Bits of a place that are the column.
    bits: u32,
    /// The bands of each worker.
    bands: Vec<Vec<Band>>,
    _held: Held,
}

impl Blocks {
    /// Rearranges a matrix into blocks of so many columns; `rows` are those of each worker.
    ///
    /// # Errors
    /// Missing memory, and a request to stop.
    pub fn new(
        spec: &Spec,
        matrix: &Csr<f64>,
        columns: u64,
        rows: &[[Range<usize>; 2]],
        (pool, cancel): (&Pool, &Cancel),
    ) -> Result<Blocks, Failure> {
        let entries = matrix.values.len();
        let (places, values) = (Buffer::new(entries * 4)?, Buffer::new(entries * spec.element() as usize)?);
        let band = |rows: Range<usize>| {
            cancel.check()?;
            Ok(Band::new(matrix, rows, columns, |to, place, value| {
                // SAFETY: bands have positions of their own, which are inside the buffers.
                unsafe {
                    places.put_number(4, to, place.into());
                    values.put_number(spec.element(), to, spec.bits(value));
                }
            }))
        };
        let most = bands::most_rows(columns) as usize;
        let bands = pool.try_run(|worker| {
            let own = rows[worker.index].iter().cloned();
            own.flat_map(|rows| bands::cut(rows, most)).map(band).collect::<Result<Vec<Band>, Failure>>()
        })?;
        let blocks: usize = bands.iter().flatten().map(|band| size_of_val(&band.blocks[..])).sum();
        let (bits, held) = (bands::column_bits(columns), Held::new(blocks as u64));
        Ok(Blocks { places, values, bits, bands, _held: held })
    }

    /// Computes the rows of a worker.
    ///
    /// # Safety
    /// Nobody else uses their elements of y.
    pub unsafe fn multiply(&self, call: &Call, timed: &Timed, worker: usize) {
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
