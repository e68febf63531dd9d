//! The primitives atop scan on a GPU (`kernels/compaction/compaction.cu`): the bits of tiles are summed, the look-back
//! scan scans the sums, and a warp per tile places the elements. The certificates check each element of out,
//! and of the array beside it, against the elements, flags and segments as functions of the seed.

use super::work::{sums_needed, tiles};
use super::{Operation, Spec, TILE};
use crate::device::cuda::pointer_or_null;
use crate::inputs::Permutation;
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::CheckReport;
use crate::primitives::cuda::prelude::*;
use crate::primitives::scan::cuda as scan;
use crate::primitives::scan::cuda::one_pass::{Launch, OnePass, Variant};

/// Threads per block of the placing kernels (`PLACING`), and tiles per block, a warp per tile.
const PLACING: u32 = 256;
const TILES: u64 = PLACING as u64 / 32;

/// Threads per block of the summing kernel: a warp per tile, for the tiles of one word.
const SUMMING: u32 = 1024;

const MODULE: &str = "compaction";

/// The kernels that generate the elements of in, and flags or heads.
const FILL: &str = "compaction_fill";
const FILL_BITS: &str = "compaction_fill_bits";

/// The kernel that sums a tile.
const SUM: &str = "compaction_sums";

/// The certificate kernels: for out, and for the pointers or new heads beside it.
const CERTIFY: [&str; 3] = ["compaction_certify", "compaction_certify_pointers", "compaction_certify_heads"];

/// The scan of the sums.
const SCAN: Variant = Variant { spine: false, segmented: true, short: false, family: "add_u64", element: 8 };

device_struct! {
    /// `Bits` in the kernels: the bits and sums that determine the elements' places.
    struct Bits: 56 {
        flags: DevicePtr<u32>,
        heads: DevicePtr<u32>,
        sums: DevicePtr<u64>,
        starts: DevicePtr<u32>,
        n: u32,
        tiles: u32,
        before: u32,
        behind: u32,
        together: u32,
        unused: u32,
    }

    /// `Given` in the kernels: the elements, flags and segments as functions of i.
    struct Given: 96 {
        key: u64,
        trues: u64,
        order: Permutation,
        segments: scan::Segments,
        element: u32,
        operation: u32,
    }
}

/// A case in device memory. out has a guard element behind its last one, which the deliberately wrong
/// implementations may touch.
pub struct Compaction {
    spec: Spec,
    given: Given,
    place: Kernel,
    certify: [Kernel; 3],
    flags: Option<DeviceBuffer<u32>>,
    heads: Option<DeviceBuffer<u32>>,
    sums: Option<Sums>,
    input: DeviceBuffer<u32>,
    output: DeviceBuffer<u32>,
    /// The number of elements of out.
    number: DeviceBuffer<u64>,
    /// The starts of the segments in out, or the new heads.
    beside: DeviceBuffer<u32>,
}

/// The kernels and arrays of the tiles' sums.
struct Sums {
    sum: Kernel,
    scan: OnePass,
    /// A sum per tile: first all sums of the forward direction, then all of the backward direction, from the
    /// last tile on.
    sums: DeviceBuffer<u64>,
    scanned: DeviceBuffer<u64>,
    /// Bits at the tiles where the scan restarts.
    starts: DeviceBuffer<u32>,
    /// The number of directions in which sums are needed.
    directions: u64,
}

/// The kernel's name in the PTX.
fn name(spec: &Spec) -> String {
    let backward = if spec.backward() { "_backward" } else { "" };
    match spec.operation {
        Operation::Enumerate => "compaction_enumerate".to_owned(),
        Operation::Compact => format!("compaction_compact_{}", spec.element),
        Operation::Distribute => format!("compaction_distribute{backward}_{}", spec.element),
        Operation::Split | Operation::SplitAndSegment => format!("compaction_split_{}", spec.element),
    }
}

/// A number as the 32 bits that the kernels take.
fn small(n: u64) -> Result<u32, Failure> {
    u32::try_from(n).map_err(|_| Failure::NotApplicable(format!("{n} elements are too many")))
}

