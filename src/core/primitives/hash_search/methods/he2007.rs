//! Headers and chains (he2007 §4.2): an array of the entries of all headers, and where those of each begin. Matches are
//! counted, the counts summed, ids written, and records gathered by their ids in passes, each over a chunk of the records. A
//! key's entries are read twice, to count and to locate them; each pass reads all ids. On GPUs each step is a launch
//! (`kernels/hash_search/chained.cuh`); on processors a worker takes all steps for its keys.

use crate::case::BlockCost;
use crate::case::block_cost::LANES;
use crate::case::work::{Access, Order, Pass};
use crate::primitives::Costs;
use crate::primitives::hash_search::Search;
use crate::primitives::hash_search::work::{exp_minus, order, times};

/// Bytes of an entry: a key and an id.
const ENTRY: u64 = 8;

/// Counts that a block sums (`SUM_BLOCK * SUM_ITEMS` in the kernels), or on CPUs a worker.
const SUM_TILE: u64 = 4096;

/// Threads of a block of the steps of he2007, the blocks that are resident on a multiprocessor, and the ids that a thread
/// of the gather takes.
const BLOCK: u64 = 256;
const RESIDENT: u64 = 8;
const IDS: u64 = 4;

pub fn costs(spec: &Search) -> Costs<'_> {
    let table = 16 * spec.count + 4 * (spec.headers() + spec.keys);
    Costs::of_sampled(|| passes(spec))
        .beside(table + 4 * spec.keys + 12 * spec.most_matches())
        .blocks(blocks(spec))
}

/// Sectors that a search reads of the entries, which lie side by side: a run of m entries that begins anywhere in a
/// sector of s touches 1 + (m − 1)/s of them. A key that the table has is in a run of 1 + λ entries on average, for λ
/// records per header; any other in one of λ, which is empty with the chance e^−λ.
fn entries_of_a_search(spec: &Search) -> f64 {
    let sector = if spec.backend.is_cuda() { 32.0 } else { 64.0 };
    let each = sector / ENTRY as f64;
    let there = 1.0 - exp_minus(spec.load);
    let (hit, miss) = (1.0 + spec.load / each, there + (spec.load - there) / each);
    spec.hits * hit + (1.0 - spec.hits) * miss
}

/// The four steps of he2007 §4.2: headers and entries are visited for the counts and again for the ids. The counts are
/// summed by tiles, whose sums are summed before they are added; a pass of the gather scans L and takes the ids of its
/// chunk.
fn passes(spec: &Search) -> Vec<Pass> {
    let (n, count, passes) = (spec.keys, spec.count, spec.passes());
    let keys = Access::reads("keys", 4, n);
    let headers = Access::reads("headers", 4, n).within(4 * spec.headers()).ordered(order(spec));
    let entries = Access::reads("entries", ENTRY, times(n, entries_of_a_search(spec)));
    let entries = entries.within(ENTRY * count).ordered(order(spec));
    let counts = Access::reads("counts", 4, n);
    let [sums, summed] = [Access::reads, Access::writes].map(|of| of("sums", 8, n.div_ceil(SUM_TILE)));
    let matches = times(n * spec.copies, spec.hits);
    let gathered = matches.div_ceil(passes);
    vec![
        Pass::once([keys.clone(), Access::writes("counts", 4, n), headers.clone(), entries.clone()]),
        Pass::once([counts.clone(), summed.clone()]),
        Pass::once([sums.clone(), summed]),
        Pass::once([counts, Access::writes("offsets", 4, n), sums]),
        Pass::once([keys, Access::reads("offsets", 4, n), headers, entries, Access::writes("L", 4, matches)]),
        Pass::once([
            Access::reads("L", 4, matches),
            Access::reads("records", 8, gathered).within((8 * count).div_ceil(passes)).ordered(order(spec)),
            Access::writes("out", 8, gathered).within(8 * matches).ordered(Order::one_in(passes)),
        ])
        .times(passes),
    ]
}

