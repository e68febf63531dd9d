//! Cases on a GPU: a primitive supplies a [`GpuJob`], which becomes a [`Prepared`].
//!
//! A primitive allocates its arrays, queues executions, and checks their output. The harness times executions,
//! poisons, certifies, reads back, counts memory, and injects faults.

use super::{Arg, ComputeCapability, DeviceBuffer, DevicePtr, Gpu, KernelList, Plain};
use std::ops::Range;

use crate::case::{Cancel, Failure, Fault, HostMemory, Snapshot, Transfer, Value, Verdict};
use crate::device::held_by;
use crate::device::{Prepared, Stored};
use crate::inputs::shared::Shared;

/// Both 32-bit halves of the poison word (`kernels/common/certify.cuh`).
pub const POISON32: u32 = 0xDEAD_BEEF;

/// Poisons a whole buffer.
///
/// # Errors
/// Errors reported by the driver.
pub fn poison<T: Plain>(gpu: &Gpu, buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
    gpu.memset32(buffer, POISON32)
}

/// The address of an optional array; null without one.
pub fn pointer_or_null<T: Plain>(array: Option<&DeviceBuffer<T>>) -> DevicePtr<T> {
    array.map_or(DevicePtr::null(), DeviceBuffer::pointer)
}

/// Context in which a case is prepared.
pub struct GpuSetup<'a> {
    pub gpu: &'a Gpu,
    /// The other GPUs spanned by the arrays.
    pub others: &'a [Gpu],
    /// The fault to inject.
    pub fault: Option<Fault>,
    pub cancel: &'a Cancel,
    /// Looks up an index array by its hash.
    pub stored: Stored<'a>,
    /// The inputs that cases share.
    pub shared: &'a Shared,
}

/// Elements [first, first + count) processed by one launch, on arrays whose base is off by `shift` elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchPart {
    pub first: u64,
    pub count: u64,
    pub shift: u64,
}

/// The parts of an execution in order, and a store to be reverted after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchPlan {
    pub parts: Vec<LaunchPart>,
    /// The output element that is poisoned again, as if it had never been stored.
    pub skipped: Option<u64>,
}

impl LaunchPlan {
    /// All `n` elements in one part.
    pub fn whole(n: u64) -> LaunchPlan {
        LaunchPlan { parts: vec![LaunchPart { first: 0, count: n, shift: 0 }], skipped: None }
    }

    /// For executions that can start at any element. A fault that concerns elements omits at least one;
    /// [`Fault::OffByOne`] shifts an array instead.
    pub fn ranges(n: u64, fault: Option<Fault>) -> LaunchPlan {
        let part =
            |first, count| LaunchPart { first, count, shift: u64::from(fault == Some(Fault::OffByOne)) };
        let half = part(0, n / 2);
        let mut parts = match fault {
            None => vec![part(0, n)],
            Some(Fault::MissingTail) => vec![part(0, n.saturating_sub(1))],
            // The worker of the second half processes the first half.
            Some(Fault::WrongChunk) => vec![half, half],
            Some(Fault::SkippedStore) => vec![half, part(n / 2 + 1, n.saturating_sub(n / 2 + 1))],
            // Other faults concern whole samples or rounds and leave out no element.
            Some(_) => vec![part(0, n)],
        };
        parts.retain(|part| part.count > 0);
        LaunchPlan { parts, skipped: None }
    }

    /// For executions that must start at the first element. A fault omits the last element, makes the worker of the
    /// second half process the first half, or has a store reverted.
    pub fn prefix(n: u64, fault: Option<Fault>) -> LaunchPlan {
        let counts = match fault {
            Some(Fault::MissingTail) => vec![n.saturating_sub(1)],
            Some(Fault::WrongChunk) => vec![n / 2; 2],
            _ => vec![n],
        };
        let shift = u64::from(fault == Some(Fault::OffByOne));
        let parts = counts.into_iter().map(|count| LaunchPart { first: 0, count, shift }).collect();
        LaunchPlan { parts, skipped: (fault == Some(Fault::SkippedStore) && n > 0).then_some(n / 2) }
    }
}

