//! shallow-water on a GPU (`kernels/shallow_water/shallow_water.cu`). The certificate computes the steps since the water
//! began anew in f64.

use super::oracle::ReferenceRun;
use super::{LIVELY, Spec, Sweep, scene};
use crate::case::{Snapshot, Value};
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::stride_grid;
use crate::primitives::tridiagonal::cuda::{TEAM_WORDS, TilesOf};

const MODULE: &str = "shallow_water";

/// Kernels that are not timed.
const ENDS: &str = "shallow_water_ends";
const OTHERS: [&str; 6] = [
    "shallow_water_widen",
    "shallow_water_reference",
    "shallow_water_certify",
    "shallow_water_mass",
    "shallow_water_picture",
    "shallow_water_drop",
];

device_struct! {
    /// `Water` in the kernels.
    struct Water: 64 {
        eta: DevicePtr<f32>,
        w: DevicePtr<f32>,
        eta_to: DevicePtr<f32>,
        w_to: DevicePtr<f32>,
        columns: u64,
        rows: u64,
        half: f32,
        rest: f32,
        dry: DevicePtr<u32>,
    }

    /// `Reference` in the kernels.
    struct Reference: 56 {
        eta: DevicePtr<f64>,
        w: DevicePtr<f64>,
        upper: DevicePtr<f64>,
        y: DevicePtr<f64>,
        columns: u64,
        rows: u64,
        kappa: f64,
    }
}

/// The kernels of a sweep, and how it divides lines.
struct Timed {
    sweep: Sweep,
    solve: Kernel,
    edges: Option<Kernel>,
}

/// A prepared case.
pub struct ShallowWater {
    spec: Spec,
    sweeps: [Timed; 2],
    ends: Kernel,
    others: [Kernel; 6],
    /// Steps of an execution.
    steps: u64,
    /// η and w, with an element more, which only a deliberate mistake reads; those between the sweeps; and those with which the
    /// certificate begins.
    state: [DeviceBuffer<f32>; 2],
    between: [DeviceBuffer<f32>; 2],
    kept: [DeviceBuffer<f32>; 2],
    scratch: DeviceBuffer<f32>,
    dry: DeviceBuffer<u32>,
    /// The heights with which an execution that is judged begins.
    beginning: Vec<f32>,
    course: ReferenceRun,
    found: Vec<(String, Value)>,
}

/// The names of the directions in those of the kernels.
const DIRECTIONS: [&str; 2] = ["rows", "columns"];

/// The kernel of a sweep, and the one for the edges of its tiles.
fn names(direction: &str, sweep: &Sweep) -> [String; 2] {
    ["", "edges_"].map(|part| format!("shallow_water_{part}{direction}_{}", sweep.each))
}

impl GpuJob for ShallowWater {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let mut all = KernelList::default().untimed(MODULE, OTHERS);
        for (direction, sweep) in DIRECTIONS.into_iter().zip(spec.sweeps()) {
            let [solve, edges] = names(direction, &sweep);
            if sweep.tiles.tiles > 1 {
                all = all.timed(MODULE, edges, spec.steps).timed(MODULE, ENDS, spec.steps);
            }
            all = all.timed(MODULE, solve, spec.steps);
        }
        Ok(all.untimed(MODULE, [ENDS]))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(if spec.columns == 0 { 0 } else { spec.rows() }, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<ShallowWater, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let timed = |direction: &str, sweep: Sweep| -> Result<Timed, Failure> {
            let [solve, edges] = names(direction, &sweep);
            let edges = (sweep.tiles.tiles > 1).then(|| module.kernel(&edges)).transpose()?;
            Ok(Timed { sweep, solve: module.kernel(&solve)?, edges })
        };
        let [rows, columns] = spec.sweeps();
        let sweeps = [timed(DIRECTIONS[0], rows)?, timed(DIRECTIONS[1], columns)?];
        // The element behind the last cell is for deliberate mistakes.
        let with_one_more = |heights: Vec<f32>| heights.into_iter().chain([1.0]).collect::<Vec<f32>>();
        setup.cancel.check()?;
        let cells = length(spec.cells())? + 1;
        let room = || gpu.alloc::<f32>(cells);
        Ok(ShallowWater {
            sweeps,
            ends: module.kernel(ENDS)?,
            others: module.kernels(OTHERS)?,
            steps: spec.steps,
            state: [gpu.upload(&with_one_more(spec.heights()))?, gpu.upload(&vec![0.0; cells])?],
            between: [room()?, room()?],
            kept: [room()?, room()?],
            scratch: gpu.alloc(length(spec.scratch())?.max(1))?,
            dry: gpu.upload(&[0])?,
            beginning: with_one_more(spec.rippled()),
            course: ReferenceRun::default(),
            found: Vec::new(),
            spec,
        })
    }

