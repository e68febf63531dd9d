//! Cases on a GPU: a primitive supplies a [`GpuJob`], which becomes a [`Prepared`].
//!
//! A primitive allocates its arrays, queues executions, and checks their output. The harness times executions,
//! poisons, certifies, reads back, counts memory, and injects faults.

use super::{Arg, ComputeCapability, DeviceBuffer, DevicePtr, Gpu, KernelList, Plain};
use crate::case::{Cancel, Failure, Fault, HostMemory, Snapshot, Transfer, Value, Verdict};
use crate::device::held::held_by;
use crate::device::{Prepared, Stored};

/// Both 32-bit halves of the poison word (`kernels/common/certify.cuh`).
pub const POISON32: u32 = 0xDEAD_BEEF;

/// Poisons a whole buffer.
///
/// # Errors
/// Errors reported by the driver.
pub fn poison<T: Plain>(gpu: &Gpu, buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
    gpu.memset32(buffer, POISON32)
}

/// The address of an array that a kernel may do without: null if there is none.
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
}

/// Elements [first, first + count) processed by one launch, of arrays whose base is off by `shift` elements.
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

    /// For executions that can start at any element. A fault of elements omits at least one;
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
            // Faults of whole samples and rounds leave out no element.
            Some(_) => vec![part(0, n)],
        };
        parts.retain(|part| part.count > 0);
        LaunchPlan { parts, skipped: None }
    }

    /// For executions that must start at the first element. A fault omits the last element, or the worker of
    /// the second half processes the first half.
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

/// An array of any type in a GPU's memory, as what an execution writes.
trait Written {
    fn poison(&mut self, gpu: &Gpu) -> Result<(), Failure>;
    /// Poisons element `at`, where elements have `bytes` bytes.
    fn poison_element(&mut self, gpu: &Gpu, at: u64, bytes: u64) -> Result<(), Failure>;
    /// The first bytes.
    fn read(&self, bytes: u64) -> Result<Vec<u8>, Failure>;
}

impl<T: Plain> Written for DeviceBuffer<T> {
    fn poison(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, self)
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
}

/// An array that an execution writes.
pub struct OutputArray<'a> {
    array: &'a mut dyn Written,
    /// Bytes of an element.
    element: u64,
    /// Bytes that belong to the output.
    bytes: u64,
    /// True of the array in which a fault takes a store back, if that is not the first one.
    loses_stores: bool,
}

impl<'a> OutputArray<'a> {
    /// The whole array, of elements of so many bytes, which may be several of its type.
    pub fn new<T: Plain>(array: &'a mut DeviceBuffer<T>, element: u64) -> OutputArray<'a> {
        OutputArray { bytes: array.bytes(), array, element, loses_stores: false }
    }

    /// Its first `count` elements; the others are poisoned only.
    pub fn first(self, count: u64) -> OutputArray<'a> {
        OutputArray { bytes: self.element * count, ..self }
    }

    /// The array in which a fault takes a store back, instead of the first.
    pub fn losing_stores(self) -> OutputArray<'a> {
        OutputArray { loses_stores: true, ..self }
    }
}

/// A primitive's case with its arrays allocated on a GPU.
pub trait GpuJob: Sized + Send + 'static {
    /// The typed case.
    type Case;

    /// Whether the arrays may span several GPUs.
    const SPANS: bool = false;

    /// The kernels of a case on a GPU of this generation. Pure: they are compiled ahead of time, and profilers are told of
    /// them without a GPU.
    ///
    /// # Errors
    /// When the case does not exist on GPUs.
    fn kernels(case: &Self::Case, capability: ComputeCapability) -> Result<KernelList, Failure>;

    /// Keys that a GPU ranks in a second, by one digit each, where nothing else of the case's method takes time
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

    /// The arrays that an execution writes, in the order in which the oracle reads them; a fault that takes a store back
    /// does so in the first, unless another is [`losing_stores`](OutputArray::losing_stores). A case with other results
    /// clears and returns them itself; then only that one matters.
    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        Vec::new()
    }

    /// Poisons the output of an execution and resets accumulated results.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.outputs().into_iter().try_for_each(|output| output.array.poison(gpu))
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

    /// Waits for the last execution on the GPUs other than the first, which the first one's stream does not
    /// order.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn synchronize_others(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Lets the next execution begin where the first one began, if each continues where the last one ended.
    fn rewind(&mut self) {}

    /// Proves what an output cannot show, by executions of its own: the first mistake, if there is one.
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

    /// The whole output of the last execution.
    ///
    /// # Errors
    /// Errors reported by the driver.
    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        let read = self.outputs().into_iter().map(|output| output.array.read(output.bytes));
        Ok(read.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Values chosen for open parameters on this GPU, and what the last execution has found out beside its output.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Bytes of the inputs and of the results in a transfer, of which the case declares these.
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

/// A method of a primitive on a GPU: queues one execution on the case's arrays, with the kernels that the method has loaded
/// and the arrays that it has beside them. Returns the errors of the driver.
pub type GpuMethod<Arrays> = Box<dyn FnMut(&Gpu, &Arrays) -> Result<(), Failure> + Send>;

/// Poisons an output element again.
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
    /// Whether samples were taken.
    sampled: bool,
    fault: Option<Fault>,
    /// Whether the outputs were poisoned at least once, for a sample that is judged.
    cleared: bool,
    /// Whether the arrays span several GPUs.
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
    /// Executes once for the result.
    fn once(&mut self) -> Result<(), Failure> {
        self.job.rewind();
        self.job.clear(&self.gpu)?;
        if self.fault != Some(Fault::StaleResult) {
            self.job.execute(&self.gpu, &self.plan)?;
        }
        self.job.synchronize_others()
    }
}

impl<J: GpuJob> Prepared for OnGpu<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.sampled = true;
        if self.cleared && self.fault == Some(Fault::LastSample) {
            return self.gpu.timed(&mut || Ok(()));
        }
        self.job.time(&self.gpu, &self.plan, batch)
    }

    /// Waits, so that no sample begins before the poison is there, on whichever GPU it runs.
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

    fn memory(&self) -> u64 {
        self.memory
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.iter().cloned().chain(self.job.resolved()).collect()
    }

    /// Needs memory besides the case's; without it there is no transfer. Arrays that span several GPUs have none.
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
