//! The methods of spmv, each in a file that states what it does, its passes over memory and its code for each device.

mod balanced;
mod blocks;
mod he2007;
mod row;
mod segscan;
mod slices;
mod sorted;

use super::slices as layout;
use super::{Matrix, Per, Source, Spec};
use crate::case::table::{choice, count};
use crate::primitives::Costs;

/// Entries a row from which on a GPU's warps have enough of a row for all their lanes.
const LONG_ROWS: u64 = 32;

/// Bytes of x that the first-level cache of a multiprocessor keeps.
const FIRST_LEVEL: u64 = 192 << 10;

/// Bytes of x that the second-level cache of a processor keeps.
const SECOND_LEVEL: u64 = 1 << 20;

/// Rows and entries of a matrix in a file up to which a second launch, which balanced shares need, costs more than rows of
/// different lengths.
const SMALL: u64 = 1 << 18;

/// Entries of a row in each block of columns that make up for reading its sums.
const LAYER_ENTRIES: u64 = 4;

/// Bytes of a chunk of x on GPUs and on processors, and the most passes, if `passes` is unset.
const GPU_CHUNK: u64 = 8 << 20;
const CPU_CHUNK: u64 = 1 << 20;
const MOST_PASSES: u64 = 64;

/// Mean entries a row up to which a GPU's thread sums a row of its own, if `per` is unset.
const SHORT_ROWS: u64 = 8;

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// on processors: blocks for random rows and R-MAT if x exceeds 1 MiB. On GPUs: row by threads for stencils and
        /// narrow bands; if x exceeds the L1 cache, sorted for R-MAT, blocks for long random rows and slices for
        /// shorter ones; row by warps for rows of 32 entries or more; row for small matrices in files. In all other
        /// cases: balanced
        Best = "best",
        /// each row is summed separately; on processors, threads have equal numbers of rows
        Row = "row" main "per" {
            /// on GPUs: the threads that sum a row; unset: a thread for at most 8 entries per row on average, a warp
            /// for more
            per: Option<Per> = unset,
        },
        /// blocks or threads have equal shares of the total of rows and entries, cut within rows where necessary
        Balanced = "balanced",
        /// on GPUs: as balanced, but the entries of each share are sorted by column, so that x is gathered in fewer
        /// accesses
        Sorted = "sorted",
        /// on GPUs: slices of 32 rows (SELL-C-σ), sorted by length within 1024 rows; one lane per row
        Slices = "slices",
        /// blocks of columns. On GPUs, a block's part of x is gathered from shared memory, with one lane per row; on
        /// processors, bands of at most 2^17 rows are divided into blocks: the entries of a band are sorted by column,
        /// and its part of y stays in the L2 cache
        Blocks = "blocks" main "columns" {
            /// columns per block; unset: as many as fit in 160 KiB of shared memory (on processors, 32768)
            columns: Option<u64> [count(1, 1 << 16)] = unset,
        },
        /// products, a backward segmented scan of the products, and the first result of each row (sengupta2007 §4.2)
        Segscan = "segscan",
        /// products, for which x is gathered in passes over its chunks, then the sum of each row's products (he2007
        /// §4.3)
        He2007 = "he2007" main "passes" {
            /// passes, each over a chunk of x; unset: up to 64, for chunks of at most 8 MiB (on processors, 1 MiB)
            passes: Option<u64> [count(1, 4096)] = unset,
        },
    }
}

/// The costs of a case by its method.
pub fn costs(spec: &Spec) -> Costs<'_> {
    match spec.method {
        Method::Row { .. } => row::costs(spec),
        Method::Best | Method::Balanced => balanced::costs(spec),
        Method::Sorted => sorted::costs(spec),
        Method::Slices => slices::costs(spec),
        Method::Blocks { .. } => blocks::costs(spec),
        Method::Segscan => segscan::costs(spec),
        Method::He2007 { .. } => he2007::costs(spec),
    }
}

/// The passes over a vector of so many bytes, if `passes` is unset.
pub fn passes(bytes: u64, on_gpu: bool) -> u64 {
    bytes.div_ceil(if on_gpu { GPU_CHUNK } else { CPU_CHUNK }).clamp(1, MOST_PASSES)
}

impl Matrix {
    /// True of a matrix whose columns are near the diagonal.
    fn is_near(&self) -> bool {
        matches!(self, Matrix::Laplace5 { .. } | Matrix::Laplace7 { .. } | Matrix::Banded { .. })
    }

    /// True of rows of about the same length.
    fn is_even(&self) -> bool {
        !matches!(self, Matrix::Rmat { .. } | Matrix::DenseRow { .. } | Matrix::File { .. })
    }
}

