//! he2007's multi-pass scheme (§3.4, Fig. 10), of which every method but `partitioned` is a case: `segments` segments of L, one
//! after another, each in `passes` passes. A pass scans the segment of L and moves the tuples whose location lies in its chunk
//! of the randomly accessed array. `direct` and `streaming` have one segment and one pass.
//!
//! Chunks and segments of n elements in k parts have ⌊n/k⌋ or ⌈n/k⌉ elements, so there are up to four kinds of passes. A pass
//! requests only the tuples that it moves: one in `passes` of those that it walks through, or a stretch of them where L ascends.
//! Eq. 11 charges all of R_in in each pass; the model `he2007` adds what is skipped. On CPUs all threads meet after each pass; on a GPU each pass is a launch, so it ends
//! before the next begins.

use super::super::{Kernel, Locations, Spec, part};
use crate::case::work::{Access, Order, Pass};
use crate::case::{Failure, Fault};
use crate::primitives::Costs;
use crate::primitives::Range;

pub fn costs(spec: &Spec) -> Costs<'_> {
    let (segments, passes) = spec.method.segments_and_passes();
    let mut all = Vec::new();
    for (segment_count, segment) in parts(spec.moves(), segments) {
        let scan = Pass::once([Access::reads("L", spec.index, segment)]).times(segment_count);
        let mut scans = passes;
        for (chunk_count, moved) in parts(segment, passes) {
            all.push(scan.clone().and(chunk(spec, segment, passes, moved)).times(chunk_count));
            scans -= chunk_count;
        }
        // With more passes than tuples in a segment, some passes only scan L.
        all.extend((scans > 0).then(|| scan.times(scans)));
    }
    Costs::of(all)
}

/// The accesses of one pass, which moves `moved` of a segment's tuples.
fn chunk(spec: &Spec, segment: u64, passes: u64, moved: u64) -> [Access; 2] {
    let order = match spec.locations {
        Locations::Random => Order::Random,
        Locations::Zipf { exponent } => Order::Zipf { exponent },
        _ => confined(spec, passes),
    };
    let chunk = spec.tuples.div_ceil(passes);
    // One in `share` tuples of the part that the pass walks through is moved. With L[i] = i that part is the chunk itself.
    let (share, places) = match spec.locations {
        Locations::Sequential => (1, moved),
        Locations::Partitions { count } => (passes.min(count), chunk),
        _ => (passes, chunk),
    };
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

/// The (number, size) of the parts when n elements are cut into k parts.
fn parts(n: u64, k: u64) -> impl Iterator<Item = (u64, u64)> {
    [(n % k, n / k + 1), (k - n % k, n / k)].into_iter().filter(|&(times, size)| times > 0 && size > 0)
}

/// The order in which R_out is written, chunk by chunk.
pub fn confined(spec: &Spec, chunks: u64) -> Order {
    match spec.locations {
        Locations::Sequential => Order::Sequential,
        Locations::Random | Locations::Zipf { .. } => Order::Chunks { chunks },
        Locations::Partitions { count } => Order::Partitions { partitions: (count / chunks).max(1) },
        Locations::File { .. } | Locations::List { .. } => Order::Given,
    }
}

/// Maximum number of launches per execution.
const MAX_LAUNCHES: u64 = 1 << 20;

/// One launch: the tuples i in [first, first + count) whose location is in [low, high).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub first: u64,
    pub count: u64,
    pub low: u64,
    pub high: u64,
}

impl Span {
    /// The intersection of the span with part `k` of `parts` of all `moves` locations.
    fn share(self, k: u64, parts: u64, moves: u64) -> Span {
        let whole = Range { first: self.first, count: self.count };
        let Range { first, count } = whole.within(part(k, parts, moves), part(k + 1, parts, moves));
        Span { first, count, ..self }
    }
}

/// The launches of each of `parts` devices: the spans restricted to its contiguous part of all `moves`
/// locations, in order.
pub fn shares(spans: &[Span], moves: u64, parts: u64) -> Vec<Vec<Span>> {
    let of = |k| spans.iter().map(|span| span.share(k, parts, moves)).filter(|span| span.count > 0).collect();
    (0..parts).map(of).collect()
}

