//! hash-build on a GPU: the table is emptied, then a thread puts each record into it, in the order of the method.

use super::MODULE;
use super::inputs::{EMPTY, Table, TableArg, records_arg};
use crate::primitives::cuda::prelude::*;
use crate::primitives::hash_search::records::Records;
use crate::primitives::hash_search::{Build, methods};

/// The kernels that generate records and certify.
const FILL: &str = "hash_fill_pairs";
const CERTIFY: &str = "hash_certify_table";

/// The kernel that puts records into a table.
pub struct Insert(Kernel);

/// Keys and ids of some records, and the table that takes them.
#[derive(Clone, Copy)]
pub struct Put {
    pub table: TableArg,
    pub from: [DevicePtr<u32>; 2],
    pub n: u64,
}

impl Insert {
    fn name(spec: &Build) -> String {
        format!("hash_insert_{}", spec.layout().slots)
    }

    pub fn new(gpu: &Gpu, spec: &Build) -> Result<Insert, Failure> {
        gpu.module(MODULE)?.kernel(&Insert::name(spec)).map(Insert)
    }

    pub fn queue(&self, gpu: &Gpu, &Put { table, from: [keys, ids], n }: &Put) -> Result<(), Failure> {
        gpu.launch(&self.0, grid(n, u64::from(BLOCK)), BLOCK, 0, args![table, keys, ids, n])
    }
}

/// A case in device memory.
pub struct HashBuild {
    records: Records,
    table: Table,
    /// The records, and an extra one, which only a deliberate mistake reads.
    input: [DeviceBuffer<u32>; 2],
    method: GpuMethod<Put>,
    empty: Kernel,
    certify: Kernel,
    /// A bit for each record.
    seen: DeviceBuffer<u32>,
}

impl GpuJob for HashBuild {
    type Case = Build;

    fn kernels(spec: &Build, capability: ComputeCapability) -> Result<KernelList, Failure> {
        let own = KernelList::default().untimed(MODULE, [FILL]).timed(MODULE, EMPTY, 1);
        let split = own.and(methods::cuda::build_kernels(spec, capability), 1);
        Ok(split.timed(MODULE, Insert::name(spec), 1).untimed(MODULE, [CERTIFY]))
    }

    fn plan(spec: &Build, fault: Option<Fault>) -> LaunchPlan {
        methods::cuda::build_plan(spec, fault)
    }

    fn prepare(spec: Build, setup: &GpuSetup) -> Result<HashBuild, Failure> {
        let (gpu, records) = (setup.gpu, spec.records());
        let (module, n) = (gpu.module(MODULE)?, spec.count + 1);
        let input = [array(gpu, n)?, array(gpu, n)?];
        launch_over(gpu, &module.kernel(FILL)?, n, args![input[0], input[1], records_arg(&records), n])?;
        Ok(HashBuild {
            table: Table::new(gpu, spec.layout(), &records)?,
            input,
            method: methods::cuda::build(gpu, &spec)?,
            empty: module.kernel(EMPTY)?,
            certify: module.kernel(CERTIFY)?,
            seen: array(gpu, spec.count.div_ceil(32).max(1))?,
            records,
        })
    }

    fn begin(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        self.table.clear(gpu, &self.empty)
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let first = length(part.first + part.shift)?;
        let from = [self.input[0].pointer_at(first)?, self.input[1].pointer_at(first)?];
        (self.method)(gpu, &Put { table: self.table.arg(), from, n: part.count })
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        vec![OutputArray::new(&mut self.table.slots, 8)]
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.input[0]))
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
