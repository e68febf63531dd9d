//! cg on a GPU (`kernels/cg/cg.cu`): one launch for all solutions, with as many blocks as are resident at once. The
//! certificate multiplies A and the last z anew, a thread for each row.

use std::sync::Arc;

use super::certificate::{Required, total};
use super::{Spec, Type, inverse, methods};
use crate::case::Value;
use crate::inputs::sparse::{Csr, SparseError};
use crate::memory;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::{Forms, stride_grid, words32_of};

pub const MODULE: &str = "cg";

device_struct! {
    /// `System` in the kernels.
    pub struct System: 200 {
        pub starts: DevicePtr<u32>,
        pub columns: DevicePtr<u32>,
        pub values: DevicePtr<u32>,
        pub rows: DevicePtr<u32>,
        pub shares: DevicePtr<u32>,
        pub products: DevicePtr<u32>,
        pub x: DevicePtr<u32>,
        pub next: DevicePtr<u32>,
        pub z: DevicePtr<u32>,
        pub r: DevicePtr<u32>,
        pub p: DevicePtr<u32>,
        pub q: DevicePtr<u32>,
        pub sums: DevicePtr<f64>,
        pub report: DevicePtr<f64>,
        pub barrier: DevicePtr<u32>,
        pub n: u64,
        pub first: u64,
        pub count: u64,
        pub solutions: u64,
        pub width: u64,
        pub layers: u64,
        pub entries: u64,
        pub passes: u64,
        pub diagonal: f64,
        pub shift: f64,
    }
}

/// The case and the matrix from which a method is made.
pub struct Made<'a> {
    pub gpu: &'a Gpu,
    pub spec: &'a Spec,
    pub module: Module,
    pub matrix: Arc<Csr<f64>>,
    pub forms: Forms<'a>,
}

impl Made<'_> {
    /// Values as words of the case's type, and 16 bytes more.
    pub fn words(&self, values: &[f64]) -> Result<Vec<u32>, SparseError> {
        let bits = |at: usize| {
            let value = values.get(at).copied().unwrap_or(2.0);
            match self.spec.ty {
                Type::F32 => (value as f32).to_bits().into(),
                Type::F64 => value.to_bits(),
            }
        };
        let element = self.spec.element();
        Ok(words32_of(values.len() + 16 / element as usize, element, bits)?)
    }
}

/// A prepared case.
pub struct Cg {
    spec: Spec,
    method: GpuMethod<(System, u64)>,
    certify: Kernel,
    required: Required,
    /// The matrix in compressed rows. It has 16 bytes of values more, which only a deliberate mistake reads.
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
    /// x of the first, third … solution, x of the others, z, r, p, and the layers of q.
    vectors: [DeviceBuffer<u32>; 6],
    report: DeviceBuffer<f64>,
    barrier: DeviceBuffer<u32>,
    /// The findings that the last certificate has read in the report.
    found: Vec<(String, Value)>,
}

/// The name of the certificate.
fn certify(spec: &Spec) -> String {
    format!("cg_certify_{}", spec.ty.name())
}

