//! spmv on a GPU (`kernels/spmv/spmv.cu`). The matrix is made in host memory and copied; the first row of each tile, too,
//! which depends on the matrix alone. The certificate computes each row again from the arrays in memory.

mod sliced;
mod tiled;

pub use sliced::SliceBuffers;

use super::matrix;
use super::spec::{Method, Per, Spec};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    Arg, ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, Module, OutputArray, args, device_struct,
};
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::scan::cuda as scan;
use crate::primitives::scan::cuda::one_pass::{Launch, OnePass, Variant};
use sliced::Sliced;
use tiled::Tiled;

const MODULE: &str = "spmv";

device_struct! {
    /// `Csr` in the kernels.
    struct Rows: 24 {
        starts: DevicePtr<u32>,
        columns: DevicePtr<u32>,
        values: DevicePtr<u32>,
    }
}

/// The products of all entries, and the kernel of a pass over a chunk of x.
struct Passes {
    products: DeviceBuffer<u32>,
    one: Kernel,
}

/// A backward segmented scan: the heads of the segments, the scan, and the kernels before and after it.
struct Segscan {
    heads: DeviceBuffer<u32>,
    scan: OnePass,
    set: Kernel,
    first: Kernel,
}

/// How the products of the entries are summed.
enum Sums {
    /// By a kernel that has so many rows in a block of threads.
    ByRows(Kernel, u64),
    Tiled(Tiled),
    Sliced(Sliced),
    Segscan(Segscan),
}

/// A case in device memory. Numbers are 32-bit words; x has one element more, which only a deliberate mistake reads.
pub struct Product {
    spec: Spec,
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
    x: DeviceBuffer<u32>,
    z: Option<DeviceBuffer<u32>>,
    y: DeviceBuffer<u32>,
    passes: Option<Passes>,
    sums: Sums,
    certify: Kernel,
}

fn named(spec: &Spec, word: &str) -> String {
    format!("spmv_{word}_{}", spec.ty.name())
}

/// The timed kernels' names in the PTX and their launches.
fn timed_kernels(spec: &Spec) -> Vec<(String, u64)> {
    let chunks = spec.chunks().count() as u64;
    let named = |kernels: &[(&str, u64)]| kernels.iter().map(|(word, n)| (named(spec, word), *n)).collect();
    match spec.method {
        Method::Sorted => named(&[("sorted", 1), ("carry", 1)]),
        Method::Slices => named(&[("slices", 1)]),
        Method::Blocks { .. } => named(&[("blocks", 1), ("layers", 1)]),
        Method::Row { per } => named(&[(per.unwrap_or(Per::Warp).name(), 1)]),
        Method::Segscan => named(&[("products", chunks), ("heads", 1), ("first", 1)]),
        Method::He2007 { .. } => named(&[("sums", 1), ("carry", 1), ("products", chunks)]),
        _ => named(&[("balanced", 1), ("carry", 1)]),
    }
}

/// The name of the kernel that multiplies.
fn multiply(spec: &Spec) -> String {
    timed_kernels(spec).swap_remove(0).0
}

/// The scan of products, with a bit for the first of each row.
fn scan_of(spec: &Spec) -> Variant {
    let family = if spec.element() == 4 { "add_f32" } else { "add_f64" };
    Variant { spine: true, segmented: true, family, element: spec.element() }
}

/// 32-bit words of numbers of a case's type.
fn words(spec: &Spec, numbers: impl Iterator<Item = f64>) -> Vec<u32> {
    match spec.element() {
        4 => numbers.map(|number| spec.bits(number) as u32).collect(),
        _ => numbers
            .map(|number| spec.bits(number))
            .flat_map(|bits| [bits as u32, (bits >> 32) as u32])
            .collect(),
    }
}

/// Uploads words; an array has at least one.
fn uploaded(gpu: &Gpu, mut words: Vec<u32>) -> Result<DeviceBuffer<u32>, Failure> {
    words.resize(words.len().max(1), 0);
    gpu.upload(&words)
}

