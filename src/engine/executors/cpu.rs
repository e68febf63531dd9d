//! The backends `scalar` and `cpu`.

use std::sync::{Arc, Mutex};

use crate::backend::cpu::{Context, Isa, Pool, facts};
use crate::backend::{Cancel, Device, Executor, Failure, Fault, Prepared};
use crate::plan::{Case, Params};
use crate::primitives::{Refusal, gather_scatter, pattern, stream};

/// The processors with rayon threads and SIMD.
#[derive(Debug, Default)]
pub struct CpuExecutor {
    /// Pools by their number of threads; their threads sleep between cases.
    pools: Mutex<Vec<Arc<Pool>>>,
}

/// One pinned thread without SIMD: the baseline.
#[derive(Debug, Default)]
pub struct ScalarExecutor {
    cpu: CpuExecutor,
}

impl CpuExecutor {
    /// The pool with this many threads; with all that the affinity mask allows for
    /// `None`.
    fn pool(&self, threads: Option<usize>) -> Result<Arc<Pool>, Failure> {
        let wanted = threads.unwrap_or_else(|| crate::backend::cpu::affinity::allowed().len());
        let mut pools = self.pools.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(pool) = pools.iter().find(|p| p.threads() == wanted) {
            return Ok(pool.clone());
        }
        let pool = Arc::new(Pool::new(Some(wanted))?);
        pools.push(pool.clone());
        Ok(pool)
    }
}

/// Threads and instruction set that a case asks for; `None` for `auto`.
fn wishes(params: &Params) -> Result<(Option<usize>, Option<Isa>), Failure> {
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

/// The implementation of a case's primitive.
fn dispatch(case: &Case, context: &Context) -> Result<Box<dyn Prepared>, Failure> {
    use gather_scatter::spec::Kernel;
    let (params, seed) = (&case.params, case.seed);
    let moves = |kernel| {
        let spec = gather_scatter::Spec::from_params(kernel, params, seed).map_err(failure)?;
        gather_scatter::cpu::prepare(spec, context)
    };
    match case.primitive.as_str() {
        "stream" => stream::cpu::prepare(stream::Spec::from_params(params, seed).map_err(failure)?, context),
        "gather" => moves(Kernel::Gather),
        "scatter" => moves(Kernel::Scatter),
        "pattern" => {
            pattern::cpu::prepare(pattern::Spec::from_params(params, seed).map_err(failure)?, context)
        }
        other => Err(Failure::NotApplicable(format!("{other} has no implementation on CPUs"))),
    }
}

fn failure(refusal: Refusal) -> Failure {
    match refusal {
        Refusal::NotApplicable(reason) => Failure::NotApplicable(reason),
        invalid => Failure::Failed(invalid.to_string()),
    }
}

/// GB/s of the quickest of three copies of 256 MiB, both ways counted.
fn copy(context: &Context) -> Result<f64, Failure> {
    use stream::spec::{Kernel, Method};
    let spec = stream::Spec { kernel: Kernel::Copy, method: Method::Direct, elements: 32 << 20, seed: 0 };
    let mut copy = stream::cpu::prepare(spec, context)?;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        best = copy.sample(1)?.min(best);
    }
    Ok(16.0 * spec.elements as f64 / best / 1e9)
}

impl Executor for CpuExecutor {
    fn backend(&self) -> &'static str {
        "cpu"
    }

    fn device(&self) -> Device {
        facts::device("cpu")
    }

    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let (threads, isa) = wishes(&case.params)?;
        dispatch(case, &Context { pool: self.pool(threads)?, isa, fault, cancel, open: true })
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        let (pool, cancel) = (self.pool(None)?, Cancel::default());
        copy(&Context { pool, isa: None, fault: None, cancel: &cancel, open: true })
    }

    fn evict(&self) -> Result<(), Failure> {
        Err(Failure::NotApplicable("no eviction yet".to_owned()))
    }
}

impl Executor for ScalarExecutor {
    fn backend(&self) -> &'static str {
        "scalar"
    }

    fn device(&self) -> Device {
        facts::device("scalar")
    }

    fn prepare(
        &self,
        case: &Case,
        fault: Option<Fault>,
        cancel: &Cancel,
    ) -> Result<Box<dyn Prepared>, Failure> {
        let pool = self.cpu.pool(Some(1))?;
        dispatch(case, &Context { pool, isa: Some(Isa::Scalar), fault, cancel, open: false })
    }

    fn copy_probe(&self) -> Result<f64, Failure> {
        let (pool, cancel) = (self.cpu.pool(Some(1))?, Cancel::default());
        copy(&Context { pool, isa: Some(Isa::Scalar), fault: None, cancel: &cancel, open: false })
    }

    fn evict(&self) -> Result<(), Failure> {
        Err(Failure::NotApplicable("no eviction yet".to_owned()))
    }
}
