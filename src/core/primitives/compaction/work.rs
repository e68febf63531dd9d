//! The memory traffic of the primitives atop scan, and the on-chip work of their warps, pass by pass.

use super::{Operation, Spec, TILE};
use crate::case::block_cost::{BlockCost, WARPS};
use crate::case::work::{Access, Order, Pass, Work};
use crate::primitives::scan::{Method, methods::one_pass::block_cost, segments::Lengths};

/// Instructions of a warp to place 128 elements, and integer instructions among them.
const ENUMERATE: [f64; 2] = [110.0, 36.0];
const COMPACT: [f64; 2] = [175.0, 50.0];
const DISTRIBUTE: [f64; 2] = [170.0, 75.0];
const SPLIT: [f64; 2] = [310.0, 150.0];
/// Per tile: loading its bits and summing them over lanes.
const SUM: [f64; 2] = [150.0, 80.0];

/// Elements that a warp places at a time.
const ROWS: f64 = 128.0;

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let bits = spec.bits() * (u64::from(spec.operation.flagged()) + u64::from(spec.segmented()));
    let read = input(spec).map_or(0, |input| input.bytes());
    let written = spec.written() * spec.out_element() + spec.beside();
    let held = if spec.operation == Operation::Enumerate { 0 } else { spec.elements * spec.element };
    let out = spec.elements * spec.out_element() + spec.beside();
    let mut passes = if spec.backend.is_cuda() { cuda(spec) } else { cpu(spec) };
    // Arrays without elements in this case are not declared.
    passes.iter_mut().for_each(|pass| pass.accesses.retain(|access| access.count > 0));
    passes.retain(|pass| !pass.accesses.is_empty());
    Work::of(spec.elements, bits + read + written, passes).footprint(bits + held + out + temporary(spec))
}

/// The elements of in that are read; distribute reads the first or last element of each segment.
fn input(spec: &Spec) -> Option<Access> {
    let stride = spec.lengths().and_then(Lengths::block).unwrap_or(1);
    let all = Access::reads("in", spec.element, spec.elements);
    match spec.operation {
        Operation::Enumerate => None,
        Operation::Distribute => {
            Some(Access { count: spec.segment_count(), order: Order::one_in(stride), ..all })
        }
        _ => Some(all),
    }
}

/// A split writes two ascending streams per segment; everything else is written in order.
fn output(spec: &Spec) -> Access {
    let order = if spec.operation.splits() { Order::Partitions { partitions: 2 } } else { Order::Sequential };
    Access::writes("out", spec.out_element(), spec.written()).ordered(order)
}

/// The array that is written beside out.
fn beside(spec: &Spec) -> Access {
    let name = if spec.operation == Operation::Compact { "pointers" } else { "new heads" };
    Access::writes(name, 4, spec.beside() / 4)
}

/// The first `elements` flags, and the segment heads, read `times` times.
fn bits(spec: &Spec, elements: u64, times: u64) -> impl Iterator<Item = Access> {
    let words = elements.div_ceil(32);
    let read = move |array| Access::reads(array, 4, times * words).within(4 * words);
    let flags = spec.operation.flagged().then(|| read("flags"));
    flags.into_iter().chain(spec.segmented().then(|| read("heads")))
}

/// On CPUs each thread first sums its part. Except for compact, it reads only the bits behind its last head or
/// before its first head; the number of threads is not known here, so one thread is counted. Then it places the
/// elements of its part; a split counts the flags of a segment before it moves the elements.
fn cpu(spec: &Spec) -> Vec<Pass> {
    let mean = spec.lengths().and_then(Lengths::block).map_or(spec.elements, |mean| mean.min(spec.elements));
    let splits = spec.operation.splits();
    let summed = if spec.operation == Operation::Compact { spec.elements } else { mean };
    let times = 1 + u64::from(splits);
    vec![
        // A split clears all new heads before it sets some.
        Pass::once(bits(spec, summed, times)).and(splits.then(|| beside(spec))),
        Pass::once(bits(spec, spec.elements, times)).and(input(spec)).and([output(spec), beside(spec)]),
    ]
}

