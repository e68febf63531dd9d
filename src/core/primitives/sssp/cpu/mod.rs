//! sssp on the CPU: delta-stepping by owners. Each block of vertices belongs to a worker, who alone lowers their distances
//! and relaxes their arcs; what others find for them is sent. So no distance is lowered by an atomic operation, and the
//! distances that a worker writes stay in its caches.
//!
//! A list holds vertices with the distance that they had fallen to. An entry counts only while that still is the vertex's
//! distance; if it has fallen further, another entry says so. So no vertex needs a mark.

mod certificate;
mod lists;
mod search;

use std::slice;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::beyond::Far;
use super::{Spec, graph, record};
use crate::case::{Snapshot, Value};
use crate::device::cpu::{POISON, memory};
use crate::device::{Counted, Held};
use crate::inputs::graph::Graph;
use crate::primitives::cpu::prelude::*;
use lists::{Lists, Owners};

/// A case with its arrays.
pub struct Sssp {
    spec: Spec,
    graph: Arc<Graph>,
    source: u32,
    delta: u32,
    /// d, with an element more, which only a fault writes.
    distances: Buffer,
    lists: Lists,
    /// The graph, if distances in it may exceed 32 bits.
    far: Option<Far>,
    fault: Option<Fault>,
    /// With a fault, the vertices that the workers do not leave out.
    handled: Mutex<Vec<Range<usize>>>,
    /// Steps and relaxed arcs of the last execution.
    steps: AtomicU64,
    relaxed: AtomicU64,
    /// Sizes of the frontier of the last execution (`record`).
    record: Vec<AtomicU64>,
    /// Counts the vectors of the graph.
    _held: Held,
    /// What the graph is a copy of.
    _shared: Counted<Graph>,
}

/// A copy of a graph for the executions, in fresh pages, and its share in the count of memory.
fn copied(graph: &Graph) -> Result<(Arc<Graph>, Held), Failure> {
    let held = Held::in_host_memory(graph.bytes())?;
    let copy = Graph { starts: memory::copy(&graph.starts)?, arcs: memory::copy(&graph.arcs)? };
    Ok((Arc::new(copy), held))
}

impl PoolJob for Sssp {
    type Case = Spec;

    fn prepare(spec: Spec, context: &Context) -> Result<(Sssp, Isa), Failure> {
        let isa = context.isa_or(Isa::widest)?;
        // The entries that workers send to each other take at most as much as the arcs.
        let sent = if context.pool.threads() > 1 { 8 * spec.arcs } else { 0 };
        context.require(2 * 8 * spec.arcs + 20 * spec.vertices + sent)?;
        let shared = Counted::of(graph::of(&spec, context.stored, context.shared)?)?;
        let found = graph::found(&spec, &shared, context.shared);
        let (graph, held) = copied(&shared)?;
        let mut distances = Buffer::new(4 * (spec.vertices as usize + 1))?;
        context.pool.fill(&mut distances, spec.vertices as usize, context.cancel, |_| POISON as u32)?;
        let threads = context.pool.threads();
        let owners = Owners::new(spec.vertices as usize, spec.connected(), threads);
        let job = Sssp {
            source: found.source,
            delta: found.delta,
            lists: Lists::new(owners, threads, spec.buckets()),
            _held: held,
            _shared: shared,
            far: Far::of(&graph, found.heaviest),
            graph,
            distances,
            fault: context.fault,
            handled: Mutex::default(),
            steps: AtomicU64::new(0),
            relaxed: AtomicU64::new(0),
            record: (0..record::LENGTH).map(|_| AtomicU64::new(0)).collect(),
            spec,
        };
        Ok((job, isa))
    }

    fn execute(&self, worker: Worker) {
        search::run(self, worker);
        if self.fault.is_some() {
            worker.meet();
            self.leave_out(worker);
            worker.meet();
        }
    }

    fn outputs(&self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&self.distances, 4).first(self.spec.vertices)]
    }

    fn input(&self) -> Option<InputArray<'_>> {
        Some(self.graph.arcs[..].into())
    }

    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure> {
        let n = self.graph.vertices();
        let mistake = certificate::mistake(&self.graph, self.view(0, n), self.source, pool, cancel)?;
        Ok(Verdict::of(mistake, n as u64))
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let [steps, relaxed] = [&self.steps, &self.relaxed].map(|count| count.load(Ordering::Relaxed));
        let distances = self.view(0, self.graph.vertices());
        let count = |far: &Far| far.count(|v| distances[v].load(Ordering::Relaxed));
        let beyond = self.far.as_ref().map_or(0, count);
        self.spec.found((self.delta, self.source), (steps, relaxed), beyond)
    }

    fn snapshot(&mut self, _pool: &Pool) -> Result<Option<Snapshot>, Failure> {
        let kept = |slot: usize| self.record[slot].load(Ordering::Relaxed);
        Ok(record::picture(self.steps.load(Ordering::Relaxed), kept))
    }
}