/// The steps of he2007, whose threads wait for loads that depend on each other. A search loads its key, its header and
/// the entries, as many as the longest run of the warp has; two sectors have them, and the first cache all but the first
/// of each. In a pass of the gather a block looks up the number of ids, a thread takes four in turn, and its warp waits
/// for a record if one of the lanes has an id of the chunk.
fn blocks(spec: &Search) -> Vec<BlockCost> {
    let looping = |count: u64| BlockCost::of(count.div_ceil(BLOCK), RESIDENT);
    let probe = looping(spec.keys).loads(4.0).steps(3.0);
    let found = 1.0 - (1.0 - 1.0 / spec.passes() as f64).powi(LANES as i32);
    let gather = looping(spec.most_matches().div_ceil(IDS)).loads(IDS as f64 * (1.0 + found)).looks(1.0);
    let sums = BlockCost::default();
    vec![probe, sums, sums, sums, probe, gather]
}

pub mod cpu {
    use std::sync::atomic::{AtomicU32, Ordering};

    use crate::device::cpu::CacheLineSlot;
    use crate::inputs::mix::mix32;
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::hash_search::cpu::{HashSearch, Keys, Made, Results};
    use crate::primitives::hash_search::layout::slot_word;

    /// The table, and what workers tell each other.
    struct Chains {
        headers: u64,
        /// The first entry of each header, and the end of the last one's entries.
        starts: Buffer,
        entries: Buffer,
        records: Buffer,
        count: usize,
        passes: usize,
        /// The matches of each worker's keys.
        totals: Vec<CacheLineSlot>,
    }

    impl Chains {
        fn new(made: &Made) -> Result<Chains, Failure> {
            let (spec, pool, cancel) = (made.spec, &made.context.pool, made.context.cancel);
            let (count, source) = (spec.count as usize, spec.records());
            let mut records = Buffer::new(8 * count)?;
            let record = |id: usize| slot_word(source.key_of_record(id as u64), id as u32);
            pool.fill(&mut records, count, cancel, record)?;
            let chains = Chains {
                headers: spec.headers(),
                starts: Buffer::new(4 * (spec.headers() as usize + 1))?,
                entries: Buffer::new(8 * count)?,
                records,
                count,
                passes: spec.passes() as usize,
                totals: (0..pool.threads()).map(|_| CacheLineSlot::default()).collect(),
            };
            chains.chain(pool, cancel)?;
            Ok(chains)
        }

        fn header(&self, key: u32) -> usize {
            ((u64::from(mix32(key)) * self.headers) >> 32) as usize
        }

        fn record(&self, id: usize) -> u64 {
            // SAFETY: the records have been written, and nobody writes to them again.
            unsafe { self.records.read::<u64>(id..id + 1)[0] }
        }

        /// Makes the table: entries are counted one header further on than their own, so that once they are stored, the
        /// place behind those of a header is where the next begins.
        fn chain(&self, pool: &Pool, cancel: &Cancel) -> Result<(), Failure> {
            // SAFETY: nobody else has the array yet.
            unsafe { self.starts.write::<u32>(0..self.headers as usize + 1) }.fill(0);
            let next = |id: usize| {
                let header = self.header(self.record(id) as u32);
                // SAFETY: inside the array, which is accessed as atomic words only.
                unsafe { &*self.starts.ptr::<AtomicU32>().add(header + 1) }.fetch_add(1, Ordering::Relaxed)
                    as usize
            };
            pool.for_blocks(self.count, cancel, |block| {
                block.for_each(|id| {
                    next(id);
                });
            })?;
            // SAFETY: the workers are done.
            let starts = unsafe { self.starts.write::<u32>(0..self.headers as usize + 1) };
            let mut sum = 0;
            starts.iter_mut().for_each(|start| sum += std::mem::replace(start, sum));
            pool.for_blocks(self.count, cancel, |block| {
                // SAFETY: each entry has a place of its own.
                block
                    .for_each(|id| unsafe { self.entries.ptr::<u64>().add(next(id)).write(self.record(id)) });
            })
        }

        /// The entries with the hash of a key (steps 1 and 2).
        #[inline(always)]
        fn bucket(&self, key: u32) -> &[u64] {
            let header = self.header(key);
            // SAFETY: nobody writes to the table; starts lie inside the entries.
            unsafe {
                let bounds = self.starts.read::<u32>(header..header + 2);
                self.entries.read::<u64>(bounds[0] as usize..bounds[1] as usize)
            }
        }

