//! Partitions of the keys, or of the records, by the high bits of their hashes, which select a part of the table. Searches
//! and insertions go in that order, in which the part stays in cache: a GPU's second-level cache after a multisplit of all
//! (`kernels/multisplit/fused.cuh`), and on processors the cache of a worker, which partitions its own share. If the order of
//! results is to be that of the keys, GPUs split once more, backwards (`kernels/multisplit/back.cuh`); a worker goes through
//! its keys again, and takes each result from where its partition has come to.

use crate::case::work::{Access, Order, Pass};
use crate::case::{Backend, BlockCost, block_cost::LANES};
use crate::primitives::hash_search::work::{emptied, looked, put};
use crate::primitives::hash_search::{Build, Form, Search};
use crate::primitives::multisplit::block_costs::{back, looking};
use crate::primitives::multisplit::{self, Launches, Method, Values};
use crate::primitives::{Costs, Problem};

/// Keys that a multisplit of CPUs orders on chip.
const SPLIT_TILE: u64 = 12_288;

/// Instructions of a warp to hash the keys of its lanes, and integer instructions among them.
const HASHED: [f64; 2] = [17.0, 9.0];

/// The multisplit of `n` keys with values or without on GPUs; `None` on CPUs. It counts tiles in a launch of its own, since
/// the way back reads these counts.
fn split(backend: Backend, n: u64, values: Values, bits: u64) -> Option<multisplit::Spec> {
    let method = Method::Fused { launches: Some(Launches::Three) };
    let split = || multisplit::Spec::of_field(n, values, bits as u32, "fused").ok();
    let split = backend.is_cuda().then(split)??;
    Some(multisplit::Spec { method, ..split })
}

/// The multisplit of the keys of a search, with the numbers of the searches if their order is free.
fn split_of_keys(spec: &Search) -> Option<multisplit::Spec> {
    let values = if spec.form() == Form::Numbered { Values::Four } else { Values::None };
    split(spec.backend, spec.keys, values, spec.bits())
}

/// The multisplit of the records before they are put into the table.
fn split_of_records(spec: &Build) -> Option<multisplit::Spec> {
    split(spec.backend, spec.count, Values::Four, spec.bits())
}

/// Beside keys and table are the split keys, the results in their order, and those in the order of the keys or, if the order
/// is free, the number of each key before and after the split.
pub fn costs(spec: &Search) -> Costs<'_> {
    let beside = (if spec.form() == Form::Numbered { 16 } else { 12 }) * spec.keys;
    Costs::of_sampled(|| passes(spec)).beside(spec.layout().bytes() + beside).blocks_sampled(|| blocks(spec))
}

/// A count and a split of the keys, the searches, and the split backwards.
fn passes(spec: &Search) -> Vec<Pass> {
    let (n, bits, free) = (spec.keys, spec.bits(), spec.form() == Form::Numbered);
    let search = Pass::once([
        Access::reads("split keys", 4, n),
        looked(spec, Order::Chunks { chunks: 1 << bits }),
        Access::writes(if free { "out" } else { "found" }, 4, n),
    ]);
    let (split, back) = match split_of_keys(spec) {
        Some(split) => (split.work().passes, multisplit::back(&split)),
        None => {
            let values = free.then_some(["numbers", "out numbers"]);
            let read = ["keys", "found"].map(|array| Access::reads(array, 4, n));
            (split_on_cpus(n, bits, values), Pass::once(read).and([Access::writes("out", 4, n)]))
        }
    };
    split.into_iter().chain([search]).chain((!free).then_some(back)).collect()
}

/// The multisplits, which hash the keys. Searches in buckets keep no tiles.
fn blocks(spec: &Search) -> Result<Vec<BlockCost>, String> {
    let Some(split) = split_of_keys(spec) else { return Ok(Vec::new()) };
    let mut costs = looking(&split, HASHED)?;
    costs.push(BlockCost::default());
    if spec.form() == Form::Restored {
        let warps = split.keys as f64 / LANES as f64;
        costs.push(back(&split).with(warps, [HASHED[0], HASHED[1], 0.0]));
    }
    Ok(costs)
}

