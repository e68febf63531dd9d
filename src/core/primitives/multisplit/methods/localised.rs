//! dms, wms and bms (ashkiani2017 §5): a pre-scan counts the keys of each subproblem, the counts are scanned, and a
//! post-scan stores the subproblem's keys. Subproblems are warps' (dms, wms) or blocks' (bms); wms and bms order the keys of
//! a tile by their buckets before they store them (`kernels/multisplit/subproblems.cuh`,
//! `kernels/multisplit/reordering.cuh`). GPUs only.

use super::Method;
use crate::case::block_cost::BlockCost;
use crate::case::work::{Access, Order, Pass};
use crate::primitives::multisplit::Spec;
use crate::primitives::multisplit::block_costs::{function, mean, scattered};
use crate::primitives::multisplit::work::{COUNT, ENDS, moved, read_keys};
use crate::primitives::{Costs, scan};

/// Lanes per warp, and therefore keys per window.
const WINDOW: u64 = 32;

/// The unit that handles a subproblem, and the part of it that is reordered before it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Localisation {
    /// Direct: a warp handles a subproblem; nothing is reordered.
    Direct,
    /// A warp handles a subproblem and reorders its tiles.
    Warp,
    /// A block handles a subproblem and reorders its tiles.
    Block,
}

/// The size of a subproblem, and the threads that share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subproblems {
    pub localisation: Localisation,
    /// Warps per block (N_warp).
    pub warps: u64,
    /// Windows per warp: in a tile, or in a subproblem if there are no tiles (N_window).
    pub windows: u64,
    /// Tiles per subproblem (N_tile).
    pub tiles: u64,
}

impl Subproblems {
    /// The subproblems of a case; sizes left open are the paper's.
    pub fn of(spec: &Spec) -> Subproblems {
        let (localisation, [warps, windows], tiles) = match spec.method {
            Method::Dms { warps, windows } => (Localisation::Direct, [warps, windows], 1),
            Method::Wms { warps, windows, tiles } => (Localisation::Warp, [warps, windows], tiles),
            Method::Bms { warps, windows, tiles } => (Localisation::Block, [warps, windows], tiles),
            _ => (Localisation::Block, [None; 2], 1),
        };
        let papers = Subproblems::papers(localisation, spec.value, spec.buckets);
        let (warps, windows) = (warps.unwrap_or(papers.warps), windows.unwrap_or(papers.windows));
        Subproblems { localisation, warps, windows, tiles }
    }

    /// The paper's sizes for values of `value` bytes and this number of buckets (§6, "Parameters"). There dms reads as if it
    /// had four windows, too, but Table 4's scans grow by 3.8 times as much a bucket as those of wms, as with one window.
    pub fn papers(localisation: Localisation, value: u64, buckets: u64) -> Subproblems {
        let (warps, windows) = match localisation {
            Localisation::Direct => (8, 1),
            Localisation::Block if value == 0 && buckets <= 32 => (4, 7),
            _ => (8, 4),
        };
        Subproblems { localisation, warps, windows, tiles: 1 }
    }

    /// True of the paper's dms, which has kernels of its own.
    fn is_window(&self) -> bool {
        self.localisation == Localisation::Direct && self.windows == 1
    }

    /// Keys per tile.
    pub fn tile(&self) -> u64 {
        let warps = if self.localisation == Localisation::Block { self.warps } else { 1 };
        warps * self.windows * WINDOW
    }

    /// Keys per subproblem (Table 1).
    pub fn size(&self) -> u64 {
        self.tiles * self.tile()
    }

    /// The number of subproblems (the paper's L).
    pub fn count(&self, keys: u64) -> u64 {
        keys.div_ceil(self.size())
    }

    /// The number of counts of all subproblems: the elements of H.
    pub fn counts(&self, spec: &Spec) -> u64 {
        spec.buckets * self.count(spec.keys)
    }
}

/// The sizes of subproblems, for the record.
pub fn sizes(spec: &Spec) -> Vec<(String, u64)> {
    let (name, shape) = (spec.method.name(), Subproblems::of(spec));
    vec![(format!("method.{name}.warps"), shape.warps), (format!("method.{name}.windows"), shape.windows)]
}

