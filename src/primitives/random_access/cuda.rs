//! random-access on a GPU (`kernels/random_access.cu`): one launch an execution, a block for
//! each tile of accesses; of a chain one thread.

use super::Spec;
use super::spec::{Kernel, Method};
use crate::case::{Cancel, Case, Failure, Fault, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Plain};
use crate::inputs::Scramble;
use crate::inputs::mix::key64;
use crate::primitives::cuda::finding::find;
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{
    BLOCK, Fill, Launched, Named, grid, launch_over, length, named, poison, refused,
};
use crate::primitives::range::{Range, ranges};

/// Accesses of a block, `BLOCK * UNROLL` in the kernels.
const TILE: u64 = 8 * BLOCK as u64;

/// `PARTIALS` in the kernels.
const PARTIALS: usize = 1024;

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Scramble {}

/// `Claim` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Claim {
    key: u64,
    elements: u64,
    accesses: u64,
    element: u32,
    /// 1 where elements hold the places of a chain.
    chained: u32,
    order: Scramble,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Claim {}

/// A case in place. The array has a guard element behind its last one, which the deliberately
/// wrong implementations may touch.
struct RandomAccess {
    gpu: Gpu,
    spec: Spec,
    timed: cuda::Kernel,
    check: cuda::Kernel,
    array: DeviceBuffer<u32>,
    partials: DeviceBuffer<u64>,
    /// What an execution launches.
    ranges: Vec<Range>,
    /// Elements by which the array is misplaced.
    shift: u64,
    /// Executions since the last clearing.
    executed: u64,
}

const MODULE: &str = "random_access";

/// Allocates and fills the array of a case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    gpu.require(spec.bytes() + spec.element)?;
    let module = gpu.module(MODULE)?;
    cancel.check()?;
    let mut array = gpu.alloc(length((spec.bytes() + spec.element) / 4)?)?;
    poison(gpu, &mut array)?;
    if spec.kernel == Kernel::Read {
        fill(gpu, &module, &spec, &array)?;
    }
    gpu.synchronize()?;
    Ok(Box::new(RandomAccess {
        gpu: gpu.clone(),
        timed: module.kernel(&timed_name(&spec))?,
        check: module.kernel(check_name(&spec))?,
        array,
        partials: gpu.upload(&[0; PARTIALS])?,
        ranges: ranges(spec.accesses, fault),
        shift: u64::from(fault == Some(Fault::OffByOne)),
        executed: 0,
        spec,
    }))
}

fn fill(gpu: &Gpu, module: &cuda::Module, spec: &Spec, array: &DeviceBuffer<u32>) -> Result<(), Failure> {
    if spec.method == Method::Chained {
        return fill_chain(gpu, module, spec, array);
    }
    if spec.element != 4 {
        let words = spec.elements() * spec.words();
        return Fill::new(module)?.words64(gpu, array.pointer(), spec.seed, words);
    }
    let (key, n) = (key64(spec.seed), spec.elements());
    launch_over(gpu, &module.kernel("random_fill_4")?, n, &[array.into(), (&key).into(), (&n).into()])
}

/// The guard is filled, too, so that a wrong chain does not leave the array.
fn fill_chain(
    gpu: &Gpu,
    module: &cuda::Module,
    spec: &Spec,
    array: &DeviceBuffer<u32>,
) -> Result<(), Failure> {
    let (order, element, n) = (spec.order(), spec.element as u32, spec.elements() + 1);
    let args = [array.into(), (&order).into(), (&element).into(), (&n).into()];
    launch_over(gpu, &module.kernel("random_fill_chain")?, n, &args)
}

/// The timed kernel's name in the PTX.
fn timed_name(spec: &Spec) -> String {
    let name = match (spec.kernel, spec.method) {
        (Kernel::Read, Method::Chained) => "chase",
        (Kernel::Read, Method::Direct) => "read",
        (Kernel::Write, _) => "write",
    };
    format!("random_{name}_{}", spec.element)
}

/// The name of the kernel that certifies.
fn check_name(spec: &Spec) -> &'static str {
    match spec.kernel {
        Kernel::Read => "random_expected_sum",
        Kernel::Write => "random_certify",
    }
}

