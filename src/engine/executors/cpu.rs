//! The backends `scalar` and `cpu`.

use std::sync::{Arc, Mutex};

use crate::case::{Cancel, Case, Device, Failure, Fault, Params, Value};
use crate::device::Stored;
use crate::device::cpu::caches::{self, Cache};
use crate::device::cpu::{self, Context, Evictor, Isa, Pool, affinity};
use crate::engine::{Executor, Preparation};
use crate::inputs::indices::Store;
use crate::primitives::implementations::implementation;
use crate::stats;

/// Differences between the two CPU backends.
#[derive(Debug)]
struct Kind {
    backend: &'static str,
    /// Number of threads in every case; `None`: chosen by the case.
    threads: Option<usize>,
    /// Instruction set in every case; `None`: chosen by the case.
    isa: Option<Isa>,
}

/// CPUs with a thread pool and SIMD.
const CPU: Kind = Kind { backend: "cpu", threads: None, isa: None };
/// One pinned thread without SIMD: the baseline.
const SCALAR: Kind = Kind { backend: "scalar", threads: Some(1), isa: Some(Isa::Scalar) };

/// The CPUs, as the backend `cpu` or `scalar`.
#[derive(Debug)]
pub struct CpuExecutor {
    kind: Kind,
    /// Thread pools by number of threads; their threads sleep between cases.
    pools: Mutex<Vec<Arc<Pool>>>,
    /// Created at the first eviction.
    evictor: Mutex<Option<Evictor>>,
    indices: Arc<Store>,
}

impl CpuExecutor {
    /// The backend `cpu`.
    pub fn cpu() -> CpuExecutor {
        CpuExecutor { kind: CPU, pools: Mutex::default(), evictor: Mutex::default(), indices: Arc::default() }
    }

    /// The backend `scalar`.
    pub fn scalar() -> CpuExecutor {
        CpuExecutor { kind: SCALAR, ..CpuExecutor::cpu() }
    }

    /// The pool with this many threads; `None`: one per CPU of the affinity mask.
    fn pool(&self, threads: Option<usize>) -> Result<Arc<Pool>, Failure> {
        let wanted = threads.unwrap_or_else(|| affinity::allowed().len());
        let mut pools = self.pools.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(pool) = pools.iter().find(|p| p.threads() == wanted) {
            return Ok(pool.clone());
        }
        let pool = Arc::new(Pool::new(Some(wanted))?);
        pools.push(pool.clone());
        Ok(pool)
    }

    /// The context in which a primitive prepares a case with these choices.
    fn context<'a>(
        &'a self,
        threads: Option<usize>,
        isa: Option<Isa>,
        fault: Option<Fault>,
        cancel: &'a Cancel,
        stored: Stored<'a>,
    ) -> Result<Context<'a>, Failure> {
        let pool = self.pool(self.kind.threads.or(threads))?;
        // For `scalar` nothing is left to the case, so nothing is reported as resolved.
        let open = self.kind.threads.is_none();
        Ok(Context {
            pool,
            isa: self.kind.isa.or(isa),
            fault,
            cancel,
            open,
            stored,
            shared: self.indices.shared(),
        })
    }
}

/// Number of threads and instruction set chosen by a case; `None` for `auto`.
fn threads_and_isa(params: &Params) -> Result<(Option<usize>, Option<Isa>), Failure> {
    let threads = params.int("backend.cpu.threads").map(|n| n as usize);
    if threads == Some(0) {
        return Err(Failure::Failed("backend.cpu.threads: must be at least 1".to_owned()));
    }
    let isa = match params.text("backend.cpu.isa") {
        None | Some("auto") => None,
        Some(name) => {
            let unknown = || Failure::Failed(format!("backend.cpu.isa: `{name}` is unknown"));
            Some(Isa::named(name).ok_or_else(unknown)?)
        }
    };
    Ok((threads, isa))
}

/// Number of copies, of which the median counts.
const COPIES: usize = 5;

/// Bandwidth of the median of [`COPIES`] copies, GB/s (reads plus writes). Frees its arrays.
fn copy(context: &Context) -> Result<f64, Failure> {
    let elements = copied(&caches::of(context.pool.cpus())) / 8;
    let params = Params::default()
        .with("kernel", Value::Text("copy".to_owned()))
        .with("elements", Value::Int(elements));
    let (id, primitive) = (String::new(), "stream".to_owned());
    let case = Case { id, experiment: 0, primitive, params, seed: 0, not_applicable: None };
    let mut copy = implementation(&case)?.on_pool(&case, context)?;
    let seconds: Vec<f64> = (0..COPIES).map(|_| copy.sample(1)).collect::<Result<_, _>>()?;
    let median = stats::median(&seconds).filter(|median| *median > 0.0);
    let median = median.ok_or_else(|| Failure::Failed("the clock does not advance".to_owned()))?;
    Ok(16.0 * elements as f64 / median / 1e9)
}

/// Bytes of each of the two arrays: twice the largest cache, so that memory is measured, limited to keep the
/// copies well below a second.
fn copied(caches: &[Cache]) -> u64 {
    let largest = caches.iter().map(|cache| cache.bytes).max().unwrap_or(0);
    (2 * largest).clamp(64 << 20, 256 << 20)
}