impl GpuJob for Cg {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(methods::cuda::kernels(spec).untimed(MODULE, [certify(spec)]))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        // Without rows, an execution still reports ζ.
        if spec.n() == 0 { LaunchPlan::whole(0) } else { LaunchPlan::ranges(spec.n(), fault) }
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Cg, Failure> {
        let (gpu, shared) = (setup.gpu, setup.shared);
        let matrix = spec.matrix(setup.stored, shared)?;
        setup.cancel.check()?;
        let required = Required::of(&spec, &matrix, shared)?;
        let forms = Forms::new(shared, spec.name(), format!("of cg, {}", spec.ty.name()));
        let made = Made { gpu, spec: &spec, module: gpu.module(MODULE)?, matrix, forms };
        let values = made
            .forms
            .get("values", spec.element() * spec.entries(), || Ok(made.words(&made.matrix.values)?))?;
        let matrix = &made.matrix;
        let vector = |layers: u64| array(gpu, (layers * spec.n() * spec.element() / 4).max(1));
        Ok(Cg {
            method: methods::cuda::method(&made)?,
            certify: made.module.kernel(&certify(&spec))?,
            required,
            starts: gpu.upload(&matrix.starts)?,
            // An array has at least a word.
            columns: gpu.upload(if matrix.indices.is_empty() { &[0] } else { &matrix.indices })?,
            values: gpu.upload(&values)?,
            vectors: [vector(1)?, vector(1)?, vector(1)?, vector(1)?, vector(1)?, vector(spec.layers())?],
            report: gpu.alloc(3 * spec.solutions() as usize)?,
            barrier: gpu.upload(&[0, 0])?,
            found: Vec::new(),
            spec,
        })
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let (element, last) = (self.spec.element(), self.last());
        let [x, y, z, ..] = &mut self.vectors;
        let [x, next] = if last == 0 { [x, y] } else { [y, x] };
        let others = [x, z].map(|vector| OutputArray::new(vector, element).first(0));
        let next = OutputArray::new(next, element).first(self.spec.n());
        [OutputArray::new(&mut self.report, 8), next].into_iter().chain(others).collect()
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.values))
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let values = self.values.pointer_at(length(part.shift * self.spec.element() / 4)?)?;
        let system = System { values, first: part.first, count: part.count, ..self.system() };
        (self.method)(gpu, &(system, part.shift))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, report) = (self.spec.n(), self.report.to_host()?);
        let threads = stride_grid(gpu, n) * BLOCK;
        let words: DeviceBuffer<f64> = gpu.upload(&vec![0.0; threads as usize * 5])?;
        let scale = inverse(report.last().copied().unwrap_or(f64::NAN));
        let [last, next] = self.last_x().map(|x| x.pointer());
        let system = System { x: last, next, ..self.system() };
        launch_over(gpu, &self.certify, n, args![system, scale, words])?;
        let sums = total(words.to_host()?.as_chunks().0.iter().copied());
        self.found = self.required.found(&self.spec, &report);
        let mistake = self.required.mistake(&self.spec, &report, sums, || self.x_left())?;
        Ok(Verdict::of(mistake, n))
    }

    fn tolerance(&self) -> f64 {
        self.required.tolerance
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }
}

impl Cg {
    /// The case with the matrix in compressed rows, without deliberate mistakes.
    fn system(&self) -> System {
        let [x, next, z, r, p, q] = [0, 1, 2, 3, 4, 5].map(|k| self.vectors[k].pointer());
        System {
            starts: self.starts.pointer(),
            columns: self.columns.pointer(),
            values: self.values.pointer(),
            rows: DevicePtr::null(),
            shares: DevicePtr::null(),
            products: DevicePtr::null(),
            x,
            next,
            z,
            r,
            p,
            q,
            sums: DevicePtr::null(),
            report: self.report.pointer(),
            barrier: self.barrier.pointer(),
            n: self.spec.n(),
            first: 0,
            count: self.spec.n(),
            solutions: self.spec.solutions(),
            width: self.spec.columns(),
            layers: self.spec.layers(),
            entries: self.spec.entries(),
            passes: self.spec.passes().unwrap_or(0),
            diagonal: self.spec.diagonal(),
            shift: self.spec.shift(),
        }
    }

    /// The x that the last solution has left.
    fn x_left(&self) -> Result<Vec<f64>, Failure> {
        let words = self.last_x()[1].to_host()?;
        let n = length(self.spec.n())?;
        let all = match self.spec.ty {
            Type::F32 => memory::collected(n, words.iter().map(|&word| f32::from_bits(word).into())),
            Type::F64 => {
                let pairs = words.as_chunks().0.iter();
                let bits = |&[low, high]: &[u32; 2]| u64::from(low) | u64::from(high) << 32;
                memory::collected(n, pairs.map(|pair| f64::from_bits(bits(pair))))
            }
        };
        Ok(all.map_err(SparseError::from)?)
    }

    /// Which of the first two vectors is x of the last solution.
    fn last(&self) -> usize {
        (self.spec.solutions() as usize + 1) % 2
    }

    /// x of the last solution, and the one that follows it.
    fn last_x(&self) -> [&DeviceBuffer<u32>; 2] {
        let last = self.last();
        [&self.vectors[last], &self.vectors[1 - last]]
    }
}