/// An array in a GPU's memory that an execution writes, of any element type.
trait Written {
    fn fill(&mut self, gpu: &Gpu, word: u32) -> Result<(), Failure>;
    /// Copies the first bytes of an input, as many as both arrays have.
    fn copy(&mut self, gpu: &Gpu, input: InputArray) -> Result<(), Failure>;
    /// Poisons element `at`, counted in elements of `bytes` bytes.
    fn poison_element(&mut self, gpu: &Gpu, at: u64, bytes: u64) -> Result<(), Failure>;
    /// Copies the first `bytes` bytes to the host.
    fn read(&self, bytes: u64) -> Result<Vec<u8>, Failure>;
    /// Copies whole elements back from the host.
    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<(), Failure>;
}

impl<T: Plain> Written for DeviceBuffer<T> {
    fn fill(&mut self, gpu: &Gpu, word: u32) -> Result<(), Failure> {
        gpu.memset32(self, word)
    }

    fn copy(&mut self, gpu: &Gpu, input: InputArray) -> Result<(), Failure> {
        // SAFETY: a job that returns an input array holds it.
        unsafe { gpu.copy_bytes(input.at, self, input.bytes.min(self.bytes())) }
    }

    fn poison_element(&mut self, gpu: &Gpu, at: u64, bytes: u64) -> Result<(), Failure> {
        let words = bytes as usize / size_of::<T>();
        let mut kept = gpu.alloc(words)?;
        poison(gpu, &mut kept)?;
        gpu.copy(&kept, 0..words, self, at as usize * words)
    }

    fn read(&self, bytes: u64) -> Result<Vec<u8>, Failure> {
        self.bytes_to_host(bytes)
    }

    fn write(&mut self, gpu: &Gpu, bytes: &[u8]) -> Result<(), Failure> {
        let elements = bytes.chunks_exact(size_of::<T>());
        // SAFETY: a chunk has the bytes of an element, and every bit pattern is valid for a `Plain` type.
        let elements = elements.map(|element| unsafe { element.as_ptr().cast::<T>().read_unaligned() });
        gpu.put(&elements.collect::<Vec<T>>(), self)
    }
}

/// An array that an execution reads.
#[derive(Clone, Copy)]
pub struct InputArray {
    at: DevicePtr<u8>,
    bytes: u64,
}

impl InputArray {
    /// A whole array.
    pub fn new<T: Plain>(array: &DeviceBuffer<T>) -> InputArray {
        InputArray { at: array.pointer().cast(), bytes: array.bytes() }
    }
}

/// An array that an execution writes.
pub struct OutputArray<'a> {
    array: &'a mut dyn Written,
    /// Bytes of an element.
    element: u64,
    /// Bytes that belong to the output.
    bytes: u64,
    /// True if a fault that reverts a store does so in this array instead of the first.
    loses_stores: bool,
}

impl<'a> OutputArray<'a> {
    /// The whole array, with elements of `element` bytes, each one or several values of type `T`.
    pub fn new<T: Plain>(array: &'a mut DeviceBuffer<T>, element: u64) -> OutputArray<'a> {
        OutputArray { bytes: array.bytes(), array, element, loses_stores: false }
    }

    /// Only the first `count` elements belong to the output; the others are poisoned all the same.
    pub fn first(self, count: u64) -> OutputArray<'a> {
        OutputArray { bytes: self.element * count, ..self }
    }

    /// The number of elements that belong to the output.
    fn elements(&self) -> u64 {
        self.bytes.checked_div(self.element).unwrap_or(0)
    }

    /// What is lost, as bytes of the array.
    fn lost(&self) -> Range<u64> {
        let elements = Fault::lost_part(self.elements());
        elements.start * self.element..elements.end * self.element
    }

    /// Makes a fault that reverts a store do so in this array instead of the first.
    pub fn losing_stores(self) -> OutputArray<'a> {
        OutputArray { loses_stores: true, ..self }
    }
}

