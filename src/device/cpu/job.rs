//! A case on the pool: what the primitives supply, and [`Prepared`] made of it.

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::{Isa, Pool, Worker};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::Prepared;

/// What a primitive prepares a case with.
#[derive(Clone, Debug)]
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

    /// The case, ready to be timed; its kernels use `isa`.
    pub fn prepared<J: Job + 'static>(&self, job: J, isa: Isa) -> Box<dyn Prepared> {
        let mut resolved = Vec::new();
        if self.open {
            let threads = self.pool.threads() as u64;
            resolved.push(("backend.cpu.threads".to_owned(), Value::Int(threads)));
            resolved.push(("backend.cpu.isa".to_owned(), Value::Text(isa.name().to_owned())));
        }
        Box::new(OnPool { job, pool: self.pool.clone(), resolved })
    }
}

/// A primitive's case with its arrays in place.
pub trait Job: Sync {
    /// One worker's share of one execution, `batch` of which are timed together. Stores
    /// are complete when it returns.
    fn execute(&self, worker: Worker);

    /// As [`Prepared::certify`].
    fn certify(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// As [`Prepared::memory`].
    fn memory(&self) -> u64;

    /// What open parameters of the primitive became.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// As [`Prepared::read_back`].
    fn read_back(&self, pool: &Pool) -> Result<Vec<u8>, Failure>;
}

/// A [`Job`] with the pool that runs it.
struct OnPool<J> {
    job: J,
    pool: Arc<Pool>,
    resolved: Vec<(String, Value)>,
}

impl<J: Job> Prepared for OnPool<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        Ok(self.pool.time(batch, |worker| self.job.execute(worker)))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.job.certify(&self.pool, cancel)
    }

    fn memory(&self) -> u64 {
        self.job.memory()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.iter().cloned().chain(self.job.resolved()).collect()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.job.read_back(&self.pool)
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
