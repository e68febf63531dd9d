//! A case on a GPU: what a primitive supplies, and [`Prepared`] made of it.
//!
//! A primitive makes its arrays, queues an execution, and judges what one has left. The harness times executions,
//! poisons, certifies, reads back, counts memory, and makes the deliberate mistakes.

use super::{Arg, DeviceBuffer, Gpu, GpuFacts, Plain};
use crate::case::{Cancel, Failure, Fault, Value, Verdict};
use crate::device::{Prepared, Stored};

/// Both halves of the poison word (`certify.cuh`).
pub const POISON32: u32 = 0xDEAD_BEEF;

/// Poisons a whole buffer.
///
/// # Errors
/// What the driver reports.
pub fn poison<T: Plain>(gpu: &Gpu, buffer: &mut DeviceBuffer<T>) -> Result<(), Failure> {
    gpu.memset32(buffer, POISON32)
}

/// What one execution of a case launches, timed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The kernel's name in the PTX, which profilers show.
    pub kernel: String,
    pub launches: u64,
}

/// A kernel: its module, and its name in the PTX.
pub type Named = (&'static str, String);

/// Kernels of a module by their names.
pub fn named(module: &'static str, names: impl IntoIterator<Item = impl Into<String>>) -> Vec<Named> {
    names.into_iter().map(|name| (module, name.into())).collect()
}

/// What a case is prepared with.
pub struct Setup<'a> {
    pub gpu: &'a Gpu,
    /// The other GPUs that its arrays span.
    pub others: &'a [Gpu],
    /// The deliberate mistake that is asked for.
    pub fault: Option<Fault>,
    pub cancel: &'a Cancel,
    /// The index array with a hash.
    pub stored: Stored<'a>,
}

/// Elements [first, first + count) that one launch handles, of arrays that lie `shift` elements beside where they
/// should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub first: u64,
    pub count: u64,
    pub shift: u64,
}

/// The parts of an execution, one after another, and what is undone after them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    pub parts: Vec<Part>,
    /// The element of the output that becomes poison again, as if it had not been stored.
    pub skipped: Option<u64>,
}

impl Plan {
    /// All of `n` elements.
    pub fn whole(n: u64) -> Plan {
        Plan { parts: vec![Part { first: 0, count: n, shift: 0 }], skipped: None }
    }

    /// For executions that may begin anywhere. A fault leaves at least one element out; [`Fault::OffByOne`]
    /// misplaces an array.
    pub fn ranges(n: u64, fault: Option<Fault>) -> Plan {
        let part = |first, count| Part { first, count, shift: u64::from(fault == Some(Fault::OffByOne)) };
        let half = part(0, n / 2);
        let mut parts = match fault {
            None | Some(Fault::OffByOne) => vec![part(0, n)],
            Some(Fault::MissingTail) => vec![part(0, n.saturating_sub(1))],
            // The second half's worker works on the first half.
            Some(Fault::WrongChunk) => vec![half, half],
            Some(Fault::SkippedStore) => vec![half, part(n / 2 + 1, n.saturating_sub(n / 2 + 1))],
        };
        parts.retain(|part| part.count > 0);
        Plan { parts, skipped: None }
    }

    /// For executions that begin with the first element, whatever they come to: with a fault the last one is left
    /// out, or the second half's worker works on the first half.
    pub fn prefix(n: u64, fault: Option<Fault>) -> Plan {
        let counts = match fault {
            Some(Fault::MissingTail) => vec![n.saturating_sub(1)],
            Some(Fault::WrongChunk) => vec![n / 2; 2],
            _ => vec![n],
        };
        let shift = u64::from(fault == Some(Fault::OffByOne));
        let parts = counts.into_iter().map(|count| Part { first: 0, count, shift }).collect();
        Plan { parts, skipped: (fault == Some(Fault::SkippedStore) && n > 0).then_some(n / 2) }
    }
}