        /// The keys of a worker; with a fault fewer than all.
        fn part(keys: &Keys, worker: Worker) -> Range<usize> {
            let n = match keys.fault {
                Some(Fault::MissingTail) => keys.n.saturating_sub(1),
                Some(Fault::WrongChunk | Fault::SkippedStore) => keys.n / 2,
                _ => keys.n,
            };
            part(n, worker.index, worker.count)
        }

        /// Writes the ids of a worker's matches (step 3), from `begin` to `end`.
        fn locate(&self, search: &HashSearch, keys: Range<usize>, begin: usize, end: usize) {
            let Results { beside, between, .. } = &search.results;
            // SAFETY: workers have disjoint keys and matches.
            let (offsets, ids) =
                unsafe { (beside.write::<u32>(keys.clone()), between.write::<u32>(begin..end)) };
            let mut at = 0;
            for (offset, &key) in offsets.iter_mut().zip(search.keys.some(keys)) {
                *offset = (begin + at) as u32;
                for &entry in self.bucket(key).iter().filter(|&&entry| entry as u32 == key) {
                    ids[at] = (entry >> 32) as u32;
                    at += 1;
                }
            }
        }

        /// Gathers the records of a worker's matches (step 4).
        fn gather(&self, Results { between, out, .. }: &Results, range: Range<usize>) {
            // SAFETY: workers have disjoint matches.
            let (ids, out) = unsafe { (between.read::<u32>(range.clone()), out.write::<u64>(range)) };
            let span = self.count.div_ceil(self.passes).max(1);
            for low in (0..self.count).step_by(span) {
                for (out, &id) in out.iter_mut().zip(ids) {
                    if (id as usize).wrapping_sub(low) < span {
                        *out = self.record(id as usize);
                    }
                }
            }
        }

        /// A worker's share of an execution.
        fn search(&self, search: &HashSearch, worker: Worker) {
            let mine = Chains::part(&search.keys, worker);
            let matches = |key: u32| self.bucket(key).iter().filter(|&&entry| entry as u32 == key).count();
            let total: usize = search.keys.some(mine.clone()).iter().map(|&key| matches(key)).sum();
            self.totals[worker.index].0.store(total as u64, Ordering::Relaxed);
            worker.meet();
            let earlier =
                self.totals[..worker.index].iter().map(|total| total.0.load(Ordering::Relaxed) as usize);
            let begin = earlier.sum::<usize>();
            let last = mine.end;
            self.locate(search, mine, begin, begin + total);
            if worker.index + 1 == worker.count {
                // SAFETY: the last worker alone writes the number of all matches.
                unsafe { search.results.beside.ptr::<u32>().add(last).write((begin + total) as u32) };
            }
            self.gather(&search.results, begin..begin + total);
            worker.meet();
        }
    }

    pub fn method(made: &Made) -> Result<PoolMethod<HashSearch>, Failure> {
        let chains = Chains::new(made)?;
        Ok(Box::new(move |search, worker| chains.search(search, worker)))
    }
}

pub mod cuda {
    use super::SUM_TILE;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::hash_search::Search;
    use crate::primitives::hash_search::cuda::inputs::records_arg;
    use crate::primitives::hash_search::cuda::{Call, MODULE};

    /// The kernels that sum counts.
    const SUMS: [&str; 3] = ["hash_tile_sums", "hash_sum_tiles", "hash_offsets"];

    /// The other timed kernels.
    const TIMED: [&str; 3] = ["hash_match_count", "hash_match_ids", "hash_gather"];

    /// The kernels that make the table and the records.
    const CHAINS: [&str; 2] = ["hash_chain_count", "hash_chain_place"];
    const FILL: &str = "hash_fill_records";

