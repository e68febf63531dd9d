//! random-access on a GPU (`kernels/random_access.cu`): one launch per execution, with one block per tile of
//! accesses; a chain has a single thread.

use super::Spec;
use super::spec::{Kernel, Method};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    self, DeviceBuffer, Gpu, GpuFacts, GpuJob, GpuSetup, KernelName, LaunchPart, LaunchPlan, Launched,
    Module, args, device_struct, kernel_names, poison,
};
use crate::inputs::Scramble;
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, Fill, grid, launch_over, length};

/// Accesses per block, `BLOCK * UNROLL` in the kernels.
const TILE: u64 = 8 * BLOCK as u64;

/// `PARTIALS` in the kernels.
const PARTIALS: usize = 1024;

device_struct! {
    /// `Claim` in the kernels.
    struct Claim: 56 {
        key: u64,
        elements: u64,
        accesses: u64,
        element: u32,
        /// 1 if elements hold the places of a chain.
        chained: u32,
        order: Scramble,
    }
}

/// A prepared case. The array has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct RandomAccess {
    spec: Spec,
    timed: cuda::Kernel,
    check: cuda::Kernel,
    array: DeviceBuffer<u32>,
    partials: DeviceBuffer<u64>,
    /// Executions since the last clearing, and the access at which the present one begins.
    executed: u64,
    begin: u64,
}

const MODULE: &str = "random_access";

fn fill(gpu: &Gpu, module: &Module, spec: &Spec, array: &DeviceBuffer<u32>) -> Result<(), Failure> {
    let (n, element) = (spec.elements(), spec.element as u32);
    match (spec.method, spec.element) {
        // The guard is filled, too, so that a wrong chain does not leave the array.
        (Method::Chained, _) => {
            let (kernel, n) = (module.kernel("random_fill_chain")?, n + 1);
            launch_over(gpu, &kernel, n, args![array, spec.order(), element, n])
        }
        (Method::Direct, 4) => {
            launch_over(gpu, &module.kernel("random_fill_4")?, n, args![array, key64(spec.seed), n])
        }
        (Method::Direct, _) => Fill::new(module)?.words64(gpu, array.pointer(), spec.seed, n * spec.words()),
    }
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

/// The names of the kernels that fill the array; only the first is used for that.
fn fill_names(spec: &Spec) -> &'static [&'static str] {
    match (spec.kernel, spec.method, spec.element) {
        (Kernel::Write, ..) => &[],
        (Kernel::Read, Method::Chained, _) => &["random_fill_chain"],
        (Kernel::Read, Method::Direct, 4) => &["random_fill_4"],
        (Kernel::Read, Method::Direct, _) => &Fill::KERNELS,
    }
}

impl GpuJob for RandomAccess {
    type Case = Spec;

    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        Ok(Launched { kernel: timed_name(spec), launches: 1 })
    }

    fn kernels(spec: &Spec, _gpu: &GpuFacts) -> Result<Vec<KernelName>, Failure> {
        let own = kernel_names(MODULE, [timed_name(spec).as_str(), check_name(spec)]);
        Ok([kernel_names(MODULE, fill_names(spec).iter().copied()), own].concat())
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        spec.footprint + spec.element
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.accesses, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<RandomAccess, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let mut array = gpu.alloc(length((spec.footprint + spec.element) / 4)?)?;
        poison(gpu, &mut array)?;
        if spec.kernel == Kernel::Read {
            fill(gpu, &module, &spec, &array)?;
        }
        Ok(RandomAccess {
            timed: module.kernel(&timed_name(&spec))?,
            check: module.kernel(check_name(&spec))?,
            array,
            partials: gpu.upload(&[0; PARTIALS])?,
            executed: 0,
            begin: 0,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.executed = 0;
        gpu.memset32(&mut self.partials, 0)?;
        match self.spec.kernel {
            Kernel::Read => Ok(()),
            Kernel::Write => poison(gpu, &mut self.array),
        }
    }

    /// An execution continues where the previous one ended.
    fn begin(&mut self, _gpu: &Gpu) -> Result<(), Failure> {
        self.begin = self.spec.begin(self.executed);
        self.executed += 1;
        Ok(())
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let array = self.array.pointer_at(length(part.shift * self.spec.element / 4)?)?;
        let (order, first, count) = (self.spec.order(), self.begin + part.first, part.count);
        let args = args![array, order, first, count, self.partials];
        let args = if self.spec.kernel == Kernel::Read { &args[..] } else { &args[..4] };
        let (blocks, threads) = match self.spec.method {
            Method::Direct => (grid(count, TILE), BLOCK),
            Method::Chained => (1, 1),
        };
        gpu.launch(&self.timed, blocks, threads, 0, args)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (claim, n) = (self.claim(), self.spec.elements());
        let finding = find(gpu, |report| {
            let args = args![self.array, claim, report];
            let args = if self.spec.kernel == Kernel::Read { &args[1..] } else { &args[..] };
            launch_over(gpu, &self.check, n, args)
        })?;
        let found = if self.spec.kernel == Kernel::Read { self.sum()? } else { finding.sum };
        let sum = || (found != finding.sum).then(|| format!("the sum is {found:#x}, not {:#x}", finding.sum));
        let mistake = finding.unchecked(n, "elements").or_else(|| finding.mistake("a")).or_else(sum);
        Ok(Verdict::of(mistake, self.spec.accesses))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        if self.spec.kernel == Kernel::Read {
            return Ok(self.sum()?.to_le_bytes().to_vec());
        }
        let words = self.array.range_to_host(0..length(self.spec.footprint / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn memory(&self) -> u64 {
        self.array.bytes() + self.partials.bytes()
    }
}

impl RandomAccess {
    /// The sum of all reads since the last clearing.
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
}