impl Given {
    fn new(spec: &Spec) -> Given {
        let inputs = spec.inputs();
        Given {
            key: key64(inputs.seed),
            trues: inputs.trues,
            order: inputs.order,
            segments: scan::Segments::new(&inputs.segments),
            element: inputs.element as u32,
            operation: match spec.operation {
                Operation::Enumerate => 0,
                Operation::Compact => 1,
                Operation::Distribute => 2 + u32::from(spec.backward()),
                Operation::Split | Operation::SplitAndSegment => 4,
            },
        }
    }

    /// The elements of in; empty if the operation reads none.
    fn input(&self, gpu: &Gpu, module: &Module, spec: &Spec) -> Result<DeviceBuffer<u32>, Failure> {
        let n = if spec.operation == Operation::Enumerate { 0 } else { spec.elements };
        let input = array(gpu, n * spec.element / 4)?;
        launch_over(gpu, &module.kernel(FILL)?, n, args![input, *self, n])?;
        Ok(input)
    }

    /// The flags, or the heads, of the first `n` elements, in whole tiles.
    fn bits(&self, gpu: &Gpu, module: &Module, heads: bool, n: u64) -> Result<DeviceBuffer<u32>, Failure> {
        let words = n.div_ceil(TILE) * TILE / 32;
        let (bits, heads) = (array(gpu, words)?, u32::from(heads));
        launch_over(gpu, &module.kernel(FILL_BITS)?, words, args![bits, *self, heads, n, words])?;
        Ok(bits)
    }
}

impl GpuJob for Compaction {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let bits = (spec.operation.flagged() || spec.segmented()).then_some(FILL_BITS);
        let inputs = KernelList::default().untimed(MODULE, [FILL].into_iter().chain(bits));
        let summed = match sums_needed(spec).contains(&true) {
            true => inputs.timed(MODULE, SUM, 1).timed(scan::MODULE, SCAN.name(), 1),
            false => inputs,
        };
        Ok(summed.timed(MODULE, name(spec), 1).untimed(MODULE, CERTIFY))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        let (count, shift) = (spec.handled(fault), u64::from(fault == Some(Fault::OffByOne)));
        LaunchPlan { parts: vec![LaunchPart { first: 0, count, shift }], skipped: spec.skipped(fault) }
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Compaction, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let (given, n) = (Given::new(&spec), spec.handled(setup.fault));
        let bits = |heads: bool| given.bits(gpu, &module, heads, n);
        Ok(Compaction {
            given,
            place: module.kernel(&name(&spec))?,
            certify: module.kernels(CERTIFY)?,
            flags: spec.operation.flagged().then(|| bits(false)).transpose()?,
            heads: spec.segmented().then(|| bits(true)).transpose()?,
            sums: Sums::new(gpu, &module, &spec)?,
            input: given.input(gpu, &module, &spec)?,
            output: array(gpu, (spec.elements + 1) * spec.out_element() / 4)?,
            number: gpu.alloc(1)?,
            beside: array(gpu, spec.beside() / 4)?,
            spec,
        })
    }

    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        match self.spec.operation {
            Operation::SplitAndSegment => gpu.memset32(&mut self.beside, 0),
            _ => Ok(()),
        }
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        if part.count == 0 {
            return gpu.memset32(&mut self.number, 0);
        }
        let mut bits = self.bits(part.count)?;
        if let Some(sums) = &mut self.sums {
            bits = sums.execute(gpu, bits)?;
        }
        let out = self.output.pointer_at(length(part.shift * self.spec.out_element() / 4)?)?;
        let beside = pointer_or_null(Some(&self.beside).filter(|beside| !beside.is_empty()));
        let args = match self.spec.operation {
            Operation::Enumerate => &args![bits, out][..],
            Operation::Compact => args![bits, self.input, out, beside, self.number],
            Operation::Distribute => args![bits, self.input, out],
            Operation::Split | Operation::SplitAndSegment => args![bits, self.input, out, beside],
        };
        gpu.launch(&self.place, grid(part.count.div_ceil(TILE), TILES), PLACING, 0, args)
    }

    /// The number of elements of out, if the operation leaves it; out; and the array beside it. An error of the driver
    /// shows again where the arrays are read.
    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let (compact, n) = (self.spec.operation == Operation::Compact, self.spec.elements);
        let written = if compact { n.min(self.number().unwrap_or(0)) } else { n };
        let out = OutputArray::new(&mut self.output, self.spec.out_element()).first(written);
        let number = OutputArray::new(&mut self.number, 8).first(compact.into());
        vec![number, out.losing_stores(), OutputArray::new(&mut self.beside, 4)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.input))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (spec, [out, pointers, heads]) = (&self.spec, &self.certify);
        let (n, compact) = (spec.elements, spec.operation == Operation::Compact);
        let number = if compact { self.number()? } else { spec.written() };
        if number != spec.written() {
            let mistake = format!("out has {number} elements instead of {}", spec.written());
            return Ok(Verdict::Wrong { mistake });
        }
        let finding = find(gpu, |report| launch_over(gpu, out, n, args![self.output, self.given, report]))?;
        let mistake = match (finding.mistake("out"), compact) {
            (None, _) if self.beside.is_empty() => None,
            (None, true) => self.judge_beside(gpu, pointers)?.mistake("pointers"),
            (None, false) => self.judge_beside(gpu, heads)?.mistake("new heads"),
            (mistake, _) => mistake,
        };
        Ok(Verdict::of(mistake.or_else(|| finding.unchecked(n, "elements")), n))
    }
}