impl Sssp {
    /// `n` distances from a place on.
    fn view(&self, first: usize, n: usize) -> &[AtomicU32] {
        assert!(first + n <= self.distances.holds::<u32>(), "the distances are in the buffer");
        // SAFETY: inside the buffer and aligned; all accesses are atomic.
        unsafe { slice::from_raw_parts(self.distances.ptr::<AtomicU32>().add(first).cast_const(), n) }
    }

    /// The distances that an execution writes: with a fault those that begin one element further.
    fn written(&self) -> &[AtomicU32] {
        self.view(usize::from(self.fault == Some(Fault::OffByOne)), self.graph.vertices())
    }

    /// Poisons again what a fault leaves out.
    fn leave_out(&self, worker: Worker) {
        let all = self.written();
        let handled = || self.handled.lock().unwrap_or_else(PoisonError::into_inner);
        handled().extend(pieces(all.len(), 64, worker, self.fault));
        worker.meet();
        if worker.index == 0 {
            let pieces = std::mem::take(&mut *handled());
            let left_out = (0..all.len()).filter(|v| !pieces.iter().any(|piece| piece.contains(v)));
            left_out.for_each(|v| all[v].store(POISON as u32, Ordering::Relaxed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::mix::word64;
    use crate::inputs::shared::Shared;
    use crate::primitives::words::params;
    use crate::primitives::{Definition, Problem};

    const METHODS: [&str; 5] =
        ["bellman-ford", "near-far", "bucketing", "bucketing method.bucketing.buckets=3", "fusion"];
    const GRAPHS: [&str; 6] =
        ["grid", "grid graph.grid.keep=4", "geometric", "line", "random graph.random.edges=2", "rmat"];

    /// Each method finds the distances of Dijkstra's algorithm on fifty graphs of every kind.
    #[test]
    fn all_methods_agree_with_dijkstra() {
        let pools =
            [Arc::new(Pool::new(Some(1)).expect("a pool")), Arc::new(Pool::new(None).expect("a pool"))];
        let cancel = Cancel::default();
        for (seed, graph) in (0..50).flat_map(|seed| GRAPHS.map(|graph| (seed, graph))) {
            let n = 1 + word64(seed, 0) % 300;
            let heaviest = [0, 1, 1000][seed as usize % 3];
            for method in METHODS {
                let words = format!("graph={graph} vertices={n} heaviest={heaviest} method={method}");
                let spec = Spec::read("sssp", &params(&words), seed).expect("a case");
                let pool = pools[seed as usize % 2].clone();
                let stored = |_: &str| Err(Failure::Failed("no file".to_owned()));
                let context = Context {
                    pool: pool.clone(),
                    isa: None,
                    fault: None,
                    cancel: &cancel,
                    open: false,
                    stored: &stored,
                    shared: &Shared::default(),
                };
                let (job, _) = Sssp::prepare(spec.clone(), &context).expect("prepared");
                pool.run(|worker| job.execute(worker));
                assert_eq!(spec.check(&job.output(&pool).expect("an output")), Ok(()), "{words} {seed}");
                let verdict = job.judge(&pool, &cancel);
                assert_eq!(verdict, Ok(Verdict::Certified { checked: n }), "{words} {seed}");
                assert!(job.relaxed.load(Ordering::Relaxed) <= 200 * spec.arcs, "{words} {seed}");
            }
        }
    }

    /// In a line every arc is relaxed once in each direction, from vertex to vertex.
    #[test]
    fn steps_and_relaxed_arcs_are_counted() {
        let pool = Arc::new(Pool::new(None).expect("a pool"));
        let spec = Spec::read("sssp", &params("graph=line vertices=100 source=0 method=bellman-ford"), 1);
        let cancel = Cancel::default();
        let stored = |_: &str| Err(Failure::Failed("no file".to_owned()));
        let context = Context {
            pool: pool.clone(),
            isa: None,
            fault: None,
            cancel: &cancel,
            open: false,
            stored: &stored,
            shared: &Shared::default(),
        };
        let (mut job, _) = Sssp::prepare(spec.expect("a case"), &context).expect("prepared");
        pool.run(|worker| job.execute(worker));
        let found = job.resolved();
        assert!(found.contains(&("steps".to_owned(), Value::Int(100))), "{found:?}");
        assert!(found.contains(&("inefficiency".to_owned(), Value::Float(1.0))), "{found:?}");
        assert_eq!(job.snapshot(&pool), Ok(record::picture(100, |_| 1)));
    }
}