/// Pre-scan, scan and post-scan. The counts of a subproblem are a column of H and of G; the counts of
/// neighbouring subproblems are adjacent in each of the m rows.
pub fn costs(spec: &Spec) -> Costs<'_> {
    let shape = Subproblems::of(spec);
    let column = Order::Partitions { partitions: spec.buckets };
    let order = match shape.localisation {
        Localisation::Direct => column.clone(),
        _ => Order::Staged { partitions: spec.buckets, tile: shape.tile() },
    };
    let counts = shape.counts(spec);
    let column_of_g = Access::reads("G", COUNT, counts).ordered(column.clone());
    let passes = vec![
        Pass::once([read_keys(spec), Access::writes("H", COUNT, counts).ordered(column)]),
        Pass::once([Access::reads("H", COUNT, counts), Access::writes("G", COUNT, counts)]),
        moved(spec.keys, spec.value, ENDS, order).and([column_of_g]),
    ];
    Costs::of(passes).beside(2 * COUNT * counts).blocks_sampled(|| block_costs(spec))
}

/// Windows that are handled together, except by the kernels for one.
const BATCH: u64 = 8;

/// Windows of a batch.
fn batch(shape: &Subproblems) -> u64 {
    if shape.is_window() { 1 } else { BATCH }
}

/// The share of the instructions of eight windows that a batch takes.
fn share(shape: &Subproblems) -> f64 {
    batch(shape) as f64 / BATCH as f64
}

/// Threads per multiprocessor at 64 registers each.
const THREADS: u64 = 1024;

/// Instructions per window, by 1 to 8 bits: votes and the counts of all buckets; votes and the key's place;
/// both, and their packing.
const COUNTED: [f64; 8] = [24.0, 29.0, 34.0, 38.0, 43.0, 50.0, 60.0, 75.0];
const DIRECT: [f64; 8] = [27.0, 33.0, 40.0, 47.0, 54.0, 61.0, 69.0, 77.0];
const IN_WARP: [f64; 8] = [27.0, 33.0, 40.0, 46.0, 53.0, 61.0, 71.0, 82.0];
const IN_BLOCK: [f64; 8] = [20.0, 29.0, 37.0, 44.0, 52.0, 62.0, 74.0, 86.0];

/// Further instructions per eight windows: loads, stores and, if tiles are reordered, everything in between.
const LOADS: f64 = 41.0;
const STORES: f64 = 60.0;
const REORDERED_BY_WARP: f64 = 270.0;
const REORDERED_BY_BLOCK: f64 = 370.0;
/// Per warp: finding its subproblem, and its column of H or G for each 32 buckets.
const STARTED: f64 = 65.0;
const COLUMN: f64 = 15.0;
/// Per warp of a block, for each 32 buckets: summing or scanning the counts of all its warps.
const CELLS_SUMMED: f64 = 42.0;
const CELLS_SCANNED: f64 = 100.0;
/// Loads and stores of values.
const VALUES: f64 = 110.0;

/// The share of integer and logic instructions among all of these.
const INTEGERS: f64 = 0.65;

/// Pre-scan, scan and post-scan. Windows are handled eight at a time, so the code for eight is executed even if a tile has
/// fewer, except by dms with one; work that is done only for existing windows is counted per window.
fn block_costs(spec: &Spec) -> Result<Vec<BlockCost>, String> {
    let (function, shape) = (function(spec)?[0], Subproblems::of(spec));
    let counted = shape.counts(spec) * COUNT;
    let sums = scan::methods::one_pass::block_cost(scan::Method::Spine, false, counted, 4);
    Ok(vec![prescan(spec, &shape, function), sums, postscan(spec, &shape, function)])
}

/// The tiles, blocks and resident units of a launch. A unit is a single warp, or a block whose warps wait for
/// each other.
fn shared_by(spec: &Spec, shape: &Subproblems) -> BlockCost {
    let subproblems = shape.count(spec.keys);
    let (tiles, blocks, resident) = match shape.localisation {
        Localisation::Block => (subproblems * shape.tiles, subproblems, THREADS / (32 * shape.warps)),
        _ => (subproblems * shape.tiles, subproblems.div_ceil(shape.warps), THREADS / 32),
    };
    BlockCost::of(tiles, resident).blocks(blocks)
}