/// A primitive's case with its arrays allocated on a GPU.
pub trait GpuJob: Sized + Send + 'static {
    /// The typed case.
    type Case;

    /// True if the arrays may span several GPUs.
    const SPANS: bool = false;

    /// The kernels of a case on a GPU of this generation. Pure, because kernels are compiled ahead of time, and
    /// profilers are told of them without a GPU.
    ///
    /// # Errors
    /// When the case does not exist on GPUs.
    fn kernels(case: &Self::Case, capability: ComputeCapability) -> Result<KernelList, Failure>;

    /// Keys per second that a GPU ranks by one digit if nothing else of the case's method takes time
    /// ([`Ranking`](crate::case::Ranking)).
    ///
    /// # Errors
    /// `NotApplicable` if this GPU does not support it, or the method ranks nothing; `Failed` if the result is wrong;
    /// errors reported by the driver.
    fn ranking(_case: &Self::Case, _gpu: &Gpu) -> Result<f64, Failure> {
        Err(Failure::NotApplicable("the primitive ranks nothing".to_owned()))
    }

    /// The parts of an execution, subject to a fault.
    fn plan(case: &Self::Case, fault: Option<Fault>) -> LaunchPlan;

    /// Allocates and generates the arrays.
    ///
    /// # Errors
    /// `NotApplicable` if this GPU does not support the case or lacks the memory; errors reported by the driver.
    fn prepare(case: Self::Case, setup: &GpuSetup) -> Result<Self, Failure>;

    /// The arrays that an execution writes, in the order in which the oracle reads them. A fault that reverts a store
    /// does so in the first, unless another is [`losing_stores`](OutputArray::losing_stores). A case with other
    /// results implements [`clear`](GpuJob::clear) and [`output`](GpuJob::output) itself; then only the array in which
    /// stores are reverted matters.
    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        Vec::new()
    }

    /// Poisons the output of an execution and resets accumulated results.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.outputs().into_iter().try_for_each(|output| output.array.fill(gpu, POISON32))
    }

    /// The array that [`Fault::Identity`] copies to the outputs; `None` if a case has no array as its input, or computes
    /// in place: then a copy changes nothing.
    fn input(&self) -> Option<InputArray> {
        None
    }

    /// Queues the start of an execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    /// Queues one part of an execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure>;

    /// Queues the end of an execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn end(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    /// Waits for the last execution on the GPUs other than the first: the stream of the first GPU does not order their
    /// work.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn synchronize_others(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Makes the next execution begin where the first one began, for jobs whose executions continue where the last one
    /// ended.
    fn rewind(&mut self) {}

    /// Checks what an output cannot show, by executions of its own; returns the first mistake.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn prove(&mut self, _gpu: &Gpu, _cancel: &Cancel) -> Result<Option<String>, Failure> {
        Ok(None)
    }

    /// Judges on the GPU what the executions since the last clearing, timed or not, have left.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn judge(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// The largest error that [`judge`](Self::judge) lets pass ([`Prepared::tolerance`]).
    fn tolerance(&self) -> f64 {
        0.0
    }

    /// The whole output of the last execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let read = self.outputs().into_iter().map(|output| output.array.read(output.bytes));
        Ok(read.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Values chosen for open parameters on this GPU, and what the last execution has found out besides its output.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Bytes of inputs and of results that a transfer copies; the case declares `declared`.
    fn moved(&self, declared: [u64; 2]) -> [u64; 2] {
        declared
    }

    /// Queues an execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn execute(&mut self, gpu: &Gpu, plan: &LaunchPlan) -> Result<(), Failure> {
        self.begin(gpu)?;
        plan.parts.iter().try_for_each(|part| self.enqueue(gpu, *part))?;
        self.end(gpu)?;
        plan.skipped.map_or(Ok(()), |at| take_back(self, gpu, at))
    }

    /// Seconds taken by `batch` executions.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn time(&mut self, gpu: &Gpu, plan: &LaunchPlan, batch: u32) -> Result<f64, Failure> {
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute(gpu, plan)))
    }

    /// A picture of what the executions have computed so far ([`Prepared::snapshot`]), reduced on the GPU to a few
    /// thousand values.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn snapshot(&mut self, _gpu: &Gpu) -> Result<Option<Snapshot>, Failure> {
        Ok(None)
    }

    /// Disturbs what is computed at a place of the picture ([`Prepared::disturb`]).
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn disturb(&mut self, _gpu: &Gpu, _at: (f64, f64)) -> Result<bool, Failure> {
        Ok(false)
    }

    /// Called after a timed case has been certified.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn certified(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }
}