/// The table is emptied, the records counted and split, and put in by the order of the partitions.
pub fn build_costs(spec: &Build) -> Costs<'_> {
    let passes = || {
        let split = match split_of_records(spec) {
            Some(split) => split.work().passes,
            None => split_on_cpus(spec.count, spec.bits(), Some(["ids", "split ids"])),
        };
        let placed = put(spec, ["split keys", "split ids"], Order::Chunks { chunks: 1 << spec.bits() });
        [vec![emptied(spec)], split, vec![placed]].concat()
    };
    Costs::of_sampled(passes).beside(8 * spec.count).blocks_sampled(|| {
        let Some(split) = split_of_records(spec) else { return Ok(Vec::new()) };
        Ok([vec![BlockCost::default()], looking(&split, HASHED)?, vec![BlockCost::default()]].concat())
    })
}

/// A count and a split of keys on CPUs, and of the values that go with them from one array to the other.
fn split_on_cpus(n: u64, bits: u64, values: Option<[&str; 2]>) -> Vec<Pass> {
    let order = Order::Staged { partitions: 1 << bits, tile: SPLIT_TILE };
    let keys = Access::reads("keys", 4, n);
    let [read, written] = [values.map(|[from, _]| from), values.map(|[_, to]| to)];
    let written =
        ["split keys"].into_iter().chain(written).map(|to| Access::writes(to, 4, n).ordered(order.clone()));
    let moved = Pass::once([keys.clone()]).and(read.map(|from| Access::reads(from, 4, n))).and(written);
    vec![Pass::once([keys]), moved]
}

pub mod cpu {
    use crate::inputs::mix::mix32;
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::hash_search::cpu::build::HashBuild;
    use crate::primitives::hash_search::cpu::{HashSearch, Lookup, Made};
    use crate::primitives::hash_search::{Build, Form};

    /// Partitions at most.
    const MOST: usize = 256;

    /// The partition of a key: the high bits of its hash.
    #[derive(Clone, Copy)]
    struct Parts {
        shift: u32,
    }

    impl Parts {
        /// Partitions by `bits` bits, 1 to 8.
        fn new(bits: u64) -> Parts {
            Parts { shift: 32 - bits as u32 }
        }

        #[inline(always)]
        fn of(self, key: u32) -> usize {
            // At most 8 bits are left; the mask saves the check of the bounds.
            (mix32(key) >> self.shift) as usize & (MOST - 1)
        }

        /// Where each partition of some keys begins, and where the last one ends.
        fn starts(self, keys: impl Iterator<Item = u32>) -> [u32; MOST + 1] {
            let mut starts = [0; MOST + 1];
            keys.for_each(|key| starts[self.of(key) + 1] += 1);
            (0..MOST).for_each(|part| starts[part + 1] += starts[part]);
            starts
        }
    }

    /// The next place of a partition.
    #[inline(always)]
    fn take(next: &mut [u32; MOST + 1], part: usize) -> usize {
        let at = next[part];
        next[part] = at + 1;
        at as usize
    }

    /// A table that is searched part after part.
    struct InParts {
        lookup: Lookup,
        parts: Parts,
        /// The keys in the order of the partitions.
        keys: Buffer,
    }

    impl InParts {
        /// Searches for the keys of a range, of which no other worker has any.
        fn piece(&self, search: &HashSearch, range: Range<usize>) {
            let (keys, results) = (search.keys.some(range.clone()), &search.results);
            let free = results.form == Form::Numbered;
            // In the order of the partitions: the numbers of the searches, or else the results.
            let beside = if free { &results.beside } else { &results.between };
            // SAFETY: workers have disjoint ranges.
            let [split, beside, out] =
                [&self.keys, beside, &results.out].map(|array| unsafe { array.write::<u32>(range.clone()) });
            let starts = self.parts.starts(keys.iter().copied());
            let mut next = starts;
            for (&key, q) in keys.iter().zip(range.start as u32..) {
                let at = take(&mut next, self.parts.of(key));
                split[at] = key;
                if free {
                    beside[at] = q;
                }
            }
            if free {
                return self.lookup.search(split, out);
            }
            self.lookup.search(split, beside);
            let mut next = starts;
            for (&key, out) in keys.iter().zip(out) {
                *out = beside[take(&mut next, self.parts.of(key))];
            }
        }
    }

