//! Hash tables on a GPU (`kernels/hash_search/hash_search.cu`): building ([`build`]), what the methods of searches share, and their
//! method `direct`.

pub mod build;
mod he2007;
mod inputs;
mod partitioned;

use crate::device::cuda::pointer_or_null;
use crate::primitives::cuda::prelude::*;
use crate::primitives::hash_search::layout::Layout;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::{Method, Search};
use crate::primitives::multisplit::cuda::fused;
use he2007::He2007;
use inputs::{Keys, Table, table_kernels};
use partitioned::Partitioned;

/// The module of the kernels.
const MODULE: &str = "hash_search";

/// A method with its table, its output and its temporary arrays.
pub trait Searcher: Send {
    /// Queues the searches for `part.count` keys from `keys` on.
    fn search(&mut self, gpu: &Gpu, keys: DevicePtr<u32>, part: LaunchPart) -> Result<(), Failure>;

    /// The first mistake in the results of `n` searches.
    fn mistake(&mut self, gpu: &Gpu, keys: &Keys, n: u64) -> Result<Option<String>, Failure>;

    /// The arrays that an execution writes, in the order in which the oracle reads them.
    fn outputs(&mut self) -> Vec<OutputArray<'_>>;
}

/// The kernel that certifies one result per search.
pub const CERTIFY: &str = "hash_certify_search";

/// The results of searches, and their numbers if they are in another order; with the kernel that certifies.
pub struct Results {
    pub out: DeviceBuffer<u32>,
    pub numbers: Option<DeviceBuffer<u32>>,
    seen: DeviceBuffer<u32>,
    certify: Kernel,
}

impl Results {
    /// Room for `n` results, with their numbers or without.
    pub fn new(gpu: &Gpu, n: u64, numbered: bool) -> Result<Results, Failure> {
        let bitmap = if numbered { n.div_ceil(32) } else { 0 };
        Ok(Results {
            out: array(gpu, n)?,
            numbers: numbered.then(|| array(gpu, n)).transpose()?,
            seen: array(gpu, bitmap.max(1))?,
            certify: gpu.module(MODULE)?.kernel(CERTIFY)?,
        })
    }

    pub fn mistake(&mut self, gpu: &Gpu, keys: &Keys, n: u64) -> Result<Option<String>, Failure> {
        let Results { out, numbers, seen, certify } = self;
        let numbers = pointer_or_null(numbers.as_ref());
        let finding = find(gpu, |report| {
            gpu.memset32(seen, 0)?;
            launch_over(gpu, certify, n, args![out, numbers, keys.arg, seen, n, report])
        })?;
        Ok(finding.unchecked(n, "searches").or_else(|| finding.mistake("out")))
    }

    /// The numbers, if there are any, then the results.
    pub fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let numbers = self.numbers.iter_mut().map(|numbers| OutputArray::new(numbers, 4));
        numbers.chain([OutputArray::new(&mut self.out, 4).losing_stores()]).collect()
    }
}

/// The kernel that searches a table.
pub struct Lookup(Kernel);

impl Lookup {
    /// Its name in the PTX.
    pub fn name(layout: &Layout) -> String {
        format!("hash_search_{}", layout.slots)
    }

    pub fn new(gpu: &Gpu, layout: &Layout) -> Result<Lookup, Failure> {
        Ok(Lookup(gpu.module(MODULE)?.kernel(&Lookup::name(layout))?))
    }

    /// Queues the searches for `n` keys. A block has `SEARCH_WARPS * TILE` of them.
    pub fn queue(
        &self,
        gpu: &Gpu,
        table: &Table,
        keys: DevicePtr<u32>,
        out: DevicePtr<u32>,
        n: u64,
    ) -> Result<(), Failure> {
        let tile = u64::from(BLOCK) * if table.layout.slots == 8 { 2 } else { 4 };
        gpu.launch(&self.0, grid(n, tile), BLOCK, 0, args![table.arg(), keys, out, n])
    }
}

/// The method `direct` with its table: one launch, in which each warp looks for some keys.
struct Direct {
    table: Table,
    lookup: Lookup,
    results: Results,
}