/// True for the sums of tiles before each tile, and of those behind it, if they are needed.
pub fn sums_needed(spec: &Spec) -> [bool; 2] {
    match spec.operation {
        // For a single segment, the first and last element are known.
        Operation::Distribute => [spec.segmented() && !spec.backward(), spec.segmented() && spec.backward()],
        Operation::Enumerate | Operation::Compact => [true, false],
        Operation::Split | Operation::SplitAndSegment => [true; 2],
    }
}

/// Tiles that are scanned in one direction: a multiple of 32, since each has a bit in a word, with at least one
/// empty tile, so that a tile exists behind the last element.
pub fn tiles(elements: u64) -> u64 {
    (elements.div_ceil(TILE) / 32 + 1) * 32
}

/// The number of sums in both directions.
fn sums(spec: &Spec) -> u64 {
    tiles(spec.elements) * sums_needed(spec).map(u64::from).iter().sum::<u64>()
}

/// On GPUs tiles are summed, the sums are scanned, and then elements go to their places.
fn cuda(spec: &Spec) -> Vec<Pass> {
    let (n, sums) = (spec.elements, sums(spec));
    let [read, written] = [Access::reads("sums", 8, sums), Access::writes("sums", 8, sums)];
    // New heads are set one by one, so all are cleared first.
    let cleared = Pass::once((spec.operation == Operation::SplitAndSegment).then(|| beside(spec)));
    let moved = Pass::once([read.clone()]).and(bits(spec, n, 1)).and(input(spec));
    let moved = moved.and([output(spec), beside(spec)]);
    if sums == 0 {
        return vec![cleared, moved];
    }
    let summed = Pass::once(bits(spec, n, 1)).and([written.clone(), Access::writes("starts", 4, sums / 32)]);
    let scanned = Pass::once([read, Access::reads("starts", 4, sums / 32), written]);
    vec![cleared, summed, scanned, moved]
}

/// Bytes of the tiles' sums, before and after they are scanned, and of the bits where the scan restarts.
fn temporary(spec: &Spec) -> u64 {
    if spec.backend.is_cuda() { 16 * sums(spec) + sums(spec) / 8 } else { 0 }
}

/// Block costs for each pass of a case on a GPU.
pub fn block_costs(spec: &Spec) -> Vec<BlockCost> {
    let cleared =
        (spec.operation == Operation::SplitAndSegment && spec.elements > 0).then(BlockCost::default);
    let directions = sums_needed(spec).map(u64::from).iter().sum::<u64>();
    let sums = if directions > 0 { vec![summed(spec), scanned(spec, directions)] } else { Vec::new() };
    cleared.into_iter().chain(sums).chain([placed(spec)]).collect()
}

/// A block has 32 warps, each of which sums one tile independently.
fn summed(spec: &Spec) -> BlockCost {
    let all = tiles(spec.elements);
    of_tiles(all, 1.0).blocks(all / 32).with(all as f64, [SUM[0], SUM[1], 0.0])
}

fn of_tiles(tiles: u64, loads: f64) -> BlockCost {
    BlockCost::of(tiles, WARPS).loads(loads).steps(14.0)
}

fn scanned(spec: &Spec, directions: u64) -> BlockCost {
    block_cost(Method::Lookback, true, directions * 8 * tiles(spec.elements), 8)
}

