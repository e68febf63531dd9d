//! histogram on a GPU (`kernels/histogram/histogram.cu`): counts in shared memory, or votes of warps; and the
//! certificate, which counts the integers from which the values are made and compares the counts bin by bin.

use super::Spec;
use super::layout::{self, Layout};
use super::oracle;
use super::spec::{By, DOMAIN, Ending, Method, SUBPROBLEM};
use super::values::Values;
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    ComputeCapability, DeviceBuffer, DevicePtr, Gpu, GpuJob, GpuSetup, Kernel, KernelList, LaunchPart,
    LaunchPlan, Module, OutputArray, args, device_struct, plain_struct,
};
use crate::inputs::Permutation;
use crate::inputs::mix::key64;
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, ZipfTable, grid, launch_over, length};

const MODULE: &str = "histogram";
const FILL: &str = "histogram_fill";
const REDUCE: &str = "histogram_reduce";
const CERTIFY: [&str; 2] = ["histogram_recount", "histogram_certify"];

plain_struct!(Layout: 16);

device_struct! {
    /// The values as a function of i: `Values` in the kernels.
    pub struct ClosedForm: 88 {
        kind: u32,
        hot: u32,
        key: u64,
        draws: u64,
        cumulative: DevicePtr<u64>,
        start: DevicePtr<u64>,
        guide: DevicePtr<u32>,
        spread: Permutation,
    }

    /// `Subproblems` in the kernels.
    struct Subproblems: 32 {
        size: u64,
        column: u64,
        all: u64,
        bins: u32,
        unused: u32,
    }
}

/// A case in device memory.
pub struct Histogram {
    spec: Spec,
    layout: Layout,
    /// Threads per block, its bytes of shared memory, and the number of resident blocks.
    block: u32,
    shared: u32,
    resident: u32,
    timed: Kernel,
    reduce: Kernel,
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
    /// The counts of the subproblems, bin by bin, if they are stored; the number of subproblems; and the first
    /// subproblem that the next part counts.
    stored: DeviceBuffer<u32>,
    subproblems: u64,
    column: u64,
}

/// The timed kernel's name in the PTX.
fn name(spec: &Spec) -> String {
    let bits = spec.bins.next_power_of_two().ilog2();
    match spec.method {
        Method::Ballot { .. } => format!("histogram_ballot_{}_{bits}", spec.by.name()),
        Method::Best => format!("histogram_shared_{}", spec.by.name()),
    }
}

/// The number of subproblems of a plan's parts, each part divided separately.
fn subproblems(plan: &LaunchPlan) -> u64 {
    plan.parts.iter().map(|part| part.count.div_ceil(SUBPROBLEM)).sum()
}

impl GpuJob for Histogram {
    type Case = Spec;

    fn kernels(spec: &Spec, _: ComputeCapability) -> Result<KernelList, Failure> {
        let reduce = u64::from(spec.stored() > 0);
        let timed = KernelList::default().timed(MODULE, name(spec), 1).timed(MODULE, REDUCE, reduce);
        Ok(timed.untimed(MODULE, [FILL]).untimed(MODULE, CERTIFY))
    }