/// Batches of windows that a warp takes in each tile.
fn batches(shape: &Subproblems) -> f64 {
    shape.windows.div_ceil(batch(shape)) as f64
}

fn prescan(spec: &Spec, shape: &Subproblems, function: f64) -> BlockCost {
    let batches_of_all = batches_of_all(spec, shape);
    let each = COUNTED[spec.bits() as usize - 1] * spec.keys as f64 / WINDOW as f64;
    let instructions = each
        + batches_of_all * share(shape) * (LOADS + 8.0 * function)
        + of_warps(spec, shape, CELLS_SUMMED, 1);
    let cost = shared_by(spec, shape).loads(batches(shape)).steps(2.0 * shape.windows as f64);
    cost.with(1.0, [instructions, INTEGERS * instructions, 0.0])
}

/// Further instructions of all warps per subproblem; with blocks, `cells` are added for each of `tiles` tiles.
fn of_warps(spec: &Spec, shape: &Subproblems, cells: f64, tiles: u64) -> f64 {
    let rounds = spec.buckets.div_ceil(32) as f64;
    let subproblems = shape.count(spec.keys) as f64;
    match shape.localisation {
        Localisation::Block => {
            subproblems * shape.warps as f64 * (STARTED + COLUMN * rounds + cells * rounds * tiles as f64)
        }
        _ => subproblems * (STARTED + COLUMN * rounds),
    }
}

/// Batches of all warps.
fn batches_of_all(spec: &Spec, shape: &Subproblems) -> f64 {
    spec.keys as f64 / (WINDOW * shape.windows) as f64 * batches(shape)
}

fn postscan(spec: &Spec, shape: &Subproblems, function: f64) -> BlockCost {
    let bits = spec.bits() as usize - 1;
    let (window, batch, functions) = match shape.localisation {
        Localisation::Direct => (DIRECT[bits], STORES, 1.0),
        Localisation::Warp => (IN_WARP[bits], REORDERED_BY_WARP, 2.0),
        Localisation::Block => (IN_BLOCK[bits], REORDERED_BY_BLOCK, 2.0),
    };
    let windows = spec.keys as f64 / WINDOW as f64;
    let values = if spec.value > 0 { VALUES } else { 0.0 };
    let of_batch = LOADS + batch + values + 8.0 * functions * function;
    let instructions = windows * window
        + batches_of_all(spec, shape) * share(shape) * of_batch
        + of_warps(spec, shape, CELLS_SCANNED, shape.tiles);
    // A warp loads its column of G and the keys; values follow.
    let loads = 1.0 + batches(shape) * if spec.value > 0 { 2.0 } else { 1.0 };
    let cost = shared_by(spec, shape).loads(loads).steps(steps(shape));
    cost.with(1.0, [instructions, INTEGERS * instructions, windows * shared(spec, shape)])
}

/// Dependent steps. A reordered tile has sums over lanes, the places of its windows, keys in and out; a block
/// adds four barriers and sums over warps.
fn steps(shape: &Subproblems) -> f64 {
    let windows = shape.windows as f64;
    match shape.localisation {
        Localisation::Direct => 2.0 * windows,
        Localisation::Warp => 2.0 * windows + 12.0,
        Localisation::Block => 2.0 * windows + 12.0 + 12.0,
    }
}

/// Wavefronts per window: keys and values in, and out in order together with their buckets' destinations.
fn shared(spec: &Spec, shape: &Subproblems) -> f64 {
    let words = 1.0 + spec.value as f64 / 4.0;
    match shape.localisation {
        Localisation::Direct => 0.0,
        _ => words * (mean(spec, scattered) + 1.0) + 1.0,
    }
}

pub mod cuda {
    use super::{Localisation, Subproblems, WINDOW};
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::multisplit::Spec;
    use crate::primitives::multisplit::cuda::{MODULE, Stages};
    use crate::primitives::scan;
    use crate::primitives::scan::cuda::one_pass::{Summed, Variant};