impl Compaction {
    /// The bits of the first `n` elements, without sums so far.
    fn bits(&self, n: u64) -> Result<Bits, Failure> {
        let [before, behind] = sums_needed(&self.spec).map(u32::from);
        Ok(Bits {
            flags: pointer_or_null(self.flags.as_ref()),
            heads: pointer_or_null(self.heads.as_ref()),
            n: small(n)?,
            tiles: small(tiles(n))?,
            before,
            behind,
            together: u32::from(self.spec.operation == Operation::Compact),
            ..Bits::zeroed()
        })
    }

    /// The number of elements that the last execution left in out.
    fn number(&self) -> Result<u64, Failure> {
        Ok(self.number.to_host()?.first().copied().unwrap_or(0))
    }

    /// Certifies the words beside out.
    fn judge_beside(&self, gpu: &Gpu, kernel: &Kernel) -> Result<CheckReport, Failure> {
        let words = self.spec.beside() / 4;
        find(gpu, |report| {
            launch_over(gpu, kernel, words, args![self.beside, self.output, self.given, words, report])
        })
    }
}

impl Sums {
    /// Allocates the sums of a case; `None` if it needs none.
    fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Option<Sums>, Failure> {
        let directions = sums_needed(spec).map(u64::from).iter().sum::<u64>();
        if directions == 0 {
            return Ok(None);
        }
        let all = directions * tiles(spec.elements);
        Ok(Some(Sums {
            sum: module.kernel(SUM)?,
            scan: OnePass::new(gpu, SCAN, all)?,
            sums: array(gpu, all)?,
            scanned: array(gpu, all)?,
            starts: array(gpu, all / 32)?,
            directions,
        }))
    }

    /// Queues the sums of `bits` and their scan; returns `bits` with the scanned sums.
    fn execute(&mut self, gpu: &Gpu, bits: Bits) -> Result<Bits, Failure> {
        let summed = Bits { sums: self.sums.pointer(), starts: self.starts.pointer(), ..bits };
        gpu.launch(&self.sum, bits.tiles / 32, SUMMING, 0, args![summed])?;
        let (sums, scanned) = (self.sums.pointer().cast(), self.scanned.pointer().cast());
        let launch = Launch::new(sums, scanned, self.directions * u64::from(bits.tiles));
        self.scan.execute(gpu, Launch { heads: self.starts.pointer(), inclusive: 1, ..launch })?;
        Ok(Bits { sums: self.scanned.pointer(), ..summed })
    }
}
