//! Cases on the CPU pool: a primitive supplies a [`PoolJob`], which becomes a [`Prepared`]. The harness times,
//! poisons, certifies and reads back.

use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::check::{fill, poison};
use super::{Buffer, Isa, Pool, Worker, memory};
use crate::case::{Cancel, Failure, Fault, Snapshot, Value, Verdict};
use crate::device::{Prepared, Stored, held_by};
use crate::inputs::shared::Shared;

/// Context in which a case is prepared.
pub struct Context<'a> {
    pub pool: Arc<Pool>,
    /// The instruction set requested by the recipe; `None` for `auto`.
    pub isa: Option<Isa>,
    /// A fault to inject.
    pub fault: Option<Fault>,
    pub cancel: &'a Cancel,
    /// True to record the number of threads and the instruction set, which the backend `scalar` does not have as
    /// parameters.
    pub open: bool,
    /// Looks up an index array by its hash.
    pub stored: Stored<'a>,
    /// The inputs that cases share.
    pub shared: &'a Shared,
}

impl Context<'_> {
    /// Refuses a case that needs more memory than it may have: what is free, and what is kept for others.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] with both figures.
    pub fn require(&self, bytes: u64) -> Result<(), Failure> {
        memory::fits(bytes, self.shared.room())
    }

    /// The instruction set to use: the recipe's, or else the one that the primitive's rule chooses.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if this CPU lacks the requested one.
    pub fn isa_or(&self, rule: impl FnOnce() -> Isa) -> Result<Isa, Failure> {
        match self.isa {
            None => Ok(rule()),
            Some(isa) if isa.present() => Ok(isa),
            Some(isa) => Err(Failure::NotApplicable(format!("this processor has no {isa}"))),
        }
    }
}

/// An array that an execution reads.
#[derive(Clone, Copy)]
pub struct InputArray<'a> {
    at: *const u8,
    bytes: usize,
    _array: PhantomData<&'a [u8]>,
}

impl<'a> From<&'a Buffer> for InputArray<'a> {
    fn from(array: &'a Buffer) -> InputArray<'a> {
        InputArray { at: array.ptr(), bytes: array.bytes(), _array: PhantomData }
    }
}

impl<'a, T: Copy> From<&'a [T]> for InputArray<'a> {
    fn from(array: &'a [T]) -> InputArray<'a> {
        InputArray { at: array.as_ptr().cast(), bytes: size_of_val(array), _array: PhantomData }
    }
}

/// An array that an execution writes.
pub struct OutputArray<'a> {
    array: &'a Buffer,
    /// Bytes of an element: each worker poisons its part of the elements.
    element: usize,
    /// Bytes that belong to the output.
    bytes: usize,
}

impl<'a> OutputArray<'a> {
    /// The whole array, with elements of `element` bytes (a multiple of 4).
    pub fn new(array: &'a Buffer, element: u64) -> OutputArray<'a> {
        OutputArray { array, element: element as usize, bytes: array.bytes() }
    }

    /// Only the first `count` elements belong to the output; the others are poisoned all the same.
    pub fn first(self, count: u64) -> OutputArray<'a> {
        OutputArray { bytes: self.element * count as usize, ..self }
    }
}