impl Executor for CpuExecutor {
    fn backend(&self) -> &'static str {
        self.kind.backend
    }

    fn device(&self) -> Device {
        cpu::device(self.kind.backend)
    }

    fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation {
        let stored = |hash: &str| self.indices.get(hash);
        let (threads, isa) = threads_and_isa(&case.params)?;
        let context = self.context(threads, isa, fault, cancel, &stored)?;
        implementation(case)?.on_pool(case, &context)
    }

    fn set_index_store(&mut self, indices: &Arc<Store>) {
        self.indices = indices.clone();
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        let stored = |hash: &str| self.indices.get(hash);
        copy(&self.context(None, None, None, &Cancel::default(), &stored)?)
    }

    fn evict(&self) -> Result<u64, Failure> {
        let pool = self.pool(self.kind.threads)?;
        let mut place = self.evictor.lock().unwrap_or_else(|e| e.into_inner());
        let evictor = match place.take() {
            Some(evictor) => place.insert(evictor),
            None => place.insert(Evictor::new(&pool)?),
        };
        evictor.evict(&pool);
        Ok(evictor.bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Verdict;
    use crate::recipe::{
        self,
        plan::{Overrides, resolve},
    };

    #[test]
    fn a_copy_is_larger_than_the_caches_and_still_quick() {
        let cache = |mib: u64| Cache { level: 3, data_only: false, bytes: mib << 20, cpus: vec![0] };
        assert_eq!(copied(&[]), 64 << 20);
        assert_eq!(copied(&[cache(1), cache(48), cache(32)]), 96 << 20);
        assert_eq!(copied(&[cache(260)]), 256 << 20);
    }

    /// Methods, types and rounds share what is made of a matrix or a graph. What a case reports as its memory does not depend on
    /// who made it, and executions leave it as it was made.
    #[test]
    fn cases_share_inputs_which_nobody_changes() {
        for (primitive, chart, made) in [
            // The matrix, what certificates know by type, and the blocks, which are those of both types.
            (
                "spmv: {matrix: {rmat: {scale: 8}}, type: [f32, f64], method: [row, balanced, blocks, segscan, he2007]}",
                "x: method, y: time, lines: type",
                4,
            ),
            // The graph, and what a case finds in it.
            (
                "sssp: {graph: {rmat: 4}, vertices: 500, method: [bellman-ford, near-far, bucketing, fusion]}",
                "x: method, y: time",
                2,
            ),
            // The matrix, which is that of both types.
            ("cg: {class: T, rows: 100, type: [f32, f64]}", "x: type, y: time", 1),
            // The matrix with the values of cg alone, and what its last solution leaves.
            ("cg: {matrix: {random: {rows: 100}}, solutions: 3, type: [f32, f64]}", "x: type, y: time", 2),
        ] {
            let text = format!("{primitive}\nbackend: cpu\nchart: {{{chart}}}\n");
            let recipe = recipe::parse("a.yaml", &text).expect("a recipe");
            let cases = resolve(&recipe, &Overrides::default()).expect("a plan").cases;
            let (executor, cancel) = (CpuExecutor::cpu(), Cancel::default());
            let shared = executor.indices.shared();
            let round = || -> Vec<u64> {
                let memory = |case: &Case| {
                    let mut prepared = executor.prepare(case, None, &cancel).expect("prepared");
                    prepared.sample(3).expect("a sample");
                    let verdict = prepared.certify(&cancel).expect("a verdict");
                    assert!(matches!(verdict, Verdict::Certified { .. }), "{verdict:?}");
                    prepared.memory()
                };
                cases.iter().map(memory).collect()
            };
            let first = round();
            let kept = shared.bytes();
            assert_eq!((round(), shared.made(), shared.bytes()), (first.clone(), made, kept), "{primitive}");
            assert!(first.iter().all(|memory| *memory > kept / 4), "{primitive}: {first:?} beside {kept}");
            // As for a case that needs the room.
            shared.make_room(u64::MAX);
            assert_eq!(shared.bytes(), 0);
            assert_eq!((round(), shared.made()), (first, 2 * made), "{primitive}");
        }
    }

    #[test]
    fn the_two_backends_differ_in_what_a_case_may_choose() {
        let case = |backend: &str| Case {
            id: String::new(),
            experiment: 0,
            primitive: "stream".to_owned(),
            params: Params::default()
                .with("backend", Value::Text(backend.to_owned()))
                .with("kernel", Value::Text("copy".to_owned()))
                .with("method", Value::Text("direct".to_owned()))
                .with("elements", Value::Int(100)),
            seed: 1,
            not_applicable: None,
        };
        for (executor, resolved) in [(CpuExecutor::cpu(), 2), (CpuExecutor::scalar(), 0)] {
            let case = case(executor.backend());
            let prepared = executor.prepare(&case, None, &Cancel::default()).expect("prepared");
            assert_eq!(prepared.resolved().len(), resolved, "{}", executor.backend());
            assert_eq!(executor.device().backend, executor.backend());
        }
    }
}
