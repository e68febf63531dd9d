//! Matrices in slices on a GPU, and their products.

use super::super::slices::{LANES, NONE, Slices};
use super::super::spec::{Method, Spec};
use super::words;
use crate::case::Failure;
use crate::device::cuda::{DeviceBuffer, DevicePtr, Gpu, Kernel, Module, args, device_struct};
use crate::inputs::sparse::Csr;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};

/// Threads of a block that has a part of x in shared memory.
const THREADS: u32 = 1024;

device_struct! {
    /// `Slices` in the kernels.
    struct Pointers: 32 {
        starts: DevicePtr<u32>,
        places: DevicePtr<u32>,
        values: DevicePtr<u32>,
        rows: DevicePtr<u32>,
    }
}

/// A matrix in slices, and the first slice of each block of threads.
pub struct SliceBuffers {
    pub starts: DeviceBuffer<u32>,
    pub places: DeviceBuffer<u32>,
    pub values: DeviceBuffer<u32>,
    pub rows: DeviceBuffer<u32>,
    pub shares: DeviceBuffer<u32>,
}

impl SliceBuffers {
    /// Slices with these words of values and places, for so many blocks of threads.
    pub fn new(
        gpu: &Gpu,
        slices: &Slices,
        values: &[u32],
        places: &[u32],
        blocks: u32,
    ) -> Result<SliceBuffers, Failure> {
        // An array has at least a word.
        let with = |words: &[u32], last| gpu.upload(&[words, &[last]].concat());
        Ok(SliceBuffers {
            starts: gpu.upload(&slices.starts)?,
            places: with(places, 0)?,
            values: with(values, 0)?,
            rows: with(&slices.rows, NONE)?,
            shares: gpu.upload(&slices.shares(blocks))?,
        })
    }
}

/// A matrix in slices.
pub struct Sliced {
    matrix: SliceBuffers,
    slices: u64,
    multiply: Kernel,
    blocks: Option<Blocks>,
}

/// The blocks of columns, and the sums of each row over them, its layers.
struct Blocks {
    layers: DeviceBuffer<u32>,
    count: u32,
    /// Columns.
    width: u32,
    /// Blocks of threads.
    grid: u32,
    add: Kernel,
}

impl Sliced {
    /// Cuts a matrix, by `blocks` into blocks of columns.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec, matrix: &Csr<f64>) -> Result<Sliced, Failure> {
        let multiply = module.kernel(&super::multiply(spec))?;
        let group = 16 / spec.element() as usize;
        let cut =
            |matrix: &Csr<f64>, width: u64| Ok::<_, Failure>(Slices::new(matrix, length(width)?, group));
        let Method::Blocks { columns: Some(width) } = spec.method else {
            let slices = cut(matrix, spec.shape.columns.max(1))?;
            let (values, count) = (words(spec, slices.values.iter().copied()), slices.count() as u64);
            let matrix = SliceBuffers::new(gpu, &slices, &values, &slices.places, 1)?;
            return Ok(Sliced { matrix, slices: count, multiply, blocks: None });
        };
        let slices = cut(matrix, width)?;
        let (values, count) = (words(spec, slices.values.iter().copied()), slices.count() as u64);
        let most = gpu.max_blocks(&multiply, THREADS, (width * spec.element()) as u32)?;
        let grid = grid(count, u64::from(THREADS) / LANES as u64).min(most);
        let layers = spec.shape.columns.div_ceil(width);
        let words = length((layers * spec.shape.rows * spec.element() / 4).max(1))?;
        Ok(Sliced {
            matrix: SliceBuffers::new(gpu, &slices, &values, &slices.halves(), grid)?,
            slices: count,
            multiply,
            blocks: Some(Blocks {
                layers: gpu.alloc(words)?,
                count: layers as u32,
                width: width as u32,
                grid,
                add: module.kernel(&super::named(spec, "layers"))?,
            }),
        })
    }

    /// Queues the products of the first `rows` rows, and their sums.
    pub fn enqueue(
        &self,
        gpu: &Gpu,
        spec: &Spec,
        [x, z, y]: [DevicePtr<u32>; 3],
        rows: u32,
    ) -> Result<(), Failure> {
        let (n, columns, a) = (spec.shape.rows as u32, spec.shape.columns as u32, self.pointers());
        let Some(Blocks { layers, add, grid: blocks, count, width }) = &self.blocks else {
            let (count, per_block) = (self.slices as u32, u64::from(BLOCK) / LANES as u64);
            let args = args![a, x, z, y, count, rows];
            return gpu.launch(&self.multiply, grid(self.slices, per_block), BLOCK, 0, args);
        };
        let (count, width) = (*count, *width);
        if count > 0 {
            let args = args![a, self.matrix.shares, x, layers, n, columns, width, rows];
            gpu.launch(&self.multiply, *blocks, THREADS, width * spec.element() as u32, args)?;
        }
        launch_over(gpu, add, rows.into(), args![layers, z, y, count, n, rows])
    }

    fn pointers(&self) -> Pointers {
        let SliceBuffers { starts, places, values, rows, .. } = &self.matrix;
        Pointers {
            starts: starts.pointer(),
            places: places.pointer(),
            values: values.pointer(),
            rows: rows.pointer(),
        }
    }
}