    device_struct! {
        /// `Split` in the kernels.
        struct Launch: 72 {
            /// Source and destination of the keys, then source and destination of the values.
            arrays: [DevicePtr<u32>; 4],
            counts: DevicePtr<u32>,
            offsets: DevicePtr<u32>,
            n: u64,
            subproblems: u32,
            windows: u32,
            tiles: u32,
            value: u32,
        }
    }

    pub fn kernels(spec: &Spec) -> KernelList {
        let [prescan, postscan] = names(spec);
        KernelList::default()
            .timed(MODULE, prescan, 1)
            .timed(scan::cuda::MODULE, Variant::COUNTS.name(), 1)
            .timed(MODULE, postscan, 1)
    }

    pub fn method(gpu: &Gpu, spec: &Spec) -> Result<Stages, Failure> {
        let (shape, spec) = (Subproblems::of(spec), *spec);
        let kernels = gpu.module(MODULE)?.kernels(names(&spec))?;
        // H and G.
        let mut counts = Summed::new(gpu, shape.counts(&spec))?;
        let each = if shape.localisation == Localisation::Block { 1 } else { shape.warps };
        // The paper's names (§4.1, Table 4).
        Ok(Stages::new(&["pre-scan", "scan", "post-scan"], move |gpu, what, stage| {
            let subproblems = shape.count(what.n);
            let (scan, counts) = match stage {
                // Without keys the pre-scan has no counts to store.
                0 if what.n == 0 => return Ok(()),
                0 => (0, &counts.given),
                1 => return counts.scan(gpu, spec.buckets * subproblems),
                _ => (1, &counts.sums),
            };
            let launch = Launch {
                arrays: what.arrays(),
                counts: counts.pointer(),
                offsets: what.offsets,
                n: what.n,
                subproblems: subproblems as u32,
                windows: shape.windows as u32,
                tiles: shape.tiles as u32,
                value: spec.value as u32,
            };
            // Without keys, one block of the post-scan still stores the offsets.
            let blocks = subproblems.div_ceil(each).max(1) as u32;
            let (threads, shared) = ((shape.warps * WINDOW) as u32, shared(&spec, &shape)[scan] as u32);
            gpu.launch(&kernels[scan], blocks, threads, shared, args![launch, what.function])
        }))
    }

    /// The names of the pre-scan and post-scan kernels.
    fn names(spec: &Spec) -> [String; 2] {
        let shape = Subproblems::of(spec);
        let (prescan, postscan) = match shape.localisation {
            Localisation::Direct if shape.is_window() => ("window", "dms_window"),
            Localisation::Direct => ("warps", "dms"),
            Localisation::Warp => ("warps", "wms"),
            Localisation::Block => ("blocks", "bms"),
        };
        [format!("prescan_{prescan}_{}", spec.bits()), format!("{postscan}_{}", spec.bits())]
    }

