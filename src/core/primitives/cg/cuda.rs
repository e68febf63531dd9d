//! cg on a GPU (`kernels/cg/cg.cu`): one launch for all solutions, with as many blocks as are resident at once. The
//! certificate multiplies A and the last z anew, a thread for each row.

use super::certificate::{Sums, mistake};
use super::{Spec, Type, inverse};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, OutputArray, args, device_struct,
};
use crate::inputs::sparse::Csr;
use crate::primitives::cuda::{BLOCK, array, grid, launch_over, length, stride_grid, words32};
use crate::primitives::spmv::slices::Slices;
use crate::primitives::spmv::slices::cuda::SliceBuffers;

const MODULE: &str = "cg";

/// Threads of a block of the timed kernel, and the rows that it multiplies at a time.
const THREADS: u32 = 1024;
const ROWS: u64 = THREADS as u64 / 32;

/// Dot products of which each block leaves its part.
const DOTS: usize = 5;

device_struct! {
    /// `System` in the kernels.
    struct System: 168 {
        starts: DevicePtr<u32>,
        columns: DevicePtr<u32>,
        values: DevicePtr<u32>,
        rows: DevicePtr<u32>,
        shares: DevicePtr<u32>,
        x: DevicePtr<u32>,
        next: DevicePtr<u32>,
        z: DevicePtr<u32>,
        r: DevicePtr<u32>,
        p: DevicePtr<u32>,
        q: DevicePtr<u32>,
        sums: DevicePtr<f64>,
        report: DevicePtr<f64>,
        barrier: DevicePtr<u32>,
        n: u64,
        first: u64,
        count: u64,
        solutions: u64,
        width: u64,
        layers: u64,
        shift: f64,
    }
}

/// The matrix in compressed rows. It has 16 bytes of values more, which only a deliberate mistake reads.
struct Rows {
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
}

/// A prepared case.
pub struct Cg {
    spec: Spec,
    timed: Kernel,
    certify: Kernel,
    blocks: u32,
    /// Bytes of shared memory of a block.
    shared: u32,
    longest: u64,
    /// Which the certificate always reads.
    compressed: Rows,
    /// If the method is of blocks of columns; with 16 bytes of values more, too.
    sliced: Option<SliceBuffers>,
    /// x of the first, third … solution, x of the others, z, r, p, and the layers of q.
    vectors: [DeviceBuffer<u32>; 6],
    sums: DeviceBuffer<f64>,
    report: DeviceBuffer<f64>,
    barrier: DeviceBuffer<u32>,
    /// What the last certificate has read of the report.
    found: Vec<(String, Value)>,
}

fn names(spec: &Spec) -> [String; 2] {
    let method = if spec.in_blocks() { "blocks" } else { "rows" };
    [format!("cg_{method}_{}", spec.ty.name()), format!("cg_certify_{}", spec.ty.name())]
}