impl GpuJob for Product {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let timed = KernelList::default().timed_all(MODULE, timed_kernels(spec));
        let scanned = match spec.method {
            Method::Segscan => timed.timed(scan::MODULE, scan_of(spec).name(), 1),
            _ => timed,
        };
        Ok(scanned.untimed(MODULE, [named(spec, "certify")]))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.shape.rows, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Product, Failure> {
        let (gpu, module) = (setup.gpu, setup.gpu.module(MODULE)?);
        let mut made = matrix::matrix(&spec, setup.stored)?;
        if matches!(spec.method, Method::Blocks { .. }) {
            made.sort_columns();
        }
        setup.cancel.check()?;
        let passes = match spec.method {
            Method::He2007 { .. } | Method::Segscan => Some(Passes {
                products: gpu.alloc(length(spec.shape.entries * spec.element() / 4)?)?,
                one: module.kernel(&named(&spec, "products"))?,
            }),
            _ => None,
        };
        let sums = match spec.method {
            Method::Segscan => Sums::Segscan(Segscan::new(gpu, &module, &spec)?),
            Method::Row { per } => {
                let per_block = match per {
                    Some(Per::Thread) => BLOCK,
                    Some(Per::Block) => 1,
                    _ => BLOCK / 32,
                };
                Sums::ByRows(module.kernel(&multiply(&spec))?, per_block.into())
            }
            Method::Blocks { .. } | Method::Slices => Sums::Sliced(Sliced::new(gpu, &module, &spec, &made)?),
            _ => Sums::Tiled(Tiled::new(gpu, &module, &spec, &made)?),
        };
        let numbers = |n: u64, number: &dyn Fn(u64) -> f64| gpu.upload(&words(&spec, (0..n).map(number)));
        let shape = spec.shape;
        Ok(Product {
            starts: uploaded(gpu, made.starts)?,
            columns: uploaded(gpu, made.indices)?,
            values: uploaded(gpu, words(&spec, made.values.into_iter()))?,
            x: numbers(shape.columns + 1, &|j| spec.x(j))?,
            z: (spec.beta == 1).then(|| numbers(shape.rows, &|i| spec.z(i))).transpose()?,
            y: gpu.alloc(length(shape.rows * spec.element() / 4)?)?,
            passes,
            sums,
            certify: module.kernel(&named(&spec, "certify"))?,
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        if part.count == 0 {
            return Ok(());
        }
        let (rows, mut a, z) = (part.count as u32, self.rows(), self.z());
        let x = self.x.pointer_at(length(part.shift * self.spec.element() / 4)?)?;
        if let Some(passes) = &self.passes {
            self.products(gpu, passes, x)?;
            a.values = passes.products.pointer();
        }
        let y = self.y.pointer();
        match &mut self.sums {
            Sums::ByRows(kernel, per_block) => {
                gpu.launch(kernel, grid(part.count, *per_block), BLOCK, 0, args![a, x, z, y, rows])
            }
            Sums::Tiled(tiled) => tiled.enqueue(gpu, &self.spec, a, [x, z, y], rows),
            Sums::Sliced(sliced) => sliced.enqueue(gpu, &self.spec, [x, z, y], rows),
            Sums::Segscan(segscan) => segscan.sums(gpu, &self.spec, args![a, z, y, rows], a),
        }
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.y, self.spec.element())]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (rows, exact) = (self.spec.shape.rows, u32::from(self.spec.generator().is_some()));
        let (a, z) = (self.rows(), self.z());
        // A warp for each row.
        let finding = find(gpu, |report| {
            let args = args![a, self.x, z, self.y, rows, exact, report];
            launch_over(gpu, &self.certify, 32 * rows, args)
        })?;
        Ok(Verdict::of(finding.unchecked(rows, "rows").or_else(|| finding.mistake("y")), rows))
    }

    /// Each pass declares a part of the values and of x alone.
    fn moved(&self, _declared: [u64; 2]) -> [u64; 2] {
        let inputs = [&self.starts, &self.columns, &self.values, &self.x].into_iter().chain(&self.z);
        [inputs.map(DeviceBuffer::bytes).sum(), self.y.bytes()]
    }
}

impl Segscan {
    fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Segscan, Failure> {
        Ok(Segscan {
            heads: gpu.alloc(length(spec.shape.entries.div_ceil(32))?)?,
            scan: OnePass::new(gpu, scan_of(spec), spec.shape.entries)?,
            set: module.kernel(&named(spec, "heads"))?,
            first: module.kernel(&named(spec, "first"))?,
        })
    }

    /// Sums the products of each row; `first` are the arguments of the last kernel.
    fn sums(&mut self, gpu: &Gpu, spec: &Spec, first: &[Arg], a: Rows) -> Result<(), Failure> {
        let (rows, products) = (spec.shape.rows, a.values);
        launch_over(gpu, &self.set, rows, args![a, self.heads, rows as u32])?;
        let heads = self.heads.pointer();
        let all = Launch::new(products, products, spec.shape.entries);
        self.scan.execute(gpu, Launch { heads, backward: 1, inclusive: 1, ..all })?;
        launch_over(gpu, &self.first, rows, first)
    }
}

impl Product {
    /// Makes the products of all entries, one chunk of x after another.
    fn products(&self, gpu: &Gpu, passes: &Passes, x: DevicePtr<u32>) -> Result<(), Failure> {
        let (a, entries) = (self.rows(), self.spec.shape.entries as u32);
        let heads = match &self.sums {
            Sums::Segscan(segscan) => segscan.heads.pointer(),
            _ => DevicePtr::null(),
        };
        self.spec.chunks().try_for_each(|chunk| {
            let (low, width) = (chunk.start as u32, (chunk.end - chunk.start) as u32);
            let args = args![a, x, passes.products, heads, entries, low, width];
            launch_over(gpu, &passes.one, entries.into(), args)
        })
    }

    fn rows(&self) -> Rows {
        Rows { starts: self.starts.pointer(), columns: self.columns.pointer(), values: self.values.pointer() }
    }

    fn z(&self) -> DevicePtr<u32> {
        self.z.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer)
    }
}
