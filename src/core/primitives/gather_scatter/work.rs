//! The memory accesses of a gather or scatter, pass by pass.
//!
//! Every method but `partitioned` is a case of one scheme: `segments` segments of L, one after another, each in
//! `passes` passes; a pass scans the segment of L and moves the tuples whose location lies in its chunk of the
//! randomly accessed array (he2007 §3.4, Fig. 10). Chunks and segments of n elements in k parts have ⌊n/k⌋ or
//! ⌈n/k⌉ elements, so there are up to four kinds of passes. A pass requests only the tuples that it moves. The
//! lines between them, which Eq. 11 counts by charging R_in once per pass, are accounted for by the access's
//! stride. The accesses of `super::partitioned` are in `partitioned`.

use super::levels::Levels;
use super::partitioned::{Cut, Digit, group};
use super::spec::{Kernel, Locations, Spec};
use crate::case::work::{Access, Order, Pass, Work};

/// Maximum number of input chunks in which partitions are counted when L is generated.
pub const COUNTING_CHUNKS: u64 = 256;

/// The work of a case. On a GPU, partitioning has different passes ([`Levels`]).
pub fn work(spec: &Spec) -> Work {
    let (data, locations) = (spec.moves() * spec.tuple, spec.moves() * spec.index);
    let (passes, workspace) = match (Levels::of(spec), &spec.cut) {
        (Some(levels), _) => (levels.passes(spec), levels.workspace(spec)),
        (None, Some(cut)) => (partitioned(spec, cut), workspace(spec, cut)),
        (None, None) => (passes(spec), 0),
    };
    Work::of(spec.moves(), data, passes)
        .system(2 * data + locations)
        .footprint((spec.input() + spec.output()) * spec.tuple + locations + workspace)
        .scratch(scratch(spec))
}

/// Bytes needed for generating and checking L. An L without a closed form is generated from counts of each
/// partition in each chunk, and a bitmap proves that it is a permutation. A user-provided L comes from an array
/// of 8-byte words, and for a scatter a bitmap marks the places that L addresses.
fn scratch(spec: &Spec) -> u64 {
    let bitmap = spec.tuples.div_ceil(8);
    match (spec.locations, &spec.user_indices) {
        (Locations::Partitions { count }, _) => 8 * count * COUNTING_CHUNKS + bitmap,
        (_, Some(user_indices)) => 8 * user_indices.count + if spec.overwrites() { bitmap } else { 0 },
        _ => 0,
    }
}

/// Bytes of the pairs between the partitioning passes: one copy of L and R_in and, with more than one pass, a
/// second one, between which the passes alternate. (Counts are in fast memory.)
pub fn workspace(spec: &Spec, cut: &Cut) -> u64 {
    (cut.digits.len() as u64).min(2) * spec.moves() * (spec.index + spec.tuple)
}

/// Each partitioning pass counts and then moves; the very last pass writes R_out.
fn partitioned(spec: &Spec, cut: &Cut) -> Vec<Pass> {
    if spec.moves() == 0 {
        return Vec::new();
    }
    let mut all = Vec::new();
    for (k, &digit) in cut.digits.iter().enumerate() {
        let [locations, tuples] = pairs(spec, k, spec.index, Access::reads).map(Access::indexed);
        let order = staged(spec, digit);
        let sorted =
            pairs(spec, k + 1, spec.index, Access::writes).map(|to| to.ordered(order.clone()).indexed());
        all.push(Pass::once([locations.clone()]));
        all.push(Pass::once([locations, tuples]).and(sorted));
    }
    let [locations, tuples] = pairs(spec, cut.digits.len(), spec.index, Access::reads);
    let placed = placed(spec, confined(spec, cut.chunks)).indexed();
    all.push(Pass::once([locations, tuples.indexed(), placed]));
    all
}

/// The streams of a digit, whose groups wait near the processor until they fill whole lines.
fn staged(spec: &Spec, digit: Digit) -> Order {
    let values = digit.values();
    sorted_near(streams(spec, digit), values * group(spec, values as usize) as u64)
}

/// Streams into which tiles of `tile` pairs are sorted near the processor.
pub(super) fn sorted_near(order: Order, tile: u64) -> Order {
    match order {
        Order::Partitions { partitions } => Order::Staged { partitions, tile },
        other => other,
    }
}

/// L and R_in if `copies` is 0, else their copies after that many passes, read or written; locations have `bytes` bytes.
pub(super) fn pairs(
    spec: &Spec,
    copies: usize,
    bytes: u64,
    access: fn(&str, u64, u64) -> Access,
) -> [Access; 2] {
    let ticks = "'".repeat(copies);
    let tuples = if copies == 0 { "R_in".to_owned() } else { format!("R{ticks}") };
    [(format!("L{ticks}"), bytes), (tuples, spec.tuple)]
        .map(|(array, element)| access(&array, element, spec.moves()))
}

/// R_out, where each location may lead to any place.
pub(super) fn placed(spec: &Spec, order: Order) -> Access {
    Access::writes("R_out", spec.tuple, spec.moves()).within(spec.tuples * spec.tuple).ordered(order)
}