/// A primitive's case with its arrays allocated for the pool.
pub trait PoolJob: Sync + Sized + 'static {
    /// The typed case.
    type Case;

    /// Allocates and fills the arrays, and returns the instruction set that the kernels use.
    ///
    /// # Errors
    /// [`Failure::NotApplicable`] if memory or the instruction set is missing.
    fn prepare(case: Self::Case, context: &Context) -> Result<(Self, Isa), Failure>;

    /// One worker's share of one execution; `batch` executions are timed together. All stores are complete on
    /// return.
    fn execute(&self, worker: Worker);

    /// The arrays that an execution writes, in the order in which the oracle reads them. A case whose results are no
    /// such arrays implements [`clear`](PoolJob::clear) and [`output`](PoolJob::output) itself.
    fn outputs(&self) -> Vec<OutputArray<'_>> {
        Vec::new()
    }

    /// Poisons the output of an execution and resets accumulated results.
    ///
    /// # Errors
    /// When a stop is requested.
    fn clear(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
        let mut outputs = self.outputs().into_iter();
        outputs.try_for_each(|output| poison(pool, output.array, output.element, cancel))
    }

    /// The words that an execution writes beside its arrays, such as sums.
    fn words(&self) -> Vec<&AtomicU64> {
        Vec::new()
    }

    /// The array that [`Fault::Identity`] copies to the outputs; `None` if a case has no array as its input, or computes
    /// in place: then a copy changes nothing.
    fn input(&self) -> Option<InputArray<'_>> {
        None
    }

    /// Makes the next execution begin where the first one began, for jobs whose executions continue where the last one
    /// ended.
    fn rewind(&self) {}

    /// Checks what an output cannot show, by executions of its own; returns the first mistake.
    ///
    /// # Errors
    /// When a stop is requested or the certificate lacks memory.
    fn prove(&self, _pool: &Pool, _cancel: &Cancel) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Judges what the executions since the last clearing, timed or not, have left.
    ///
    /// # Errors
    /// When a stop is requested or the certificate lacks memory.
    fn judge(&self, pool: &Pool, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// The largest error that [`judge`](Self::judge) lets pass ([`Prepared::tolerance`]).
    fn tolerance(&self) -> f64 {
        0.0
    }

    /// The whole output of the last execution.
    ///
    /// # Errors
    /// When memory is missing.
    fn output(&self, _pool: &Pool) -> Result<Vec<u8>, Failure> {
        // SAFETY: the workers are done.
        let bytes = |output: &OutputArray| unsafe { output.array.read::<u8>(0..output.bytes) }.to_vec();
        Ok(self.outputs().iter().map(bytes).collect::<Vec<_>>().concat())
    }

    /// Values chosen for open parameters, and what the last execution has counted.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// A picture of what the executions have computed so far ([`Prepared::snapshot`]).
    ///
    /// # Errors
    /// When memory is missing.
    fn snapshot(&mut self, _pool: &Pool) -> Result<Option<Snapshot>, Failure> {
        Ok(None)
    }

    /// Disturbs what is computed at a place of the picture ([`Prepared::disturb`]).
    ///
    /// # Errors
    /// When memory is missing.
    fn disturb(&mut self, _pool: &Pool, _at: (f64, f64)) -> Result<bool, Failure> {
        Ok(false)
    }
}

/// A method of a primitive on the pool: a worker's share of one execution on the case's arrays, and on the method's
/// own arrays, which the closure holds. The job's `execute` completes the stores.
pub type PoolMethod<Arrays> = Box<dyn Fn(&Arrays, Worker) + Send + Sync>;

/// A [`PoolJob`] and the pool that runs it.
struct OnPool<J> {
    job: J,
    pool: Arc<Pool>,
    /// Bytes allocated.
    memory: u64,
    resolved: Vec<(String, Value)>,
    fault: Option<Fault>,
    /// True once the outputs have been poisoned for a sample that is judged.
    cleared: bool,
}

/// Prepares a case on the pool. `resolved` holds the values already chosen for its open parameters. Its arrays and its
/// certificate take `declared` bytes; if these exceed the available memory, the case is refused before anything is
/// generated. Whatever it allocates besides is refused once memory is exhausted.
///
/// # Errors
/// As for [`PoolJob::prepare`].
pub fn on_pool<J: PoolJob>(
    case: J::Case,
    resolved: Vec<(String, Value)>,
    declared: u64,
    context: &Context,
) -> Result<Box<dyn Prepared>, Failure> {
    let available = context.shared.room();
    memory::fits(declared, available)?;
    context.shared.make_room(declared);
    let (prepared, memory) = held_by(available, || J::prepare(case, context));
    let (job, isa) = prepared?;
    let of_backend = [
        ("backend.cpu.threads".to_owned(), Value::Int(context.pool.threads() as u64)),
        ("backend.cpu.isa".to_owned(), Value::Text(isa.name().to_owned())),
    ];
    let of_backend = of_backend.into_iter().filter(|_| context.open);
    let resolved = of_backend.chain(resolved).collect();
    let (pool, fault) = (context.pool.clone(), context.fault);
    Ok(Box::new(OnPool { job, pool, memory, resolved, fault, cleared: false }))
}

