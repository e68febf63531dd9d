//! hash-search with the method `he2007` (§4.2): matches are counted, the counts summed, ids written, and records gathered
//! by their ids, in a launch for each pass, which reads all ids (`kernels/hash_search/chained.cuh`). A key's entries are read
//! twice, to count and to locate them.

use super::inputs::{Keys, RecordsArg, records_arg};
use super::{MODULE, Searcher};
use crate::primitives::cuda::prelude::*;
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
        let tiles = array(gpu, most.div_ceil(SUM_TILE).max(1))?;
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
        let records = array(gpu, n)?;
        launch_over(gpu, &module.kernel(FILL)?, n, args![records, arg, n])?;
        let starts = array(gpu, headers + 1)?;
        let mut he2007 = He2007 {
            starts,
            entries: array(gpu, n)?,
            records,
            timed: module.kernels(TIMED)?,
            sums,
            certify: module.kernel(CERTIFY)?,
            offsets: array(gpu, spec.keys + 1)?,
            ids: array(gpu, spec.most_matches().max(1))?,
            out: array(gpu, spec.most_matches().max(1))?,
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

    /// The records that the last execution has found, as far as there is room for them. An error of the driver shows
    /// again where the arrays are read.
    fn found(&self) -> u64 {
        let last = self.offsets.len() - 1;
        let total = self.offsets.range_to_host(last..last + 1).map_or(0, |total| total[0]);
        (self.out.len() as u64).min(total.into())
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

    fn outputs(&mut self) -> Vec<OutputArray<'_>> {
        let found = self.found();
        let [offsets, ids] = [&mut self.offsets, &mut self.ids].map(|array| OutputArray::new(array, 4));
        vec![offsets, ids.first(0), OutputArray::new(&mut self.out, 8).first(found)]
    }
}