    /// Threads of a block that sums counts.
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
        fn sum(&self, gpu: &Gpu, counts: DevicePtr<u32>, n: u64) -> Result<(), Failure> {
            let (blocks, [tile, all, offsets]) = (grid(n, SUM_TILE), &self.kernels);
            gpu.launch(tile, blocks, SUM_BLOCK, 0, args![counts, self.tiles, n])?;
            gpu.launch(all, 1, 1024, 0, args![self.tiles, u64::from(blocks)])?;
            gpu.launch(offsets, blocks, SUM_BLOCK, 0, args![counts, self.tiles, n])
        }
    }

    /// The table.
    struct Chains {
        starts: DeviceBuffer<u32>,
        entries: DeviceBuffer<u64>,
        headers: u32,
    }

    impl Chains {
        /// Makes the table: the entries of each header are counted, the counts summed, and the entries stored.
        fn new(gpu: &Gpu, spec: &Search, sums: &Sums) -> Result<Chains, Failure> {
            let (headers, n, records) = (spec.headers(), spec.count, records_arg(&spec.records()));
            let [count, place] = gpu.module(MODULE)?.kernels(CHAINS)?;
            let (mut starts, entries) = (array(gpu, headers + 1)?, array(gpu, n)?);
            let headers = headers as u32;
            gpu.memset32(&mut starts, 0)?;
            launch_over(gpu, &count, n, args![starts, headers, records, n])?;
            sums.sum(gpu, starts.pointer(), u64::from(headers) + 1)?;
            launch_over(gpu, &place, n, args![starts, entries, headers, records, n])?;
            Ok(Chains { starts, entries, headers })
        }

        fn arg(&self) -> ChainedArg {
            let (starts, entries) = (self.starts.pointer(), self.entries.pointer());
            ChainedArg { starts, entries, headers: self.headers, unused: 0 }
        }
    }

    pub fn kernels(spec: &Search) -> KernelList {
        let timed = SUMS.into_iter().chain(TIMED).zip([1, 1, 1, 1, 1, spec.passes()]);
        KernelList::default().timed_all(MODULE, timed).untimed(MODULE, CHAINS).untimed(MODULE, [FILL])
    }

    pub fn method(gpu: &Gpu, spec: &Search) -> Result<GpuMethod<Call>, Failure> {
        let (module, all) = (gpu.module(MODULE)?, spec.count);
        let sums = Sums::new(gpu, (spec.headers() + 1).max(spec.keys + 1))?;
        let records: DeviceBuffer<u64> = array(gpu, all)?;
        launch_over(gpu, &module.kernel(FILL)?, all, args![records, records_arg(&spec.records()), all])?;
        let chains = Chains::new(gpu, spec, &sums)?;
        let [count, ids, gather] = module.kernels(TIMED)?;
        let (passes, copies) = (spec.passes(), spec.copies.max(1));
        Ok(Box::new(move |gpu, &Call { keys, beside, between, out, end, n }| {
            let (table, blocks) = (chains.arg(), grid(n + 1, u64::from(BLOCK)));
            gpu.launch(&count, blocks, BLOCK, 0, args![table, keys, beside, n])?;
            sums.sum(gpu, beside, n + 1)?;
            gpu.launch(&ids, blocks, BLOCK, 0, args![table, keys, beside, between, n])?;
            let (span, blocks) = (all.div_ceil(passes).max(1), grid(n * copies, GATHERED));
            for low in (0..passes).map(|pass| pass * span).filter(|low| *low < all) {
                let (low, span) = (low as u32, span as u32);
                gpu.launch(&gather, blocks, BLOCK, 0, args![out, records, between, end, low, span])?;
            }
            Ok(())
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::hash_search::tests::search;

    /// A key that a table of one record per header has is in a run of two entries, which begins in the last quarter of a
    /// sector of four for one in four.
    #[test]
    fn entries_lie_side_by_side() {
        let visited = |words: &str| {
            let words = format!("records=1000 keys=1000 load=0.99 method=he2007 {words}");
            entries_of_a_search(&search(&words))
        };
        assert!((visited("backend=cuda") - 1.2475).abs() < 1e-9);
        assert!((visited("backend=cpu") - 1.12375).abs() < 1e-9);
        assert!((visited("backend=cuda hits=0.0") - (0.6284 + (0.99 - 0.6284) / 4.0)).abs() < 1e-3);
    }

    /// With 16 passes, a warp of 32 lanes waits for a record for 1 − (15/16)^32 = 87 % of its four ids.
    #[test]
    fn a_warp_waits_if_one_of_its_lanes_does() {
        let gather = |passes: u64| {
            let words = "records=1048576 keys=1048576 backend=cuda method=he2007";
            let costs = blocks(&search(&format!("{words} method.he2007.passes={passes}")));
            costs.last().expect("the gather").loads
        };
        assert_eq!(gather(1), 8.0);
        assert!((gather(16) - 4.0 * 1.873).abs() < 0.01, "{}", gather(16));
    }
}