/// A warp places its tile's elements a few rows at a time, waiting for the loads of each row.
fn placed(spec: &Spec) -> BlockCost {
    let counts = match spec.operation {
        Operation::Enumerate => ENUMERATE,
        Operation::Compact => COMPACT,
        Operation::Distribute => DISTRIBUTE,
        Operation::Split | Operation::SplitAndSegment => SPLIT,
    };
    let tiles = spec.elements.div_ceil(TILE);
    let rows = TILE as f64 / ROWS;
    let loads = if spec.operation == Operation::Enumerate { 1.0 } else { 1.0 + rows };
    let each = [SUM[0] + rows * counts[0], SUM[1] + rows * counts[1], 0.0];
    of_tiles(tiles, loads).blocks(tiles.div_ceil(8)).with(tiles as f64, each)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ALL, spec};
    use super::*;
    use crate::case::Backend;

    fn passes(spec: &Spec) -> Vec<u64> {
        let bytes = |pass: &Pass| pass.accesses.iter().map(Access::bytes).sum();
        work(spec).passes.iter().map(bytes).collect()
    }

    /// 10000 elements, 5000 of them true: 313 words of bits and, with 7 elements each, 1429 segments.
    #[test]
    fn what_counts_is_what_the_definition_moves() {
        let effective = |operation, mean| work(&spec(operation, 10_000, mean, 1)).effective_bytes;
        assert_eq!(effective(Operation::Enumerate, 0), 40_000 + 1252);
        assert_eq!(effective(Operation::Enumerate, 7), 40_000 + 2 * 1252);
        assert_eq!(effective(Operation::Compact, 0), 60_000 + 1252);
        assert_eq!(effective(Operation::Compact, 7), 60_000 + 2 * 1252 + 4 * 1429);
        assert_eq!(effective(Operation::Distribute, 0), 40_000 + 4);
        assert_eq!(effective(Operation::Distribute, 7), 40_000 + 1252 + 4 * 1429);
        assert_eq!(effective(Operation::Split, 0), 80_000 + 1252);
        assert_eq!(effective(Operation::SplitAndSegment, 7), 80_000 + 3 * 1252);
    }

    #[test]
    fn cpus_sum_up_what_they_must() {
        assert_eq!(passes(&spec(Operation::Enumerate, 10_000, 0, 1)), [1252, 41_252]);
        assert_eq!(passes(&spec(Operation::Enumerate, 10_000, 64, 1)), [16, 42_504]);
        assert_eq!(passes(&spec(Operation::Distribute, 10_000, 0, 1)), [40_004]);
        assert_eq!(passes(&spec(Operation::Split, 10_000, 0, 1)), [2504, 82_504]);
    }

    /// Three tiles are 32 sums of 8 bytes in each direction.
    #[test]
    fn gpus_sum_up_tiles() {
        let on_cuda = |operation, mean| Spec { backend: Backend::Cuda, ..spec(operation, 10_000, mean, 1) };
        let sums = 32 * 8;
        assert_eq!(passes(&on_cuda(Operation::Enumerate, 0)), [1252 + sums + 4, 2 * sums + 4, sums + 41_252]);
        assert_eq!(passes(&on_cuda(Operation::Distribute, 0)), [40_004]);
        let sums = 2 * sums;
        assert_eq!(
            passes(&on_cuda(Operation::SplitAndSegment, 7)),
            [1252, 2 * 1252 + sums + 8, 2 * sums + 8, sums + 3 * 1252 + 80_000]
        );
        assert_eq!([0, 4096, 4096 * 31, 4096 * 32].map(tiles), [32, 32, 32, 64]);
    }

    #[test]
    fn there_is_one_for_each_pass() {
        for operation in ALL {
            for mean in [0, 7] {
                if (operation == Operation::SplitAndSegment) == (mean == 0) && operation.splits() {
                    continue;
                }
                let spec = Spec { backend: Backend::Cuda, ..spec(operation, 10_000, mean, 1) };
                assert_eq!(block_costs(&spec).len(), work(&spec).passes.len(), "{operation:?} {mean}");
            }
        }
    }

    /// 2^20 elements are 256 tiles of 32 rows of 128.
    #[test]
    fn warps_place_their_tiles() {
        let all = block_costs(&Spec { backend: Backend::Cuda, ..spec(Operation::Enumerate, 1 << 20, 0, 1) });
        let last = all.last().expect("a pass");
        assert_eq!((last.tiles, last.blocks, last.instructions), (256, 32, 256.0 * (150.0 + 32.0 * 110.0)));
    }
}
