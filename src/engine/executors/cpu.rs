//! The backends `scalar` and `cpu`.

use std::sync::{Arc, Mutex};

use crate::case::{Cancel, Case, Device, Failure, Fault, Params, Value};
use crate::device::cpu::caches::{self, Cache};
use crate::device::cpu::{Context, Evictor, Isa, Pool, affinity, facts};
use crate::device::{Prepared, Stored};
use crate::engine::Executor;
use crate::inputs::indices::Store;
use crate::primitives::implementations::implementation;
use crate::stats;

/// What tells the two backends of the processors from each other.
#[derive(Debug)]
struct Kind {
    backend: &'static str,
    /// Threads of every case; `None`: as many as the case asks for.
    threads: Option<usize>,
    /// Instruction set of every case; `None`: as above.
    isa: Option<Isa>,
}

/// The processors with rayon threads and SIMD.
const CPU: Kind = Kind { backend: "cpu", threads: None, isa: None };
/// One pinned thread without SIMD: the baseline.
const SCALAR: Kind = Kind { backend: "scalar", threads: Some(1), isa: Some(Isa::Scalar) };

/// The processors, as the backend `cpu` or `scalar`.
#[derive(Debug)]
pub struct CpuExecutor {
    kind: Kind,
    /// Pools by their number of threads; their threads sleep between cases.
    pools: Mutex<Vec<Arc<Pool>>>,
    /// Made at the first eviction.
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

    /// The pool with this many threads; with all that the affinity mask allows for
    /// `None`.
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

    /// What a primitive prepares a case with that asks for these.
    fn context<'a>(
        &self,
        (threads, isa): (Option<usize>, Option<Isa>),
        fault: Option<Fault>,
        cancel: &'a Cancel,
        stored: Stored<'a>,
    ) -> Result<Context<'a>, Failure> {
        let pool = self.pool(self.kind.threads.or(threads))?;
        // Where nothing is the case's choice, there is nothing to resolve.
        let open = self.kind.threads.is_none();
        Ok(Context { pool, isa: self.kind.isa.or(isa), fault, cancel, open, stored })
    }
}

/// Threads and instruction set that a case asks for; `None` for `auto`.
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

/// Copies of which the median counts.
const COPIES: usize = 5;

/// GB/s of the median of five copies, both ways counted. Its arrays are given back.
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
    let median = median.ok_or_else(|| Failure::Failed("the clock stands still".to_owned()))?;
    Ok(16.0 * elements as f64 / median / 1e9)
}

/// Bytes of each of a copy's two arrays: twice the largest cache, so that it is memory that
/// is measured, within what takes a fraction of a second.
fn copied(caches: &[Cache]) -> u64 {
    let largest = caches.iter().map(|cache| cache.bytes).max().unwrap_or(0);
    (2 * largest).clamp(64 << 20, 256 << 20)
}

impl Executor for CpuExecutor {
    fn backend(&self) -> &'static str {
        self.kind.backend
    }

    fn device(&self) -> Device {
        facts::device(self.kind.backend)
    }

    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let stored = |hash: &str| self.indices.get(hash);
        let context = self.context(threads_and_isa(&case.params)?, fault, cancel, &stored)?;
        implementation(case)?.on_pool(case, &context)
    }

    fn set_index_store(&mut self, indices: &Arc<Store>) {
        self.indices = indices.clone();
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        copy(&self.context((None, None), None, &Cancel::default(), &|hash| self.indices.get(hash))?)
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

    #[test]
    fn a_copy_is_larger_than_the_caches_and_still_quick() {
        let cache = |mib: u64| Cache { level: 3, data_only: false, bytes: mib << 20, cpus: vec![0] };
        assert_eq!(copied(&[]), 64 << 20);
        assert_eq!(copied(&[cache(1), cache(48), cache(32)]), 96 << 20);
        assert_eq!(copied(&[cache(260)]), 256 << 20);
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
