//! The graph of a case, and what a case finds in it. Cases share both: every round prepares a case anew.

use std::convert::Infallible;
use std::sync::Arc;

use super::Spec;
use crate::case::Failure;
use crate::inputs::graph::{Graph, listed};
use crate::inputs::shared::{Contents, Shared};
use crate::inputs::sparse::Positions;
use crate::primitives::IndexLookup;

/// The name of the graph among the inputs that cases share.
pub fn name(spec: &Spec) -> String {
    let graph = match (spec.generated(), &spec.hash) {
        (Some(generated), _) => format!("{:?} of {} vertices", generated.topology, generated.vertices),
        (None, hash) => {
            format!("in the file {}, {:?}", hash.as_deref().unwrap_or_default(), spec.directions())
        }
    };
    format!("the graph {graph} with weights to {}, of seed {}", spec.heaviest, spec.seed)
}

/// The graph of a case. `stored` fetches the words of a file with a given hash.
///
/// # Errors
/// Those of `stored`, and words that are not the plan's graph.
pub fn of(
    spec: &Spec,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
    shared: &Shared,
) -> Result<Arc<Graph>, Failure> {
    let needs = 2 * (4 * (spec.vertices + 1) + 8 * spec.arcs);
    let made = shared.get(&name(spec), "arcs", needs, || {
        let made = match (spec.generated(), &spec.hash) {
            (Some(generated), _) => generated.make(),
            (None, Some(hash)) => {
                let words = stored(hash)?;
                // Nobody reads the words again.
                shared.let_go(hash);
                listed::graph(&words, spec.directions(), spec.heaviest as u32, spec.seed)
            }
            (None, None) => return Err(Failure::Failed("graph.file.hash: is missing".to_owned())),
        };
        made.map_err(|why| Failure::Failed(why.to_string()))
    })?;
    match (made.vertices() as u64, made.arcs.len() as u64) == (spec.vertices, spec.arcs) {
        true => Ok(made),
        false => Err(Failure::Failed("the graph is not the one in the plan".to_owned())),
    }
}

/// What a case finds in its graph.
#[derive(Clone, Copy, Debug)]
pub struct Found {
    pub source: u32,
    pub delta: u32,
    /// The heaviest weight.
    pub heaviest: u32,
}

impl Contents for Found {
    fn bytes(&self) -> u64 {
        0
    }
}

/// What a case finds in its graph.
pub fn found(spec: &Spec, graph: &Graph, shared: &Shared) -> Found {
    let form = format!("source {:?}, Δ {:?} by {}", spec.source, spec.delta, spec.width());
    let Ok(found) = shared.get(&name(spec), &form, 0, || {
        let heaviest = graph.arcs.iter().map(|arc| arc.weight).max().unwrap_or(0);
        Ok::<_, Infallible>(Found { source: spec.source_of(graph), delta: spec.delta_of(graph), heaviest })
    });
    *found
}

/// Where the adjacency matrix has entries.
///
/// # Errors
/// Those of `stored`, and a graph that would take too long to look at.
pub fn positions(spec: &Spec, stored: IndexLookup) -> Result<Positions, String> {
    let all = match (spec.generated(), &spec.hash) {
        (Some(generated), _) => generated.positions(),
        (None, Some(hash)) => {
            let graph = listed::graph(&stored(hash)?, spec.directions(), spec.heaviest as u32, spec.seed);
            graph.and_then(|graph| graph.positions())
        }
        (None, None) => return Err("graph.file.hash: is missing".to_owned()),
    };
    all.map_err(|error| error.to_string())
}
