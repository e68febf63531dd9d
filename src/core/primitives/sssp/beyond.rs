//! Vertices that a path reaches, but at 2^32 − 1 or farther, where distances count as ∞: an execution finds none of them, its
//! certificate agrees, and so they are counted for the record.

use std::sync::Arc;

use crate::inputs::graph::{Graph, UNREACHED};

/// A graph in which paths may be that long.
pub struct Far {
    graph: Arc<Graph>,
    /// Its heaviest weight.
    heaviest: u32,
}

impl Far {
    /// `None` if no path of a graph with this heaviest weight is so long.
    pub fn of(graph: &Arc<Graph>, heaviest: u32) -> Option<Far> {
        let longest = u64::from(heaviest).saturating_mul(graph.vertices().saturating_sub(1) as u64);
        (longest >= u64::from(UNREACHED)).then(|| Far { graph: graph.clone(), heaviest })
    }

    /// The number of these vertices, by the distances of all. Without sums that are too long, the head of each arc that leaves a
    /// vertex with a distance has one, too; so they are what can be reached from there without a distance.
    pub fn count(&self, distance: impl Fn(usize) -> u32) -> u64 {
        let reached = || (0..self.graph.vertices()).filter(|&v| distance(v) != UNREACHED);
        let farthest = reached().map(&distance).max().unwrap_or(0);
        if farthest.saturating_add(self.heaviest) < UNREACHED {
            return 0;
        }
        let mut found = vec![false; self.graph.vertices()];
        let mut enter = |v: usize, open: &mut Vec<usize>| {
            for head in self.graph.leaving(v).iter().map(|arc| arc.target as usize) {
                if distance(head) == UNREACHED && !found[head] {
                    found[head] = true;
                    open.push(head);
                }
            }
        };
        let mut open = Vec::new();
        reached().for_each(|v| enter(v, &mut open));
        while let Some(v) = open.pop() {
            enter(v, &mut open);
        }
        found.into_iter().filter(|&found| found).count() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::graph::Directions;
    use crate::primitives::sssp::dijkstra;

    fn beyond(vertices: u64, arcs: &[(u32, u32, u32)]) -> Option<u64> {
        let each = |_, edge: &mut dyn FnMut(u32, u32, u32)| arcs.iter().for_each(|&(u, v, w)| edge(u, v, w));
        let graph = Arc::new(Graph::of_edges(vertices, Directions::Given, 1, each).expect("a graph"));
        let distances = dijkstra::distances(&graph, 0);
        let heaviest = graph.arcs.iter().map(|arc| arc.weight).max().unwrap_or(0);
        Far::of(&graph, heaviest).map(|far| far.count(|v| distances[v]))
    }

    #[test]
    fn what_is_far_is_counted_and_what_no_path_reaches_is_not() {
        const HALF: u32 = 1 << 31;
        assert_eq!(beyond(3, &[(0, 1, HALF), (1, 2, HALF)]), Some(1), "2^32");
        assert_eq!(beyond(3, &[(0, 1, HALF), (1, 2, HALF - 1)]), Some(1), "2^32 − 1");
        assert_eq!(beyond(3, &[(0, 1, HALF), (1, 2, HALF - 2)]), Some(0), "2^32 − 2");
        // 3 and 4 are reached by way of 2 alone, 5 by no path, 1 by a short one as well.
        let arcs = [(0, 1, HALF), (0, 2, 9), (2, 1, HALF), (1, 3, HALF), (3, 4, 0), (4, 3, 0), (5, 5, 1)];
        assert_eq!(beyond(6, &arcs), Some(2));
        assert_eq!(beyond(3, &[(0, 1, 1000), (1, 2, 1000)]), None, "no path is so long");
        assert_eq!(beyond(1, &[]), None);
    }
}