/// A method of a primitive on a GPU: queues one execution on the case's arrays, and on the method's own kernels and
/// arrays, which the closure holds. Returns the errors of the driver.
pub type GpuMethod<Arrays> = Box<dyn FnMut(&Gpu, &Arrays) -> Result<(), Failure> + Send>;

/// Reverts a store: poisons the output element again.
fn take_back<J: GpuJob>(job: &mut J, gpu: &Gpu, at: u64) -> Result<(), Failure> {
    let none = || Failure::Failed("no element of the output can be taken back".to_owned());
    let output = job.outputs().into_iter().min_by_key(|output| !output.loses_stores).ok_or_else(none)?;
    output.array.poison_element(gpu, at, output.element)
}

/// A case on one GPU, which may be executed on that GPU's own thread.
pub type OneGpu = Box<dyn Prepared + Send>;

/// A [`GpuJob`] and its GPU.
struct OnGpu<J> {
    gpu: Gpu,
    job: J,
    plan: LaunchPlan,
    /// Bytes allocated.
    memory: u64,
    /// Values chosen for open parameters of the primitive.
    resolved: Vec<(String, Value)>,
    /// True once samples have been taken.
    sampled: bool,
    fault: Option<Fault>,
    /// True once the outputs have been poisoned for a sample that is judged.
    cleared: bool,
    /// True if the arrays span several GPUs.
    several: bool,
}

/// Prepares a case on a GPU; `resolved` holds the values already chosen for its open parameters.
///
/// # Errors
/// `NotApplicable` if the case does not fit; errors reported by the driver.
pub fn on_gpu<J: GpuJob>(
    case: J::Case,
    resolved: Vec<(String, Value)>,
    setup: &GpuSetup,
) -> Result<OneGpu, Failure> {
    setup.cancel.check()?;
    let (gpu, plan) = (setup.gpu.clone(), J::plan(&case, setup.fault));
    let (job, memory) = held_by(None, || J::prepare(case, setup));
    let job = job?;
    gpu.synchronize()?;
    let (fault, several) = (setup.fault, !setup.others.is_empty());
    Ok(Box::new(OnGpu { gpu, job, plan, memory, resolved, sampled: false, fault, cleared: false, several }))
}

impl<J: GpuJob> OnGpu<J> {
    /// Executes once, for the result.
    fn once(&mut self) -> Result<(), Failure> {
        self.job.rewind();
        self.job.clear(&self.gpu)?;
        match self.fault {
            Some(Fault::StaleResult) => {}
            Some(fault) if fault.stands_in() => drop(self.stand_in(fault, 1)?),
            _ => self.job.execute(&self.gpu, &self.plan)?,
        }
        self.job.synchronize_others()
    }

