//! The methods of cg, which multiply A: in compressed rows, on GPUs a warp for each; on GPUs in blocks of columns whose part of
//! the vector is in shared memory, where a lane for each row gathers it ([`slices`]); or as he2007 §4.3 does, by products,
//! gathered in passes over the vector, and their sums by rows.

use super::Spec;
use crate::case::Refusal;
use crate::case::table::{choice, count};
use crate::case::work::{Access, Order, Pass};
use crate::inputs::sparse::Shape;
use crate::primitives::spmv::{in_runs, passes, slices};

/// Bytes of a vector that the first-level cache of a multiprocessor keeps.
const FIRST_LEVEL: u64 = 192 << 10;

choice! {
    /// How A is multiplied.
    #[derive(Eq)]
    pub enum Method {
        /// on GPUs: blocks if a vector exceeds the L1 cache of a multiprocessor and rows, of about the same length, have enough
        /// entries in each block; in all other cases rows
        Best = "best",
        /// compressed rows; on GPUs one warp per row
        Rows = "rows",
        /// on GPUs: blocks of columns; a block's part of the vector is gathered from shared memory, with one lane per
        /// row
        Blocks = "blocks" {
            /// columns per block; unset: as many as fit in 160 KiB of shared memory
            columns: Option<u64> [count(1, 1 << 16)] = unset,
        },
        /// products, for which the vector is gathered in passes over its chunks, then the sum of each row's products (he2007
        /// §4.3)
        He2007 = "he2007" main "passes" {
            /// passes, each over a chunk of the vector; unset: up to 64, for chunks of at most 8 MiB (on processors, 1 MiB)
            passes: Option<u64> [count(1, 4096)] = unset,
        },
    }
}

/// The method that is executed.
///
/// # Errors
/// A method that the backend does not have.
pub fn chosen(spec: &Spec) -> Result<Method, Refusal> {
    let bytes = spec.n() * spec.element();
    let pays = spec.source.as_ref().map_or(bytes > FIRST_LEVEL, |source| source.has_blocks(spec.element()));
    match spec.asked {
        Method::Best if spec.backend.is_cuda() && pays => Ok(Method::Blocks { columns: None }),
        Method::Best => Ok(Method::Rows),
        Method::Blocks { .. } if spec.backend.is_cpu() => {
            Err(Refusal::NotApplicable("blocks are a method of GPUs".to_owned()))
        }
        Method::He2007 { passes: None } => {
            Ok(Method::He2007 { passes: Some(passes(bytes, spec.backend.is_cuda())) })
        }
        asked => Ok(asked),
    }
}

impl Spec {
    /// True if A is in blocks of columns.
    pub fn in_blocks(&self) -> bool {
        matches!(self.method, Method::Blocks { .. })
    }

    /// Passes over the vector, if products are apart from sums.
    pub fn passes(&self) -> Option<u64> {
        if let Method::He2007 { passes } = self.method { passes } else { None }
    }

    /// Columns of a block: of as few blocks as shared memory allows, all of about the same width.
    pub fn columns(&self) -> u64 {
        match self.method {
            Method::Blocks { columns: Some(columns) } => columns,
            _ => slices::width(self.n(), self.element()),
        }
    }

    /// Parts that each row of a product is the sum of.
    pub fn layers(&self) -> u64 {
        if self.in_blocks() { self.n().div_ceil(self.columns()) } else { 1 }
    }
}