/// The write order of a pass that sorts by a digit: one stream per value that occurs.
pub(super) fn streams(spec: &Spec, digit: Digit) -> Order {
    match spec.locations {
        // The digit's value is the same for as many tuples as a chunk has.
        Locations::Sequential => Order::Sequential,
        Locations::Partitions { count } => Order::Partitions { partitions: digit.values().min(count) },
        _ => Order::Partitions { partitions: digit.values() },
    }
}

/// The order in which R_out is written, chunk by chunk.
pub(super) fn confined(spec: &Spec, chunks: u64) -> Order {
    match spec.locations {
        Locations::Sequential => Order::Sequential,
        Locations::Random | Locations::Zipf { .. } => Order::Chunks { chunks },
        Locations::Partitions { count } => Order::Partitions { partitions: (count / chunks).max(1) },
        Locations::File { .. } | Locations::List { .. } => Order::Given,
    }
}

/// The (number, size) of the parts when n elements are cut into k parts.
fn parts(n: u64, k: u64) -> impl Iterator<Item = (u64, u64)> {
    [(n % k, n / k + 1), (k - n % k, n / k)].into_iter().filter(|&(times, size)| times > 0 && size > 0)
}

fn passes(spec: &Spec) -> Vec<Pass> {
    let (segments, passes) = spec.method.segments_and_passes();
    let mut all = Vec::new();
    for (segment_count, segment) in parts(spec.moves(), segments) {
        let scan = Pass::once([Access::reads("L", spec.index, segment)]).times(segment_count);
        // With L[i] = i a segment's tuples are contiguous, and are moved once.
        if spec.locations == Locations::Sequential && passes > 1 {
            all.extend([scan.clone().times(passes - 1), scan.and(sides(spec, segment))]);
            continue;
        }
        let mut scans = passes;
        for (chunk_count, moved) in parts(segment, passes) {
            all.push(scan.clone().and(chunk(spec, segment, passes, moved)).times(chunk_count));
            scans -= chunk_count;
        }
        // With more passes than tuples in a segment, some passes only scan L.
        all.extend((scans > 0).then(|| scan.times(scans)));
    }
    all
}

/// What one pass moves: `moved` of a segment's tuples.
fn chunk(spec: &Spec, segment: u64, passes: u64, moved: u64) -> [Access; 2] {
    let order = match spec.locations {
        Locations::Random => Order::Random,
        Locations::Zipf { exponent } => Order::Zipf { exponent },
        _ => confined(spec, passes),
    };
    let share = match spec.locations {
        Locations::Partitions { count } => passes.min(count),
        _ => passes,
    };
    let chunk = spec.tuples.div_ceil(passes);
    let places = if spec.locations == Locations::Sequential { segment } else { chunk };
    // One in `share` tuples of the part that the pass walks through is moved.
    let walked = (moved * share).min(segment);
    let [random, companion] = sides(spec, moved);
    [
        random.within(places * spec.tuple).ordered(order),
        companion.within(walked * spec.tuple).ordered(Order::one_in(share)),
    ]
}

