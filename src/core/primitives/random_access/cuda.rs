//! random-access on a GPU (`kernels/random_access/random_access.cu`): one launch per execution, with one block per tile of
//! accesses; a chain has a single thread.

use super::{Kernel, Method, Spec};
use crate::device::cuda::{self, poison};
use crate::inputs::Scramble;
use crate::inputs::mix::key64;
use crate::primitives::Range;
use crate::primitives::cuda::Fill;
use crate::primitives::cuda::prelude::*;

/// Accesses per block, `BLOCK * UNROLL` in the kernels.
const TILE: u64 = 8 * BLOCK as u64;

/// `PARTIALS` in the kernels.
const PARTIALS: usize = 1024;

device_struct! {
    /// `Claim` in the kernels.
    struct Claim: 64 {
        key: u64,
        elements: u64,
        accesses: u64,
        first: u64,
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
    /// What the partial sums must be; `None` for kernels that have only one, or none.
    expected: Option<(cuda::Kernel, DeviceBuffer<u64>)>,
    array: DeviceBuffer<u32>,
    partials: DeviceBuffer<u64>,
    /// Executions so far, how many there were at the last clearing, and the access at which the present one
    /// begins.
    executed: u64,
    cleared: u64,
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

/// Executions whose partial sums are computed one by one; those of more are only added up.
const COMPARED: u64 = 64;

/// The kernels that certify: the second, if there is one, computes partial sums.
fn check_names(spec: &Spec) -> &'static [&'static str] {
    match (spec.kernel, spec.method) {
        (Kernel::Read, Method::Direct) => &["random_expected_sum", "random_expected_partials"],
        (Kernel::Read, Method::Chained) => &["random_expected_sum"],
        (Kernel::Write, _) => &["random_certify"],
    }
}

/// The chain through the elements in sequence, and its guard: a deliberately wrong order.
fn in_sequence(spec: &Spec) -> Vec<u32> {
    let mask = spec.elements() - 1;
    let words = (0..=spec.elements()).flat_map(|j| {
        let next = (j + 1) & mask;
        [next as u32, (next >> 32) as u32, 0, 0].into_iter().take(spec.element as usize / 4)
    });
    words.collect()
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

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let timed = KernelList::default().timed(MODULE, timed_name(spec), 1);
        Ok(timed.untimed(MODULE, [fill_names(spec), check_names(spec)].concat()))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.accesses, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<RandomAccess, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let mut array = array(gpu, (spec.footprint + spec.element) / 4)?;
        poison(gpu, &mut array)?;
        if spec.kernel == Kernel::Read {
            fill(gpu, &module, &spec, &array)?;
        }
        let wrong = setup.fault == Some(Fault::SequentialOrder);
        let timed = match spec.method {
            Method::Direct if wrong => format!("{}_in_sequence", timed_name(&spec)),
            _ => timed_name(&spec),
        };
        if wrong && spec.method == Method::Chained {
            array = gpu.upload(&in_sequence(&spec))?;
        }
        let checks = check_names(&spec);
        let expected = |name: &&str| Ok::<_, Failure>((module.kernel(name)?, gpu.upload(&[0; PARTIALS])?));
        Ok(RandomAccess {
            timed: module.kernel(&timed)?,
            check: module.kernel(checks[0])?,
            expected: checks.get(1).map(expected).transpose()?,
            array,
            partials: gpu.upload(&[0; PARTIALS])?,
            executed: 0,
            cleared: 0,
            begin: 0,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.cleared = self.executed;
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

    fn rewind(&mut self) {
        self.executed = 0;
    }

    /// Executes some ranges of visits alone, by the timed kernel: what they read or leave shows which elements
    /// they went to. The partial sums of a whole execution tell tiles apart, but not the visits of a tile.
    fn prove(&mut self, gpu: &Gpu, cancel: &Cancel) -> Result<Option<String>, Failure> {
        for Range { first, count } in self.spec.probes() {
            cancel.check()?;
            self.clear(gpu)?;
            self.begin = 0;
            self.enqueue(gpu, LaunchPart { first, count, shift: 0 })?;
            // The sum of a range needs no more than its own elements, of which there is a power of two.
            let elements = if self.spec.kernel == Kernel::Read { count } else { self.spec.elements() };
            let claim = Claim { accesses: count, elements, ..self.claim(first) };
            if let Some(mistake) = self.mistake(gpu, claim)? {
                return Ok(Some(format!("visits {first} to {}: {mistake}", first + count - 1)));
            }
        }
        Ok(None)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let executions = (self.executed - self.cleared).max(1);
        let claim = self.claim(self.spec.begin(self.cleared));
        let claim = Claim { accesses: self.spec.accesses.saturating_mul(executions), ..claim };
        let mistake = match self.mistake(gpu, claim)? {
            None if executions <= COMPARED => self.wrong_partial(gpu, executions)?,
            mistake => mistake,
        };
        Ok(Verdict::of(mistake, self.spec.accesses))
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        match self.spec.kernel {
            Kernel::Read => vec![OutputArray::new(&mut self.partials, 8)],
            Kernel::Write => {
                vec![OutputArray::new(&mut self.array, self.spec.element).first(self.spec.elements())]
            }
        }
    }

    fn input(&self) -> Option<InputArray> {
        (self.spec.kernel == Kernel::Read).then(|| InputArray::new(&self.array))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        if self.spec.kernel == Kernel::Read {
            return Ok(self.sum()?.to_le_bytes().to_vec());
        }
        let words = self.array.range_to_host(0..length(self.spec.footprint / 4)?)?;
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}

impl RandomAccess {
    /// The sum of all reads since the last clearing.
    fn sum(&self) -> Result<u64, Failure> {
        Ok(self.partials.to_host()?.into_iter().fold(0, u64::wrapping_add))
    }

    /// The first mistake in the array, or in the sum of all reads, since the last clearing.
    fn mistake(&self, gpu: &Gpu, claim: Claim) -> Result<Option<String>, Failure> {
        let n = claim.elements;
        let finding = find(gpu, |report| {
            let args = args![self.array, claim, report];
            let args = if self.spec.kernel == Kernel::Read { &args[1..] } else { &args[..] };
            launch_over(gpu, &self.check, n, args)
        })?;
        let found = if self.spec.kernel == Kernel::Read { self.sum()? } else { finding.sum };
        let sum = || (found != finding.sum).then(|| format!("the sum is {found:#x}, not {:#x}", finding.sum));
        Ok(finding.unchecked(n, "elements").or_else(|| finding.mistake("a")).or_else(sum))
    }

    /// The first partial sum that differs, after some executions since the last clearing.
    fn wrong_partial(&mut self, gpu: &Gpu, executions: u64) -> Result<Option<String>, Failure> {
        let Some((_, expected)) = &mut self.expected else { return Ok(None) };
        gpu.memset32(expected, 0)?;
        let Some((kernel, expected)) = &self.expected else { return Ok(None) };
        let blocks = grid(self.spec.accesses, TILE);
        for execution in self.cleared..self.cleared + executions {
            gpu.launch(kernel, blocks, BLOCK, 0, args![self.claim(self.spec.begin(execution)), expected])?;
        }
        let pairs = self.partials.to_host()?.into_iter().zip(expected.to_host()?);
        let mut wrong = pairs.enumerate().filter(|(_, (found, expected))| found != expected);
        Ok(wrong.next().map(|(at, (found, expected))| {
            format!("the sum of every {PARTIALS}th tile from tile {at} on is {found:#x}, not {expected:#x}")
        }))
    }

    /// All visits of an execution that begins with visit `first`.
    fn claim(&self, first: u64) -> Claim {
        Claim {
            first,
            key: key64(self.spec.seed),
            elements: self.spec.elements(),
            accesses: self.spec.accesses,
            element: self.spec.element as u32,
            chained: u32::from(self.spec.method == Method::Chained),
            order: self.spec.order(),
        }
    }
}
