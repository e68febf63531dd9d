//! tridiagonal on a GPU (`kernels/tridiagonal/tridiagonal.cu`).

use super::tiles::Levels;
use super::{CYCLIC_ROWS, Layout, Method, PARALLEL_ROWS, Spec, work};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, OutputArray, args, device_struct,
};
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{grid, launch_over, length};

const MODULE: &str = "tridiagonal";

/// `TEAM_WORDS` in the kernels: elements of shared memory for each thread.
const TEAM_WORDS: u64 = 6;

/// Threads of a block that has a system in shared memory for cyclic reduction.
const CYCLIC_THREADS: u32 = CYCLIC_ROWS as u32 / 2;

device_struct! {
    /// `Batch` in the kernels.
    struct Batch: 72 {
        a: DevicePtr<u32>,
        b: DevicePtr<u32>,
        c: DevicePtr<u32>,
        d: DevicePtr<u32>,
        x: DevicePtr<u32>,
        rows: u64,
        systems: u64,
        row: u64,
        system: u64,
    }

    /// `Tiles` in the kernels.
    struct TilesOf: 12 {
        team: u32,
        tiles: u32,
        group: u32,
    }

    /// `Contents` in the kernels.
    struct Contents: 32 {
        key: u64,
        rows: u64,
        systems: u64,
        kind: u32,
        interleaved: u32,
    }
}

/// A prepared case.
pub struct Tridiagonal {
    spec: Spec,
    timed: Timed,
    /// The kernels that find the sizes of the systems, and that judge rows by them.
    measure: Kernel,
    certify: Kernel,
    /// a, b, c and d, each with an element behind its last one, which only a deliberate mistake reads.
    inputs: [DeviceBuffer<u32>; 4],
    x: DeviceBuffer<u32>,
    scratch: DeviceBuffer<u32>,
    /// Of each system the bits of its size.
    sizes: DeviceBuffer<u64>,
    found: Vec<(String, Value)>,
}

/// The kernels of a method.
enum Timed {
    Partition { levels: Levels, solve: [Kernel; 2], longer: Option<Longer> },
    Cyclic { solve: Kernel, halve: Kernel, unhalve: Kernel },
    Parallel { solve: Kernel, step: Kernel },
    Thomas(Kernel),
}

/// The kernels of systems with several tiles.
struct Longer {
    edges: [Kernel; 2],
    join: Kernel,
}

fn name(spec: &Spec, kernel: &str) -> String {
    format!("tridiagonal_{kernel}_{}", spec.ty.name())
}

/// The kernels of `partition` for the case's layout, and for edges of tiles, which are strided.
fn of_partition(spec: &Spec, kernel: &str) -> [String; 2] {
    let rows = if let Method::Partition { rows: Some(rows) } = spec.method { rows } else { 8 };
    [spec.layout, Layout::Strided].map(|layout| format!("{}_{}_{rows}", name(spec, kernel), layout.name()))
}

/// The timed kernels and their launches, the one that solves first.
fn timed_kernels(spec: &Spec) -> Vec<(String, u64)> {
    let named =
        |kernels: &[(&str, u64)]| kernels.iter().map(|(kernel, n)| (name(spec, kernel), *n)).collect();
    match spec.method {
        Method::Partition { .. } => {
            // Tiles of the second level on are strided; the last level is a single tile.
            let above = Levels::of(spec).0.len() as u64 - 1;
            let [solve, strided] = of_partition(spec, "partition");
            let mut all = vec![(solve, 1), (strided, above)];
            if above > 0 {
                let [edges, strided] = of_partition(spec, "edges");
                all.extend([(edges, 1), (strided, above - 1), (name(spec, "join"), above)]);
            }
            all
        }
        Method::CyclicReduction => {
            let halvings = (0..).take_while(|level| spec.rows >> level > CYCLIC_ROWS).count() as u64;
            named(&[("cyclic", 1), ("halve", halvings), ("unhalve", halvings)])
        }
        Method::ParallelCyclicReduction if spec.rows <= PARALLEL_ROWS => {
            named(&[("parallel", 1), ("step", 0)])
        }
        Method::ParallelCyclicReduction => {
            named(&[("parallel", 0), ("step", u64::from((spec.rows - 1).ilog2()) + 1)])
        }
        Method::Thomas | Method::Best => named(&[("thomas", 1)]),
    }
}

