//! The launches of a method, and the changes that a fault makes to them. Pure.

use crate::case::{Failure, Fault};
use crate::primitives::gather_scatter::spec::{Spec, part};
use crate::primitives::range::Range;

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
        return Err(Failure::NotApplicable(format!("{launches} launches, at most {MAX_LAUNCHES}")));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitives::gather_scatter::spec::{Kernel, Method};
    use crate::primitives::gather_scatter::tests;

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