/// A primitive's case with its arrays in place on a GPU.
pub trait GpuJob: Sized + Send + 'static {
    /// The case, typed.
    type Case;

    /// Whether its arrays may span several GPUs.
    const SPANS: bool = false;

    /// What an execution launches. Pure: for profilers.
    ///
    /// # Errors
    /// A case that GPUs do not have.
    fn launched(case: &Self::Case) -> Result<Launched, Failure>;

    /// The kernels that a case asks for on such a GPU: those that make its inputs, those that are timed, and those
    /// that certify. Pure: they are compiled ahead of need.
    ///
    /// # Errors
    /// A case that GPUs do not have.
    fn kernels(case: &Self::Case, gpu: &GpuFacts) -> Result<Vec<Named>, Failure>;

    /// Bytes that the case holds on its GPU at its peak, of `gpus` that its arrays span on the first.
    fn needed(case: &Self::Case, gpus: u64) -> u64;

    /// What an execution does, and what a fault makes of it.
    fn plan(case: &Self::Case, fault: Option<Fault>) -> Plan;

    /// Allocates and generates the arrays; there is room for them.
    ///
    /// # Errors
    /// `NotApplicable` where this GPU cannot have it; what the driver reports.
    fn prepare(case: Self::Case, setup: &Setup) -> Result<Self, Failure>;

    /// Poisons what an execution writes, and forgets what executions have added up.
    ///
    /// # Errors
    /// What the driver reports.
    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure>;

    /// Queues what an execution begins with.
    ///
    /// # Errors
    /// What the driver reports.
    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    /// Queues a part of an execution.
    ///
    /// # Errors
    /// What the driver reports.
    fn enqueue(&mut self, gpu: &Gpu, part: Part) -> Result<(), Failure>;

    /// Queues what an execution ends with.
    ///
    /// # Errors
    /// What the driver reports.
    fn end(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }

    /// Waits until the last execution is done on GPUs beside the first, whose stream does not order them.
    ///
    /// # Errors
    /// What the driver reports.
    fn synchronize_others(&mut self) -> Result<(), Failure> {
        Ok(())
    }

    /// Judges what the last execution has left, on the GPU; who needs more executes it again.
    ///
    /// # Errors
    /// What the driver reports.
    fn judge(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Verdict, Failure>;

    /// The whole output of the last execution.
    ///
    /// # Errors
    /// What the driver reports.
    fn output(&mut self, gpu: &Gpu) -> Result<Vec<u8>, Failure>;

    /// The words in which elements of the output lie, and how many of them an element has: for a mistake that
    /// takes one of them back.
    fn written(&mut self) -> Option<(&mut DeviceBuffer<u32>, u64)> {
        None
    }

    /// Bytes that it holds.
    fn memory(&self) -> u64;

    /// What open parameters became on this GPU.
    fn resolved(&self) -> Vec<(String, Value)> {
        Vec::new()
    }

    /// Queues an execution.
    ///
    /// # Errors
    /// What the driver reports.
    fn execute(&mut self, gpu: &Gpu, plan: &Plan) -> Result<(), Failure> {
        self.begin(gpu)?;
        plan.parts.iter().try_for_each(|part| self.enqueue(gpu, *part))?;
        self.end(gpu)?;
        plan.skipped.map_or(Ok(()), |at| take_back(self, gpu, at))
    }

    /// Seconds of `batch` executions.
    ///
    /// # Errors
    /// What the driver reports.
    fn time(&mut self, gpu: &Gpu, plan: &Plan, batch: u32) -> Result<f64, Failure> {
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute(gpu, plan)))
    }

    /// What is done once a case that was timed is certified.
    ///
    /// # Errors
    /// What the driver reports.
    fn certified(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        Ok(())
    }
}

/// Makes an element of the output poison again.
fn take_back<J: GpuJob>(job: &mut J, gpu: &Gpu, at: u64) -> Result<(), Failure> {
    let none = || Failure::Failed("no element of the output can be taken back".to_owned());
    let (output, words) = job.written().ok_or_else(none)?;
    let kept = gpu.upload(&vec![POISON32; words as usize])?;
    gpu.copy(&kept, 0..kept.len(), output, (at * words) as usize)
}

/// A case as one GPU has it, which the GPU's own thread may execute.
pub type OneGpu = Box<dyn Prepared + Send>;

/// A [`GpuJob`] with its GPU.
struct OnGpu<J> {
    gpu: Gpu,
    job: J,
    plan: Plan,
    /// What open parameters of the primitive became.
    resolved: Vec<(String, Value)>,
    /// Whether there are samples.
    sampled: bool,
}