impl Source {
    /// True of a vector that exceeds the first-level cache of a multiprocessor and of columns that are anywhere in it.
    fn is_far(&self, element: u64) -> bool {
        !self.matrix.is_near() && self.shape.columns * element > FIRST_LEVEL
    }

    /// True if blocks of columns pay on GPUs: rows of about the same length have enough entries in each.
    pub fn has_blocks(&self, element: u64) -> bool {
        let (mean, layers) =
            (self.shape.entries / self.shape.rows.max(1), layout::blocks(self.shape.columns, element));
        self.matrix.is_even() && self.is_far(element) && mean >= LAYER_ENTRIES * layers
    }
}

/// The method that `best` stands for on GPUs.
fn best_of_gpus(spec: &Spec) -> Method {
    let (source, mean) = (spec.source(), spec.shape.entries / spec.shape.rows.max(1));
    let (near, even) = (spec.matrix.is_near(), spec.matrix.is_even());
    let far = source.is_far(spec.element());
    let few = spec.shape.rows + spec.shape.entries <= SMALL;
    let per = if mean <= SHORT_ROWS { Per::Thread } else { Per::Warp };
    match () {
        () if few && matches!(spec.matrix, Matrix::File { .. }) => Method::Row { per: Some(per) },
        () if near && mean <= SHORT_ROWS => Method::Row { per: Some(Per::Thread) },
        () if source.has_blocks(spec.element()) => Method::Blocks { columns: None },
        () if even && far => Method::Slices,
        () if matches!(spec.matrix, Matrix::Rmat { .. }) && far => Method::Sorted,
        () if even && mean >= LONG_ROWS => Method::Row { per: Some(Per::Warp) },
        () => Method::Balanced,
    }
}

/// The method that `best` stands for on processors. Columns of a matrix in a file may be near each other or not.
fn best_of_processors(spec: &Spec) -> Method {
    let spread = matches!(
        spec.matrix,
        Matrix::Random { .. } | Matrix::EmptyRows { .. } | Matrix::DenseRow { .. } | Matrix::Rmat { .. }
    );
    match spread && spec.shape.columns * spec.element() > SECOND_LEVEL {
        true => Method::Blocks { columns: None },
        false => Method::Balanced,
    }
}

/// The method that is executed.
pub fn chosen(spec: &Spec) -> Method {
    let mean = spec.shape.entries / spec.shape.rows.max(1);
    let asked = match spec.asked {
        Method::Best if spec.backend.is_cuda() => best_of_gpus(spec),
        Method::Best if spec.backend.is_cpu() => best_of_processors(spec),
        Method::Best => Method::Balanced,
        asked => asked,
    };
    match asked {
        Method::Blocks { columns: None } => {
            let columns = match spec.backend.is_cuda() {
                true => layout::width(spec.shape.columns, spec.element()),
                false => blocks::COLUMNS.min(spec.shape.columns).max(1),
            };
            Method::Blocks { columns: Some(columns) }
        }
        Method::Row { per: None } if spec.backend.is_cuda() => {
            Method::Row { per: Some(if mean <= SHORT_ROWS { Per::Thread } else { Per::Warp }) }
        }
        Method::He2007 { passes: None } => Method::He2007 {
            passes: Some(passes(spec.shape.columns * spec.element(), spec.backend.is_cuda())),
        },
        asked => asked,
    }
}

/// The methods on processors.
pub mod cpu {
    use super::{Method, balanced, blocks, he2007, row, segscan};
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::of_gpus;
    use crate::primitives::spmv::cpu::{Made, Spmv};

    /// The method of a case.
    ///
    /// # Errors
    /// Missing memory, a request to stop, and a method of GPUs.
    pub fn method(made: &Made) -> Result<PoolMethod<Spmv>, Failure> {
        match made.spec.method {
            Method::Row { .. } => Ok(row::cpu::method()),
            Method::Best | Method::Balanced => Ok(balanced::cpu::method()),
            Method::Blocks { .. } => blocks::cpu::method(made),
            Method::Segscan => segscan::cpu::method(made),
            Method::He2007 { .. } => he2007::cpu::method(made),
            Method::Sorted | Method::Slices => Err(of_gpus()),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, balanced, blocks, he2007, row, segscan, slices, sorted};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::Spec;
    use crate::primitives::spmv::cuda::{Call, Made};

    methods_of_gpus! { Spec, Made, Call:
        Method::Row { .. } => row,
        Method::Best | Method::Balanced => balanced,
        Method::Sorted => sorted,
        Method::Slices => slices,
        Method::Blocks { .. } => blocks,
        Method::Segscan => segscan,
        Method::He2007 { .. } => he2007,
    }
}
