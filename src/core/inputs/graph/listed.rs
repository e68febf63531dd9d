//! Graphs listed in files, as index arrays: files are found, copied and known by their hash as index arrays are.
//!
//! Arc i is the words 3i to 3i + 2: its tail and its head, each plus [`OFFSET`], and its weight, or [`OPEN`] if the file
//! states none; the last word is the number of vertices − 1, plus [`OFFSET`], and so the largest. One word more, in front of
//! the last, says that the file lists the edges of an undirected graph: each is an arc in both directions.

use super::generators::weight;
use super::{Directions, Graph, MAX_ARCS, MAX_VERTICES, checked};
use crate::inputs::sparse::SparseError;

/// What is added to vertices.
pub const OFFSET: u64 = 1 << 32;

/// In place of a weight that the seed decides.
pub const OPEN: u64 = u32::MAX as u64;

/// Files that hold graphs, for messages.
pub const GRAPHS: &str = ".gr (DIMACS), .el and .wel (edge lists), .mtx (Matrix Market)";

/// The heads of the arcs, those of each tail in turn: what a search reads the distances of, if it takes the vertices in order.
/// They are sorted where they are: a graph may take half of the memory.
pub fn heads(mut words: Vec<u64>) -> Vec<u64> {
    let (arcs, _) = words.as_chunks_mut::<3>();
    // Places instead of weights keep the arcs of a tail in order.
    (0..).zip(arcs.iter_mut()).for_each(|(place, arc)| arc[2] = place);
    arcs.sort_unstable_by_key(|&[tail, _, place]| (tail, place));
    let count = arcs.len();
    (0..count).for_each(|arc| words[arc] = words[3 * arc + 1] - OFFSET);
    words.truncate(count);
    words.shrink_to_fit();
    words
}

/// Whether each arc of so many words is one in both directions.
fn both(length: u64, directions: Directions) -> bool {
    length % 3 == 2 || directions == Directions::Both
}

/// The vertices and the arcs of a graph that is listed in both directions or as given, by the length of its words and the
/// largest.
///
/// # Errors
/// An array of another kind, or too many vertices or arcs.
pub fn shape(length: u64, largest: u64, directions: Directions) -> Result<(u64, u64), SparseError> {
    if length.is_multiple_of(3) || !(OFFSET..OFFSET + MAX_VERTICES).contains(&largest) {
        return Err(SparseError(format!("the file holds no graph; accepted: {GRAPHS}")));
    }
    let arcs = (length / 3).saturating_mul(if both(length, directions) { 2 } else { 1 });
    checked(largest - OFFSET + 1, arcs.into())?;
    Ok((largest - OFFSET + 1, arcs.min(MAX_ARCS)))
}

/// The graph of these words. Open weights are random integers from 0 to `heaviest`.
///
/// # Errors
/// Those of [`shape`], and words that are no vertices or weights.
pub fn graph(words: &[u64], directions: Directions, heaviest: u32, seed: u64) -> Result<Graph, SparseError> {
    let last = words.last().copied().unwrap_or(0);
    let (vertices, _) = shape(words.len() as u64, last, directions)?;
    let directions = if both(words.len() as u64, directions) { Directions::Both } else { Directions::Given };
    let (arcs, _) = words.as_chunks::<3>();
    let inside = |word: u64| (OFFSET..OFFSET + vertices).contains(&word);
    if let Some(at) =
        arcs.iter().position(|&[tail, head, weight]| !inside(tail) || !inside(head) || weight > OPEN)
    {
        return Err(SparseError(format!("arc {at} is outside a graph of {vertices} vertices")));
    }
    Graph::of_edges(vertices, directions, arcs.len() as u64, |part, edge| {
        for (i, &[tail, head, own]) in part.clone().zip(&arcs[part.start as usize..part.end as usize]) {
            let weight = if own == OPEN { weight(seed, heaviest, i) } else { own as u32 };
            edge((tail - OFFSET) as u32, (head - OFFSET) as u32, weight);
        }
    })
}