    /// Runs the kernel of a fault in place of the job's; returns the seconds of as many executions, if it executes the
    /// job's.
    fn stand_in(&mut self, fault: Fault, batch: u32) -> Result<Option<f64>, Failure> {
        match fault {
            Fault::Zeros => self.store(None).map(|()| None),
            // A copy between GPUs is no copy of bytes.
            Fault::Identity => match self.job.input().filter(|_| !self.several) {
                None => Ok(None),
                input => self.store(input).map(|()| None),
            },
            Fault::LostPart => {
                let outputs = self.job.outputs();
                // The count beside an array is right.
                let single = outputs.iter().all(|output| output.elements() < 2);
                let loses = |output: &&OutputArray| single || output.elements() > 1;
                let part = |output: &OutputArray| {
                    let lost = output.lost();
                    output.array.read(lost.end).map(|before| (lost, before))
                };
                let parts = outputs.iter().map(|output| Some(output).filter(loses).map(part).transpose());
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                let seconds = self.job.time(&self.gpu, &self.plan, batch)?;
                self.job.synchronize_others()?;
                for (output, part) in self.job.outputs().into_iter().zip(parts) {
                    let Some((lost, before)) = part else { continue };
                    let kept = output.array.read(lost.start)?;
                    output.array.write(&self.gpu, &[&kept, &before[kept.len()..]].concat())?;
                }
                Ok(Some(seconds))
            }
            _ => Ok(None),
        }
    }

    /// Stores the beginning of an array in each output, and zeros behind it.
    fn store(&mut self, input: Option<InputArray>) -> Result<(), Failure> {
        self.job.outputs().into_iter().try_for_each(|output| {
            output.array.fill(&self.gpu, 0)?;
            input.map_or(Ok(()), |input| output.array.copy(&self.gpu, input))
        })
    }
}

impl<J: GpuJob> Prepared for OnGpu<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.sampled = true;
        let seconds = match self.fault.filter(|fault| self.cleared || !fault.comes_late()) {
            Some(fault) if fault.stands_in() => self.stand_in(fault, batch)?,
            Some(Fault::LastSample) => None,
            _ => Some(self.job.time(&self.gpu, &self.plan, batch)?),
        };
        seconds.map_or_else(|| self.gpu.timed(&mut || Ok(())), Ok)
    }

    /// Waits, so that no sample begins on any GPU before the poison is written.
    fn clear(&mut self, _cancel: &Cancel) -> Result<(), Failure> {
        self.cleared = true;
        self.job.clear(&self.gpu)?;
        self.gpu.synchronize()
    }

    fn judge(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.job.synchronize_others()?;
        self.job.judge(&self.gpu, cancel)
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        if let Some(mistake) = self.job.prove(&self.gpu, cancel)? {
            return Ok(Verdict::Wrong { mistake });
        }
        self.once()?;
        cancel.check()?;
        let verdict = self.job.judge(&self.gpu, cancel)?;
        if self.sampled && matches!(verdict, Verdict::Certified { .. }) {
            self.job.certified(&self.gpu)?;
        }
        Ok(verdict)
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

    /// Needs memory besides the case's; returns `None` without it, and for arrays that span several GPUs.
    fn transfer(&mut self, declared: [u64; 2], memory: HostMemory) -> Result<Option<Transfer>, Failure> {
        if self.several {
            return Ok(None);
        }
        let [in_bytes, out_bytes] = self.job.moved(declared);
        match self.gpu.transfer([in_bytes, out_bytes], memory) {
            Ok([in_seconds, out_seconds]) => {
                Ok(Some(Transfer { in_bytes, out_bytes, in_seconds, out_seconds }))
            }
            Err(Failure::NotApplicable(_)) => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    fn snapshot(&mut self) -> Result<Option<Snapshot>, Failure> {
        self.job.synchronize_others()?;
        self.job.snapshot(&self.gpu)
    }

    fn disturb(&mut self, at: (f64, f64)) -> Result<bool, Failure> {
        self.job.synchronize_others()?;
        let disturbed = self.job.disturb(&self.gpu, at)?;
        self.gpu.synchronize()?;
        Ok(disturbed)
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.once()?;
        self.job.output(&self.gpu)
    }
}

/// A kernel argument: a number, a plain struct, or a buffer, which is passed by address.
pub trait AsArg {
    /// The argument, borrowed until the launch has copied it.
    fn arg(&self) -> Arg<'_>;
}

impl<T: Plain> AsArg for T {
    fn arg(&self) -> Arg<'_> {
        Arg::new(self)
    }
}

impl<T: Plain> AsArg for DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        Arg::new(self.address())
    }
}

