//! The timed kernels and their launches.

use crate::case::Failure;
use crate::device::cuda::{self, DeviceBuffer, DevicePtr, Gpu, Module, Plain};
use crate::primitives::cuda::{BLOCK, grid};
use crate::primitives::histogram::Spec;
use crate::primitives::histogram::layout::{self, Layout};
use crate::primitives::histogram::spec::{By, Ending, Method, SUBPROBLEM};
use crate::primitives::range::Range;

/// Values of a tile of `threads`: `ITEMS` vectors of four each in the kernels.
const fn tile(threads: u32) -> u64 {
    16 * threads as u64
}

/// `Subproblems` in the kernels.
#[derive(Clone, Copy)]
#[repr(C)]
struct Subproblems {
    size: u64,
    column: u64,
    all: u64,
    bins: u32,
    unused: u32,
}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Subproblems {}

// SAFETY: `#[repr(C)]` like its twin in the kernels, plain numbers.
unsafe impl Plain for Layout {}

/// Subproblems of these ranges, each cut by itself.
pub fn subproblems(ranges: &[Range]) -> u64 {
    ranges.iter().map(|range| range.count.div_ceil(SUBPROBLEM)).sum()
}

/// The timed kernel's name in the PTX.
pub fn name(spec: &Spec) -> String {
    let by = if spec.by == By::Even { "even" } else { "range" };
    match spec.method {
        Method::Ballot(_) => format!("histogram_ballot_{by}_{}", bits(spec)),
        Method::Best => format!("histogram_shared_{by}"),
    }
}

/// The kernel that adds up what the subproblems stored.
pub const REDUCE: &str = "histogram_reduce";

/// Bits of a bin's number.
fn bits(spec: &Spec) -> u32 {
    spec.bins.next_power_of_two().ilog2()
}

/// The kernel of a case, how it is launched, and the least value of each bin.
pub struct Kernels {
    spec: Spec,
    timed: cuda::Kernel,
    reduce: cuda::Kernel,
    bounds: DeviceBuffer<f32>,
    layout: Layout,
    /// Threads of a block, and blocks that are at work at once.
    block: u32,
    resident: u32,
}

/// One launch: its values, and where their counts go.
pub struct Counting<'a> {
    pub x: DevicePtr<f32>,
    pub n: u64,
    pub counts: &'a DeviceBuffer<u64>,
    pub stored: &'a DeviceBuffer<u32>,
}

impl Kernels {
    /// Those of a case.
    ///
    /// # Errors
    /// `NotApplicable` where no multiprocessor has room for a block.
    pub fn new(gpu: &Gpu, module: &Module, spec: &Spec) -> Result<Kernels, Failure> {
        let timed = module.kernel(&name(spec))?;
        let layout = Layout::new(spec, gpu.device().shared_per_block);
        let (block, shared) = match spec.method {
            Method::Best => (layout::BLOCK, layout.bytes()),
            Method::Ballot(_) => (BLOCK, 0),
        };
        let resident = gpu.max_blocks(&timed, block, shared)?;
        let (reduce, bounds) = (module.kernel(REDUCE)?, gpu.upload(&spec.bounds())?);
        Ok(Kernels { spec: *spec, timed, reduce, bounds, layout, block, resident })
    }

    /// Bytes on the device.
    pub fn bytes(&self) -> u64 {
        self.bounds.bytes()
    }

    /// Whether the counts of the subproblems are stored; otherwise they are added to those of
    /// all, which must be 0 before.
    pub fn stores(&self) -> bool {
        self.spec.method == Method::Ballot(Ending::Reduction)
    }

    /// Queues the counting of a range, `column` of whose `all` stored subproblems is its first.
    pub fn count(&self, gpu: &Gpu, what: &Counting, (column, all): (u64, u64)) -> Result<(), Failure> {
        match self.spec.method {
            Method::Ballot(_) => self.ballot(gpu, what, (column, all)),
            Method::Best => {
                let args = [(&what.x).into(), (&what.n).into(), (&self.bounds).into(), (&self.layout).into()];
                let args = [&args[..], &[what.counts.into()]].concat();
                gpu.launch(&self.timed, self.blocks(what.n), self.block, self.layout.bytes(), &args)
            }
        }
    }

    /// Blocks that are at work at once, no more than there are tiles, and so many that 32 bits
    /// count the values of each.
    fn blocks(&self, n: u64) -> u32 {
        grid(n, tile(self.block)).min(self.resident).max(grid(n, 1 << 31))
    }

    fn ballot(&self, gpu: &Gpu, what: &Counting, (column, all): (u64, u64)) -> Result<(), Failure> {
        let all = if self.stores() { all } else { 0 };
        let work = Subproblems { size: SUBPROBLEM, column, all, bins: self.spec.bins as u32, unused: 0 };
        let args = [(&what.x).into(), (&what.n).into(), (&self.bounds).into(), (&work).into()];
        let args = [&args[..], &[what.counts.into(), what.stored.into()]].concat();
        gpu.launch(&self.timed, grid(what.n, SUBPROBLEM), self.block, 0, &args)
    }

    /// Queues the sums of what `all` subproblems stored, where they store it.
    pub fn reduce(
        &self,
        gpu: &Gpu,
        stored: &DeviceBuffer<u32>,
        all: u64,
        counts: &DeviceBuffer<u64>,
    ) -> Result<(), Failure> {
        if !self.stores() {
            return Ok(());
        }
        let args = [stored.into(), (&all).into(), counts.into()];
        gpu.launch(&self.reduce, self.spec.bins as u32, BLOCK, 0, &args)
    }
}