    /// Begins anew, and poisons what lies between the sweeps, on which the next state depends everywhere.
    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        gpu.put(&self.beginning, &mut self.state[0])?;
        gpu.memset32(&mut self.state[1], 0)?;
        gpu.memset32(&mut self.dry, 0)?;
        self.between.iter_mut().try_for_each(|array| poison(gpu, array))?;
        self.course = ReferenceRun::default();
        self.keep(gpu)
    }

    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        self.course.step += self.steps;
        Ok(())
    }

    /// The rows of the part, and all columns. A fault's shift misplaces η.
    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let first = part.first * self.spec.columns;
        let at = |array: &DeviceBuffer<f32>, element: u64| array.pointer_at(length(element)?);
        let kappa = self.spec.kappa();
        let ([eta, w], [eta_to, w_to]) = (&self.state, &self.between);
        let out = Water {
            eta: at(eta, first + part.shift)?,
            w: at(w, first)?,
            eta_to: at(eta_to, first)?,
            w_to: at(w_to, first)?,
            columns: self.spec.columns,
            rows: part.count,
            half: (0.5 * kappa) as f32,
            rest: kappa as f32,
            dry: self.dry.pointer(),
        };
        let back = Water {
            eta: eta_to.pointer(),
            w: w_to.pointer(),
            eta_to: eta.pointer(),
            w_to: w.pointer(),
            rows: self.spec.rows(),
            ..out
        };
        for _ in 0..self.steps {
            self.sweep(gpu, &self.sweeps[0], out, out.rows)?;
            self.sweep(gpu, &self.sweeps[1], back, back.columns)?;
        }
        Ok(())
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        self.state.iter_mut().map(|array| OutputArray::new(array, 4)).collect()
    }

    /// Certifies the first steps by themselves, unless an execution has no more.
    fn prove(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Option<String>, Failure> {
        if self.spec.steps <= LIVELY {
            return Ok(None);
        }
        self.clear(gpu)?;
        self.steps = LIVELY;
        let executed = self.execute(gpu, &ShallowWater::plan(&self.spec, None));
        self.steps = self.spec.steps;
        executed?;
        Ok(match self.judge(gpu, cancel)? {
            Verdict::Wrong { mistake } => Some(format!("in the first {LIVELY} steps: {mistake}")),
            Verdict::Certified { .. } => None,
        })
    }

    fn judge(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure> {
        let cells = self.spec.cells();
        if cells == 0 {
            return Ok(Verdict::of(None, 0));
        }
        let [widen, advance, certify, ..] = &self.others;
        let array = || array::<f64>(gpu, cells);
        let arrays = [array()?, array()?, array()?, array()?];
        let [eta, w, upper, y] = [0, 1, 2, 3].map(|k| arrays[k].pointer());
        let (columns, rows) = (self.spec.columns, self.spec.rows());
        let reference = Reference { eta, w, upper, y, columns, rows, kappa: self.spec.kappa() };
        let [from_eta, from_w] = &self.kept;
        launch_over(gpu, widen, cells, args![from_eta, from_w, reference])?;
        for _ in 0..self.course.steps(&self.spec) {
            cancel.check()?;
            for (along_rows, lines) in [(1u32, rows), (0, columns)] {
                gpu.launch(advance, grid(lines, 64), 64, 0, args![reference, along_rows])?;
            }
        }
        let most = gpu.upload(&[0u64])?;
        let bounds = self.course.bounds(&self.spec);
        // The kernel compares two arrays by one bound: here the same one twice, first the heights, then their changes.
        let compared = |found: &DeviceBuffer<f32>, wanted: DevicePtr<f64>, bound: f64| {
            let twice = Reference { eta: wanted, w: wanted, ..reference };
            find(gpu, |report| {
                launch_over(gpu, certify, cells, args![found, found, twice, bound, most, report])
            })
        };
        let height = compared(&self.state[0], reference.eta, bounds.height)?;
        let change = compared(&self.state[1], reference.w, bounds.change)?;
        let error = f64::from_bits(most.to_host()?.first().copied().unwrap_or(0));
        let drift = self.drift(gpu)?;
        self.found = self.spec.found(error, drift);
        let dry = self.dry.to_host()?.first().is_some_and(|word| *word != 0);
        let unchecked = [&height, &change].into_iter().find_map(|finding| finding.unchecked(cells, "cells"));
        let changed = change.mistake_at().map(|cell| format!("the change of cell {cell} by a step is wrong"));
        let mistake = height.mistake("η").or(changed).or(unchecked);
        Ok(self.course.verdict(&self.spec, dry, mistake, drift))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let cells = length(self.spec.cells())?;
        let [eta, w] = [0, 1].map(|k| self.state[k].range_to_host(0..cells));
        Ok(eta?.into_iter().chain(w?).flat_map(f32::to_le_bytes).collect())
    }

    fn tolerance(&self) -> f64 {
        self.spec.tolerance()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }

    fn snapshot(&mut self, gpu: &Gpu) -> Result<Option<Snapshot>, Failure> {
        let [across, down] = scene::picture_size(&self.spec);
        let values: DeviceBuffer<f32> = gpu.alloc((across * down).max(1) as usize)?;
        let [.., kernel, _] = &self.others;
        let (columns, rows, eta) = (self.spec.columns, self.spec.rows(), &self.state[0]);
        let blocks = grid(u64::from(across * down), u64::from(BLOCK));
        gpu.launch(kernel, blocks, BLOCK, 0, args![eta, columns, rows, across, down, values])?;
        Ok(scene::picture(&self.spec, self.course.step, values.to_host()?))
    }

    /// A drop falls into the water, and the certificate begins with what is there then.
    fn disturb(&mut self, gpu: &Gpu, at: (f64, f64)) -> Result<bool, Failure> {
        let [x, y, radius, size] = scene::drop_at(&self.spec, at);
        let [.., kernel] = &self.others;
        let (columns, rows, eta) = (self.spec.columns, self.spec.rows(), &self.state[0]);
        launch_over(gpu, kernel, self.spec.cells(), args![eta, columns, rows, x, y, radius, size])?;
        self.course.disturb();
        self.keep(gpu)?;
        Ok(true)
    }
}

impl ShallowWater {
    /// Keeps the state for the certificate.
    fn keep(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let mut all = self.state.iter().zip(&mut self.kept);
        all.try_for_each(|(from, to)| gpu.copy(from, 0..from.len(), to, 0))
    }

    /// The change of the mean height since the state was kept.
    fn drift(&self, gpu: &Gpu) -> Result<f64, Failure> {
        let cells = self.spec.cells();
        let sum = |eta: &DeviceBuffer<f32>| -> Result<f64, Failure> {
            let sums: DeviceBuffer<f64> =
                gpu.upload(&vec![0.0; (stride_grid(gpu, cells) * BLOCK) as usize])?;
            launch_over(gpu, &self.others[3], cells, args![eta, cells, sums])?;
            Ok(sums.to_host()?.into_iter().sum())
        };
        Ok((sum(&self.state[0])? - sum(&self.kept[0])?) / cells as f64)
    }

    /// A sweep along its lines; of lines with several tiles by their edges first.
    fn sweep(&self, gpu: &Gpu, timed: &Timed, water: Water, lines: u64) -> Result<(), Failure> {
        let tiles = timed.sweep.tiles;
        let of = TilesOf::of(&tiles);
        let (blocks, threads) = (grid(tiles.blocks(lines), 1), tiles.threads as u32);
        let bytes = (4 * tiles.threads * timed.sweep.each.max(TEAM_WORDS)) as u32;
        if let Some(edges) = &timed.edges {
            gpu.launch(edges, blocks, threads, bytes, args![water, of, self.scratch])?;
            gpu.launch(&self.ends, grid(lines, 128), 128, 0, args![self.scratch, of.tiles, lines])?;
        }
        gpu.launch(&timed.solve, blocks, threads, bytes, args![water, of, self.scratch])
    }
}