/// The passes of a product with A; `beside` are the arrays that its caller has with the sums. By rows the vector is gathered by
/// the columns of the entries; in blocks it is read once, gathered on chip, and each row has several sums. Zeros at the ends
/// of short rows of a slice, a few in a hundred, are not declared.
pub fn product(spec: &Spec, vector: &str, beside: impl IntoIterator<Item = Access>) -> Vec<Pass> {
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    let starts = Access::reads("row starts", 4, n + 1);
    let gathered =
        |count, bytes| Access::reads(vector, element, count).within(bytes).ordered(Order::Random).indexed();
    let sums = match spec.method {
        Method::Blocks { .. } => Pass::once([
            Access::reads("A", element, entries),
            Access::reads("columns", 2, entries),
            Access::reads("rows", 4, n * spec.layers()),
            Access::reads(vector, element, n),
            Access::writes("q", element, n * spec.layers()),
        ]),
        Method::He2007 { .. } => {
            Pass::once([starts, Access::reads("products", element, entries), Access::writes("q", element, n)])
        }
        Method::Best | Method::Rows => Pass::once([
            Access::reads("A", element, entries),
            Access::reads("columns", 4, entries),
            starts,
            gathered(entries, element * n),
            Access::writes("q", element, n),
        ]),
    };
    let apart = spec.passes().map(|passes| {
        let order = in_runs(Shape { rows: n, columns: n, entries }, passes);
        let taken = |access: Access| access.within(element * entries).ordered(order.clone());
        let part = entries.div_ceil(passes);
        Pass::once([
            Access::reads("columns", 4, entries),
            taken(Access::reads("A", element, part)),
            gathered(part, element * n.div_ceil(passes)),
            taken(Access::writes("products", element, part)),
        ])
        .times(passes)
    });
    apart.into_iter().chain([sums.and(beside)]).collect()
}

/// The methods on GPUs: one launch for all solutions, with as many blocks as are resident at once.
pub mod cuda {
    use super::Spec;
    use crate::device::cuda::pointer_or_null;
    use crate::primitives::cg::cuda::{MODULE, Made, System};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::spmv::slices::cuda::SliceBuffers;
    use crate::primitives::spmv::slices::{SliceWords, Slices};

    /// Threads of a block, and the rows that it multiplies at a time.
    const THREADS: u32 = 1024;
    const ROWS: u64 = THREADS as u64 / 32;

    /// Dot products of which each block leaves its part.
    const DOTS: u64 = 5;

    /// The kernel's name in the PTX.
    fn name(spec: &Spec) -> String {
        format!("cg_{}_{}", spec.method.name(), spec.ty.name())
    }

    /// The kernels that an execution launches.
    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, name(spec), 1)
    }

    /// The method of a case. An execution is given the case with the matrix in compressed rows, and the shift of a deliberate
    /// mistake.
    ///
    /// # Errors
    /// Errors of the driver, and missing memory.
    pub fn method(made: &Made) -> Result<GpuMethod<(System, u64)>, Failure> {
        let (gpu, spec) = (made.gpu, made.spec);
        let kernel = made.module.kernel(&name(spec))?;
        let shared = if spec.in_blocks() { (spec.columns() * spec.element()) as u32 } else { 0 };
        let most = gpu.max_blocks(&kernel, THREADS, shared)?;
        let dots = |blocks: u32| array::<f64>(gpu, DOTS * u64::from(blocks));
        if !spec.in_blocks() {
            let blocks = grid(spec.n(), ROWS).min(most);
            let sums = dots(blocks)?;
            let apart =
                spec.passes().map(|_| array::<u32>(gpu, spec.entries() * spec.element() / 4)).transpose()?;
            return Ok(Box::new(move |gpu, (call, _)| {
                let products = pointer_or_null(apart.as_ref());
                let system = System { sums: sums.pointer(), products, ..*call };
                gpu.launch(&kernel, blocks, THREADS, shared, args![system])
            }));
        }
        let (columns, group) = (length(spec.columns())?, 16 / spec.element() as usize);
        let words = made.forms.get(&format!("slices of blocks of {columns}"), spec.entries() * 12, || {
            let slices = Slices::new(&made.matrix, columns, group);
            Ok(SliceWords::of(slices, |values| made.words(values), |slices| slices.halves())?)
        })?;
        let blocks = grid(words.slices.count() as u64, ROWS).min(most);
        let sliced = SliceBuffers::new(gpu, &words, blocks)?;
        let sums = dots(blocks)?;
        Ok(Box::new(move |gpu, (call, shift)| {
            let system = System {
                starts: sliced.starts.pointer(),
                columns: sliced.places.pointer(),
                // Slices are read 16 bytes at a time.
                values: sliced.values.pointer_at(length(4 * shift)?)?,
                rows: sliced.rows.pointer(),
                shares: sliced.shares.pointer(),
                sums: sums.pointer(),
                ..*call
            };
            gpu.launch(&kernel, blocks, THREADS, shared, args![system])
        }))
    }
}