/// The launches of an execution in order, none of them empty: segment by segment, pass by pass (he2007 §3.4 and
/// Fig. 10). `fault`, given with the value of L[0], makes them deliberately wrong, so that at least one tuple
/// is left out; [`Fault::OffByOne`] is applied to the pointers instead.
///
/// # Errors
/// `NotApplicable` if there are too many launches.
pub fn spans(spec: &Spec, fault: Option<(Fault, u64)>) -> Result<Vec<Span>, Failure> {
    let (segments, passes) = spec.method.segments_and_passes();
    let launches = segments.saturating_mul(passes);
    if launches > MAX_LAUNCHES {
        return Err(Failure::NotApplicable(format!("{launches} launches; accepted: at most {MAX_LAUNCHES}")));
    }
    let scheme = Scheme { moves: spec.moves(), tuples: spec.tuples, segments, passes };
    let mut all = scheme.spans();
    match fault {
        Some((Fault::WrongChunk, location)) => scheme.exchange(&mut all, location),
        Some((Fault::MissingTail, _)) => all.iter_mut().for_each(|span| scheme.cut_tail(span)),
        Some((Fault::SkippedStore, _)) => {
            all = all.into_iter().flat_map(|s| without(s, spec.moves() / 2)).collect()
        }
        Some(_) | None => {}
    }
    all.retain(|span| span.count > 0 && span.high > span.low);
    Ok(all)
}

#[derive(Clone, Copy)]
struct Scheme {
    /// Locations; each segment has a part of them.
    moves: u64,
    /// Tuples that the locations address; each pass has a part of them.
    tuples: u64,
    segments: u64,
    passes: u64,
}

impl Scheme {
    fn spans(self) -> Vec<Span> {
        let cut = |k, parts, n| (part(k, parts, n), part(k + 1, parts, n));
        let pass = |s: u64, k: u64| {
            let ((first, end), (low, high)) =
                (cut(s, self.segments, self.moves), cut(k, self.passes, self.tuples));
            Span { first, count: end - first, low, high }
        };
        (0..self.segments).flat_map(|s| (0..self.passes).map(move |k| pass(s, k))).collect()
    }

    /// The launch that moves tuple 0, whose location is given, takes its neighbour's chunk of the locations or,
    /// with a single pass, its neighbour's segment of the tuples. With neither, the first half of the tuples is
    /// taken twice.
    fn exchange(self, spans: &mut Vec<Span>, location: u64) {
        let Some(mine) = spans.iter().position(|s| (s.low..s.high).contains(&location)) else { return };
        if self.passes > 1 {
            let other = spans[(mine + 1) % self.passes as usize];
            (spans[mine].low, spans[mine].high) = (other.low, other.high);
        } else if self.segments > 1 {
            (spans[mine].first, spans[mine].count) = (spans[mine + 1].first, spans[mine + 1].count);
        } else {
            let half = Span { count: self.moves / 2, ..spans[mine] };
            *spans = vec![half, half];
        }
    }

    fn cut_tail(self, span: &mut Span) {
        if span.first + span.count == self.moves {
            span.count = span.count.saturating_sub(1);
        }
    }
}

/// The span without tuple `i`.
fn without(span: Span, i: u64) -> Vec<Span> {
    if !(span.first..span.first + span.count).contains(&i) {
        return vec![span];
    }
    let after = span.first + span.count - (i + 1);
    vec![Span { count: i - span.first, ..span }, Span { first: i + 1, count: after, ..span }]
}

pub mod cpu {
    use crate::device::cpu::fence;
    use crate::primitives::cpu::prelude::*;
    use crate::primitives::gather_scatter::cpu::GatherScatter;
    use crate::primitives::gather_scatter::cpu::kernels::{self, Move};
    use crate::primitives::gather_scatter::methods::Method;
    use crate::primitives::gather_scatter::{Kernel, Spec, part};

