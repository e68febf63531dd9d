//! hash-search on a GPU: one launch, in which each warp looks for some keys.

use super::MODULE;
use super::inputs::{Keys, Table, table_kernels};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, GpuFacts, GpuJob, GpuSetup, Kernel, KernelName, LaunchPart, LaunchPlan,
    Launched, args, kernel_names, poison,
};
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::hash_search::layout::Layout;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;

/// The kernel that certifies.
const CERTIFY: &str = "hash_certify_search";

/// Searches per block: `SEARCH_WARPS * TILE` in the kernels.
fn tile(layout: &Layout) -> u64 {
    u64::from(BLOCK) * if layout.slots == 8 { 2 } else { 4 }
}

/// The timed kernel's name in the PTX.
fn name(layout: &Layout) -> String {
    format!("hash_search_{}", layout.slots)
}

/// A case in device memory.
pub struct Searching {
    spec: Search,
    table: Table,
    keys: Keys,
    out: DeviceBuffer<u32>,
    timed: Kernel,
    certify: Kernel,
}

impl GpuJob for Searching {
    type Case = Search;

    fn launched(spec: &Search) -> Result<Launched, Failure> {
        Ok(Launched { kernel: name(&spec.layout()), launches: 1 })
    }

    fn kernels(spec: &Search, _gpu: &GpuFacts) -> Result<Vec<KernelName>, Failure> {
        let layout = spec.layout();
        let own = [name(&layout), CERTIFY.to_owned()];
        Ok([table_kernels(&layout), kernel_names(MODULE, Keys::KERNELS), kernel_names(MODULE, own)].concat())
    }

    fn needed(spec: &Search, _gpus: u64) -> u64 {
        spec.layout().bytes() + 8 * (spec.keys + 1) + (1 << 20)
    }

    fn plan(spec: &Search, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.keys, fault)
    }

    fn prepare(spec: Search, setup: &GpuSetup) -> Result<Searching, Failure> {
        let (gpu, layout, module) = (setup.gpu, spec.layout(), setup.gpu.module(MODULE)?);
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        Ok(Searching {
            table: Table::filled(gpu, layout, &searches.records)?,
            keys: Keys::new(gpu, &searches, spec.keys)?,
            out: gpu.alloc(length(spec.keys)?)?,
            timed: module.kernel(&name(&layout))?,
            certify: module.kernel(CERTIFY)?,
            spec,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.out)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let keys = self.keys.keys.pointer_at(length(part.first + part.shift)?)?;
        let (out, layout) = (self.out.pointer_at(length(part.first)?)?, &self.table.layout);
        let table = self.table.arg();
        let args = args![table, keys, out, part.count];
        gpu.launch(&self.timed, grid(part.count, tile(layout)), BLOCK, 0, args)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (n, none) = (self.spec.keys, DevicePtr::<u32>::null());
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![self.out, none, self.keys.arg, none, n, report])
        })?;
        Ok(Verdict::of(finding.unchecked(n, "searches").or_else(|| finding.mistake("out")), n))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        Ok(self.out.to_host()?.into_iter().flat_map(u32::to_le_bytes).collect())
    }

    fn memory(&self) -> u64 {
        self.table.slots.bytes() + self.keys.bytes() + self.out.bytes()
    }
}
