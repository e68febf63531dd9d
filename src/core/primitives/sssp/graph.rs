//! The graph of a case. The last one that was made is kept, because the methods of a recipe share it and every round
//! prepares a case anew.

use std::sync::{Arc, Mutex, PoisonError};

use super::Spec;
use crate::case::Failure;
use crate::inputs::graph::{Graph, listed};
use crate::inputs::sparse::Positions;
use crate::primitives::IndexLookup;

/// Which graph it is, as text, and the graph.
type Made = (String, Arc<Graph>);

static LAST: Mutex<Option<Made>> = Mutex::new(None);

/// The graph of a case. `stored` fetches the words of a file with a given hash.
///
/// # Errors
/// Those of `stored`, and words that are not the plan's graph.
pub fn of(
    spec: &Spec,
    stored: impl FnOnce(&str) -> Result<Arc<Vec<u64>>, Failure>,
) -> Result<Arc<Graph>, Failure> {
    let name =
        format!("{:?} {:?} {} {} {:?}", spec.graph, spec.generated(), spec.heaviest, spec.seed, spec.hash);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, graph)) = last.as_ref().filter(|(known, _)| *known == name) {
        return Ok(graph.clone());
    }
    *last = None;
    let made = match (spec.generated(), &spec.hash) {
        (Some(generated), _) => generated.make(),
        (None, Some(hash)) => {
            listed::graph(&stored(hash)?, spec.directions(), spec.heaviest as u32, spec.seed)
        }
        (None, None) => return Err(Failure::Failed("graph.file.hash: is missing".to_owned())),
    };
    let made = made.map_err(|why| Failure::Failed(why.to_string()))?;
    if (made.vertices() as u64, made.arcs.len() as u64) != (spec.vertices, spec.arcs) {
        return Err(Failure::Failed("the graph is not the one in the plan".to_owned()));
    }
    Ok(last.insert((name, Arc::new(made))).1.clone())
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