    pub fn method(made: &Made) -> Result<PoolMethod<HashSearch>, Failure> {
        let (lookup, parts) = (Lookup::new(made)?, Parts::new(made.spec.bits()));
        let in_parts = InParts { lookup, parts, keys: Buffer::new(4 * made.spec.keys as usize)? };
        Ok(Box::new(move |search, worker| {
            search.keys.pieces(worker).into_iter().for_each(|piece| in_parts.piece(search, piece));
        }))
    }

    /// The records in the order of the parts of the table, for each worker's part of them.
    struct Partitions {
        parts: Parts,
        records: Buffer,
        /// For each worker and each of its two pieces: where the piece begins, and where its partitions do.
        starts: Buffer,
    }

    /// Words of `starts` for a piece.
    const STARTS: usize = MOST + 2;

    impl Partitions {
        /// Partitions the records of a piece, of which no other worker has any.
        fn split(&self, records: &[u64], piece: usize, first: usize) {
            // SAFETY: workers have disjoint pieces.
            let (split, saved) = unsafe {
                let split = self.records.write::<u64>(first..first + records.len());
                (split, self.starts.write::<u32>(piece * STARTS..(piece + 1) * STARTS))
            };
            let mut next = self.parts.starts(records.iter().map(|&record| record as u32));
            saved[0] = first as u32;
            saved[1..].copy_from_slice(&next);
            for &record in records {
                split[take(&mut next, self.parts.of(record as u32))] = record;
            }
        }

        /// The records of a piece in one partition.
        fn of(&self, piece: usize, part: usize) -> &[u64] {
            // SAFETY: all workers have met since they wrote these.
            unsafe {
                let starts = self.starts.read::<u32>(piece * STARTS..(piece + 1) * STARTS);
                let at = |of: usize| (starts[0] + starts[1 + of]) as usize;
                self.records.read::<u64>(at(part)..at(part + 1))
            }
        }
    }

    /// Each worker partitions its records, and then puts in all workers' records of some parts of the table.
    pub fn build(spec: &Build, workers: usize) -> Result<PoolMethod<HashBuild>, Failure> {
        let partitions = Partitions {
            parts: Parts::new(spec.bits()),
            records: Buffer::new(8 * spec.count as usize)?,
            starts: Buffer::new(4 * 2 * workers * STARTS)?,
        };
        Ok(Box::new(move |build, worker| {
            for (number, piece) in build.pieces(worker).into_iter().enumerate() {
                partitions.split(build.some(piece.clone()), 2 * worker.index + number, piece.start);
            }
            worker.meet();
            let share = |index: usize| (index * MOST).div_ceil(worker.count);
            for part in share(worker.index)..share(worker.index + 1) {
                (0..2 * worker.count).for_each(|piece| build.insert(partitions.of(piece, part)));
            }
        }))
    }
}

pub mod cuda {
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::hash_search::cuda::build::{Insert, Put};
    use crate::primitives::hash_search::cuda::{Call, Lookup, MODULE};
    use crate::primitives::hash_search::{Build, Form, Search};
    use crate::primitives::multisplit::cuda::Split;
    use crate::primitives::multisplit::cuda::fused::{self, Passes};
    use crate::primitives::multisplit::cuda::input::Function;
    use crate::primitives::multisplit::tiles::{KernelVariant, Number};

    /// The kernel that numbers the searches.
    const FILL_NUMBERS: &str = "hash_fill_numbers";