    fn plan(spec: &Spec, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.elements, fault)
    }

    fn prepare(spec: Spec, setup: &GpuSetup) -> Result<Histogram, Failure> {
        let gpu = setup.gpu;
        let module = gpu.module(MODULE)?;
        let timed = module.kernel(&name(&spec))?;
        let layout = Layout::new(&spec, gpu.device().shared_per_block);
        let (block, shared) = match spec.method {
            Method::Best => (layout::BLOCK, layout.bytes()),
            Method::Ballot { .. } => (BLOCK, 0),
        };
        let [recount, compare] = module.kernels(CERTIFY)?;
        let (values, closed, table) = values(gpu, &module, &spec)?;
        let subproblems = subproblems(&Self::plan(&spec, setup.fault));
        let stored = if spec.stored() > 0 { spec.bins * subproblems } else { 0 };
        Ok(Histogram {
            layout,
            block,
            shared,
            resident: gpu.max_blocks(&timed, block, shared)?,
            timed,
            reduce: module.kernel(REDUCE)?,
            recount,
            compare,
            values,
            closed,
            _table: table,
            bounds: gpu.upload(&spec.bounds())?,
            splitters: gpu.upload(&spec.splitters())?,
            counts: gpu.alloc(length(spec.bins)?)?,
            expected: gpu.alloc(length(spec.bins)?)?,
            stored: gpu.alloc(length(stored)?)?,
            subproblems,
            column: 0,
            spec,
        })
    }

    /// Counts that are added to start at zero.
    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.column = 0;
        if self.stores() { Ok(()) } else { gpu.memset32(&mut self.counts, 0) }
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let (x, n) = (self.values.pointer_at(length(part.first + part.shift)?)?, part.count);
        match self.spec.method {
            Method::Best => {
                let args = args![x, n, self.bounds, self.layout, self.counts];
                gpu.launch(&self.timed, self.blocks(n), self.block, self.shared, args)
            }
            Method::Ballot { .. } => {
                let all = if self.stores() { self.subproblems } else { 0 };
                let (column, bins) = (self.column, self.spec.bins as u32);
                self.column += n.div_ceil(SUBPROBLEM);
                let work = Subproblems { size: SUBPROBLEM, column, all, bins, unused: 0 };
                let args = args![x, n, self.bounds, work, self.counts, self.stored];
                gpu.launch(&self.timed, grid(n, SUBPROBLEM), self.block, 0, args)
            }
        }
    }

    /// Sums the counts that are stored.
    fn end(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        if !self.stores() {
            return Ok(());
        }
        gpu.launch(
            &self.reduce,
            self.spec.bins as u32,
            BLOCK,
            0,
            args![self.stored, self.column, self.counts],
        )
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.counts, 8)]
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

impl Histogram {
    /// Whether the counts of the subproblems are stored; otherwise they are added directly to the result.
    fn stores(&self) -> bool {
        self.spec.method == Method::Ballot { ending: Ending::Reduction }
    }

    /// The number of resident blocks, but no more than there are tiles (`ITEMS` vectors of four per thread),
    /// and enough that 32 bits can count the values of each block.
    fn blocks(&self, n: u64) -> u32 {
        grid(n, 16 * u64::from(self.block)).min(self.resident).max(grid(n, 1 << 31))
    }
}

type Made = (DeviceBuffer<f32>, ClosedForm, Option<ZipfTable>);

/// Makes the values of a case.
fn values(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Made, Failure> {
    let source = Values::new(spec).ok_or_else(|| Failure::Failed("no such distribution".to_owned()))?;
    let table = match &source {
        Values::Zipf { cells, .. } => Some(ZipfTable::new(gpu, cells)?),
        Values::Uniform { .. } | Values::Skewed { .. } => None,
    };
    let closed = closed_form(&source, table.as_ref())?;
    let (n, values) = (spec.elements, gpu.alloc(length(spec.elements + 1)?)?);
    // The value behind the last one is in another bin than the first value.
    let first = oracle::bin(spec, &spec.splitters(), source.at(0));
    let behind = if first == 0 { DOMAIN.next_down() } else { 0.0 };
    // Without values, one thread still sets the value behind the last one.
    launch_over(gpu, &module.kernel(FILL)?, n.max(1), args![values, closed, n, behind])?;
    Ok((values, closed, table))
}

fn closed_form(source: &Values, table: Option<&ZipfTable>) -> Result<ClosedForm, Failure> {
    let (kind, hot, seed, cells) = match source {
        Values::Uniform { seed } => (0, 0, seed, None),
        Values::Skewed { seed, hot } => (1, *hot, seed, None),
        Values::Zipf { seed, cells } => (2, 0, seed, Some(cells)),
    };
    let none = || Failure::Failed("no permutation of one element".to_owned());
    Ok(ClosedForm {
        kind,
        hot,
        key: key64(*seed),
        draws: cells.map_or(0, |cells| key64(cells.seed)),
        cumulative: table.map_or(DevicePtr::null(), |table| table.cumulative.pointer()),
        start: table.map_or(DevicePtr::null(), |table| table.start.pointer()),
        guide: table.map_or(DevicePtr::null(), |table| table.guide.pointer()),
        spread: cells.map(|cells| cells.spread).or_else(|| Permutation::new(1, 0)).ok_or_else(none)?,
    })
}
