//! sssp on a GPU (`kernels/sssp/sssp.cu`): one launch of blocks that are all resident at once, which meet after each step.

use std::sync::Arc;

use super::{Method, Spec, graph, record};
use crate::case::{Cancel, Failure, Fault, Snapshot, Value, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, OutputArray, args, device_struct, poison,
};
use crate::inputs::graph::Graph;
use crate::inputs::mix::mix64;
use crate::primitives::cuda::{check_report, grid, launch_over, length};

const MODULE: &str = "sssp";
const CERTIFY: [&str; 3] = ["sssp_relaxes", "sssp_supports", "sssp_reached"];

/// Most threads of a block (`THREADS` in the kernels), and those of graphs of a few vertices, which meet sooner.
const THREADS: u32 = 512;
const FEW_THREADS: u32 = 128;
const FEW_VERTICES: u64 = 1 << 12;

/// Entries that each warp may leave to the next frontier beyond those of arcs: its ring (`RING` in the kernels), and the
/// vertices of a round. Bytes for those of all warps of a large GPU.
const ALONE: usize = 128 + 16;

/// One of so many rows may be longer than its slots: its arcs beyond them are waited for one after another.
const LONG_ROWS: u64 = 16;
const LANE_BITS: u32 = 5;

/// 32-bit words of `State` in the kernels, and the places of the counts there that an execution leaves.
const STATE: usize = 74;
const RELAXED: usize = 0;
const STEPS: usize = 2;

device_struct! {
    /// `Search` in the kernels.
    struct Search: 120 {
        starts: DevicePtr<u32>,
        arcs: DevicePtr<u64>,
        distances: DevicePtr<u32>,
        even: DevicePtr<u64>,
        odd: DevicePtr<u64>,
        piles: DevicePtr<u32>,
        in_piles: DevicePtr<u32>,
        state: DevicePtr<u32>,
        record: DevicePtr<u32>,
        ell: DevicePtr<u64>,
        relaxed: DevicePtr<u32>,
        vertices: u32,
        room: u32,
        source: u32,
        delta: u32,
        buckets: u32,
        ell_bits: u32,
        rounds: u32,
        unused: u32,
    }

    /// `Paths` in the kernels.
    struct Judged: 32 {
        starts: DevicePtr<u32>,
        arcs: DevicePtr<u64>,
        distances: DevicePtr<u32>,
        vertices: u32,
        source: u32,
    }
}

/// A prepared case.
pub struct Paths {
    spec: Spec,
    search: Kernel,
    blocks: u32,
    threads: u32,
    certify: [Kernel; 3],
    starts: DeviceBuffer<u32>,
    arcs: DeviceBuffer<u64>,
    /// d, with an element more, which only a fault writes.
    distances: DeviceBuffer<u32>,
    frontiers: [DeviceBuffer<u64>; 2],
    piles: DeviceBuffer<u32>,
    in_piles: DeviceBuffer<u32>,
    state: DeviceBuffer<u32>,
    /// Sizes of the frontier of the last execution (`record`).
    record: DeviceBuffer<u32>,
    /// The first arcs of each vertex, in `1 << ell_bits` slots, if warps go on alone.
    ell: Option<DeviceBuffer<u64>>,
    ell_bits: u32,
    /// From where blocks have relaxed vertices with many arcs, if warps go on alone.
    relaxed: Option<DeviceBuffer<u32>>,
    supported: DeviceBuffer<u32>,
    delta: u32,
    source: u32,
    /// The sum that the certificate finds of an intact graph.
    sum: u64,
}

/// The timed kernel's name in the PTX.
fn name(spec: &Spec) -> &'static str {
    match spec.method {
        Method::Bucketing { .. } => "sssp_bucketing",
        Method::Multisplit { .. } => "sssp_multisplit",
        Method::Fusion { .. } => "sssp_fusion",
        Method::Best | Method::NearFar | Method::BellmanFord => "sssp_near_far",
    }
}

/// Entries of a frontier: each arc may add one in a step, and each vertex that waited.
fn room(spec: &Spec) -> u64 {
    spec.arcs.max(spec.vertices) + 1
}

/// The exponent of a number of slots for a vertex's first arcs, a power of two from 4, which fill a sector of memory, to one
/// for each lane of a warp: as many as a vertex has arcs on average, or twice as many if too many rows would not fit.
fn ell_bits(spec: &Spec, graph: &Graph) -> u32 {
    let [least, most] = range_of_ell_bits(spec);
    let longer = graph.starts.windows(2).filter(|ends| ends[1] - ends[0] > 1 << least).count() as u64;
    if longer > spec.vertices / LONG_ROWS { most } else { least }
}

fn range_of_ell_bits(spec: &Spec) -> [u32; 2] {
    let mean = spec.arcs.div_ceil(spec.vertices.max(1));
    let least = mean.clamp(4, 1 << LANE_BITS).next_power_of_two().ilog2();
    [least, (least + 1).min(LANE_BITS)]
}

/// The sum of a graph, as in `relaxes` in the kernels.
fn sum(graph: &Graph) -> u64 {
    let row = |(u, ends): (u64, &[u32])| mix64(u << 32 | u64::from(ends[1]));
    let arc = |(at, word)| mix64(word ^ mix64(at));
    let rows = (0..).zip(graph.starts.windows(2)).map(row);
    (0..).zip(words(graph)).map(arc).chain(rows).fold(0, u64::wrapping_add)
}

/// The arcs as the kernels read them.
fn words(graph: &Graph) -> impl Iterator<Item = u64> {
    graph.arcs.iter().map(|arc| u64::from(arc.weight) << 32 | u64::from(arc.target))
}

