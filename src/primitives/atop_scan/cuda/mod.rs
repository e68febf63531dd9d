//! The primitives atop scan on a GPU (`kernels/atop_scan.cu`).

mod certify;
mod forms;
mod sums;

use super::spec::{Operation, Spec, TILE};
use super::{flaws, operation};
use crate::case::{self, Cancel, Failure, Fault, Verdict};
use crate::device::Prepared;
use crate::device::cuda::{Arg, DeviceBuffer, DevicePtr, Gpu, Kernel, Module};
use crate::primitives::cuda::several::Part;
use crate::primitives::cuda::{Launched, Named, POISON32, grid, launch_over, length, named, poison, refused};
use certify::Certificate;
use forms::{Bits, Given};
use sums::Sums;

/// Threads of a block that places elements, by `PLACING` in the kernels, and its tiles, a warp each.
const PLACING: u32 = 256;
const TILES: u64 = PLACING as u64 / 32;

/// A case in place. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
struct Case {
    gpu: Gpu,
    spec: Spec,
    /// Elements that are handled.
    n: u64,
    place: Kernel,
    certificate: Certificate,
    flags: Option<DeviceBuffer<u32>>,
    heads: Option<DeviceBuffer<u32>>,
    sums: Option<Sums>,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    /// How many elements of out there are.
    number: DeviceBuffer<u64>,
    /// Where segments begin in out, or the new heads.
    beside: DeviceBuffer<u32>,
    /// Elements by which out is misplaced.
    shift: u64,
    /// The element that is not stored, and what it keeps.
    skipped: Option<(u64, DeviceBuffer<u32>)>,
}

const MODULE: &str = "atop_scan";

/// The kernels that make the elements of in, and flags or heads.
const FILL: &str = "atop_scan_fill";
const FILL_BITS: &str = "atop_scan_fill_bits";

/// Allocates and generates the arrays of a case.
///
/// # Errors
/// `NotApplicable` where it does not fit; what the driver reports.
pub fn prepare(gpu: &Gpu, case: &case::Case, fault: Option<Fault>, cancel: &Cancel) -> Result<Part, Failure> {
    let spec = read(case)?;
    gpu.require(super::work::work(&spec).footprint + (1 << 16))?;
    let module = gpu.module(MODULE)?;
    cancel.check()?;
    let n = flaws::handled(&spec, fault);
    let given = Given::new(&spec);
    let bits = |heads: bool| bits(gpu, &module, &given, heads, n);
    let room = length((spec.elements + 1) * spec.out_element() / 4)?;
    let skipped = flaws::skipped(&spec, fault).map(|at| {
        let kept = vec![POISON32; length(spec.out_element() / 4)?];
        Ok::<_, Failure>((at, gpu.upload(&kept)?))
    });
    let case = Case {
        gpu: gpu.clone(),
        n,
        place: module.kernel(&name(&spec))?,
        certificate: Certificate::new(&module, given)?,
        flags: spec.operation.flagged().then(|| bits(false)).transpose()?,
        heads: spec.segmented().then(|| bits(true)).transpose()?,
        sums: Sums::new(gpu, &module, &spec)?,
        input: input(gpu, &module, &spec, &given)?,
        output: gpu.alloc(room)?,
        number: gpu.alloc(1)?,
        beside: gpu.alloc(length(spec.beside() / 4)?)?,
        shift: u64::from(fault == Some(Fault::OffByOne)),
        skipped: skipped.transpose()?,
        spec,
    };
    gpu.synchronize()?;
    Ok(Box::new(case))
}

fn read(case: &case::Case) -> Result<Spec, Failure> {
    let unknown = || Failure::Failed(format!("{} is not built atop scan", case.primitive));
    let operation = operation(&case.primitive).ok_or_else(unknown)?;
    Spec::from_params(operation, &case.params, case.seed).map_err(refused)
}

/// What an execution of a case launches: of several kernels the last one, which moves the elements.
///
/// # Errors
/// A case that does not exist.
pub fn launched(case: &case::Case) -> Result<Launched, Failure> {
    let spec = read(case)?;
    let sums = super::work::sums_needed(&spec).contains(&true);
    Ok(Launched { kernel: name(&spec), launches: if sums { 3 } else { 1 } })
}

/// The kernels that a case asks for.
///
/// # Errors
/// A case that does not exist.
pub fn kernels(case: &case::Case) -> Result<Vec<Named>, Failure> {
    let spec = read(case)?;
    let bits = (spec.operation.flagged() || spec.segmented()).then_some(FILL_BITS);
    let others = [FILL].into_iter().chain(bits).chain(Certificate::KERNELS);
    Ok([named(MODULE, others), named(MODULE, [name(&spec)]), sums::kernels(&spec)].concat())
}

/// The kernel's name in the PTX.
fn name(spec: &Spec) -> String {
    let backward = if spec.backward() { "_backward" } else { "" };
    match spec.operation {
        Operation::Enumerate => "atop_scan_enumerate".to_owned(),
        Operation::Compact => format!("atop_scan_compact_{}", spec.element),
        Operation::Distribute => format!("atop_scan_distribute{backward}_{}", spec.element),
        Operation::Split | Operation::SplitAndSegment => format!("atop_scan_split_{}", spec.element),
    }
}

