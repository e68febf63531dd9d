//! Products by tiles of equal shares of rows and entries on a GPU.

use super::super::spec::{Method, Spec};
use super::super::tiles::{self, SORTED_TILE, Sorted, TILE};
use super::{Rows, multiply, uploaded, words};
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module, args};
use crate::inputs::sparse::Csr;
use crate::primitives::cuda::{BLOCK, grid};

/// Threads of a block whose tile is sorted (`SORTED_THREADS` in the kernel).
const SORTED_THREADS: u32 = 1024;

/// The first row of each tile, what tiles leave for rows that end in later ones, and the kernel that adds it.
pub struct Tiled {
    /// Entries in another order than the matrix has them.
    sorted: Option<Entries>,
    timed: Kernel,
    firsts: DeviceBuffer<u32>,
    carries: DeviceBuffer<u32>,
    carry: Kernel,
}

/// The entries of each tile in the order of their columns, and their places.
struct Entries {
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
    places: DeviceBuffer<u32>,
}

/// Shared memory for the products of a sorted tile, one place in 128 bytes empty.
fn products(spec: &Spec) -> u32 {
    (SORTED_TILE * spec.element() / 128 * (128 + spec.element())) as u32
}

impl Tiled {
    /// Cuts a matrix.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec, matrix: &Csr<f64>) -> Result<Tiled, Failure> {
        let timed = module.kernel(&multiply(spec))?;
        let size = if spec.method == Method::Sorted { SORTED_TILE } else { TILE };
        let firsts = tiles::firsts(&matrix.starts, size);
        let sorted = match spec.method {
            Method::Sorted => Some(Entries::new(gpu, spec, Sorted::new(matrix, &firsts))?),
            _ => None,
        };
        Ok(Tiled {
            sorted,
            timed,
            carries: gpu.alloc(firsts.len() * spec.element() as usize / 4)?,
            carry: module.kernel(&super::named(spec, "carry"))?,
            firsts: gpu.upload(&firsts)?,
        })
    }

    /// Queues the products of the first `rows` rows.
    pub fn enqueue(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        a: Rows,
        [x, z, y]: [DevicePtr<u32>; 3],
        rows: u32,
    ) -> Result<(), Failure> {
        let (count, total) = (self.firsts.len() as u32 - 1, spec.shape.rows + spec.shape.entries);
        let (firsts, carries) = (&self.firsts, &self.carries);
        match &self.sorted {
            None => {
                let args = args![firsts, a, total, x, z, y, carries, rows];
                gpu.launch(&self.timed, count, BLOCK, 0, args)?;
            }
            Some(Entries { columns, values, places }) => {
                let sorted = Rows { columns: columns.pointer(), values: values.pointer(), ..a };
                let args = args![firsts, sorted, places, total, x, z, y, carries, rows];
                gpu.launch(&self.timed, count, SORTED_THREADS, products(spec), args)?;
            }
        }
        let args = args![firsts, carries, count, rows, y];
        gpu.launch(&self.carry, grid(count.into(), BLOCK.into()), BLOCK, 0, args)
    }
}

impl Entries {
    fn new(gpu: &Gpu, spec: &Spec, sorted: Sorted) -> Result<Entries, Failure> {
        let pair = |pair: &[u16]| u32::from(pair[0]) | u32::from(pair.get(1).copied().unwrap_or(0)) << 16;
        Ok(Entries {
            columns: uploaded(gpu, sorted.columns)?,
            values: uploaded(gpu, words(spec, sorted.values.into_iter()))?,
            places: uploaded(gpu, sorted.places.chunks(2).map(pair).collect())?,
        })
    }
}
