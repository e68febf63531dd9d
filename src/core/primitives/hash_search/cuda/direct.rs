//! hash-search with the method `direct`: one launch, in which each warp looks for some keys.

use super::inputs::{Keys, Table, table_kernels};
use super::{CERTIFY, MODULE, Results, Searcher};
use crate::case::Failure;
use crate::device::cuda::{DevicePtr, Gpu, Kernel, KernelList, LaunchPart, OutputArray, args};
use crate::primitives::cuda::{BLOCK, grid, length};
use crate::primitives::hash_search::layout::Layout;
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;

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

/// The method with its table.
pub struct Direct {
    table: Table,
    lookup: Lookup,
    results: Results,
}

impl Direct {
    /// The kernels of a case.
    pub fn kernels(spec: &Search) -> KernelList {
        let layout = spec.layout();
        table_kernels(&layout).timed(MODULE, Lookup::name(&layout), 1).untimed(MODULE, [CERTIFY])
    }

    pub fn new(gpu: &Gpu, spec: &Search, searches: &Searches) -> Result<Direct, Failure> {
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
