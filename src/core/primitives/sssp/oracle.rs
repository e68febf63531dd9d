//! The sequential oracle: Dijkstra's algorithm.

use super::dijkstra::distances;
use super::{Spec, graph};
use crate::case::Failure;
use crate::primitives::oracle::check_length;

/// Compares the output with the distances.
pub fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 4 * spec.vertices)?;
    let absent = |_: &str| Err(Failure::Failed("the oracle reads no graph in a file".to_owned()));
    let graph = graph::of(spec, absent).map_err(|failure| failure.to_string())?;
    let (found, _) = output.as_chunks::<4>();
    let expected = distances(&graph, spec.source_of(&graph));
    for (v, (&found, expected)) in found.iter().zip(expected).enumerate() {
        let found = u32::from_le_bytes(found);
        if found != expected {
            return Err(format!("d[{v}] is {found} instead of {expected}"));
        }
    }
    Ok(())
}