impl GpuJob for Tridiagonal {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let timed = KernelList::default().timed_all(MODULE, timed_kernels(spec));
        Ok(timed.untimed(MODULE, ["fill", "measure", "certify"].map(|kernel| name(spec, kernel))))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(if spec.rows == 0 { 0 } else { spec.systems }, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Tridiagonal, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let kernel = |kernel: &str| module.kernel(&name(&spec, kernel));
        let both = |kernel: &str| -> Result<[Kernel; 2], Failure> {
            let [own, strided] = of_partition(&spec, kernel);
            Ok([module.kernel(&own)?, module.kernel(&strided)?])
        };
        let timed = match spec.method {
            Method::Partition { .. } => {
                let levels = Levels::of(&spec);
                let longer = || Ok::<_, Failure>(Longer { edges: both("edges")?, join: kernel("join")? });
                let longer = (levels.tiles() > 1).then(longer).transpose()?;
                Timed::Partition { levels, solve: both("partition")?, longer }
            }
            Method::CyclicReduction => Timed::Cyclic {
                solve: kernel("cyclic")?,
                halve: kernel("halve")?,
                unhalve: kernel("unhalve")?,
            },
            Method::ParallelCyclicReduction => {
                Timed::Parallel { solve: kernel("parallel")?, step: kernel("step")? }
            }
            Method::Thomas | Method::Best => Timed::Thomas(kernel("thomas")?),
        };
        let words = |elements: u64| length(elements * spec.element() / 4);
        let array = || gpu.alloc(words(spec.count() + 1)?);
        let inputs = [array()?, array()?, array()?, array()?];
        let [a, b, c, d] = &inputs;
        let of = contents(&spec);
        launch_over(gpu, &kernel("fill")?, spec.count() + 1, args![of, a, b, c, d])?;
        Ok(Tridiagonal {
            timed,
            measure: kernel("measure")?,
            certify: kernel("certify")?,
            x: gpu.alloc(words(spec.count().max(1))?)?,
            scratch: gpu.alloc(length(work::scratch(&spec) / 4)?.max(1))?,
            sizes: gpu.alloc(length(spec.systems)?)?,
            inputs,
            found: Vec::new(),
            spec,
        })
    }

    /// The systems of the part. A fault's shift misplaces d.
    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let [row, system] = self.spec.strides();
        let first = part.first * system;
        let [a, b, c, d] = &self.inputs;
        let batch = Batch {
            a: self.at(a, first)?,
            b: self.at(b, first)?,
            c: self.at(c, first)?,
            d: self.at(d, first + part.shift)?,
            x: self.at(&self.x, first)?,
            rows: self.spec.rows,
            systems: part.count,
            row,
            system,
        };
        match &self.timed {
            Timed::Partition { .. } => self.partition(gpu, 0, batch, 0),
            Timed::Cyclic { .. } => self.cyclic(gpu, batch, 0),
            Timed::Parallel { .. } => self.parallel(gpu, batch),
            Timed::Thomas(kernel) => {
                let upper = self.at(&self.scratch, first)?;
                gpu.launch(kernel, grid(part.count, 128), 128, 0, args![batch, upper])
            }
        }
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.x, self.spec.element()).first(self.spec.count())]
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, most) = (self.spec.count(), gpu.upload(&[0u64])?);
        gpu.memset32(&mut self.sizes, 0)?;
        let ([a, b, c, d], x, sizes) = (&self.inputs, &self.x, &self.sizes);
        let (of, bound) = (contents(&self.spec), self.spec.bound());
        launch_over(gpu, &self.measure, n, args![of, a, b, c, d, x, sizes])?;
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![of, a, b, c, d, x, sizes, bound, most, report])
        })?;
        let error = f64::from_bits(most.to_host()?.first().copied().unwrap_or(0));
        self.found = self.spec.found(error, finding.touched);
        let mistake = finding
            .mistake("x")
            .or_else(|| self.spec.silent(finding.sum, finding.touched))
            .or_else(|| finding.unchecked(n, "rows"));
        Ok(Verdict::of(mistake, n))
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.found.clone()
    }
}

fn contents(spec: &Spec) -> Contents {
    Contents {
        key: key64(spec.seed),
        rows: spec.rows,
        systems: spec.systems,
        kind: spec.inputs as u32,
        interleaved: u32::from(spec.layout == Layout::Interleaved),
    }
}

impl Tridiagonal {
    fn at(&self, array: &DeviceBuffer<u32>, element: u64) -> Result<DevicePtr<u32>, Failure> {
        array.pointer_at(length(element * self.spec.element() / 4)?)
    }

