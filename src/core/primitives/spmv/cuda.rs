//! spmv on a GPU (`kernels/spmv/spmv.cu`). The matrix is made in host memory and copied; the first row of each tile, too,
//! which depends on the matrix alone. The certificate computes each row again from the arrays in memory,
//! and the host looks at long rows once more, whose bound it knows better.

use std::sync::Arc;

use super::{Spec, matrix, methods};
use crate::device::cuda::pointer_or_null;
use crate::inputs::sparse::{Csr, SparseError};
use crate::primitives::cuda::Forms;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::words32_of;

pub const MODULE: &str = "spmv";

device_struct! {
    /// `Csr` in the kernels.
    pub struct Rows: 24 {
        pub starts: DevicePtr<u32>,
        pub columns: DevicePtr<u32>,
        pub values: DevicePtr<u32>,
    }
}

/// The case and the matrix from which a method is made.
pub struct Made<'a> {
    pub gpu: &'a Gpu,
    pub spec: &'a Spec,
    pub matrix: Arc<Csr<f64>>,
    pub forms: Forms<'a>,
    module: Module,
}

impl Made<'_> {
    /// The kernel of this name for the case's type.
    pub fn kernel(&self, word: &str) -> Result<Kernel, Failure> {
        self.module.kernel(&named(self.spec, word))
    }

    /// Numbers as 32-bit words of the case's type.
    pub fn words(&self, numbers: &[f64]) -> Result<Vec<u32>, SparseError> {
        words(self.spec, numbers.len(), |at| numbers[at])
    }
}

/// The arguments of an execution: the matrix, the vectors, and how many rows it computes.
#[derive(Clone, Copy)]
pub struct Call {
    pub a: Rows,
    pub x: DevicePtr<u32>,
    pub z: DevicePtr<u32>,
    pub y: DevicePtr<u32>,
    pub rows: u32,
}

/// The products of all entries, and the kernel that makes those of a chunk of x.
pub struct Products {
    spec: Spec,
    products: DeviceBuffer<u32>,
    entries: u32,
    kernel: Kernel,
}

impl Products {
    /// Room for them.
    pub fn new(made: &Made) -> Result<Products, Failure> {
        let entries = made.spec.shape.entries;
        Ok(Products {
            products: array(made.gpu, entries * made.spec.element() / 4)?,
            entries: entries as u32,
            kernel: made.kernel("products")?,
            spec: made.spec.clone(),
        })
    }

    /// Queues the products, one chunk of x after another, and clears `heads` unless they are null; the products are the
    /// values of the call that is returned.
    pub fn make(&self, gpu: &Gpu, &call: &Call, heads: DevicePtr<u32>) -> Result<Call, Failure> {
        let (products, entries) = (self.products.pointer(), self.entries);
        for chunk in self.spec.chunks() {
            let (low, width) = (chunk.start as u32, (chunk.end - chunk.start) as u32);
            let args = args![call.a, call.x, products, heads, entries, low, width];
            launch_over(gpu, &self.kernel, entries.into(), args)?;
        }
        Ok(Call { a: Rows { values: products, ..call.a }, ..call })
    }
}

/// A case in device memory. Numbers are 32-bit words; x has one element more, which only a deliberate mistake reads.
pub struct Spmv {
    spec: Spec,
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
    x: DeviceBuffer<u32>,
    z: Option<DeviceBuffer<u32>>,
    y: DeviceBuffer<u32>,
    method: GpuMethod<Call>,
    certify: Kernel,
    /// The rows of f32 that the host looks at, and the tolerance.
    errors: Arc<matrix::Errors>,
}

/// The name of a kernel for a case's type.
pub fn named(spec: &Spec, word: &str) -> String {
    format!("spmv_{word}_{}", spec.ty.name())
}

/// 32-bit words of `n` numbers of a case's type, the lower half of each first.
fn words(spec: &Spec, n: usize, number: impl Fn(usize) -> f64 + Sync) -> Result<Vec<u32>, SparseError> {
    Ok(words32_of(n, spec.element(), |at| spec.bits(number(at)))?)
}

