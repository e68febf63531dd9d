//! cg on a GPU (`kernels/cg.cu`): one launch for all solutions, with as many blocks as are resident at once. The
//! certificate multiplies A and the last z anew, a thread for each row.

use super::certificate::{Sums, mistake};
use super::{Spec, Type, inverse};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, GpuFacts, GpuJob, GpuSetup, Kernel, KernelName, LaunchPart, LaunchPlan,
    Launched, args, device_struct, kernel_names, poison,
};
use crate::inputs::sparse::Csr;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length, stride_grid};

const MODULE: &str = "cg";

/// Threads of a block of the timed kernel, and the rows that it multiplies at a time.
const THREADS: u32 = 1024;
const ROWS: u64 = THREADS as u64 / 32;

/// Dot products of which each block leaves its part.
const DOTS: usize = 5;

device_struct! {
    /// `System` in the kernels.
    struct System: 136 {
        starts: DevicePtr<u32>,
        columns: DevicePtr<u32>,
        values: DevicePtr<u32>,
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
        shift: f64,
    }
}

/// A prepared case. The matrix has one value more, which only a deliberate mistake reads.
pub struct Cg {
    spec: Spec,
    timed: Kernel,
    certify: Kernel,
    blocks: u32,
    longest: u64,
    starts: DeviceBuffer<u32>,
    columns: DeviceBuffer<u32>,
    values: DeviceBuffer<u32>,
    /// x of the first, third … solution, x of the others, z, r, p, q.
    vectors: [DeviceBuffer<u32>; 6],
    sums: DeviceBuffer<f64>,
    report: DeviceBuffer<f64>,
    barrier: DeviceBuffer<u32>,
    /// What the last certificate has read of the report.
    found: Vec<(String, Value)>,
}

fn names(spec: &Spec) -> [String; 2] {
    [format!("cg_rows_{}", spec.ty.name()), format!("cg_certify_{}", spec.ty.name())]
}

impl GpuJob for Cg {
    type Case = Spec;

    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        let [kernel, _] = names(spec);
        Ok(Launched { kernel, launches: 1 })
    }

    fn kernels(spec: &Spec, _gpu: &GpuFacts) -> Result<Vec<KernelName>, Failure> {
        Ok(kernel_names(MODULE, names(spec)))
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        super::work::work(spec).footprint + (4 << 20)
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        // Without rows, an execution still reports ζ.
        if spec.n() == 0 { LaunchPlan::whole(0) } else { LaunchPlan::ranges(spec.n(), fault) }
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Cg, Failure> {
        match spec.ty {
            Type::F64 => {
                Cg::new(spec, setup, |value| value.to_bits(), |bits| vec![bits as u32, (bits >> 32) as u32])
            }
            Type::F32 => {
                Cg::new(spec, setup, |value| u64::from((value as f32).to_bits()), |bits| vec![bits as u32])
            }
        }
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.vectors[..3].iter_mut().try_for_each(|vector| poison(gpu, vector))?;
        poison(gpu, &mut self.report)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let off = length(part.shift * self.spec.element() / 4)?;
        let system = System {
            values: self.values.pointer_at(off)?,
            first: part.first,
            count: part.count,
            ..self.system()
        };
        gpu.launch(&self.timed, self.blocks, THREADS, 0, args![system])
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, report) = (self.spec.n(), self.report.to_host()?);
        let threads = stride_grid(gpu, n) * BLOCK;
        let words: DeviceBuffer<f64> = gpu.upload(&vec![0.0; threads as usize * Sums::COUNT])?;
        let scale = inverse(report.last().copied().unwrap_or(f64::NAN));
        let [last, next] = self.last_x().map(|x| x.pointer());
        let system = System { x: last, next, ..self.system() };
        launch_over(gpu, &self.certify, n, args![system, scale, words])?;
        let words = words.to_host()?;
        let sums = words.as_chunks().0.iter().fold(Sums::default(), |sums, share| sums.add(*share));
        self.found = self.spec.found(&report);
        Ok(Verdict::of(mistake(&self.spec, self.longest, &report, &sums), n))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let report = self.report.to_host()?.into_iter().flat_map(f64::to_le_bytes);
        let words = length(self.spec.n() * self.spec.element() / 4)?;
        let x = self.last_x()[1].to_host()?.into_iter().take(words).flat_map(u32::to_le_bytes);
        Ok(report.chain(x).collect())
    }

    fn memory(&self) -> u64 {
        let words =
            [&self.starts, &self.columns, &self.values, &self.barrier].into_iter().chain(&self.vectors);
        words.map(DeviceBuffer::bytes).sum::<u64>() + self.sums.bytes() + self.report.bytes()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }
}

impl Cg {
    fn new(
        spec: Spec,
        setup: &GpuSetup,
        bits: impl Fn(f64) -> u64,
        words: impl Fn(u64) -> Vec<u32>,
    ) -> Result<Cg, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let [timed, certify] = names(&spec).map(|name| module.kernel(&name));
        let (timed, certify) = (timed?, certify?);
        let Csr { starts, mut indices, values, .. } = spec.matrix().make();
        // An array has at least a word.
        indices.push(0);
        let values: Vec<u32> = values.into_iter().chain([2.0]).flat_map(|value| words(bits(value))).collect();
        let vector = || gpu.alloc(length((spec.n() * spec.element() / 4).max(1))?);
        let blocks = grid(spec.n(), ROWS).min(gpu.max_blocks(&timed, THREADS, 0)?);
        Ok(Cg {
            blocks,
            timed,
            certify,
            longest: starts.windows(2).map(|ends| u64::from(ends[1] - ends[0])).max().unwrap_or(0),
            starts: gpu.upload(&starts)?,
            columns: gpu.upload(&indices)?,
            values: gpu.upload(&values)?,
            vectors: [vector()?, vector()?, vector()?, vector()?, vector()?, vector()?],
            sums: gpu.alloc(DOTS * blocks as usize)?,
            report: gpu.alloc(3 * spec.solutions() as usize)?,
            barrier: gpu.upload(&[0, 0])?,
            found: Vec::new(),
            spec,
        })
    }

    /// The case without deliberate mistakes.
    fn system(&self) -> System {
        let [x, next, z, r, p, q] = [0, 1, 2, 3, 4, 5].map(|k| self.vectors[k].pointer());
        System {
            starts: self.starts.pointer(),
            columns: self.columns.pointer(),
            values: self.values.pointer(),
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
            shift: self.spec.shift(),
        }
    }

    /// x of the last solution, and the one that follows it.
    fn last_x(&self) -> [&DeviceBuffer<u32>; 2] {
        let last = (self.spec.solutions() as usize + 1) % 2;
        [&self.vectors[last], &self.vectors[1 - last]]
    }
}