    /// Tuples of 4 and 8 bytes move by gather and scatter instructions in a single pass. Longer tuples, and tuples
    /// selected by a filter of L, move one by one, for which the widest registers and comparisons are best
    /// (measured on Zen 5: 16 passes over 2^24 tuples run 1.5 times as fast with AVX-512's filter as with the
    /// scalar one).
    pub fn isa(spec: &Spec) -> Isa {
        let one_by_one = spec.tuple > 8 || spec.method.segments_and_passes().1 > 1;
        match (spec.kernel, one_by_one, Isa::widest()) {
            (Kernel::Gather, true, widest) => widest,
            (Kernel::Scatter, true, Isa::Avx512) => Isa::Avx512,
            (Kernel::Gather, false, _) => Isa::for_gathers(),
            (Kernel::Scatter, _, _) => Isa::for_scatters(),
        }
    }

    pub fn method(spec: &Spec, isa: Isa) -> Result<PoolMethod<GatherScatter>, Failure> {
        let streaming = spec.method == Method::Streaming;
        if streaming && cfg!(not(target_arch = "x86_64")) {
            return Err(Failure::NotApplicable("no non-temporal stores on this architecture".to_owned()));
        }
        let (timed, n) = (kernels::timed(spec, isa), spec.moves());
        let (segments, passes) = spec.method.segments_and_passes();
        Ok(Box::new(move |moves, worker| {
            for segment in 0..segments {
                let tuples = part(segment, segments, n) as usize..part(segment + 1, segments, n) as usize;
                for pass in 0..passes {
                    for launch in launches(moves, worker, &tuples, (pass, passes)) {
                        // SAFETY: ranges lie inside the arrays and locations are below n (one more with a fault: the
                        // guard). Workers write disjoint tuples; with a user-provided L they may write the same tuple by
                        // volatile stores, any of which is right.
                        unsafe { timed(&launch) };
                    }
                    if segments * passes > 1 {
                        worker.meet();
                    }
                }
            }
            if streaming {
                fence();
            }
        }))
    }

    /// A worker's part of one pass over the tuples of a segment.
    fn launches(
        moves: &GatherScatter,
        worker: Worker,
        segment: &Range<usize>,
        (pass, passes): (u64, u64),
    ) -> impl Iterator<Item = Move> {
        let wrong = moves.fault == Some(Fault::WrongChunk) && passes > 1;
        let chunk = if wrong && pass + 1 == passes { pass - 1 } else { pass };
        let [low, high] = [chunk, chunk + 1].map(|k| part(k, passes, moves.spec.tuples));
        let fault = if wrong { None } else { moves.fault };
        let (pieces, start) = (pieces(segment.len(), 64, worker, fault), segment.start);
        pieces.into_iter().map(move |piece| moves.launch(start + piece.start, piece.len(), low..high))
    }
}

pub mod cuda {
    use super::Span;
    use crate::primitives::cuda::Tiles;
    use crate::primitives::cuda::prelude::*;
    use crate::primitives::gather_scatter::cuda::{Arrays, At, MODULE};
    use crate::primitives::gather_scatter::{Spec, tuned};

    /// `EVERYTHING` in the kernels.
    const EVERYTHING: u64 = u64::MAX;

    pub fn kernels(spec: &Spec) -> KernelList {
        KernelList::default().timed(MODULE, tuned::kernel_name(spec), 1)
    }

