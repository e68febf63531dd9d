//! The methods of scans, each in a file that states what it does, its passes over memory and its code for each device.

pub mod one_pass;
pub mod sengupta2007;
mod two_pass;

use super::Spec;
use super::segments::Heads;
use crate::case::table::{choice, count};
use crate::case::{Access, Pass};
use crate::primitives::Costs;

choice! {
    /// How it is computed. The look-back is decoupled (Merrill and Garland 2016).
    #[derive(Eq)]
    pub enum Method {
        /// ours: lookback on CPUs, and on GPUs up to 2^24 bytes of elements; above, spine
        Best = "best",
        /// GPUs, single pass over memory: one block (the spine) scans the tile sums while every other block waits for a
        /// single word from it
        Spine = "spine",
        /// single pass over memory: each tile obtains the prefix of the tiles before it, on GPUs by decoupled look-back
        Lookback = "lookback",
        /// CPUs: every thread reduces its part, then scans it, starting from the sum of the parts before it
        TwoPass = "two-pass",
        /// GPUs: reduce and down-sweep in blocks of 128 threads, level by level (sengupta2007 Algorithms 1 to 5)
        Sengupta2007 = "sengupta2007" {
            /// 2 for the scan of Fig. 5, 8 for its fast scan
            elements_per_thread as "elements-per-thread": u64 [count(2, 8)] = "2",
        },
    }
}

/// The method that `best` stands for. On an H200, look-back over 820 tiles took 0.78 to 0.85 times as long as a spine, over
/// 2000 tiles 1.1 to 1.2 times.
pub fn best(spec: &Spec) -> Method {
    if spec.backend.is_cuda() && spec.bytes() > 1 << 24 { Method::Spine } else { Method::Lookback }
}

/// The costs of a case by its method, behind those of converting the heads into the form that the method reads.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let costs = match spec.method {
        Method::Best | Method::Spine | Method::Lookback => one_pass::costs(spec),
        Method::TwoPass => two_pass::costs(spec),
        Method::Sengupta2007 { .. } => sengupta2007::costs(spec),
    };
    costs.after(converted(spec))
}

/// True if executions on a GPU make bits of the heads: one-pass kernels read nothing else, and the paper's kernels read
/// flags of any form.
pub fn makes_bits(spec: &Spec) -> bool {
    match spec.heads() {
        Some(Heads::Lengths | Heads::Pointers) => true,
        Some(Heads::Bytes | Heads::Striped) => !matches!(spec.method, Method::Sengupta2007 { .. }),
        Some(Heads::Bits) | None => false,
    }
}

/// The passes that convert the heads. Segments given by their lengths begin at the sums of those lengths, which are read
/// once for the sums, and noted or read again. On GPUs, lengths and pointers set heads one by one in bits that are first
/// cleared.
fn converted(spec: &Spec) -> Vec<Pass> {
    let is = |form: Heads| spec.heads() == Some(form);
    let starts = is(Heads::Lengths).then(|| Pass::once(heads(spec)).times(2));
    let (entry, entries) = Heads::Bits.entries(spec.elements, 0);
    let bits = Access::writes("bits", entry, entries);
    let makes_bits = spec.backend.is_cuda() && makes_bits(spec);
    let cleared = makes_bits && (is(Heads::Lengths) || is(Heads::Pointers));
    let cleared = cleared.then(|| Pass::once([bits.clone()]));
    let made = makes_bits.then(|| Pass::once(heads(spec)).and([bits]));
    starts.into_iter().chain(cleared).chain(made).collect()
}

/// The heads of a segmented scan, read once.
fn heads(spec: &Spec) -> Option<Access> {
    let (entry, entries) = spec.head_entries();
    spec.segmented().then(|| Access::reads("heads", entry, entries))
}

/// A pass that reads all elements and the heads, and writes the result.
fn scanned(spec: &Spec) -> Pass {
    let (element, n) = (spec.element(), spec.elements);
    Pass::once([Access::reads("in", element, n)]).and(heads(spec)).and([Access::writes("out", element, n)])
}

/// The methods on processors.
pub mod cpu {
    use super::{Method, one_pass, two_pass};
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::of_gpus;
    use crate::primitives::scan::Spec;
    use crate::primitives::scan::cpu::Scan;

    /// The method of a case for so many workers.
    ///
    /// # Errors
    /// A method of GPUs.
    pub fn method(spec: &Spec, workers: usize) -> Result<PoolMethod<Scan>, Failure> {
        match spec.method {
            Method::Best | Method::Lookback => Ok(one_pass::cpu::method(workers)),
            Method::TwoPass => Ok(two_pass::cpu::method(workers)),
            Method::Spine | Method::Sengupta2007 { .. } => Err(of_gpus()),
        }
    }
}

/// The methods on GPUs.
pub mod cuda {
    use super::{Method, one_pass, sengupta2007};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::of_cpus;
    use crate::primitives::scan::Spec;
    use crate::primitives::scan::cuda::one_pass::Launch;

    /// The kernels that an execution launches.
    ///
    /// # Errors
    /// A method of CPUs.
    pub fn kernels(spec: &Spec) -> Result<KernelList, Failure> {
        match spec.method {
            Method::Best | Method::Spine | Method::Lookback => Ok(one_pass::cuda::kernels(spec)),
            Method::Sengupta2007 { .. } => Ok(sengupta2007::cuda::kernels(spec)),
            Method::TwoPass => Err(of_cpus()),
        }
    }

    /// The method of a case.
    ///
    /// # Errors
    /// Those of the driver, missing memory, and a method of CPUs.
    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<GpuMethod<Launch>, Failure> {
        match spec.method {
            Method::Best | Method::Spine | Method::Lookback => one_pass::cuda::method(gpu, spec),
            Method::Sengupta2007 { .. } => sengupta2007::cuda::method(gpu, spec),
            Method::TwoPass => Err(of_cpus()),
        }
    }
}
