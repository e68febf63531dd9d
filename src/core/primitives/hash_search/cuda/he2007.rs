//! hash-search with the method `he2007`: matches are counted, the counts summed, ids written, and records gathered
//! by their ids, in a launch for each pass (`kernels/hash_search/chained.cuh`).

use super::MODULE;
use super::inputs::{Keys, RecordsArg, records_arg};
use super::search::Searcher;
use crate::case::Failure;
use crate::device::cuda::{
    DeviceBuffer, DevicePtr, Gpu, Kernel, KernelList, LaunchPart, args, device_struct, poison,
};
use crate::primitives::cuda::check_report::find;
use crate::primitives::cuda::{BLOCK, grid, launch_over, length};
use crate::primitives::hash_search::records::Searches;
use crate::primitives::hash_search::spec::Search;

/// The kernels that sum counts.
const SUMS: [&str; 3] = ["hash_tile_sums", "hash_sum_tiles", "hash_offsets"];

/// The other timed kernels.
const TIMED: [&str; 3] = ["hash_match_count", "hash_match_ids", "hash_gather"];

/// The kernels that make the table and the records, and the certificate's.
const CHAINS: [&str; 2] = ["hash_chain_count", "hash_chain_place"];
const FILL: &str = "hash_fill_records";
const CERTIFY: &str = "hash_certify_matches";

/// Counts per block, `SUM_BLOCK * SUM_ITEMS` in the kernels, and threads of a block.
const SUM_TILE: u64 = 4096;
const SUM_BLOCK: u32 = 512;

/// Records per block of the gather: some for each thread.
const GATHERED: u64 = 4 * BLOCK as u64;

device_struct! {
    /// `Chained` in the kernels.
    struct ChainedArg: 24 {
        starts: DevicePtr<u32>,
        entries: DevicePtr<u64>,
        headers: u32,
        unused: u32,
    }
}

/// The sums over counts.
struct Sums {
    kernels: [Kernel; 3],
    tiles: DeviceBuffer<u64>,
}

impl Sums {
    fn new(gpu: &Gpu, most: u64) -> Result<Sums, Failure> {
        let tiles = gpu.alloc(length(most.div_ceil(SUM_TILE).max(1))?)?;
        Ok(Sums { kernels: gpu.module(MODULE)?.kernels(SUMS)?, tiles })
    }

    /// Queues counts[i] = the sum of all counts before i, for n counts.
    fn sum(&self, gpu: &Gpu, counts: &DeviceBuffer<u32>, n: u64) -> Result<(), Failure> {
        let (blocks, [tile, all, offsets]) = (grid(n, SUM_TILE), &self.kernels);
        gpu.launch(tile, blocks, SUM_BLOCK, 0, args![counts, self.tiles, n])?;
        gpu.launch(all, 1, 1024, 0, args![self.tiles, u64::from(blocks)])?;
        gpu.launch(offsets, blocks, SUM_BLOCK, 0, args![counts, self.tiles, n])
    }
}

/// The method with its table.
pub struct He2007 {
    spec: Search,
    starts: DeviceBuffer<u32>,
    entries: DeviceBuffer<u64>,
    records: DeviceBuffer<u64>,
    timed: [Kernel; 3],
    sums: Sums,
    certify: Kernel,
    /// The matches of each key, then their offsets, and the number of matches.
    offsets: DeviceBuffer<u32>,
    /// The paper's L.
    ids: DeviceBuffer<u32>,
    out: DeviceBuffer<u64>,
}

impl He2007 {
    /// The kernels of a case.
    pub fn kernels(spec: &Search) -> KernelList {
        let timed = SUMS.into_iter().chain(TIMED).zip([1, 1, 1, 1, 1, spec.passes()]);
        KernelList::default()
            .timed_all(MODULE, timed)
            .untimed(MODULE, CHAINS)
            .untimed(MODULE, [FILL, CERTIFY])
    }

