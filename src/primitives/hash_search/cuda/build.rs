//! hash-build on a GPU: the table is emptied, then a thread puts each record into it.

use super::MODULE;
use super::inputs::{EMPTY, Table, records_arg};
use crate::case::{Cancel, Failure, Fault, Verdict};
use crate::device::cuda::{
    DeviceBuffer, Gpu, GpuFacts, GpuJob, GpuSetup, Kernel, KernelName, LaunchPart, LaunchPlan, Launched,
    args, kernel_names, poison,
};
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::hash_search::layout::Layout;
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::spec::Build;

/// The kernels that generate records and certify.
const FILL: &str = "hash_fill_records";
const CERTIFY: &str = "hash_certify_table";

/// The kernel that puts records into a table.
fn insert(layout: &Layout) -> String {
    format!("hash_insert_{}", layout.slots)
}

/// A case in device memory.
pub struct Building {
    records: Records,
    table: Table,
    /// The records, and an extra one, which only a deliberate mistake reads.
    input: DeviceBuffer<u64>,
    empty: Kernel,
    insert: Kernel,
    certify: Kernel,
    /// A bit for each record.
    seen: DeviceBuffer<u32>,
}

impl GpuJob for Building {
    type Case = Build;

    fn launched(spec: &Build) -> Result<Launched, Failure> {
        Ok(Launched { kernel: format!("regex:^({EMPTY}|{})$", insert(&spec.layout())), launches: 2 })
    }

    fn kernels(spec: &Build, _gpu: &GpuFacts) -> Result<Vec<KernelName>, Failure> {
        Ok(kernel_names(MODULE, [FILL, EMPTY, &insert(&spec.layout()), CERTIFY]))
    }

    fn needed(spec: &Build, _gpus: u64) -> u64 {
        spec.layout().bytes() + 8 * (spec.count + 1) + spec.count / 8 + (1 << 20)
    }

    fn plan(spec: &Build, fault: Option<Fault>) -> LaunchPlan {
        LaunchPlan::ranges(spec.count, fault)
    }

    fn prepare(spec: Build, setup: &GpuSetup) -> Result<Building, Failure> {
        let (gpu, records, layout) = (setup.gpu, spec.records(), spec.layout());
        let (module, n) = (gpu.module(MODULE)?, spec.count + 1);
        let input = gpu.alloc(length(n)?)?;
        launch_over(gpu, &module.kernel(FILL)?, n, args![input, records_arg(&records), n])?;
        Ok(Building {
            table: Table::new(gpu, layout, &records)?,
            input,
            empty: module.kernel(EMPTY)?,
            insert: module.kernel(&insert(&layout))?,
            certify: module.kernel(CERTIFY)?,
            seen: gpu.alloc(length(spec.count.div_ceil(32).max(1))?)?,
            records,
        })
    }

    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.table.slots)
    }

    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let slots = self.table.layout.all_slots();
        launch_over(gpu, &self.empty, slots, args![self.table.slots, self.table.empty, slots])
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let from = self.input.pointer_at(length(part.first + part.shift)?)?;
        let blocks = grid(part.count, u64::from(BLOCK));
        gpu.launch(&self.insert, blocks, BLOCK, 0, args![self.table.arg(), from, part.count])
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let (slots, count) = (self.table.layout.all_slots(), self.records.count);
        let finding = find(gpu, |report| {
            gpu.memset32(&mut self.seen, 0)?;
            let (per_bucket, records) = (self.table.layout.slots, records_arg(&self.records));
            let table = self.table.arg();
            let args = args![table, records, per_bucket, self.seen, slots, report];
            launch_over(gpu, &self.certify, slots, args)
        })?;
        let missing = || {
            (finding.touched != count)
                .then(|| format!("{} of {count} records are in the table", finding.touched))
        };
        let mistake = finding.unchecked(slots, "slots").or_else(|| finding.mistake("table"));
        Ok(Verdict::of(mistake.or_else(missing), count))
    }

    fn output(&mut self, _gpu: &Gpu) -> Result<Vec<u8>, Failure> {
        Ok(self.table.slots.to_host()?.into_iter().flat_map(u64::to_le_bytes).collect())
    }

    fn memory(&self) -> u64 {
        self.table.slots.bytes() + self.input.bytes() + self.seen.bytes()
    }
}