impl<J: PoolJob> OnPool<J> {
    /// Executes once, for the result.
    fn once(&self, cancel: &Cancel) -> Result<(), Failure> {
        self.job.rewind();
        self.job.clear(&self.pool, cancel)?;
        let executes = || drop(self.pool.run(|worker| self.job.execute(worker)));
        match self.fault {
            Some(Fault::StaleResult) => {}
            Some(fault) if fault.stands_in() => self.stand_in(fault, cancel, executes)?,
            _ => executes(),
        }
        Ok(())
    }

    /// Runs the kernel of a fault in place of the job's, which is executed by `executes`.
    fn stand_in<T>(
        &self,
        fault: Fault,
        cancel: &Cancel,
        executes: impl FnOnce() -> T,
    ) -> Result<(), Failure> {
        match fault {
            Fault::Zeros => self.store(None, cancel),
            Fault::Identity => self.job.input().map_or(Ok(()), |input| self.store(Some(input), cancel)),
            Fault::LostPart => {
                let (arrays, words) = (self.parts(), self.job.words());
                // The count beside an array is right.
                let word = words.first().filter(|_| arrays.is_empty());
                let before = word.map(|word| word.load(Relaxed));
                executes();
                word.zip(before).inspect(|(word, before)| word.store(*before, Relaxed));
                for (output, (first, before)) in self.job.outputs().iter().zip(arrays) {
                    let lost = first..first + before.len();
                    // SAFETY: the workers are done, and so many bytes were read there.
                    unsafe { output.array.write::<u8>(lost) }.copy_from_slice(&before);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Stores the beginning of an array in each output, and zeros behind it.
    fn store(&self, input: Option<InputArray>, cancel: &Cancel) -> Result<(), Failure> {
        for OutputArray { array, element, .. } in self.job.outputs() {
            fill(&self.pool, array, element, 0, cancel)?;
            let bytes = input.map_or(0, |input| input.bytes.min(array.bytes()));
            // SAFETY: the workers are done, and so many bytes are inside of both arrays, which are distinct.
            input.inspect(|input| unsafe { array.ptr::<u8>().copy_from_nonoverlapping(input.at, bytes) });
        }
        let first = input.filter(|input| input.bytes >= 8);
        // SAFETY: the workers are done, and the array has a word.
        let first = first.map_or(0, |input| unsafe { input.at.cast::<u64>().read_unaligned() });
        self.job.words().into_iter().for_each(|word| word.store(first, Relaxed));
        Ok(())
    }

    /// What is lost of each output: where it begins, and its bytes.
    fn parts(&self) -> Vec<(usize, Vec<u8>)> {
        let part = |output: &OutputArray| {
            let elements = Fault::lost_part((output.bytes / output.element) as u64);
            let [first, end] = [elements.start, elements.end].map(|at| at as usize * output.element);
            // SAFETY: the workers are done.
            (first, unsafe { output.array.read::<u8>(first..end) }.to_vec())
        };
        self.job.outputs().iter().map(part).collect()
    }
}

impl<J: PoolJob> Prepared for OnPool<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let time = |batch| self.pool.time(batch, |worker| self.job.execute(worker));
        match self.fault.filter(|fault| self.cleared || !fault.comes_late()) {
            Some(fault) if fault.stands_in() => {
                let mut seconds = None;
                self.stand_in(fault, &Cancel::default(), || seconds = Some(time(batch)))?;
                Ok(seconds.unwrap_or_else(|| time(0)))
            }
            Some(Fault::LastSample) => Ok(time(0)),
            _ => Ok(time(batch)),
        }
    }

    fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure> {
        self.cleared = true;
        self.job.clear(&self.pool, cancel)
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.job.judge(&self.pool, cancel)
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        if let Some(mistake) = self.job.prove(&self.pool, cancel)? {
            return Ok(Verdict::Wrong { mistake });
        }
        self.once(cancel)?;
        self.job.judge(&self.pool, cancel)
    }

    fn tolerance(&self) -> f64 {
        self.job.tolerance()
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.iter().cloned().chain(self.job.resolved()).collect()
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        self.job.snapshot(&self.pool)
    }

    fn disturb(&mut self, at: (f64, f64)) -> Result<bool, Failure> {
        self.job.disturb(&self.pool, at)
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.once(&Cancel::default())?;
        self.job.output(&self.pool)
    }
}

/// A worker's result for the others, in its own cache line.
#[repr(align(128))]
#[derive(Default)]
pub struct CacheLineSlot(pub AtomicU64);

/// Orders the calling thread's non-temporal stores before its later operations.
pub fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
