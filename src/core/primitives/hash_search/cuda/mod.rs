//! Hash tables on a GPU (`kernels/hash_search/hash_search.cu`): building ([`build`]), and what the methods of searches share.

pub mod build;
pub mod inputs;

use super::methods;
use crate::device::cuda::pointer_or_null;
use crate::primitives::cuda::prelude::*;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::{Form, Search};
use inputs::{Keys, Table, table_kernels};

/// The module of the kernels.
pub const MODULE: &str = "hash_search";

/// The arguments of an execution: the keys and their number, and the arrays of the results, as in [`Search::written`].
#[derive(Clone, Copy)]
pub struct Call {
    pub keys: DevicePtr<u32>,
    pub beside: DevicePtr<u32>,
    pub between: DevicePtr<u32>,
    pub out: DevicePtr<u32>,
    /// The offset behind the results of the last key, if there are offsets.
    pub end: DevicePtr<u32>,
    pub n: u64,
}

/// A table, and the kernel that searches it.
pub struct Lookup {
    table: Table,
    kernel: Kernel,
}

impl Lookup {
    fn name(spec: &Search) -> String {
        format!("hash_search_{}", spec.layout().slots)
    }

    pub fn kernels(spec: &Search) -> KernelList {
        table_kernels(&spec.layout()).timed(MODULE, Lookup::name(spec), 1)
    }

    pub fn new(gpu: &Gpu, spec: &Search) -> Result<Lookup, Failure> {
        let table = Table::filled(gpu, spec.layout(), &spec.records())?;
        Ok(Lookup { table, kernel: gpu.module(MODULE)?.kernel(&Lookup::name(spec))? })
    }

    /// Queues the searches for `n` keys. A block has `SEARCH_WARPS * TILE` of them.
    pub fn queue(&self, gpu: &Gpu, keys: DevicePtr<u32>, out: DevicePtr<u32>, n: u64) -> Result<(), Failure> {
        let tile = u64::from(BLOCK) * if self.table.layout.slots == 8 { 2 } else { 4 };
        gpu.launch(&self.kernel, grid(n, tile), BLOCK, 0, args![self.table.arg(), keys, out, n])
    }
}

/// A case in device memory.
pub struct HashSearch {
    spec: Search,
    keys: Keys,
    /// The arrays of [`Search::written`].
    beside: DeviceBuffer<u32>,
    between: DeviceBuffer<u32>,
    out: DeviceBuffer<u32>,
    method: GpuMethod<Call>,
    certify: Kernel,
    /// A bit for each search whose number stands beside its result.
    seen: DeviceBuffer<u32>,
}

/// The kernel that certifies.
fn certify(spec: &Search) -> &'static str {
    match spec.form() {
        Form::Matches => "hash_certify_matches",
        _ => "hash_certify_search",
    }
}

impl GpuJob for HashSearch {
    type Case = Search;

    /// Keys, records, entries and their headers; the records that are found and where those of each key begin. Each pass of
    /// a gather declares a part of the records alone.
    fn moved(&self, declared: [u64; 2]) -> [u64; 2] {
        let spec = &self.spec;
        let inputs = 4 * spec.keys + 16 * spec.count + 4 * (spec.headers() + 1);
        match spec.form() {
            Form::Matches => [inputs, self.beside.bytes() + self.out.bytes()],
            _ => declared,
        }
    }

    fn kernels(spec: &Search, capability: ComputeCapability) -> Result<KernelList, Failure> {
        let certified = methods::cuda::kernels(spec, capability).untimed(MODULE, [certify(spec)]);
        Ok(certified.untimed(MODULE, Keys::KERNELS))
    }

    fn plan(spec: &Search, fault: Option<Fault>) -> LaunchPlan {
        match spec.form() {
            Form::InOrder => LaunchPlan::ranges(spec.keys, fault),
            _ => LaunchPlan::prefix(spec.keys, fault),
        }
    }

    fn prepare(spec: Search, setup: &GpuSetup) -> Result<HashSearch, Failure> {
        let gpu = setup.gpu;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        let [beside, between, out] = spec.written();
        let numbered = if spec.form() == Form::Numbered { spec.keys.div_ceil(32) } else { 0 };
        Ok(HashSearch {
            keys: Keys::new(gpu, &searches, spec.keys)?,
            method: methods::cuda::method(gpu, &spec)?,
            beside: array(gpu, beside)?,
            between: array(gpu, between)?,
            out: array(gpu, out)?,
            certify: gpu.module(MODULE)?.kernel(certify(&spec))?,
            seen: array(gpu, numbered.max(1))?,
            spec,
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let call = Call {
            keys: self.keys.keys.pointer_at(length(part.first + part.shift)?)?,
            beside: self.beside.pointer(),
            between: self.between.pointer(),
            out: self.out.pointer_at(length(part.first)?)?,
            end: self.beside.pointer_at(length(part.count)?.min(self.beside.len()))?,
            n: part.count,
        };
        (self.method)(gpu, &call)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        let HashSearch { spec, keys, beside, out, certify, seen, .. } = self;
        let (n, most) = (spec.keys, spec.most_matches());
        let finding = find(gpu, |report| {
            if spec.form() == Form::Matches {
                let args = args![beside, out, keys.arg, most, n, report];
                return launch_over(gpu, certify, n, args);
            }
            let numbers = pointer_or_null(Some(&*beside).filter(|numbers| !numbers.is_empty()));
            gpu.memset32(seen, 0)?;
            launch_over(gpu, certify, n, args![out, numbers, keys.arg, seen, n, report])
        })?;
        Ok(Verdict::of(finding.unchecked(n, "searches").or_else(|| finding.mistake("out")), n))
    }

    fn input(&self) -> Option<InputArray> {
        Some(InputArray::new(&self.keys.keys))
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let found = (self.spec.form() == Form::Matches).then(|| self.found());
        let [beside, between] = [&mut self.beside, &mut self.between].map(|array| OutputArray::new(array, 4));
        let out = match found {
            Some(found) => OutputArray::new(&mut self.out, 8).first(found),
            None => OutputArray::new(&mut self.out, 4).losing_stores(),
        };
        vec![beside, between.first(0), out]
    }
}

impl HashSearch {
    /// The records that the last execution has found, as far as there is room for them. An error of the driver shows
    /// again where the arrays are read.
    fn found(&self) -> u64 {
        let last = self.beside.len() - 1;
        let total = self.beside.range_to_host(last..last + 1).map_or(0, |total| total[0]);
        (self.out.len() as u64 / 2).min(total.into())
    }
}