    /// Bytes of dynamic shared memory per block in the pre-scan and in the post-scan (`kernels/multisplit/subproblems.cuh`,
    /// `kernels/multisplit/reordering.cuh`).
    fn shared(spec: &Spec, shape: &Subproblems) -> [u64; 2] {
        let (buckets, warps) = (1u64 << spec.bits(), shape.warps);
        let cells = 4 * (buckets * warps + buckets * warps / WINDOW + 1);
        let room = shape.tile() * (4 + spec.value) + 8 * buckets.max(4);
        match shape.localisation {
            Localisation::Direct => [0, if spec.bits() > 5 { 4 * buckets * warps } else { 0 }],
            Localisation::Warp => [0, warps * room],
            Localisation::Block => [cells, room + cells],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::Problem;
    use crate::primitives::multisplit::tests::{params, spec, work};

    fn shape(method: &str, words: &str, values: &str, buckets: u64) -> Result<Subproblems, String> {
        let words = format!("keys=4 buckets={buckets} values={values} method={method} {words}");
        let spec = Spec::from_params(&params(&words), 7).map_err(|e| e.to_string())?;
        Ok(Subproblems::of(&spec))
    }

    /// §6, "Parameters", and Table 1.
    #[test]
    fn open_parameters_are_the_papers() {
        let sizes = |method, values, buckets| {
            let all = shape(method, "method.bms.warps=auto", values, buckets).expect("a case");
            (all.warps, all.windows, all.size())
        };
        assert_eq!(sizes("bms", "none", 32), (4, 7, 4 * 7 * 32));
        assert_eq!(sizes("bms", "none", 33), (8, 4, 1024));
        assert_eq!(sizes("bms", "4B", 2), (8, 4, 1024));
        assert_eq!(sizes("wms", "none", 2), (8, 4, 128));
        assert_eq!(sizes("dms", "none", 2), (8, 1, 32));
    }

    #[test]
    fn what_is_given_holds() {
        let words = "method.bms.warps=2 method.bms.windows=8 method.bms.tiles=3";
        let all = shape("bms", words, "none", 8).expect("a case");
        assert_eq!((all.tile(), all.size(), all.count(1537), all.count(0)), (512, 1536, 2, 0));
        let direct = shape("dms", "method.dms.windows=64", "none", 8).expect("a case");
        assert_eq!((direct.size(), direct.tiles), (2048, 1));
    }

    #[test]
    fn what_does_not_exist_is_refused_at_its_key() {
        let refused = |words| shape("wms", words, "none", 8).expect_err("refused");
        assert_eq!(refused("method.wms.warps=3"), "method.wms.warps: 3 is not a power of two");
        assert_eq!(refused("method.wms.windows=9"), "method.wms.windows: 9 is not from 1 to 8");
        assert_eq!(refused("method.wms.windows=0"), "method.wms.windows: must be at least 1");
        assert_eq!(refused("method.wms.tiles=65"), "method.wms.tiles: 65 is not from 1 to 64");
        assert_eq!(refused("method.wms.tiles=0"), "method.wms.tiles: must be at least 1");
        assert!(refused("method.wms.tiles=many").starts_with("method.wms.tiles: `many`"));
    }

    fn of(words: &str) -> (Spec, Vec<BlockCost>) {
        let spec = spec(words);
        let all = block_costs(&spec).expect("counted");
        (spec, all)
    }

    #[test]
    fn there_is_one_for_each_pass() {
        for method in ["dms", "wms", "bms"] {
            let (spec, all) = of(&format!("keys=100000 buckets=64 values=4B method={method}"));
            assert_eq!(all.len(), spec.work().passes.len(), "{method}");
        }
    }

    /// 2^20 keys in subproblems of 128 or of 32 per warp, eight per block; or of 1024 per block, four of which are
    /// resident at once.
    #[test]
    fn warps_and_blocks_have_subproblems() {
        let (_, dms) = of("keys=1048576 buckets=2 by=identity method=dms method.dms.windows=4");
        assert_eq!((dms[2].blocks, dms[2].tiles, dms[2].resident), (1024, 8192, 32));
        // 24 per window, 41 + 8 · 4 per batch of four windows, 65 + 15 per warp.
        assert_eq!(dms[0].instructions, 32768.0 * 24.0 + 8192.0 * (73.0 + 80.0));
        let (_, one) = of("keys=1048576 buckets=2 by=identity method=dms");
        assert_eq!((one[2].blocks, one[2].tiles, one[2].resident), (4096, 32768, 32));
        // An eighth of a batch of eight.
        assert_eq!(one[0].instructions, 32768.0 * (24.0 + (41.0 + 8.0 * 4.0) / 8.0 + 80.0));
        let (_, bms) = of("keys=1048576 buckets=64 method=bms");
        assert_eq!((bms[2].blocks, bms[2].tiles, bms[2].resident), (1024, 1024, 4));
    }

    #[test]
    fn primes_are_not_known() {
        let spec = spec("keys=9 buckets=2 by=prime method=dms");
        assert!(block_costs(&spec).is_err());
    }

    /// Keys three times, values twice, and m · L counts four times (§6.2.2).
    #[test]
    fn subproblems_add_their_counts() {
        for (method, size) in [("dms", 32), ("wms", 128), ("bms", 1024)] {
            let all = work(&format!("keys=4096 buckets=64 values=4B method={method}"));
            let counts = 64 * (4096 / size) * 4;
            assert_eq!((all.declared_bytes(), all.effective_bytes), (4096 * 20 + 4 * counts, 4096 * 16));
            assert_eq!(all.footprint, 4096 * 16 + 65 * 4 + 2 * counts);
        }
    }
}