    /// Solves the systems of a level, by those of the next one if they have several tiles. The edges of the tiles are
    /// in the scratch memory from element `scratch` on.
    fn partition(&self, gpu: &Gpu, level: usize, batch: Batch, scratch: u64) -> Result<(), Failure> {
        let Timed::Partition { levels, solve, longer } = &self.timed else { return Ok(()) };
        let tiles = levels.0[level];
        let own = level.min(1);
        let of = TilesOf { team: tiles.team as u32, tiles: tiles.tiles as u32, group: tiles.group as u32 };
        let launch = |kernel: &Kernel, out: DevicePtr<u32>| {
            let blocks = u32::try_from(tiles.blocks(batch.systems))
                .map_err(|_| Failure::NotApplicable("more tiles than a launch has blocks".to_owned()))?;
            let shared = tiles.threads * self.shared_elements() * self.spec.element();
            gpu.launch(kernel, blocks, tiles.threads as u32, shared as u32, args![batch, of, out])
        };
        let Some(Longer { edges, join }) = longer.as_ref().filter(|_| tiles.tiles > 1) else {
            return launch(&solve[own], DevicePtr::null());
        };
        let count = tiles.tiles * batch.systems;
        let array = |k: u64| self.at(&self.scratch, scratch + k * count);
        launch(&edges[own], array(0)?)?;
        launch_over(gpu, join, count, args![array(0)?, tiles.tiles, count])?;
        let next = Batch {
            a: array(0)?,
            b: array(1)?,
            c: array(2)?,
            d: array(3)?,
            x: array(7)?,
            rows: tiles.tiles,
            systems: batch.systems,
            row: 1,
            system: tiles.tiles,
        };
        self.partition(gpu, level + 1, next, scratch + 8 * count)?;
        launch(&solve[own], array(7)?)
    }

    /// Elements of shared memory for each thread: rows are exchanged there, too.
    fn shared_elements(&self) -> u64 {
        match self.spec.method {
            Method::Partition { rows: Some(rows) } => rows.max(TEAM_WORDS),
            _ => TEAM_WORDS,
        }
    }

    /// Halves the rows until a block holds a system.
    fn cyclic(&self, gpu: &Gpu, batch: Batch, scratch: u64) -> Result<(), Failure> {
        let Timed::Cyclic { solve, halve, unhalve } = &self.timed else { return Ok(()) };
        if batch.rows <= CYCLIC_ROWS {
            let shared = (4 * batch.rows * self.spec.element()) as u32;
            let threads = (batch.rows as u32).div_ceil(2).next_multiple_of(32).min(CYCLIC_THREADS);
            return gpu.launch(solve, grid(batch.systems, 1), threads, shared, args![batch]);
        }
        let half = batch.rows / 2;
        // Parts of a batch leave as much room as the whole.
        let size = half * self.spec.systems;
        let array = |k: u64| self.at(&self.scratch, scratch + k * size);
        launch_over(gpu, halve, half * batch.systems, args![batch, array(0)?, size])?;
        let next = Batch {
            a: array(0)?,
            b: array(1)?,
            c: array(2)?,
            d: array(3)?,
            x: array(4)?,
            rows: half,
            system: if batch.row == 1 { half } else { 1 },
            ..batch
        };
        self.cyclic(gpu, next, scratch + 5 * size)?;
        launch_over(gpu, unhalve, batch.rows * batch.systems, args![batch, array(4)?])
    }

    fn parallel(&self, gpu: &Gpu, batch: Batch) -> Result<(), Failure> {
        let Timed::Parallel { solve, step } = &self.timed else { return Ok(()) };
        let rows = batch.rows;
        if rows <= PARALLEL_ROWS {
            let shared = (8 * rows * self.spec.element()) as u32;
            let threads = (rows as u32).next_multiple_of(32);
            return gpu.launch(solve, grid(batch.systems, 1), threads, shared, args![batch]);
        }
        let (size, count) = (self.spec.count(), rows * batch.systems);
        let (mut from, mut by, mut half) = (batch, 1, 0);
        while 2 * by < rows {
            let array = |k: u64| self.at(&self.scratch, (4 * half + k) * size);
            launch_over(gpu, step, count, args![from, by, array(0)?, size])?;
            from = Batch { a: array(0)?, b: array(1)?, c: array(2)?, d: array(3)?, ..from };
            (by, half) = (2 * by, 1 - half);
        }
        launch_over(gpu, step, count, args![from, by, DevicePtr::<u32>::null(), size])
    }
}