impl<T: Plain> AsArg for &DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        (**self).arg()
    }
}

impl<T: Plain> AsArg for &mut DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        (**self).arg()
    }
}

impl<'a, A: AsArg> From<&'a A> for Arg<'a> {
    fn from(value: &'a A) -> Arg<'a> {
        value.arg()
    }
}

/// The arguments of a launch.
macro_rules! args {
    ($($arg:expr),* $(,)?) => {
        &[$($crate::device::cuda::AsArg::arg(&$arg)),*]
    };
}

/// Defines a struct for kernels, of the given size in bytes: the same layout as in CUDA C++, without padding,
/// and valid for any bit pattern.
macro_rules! device_struct {
    ($(
        $(#[$meta:meta])*
        $vis:vis struct $name:ident: $bytes:literal { $( $(#[$of:meta])* $access:vis $field:ident: $ty:ty, )+ }
    )+) => { $(
        $(#[$meta])*
        #[derive(Clone, Copy)]
        #[repr(C)]
        $vis struct $name { $( $(#[$of])* $access $field: $ty, )+ }

        const _: () = assert!(size_of::<$name>() == $bytes && 0 $(+ size_of::<$ty>())+ == $bytes);

        // SAFETY: `#[repr(C)]` without padding, and all fields are plain, which is checked for each below.
        unsafe impl $crate::device::cuda::Plain for $name {}

        const _: fn() = || {
            fn plain<T: $crate::device::cuda::Plain>() {}
            $( plain::<$ty>(); )+
        };
    )+ };
}

/// Declares an existing `#[repr(C)]` struct, of the given size in bytes, to be passed to kernels as is.
macro_rules! plain_struct {
    ($name:ty: $bytes:literal) => {
        const _: () = assert!(size_of::<$name>() == $bytes);

        // SAFETY: `#[repr(C)]` like its counterpart in the kernels; plain numbers without padding.
        unsafe impl $crate::device::cuda::Plain for $name {}
    };
}

pub(crate) use {args, device_struct, plain_struct};

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(n: u64, fault: Option<Fault>) -> Vec<u64> {
        LaunchPlan::ranges(n, fault)
            .parts
            .iter()
            .flat_map(|part| part.first..part.first + part.count)
            .collect()
    }

    #[test]
    fn without_a_fault_each_element_is_handled_once() {
        for n in [0, 1, 2, 1000] {
            assert_eq!(handled(n, None), (0..n).collect::<Vec<_>>());
        }
        assert_eq!(LaunchPlan::prefix(5, None), LaunchPlan::whole(5));
    }

    #[test]
    fn each_fault_leaves_an_element_out_and_stays_inside() {
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            for n in [1, 2, 3, 1000] {
                let handled = handled(n, Some(fault));
                assert!(handled.iter().all(|&i| i < n));
                assert!((0..n).any(|i| !handled.contains(&i)), "{fault:?} of {n}");
            }
        }
        assert_eq!(
            LaunchPlan::ranges(5, Some(Fault::OffByOne)).parts,
            [LaunchPart { first: 0, count: 5, shift: 1 }]
        );
    }

    #[test]
    fn a_fault_of_a_prefix_leaves_an_element_out() {
        let counts =
            |n, fault| LaunchPlan::prefix(n, Some(fault)).parts.iter().map(|p| p.count).collect::<Vec<_>>();
        assert_eq!((counts(5, Fault::OffByOne), counts(5, Fault::MissingTail)), (vec![5], vec![4]));
        assert_eq!((counts(5, Fault::WrongChunk), counts(1, Fault::WrongChunk)), (vec![2, 2], vec![0, 0]));
        let skipped = |n| LaunchPlan::prefix(n, Some(Fault::SkippedStore)).skipped;
        assert_eq!((skipped(5), skipped(1), skipped(0)), (Some(2), Some(0), None));
    }
}
