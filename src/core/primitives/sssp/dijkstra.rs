//! Dijkstra's algorithm with a binary heap.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::inputs::graph::{Graph, UNREACHED};

/// The distances from a vertex.
pub fn distances(graph: &Graph, source: u32) -> Vec<u32> {
    let mut distances = vec![UNREACHED; graph.vertices()];
    let mut heap = BinaryHeap::new();
    if let Some(first) = distances.get_mut(source as usize) {
        *first = 0;
        heap.push(Reverse((0, source)));
    }
    while let Some(Reverse((distance, vertex))) = heap.pop() {
        if distances[vertex as usize] != distance {
            continue;
        }
        for arc in graph.leaving(vertex as usize) {
            let through = distance.saturating_add(arc.weight);
            if through < distances[arc.target as usize] {
                distances[arc.target as usize] = through;
                heap.push(Reverse((through, arc.target)));
            }
        }
    }
    distances
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::graph::Directions;

    #[test]
    fn distances_are_those_of_the_shortest_paths() {
        let edges = [(0, 1, 5), (0, 2, 1), (2, 1, 1), (1, 3, u32::MAX - 2), (1, 1, 0), (3, 4, 0)];
        let graph = Graph::of_edges(6, Directions::Given, 1, |_, edge| {
            edges.iter().for_each(|&(u, v, w)| edge(u, v, w))
        });
        let graph = graph.expect("a graph");
        // 2 + (2^32 − 3) is too long, and does not wrap around.
        assert_eq!(distances(&graph, 0), [0, 2, 1, UNREACHED, UNREACHED, UNREACHED]);
        assert_eq!(distances(&graph, 3), [UNREACHED, UNREACHED, UNREACHED, 0, 0, UNREACHED]);
    }
}