/// The names of those that fill the array, the first of which does.
fn fill_names(spec: &Spec) -> &'static [&'static str] {
    match (spec.kernel, spec.method, spec.element) {
        (Kernel::Write, ..) => &[],
        (Kernel::Read, Method::Chained, _) => &["random_fill_chain"],
        (Kernel::Read, Method::Direct, 4) => &["random_fill_4"],
        (Kernel::Read, Method::Direct, _) => &Fill::KERNELS,
    }
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &Case) -> Result<Vec<Named>, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    let own = named(MODULE, [timed_name(&spec).as_str(), check_name(&spec)]);
    Ok([named(MODULE, fill_names(&spec).iter().copied()), own].concat())
}

/// What an execution of a case launches.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &Case) -> Result<Launched, Failure> {
    let spec = Spec::from_params(&case.params, case.seed).map_err(refused)?;
    Ok(Launched { kernel: timed_name(&spec), launches: 1 })
}

impl RandomAccess {
    /// Queues one execution.
    fn execute(&mut self) -> Result<(), Failure> {
        let begin = self.spec.begin(self.executed);
        self.executed += 1;
        let moved = |range: &Range| Range { first: begin + range.first, ..*range };
        self.ranges.iter().try_for_each(|range| self.execute_range(moved(range)))
    }

    fn execute_range(&self, range: Range) -> Result<(), Failure> {
        let array: DevicePtr<u32> = self.array.pointer_at(length(self.shift * self.spec.element / 4)?)?;
        let order = self.spec.order();
        let mut args = vec![(&array).into(), (&order).into(), (&range.first).into(), (&range.count).into()];
        if self.spec.kernel == Kernel::Read {
            args.push((&self.partials).into());
        }
        let (blocks, threads) = match self.spec.method {
            Method::Direct => (grid(range.count, TILE), BLOCK),
            Method::Chained => (1, 1),
        };
        self.gpu.launch(&self.timed, blocks, threads, 0, &args)
    }

    /// What is written becomes poison, what was read is forgotten.
    fn clear(&mut self) -> Result<(), Failure> {
        self.executed = 0;
        self.gpu.memset32(&mut self.partials, 0)?;
        match self.spec.kernel {
            Kernel::Read => Ok(()),
            Kernel::Write => poison(&self.gpu, &mut self.array),
        }
    }

    /// What the executions since the last clearing have read.
    fn sum(&self) -> Result<u64, Failure> {
        Ok(self.partials.to_host()?.into_iter().fold(0, u64::wrapping_add))
    }

    fn claim(&self) -> Claim {
        Claim {
            key: key64(self.spec.seed),
            elements: self.spec.elements(),
            accesses: self.spec.accesses,
            element: self.spec.element as u32,
            chained: u32::from(self.spec.method == Method::Chained),
            order: self.spec.order(),
        }
    }

    fn judge(&self) -> Result<Option<String>, Failure> {
        let (claim, n) = (self.claim(), self.spec.elements());
        let finding = find(&self.gpu, |report| match self.spec.kernel {
            Kernel::Read => launch_over(&self.gpu, &self.check, n, &[(&claim).into(), report.into()]),
            Kernel::Write => {
                let args = [(&self.array).into(), (&claim).into(), report.into()];
                launch_over(&self.gpu, &self.check, n, &args)
            }
        })?;
        if finding.checked != n {
            return Ok(Some(format!("{} of {n} elements were checked", finding.checked)));
        }
        if self.spec.kernel == Kernel::Write {
            return Ok(finding.mistake("a"));
        }
        let found = self.sum()?;
        Ok((found != finding.sum).then(|| format!("the sum is {found:#x}, not {:#x}", finding.sum)))
    }
}

impl Prepared for RandomAccess {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.clear()?;
        self.execute()?;
        cancel.check()?;
        Ok(match self.judge()? {
            Some(mistake) => Verdict::Wrong { mistake },
            None => Verdict::Certified { checked: self.spec.accesses },
        })
    }

    fn memory(&self) -> u64 {
        self.array.bytes() + self.partials.bytes()
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.clear()?;
        self.execute()?;
        if self.spec.kernel == Kernel::Read {
            return Ok(self.sum()?.to_le_bytes().to_vec());
        }
        let words = self.array.range_to_host(0..length(self.spec.bytes() / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}