impl GpuJob for Paths {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(KernelList::default().timed(MODULE, name(spec), 1).untimed(MODULE, CERTIFY))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.vertices, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Paths, Failure> {
        let (gpu, module) = (setup.gpu, setup.gpu.module(MODULE)?);
        let graph: Arc<Graph> = graph::of(&spec, setup.stored)?;
        setup.cancel.check()?;
        let search = module.kernel(name(&spec))?;
        let (n, threads) =
            (length(spec.vertices)?, if spec.vertices < FEW_VERTICES { FEW_THREADS } else { THREADS });
        let fused = spec.rounds() > 0;
        // Warps that go on alone are seldom all busy; fewer meet sooner.
        let resident = gpu.max_blocks(&search, threads, 0)?;
        let most = if fused { resident.min(gpu.device().sms) } else { resident };
        let blocks = most.min(grid(spec.vertices, threads.into()));
        let alone = if fused { (blocks * threads / 32) as usize * ALONE } else { 0 };
        let bits = if fused { ell_bits(&spec, &graph) } else { 0 };
        let frontier = || gpu.alloc(length(room(&spec))? + alone);
        let mut job = Paths {
            blocks,
            threads,
            search,
            certify: module.kernels(CERTIFY)?,
            starts: gpu.upload(&graph.starts)?,
            arcs: gpu.upload(&words(&graph).chain([0]).collect::<Vec<u64>>())?,
            distances: gpu.alloc(n + 1)?,
            frontiers: [frontier()?, frontier()?],
            piles: gpu.alloc((n * spec.buckets() as usize).max(1))?,
            in_piles: gpu.alloc(n + 1)?,
            state: gpu.alloc(STATE)?,
            record: gpu.alloc(record::LENGTH)?,
            ell: fused.then(|| gpu.alloc((n << bits).max(1))).transpose()?,
            ell_bits: bits,
            relaxed: fused.then(|| gpu.alloc(n + 1)).transpose()?,
            supported: gpu.alloc(n / 32 + 1)?,
            delta: spec.delta_of(&graph),
            source: spec.source_of(&graph),
            sum: sum(&graph),
            spec,
        };
        gpu.memset32(&mut job.in_piles, 0)?;
        gpu.memset32(&mut job.state, 0)?;
        poison(gpu, &mut job.distances)?;
        Ok(job)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        if part.count == 0 {
            return Ok(());
        }
        gpu.memset32(&mut self.state, 0)?;
        let search = Search {
            starts: self.starts.pointer(),
            arcs: self.arcs.pointer(),
            distances: self.distances.pointer_at(length(part.shift)?)?,
            even: self.frontiers[0].pointer(),
            odd: self.frontiers[1].pointer(),
            piles: self.piles.pointer(),
            in_piles: self.in_piles.pointer(),
            state: self.state.pointer(),
            record: self.record.pointer(),
            ell: self.ell.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer),
            ell_bits: self.ell_bits,
            relaxed: self.relaxed.as_ref().map_or(DevicePtr::null(), DeviceBuffer::pointer),
            vertices: part.count as u32,
            room: self.spec.vertices as u32,
            source: self.source,
            delta: self.delta,
            buckets: self.spec.buckets(),
            rounds: self.spec.rounds(),
            unused: 0,
        };
        gpu.launch(&self.search, self.blocks, self.threads, 0, args![search])
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.distances, 4).first(self.spec.vertices)]
    }

    fn judge(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure> {
        let n = self.spec.vertices;
        if n == 0 {
            return Ok(Verdict::of(None, 0));
        }
        let judged = Judged {
            starts: self.starts.pointer(),
            arcs: self.arcs.pointer(),
            distances: self.distances.pointer(),
            vertices: n as u32,
            source: self.source,
        };
        let [relaxes, supports, reached] = &self.certify;
        let report = check_report::find(gpu, |report| {
            gpu.memset32(&mut self.supported, 0)?;
            launch_over(gpu, relaxes, 32 * n, args![judged, self.supported, report])?;
            loop {
                cancel.check()?;
                let any = gpu.upload(&[0u32])?;
                launch_over(gpu, supports, 32 * n, args![judged, self.supported, any])?;
                if any.to_host()? == [0] {
                    break;
                }
            }
            launch_over(gpu, reached, n, args![judged, self.supported, report])
        })?;
        let changed = || (report.sum != self.sum).then(|| "the graph is not what it was".to_owned());
        let mistake = report.mistake("d").or_else(changed).or_else(|| report.unchecked(n, "vertices"));
        Ok(Verdict::of(mistake, n))
    }

    /// The result is one of the arrays that the case declares.
    fn moved(&self, _declared: [u64; 2]) -> [u64; 2] {
        [self.starts.bytes() + 8 * self.spec.arcs, 4 * self.spec.vertices]
    }

    fn snapshot(&mut self, _gpu: &Gpu) -> Result<Option<Snapshot>, Failure> {
        self.frontiers().map(record::picture)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let state = self.state.to_host().unwrap_or_default();
        let word = |at: usize| state.get(at).copied().map_or(0, u64::from);
        let relaxed = word(RELAXED) | word(RELAXED + 1) << 32;
        self.spec.found(self.delta, self.source, word(STEPS), relaxed)
    }
}

impl Paths {
    /// Sizes of the frontier by step of the last execution, and how many steps two of them are apart.
    ///
    /// # Errors
    /// Errors reported by the driver.
    pub fn frontiers(&self) -> Result<(u64, Vec<u64>), Failure> {
        let steps = self.state.to_host()?.get(STEPS).copied().map_or(0, u64::from);
        let kept = self.record.to_host()?;
        Ok(record::sizes(steps, |slot| kept.get(slot).copied().map_or(0, u64::from)))
    }
}
