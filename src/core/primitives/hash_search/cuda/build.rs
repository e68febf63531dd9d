//! hash-build on a GPU: the table is emptied, then a thread puts each record into it, with `partitioned` in the order
//! of the parts of the table, which a multisplit of the records makes.

use super::MODULE;
use super::inputs::{EMPTY, Table, records_arg};
use super::partitioned::variant;
use crate::primitives::cuda::prelude::*;
use crate::primitives::hash_search::layout::Layout;
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::spec::{Build, BuildMethod};
use crate::primitives::multisplit::cuda::Split;
use crate::primitives::multisplit::cuda::fused::{self, Passes};
use crate::primitives::multisplit::cuda::input::Function;
use crate::primitives::multisplit::tiles::KernelVariant;

/// The kernels that generate records and certify.
const FILL: &str = "hash_fill_pairs";
const CERTIFY: &str = "hash_certify_table";

/// The kernel that puts records into a table.
fn insert(layout: &Layout) -> String {
    format!("hash_insert_{}", layout.slots)
}

/// The records in the order of the parts of the table.
struct Partitions {
    passes: Passes,
    function: Function,
    records: [DeviceBuffer<u32>; 2],
}

/// The split of a partitioned case.
fn split(spec: &Build) -> Option<KernelVariant> {
    matches!(spec.method, BuildMethod::Partitioned { .. }).then(|| variant(spec.bits(), 4))
}

impl Partitions {
    fn new(gpu: &Gpu, spec: &Build, split: KernelVariant) -> Result<Partitions, Failure> {
        let (passes, n) = (Passes::new(gpu, split, spec.count)?, spec.count.max(1));
        let records = [array(gpu, n)?, array(gpu, n)?];
        Ok(Partitions { passes, function: Function::high_bits_of_hash(spec.bits() as u32), records })
    }
}

/// A case in device memory.
pub struct HashBuild {
    records: Records,
    table: Table,
    /// The records, and an extra one, which only a deliberate mistake reads.
    input: [DeviceBuffer<u32>; 2],
    partitions: Option<Partitions>,
    empty: Kernel,
    insert: Kernel,
    certify: Kernel,
    /// A bit for each record.
    seen: DeviceBuffer<u32>,
}

impl GpuJob for HashBuild {
    type Case = Build;

    fn kernels(spec: &Build, capability: ComputeCapability) -> Result<KernelList, Failure> {
        let own = KernelList::default().untimed(MODULE, [FILL]).timed(MODULE, EMPTY, 1);
        let split = split(spec).map(|split| fused::split_kernels(split, fused::bulk(capability)));
        let inserted = own.and(split.unwrap_or_default(), 1).timed(MODULE, insert(&spec.layout()), 1);
        Ok(inserted.untimed(MODULE, [CERTIFY]))
    }

    fn plan(spec: &Build, fault: Option<Fault>) -> LaunchPlan {
        // Nothing but what a launch leaves out is missing from a table, so no store can be taken back.
        match split(spec) {
            Some(_) if fault == Some(Fault::SkippedStore) => {
                LaunchPlan::prefix(spec.count, Some(Fault::MissingTail))
            }
            Some(_) => LaunchPlan::prefix(spec.count, fault),
            None => LaunchPlan::ranges(spec.count, fault),
        }
    }

    fn prepare(spec: Build, setup: &GpuSetup) -> Result<HashBuild, Failure> {
        let (gpu, records, layout) = (setup.gpu, spec.records(), spec.layout());
        let (module, n) = (gpu.module(MODULE)?, spec.count + 1);
        let input = [array(gpu, n)?, array(gpu, n)?];
        launch_over(gpu, &module.kernel(FILL)?, n, args![input[0], input[1], records_arg(&records), n])?;
        Ok(HashBuild {
            table: Table::new(gpu, layout, &records)?,
            input,
            partitions: split(&spec).map(|split| Partitions::new(gpu, &spec, split)).transpose()?,
            empty: module.kernel(EMPTY)?,
            insert: module.kernel(&insert(&layout))?,
            certify: module.kernel(CERTIFY)?,
            seen: array(gpu, spec.count.div_ceil(32).max(1))?,
            records,
        })
    }

    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        let slots = self.table.layout.all_slots();
        launch_over(gpu, &self.empty, slots, args![self.table.slots, self.table.empty, slots])
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let (first, n) = (length(part.first + part.shift)?, part.count);
        let mut from = [self.input[0].pointer_at(first)?, self.input[1].pointer_at(first)?];
        if let Some(Partitions { passes, function, records }) = &self.partitions {
            let to = [records[0].pointer(), records[1].pointer()];
            let (offsets, function) = (DevicePtr::null(), *function);
            passes.split(gpu, &Split { from, n, to, offsets, function }, u32::MAX)?;
            from = to;
        }
        let blocks = grid(n, u64::from(BLOCK));
        gpu.launch(&self.insert, blocks, BLOCK, 0, args![self.table.arg(), from[0], from[1], n])
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.table.slots, 8)]
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
}