/// `count` tuples of the array accessed through L, and of the array accessed in order.
fn sides(spec: &Spec, count: u64) -> [Access; 2] {
    let input = Access::reads("R_in", spec.tuple, count).indexed();
    let output = Access::writes("R_out", spec.tuple, count).indexed();
    match spec.kernel {
        Kernel::Gather => [input, output],
        Kernel::Scatter => [output, input],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Direction;
    use crate::primitives::gather_scatter::tests::spec;
    use proptest::prelude::*;

    fn of(kernel: Kernel, words: &str) -> Work {
        work(&spec(kernel, words))
    }

    #[test]
    fn a_direct_gather_is_eq_10() {
        let w = of(Kernel::Gather, "tuples=100");
        let seen: Vec<_> = w.passes[0]
            .accesses
            .iter()
            .map(|a| (a.array.as_str(), a.direction, a.count, a.footprint))
            .collect();
        let wanted = [
            ("L", Direction::Read, 100, 400),
            ("R_in", Direction::Read, 100, 800),
            ("R_out", Direction::Write, 100, 800),
        ];
        assert_eq!((w.passes.len(), w.passes[0].times, seen.as_slice()), (1, 1, &wanted[..]));
        assert_eq!(w.passes[0].accesses[1].order, Order::Random);
        assert_eq!(w.passes[0].accesses[2].order, Order::Sequential);
        assert_eq!((w.effective_bytes, w.system_bytes, w.footprint), (800, 2000, 2000));
    }

    #[test]
    fn a_multipass_scatter_scans_l_in_every_pass() {
        let w = of(Kernel::Scatter, "tuples=102 method=multipass method.multipass.passes=4");
        let seen: Vec<_> =
            w.passes.iter().map(|p| (p.times, p.accesses[1].count, p.accesses[1].footprint)).collect();
        assert_eq!(seen, [(2, 26, 26 * 8), (2, 25, 26 * 8)]);
        assert_eq!(w.passes[0].accesses[2].order, Order::Strided { stride: 4, run: 1.0 });
        assert_eq!(w.passes[0].accesses[2].footprint, 102 * 8);
        assert_eq!(w.declared_bytes(), 4 * 102 * 4 + 2 * 102 * 8);
    }

    #[test]
    fn partitions_are_shared_among_the_passes() {
        let order = |count: u64| {
            let scheme = "tuples=128 method=multipass method.multipass.passes=4";
            let w = of(
                Kernel::Scatter,
                &format!("{scheme} locations=partitions locations.partitions.count={count}"),
            );
            (
                w.passes[0].accesses[1].order.clone(),
                w.passes[0].accesses[2].order.clone(),
                w.passes[0].accesses[2].footprint,
            )
        };
        assert_eq!(
            order(32),
            (Order::Partitions { partitions: 8 }, Order::Strided { stride: 4, run: 1.0 }, 1024)
        );
        assert_eq!(
            order(2),
            (Order::Partitions { partitions: 1 }, Order::Strided { stride: 2, run: 1.0 }, 512)
        );
    }

    #[test]
    fn the_sides_of_a_given_l_have_their_own_sizes() {
        let user_indices = "locations=file locations.file.length=10 locations.file.largest=99";
        let w = of(Kernel::Gather, &format!("{user_indices} method=multipass method.multipass.passes=4"));
        assert_eq!((w.elements, w.effective_bytes, w.system_bytes), (10, 80, 200));
        assert_eq!((w.footprint, w.scratch), (110 * 8 + 40, 80));
        assert_eq!(w.passes[0].accesses[1].order, Order::Given);
        assert_eq!(w.passes[0].accesses[1].footprint, 200);
        assert_eq!(w.declared_bytes(), 4 * 10 * 4 + 2 * 10 * 8);
        assert_eq!(of(Kernel::Scatter, user_indices).scratch, 80 + 13);
    }

    #[test]
    fn a_partitioned_scatter_counts_partitions_and_confines() {
        let of = |bits: u64, passes: u64, locations: &str| {
            let cut = format!("method.partitioned.bits={bits} method.partitioned.passes={passes}");
            of(Kernel::Scatter, &format!("tuples=1000 method=partitioned {cut} locations={locations}"))
        };
        let seen = |w: &Work| -> Vec<Vec<(String, Order)>> {
            let pass = |p: &Pass| p.accesses.iter().map(|a| (a.array.clone(), a.order.clone())).collect();
            w.passes.iter().map(pass).collect()
        };
        let named = |accesses: &[(&str, &Order)]| -> Vec<(String, Order)> {
            accesses.iter().map(|(array, order)| ((*array).to_owned(), (*order).clone())).collect()
        };
        let one = of(4, 1, "random");
        let streams = |partitions, tile| Order::Staged { partitions, tile };
        let (plain, sixteen) = (Order::Sequential, streams(16, 16 * 64));
        let wanted = [
            named(&[("L", &plain)]),
            named(&[("L", &plain), ("R_in", &plain), ("L'", &sixteen), ("R'", &sixteen)]),
            named(&[("L'", &plain), ("R'", &plain), ("R_out", &Order::Chunks { chunks: 16 })]),
        ];
        assert_eq!(seen(&one), wanted);
        assert_eq!(one.declared_bytes(), 1000 * (4 * 4 + 4 * 8));
        assert_eq!((one.effective_bytes, one.system_bytes, one.footprint), (8000, 20_000, 32_000));
        let two = of(5, 2, "random");
        let ways: Vec<Order> =
            two.passes.iter().filter_map(|p| Some(p.accesses.get(2)?.order.clone())).collect();
        assert_eq!(ways, [streams(4, 4 * 64), streams(8, 8 * 64), Order::Chunks { chunks: 32 }]);
        assert_eq!(two.declared_bytes(), 1000 * (4 * 7 + 8 * 6));
        assert_eq!(two.footprint, 20_000 + 2 * 12_000);
        let sequential = of(4, 1, "sequential");
        assert!(sequential.passes.iter().flat_map(|p| &p.accesses).all(|a| a.order == Order::Sequential));
    }

    proptest! {
        /// Every tuple is moved once and L is scanned once per pass, regardless of the number of parts.
        #[test]
        fn the_declared_bytes_add_up(
            tuples in 1u64..5000, segments in 1u64..60, passes in 1u64..60, gather: bool, sequential: bool,
        ) {
            let (segments, passes) = (segments.min(tuples), passes.min(tuples));
            let kernel = if gather { Kernel::Gather } else { Kernel::Scatter };
            let locations = if sequential { "sequential" } else { "random" };
            let scheme = format!("method.segmented.segments={segments} method.segmented.passes={passes}");
            let w = of(kernel, &format!("tuples={tuples} method=segmented {scheme} locations={locations}"));
            prop_assert_eq!(w.declared_bytes(), passes * tuples * 4 + 2 * tuples * 8);
            prop_assert_eq!(w.passes.iter().map(|p| p.times).sum::<u64>(), segments * passes);
        }
    }
}
