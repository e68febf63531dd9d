//! What a gather or scatter does to memory, pass by pass.
//!
//! Every method but `partitioned` is a case of one scheme: `segments` segments of L, one
//! after another, each in `passes` passes; a pass scans the segment of L and moves the tuples whose
//! location lies in its chunk of the randomly accessed array (he2007 §3.4, Fig. 10).
//! Chunks and segments of n elements in k parts have ⌊n/k⌋ or ⌈n/k⌉, so there are up
//! to four kinds of passes. A pass asks only for the tuples it moves: the lines between
//! them, which Eq. 11 counts by charging R_in once a pass, are the stride's business.
//! What `super::partitioned` does stands in `partitioned`.

use super::levels::Levels;
use super::partitioned::{Cut, Digit, group};
use super::spec::{Kernel, Locations, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

/// Chunks of the input in which partitions are counted when L is generated, at most.
pub const COUNTING_CHUNKS: u64 = 256;

/// The work of a case.
pub fn work(spec: &Spec) -> Work {
    let data = spec.moves() * spec.tuple;
    let locations = spec.moves() * spec.index;
    let cut = spec.cut();
    Work {
        passes: cut.as_ref().map_or_else(|| passes(spec), |cut| partitioned(spec, cut)),
        elements: spec.moves(),
        effective_bytes: data,
        system_bytes: 2 * data + locations,
        footprint: (spec.input() + spec.output()) * spec.tuple
            + locations
            + cut.map_or(0, |cut| workspace(spec, &cut)),
        scratch: scratch(spec),
    }
}

/// The work of a case on a GPU, where partitioning goes another way ([`Levels`]).
pub fn on_gpu(spec: &Spec) -> Work {
    let Some(cut) = spec.cut() else { return work(spec) };
    let levels = Levels::new(spec, &cut);
    let all = work(spec);
    let footprint = all.footprint - workspace(spec, &cut) + levels.workspace(spec);
    Work { passes: levels.passes(spec), footprint, ..all }
}

/// Where L has no closed form it is made from counts of each partition in each chunk,
/// and a bitmap proves that it is a permutation. Where it was brought, it comes from an
/// array of 8-byte words, and of a scatter a bitmap has the places that it touches.
fn scratch(spec: &Spec) -> u64 {
    match spec.locations {
        Locations::Partitions { count } => 8 * count * COUNTING_CHUNKS + spec.tuples.div_ceil(8),
        Locations::Given { count, .. } => {
            8 * count + if spec.overwrites() { spec.tuples.div_ceil(8) } else { 0 }
        }
        _ => 0,
    }
}

/// Bytes of the pairs between the passes that partition: one copy of L and R_in, and with
/// more than one pass a second, from one to the other. (Counts are in fast memory.)
pub fn workspace(spec: &Spec, cut: &Cut) -> u64 {
    (cut.digits.len() as u64).min(2) * spec.moves() * (spec.index + spec.tuple)
}

/// Each pass that partitions counts and then moves; the last pass of all writes R_out.
fn partitioned(spec: &Spec, cut: &Cut) -> Vec<Pass> {
    let mut all = Vec::new();
    if spec.moves() == 0 {
        return all;
    }
    let (read, write) = (Direction::Read, Direction::Write);
    let moved = |array: String, element, direction, order| Access {
        concurrency: Concurrency::Led,
        ..pairs(spec, &array, element, direction, order)
    };
    for (k, &digit) in cut.digits.iter().enumerate() {
        let from = if k == 0 { "R_in".to_owned() } else { ticks("R", k) };
        let order = staged(spec, digit);
        let accesses = vec![
            moved(ticks("L", k), spec.index, read, Order::Sequential),
            moved(from, spec.tuple, read, Order::Sequential),
            moved(ticks("L", k + 1), spec.index, write, order.clone()),
            moved(ticks("R", k + 1), spec.tuple, write, order),
        ];
        all.push(Pass { times: 1, accesses: accesses[..1].to_vec() });
        all.push(Pass { times: 1, accesses });
    }
    let ticks = "'".repeat(cut.digits.len());
    let bytes = spec.tuples * spec.tuple;
    let accesses = vec![
        pairs(spec, &format!("L{ticks}"), spec.index, read, Order::Sequential),
        moved(format!("R{ticks}"), spec.tuple, read, Order::Sequential),
        led("R_out", write, spec.tuple, spec.moves(), bytes, confined(spec, cut.chunks)),
    ];
    all.push(Pass { times: 1, accesses });
    all
}

/// The streams of a digit, of which groups wait near the processor until they are whole lines.
fn staged(spec: &Spec, digit: Digit) -> Order {
    match streams(spec, digit) {
        Order::Partitions { partitions } => {
            let values = digit.values();
            Order::Staged { partitions, tile: values * group(spec, values as usize) as u64 }
        }
        other => other,
    }
}

/// The name of what pass k reads: L, L' …
pub(super) fn ticks(name: &str, k: usize) -> String {
    format!("{name}{}", "'".repeat(k))
}

/// All of L or R_in, or of a copy of it.
pub(super) fn pairs(spec: &Spec, array: &str, element: u64, direction: Direction, order: Order) -> Access {
    access(array, direction, element, spec.moves(), spec.moves() * element, order)
}

/// How a pass writes that sorts by a digit: a stream for each value that comes.
pub(super) fn streams(spec: &Spec, digit: Digit) -> Order {
    match spec.locations {
        // The digit's value is the same for as many tuples as a chunk has.
        Locations::Sequential => Order::Sequential,
        Locations::Partitions { count } => Order::Partitions { partitions: digit.values().min(count) },
        _ => Order::Partitions { partitions: digit.values() },
    }
}

/// How R_out is written, chunk by chunk.
pub(super) fn confined(spec: &Spec, chunks: u64) -> Order {
    match spec.locations {
        Locations::Sequential => Order::Sequential,
        Locations::Random | Locations::Zipf { .. } => Order::Chunks { chunks },
        Locations::Partitions { count } => Order::Partitions { partitions: (count / chunks).max(1) },
        Locations::Given { .. } => Order::Given,
    }
}

/// (how many, size) of the parts when n elements are cut into k.
fn parts(n: u64, k: u64) -> impl Iterator<Item = (u64, u64)> {
    [(n % k, n / k + 1), (k - n % k, n / k)].into_iter().filter(|&(times, size)| times > 0 && size > 0)
}

fn passes(spec: &Spec) -> Vec<Pass> {
    let (segments, passes) = spec.method.segments_and_passes();
    let mut all = Vec::new();
    for (segment_count, segment) in parts(spec.moves(), segments) {
        if spec.locations == Locations::Sequential && passes > 1 {
            all.extend(sequential(spec, segment_count, segment, passes));
            continue;
        }
        let mut scans = passes;
        for (chunk_count, moved) in parts(segment, passes) {
            let accesses = scheme_pass(spec, segment, passes, moved);
            all.push(Pass { times: segment_count * chunk_count, accesses });
            scans -= chunk_count;
        }
        // With more passes than tuples in a segment, some passes only scan L.
        if scans > 0 {
            all.push(Pass { times: segment_count * scans, accesses: vec![scan(spec, segment)] });
        }
    }
    all
}

/// With L[i] = i a segment's tuples lie side by side: over all passes L is scanned
/// `passes` times and the tuples are moved once.
fn sequential(spec: &Spec, segments: u64, segment: u64, passes: u64) -> [Pass; 2] {
    let bytes = segment * spec.tuple;
    let [random, companion] = sides(spec)
        .map(|(array, direction)| led(array, direction, spec.tuple, segment, bytes, Order::Sequential));
    [
        Pass { times: segments * (passes - 1), accesses: vec![scan(spec, segment)] },
        Pass { times: segments, accesses: vec![scan(spec, segment), random, companion] },
    ]
}

/// One pass that moves `moved` of a segment's tuples.
fn scheme_pass(spec: &Spec, segment: u64, passes: u64, moved: u64) -> Vec<Access> {
    let chunk = spec.tuples.div_ceil(passes) * spec.tuple;
    let (order, share) = match spec.locations {
        Locations::Sequential => (Order::Sequential, 1),
        Locations::Random => (Order::Random, passes),
        Locations::Zipf { exponent } => (Order::Zipf { exponent }, passes),
        Locations::Given { .. } => (Order::Given, passes),
        Locations::Partitions { count } => {
            (Order::Partitions { partitions: (count / passes).max(1) }, passes.min(count))
        }
    };
    let footprint = if spec.locations == Locations::Sequential { segment * spec.tuple } else { chunk };
    // One in `share` tuples of the part that the pass walks through is moved.
    let companion = if share == 1 { Order::Sequential } else { Order::Strided { stride: share } };
    let walked = (moved * share).min(segment) * spec.tuple;
    let [(random_array, random_way), (other_array, other_way)] = sides(spec);
    vec![
        scan(spec, segment),
        led(random_array, random_way, spec.tuple, moved, footprint, order),
        led(other_array, other_way, spec.tuple, moved, walked, companion),
    ]
}

/// The array accessed through L and the one accessed beside L.
fn sides(spec: &Spec) -> [(&'static str, Direction); 2] {
    match spec.kernel {
        Kernel::Gather => [("R_in", Direction::Read), ("R_out", Direction::Write)],
        Kernel::Scatter => [("R_out", Direction::Write), ("R_in", Direction::Read)],
    }
}

fn scan(spec: &Spec, segment: u64) -> Access {
    access("L", Direction::Read, spec.index, segment, segment * spec.index, Order::Sequential)
}

/// A side of the move: a tuple for each location.
fn led(array: &str, direction: Direction, element: u64, count: u64, footprint: u64, order: Order) -> Access {
    let concurrency = Concurrency::Led;
    Access { concurrency, ..access(array, direction, element, count, footprint, order) }
}

pub(super) fn access(
    array: &str,
    direction: Direction,
    element: u64,
    count: u64,
    footprint: u64,
    order: Order,
) -> Access {
    let concurrency = Concurrency::Independent;
    Access { array: array.to_owned(), direction, element, count, footprint, order, concurrency }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Backend;
    use crate::case::tuning::Tuning;
    use crate::primitives::gather_scatter::spec::Method;
    use proptest::prelude::*;

    fn spec(kernel: Kernel, method: Method, tuples: u64, locations: Locations) -> Spec {
        Spec {
            kernel,
            method,
            tuples,
            tuple: 8,
            index: 4,
            locations,
            seed: 0,
            backend: Backend::Cuda,
            tuning: Tuning::default(),
        }
    }

    #[test]
    fn a_direct_gather_is_eq_10() {
        let w = work(&spec(Kernel::Gather, Method::Direct, 100, Locations::Random));
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
        let w = work(&spec(Kernel::Scatter, Method::Multipass { passes: 4 }, 102, Locations::Random));
        let seen: Vec<_> =
            w.passes.iter().map(|p| (p.times, p.accesses[1].count, p.accesses[1].footprint)).collect();
        assert_eq!(seen, [(2, 26, 26 * 8), (2, 25, 26 * 8)]);
        assert_eq!(w.passes[0].accesses[2].order, Order::Strided { stride: 4 });
        assert_eq!(w.passes[0].accesses[2].footprint, 102 * 8);
        assert_eq!(w.declared_bytes(), 4 * 102 * 4 + 2 * 102 * 8);
    }

    #[test]
    fn partitions_are_shared_among_the_passes() {
        let method = Method::Multipass { passes: 4 };
        let order = |count| {
            let w = work(&spec(Kernel::Scatter, method, 128, Locations::Partitions { count }));
            (
                w.passes[0].accesses[1].order.clone(),
                w.passes[0].accesses[2].order.clone(),
                w.passes[0].accesses[2].footprint,
            )
        };
        assert_eq!(order(32), (Order::Partitions { partitions: 8 }, Order::Strided { stride: 4 }, 1024));
        assert_eq!(order(2), (Order::Partitions { partitions: 1 }, Order::Strided { stride: 2 }, 512));
    }

    #[test]
    fn the_sides_of_a_given_l_have_their_own_sizes() {
        let given = Locations::Given { count: 10, end: 100 };
        let w = work(&spec(Kernel::Gather, Method::Multipass { passes: 4 }, 100, given));
        assert_eq!((w.elements, w.effective_bytes, w.system_bytes), (10, 80, 200));
        assert_eq!((w.footprint, w.scratch), (110 * 8 + 40, 80));
        assert_eq!(w.passes[0].accesses[1].order, Order::Given);
        assert_eq!(w.passes[0].accesses[1].footprint, 200);
        assert_eq!(w.declared_bytes(), 4 * 10 * 4 + 2 * 10 * 8);
        assert_eq!(work(&spec(Kernel::Scatter, Method::Direct, 100, given)).scratch, 80 + 13);
    }

    #[test]
    fn a_partitioned_scatter_counts_partitions_and_confines() {
        let of = |bits, passes, locations| {
            work(&spec(Kernel::Scatter, Method::Partitioned { bits, passes }, 1000, locations))
        };
        let seen = |w: &Work| -> Vec<Vec<(String, Order)>> {
            let pass = |p: &Pass| p.accesses.iter().map(|a| (a.array.clone(), a.order.clone())).collect();
            w.passes.iter().map(pass).collect()
        };
        let named = |accesses: &[(&str, &Order)]| -> Vec<(String, Order)> {
            accesses.iter().map(|(array, order)| ((*array).to_owned(), (*order).clone())).collect()
        };
        let one = of(4, 1, Locations::Random);
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
        let two = of(5, 2, Locations::Random);
        let ways: Vec<Order> =
            two.passes.iter().filter_map(|p| Some(p.accesses.get(2)?.order.clone())).collect();
        assert_eq!(ways, [streams(4, 4 * 64), streams(8, 8 * 64), Order::Chunks { chunks: 32 }]);
        assert_eq!(two.declared_bytes(), 1000 * (4 * 7 + 8 * 6));
        assert_eq!(two.footprint, 20_000 + 2 * 12_000);
        let sequential = of(4, 1, Locations::Sequential);
        assert!(sequential.passes.iter().flat_map(|p| &p.accesses).all(|a| a.order == Order::Sequential));
    }

    proptest! {
        /// Every tuple is moved once and L is scanned once a pass, whatever the parts.
        #[test]
        fn the_declared_bytes_add_up(
            tuples in 1u64..5000, segments in 1u64..60, passes in 1u64..60, gather: bool, sequential: bool,
        ) {
            let (segments, passes) = (segments.min(tuples), passes.min(tuples));
            let kernel = if gather { Kernel::Gather } else { Kernel::Scatter };
            let locations = if sequential { Locations::Sequential } else { Locations::Random };
            let w = work(&spec(kernel, Method::Segmented { segments, passes }, tuples, locations));
            prop_assert_eq!(w.declared_bytes(), passes * tuples * 4 + 2 * tuples * 8);
            prop_assert_eq!(w.passes.iter().map(|p| p.times).sum::<u64>(), segments * passes);
        }
    }
}
