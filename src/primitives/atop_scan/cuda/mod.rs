//! The primitives atop scan on a GPU (`kernels/atop_scan.cu`).

mod certify;
mod forms;
mod sums;

use super::flaws;
use super::spec::{Operation, Spec, TILE};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, GpuFacts, GpuJob, Kernel, Launched, Module, Named, Part, Plan, Setup, args,
    named, poison,
};
use crate::primitives::cuda::{grid, launch_over, length};
use certify::Certificate;
use forms::{Bits, Given};
use sums::Sums;

/// Threads of a block that places elements, by `PLACING` in the kernels, and its tiles, a warp each.
const PLACING: u32 = 256;
const TILES: u64 = PLACING as u64 / 32;

/// A case in place. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct AtopScan {
    spec: Spec,
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
}

const MODULE: &str = "atop_scan";

/// The kernels that make the elements of in, and flags or heads.
const FILL: &str = "atop_scan_fill";
const FILL_BITS: &str = "atop_scan_fill_bits";

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

impl GpuJob for AtopScan {
    type Case = Spec;

    /// Of several kernels the last one, which moves the elements.
    fn launched(spec: &Spec) -> Result<Launched, Failure> {
        let sums = super::work::sums_needed(spec).contains(&true);
        Ok(Launched { kernel: name(spec), launches: if sums { 3 } else { 1 } })
    }

    fn kernels(spec: &Spec, _gpu: &GpuFacts) -> Result<Vec<Named>, Failure> {
        let bits = (spec.operation.flagged() || spec.segmented()).then_some(FILL_BITS);
        let others = [FILL].into_iter().chain(bits).chain(Certificate::KERNELS);
        Ok([named(MODULE, others), named(MODULE, [name(spec)]), sums::kernels(spec)].concat())
    }

    fn needed(spec: &Spec, _gpus: u64) -> u64 {
        super::work::work(spec).footprint + (1 << 16)
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> Plan {
        let (count, shift) = (flaws::handled(spec, fault), u64::from(fault == Some(Fault::OffByOne)));
        Plan { parts: vec![Part { first: 0, count, shift }], skipped: flaws::skipped(spec, fault) }
    }

    fn prepare(spec: Spec, setup: &Setup) -> Result<AtopScan, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let (given, n) = (Given::new(&spec), flaws::handled(&spec, setup.fault));
        let bits = |heads: bool| bits(gpu, &module, &given, heads, n);
        Ok(AtopScan {
            place: module.kernel(&name(&spec))?,
            certificate: Certificate::new(&module, given)?,
            flags: spec.operation.flagged().then(|| bits(false)).transpose()?,
            heads: spec.segmented().then(|| bits(true)).transpose()?,
            sums: Sums::new(gpu, &module, &spec)?,
            input: input(gpu, &module, &spec, &given)?,
            output: gpu.alloc(length((spec.elements + 1) * spec.out_element() / 4)?)?,
            number: gpu.alloc(1)?,
            beside: gpu.alloc(length(spec.beside() / 4)?)?,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.output)?;
        poison(gpu, &mut self.number)?;
        poison(gpu, &mut self.beside)
    }

    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        match self.spec.operation {
            Operation::SplitAndSegment => gpu.memset32(&mut self.beside, 0),
            _ => Ok(()),
        }
    }

    fn enqueue(&mut self, gpu: &Gpu, part: Part) -> Result<(), Failure> {
        if part.count == 0 {
            return gpu.memset32(&mut self.number, 0);
        }
        let (flags, heads) = (pointer(self.flags.as_ref()), pointer(self.heads.as_ref()));
        let mut bits = Bits::new(&self.spec, (flags, heads), part.count)?;
        if let Some(sums) = &mut self.sums {
            bits = sums.execute(gpu, bits)?;
        }
        self.place(gpu, bits, part)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        certify::verdict(self, gpu)
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
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

    fn written(&mut self) -> Option<(&mut DeviceBuffer<u32>, u64)> {
        Some((&mut self.output, self.spec.out_element() / 4))
    }

    fn memory(&self) -> u64 {
        let bits = [&self.flags, &self.heads].map(|bits| bits.as_ref().map_or(0, DeviceBuffer::bytes));
        let sums = self.sums.as_ref().map_or(0, Sums::bytes);
        let arrays = self.input.bytes() + self.output.bytes() + self.number.bytes() + self.beside.bytes();
        arrays + bits.iter().sum::<u64>() + sums
    }
}

impl AtopScan {
    /// Queues the kernel that writes out.
    fn place(&self, gpu: &Gpu, bits: Bits, part: Part) -> Result<(), Failure> {
        let out = self.output.pointer_at(length(part.shift * self.spec.out_element() / 4)?)?;
        let beside = if self.beside.is_empty() { DevicePtr::null() } else { self.beside.pointer() };
        let args = match self.spec.operation {
            Operation::Enumerate => &args![bits, out][..],
            Operation::Compact => args![bits, self.input, out, beside, self.number],
            Operation::Distribute => args![bits, self.input, out],
            Operation::Split | Operation::SplitAndSegment => args![bits, self.input, out, beside],
        };
        gpu.launch(&self.place, grid(part.count.div_ceil(TILE), TILES), PLACING, 0, args)
    }

    /// How many elements the last execution left in out.
    fn number(&self) -> Result<u64, Failure> {
        Ok(self.number.to_host()?.first().copied().unwrap_or(0))
    }
}
