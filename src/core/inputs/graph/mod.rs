//! Graphs with weighted arcs in rows, those that leave one vertex side by side: made by generators that are integer
//! functions of a seed ([`Topology`]), or listed in files ([`listed`]).

mod generators;
pub mod listed;

use std::ops::Range;
use std::sync::atomic::Ordering;

use super::sparse::{Positions, Shape, SparseError, atomics, in_ranges, in_ranges_of, threads};
use crate::memory;

pub use generators::{Generated, Topology};

/// Most vertices: fewer than 31 bits count.
pub const MAX_VERTICES: u64 = 1 << 31;

/// Most arcs: row starts have 32 bits.
pub const MAX_ARCS: u64 = super::sparse::MAX_ENTRIES;

/// The distance of a vertex that no path reaches. Sums of weights that are as long, or longer, count as this, too.
pub const UNREACHED: u32 = u32::MAX;

/// An arc of a row, which leaves the row's vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct WeightedArc {
    /// The vertex that it enters.
    pub target: u32,
    pub weight: u32,
}

/// A directed graph. Self loops and parallel arcs are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Arcs `starts[v]` to `starts[v + 1]` leave vertex v.
    pub starts: Vec<u32>,
    pub arcs: Vec<WeightedArc>,
}

/// Whether a listed edge is an arc in both directions, as in ashkiani2017's Tables 9 and 10 (A = 2·E), or in the given one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Directions {
    Both,
    Given,
}

impl Graph {
    /// The graph with these edges. `each` lists those of a range of `parts` as (tail, head, weight), all below `vertices`,
    /// several times in the same order. The arcs of a vertex are in the order of the edges.
    ///
    /// # Errors
    /// More arcs than 32 bits count, or a graph that does not fit into the memory.
    pub fn of_edges(
        vertices: u64,
        directions: Directions,
        parts: u64,
        each: impl Fn(Range<u64>, &mut dyn FnMut(u32, u32, u32)) + Sync,
    ) -> Result<Graph, SparseError> {
        let per_edge = 1 + u64::from(directions == Directions::Both);
        let found = in_ranges(parts, |part| {
            let mut arcs = 0;
            each(part, &mut |_, _, _| arcs += per_edge);
            arcs
        });
        let arcs = found.into_iter().sum::<u64>();
        checked(vertices, arcs.into())?;
        let ends = |part: Range<u64>, to: &mut dyn FnMut(u32, WeightedArc)| {
            each(part, &mut |tail, head, weight| {
                to(tail, WeightedArc { target: head, weight });
                if directions == Directions::Both {
                    to(head, WeightedArc { target: tail, weight });
                }
            });
        };
        // Each writer counts arcs by their vertices, and so knows where its first arc of each goes. The counts of all take no
        // more than the arcs do.
        let (n, writers) = (vertices as usize, (arcs / vertices.max(1)).clamp(1, threads()));
        let own = |writer: u64| parts * writer / writers..parts * (writer + 1) / writers;
        let mut counts = memory::zeroed::<u32>(n * writers as usize)?;
        let counts = atomics(&mut counts);
        let take = |writer: u64, vertex: u32| {
            let count = &counts[writer as usize * n + vertex as usize];
            let before = count.load(Ordering::Relaxed);
            count.store(before + 1, Ordering::Relaxed);
            before
        };
        let by_writer = |work: &(dyn Fn(u64) + Sync)| {
            in_ranges_of(1, writers, |range| range.for_each(work));
        };
        by_writer(&|writer| ends(own(writer), &mut |vertex, _| _ = take(writer, vertex)));
        let mut starts = memory::with_room(n + 1)?;
        let mut sum = 0;
        for vertex in 0..n {
            starts.push(sum);
            for count in counts[vertex..].iter().step_by(n) {
                let own = count.load(Ordering::Relaxed);
                count.store(sum, Ordering::Relaxed);
                sum += own;
            }
        }
        starts.push(sum);
        let mut pairs = memory::zeroed::<[u32; 2]>(arcs as usize)?;
        let words = atomics(pairs.as_flattened_mut());
        by_writer(&|writer| {
            ends(own(writer), &mut |vertex, arc| {
                let at = 2 * take(writer, vertex) as usize;
                words[at].store(arc.target, Ordering::Relaxed);
                words[at + 1].store(arc.weight, Ordering::Relaxed);
            });
        });
        let arcs = pairs.into_iter().map(|[target, weight]| WeightedArc { target, weight }).collect();
        Ok(Graph { starts, arcs })
    }

    /// The number of vertices.
    pub fn vertices(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The arcs that leave a vertex.
    pub fn leaving(&self, vertex: usize) -> &[WeightedArc] {
        &self.arcs[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// The first vertex that the most arcs leave; 0 of an empty graph.
    pub fn hub(&self) -> u32 {
        let degrees = self.starts.windows(2).map(|ends| ends[1] - ends[0]);
        (0..).zip(degrees).max_by_key(|&(v, degree)| (degree, std::cmp::Reverse(v))).map_or(0, |(v, _)| v)
    }

    /// Where the adjacency matrix has entries, of a sample of the rows if there are many.
    ///
    /// # Errors
    /// Those of [`Positions`].
    pub fn positions(&self) -> Result<Positions, SparseError> {
        let vertices = self.vertices() as u64;
        let shape = Shape { rows: vertices, columns: vertices, entries: self.arcs.len() as u64 };
        Positions::by_row(shape, None, |vertex, to| {
            let arcs = self.leaving(vertex as usize);
            memory::reserve(to, arcs.len())?;
            to.extend(arcs.iter().map(|arc| arc.target));
            Ok(())
        })
    }

    /// Bytes of rows and arcs.
    pub fn bytes(&self) -> u64 {
        4 * self.starts.len() as u64 + 8 * self.arcs.len() as u64
    }
}

/// Fails if the numbers do not fit.
fn checked(vertices: u64, arcs: u128) -> Result<(), SparseError> {
    match (vertices, arcs) {
        _ if vertices > MAX_VERTICES => {
            Err(SparseError(format!("{vertices} vertices; accepted: at most {MAX_VERTICES}")))
        }
        _ if arcs > MAX_ARCS.into() => Err(SparseError(format!("{arcs} arcs; accepted: at most {MAX_ARCS}"))),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