/// The elements of in, where there are any.
fn input(gpu: &Gpu, module: &Module, spec: &Spec, given: &Given) -> Result<DeviceBuffer<u32>, Failure> {
    let n = if spec.operation == Operation::Enumerate { 0 } else { spec.elements };
    let input = gpu.alloc(length(n * spec.element / 4)?)?;
    launch_over(gpu, &module.kernel(FILL)?, n, &[(&input).into(), given.into(), (&n).into()])?;
    Ok(input)
}

/// The flags, or the heads, of the first `n` elements, in whole tiles.
fn bits(
    gpu: &Gpu,
    module: &Module,
    given: &Given,
    heads: bool,
    n: u64,
) -> Result<DeviceBuffer<u32>, Failure> {
    let words = n.div_ceil(TILE) * TILE / 32;
    let (bits, heads) = (gpu.alloc(length(words)?)?, u32::from(heads));
    let args = [(&bits).into(), given.into(), (&heads).into(), (&n).into(), (&words).into()];
    launch_over(gpu, &module.kernel(FILL_BITS)?, words, &args)?;
    Ok(bits)
}

fn pointer(buffer: Option<&DeviceBuffer<u32>>) -> DevicePtr<u32> {
    buffer.map_or(DevicePtr::null(), DeviceBuffer::pointer)
}

impl Case {
    /// Queues one execution.
    fn execute(&mut self) -> Result<(), Failure> {
        if self.spec.operation == Operation::SplitAndSegment {
            self.gpu.memset32(&mut self.beside, 0)?;
        }
        if self.n == 0 {
            return self.gpu.memset32(&mut self.number, 0);
        }
        let (flags, heads) = (pointer(self.flags.as_ref()), pointer(self.heads.as_ref()));
        let mut bits = Bits::new(&self.spec, (flags, heads), self.n)?;
        if let Some(sums) = &mut self.sums {
            bits = sums.execute(&self.gpu, bits)?;
        }
        self.place(bits)?;
        let Some((at, kept)) = &self.skipped else { return Ok(()) };
        self.gpu.copy(kept, 0..kept.len(), &mut self.output, length(at * self.spec.out_element() / 4)?)
    }

    /// Queues the kernel that writes out.
    fn place(&self, bits: Bits) -> Result<(), Failure> {
        let out = self.output.pointer_at(length(self.shift * self.spec.out_element() / 4)?)?;
        let beside = if self.beside.is_empty() { DevicePtr::null() } else { self.beside.pointer() };
        let all: [Arg; 5] =
            [(&bits).into(), (&self.input).into(), (&out).into(), (&beside).into(), (&self.number).into()];
        let numbering = [all[0], all[2]];
        let args = match self.spec.operation {
            Operation::Enumerate => &numbering[..],
            Operation::Compact => &all[..],
            Operation::Distribute => &all[..3],
            Operation::Split | Operation::SplitAndSegment => &all[..4],
        };
        self.gpu.launch(&self.place, grid(self.n.div_ceil(TILE), TILES), PLACING, 0, args)
    }

    /// One execution for its result.
    fn once(&mut self) -> Result<(), Failure> {
        poison(&self.gpu, &mut self.output)?;
        poison(&self.gpu, &mut self.number)?;
        poison(&self.gpu, &mut self.beside)?;
        self.execute()
    }

    /// How many elements the last execution left in out.
    fn number(&self) -> Result<u64, Failure> {
        Ok(self.number.to_host()?.first().copied().unwrap_or(0))
    }
}

impl Prepared for Case {
    fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
        let gpu = self.gpu.clone();
        gpu.timed(&mut || (0..batch).try_for_each(|_| self.execute()))
    }

    fn certify(&mut self, cancel: &Cancel) -> Result<Verdict, Failure> {
        self.once()?;
        cancel.check()?;
        certify::verdict(self)
    }

    fn memory(&self) -> u64 {
        let bits = [&self.flags, &self.heads].map(|bits| bits.as_ref().map_or(0, DeviceBuffer::bytes));
        let sums = self.sums.as_ref().map_or(0, Sums::bytes);
        let arrays = self.input.bytes() + self.output.bytes() + self.number.bytes() + self.beside.bytes();
        arrays + bits.iter().sum::<u64>() + sums
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
        self.once()?;
        let mut words = Vec::new();
        let mut elements = self.spec.elements;
        if self.spec.operation == Operation::Compact {
            let number = self.number()?;
            words.extend([number as u32, (number >> 32) as u32]);
            elements = elements.min(number);
        }
        words.extend(self.output.range_to_host(0..length(elements * self.spec.out_element() / 4)?)?);
        words.extend(self.beside.to_host()?);
        Ok(words.into_iter().flat_map(u32::to_le_bytes).collect())
    }
}