impl Direct {
    /// The kernels of a case.
    fn kernels(spec: &Search) -> KernelList {
        let layout = spec.layout();
        table_kernels(&layout).timed(MODULE, Lookup::name(&layout), 1).untimed(MODULE, [CERTIFY])
    }

    fn new(gpu: &Gpu, spec: &Search, searches: &Searches) -> Result<Direct, Failure> {
        let layout = spec.layout();
        Ok(Direct {
            table: Table::filled(gpu, layout, &searches.records)?,
            lookup: Lookup::new(gpu, &layout)?,
            results: Results::new(gpu, spec.keys, false)?,
        })
    }
}

impl Searcher for Direct {
    fn search(&mut self, gpu: &Gpu, keys: DevicePtr<u32>, part: LaunchPart) -> Result<(), Failure> {
        let out = self.results.out.pointer_at(length(part.first)?)?;
        self.lookup.queue(gpu, &self.table, keys, out, part.count)
    }

    fn mistake(&mut self, gpu: &Gpu, keys: &Keys, n: u64) -> Result<Option<String>, Failure> {
        self.results.mistake(gpu, keys, n)
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        self.results.outputs()
    }
}

/// A case in device memory.
pub struct HashSearch {
    n: u64,
    /// Bytes of inputs and results, where they are not those that the passes declare.
    moved: Option<[u64; 2]>,
    keys: Keys,
    searcher: Box<dyn Searcher>,
}

/// The kernels of a method, with bulk copies or without.
fn method_kernels(spec: &Search, bulk: bool) -> KernelList {
    match spec.method {
        Method::He2007 { .. } => He2007::kernels(spec),
        Method::Partitioned { .. } => Partitioned::kernels(spec, bulk),
        _ => Direct::kernels(spec),
    }
}

/// The keys, the records and their headers; the records that are found and where those of each key begin. Each pass of
/// the gather declares a part of the records alone.
fn he2007_moved(spec: &Search) -> [u64; 2] {
    let table = 16 * spec.count + 4 * (spec.headers() + 1);
    [4 * spec.keys + table, 8 * spec.most_matches() + 4 * (spec.keys + 1)]
}

impl GpuJob for HashSearch {
    type Case = Search;

    fn moved(&self, declared: [u64; 2]) -> [u64; 2] {
        self.moved.unwrap_or(declared)
    }

    fn kernels(spec: &Search, capability: ComputeCapability) -> Result<KernelList, Failure> {
        Ok(method_kernels(spec, fused::bulk(capability)).untimed(MODULE, Keys::KERNELS))
    }

    fn plan(spec: &Search, fault: Option<Fault>) -> LaunchPlan {
        match spec.method {
            Method::He2007 { .. } | Method::Partitioned { .. } => LaunchPlan::prefix(spec.keys, fault),
            _ => LaunchPlan::ranges(spec.keys, fault),
        }
    }

    fn prepare(spec: Search, setup: &GpuSetup) -> Result<HashSearch, Failure> {
        let gpu = setup.gpu;
        let searches = Searches::of(&spec).map_err(|refused| Failure::NotApplicable(refused.to_string()))?;
        Ok(HashSearch {
            n: spec.keys,
            moved: matches!(spec.method, Method::He2007 { .. }).then(|| he2007_moved(&spec)),
            keys: Keys::new(gpu, &searches, spec.keys)?,
            searcher: match spec.method {
                Method::He2007 { .. } => Box::new(He2007::new(gpu, &spec, &searches)?),
                Method::Partitioned { .. } => Box::new(Partitioned::new(gpu, &spec, &searches)?),
                _ => Box::new(Direct::new(gpu, &spec, &searches)?),
            },
        })
    }

    fn enqueue(&mut self, gpu: &Gpu, part: LaunchPart) -> Result<(), Failure> {
        let keys = self.keys.keys.pointer_at(length(part.first + part.shift)?)?;
        self.searcher.search(gpu, keys, part)
    }

    fn judge(&mut self, gpu: &Gpu, _cancel: &Cancel) -> Result<Verdict, Failure> {
        Ok(Verdict::of(self.searcher.mistake(gpu, &self.keys, self.n)?, self.n))
    }

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        self.searcher.outputs()
    }
}
