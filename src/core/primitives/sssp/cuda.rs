//! sssp on a GPU (`kernels/sssp/sssp.cu`): one launch of blocks that are all resident at once, which meet after each step.

use super::beyond::Far;
use super::{Spec, graph, methods, record};
use crate::case::{Snapshot, Value};
use crate::inputs::graph::{Graph, WeightedArc};
use crate::inputs::mix::mix64;
use crate::inputs::shared::Contents;
use crate::inputs::sparse::{SparseError, in_parallel, in_ranges};
use crate::primitives::cuda::prelude::*;

pub const MODULE: &str = "sssp";
const CERTIFY: [&str; 3] = ["sssp_relaxes", "sssp_supports", "sssp_reached"];

/// 32-bit words of `State` in the kernels, and the places of the counts there that an execution leaves.
const STATE: usize = 74;
const RELAXED: usize = 0;
const STEPS: usize = 2;

device_struct! {
    /// `Search` in the kernels.
    pub struct Search: 120 {
        pub starts: DevicePtr<u32>,
        pub arcs: DevicePtr<u64>,
        pub distances: DevicePtr<u32>,
        pub even: DevicePtr<u64>,
        pub odd: DevicePtr<u64>,
        pub piles: DevicePtr<u32>,
        pub in_piles: DevicePtr<u32>,
        pub state: DevicePtr<u32>,
        pub record: DevicePtr<u32>,
        pub ell: DevicePtr<u64>,
        pub relaxed: DevicePtr<u32>,
        pub vertices: u32,
        pub room: u32,
        pub source: u32,
        pub delta: u32,
        pub buckets: u32,
        pub ell_bits: u32,
        pub rounds: u32,
        pub digits: u32,
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
pub struct Sssp {
    spec: Spec,
    method: GpuMethod<Search>,
    certify: [Kernel; 3],
    starts: DeviceBuffer<u32>,
    arcs: DeviceBuffer<u64>,
    /// d, with an element more, which only a fault writes.
    distances: DeviceBuffer<u32>,
    state: DeviceBuffer<u32>,
    /// Sizes of the frontier of the last execution (`record`).
    record: DeviceBuffer<u32>,
    supported: DeviceBuffer<u32>,
    delta: u32,
    source: u32,
    /// The sum that the certificate finds of an intact graph.
    sum: u64,
    /// The graph, if distances in it may exceed 32 bits.
    far: Option<Far>,
}

/// The arcs as the kernels read them, and a word more, for an array has at least one; and the sum of the graph, as in
/// `relaxes` in the kernels.
struct Words {
    arcs: Vec<u64>,
    sum: u64,
}

impl Contents for Words {
    fn bytes(&self) -> u64 {
        self.arcs.bytes()
    }
}

impl Words {
    fn of(graph: &Graph) -> Result<Words, SparseError> {
        let word = |arc: &WeightedArc| u64::from(arc.weight) << 32 | u64::from(arc.target);
        let arcs = in_parallel(graph.arcs.len() + 1, |at| graph.arcs.get(at).map_or(0, word))?;
        let of_row = |u: u64| mix64(u << 32 | u64::from(graph.starts[u as usize + 1]));
        let of_arc = |at: u64| mix64(arcs[at as usize] ^ mix64(at));
        let rows = in_ranges(graph.vertices() as u64, |rows| rows.map(of_row).fold(0, u64::wrapping_add));
        let sums = in_ranges(graph.arcs.len() as u64, |at| at.map(of_arc).fold(0, u64::wrapping_add));
        let sum = rows.into_iter().chain(sums).fold(0, u64::wrapping_add);
        Ok(Words { arcs, sum })
    }
}

impl GpuJob for Sssp {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(methods::cuda::kernels(spec).untimed(MODULE, CERTIFY))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::prefix(spec.vertices, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Sssp, Failure> {
        let (gpu, module) = (setup.gpu, setup.gpu.module(MODULE)?);
        let graph = graph::of(&spec, setup.stored, setup.shared)?;
        setup.cancel.check()?;
        let found = graph::found(&spec, &graph, setup.shared);
        let words = setup.shared.get(&graph::name(&spec), "words", 8 * spec.arcs, || Words::of(&graph))?;
        let mut job = Sssp {
            method: methods::cuda::method(gpu, &module, &spec, &graph)?,
            certify: module.kernels(CERTIFY)?,
            starts: gpu.upload(&graph.starts)?,
            arcs: gpu.upload(&words.arcs)?,
            distances: array(gpu, spec.vertices + 1)?,
            state: gpu.alloc(STATE)?,
            record: gpu.alloc(record::LENGTH)?,
            supported: array(gpu, spec.vertices / 32 + 1)?,
            delta: found.delta,
            source: found.source,
            sum: words.sum,
            far: Far::of(&graph, found.heaviest),
            spec,
        };
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
            state: self.state.pointer(),
            record: self.record.pointer(),
            vertices: part.count as u32,
            room: self.spec.vertices as u32,
            source: self.source,
            delta: self.delta,
            ..Search::zeroed()
        };
        (self.method)(gpu, &search)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.distances, 4).first(self.spec.vertices)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.arcs))
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
        let report = find(gpu, |report| {
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
        let changed = || (report.sum != self.sum).then(|| "the graph was modified during the run".to_owned());
        let mistake = report.mistake("d").or_else(changed).or_else(|| report.unchecked(n, "vertices"));
        Ok(Verdict::of(mistake, n))
    }

    /// The result is one of the arrays that the case declares.
    fn moved(&self, _declared: [u64; 2]) -> [u64; 2] {
        [self.starts.bytes() + 8 * self.spec.arcs, 4 * self.spec.vertices]
    }

    fn snapshot(&mut self, _gpu: &Gpu) -> Result<Option<Snapshot>, Failure> {
        let kept = self.record.to_host()?;
        Ok(record::picture(word(&self.state.to_host()?, STEPS), |slot| word(&kept, slot)))
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let state = self.state.to_host().unwrap_or_default();
        let relaxed = word(&state, RELAXED) | word(&state, RELAXED + 1) << 32;
        let count = |far: &Far| {
            let distances = self.distances.to_host().unwrap_or_default();
            // What was not read back is no finding.
            far.count(|v| distances.get(v).copied().unwrap_or_default())
        };
        let beyond = self.far.as_ref().map_or(0, count);
        self.spec.found((self.delta, self.source), (word(&state, STEPS), relaxed), beyond)
    }
}

/// A word of an array that was read back; 0 if it was not.
fn word(words: &[u32], at: usize) -> u64 {
    words.get(at).copied().map_or(0, u64::from)
}