    pub fn method(gpu: &Gpu, spec: &Spec, spans: Vec<Span>) -> Result<GpuMethod<Arrays>, Failure> {
        let (timed, tuples) = (gpu.module(MODULE)?.kernel(&tuned::kernel_name(spec))?, spec.tuples);
        let tiles = Tiles::new(gpu, &timed, &tuned::tuning(spec), 1)?;
        Ok(Box::new(move |gpu, arrays| {
            spans.iter().try_for_each(|span| {
                let At { output, input, locations } = arrays.at(span)?;
                let Span { count, low, high, .. } = *span;
                let ((full, tiled), blocks) = (tiles.full(count), tiles.blocks(count));
                // No location lies outside the chunk, and every tuple has a thread.
                let every = low == 0 && high == tuples && tiles.one_each(count);
                let width = if every { EVERYTHING } else { high - low };
                let args = args![output, input, locations, full, tiled, count, low, width];
                gpu.launch(&timed, blocks, tiles.block, 0, args)
            })
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::gather_scatter::{Method, tests};

    fn spec(n: u64, method: Method) -> Spec {
        Spec { method, ..tests::spec(Kernel::Gather, &format!("tuples={n} tuple=8 index=4")) }
    }

    const METHODS: [Method; 6] = [
        Method::Direct,
        Method::Multipass { passes: 1 },
        Method::Multipass { passes: 5 },
        Method::Segmented { segments: 3, passes: 1 },
        Method::Segmented { segments: 3, passes: 4 },
        Method::Segmented { segments: 1, passes: 7 },
    ];

    /// How often each tuple is moved.
    fn moved(spec: &Spec, fault: Option<Fault>) -> Vec<usize> {
        let source = spec.source().unwrap();
        let location = |i| source.location(i).unwrap();
        let spans = spans(spec, fault.map(|f| (f, location(0)))).unwrap();
        let takes =
            |s: &Span, i| (s.first..s.first + s.count).contains(&i) && (s.low..s.high).contains(&location(i));
        (0..spec.tuples).map(|i| spans.iter().filter(|s| takes(s, i)).count()).collect()
    }

    #[test]
    fn each_tuple_is_moved_once() {
        for method in METHODS {
            for n in [1, 2, 3, 7, 1000] {
                assert!(moved(&spec(n, method), None).iter().all(|&times| times == 1), "{method:?}, {n}");
            }
        }
    }

    #[test]
    fn each_fault_leaves_a_tuple_out_and_stays_inside() {
        for fault in [Fault::MissingTail, Fault::WrongChunk, Fault::SkippedStore] {
            for method in METHODS {
                for n in [7, 8, 1000] {
                    let spec = spec(n, method);
                    assert!(moved(&spec, Some(fault)).contains(&0), "{fault:?}, {method:?}, {n}");
                    for s in spans(&spec, Some((fault, 0))).unwrap() {
                        assert!(s.count > 0 && s.first + s.count <= n && s.high <= n, "{s:?}");
                    }
                }
            }
            assert!(moved(&spec(1, Method::Direct), Some(fault)).contains(&0), "{fault:?}");
        }
    }

    #[test]
    fn chunks_are_he2007s() {
        let spans = spans(&spec(10, Method::Multipass { passes: 4 }), None).unwrap();
        let chunks: Vec<(u64, u64)> = spans.iter().map(|s| (s.low, s.high)).collect();
        assert_eq!(chunks, [(0, 2), (2, 5), (5, 7), (7, 10)]);
    }

    #[test]
    fn segments_are_of_locations_and_passes_of_what_they_address() {
        let scheme = "method=segmented method.segmented.segments=2 method.segmented.passes=2";
        let user_indices = "locations=file locations.file.length=10 locations.file.largest=99";
        let all = spans(&tests::spec(Kernel::Gather, &format!("{scheme} {user_indices}")), None).unwrap();
        let parts: Vec<[u64; 4]> = all.iter().map(|s| [s.first, s.count, s.low, s.high]).collect();
        assert_eq!(parts, [[0, 5, 0, 50], [0, 5, 50, 100], [5, 5, 0, 50], [5, 5, 50, 100]]);
    }

    #[test]
    fn devices_share_each_launch() {
        for method in METHODS {
            for (n, parts) in [(1, 2), (7, 2), (1000, 3), (2, 5)] {
                let spec = spec(n, method);
                let all = spans(&spec, None).unwrap();
                let shared = shares(&all, n, parts);
                let moved = |spans: &[Span], i| {
                    let takes = |s: &&Span| (s.first..s.first + s.count).contains(&i) && s.low == 0;
                    spans.iter().filter(takes).count()
                };
                for i in 0..n {
                    let device = (0..parts).find(|k| i < part(k + 1, parts, n)).unwrap() as usize;
                    let each: Vec<usize> = shared.iter().map(|spans| moved(spans, i)).collect();
                    assert_eq!(each[device], moved(&all, i), "{method:?}, {i} of {n}");
                    assert_eq!(each.iter().sum::<usize>(), each[device], "{method:?}, {i} of {n}");
                }
                assert!(shared.iter().flatten().all(|span| span.count > 0));
            }
        }
    }

    #[test]
    fn millions_of_launches_are_refused() {
        let many = Method::Segmented { segments: 1 << 11, passes: 1 << 10 };
        assert!(matches!(spans(&spec(1 << 20, many), None), Err(Failure::NotApplicable(_))));
    }
}
