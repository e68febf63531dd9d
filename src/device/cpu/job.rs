//! A case on the pool: what a primitive supplies, and [`Prepared`] made of it. The harness times, poisons,
//! certifies and reads back.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Isa, Pool, Worker};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::{Prepared, Stored};

/// What a case is prepared with.
pub struct Context<'a> {
    pub pool: Arc<Pool>,
    /// The instruction set that the recipe asks for; `None` for `auto`.
    pub isa: Option<Isa>,
    /// A deliberate mistake to make.
    pub fault: Option<Fault>,
    pub cancel: &'a Cancel,
    /// Whether the record should say which threads and instruction set were used: the
    /// backend `scalar` has no such parameters.
    pub open: bool,
    /// The index array with a hash.
    pub stored: Stored<'a>,
}

impl Context<'_> {
    /// The instruction set to use: what the recipe asks for, or what the primitive's
    /// rule chooses among those that this processor has.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] where the processor lacks what was asked for.
    pub fn isa_or(&self, rule: impl FnOnce() -> Isa) -> Result<Isa, Failure> {
        match self.isa {
            None => Ok(rule()),
            Some(isa) if isa.present() => Ok(isa),
            Some(isa) => Err(Failure::NotApplicable(format!("this processor has no {isa}"))),
        }
    }
}

/// A primitive's case with its arrays in place on the pool.
pub trait PoolJob: Sync + Sized + 'static {
    /// The case, typed.
    type Case;

    /// Allocates and fills the arrays, and says which instruction set the kernels use.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] where memory or the instruction set is missing.
    fn prepare(case: Self::Case, context: &Context) -> Result<(Self, Isa), Failure>;

    /// One worker's share of one execution, `batch` of which are timed together. Stores
    /// are complete when it returns.
    fn execute(&self, worker: Worker);

    /// Poisons what an execution writes, and forgets what executions have added up.
    ///
    /// # Errors
    /// A request to stop.
    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure>;

    /// Judges what the last execution has left; who needs more executes it again.
    ///
    /// # Errors
    /// A request to stop; memory that the certificate lacks.
    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// The whole output of the last execution.
    ///
    /// # Errors
    /// Memory that is missing.
    fn output(&self, pool: &Pool) -> Result<Vec<u8>, Failure>;

    /// Bytes that it holds.
    fn memory(&self) -> u64;
}

/// A [`PoolJob`] with the pool that runs it.
struct OnPool<J> {
    job: J,
    pool: Arc<Pool>,
    resolved: Vec<(String, Value)>,
}

/// Puts a case in place on the pool; `resolved` is what its open parameters became already.
///
/// # Errors
/// As of [`PoolJob::prepare`].
pub fn on_pool<J: PoolJob>(
    case: J::Case,
    resolved: Vec<(String, Value)>,
    context: &Context,
) -> Result<Box<dyn Prepared>, Failure> {
    let (job, isa) = J::prepare(case, context)?;
    let of_backend = [
        ("backend.cpu.threads".to_owned(), Value::Int(context.pool.threads() as u64)),
        ("backend.cpu.isa".to_owned(), Value::Text(isa.name().to_owned())),
    ];
    let of_backend = of_backend.into_iter().filter(|_| context.open);
    let resolved = of_backend.chain(resolved).collect();
    Ok(Box::new(OnPool { job, pool: context.pool.clone(), resolved }))
}

impl<J: PoolJob> OnPool<J> {
    /// One execution for its result.
    fn once(&self, cancel: &Cancel) -> Result<(), Failure> {
        self.job.clear(&self.pool, cancel)?;
        self.pool.run(|worker| self.job.execute(worker));
        Ok(())
    }
}

impl<J: PoolJob> Prepared for OnPool<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        Ok(self.pool.time(batch, |worker| self.job.execute(worker)))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.once(cancel)?;
        self.job.judge(&self.pool, cancel)
    }

    fn memory(&self) -> u64 {
        self.job.memory()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.clone()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.once(&Cancel::default())?;
        self.job.output(&self.pool)
    }
}

/// What one worker leaves for all, in a cache line of its own.
#[repr(align(128))]
#[derive(Default)]
pub struct Slot(pub AtomicU64);

/// Orders the calling thread's non-temporal stores before what it does next.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