impl GpuJob for Cg {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let [solve, certify] = names(spec);
        Ok(KernelList::default().timed(MODULE, solve, 1).untimed(MODULE, [certify]))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        // Without rows, an execution still reports ζ.
        if spec.n() == 0 { LaunchPlan::whole(0) } else { LaunchPlan::ranges(spec.n(), fault) }
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Cg, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let [timed, certify] = names(&spec).map(|name| module.kernel(&name));
        let (timed, certify) = (timed?, certify?);
        let matrix = spec.matrix().make();
        setup.cancel.check()?;
        let shared = if spec.in_blocks() { (spec.columns() * spec.element()) as u32 } else { 0 };
        let most = gpu.max_blocks(&timed, THREADS, shared)?;
        let (blocks, sliced) = match spec.in_blocks() {
            true => {
                let slices = Slices::new(&matrix, length(spec.columns())?, 16 / spec.element() as usize);
                let blocks = grid(slices.count() as u64, ROWS).min(most);
                let values = value_words(&spec, &slices.values);
                (blocks, Some(SliceBuffers::new(gpu, &slices, &values, &slices.halves(), blocks)?))
            }
            false => (grid(spec.n(), ROWS).min(most), None),
        };
        let vector = |layers: u64| array(gpu, (layers * spec.n() * spec.element() / 4).max(1));
        Ok(Cg {
            blocks,
            timed,
            certify,
            shared,
            longest: matrix.starts.windows(2).map(|ends| u64::from(ends[1] - ends[0])).max().unwrap_or(0),
            compressed: Rows::new(gpu, &spec, matrix)?,
            sliced,
            vectors: [vector(1)?, vector(1)?, vector(1)?, vector(1)?, vector(1)?, vector(spec.layers())?],
            sums: gpu.alloc(DOTS * blocks as usize)?,
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

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        // Slices are read 16 bytes at a time.
        let off = part.shift * if self.sliced.is_some() { 4 } else { self.spec.element() / 4 };
        let matrix = self.sliced.as_ref().map_or(&self.compressed.values, |sliced| &sliced.values);
        let values = matrix.pointer_at(length(off)?)?;
        let all = self.sliced.as_ref().map_or_else(|| self.by_rows(), |sliced| self.by_slices(sliced));
        let system = System { values, first: part.first, count: part.count, ..all };
        gpu.launch(&self.timed, self.blocks, THREADS, self.shared, args![system])
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, report) = (self.spec.n(), self.report.to_host()?);
        let threads = stride_grid(gpu, n) * BLOCK;
        let words: DeviceBuffer<f64> = gpu.upload(&vec![0.0; threads as usize * Sums::COUNT])?;
        let scale = inverse(report.last().copied().unwrap_or(f64::NAN));
        let [last, next] = self.last_x().map(|x| x.pointer());
        let system = System { x: last, next, ..self.by_rows() };
        launch_over(gpu, &self.certify, n, args![system, scale, words])?;
        let words = words.to_host()?;
        let sums = words.as_chunks().0.iter().fold(Sums::default(), |sums, share| sums.add(*share));
        self.found = self.spec.found(&report);
        Ok(Verdict::of(mistake(&self.spec, self.longest, &report, &sums), n))
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }
}

/// Values as words of a case's type, and 16 bytes more.
fn value_words(spec: &Spec, values: &[f64]) -> Vec<u32> {
    let bits = |value: &f64| match spec.ty {
        Type::F32 => (*value as f32).to_bits().into(),
        Type::F64 => value.to_bits(),
    };
    words32(values.iter().chain(&[2.0; 4]).map(bits), spec.element())
}

impl Rows {
    fn new(gpu: &Gpu, spec: &Spec, mut matrix: Csr<f64>) -> Result<Rows, Failure> {
        // An array has at least a word.
        matrix.indices.push(0);
        Ok(Rows {
            starts: gpu.upload(&matrix.starts)?,
            columns: gpu.upload(&matrix.indices)?,
            values: gpu.upload(&value_words(spec, &matrix.values))?,
        })
    }
}

impl Cg {
    /// The case with the matrix in slices, without deliberate mistakes.
    fn by_slices(&self, matrix: &SliceBuffers) -> System {
        System {
            starts: matrix.starts.pointer(),
            columns: matrix.places.pointer(),
            values: matrix.values.pointer(),
            rows: matrix.rows.pointer(),
            shares: matrix.shares.pointer(),
            ..self.by_rows()
        }
    }

    /// The case with the matrix in compressed rows, without deliberate mistakes.
    fn by_rows(&self) -> System {
        let [x, next, z, r, p, q] = [0, 1, 2, 3, 4, 5].map(|k| self.vectors[k].pointer());
        System {
            starts: self.compressed.starts.pointer(),
            columns: self.compressed.columns.pointer(),
            values: self.compressed.values.pointer(),
            rows: DevicePtr::null(),
            shares: DevicePtr::null(),
            x,
            next,
            z,
            r,
            p,
            q,
            sums: self.sums.pointer(),
            report: self.report.pointer(),
            barrier: self.barrier.pointer(),
            n: self.spec.n(),
            first: 0,
            count: self.spec.n(),
            solutions: self.spec.solutions(),
            width: self.spec.columns(),
            layers: self.spec.layers(),
            shift: self.spec.shift(),
        }
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
