//! The memory traffic of the primitives atop scan, pass by pass.

use super::spec::{Operation, Spec, TILE};
use crate::case::Direction::{Read, Write};
use crate::case::work::Order;
use crate::case::{Access, Pass, Work};
use crate::primitives::scan::segments::Lengths;

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let bits = spec.bits() * (u64::from(spec.operation.flagged()) + u64::from(spec.segmented()));
    let read = input(spec).map_or(0, |input| input.bytes());
    let written = spec.written() * spec.out_element() + spec.beside();
    let held = if spec.operation == Operation::Enumerate { 0 } else { spec.elements * spec.element };
    Work {
        passes: if spec.backend.is_cuda() { cuda(spec) } else { cpu(spec) },
        elements: spec.elements,
        effective_bytes: bits + read + written,
        system_bytes: bits + read + written,
        footprint: bits + held + spec.elements * spec.out_element() + spec.beside() + temporary(spec),
        scratch: 0,
    }
}

/// The elements of in that are read; distribute reads the first or last element of each segment.
fn input(spec: &Spec) -> Option<Access> {
    let stride = spec.lengths().and_then(Lengths::block).unwrap_or(1);
    let all = Access::sequential("in", Read, spec.element, spec.elements);
    match spec.operation {
        Operation::Enumerate => None,
        Operation::Distribute => Some(Access {
            count: spec.segment_count(),
            order: if stride > 1 { Order::Strided { stride, run: 1.0 } } else { Order::Sequential },
            ..all
        }),
        _ => Some(all),
    }
}

/// A split writes two ascending streams per segment; everything else is written in order.
fn output(spec: &Spec) -> impl Iterator<Item = Access> {
    let out = Access::sequential("out", Write, spec.out_element(), spec.written());
    let order = if spec.operation.splits() { Order::Partitions { partitions: 2 } } else { Order::Sequential };
    let beside = spec.beside() / 4;
    let name = if spec.operation == Operation::Compact { "pointers" } else { "new heads" };
    let beside = (beside > 0).then(|| Access::sequential(name, Write, 4, beside));
    [Access { order, ..out }].into_iter().chain(beside)
}

/// The first `elements` flags, and the segment heads, read `times` times.
fn bits(spec: &Spec, elements: u64, times: u64) -> impl Iterator<Item = Access> {
    let words = elements.div_ceil(32);
    let read = move |array| Access { count: times * words, ..Access::sequential(array, Read, 4, words) };
    let flags = spec.operation.flagged().then(|| read("flags"));
    flags.into_iter().chain(spec.segmented().then(|| read("heads")))
}

/// On CPUs each thread first sums its part. Except for compact, it reads only the bits behind its last head or
/// before its first head; the number of threads is not known here, so one thread is counted. Then it places the
/// elements of its part; a split counts the flags of a segment before it moves the elements.
fn cpu(spec: &Spec) -> Vec<Pass> {
    let mean = spec.lengths().and_then(Lengths::block).map_or(spec.elements, |mean| mean.min(spec.elements));
    let splits = u64::from(spec.operation.splits());
    let summed = if spec.operation == Operation::Compact { spec.elements } else { mean };
    let moved = bits(spec, spec.elements, 1 + splits).chain(input(spec)).chain(output(spec));
    // A split clears all new heads before it sets some.
    let cleared = output(spec).skip(1).filter(|_| splits > 0);
    pass(bits(spec, summed, 1 + splits).chain(cleared)).into_iter().chain(pass(moved)).collect()
}

/// Whether the sums of tiles before, and behind, each tile are needed.
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
    let of_sums = |direction| [Access::sequential("sums", direction, 8, sums)];
    let starts = |direction| [Access::sequential("starts", direction, 4, sums / 32)];
    let summed = bits(spec, n, 1).chain(of_sums(Write)).chain(starts(Write));
    let scanned = of_sums(Read).into_iter().chain(starts(Read)).chain(of_sums(Write));
    let moved = of_sums(Read).into_iter().chain(bits(spec, n, 1)).chain(input(spec)).chain(output(spec));
    // New heads are set one by one, so all are cleared first.
    let cleared = pass(output(spec).skip(1).filter(|_| spec.operation == Operation::SplitAndSegment));
    let first = if sums > 0 { [pass(summed), pass(scanned)] } else { [None, None] };
    [cleared].into_iter().chain(first).chain([pass(moved)]).flatten().collect()
}

/// Bytes of the tiles' sums, before and after they are scanned, and of the bits where the scan restarts.
fn temporary(spec: &Spec) -> u64 {
    if spec.backend.is_cuda() { 16 * sums(spec) + sums(spec) / 8 } else { 0 }
}

fn pass(accesses: impl Iterator<Item = Access>) -> Option<Pass> {
    let accesses: Vec<Access> = accesses.filter(|access| access.count > 0).collect();
    (!accesses.is_empty()).then(|| Pass::once(accesses))
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
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
}