    pub fn new(gpu: &Gpu, spec: &Search, searches: &Searches) -> Result<He2007, Failure> {
        let (module, headers, n) = (gpu.module(MODULE)?, spec.headers(), spec.count);
        let sums = Sums::new(gpu, (headers + 1).max(spec.keys + 1))?;
        let arg = records_arg(&searches.records);
        let records = gpu.alloc(length(n)?)?;
        launch_over(gpu, &module.kernel(FILL)?, n, args![records, arg, n])?;
        let starts = gpu.alloc(length(headers + 1)?)?;
        let mut he2007 = He2007 {
            starts,
            entries: gpu.alloc(length(n)?)?,
            records,
            timed: module.kernels(TIMED)?,
            sums,
            certify: module.kernel(CERTIFY)?,
            offsets: gpu.alloc(length(spec.keys + 1)?)?,
            ids: gpu.alloc(length(spec.most_matches().max(1))?)?,
            out: gpu.alloc(length(spec.most_matches().max(1))?)?,
            spec: *spec,
        };
        he2007.chain(gpu, arg, module.kernels(CHAINS)?)?;
        Ok(he2007)
    }

    /// Makes the table: the entries of each header are counted, the counts summed, and the entries stored.
    fn chain(&mut self, gpu: &Gpu, records: RecordsArg, [count, place]: [Kernel; 2]) -> Result<(), Failure> {
        let (headers, n) = (self.spec.headers() as u32, self.spec.count);
        gpu.memset32(&mut self.starts, 0)?;
        launch_over(gpu, &count, n, args![self.starts, headers, records, n])?;
        self.sums.sum(gpu, &self.starts, u64::from(headers) + 1)?;
        launch_over(gpu, &place, n, args![self.starts, self.entries, headers, records, n])
    }

    fn table(&self) -> ChainedArg {
        ChainedArg {
            starts: self.starts.pointer(),
            entries: self.entries.pointer(),
            headers: self.spec.headers() as u32,
            unused: 0,
        }
    }
}

impl Searcher for He2007 {
    fn clear(&mut self, gpu: &Gpu) -> Result<(), Failure> {
        poison(gpu, &mut self.offsets)?;
        poison(gpu, &mut self.ids)?;
        poison(gpu, &mut self.out)
    }

    fn search(&mut self, gpu: &Gpu, keys: DevicePtr<u32>, part: LaunchPart) -> Result<(), Failure> {
        let (n, table, [count, ids, gather]) = (part.count, self.table(), &self.timed);
        let blocks = grid(n + 1, u64::from(BLOCK));
        gpu.launch(count, blocks, BLOCK, 0, args![table, keys, self.offsets, n])?;
        self.sums.sum(gpu, &self.offsets, n + 1)?;
        gpu.launch(ids, blocks, BLOCK, 0, args![table, keys, self.offsets, self.ids, n])?;
        let (passes, records) = (self.spec.passes(), self.spec.count);
        let (span, total) = (records.div_ceil(passes).max(1), self.offsets.pointer_at(length(n)?)?);
        let blocks = grid(n * self.spec.copies.max(1), GATHERED);
        for low in (0..passes).map(|pass| pass * span).filter(|low| *low < records) {
            let (low, span) = (low as u32, span as u32);
            let args = args![self.out, self.records, self.ids, total, low, span];
            gpu.launch(gather, blocks, BLOCK, 0, args)?;
        }
        Ok(())
    }

    fn mistake(&mut self, gpu: &Gpu, keys: &Keys, n: u64) -> Result<Option<String>, Failure> {
        let most = self.spec.most_matches();
        let finding = find(gpu, |report| {
            launch_over(gpu, &self.certify, n, args![self.offsets, self.out, keys.arg, most, n, report])
        })?;
        Ok(finding.unchecked(n, "searches").or_else(|| finding.mistake("out")))
    }

    fn output(&self) -> Result<Vec<u8>, Failure> {
        let offsets = self.offsets.to_host()?;
        let total = offsets.last().copied().unwrap_or(0) as usize;
        let found = self.out.range_to_host(0..total.min(self.out.len()))?;
        let bytes = offsets.into_iter().flat_map(u32::to_le_bytes);
        Ok(bytes.chain(found.into_iter().flat_map(u64::to_le_bytes)).collect())
    }

    fn written(&mut self) -> &mut DeviceBuffer<u32> {
        &mut self.offsets
    }
}