    /// The kernels of a split by `bits` bits of the hash, with values of `value` bytes.
    fn variant(bits: u64, value: u64) -> KernelVariant {
        KernelVariant::counted(bits as u32, value, Number::Hash)
    }

    fn split(spec: &Search) -> KernelVariant {
        variant(spec.bits(), if spec.form() == Form::Numbered { 4 } else { 0 })
    }

    fn back_name(spec: &Search) -> String {
        format!("fused_back_hash_{}", spec.bits())
    }

    pub fn kernels(spec: &Search, capability: ComputeCapability) -> KernelList {
        let split = fused::split_kernels(split(spec), fused::bulk(capability));
        let found = split.and(Lookup::kernels(spec), 1);
        match spec.form() {
            Form::Numbered => found.untimed(MODULE, [FILL_NUMBERS]),
            _ => found.timed(MODULE, back_name(spec), 1),
        }
    }

    pub fn method(gpu: &Gpu, spec: &Search) -> Result<GpuMethod<Call>, Failure> {
        let (n, module, lookup) = (spec.keys, gpu.module(MODULE)?, Lookup::new(gpu, spec)?);
        let passes = Passes::new(gpu, split(spec), n)?;
        let (offsets, function) = (DevicePtr::null(), Function::high_bits_of_hash(spec.bits() as u32));
        let keys: DeviceBuffer<u32> = array(gpu, n.max(1))?;
        if spec.form() == Form::Numbered {
            // The numbers of the searches, which are split with the keys.
            let numbers: DeviceBuffer<u32> = array(gpu, n.max(1))?;
            launch_over(gpu, &module.kernel(FILL_NUMBERS)?, n, args![numbers, n])?;
            return Ok(Box::new(move |gpu, &Call { keys: own, beside, out, n, .. }| {
                let (from, to) = ([own, numbers.pointer()], [keys.pointer(), beside]);
                passes.split(gpu, &Split { from, n, to, offsets, function }, u32::MAX)?;
                lookup.queue(gpu, keys.pointer(), out, n)
            }));
        }
        let back = module.kernel(&back_name(spec))?;
        let resident = passes.resident_back(gpu, &back)?;
        Ok(Box::new(move |gpu, &Call { keys: own, between, out, n, .. }| {
            let (null, keys) = (DevicePtr::null(), keys.pointer());
            let forward = Split { from: [own, null], n, to: [keys, null], offsets, function };
            passes.split(gpu, &forward, u32::MAX)?;
            lookup.queue(gpu, keys, between, n)?;
            let results = Split { from: [own, between], to: [null, out], ..forward };
            passes.back(gpu, &back, resident, &results, u32::MAX)
        }))
    }

    pub fn build_kernels(spec: &Build, capability: ComputeCapability) -> KernelList {
        fused::split_kernels(variant(spec.bits(), 4), fused::bulk(capability))
    }

    /// Nothing but what a launch leaves out is missing from a table, so no store can be taken back.
    pub fn build_plan(spec: &Build, fault: Option<Fault>) -> LaunchPlan {
        let skipped = fault == Some(Fault::SkippedStore);
        LaunchPlan::prefix(spec.count, if skipped { Some(Fault::MissingTail) } else { fault })
    }

    pub fn build(gpu: &Gpu, spec: &Build) -> Result<GpuMethod<Put>, Failure> {
        let (insert, n) = (Insert::new(gpu, spec)?, spec.count.max(1));
        let passes = Passes::new(gpu, variant(spec.bits(), 4), spec.count)?;
        let (offsets, function) = (DevicePtr::null(), Function::high_bits_of_hash(spec.bits() as u32));
        let records: [DeviceBuffer<u32>; 2] = [array(gpu, n)?, array(gpu, n)?];
        Ok(Box::new(move |gpu, &Put { table, from, n }| {
            let to = [records[0].pointer(), records[1].pointer()];
            passes.split(gpu, &Split { from, n, to, offsets, function }, u32::MAX)?;
            insert.queue(gpu, &Put { table, from: to, n })
        }))
    }
}