/// Puts a case in place on a GPU; `resolved` is what its open parameters became already.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn on_gpu<J: GpuJob>(
    case: J::Case,
    resolved: Vec<(String, Value)>,
    setup: &Setup,
) -> Result<OneGpu, Failure> {
    setup.gpu.require(J::needed(&case, setup.others.len() as u64 + 1))?;
    setup.cancel.check()?;
    let (gpu, plan) = (setup.gpu.clone(), J::plan(&case, setup.fault));
    let job = J::prepare(case, setup)?;
    gpu.synchronize()?;
    Ok(Box::new(OnGpu { gpu, job, plan, resolved, sampled: false }))
}

impl<J: GpuJob> OnGpu<J> {
    /// One execution for its result.
    fn once(&mut self) -> Result<(), Failure> {
        self.job.clear(&self.gpu)?;
        self.job.execute(&self.gpu, &self.plan)?;
        self.job.synchronize_others()
    }
}

impl<J: GpuJob> Prepared for OnGpu<J> {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        self.sampled = true;
        self.job.time(&self.gpu, &self.plan, batch)
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.once()?;
        cancel.check()?;
        let verdict = self.job.judge(&self.gpu, cancel)?;
        if self.sampled && matches!(verdict, Verdict::Certified { .. }) {
            self.job.certified(&self.gpu)?;
        }
        Ok(verdict)
    }

    fn memory(&self) -> u64 {
        self.job.memory()
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        self.resolved.iter().cloned().chain(self.job.resolved()).collect()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.once()?;
        self.job.output(&self.gpu)
    }
}

/// What a kernel takes: a number, a plain struct, or a buffer, whose address it gets.
pub trait AsArg {
    /// It, borrowed until the launch has copied it.
    fn arg(&self) -> Arg<'_>;
}

impl<T: Plain> AsArg for T {
    fn arg(&self) -> Arg<'_> {
        self.into()
    }
}

impl<T: Plain> AsArg for DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        self.into()
    }
}

impl<T: Plain> AsArg for &DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        (&**self).into()
    }
}

impl<T: Plain> AsArg for &mut DeviceBuffer<T> {
    fn arg(&self) -> Arg<'_> {
        (&**self).into()
    }
}

/// The arguments of a launch.
macro_rules! args {
    ($($arg:expr),* $(,)?) => {
        &[$($crate::device::cuda::AsArg::arg(&$arg)),*]
    };
}

/// A struct that kernels take, of so many bytes: what it is in CUDA C++, without gaps, whatever its bits.
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

        // SAFETY: `#[repr(C)]` without gaps, of fields that are plain themselves (which is asked of each below).
        unsafe impl $crate::device::cuda::Plain for $name {}

        const _: fn() = || {
            fn plain<T: $crate::device::cuda::Plain>() {}
            $( plain::<$ty>(); )+
        };
    )+ };
}

/// A pure struct, `#[repr(C)]`, that kernels take as it is, of so many bytes.
macro_rules! plain_struct {
    ($name:ty: $bytes:literal) => {
        const _: () = assert!(size_of::<$name>() == $bytes);

        // SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers without gaps.
        unsafe impl $crate::device::cuda::Plain for $name {}
    };
}

pub(crate) use {args, device_struct, plain_struct};

#[cfg(test)]
mod tests {
    use super::*;

    fn handled(n: u64, fault: Option<Fault>) -> Vec<u64> {
        Plan::ranges(n, fault).parts.iter().flat_map(|part| part.first..part.first + part.count).collect()
    }

    #[test]
    fn without_a_fault_each_element_is_handled_once() {
        for n in [0, 1, 2, 1000] {
            assert_eq!(handled(n, None), (0..n).collect::<Vec<_>>());
        }
        assert_eq!(Plan::prefix(5, None), Plan::whole(5));
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
        assert_eq!(Plan::ranges(5, Some(Fault::OffByOne)).parts, [Part { first: 0, count: 5, shift: 1 }]);
    }

    #[test]
    fn a_fault_of_a_prefix_leaves_an_element_out() {
        let counts =
            |n, fault| Plan::prefix(n, Some(fault)).parts.iter().map(|p| p.count).collect::<Vec<_>>();
        assert_eq!((counts(5, Fault::OffByOne), counts(5, Fault::MissingTail)), (vec![5], vec![4]));
        assert_eq!((counts(5, Fault::WrongChunk), counts(1, Fault::WrongChunk)), (vec![2, 2], vec![0, 0]));
        let skipped = |n| Plan::prefix(n, Some(Fault::SkippedStore)).skipped;
        assert_eq!((skipped(5), skipped(1), skipped(0)), (Some(2), Some(0), None));
    }
}
