//! histogram on a GPU (`kernels/histogram/histogram.cu`): counts in shared memory, or votes of warps; and the
//! certificate, which counts the integers from which the values are made and compares the counts bin by bin.

use super::layout::Layout;
use super::values::Values;
use super::{By, DOMAIN, Spec, methods, oracle};
use crate::device::cuda::plain_struct;
use crate::inputs::mix::key64;
use crate::primitives::cuda::prelude::*;
use crate::primitives::cuda::{ZipfArg, ZipfTable};

pub const MODULE: &str = "histogram";
const FILL: &str = "histogram_fill";
const CLEAR: &str = "histogram_clear";
const CERTIFY: [&str; 2] = ["histogram_recount", "histogram_certify"];

plain_struct!(Layout: 16);

device_struct! {
    /// The values as a function of i: `Values` in the kernels.
    pub struct ClosedForm: 88 {
        kind: u32,
        hot: u32,
        key: u64,
        draws: u64,
        zipf: ZipfArg,
    }
}

/// A case in device memory.
pub struct Histogram {
    spec: Spec,
    method: GpuMethod<Step>,
    /// Clears the counts; `None` if the method stores them.
    clear: Option<Kernel>,
    recount: Kernel,
    compare: Kernel,
    /// The values, and one extra value, which only a deliberate mistake reads.
    values: DeviceBuffer<f32>,
    closed: ClosedForm,
    _table: Option<ZipfTable>,
    /// The least value of each bin from the second on, and the splitters in units of 2^-14.
    bounds: DeviceBuffer<f32>,
    splitters: DeviceBuffer<u32>,
    counts: DeviceBuffer<u64>,
    expected: DeviceBuffer<u64>,
}

/// The parts that a method is made from.
pub struct Made<'a> {
    pub gpu: &'a Gpu,
    pub spec: &'a Spec,
    pub module: &'a Module,
    pub plan: LaunchPlan,
}

/// A step of an execution: its start, some values whose counts are wanted, or its end.
pub enum Step {
    Begin,
    Part { x: DevicePtr<f32>, n: u64, bounds: DevicePtr<f32>, counts: DevicePtr<u64> },
    End { counts: DevicePtr<u64> },
}

impl GpuJob for Histogram {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let clear = methods::adds(spec).then_some((CLEAR, 1));
        let timed = KernelList::default().timed_all(MODULE, clear).and(methods::cuda::kernels(spec), 1);
        Ok(timed.untimed(MODULE, [FILL]).untimed(MODULE, CERTIFY))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.elements, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Histogram, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let plan = Self::plan(&spec, setup.fault);
        let method = methods::cuda::method(&Made { gpu, spec: &spec, module: &module, plan })?;
        let [recount, compare] = module.kernels(CERTIFY)?;
        let (values, closed, table) = values(gpu, &module, &spec)?;
        Ok(Histogram {
            method,
            clear: methods::adds(&spec).then(|| module.kernel(CLEAR)).transpose()?,
            recount,
            compare,
            values,
            closed,
            _table: table,
            bounds: gpu.upload(&spec.bounds())?,
            splitters: gpu.upload(&spec.splitters())?,
            counts: array(gpu, spec.bins)?,
            expected: array(gpu, spec.bins)?,
            spec,
        })
    }

    /// Counts that are added to start at zero. A kernel clears them, since launches do not overlap across a memset.
    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        (self.method)(gpu, &Step::Begin)?;
        let bins = self.spec.bins as u32;
        let clear =
            |kernel| gpu.launch(kernel, grid(bins.into(), BLOCK.into()), BLOCK, 0, args![self.counts, bins]);
        self.clear.as_ref().map_or(Ok(()), clear)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let (x, n) = (self.values.pointer_at(length(part.first + part.shift)?)?, part.count);
        let (bounds, counts) = (self.bounds.pointer(), self.counts.pointer());
        (self.method)(gpu, &Step::Part { x, n, bounds, counts })
    }

    /// Sums the counts that are stored.
    fn end(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        (self.method)(gpu, &Step::End { counts: self.counts.pointer() })
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.counts, 8)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.values))
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, m, range) = (self.spec.elements, self.spec.bins as u32, u32::from(self.spec.by == By::Range));
        let finding = find(gpu, |report| {
            gpu.memset32(&mut self.expected, 0)?;
            let recounted = args![self.closed, n, self.splitters, range, m, self.expected, report];
            launch_over(gpu, &self.recount, n, recounted)?;
            launch_over(gpu, &self.compare, m.into(), args![self.counts, self.expected, m, report])
        })?;
        let sum =
            || (finding.sum != n).then(|| format!("the counts of {n} values add up to {}", finding.sum));
        let mistake = finding.unchecked(n, "values").or_else(|| finding.mistake("counts")).or_else(sum);
        Ok(Verdict::of(mistake, n))
    }
}

type Filled = (DeviceBuffer<f32>, ClosedForm, Option<ZipfTable>);

/// Makes the values of a case.
fn values(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Filled, Failure> {
    let source = Values::new(spec).ok_or_else(|| Failure::Failed("no such distribution".to_owned()))?;
    let (kind, hot, seed, cells) = match &source {
        Values::Uniform { seed } => (0, 0, seed, None),
        Values::Skewed { seed, hot } => (1, *hot, seed, None),
        Values::Zipf { seed, cells } => (2, 0, seed, Some(cells)),
    };
    let table = cells.map(|cells| ZipfTable::new(gpu, cells)).transpose()?;
    let (draws, zipf) = (cells.map_or(0, |cells| key64(cells.seed)), ZipfArg::of(table.as_ref())?);
    let closed = ClosedForm { kind, hot, key: key64(*seed), draws, zipf };
    let (n, values) = (spec.elements, array(gpu, spec.elements + 1)?);
    // The value behind the last one is in another bin than the first value.
    let first = oracle::bin(spec, &spec.splitters(), source.at(0));
    let behind = if first == 0 { DOMAIN.next_down() } else { 0.0 };
    // Without values, one thread still sets the value behind the last one.
    launch_over(gpu, &module.kernel(FILL)?, n.max(1), args![values, closed, n, behind])?;
    Ok((values, closed, table))
}