/// Uploads words; an array has at least one.
pub fn uploaded(gpu: &Gpu, words: &[u32]) -> Result<DeviceBuffer<u32>, Failure> {
    gpu.upload(if words.is_empty() { &[0] } else { words })
}

impl GpuJob for Spmv {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(methods::cuda::kernels(spec).untimed(MODULE, [named(spec, "certify")]))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.shape.rows, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Spmv, Failure> {
        let (gpu, shape) = (setup.gpu, spec.shape);
        let shared = setup.shared;
        let matrix = matrix::matrix(&spec, setup.stored, shared)?;
        setup.cancel.check()?;
        let errors = matrix::errors(&spec, &matrix, shared)?;
        let forms = Forms::new(shared, matrix::name(&spec), spec.ty.name().to_owned());
        let mut made = Made { gpu, spec: &spec, matrix, forms, module: gpu.module(MODULE)? };
        let numbers = |n: u64, number: &(dyn Fn(u64) -> f64 + Sync)| {
            gpu.upload(&words(&spec, length(n)?, |at| number(at as u64))?)
        };
        let values = made
            .forms
            .get("values", spec.element() * shape.entries, || Ok(made.words(&made.matrix.values)?))?;
        Ok(Spmv {
            method: methods::cuda::method(&mut made)?,
            certify: made.kernel("certify")?,
            x: numbers(shape.columns + 1, &|j| spec.x(j))?,
            z: (spec.beta == 1).then(|| numbers(shape.rows, &|i| spec.z(i))).transpose()?,
            y: array(gpu, shape.rows * spec.element() / 4)?,
            starts: gpu.upload(&made.matrix.starts)?,
            columns: uploaded(gpu, &made.matrix.indices)?,
            values: uploaded(gpu, &values)?,
            errors,
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        if part.count == 0 {
            return Ok(());
        }
        let x = self.x.pointer_at(length(part.shift * self.spec.element() / 4)?)?;
        let call = Call { a: self.rows(), x, z: self.z(), y: self.y.pointer(), rows: part.count as u32 };
        (self.method)(gpu, &call)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.y, self.spec.element())]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.x))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (rows, exact) = (self.spec.shape.rows, u32::from(self.spec.generator().is_some()));
        let (a, z) = (self.rows(), self.z());
        // A warp for each row.
        let finding = find(gpu, |report| {
            let args = args![a, self.x, z, self.y, rows, exact, report];
            launch_over(gpu, &self.certify, 32 * rows, args)
        })?;
        let mistake = finding.unchecked(rows, "rows").or_else(|| finding.mistake("y"));
        let mistake = if mistake.is_none() { self.wrong_long_row()? } else { mistake };
        Ok(Verdict::of(mistake, rows))
    }

    fn tolerance(&self) -> f64 {
        self.errors.tolerance
    }

    /// Each pass declares a part of the values and of x alone.
    fn moved(&self, _declared: [u64; 2]) -> [u64; 2] {
        let inputs = [&self.starts, &self.columns, &self.values, &self.x].into_iter().chain(&self.z);
        [inputs.map(DeviceBuffer::bytes).sum(), self.y.bytes()]
    }
}

impl Spmv {
    fn rows(&self) -> Rows {
        Rows { starts: self.starts.pointer(), columns: self.columns.pointer(), values: self.values.pointer() }
    }

    /// The first mistake in a long row.
    fn wrong_long_row(&self) -> Result<Option<String>, Failure> {
        for (row, sum) in &self.errors.long {
            let word = self.y.range_to_host(*row..row + 1)?.first().copied();
            let found = word.map_or(f64::NAN, |word| f32::from_bits(word).into());
            if let Err(mistake) = sum.judge(&self.spec, *row, found) {
                return Ok(Some(mistake));
            }
        }
        Ok(None)
    }

    fn z(&self) -> DevicePtr<u32> {
        pointer_or_null(self.z.as_ref())
    }
}
