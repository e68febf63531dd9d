//! The certificate on the CPU (`sssp::mod` proves it).

use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Relaxed;

use crate::case::{Cancel, Failure};
use crate::device::cpu::Pool;
use crate::inputs::graph::{Graph, UNREACHED};

/// Distances, and which of their vertices are supported.
struct Check<'a> {
    graph: &'a Graph,
    distances: &'a [AtomicU32],
    supported: Vec<AtomicU32>,
}

/// A vertex, its distance, and what it may be at most; or, without the latter, one that nothing supports.
type Mistake = (u32, u32, Option<u32>);

/// The first mistake in the distances from a vertex.
///
/// # Errors
/// When a stop is requested.
pub fn mistake(
    graph: &Graph,
    distances: &[AtomicU32],
    source: u32,
    pool: &Pool,
    cancel: &Cancel,
) -> Result<Option<String>, Failure> {
    let n = distances.len();
    let supported = (0..n.div_ceil(32)).map(|_| AtomicU32::new(0)).collect();
    let check = Check { graph, distances, supported };
    let Some(first) = distances.get(source as usize).map(|d| d.load(Relaxed)) else { return Ok(None) };
    if first != 0 {
        return Ok(Some(told((source, first, Some(0)))));
    }
    check.mark(source);
    let long = pool.fold(n, cancel, None, |found: Option<Mistake>, u| found.or_else(|| check.relaxes(u)))?;
    if let Some(mistake) = long.into_iter().flatten().min() {
        return Ok(Some(told(mistake)));
    }
    while pool.fold(n, cancel, false, |any, u| check.supports(u) || any)?.contains(&true) {}
    let alone = |v: usize| {
        let d = check.distance(v as u32);
        (d != UNREACHED && !check.marked(v as u32)).then_some((v as u32, d, None))
    };
    let loose = pool.fold(n, cancel, None, |found: Option<Mistake>, v| found.or_else(|| alone(v)))?;
    Ok(loose.into_iter().flatten().min().map(told))
}

fn told((vertex, found, most): Mistake) -> String {
    match most {
        Some(most) => format!("d[{vertex}] is {found}, but an arc or the source allows {most}"),
        None => format!("d[{vertex}] is {found}, but no path has this length"),
    }
}

impl Check<'_> {
    fn distance(&self, vertex: u32) -> u32 {
        self.distances[vertex as usize].load(Relaxed)
    }

    fn marked(&self, vertex: u32) -> bool {
        self.supported[vertex as usize / 32].load(Relaxed) >> (vertex % 32) & 1 != 0
    }

    fn mark(&self, vertex: u32) {
        self.supported[vertex as usize / 32].fetch_or(1 << (vertex % 32), Relaxed);
    }

    /// Marks the vertices that tight arcs of weight above 0 support; returns a vertex that an arc could lower.
    fn relaxes(&self, u: usize) -> Option<Mistake> {
        let distance = self.distance(u as u32);
        for arc in self.graph.leaving(u) {
            let (through, found) = (distance.saturating_add(arc.weight), self.distance(arc.target));
            if found > through {
                return Some((arc.target, found, Some(through)));
            }
            if found == through && through != UNREACHED && arc.weight > 0 && !self.marked(arc.target) {
                self.mark(arc.target);
            }
        }
        None
    }

    /// A vertex that a tight arc of weight 0 supports and that is not marked.
    fn next(&self, u: u32) -> Option<u32> {
        let distance = self.distance(u);
        let open = |v: &u32| self.distance(*v) == distance && !self.marked(*v);
        let light = self.graph.leaving(u as usize).iter().filter(|arc| arc.weight == 0);
        light.map(|arc| arc.target).find(open)
    }

    /// Marks what a supported vertex supports by arcs of weight 0, and from there a path of such arcs; whether there was any.
    fn supports(&self, u: usize) -> bool {
        let (mut any, u) = (false, u as u32);
        if self.distance(u) == UNREACHED || !self.marked(u) {
            return false;
        }
        while let Some(mut v) = self.next(u) {
            self.mark(v);
            while let Some(farther) = self.next(v) {
                self.mark(farther);
                v = farther;
            }
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::graph::Directions;

    fn judged(edges: &[(u32, u32, u32)], distances: &[u32]) -> Option<String> {
        let pool = Pool::new(None).expect("a pool");
        let each = |_, edge: &mut dyn FnMut(u32, u32, u32)| edges.iter().for_each(|&(u, v, w)| edge(u, v, w));
        let graph = Graph::of_edges(distances.len() as u64, Directions::Given, 1, each).expect("a graph");
        let distances: Vec<AtomicU32> = distances.iter().map(|&d| AtomicU32::new(d)).collect();
        mistake(&graph, &distances, 0, &pool, &Cancel::default()).expect("not cancelled")
    }

    /// 0 → 1 → 2 and a cycle of weight 0 between 3 and 4, which 2 enters.
    const EDGES: [(u32, u32, u32); 6] = [(0, 1, 2), (1, 2, 0), (3, 4, 0), (4, 3, 0), (2, 3, 9), (5, 5, 0)];

    #[test]
    fn only_the_distances_hold() {
        let none = UNREACHED;
        assert_eq!(judged(&EDGES, &[0, 2, 2, 11, 11, none]), None);
        for (wrong, why) in [
            ([1, 3, 3, 12, 12, none], "d[0] is 1"),
            ([0, 2, 2, 12, 12, none], "d[3] is 12"),
            ([0, 2, 2, none, none, none], "d[3] is"),
            ([0, 2, 1, 10, 10, none], "d[2] is 1, but"),
            // A cycle of weight 0 must not support itself, nor may a loop.
            ([0, 2, 2, 10, 10, none], "d[3] is 10, but"),
            ([0, 2, 2, 11, 11, 7], "d[5] is 7, but"),
            ([0, 2, 2, 11, 11, 0xDEAD_BEEF], "d[5] is"),
        ] {
            let told = judged(&EDGES, &wrong).expect("a mistake");
            assert!(told.starts_with(why), "{wrong:?}: {told}");
        }
    }

    /// Sums that wrap around would make short distances of long ones.
    #[test]
    fn sums_do_not_wrap() {
        let edges = [(0, 1, u32::MAX - 1), (1, 2, 5), (2, 3, 1)];
        assert_eq!(judged(&edges, &[0, u32::MAX - 1, UNREACHED, UNREACHED]), None);
        assert!(judged(&edges, &[0, u32::MAX - 1, 3, 4]).is_some());
    }
}
