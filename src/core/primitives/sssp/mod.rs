//! sssp: the distances of all vertices of a graph from one of them (ashkiani2017 §7.2).
//!
//! ```text
//! d[v] = the least sum of weights of a path from the source s to v        d[s] = 0; ∞ = 2^32 − 1 without a path
//! ```
//!
//! Weights are integers from 0. Sums saturate: a distance of 2^32 − 1 or more counts as ∞, and a remark says for how many
//! vertices (`beyond`). The result is unique, so all methods agree bit by bit.
//!
//! To *relax* an arc (u, v) of weight w is to lower `d[v]` to `d[u] + w`. All methods hold a *frontier* of vertices whose
//! distance fell, and relax the arcs that leave them, step by step. Delta-stepping (Meyer, Sanders 2003) defers vertices
//! that are far away: those within Δ are relaxed until none is left, then those of the next Δ. Methods differ in how they
//! keep what is deferred (`methods::Window`): `bellman-ford` defers nothing, `near-far` has one pile, `bucketing` and
//! `multisplit` have buckets. In what order the vertices within Δ are relaxed does not matter: with `fusion`, each warp of a
//! GPU and each worker of a processor goes on alone with those that it has found itself, so that all meet less often.
//!
//! The effective bytes are each arc once (8), and the row start and the distance of each vertex once (4 + 4). Elements are
//! arcs, so that their rate is the paper's (A/t).
//!
//! The certificate needs no other result. If `d[s] = 0` and `d[v] ≤ d[u] + w` for each arc, no distance is too long. An arc is
//! *tight* if `d[v] = d[u] + w`. Each vertex with a distance must be *supported*: it is the source, or a tight arc of a weight
//! above 0 enters it, or one of weight 0 from a supported vertex. By induction on the distance, and among equal ones on
//! when the support was found, tight arcs lead from the source to it, so its distance is that of a path and not too short.
//! Vertices of a cycle of weight 0 do not support each other.

mod beyond;
pub mod cpu;
pub mod cuda;
mod dijkstra;
mod graph;
mod methods;
mod record;

pub use methods::Method;

use super::oracle::check_length;
use super::{Definition, Elsewhere, IndexLookup, Primitive, Problem};
use crate::case::schema::ParamDefault;
use crate::case::table::{choice, count, parameters, words};
use crate::case::work::{Access, Order, Pass, Work};
use crate::case::{BlockCost, Failure, Params, Refusal, Value, params};
use crate::inputs::graph::{Directions, Generated, Graph, MAX_VERTICES, Topology, listed};
use crate::inputs::shared::Shared;
use crate::inputs::sparse::{Positions, SparseError};

/// The key of a finding: vertices that a path reaches at 2^32 − 1 or farther.
const BEYOND: &str = "beyond";

/// The heaviest weight of a generated graph.
const MAX_WEIGHT: u64 = 1 << 20;

words! {
    /// The arcs of a listed edge.
    pub enum Listed {
        Both = "both",
        Given = "given",
    }
}

choice! {
    /// The graph.
    pub enum Shape {
        /// a square grid, like roads: each vertex is joined to its four neighbours, except for edges left out at random
        Grid = "grid" main "keep" {
            /// how many of every eight edges are kept
            keep: u64 [count(1, 8)] = "7",
        },
        /// a random point in each cell of a square grid, joined to the points in the eight surrounding cells; weights
        /// are distances in thousandths of a cell
        Geometric = "geometric",
        /// a path through all vertices
        Line = "line",
        /// edges from each vertex to random ones
        Random = "random" main "edges" {
            /// edges per vertex; each edge is an arc in both directions
            edges: u64 [count(1, 1 << 20)] = "8",
        },
        /// R-MAT (0.5, 0.1, 0.1, 0.3): few vertices have most of the edges (ashkiani2017, footnote 10)
        Rmat = "rmat" main "edges" {
            /// edges per vertex, with vertices counted up to the next power of two; each edge is an arc in both
            /// directions
            edges: u64 [count(1, 1 << 20)] = "8",
        },
        /// a graph in a file
        File = "file" main "path" {
            /// path of a DIMACS .gr file, of a list of edges (.el or .wel) or of an adjacency matrix (.mtx), also as .gz;
            /// relative to the recipe's folder
            path: Elsewhere,
            /// both: each listed edge is an arc in both directions, as in ashkiani2017's Table 9; given: in the listed
            /// direction only, except for a symmetric matrix, whose edges have both either way
            directions: Listed = "both",
        },
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec {
        /// the graph
        graph: Shape = "rmat",
        /// number of vertices; a graph in a file has its own
        vertices: u64 [count(1, MAX_VERTICES)] = (ParamDefault::RequiredUnless { key: "graph", variants: &["file"] }),
        /// the largest weight: weights are random integers from 0 to this; in a graph in a file, those that the file
        /// leaves open
        heaviest: u64 [count(0, MAX_WEIGHT)] = "1000",
        /// the vertex from which distances are measured; unset: the first of those with the most outgoing arcs
        source: Option<u64> [count(0, MAX_VERTICES - 1)] = unset,
        /// Δ; unset: a multiple of the mean weight divided by the mean number of arcs per vertex. The multiple is 32,
        /// or 256 if the warps of a GPU go on alone; with eight or more arcs per vertex it is 4 on GPUs and 2 on
        /// processors
        delta: Option<u64> [count(1, u32::MAX as u64)] = unset,
        /// how it is computed
        asked as "method": Method = "best",
    }
    with {
        /// The method that `best` stands for, or that was asked for.
        method: Method = Method::NearFar,
        /// Arcs of the graph.
        arcs: u64 = 0,
        /// The hash of a graph in a file.
        hash: Option<String> = None,
    }
}

/// Whether each arc that a file lists is one in both directions.
pub fn doubles_arcs(params: &Params) -> bool {
    params.text("graph.file.directions") == Some(Listed::Both.name())
}

/// The arcs of edges in a file.
fn directions(listed: Listed) -> Directions {
    match listed {
        Listed::Both => Directions::Both,
        Listed::Given => Directions::Given,
    }
}

/// Vertices and arcs of a graph in a file, by what the plan says of it; `None` of a generated graph.
fn of_file(params: &Params) -> Result<Option<(u64, u64)>, Refusal> {
    if params.text("graph") != Some("file") {
        return Ok(None);
    }
    let given = params.text("graph.file.directions") == Some(Listed::Given.name());
    let directions = directions(if given { Listed::Given } else { Listed::Both });
    let (length, largest) =
        (params::positive(params, "graph.file.length")?, params::int(params, "graph.file.largest")?);
    let shape = listed::shape(length, largest, directions);
    shape.map(Some).map_err(|why| Refusal::invalid("graph.file.path", why.to_string()))
}

/// Adds the vertices of a graph in a file.
fn completed(params: Params) -> Params {
    match of_file(&params) {
        Ok(Some((vertices, _))) if params.get("vertices").is_none() => {
            params.with("vertices", Value::Int(vertices))
        }
        _ => params,
    }
}

impl Spec {
    /// The generated graph; `None` of a graph in a file.
    pub fn generated(&self) -> Option<Generated> {
        let topology = match self.graph {
            Shape::Grid { keep } => Topology::Grid { keep },
            Shape::Geometric => Topology::Geometric,
            Shape::Line => Topology::Line,
            Shape::Random { edges } => Topology::Random { edges },
            Shape::Rmat { edges } => Topology::Rmat { edges },
            Shape::File { .. } => return None,
        };
        Some(Generated { topology, vertices: self.vertices, heaviest: self.heaviest as u32, seed: self.seed })
    }

    /// The arcs of edges in a file.
    fn directions(&self) -> Directions {
        match self.graph {
            Shape::File { directions: listed, .. } => directions(listed),
            _ => Directions::Both,
        }
    }

    /// Δ of a graph: the given one, or a multiple of the mean weight over the mean number of arcs per vertex.
    pub fn delta_of(&self, graph: &Graph) -> u32 {
        let arcs = graph.arcs.len() as u128;
        let weights: u128 = graph.arcs.iter().map(|arc| u128::from(arc.weight)).sum();
        let rule = self.width() * weights * graph.vertices() as u128 / (arcs * arcs).max(1);
        self.delta.map_or(rule, u128::from).clamp(1, u32::MAX.into()) as u32
    }

    /// The source in a graph.
    pub fn source_of(&self, graph: &Graph) -> u32 {
        self.source.map_or_else(|| graph.hub(), |source| source as u32)
    }

    /// The findings of an execution, for the record: open parameters, steps, how often an arc was relaxed on average, and
    /// vertices `beyond` the longest distance, if there are any.
    pub fn found(
        &self,
        (delta, source): (u32, u32),
        (steps, relaxed): (u64, u64),
        beyond: u64,
    ) -> Vec<(String, Value)> {
        let int = |key: &str, value: u64| (key.to_owned(), Value::Int(value));
        let of_warps = self.backend.is_cuda() && self.asked == Method::Fusion { rounds: None };
        let open = [
            self.delta.is_none().then(|| int("delta", delta.into())),
            self.source.is_none().then(|| int("source", source.into())),
            of_warps.then(|| int("method.fusion.rounds", self.rounds().into())),
        ];
        let inefficiency = relaxed as f64 / self.arcs.max(1) as f64;
        let counted = [int("steps", steps), ("inefficiency".to_owned(), Value::Float(inefficiency))];
        let far = (beyond > 0).then(|| int(BEYOND, beyond));
        open.into_iter().flatten().chain(counted).chain(far).collect()
    }
}

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "sssp",
        "the distances from one vertex of a graph to all others (ashkiani2017 §7.2)",
        Spec::TABLE,
    )
    .with_derived_params(completed)
    .with_matrix()];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let file = of_file(params)?;
        let mut spec = Spec::of_table(&completed(params.clone()), seed)?;
        let refused = |why: SparseError| Refusal::invalid("graph", why.to_string());
        spec.arcs = match (file, spec.generated()) {
            (Some((vertices, _)), _) if vertices != spec.vertices => {
                let message = format!("{} is wrong: the file has {vertices} vertices", spec.vertices);
                return Err(Refusal::invalid("vertices", message));
            }
            (Some((_, arcs)), _) => arcs,
            (None, Some(generated)) => generated.arcs().map_err(refused)?,
            (None, None) => 0,
        };
        let last = spec.vertices.saturating_sub(1);
        if let Some(source) = spec.source.filter(|&source| source > last) {
            let message = format!("there is no vertex {source}; accepted: 0 to {last}");
            return Err(Refusal::invalid("source", message));
        }
        spec.hash = params.text("graph.file.hash").map(str::to_owned);
        spec.method = methods::chosen(&spec)?;
        Ok(spec)
    }
}

impl Problem for Spec {
    /// Assumes that each arc is relaxed once, and visits the distance of its target at random. A vertex's arcs lie side by
    /// side; which vertex comes next is random.
    fn work(&self) -> Work {
        let (n, arcs) = (self.vertices, self.arcs);
        let bytes = 8 * arcs + 8 * n;
        let relaxed = Pass::once([
            Access::reads("starts", 4, n).ordered(Order::Random),
            Access::reads("arcs", 8, arcs),
            Access::reads("d", 4, arcs).within(4 * n).ordered(Order::Random),
            Access::writes("d", 4, n).ordered(Order::Random),
        ]);
        let cleared = Pass::once([Access::writes("d", 4, n)]);
        Work::of(arcs, bytes, [cleared, relaxed]).scratch(n.div_ceil(8))
    }

    fn block_costs(&self) -> Result<Vec<BlockCost>, String> {
        Err("how many steps a search takes, and how often it relaxes an arc, depends on the graph".to_owned())
    }

    fn check(&self, output: &[u8]) -> Result<(), String> {
        check(self, output)
    }

    /// Distances that 32 bits do not hold, which no certificate tells from ∞.
    fn findings(&self, found: &[(String, Value)]) -> Option<String> {
        let (_, Value::Int(vertices)) = found.iter().find(|(key, _)| key == BEYOND)? else { return None };
        let vertices = if *vertices == 1 { "1 vertex".to_owned() } else { format!("{vertices} vertices") };
        Some(format!("{vertices} at a distance of 2^32 − 1 or more, which counts as unreachable"))
    }

    fn shared_input(&self) -> Option<String> {
        Some(graph::name(self))
    }

    fn positions(&self, stored: IndexLookup) -> Result<Option<Positions>, String> {
        graph::positions(self, stored).map(Some)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let chosen = ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        if self.asked == Method::Best { vec![chosen] } else { Vec::new() }
    }
}

/// Compares the output with the distances.
fn check(spec: &Spec, output: &[u8]) -> Result<(), String> {
    check_length(output, 4 * spec.vertices)?;
    let absent = |_: &str| Err(Failure::Failed("the oracle reads no graph in a file".to_owned()));
    let graph = graph::of(spec, absent, &Shared::default()).map_err(|failure| failure.to_string())?;
    let (found, _) = output.as_chunks::<4>();
    let expected = dijkstra::distances(&graph, spec.source_of(&graph));
    for (v, (&found, expected)) in found.iter().zip(expected).enumerate() {
        let found = u32::from_le_bytes(found);
        if found != expected {
            return Err(format!("d[{v}] is {found} instead of {expected}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::graph::WeightedArc;
    use crate::primitives::words::params;

    fn on(words: &str, backend: &str) -> Result<Spec, Refusal> {
        Spec::read("sssp", &params(&format!("{words} backend={backend}")), 1)
    }

    #[test]
    fn the_best_method_is_the_backends() {
        let best = |words, backend| on(words, backend).expect("a case").method;
        let fusion = Method::Fusion { rounds: None };
        for graph in [
            "graph=grid vertices=10000",
            "graph=line vertices=10",
            "graph=random graph.random.edges=3 vertices=9",
        ] {
            assert_eq!([best(graph, "cpu"), best(graph, "cuda")], [fusion, fusion], "{graph}");
        }
        let connected = "graph=random graph.random.edges=4 vertices=1000";
        assert_eq!(
            [best(connected, "scalar"), best(connected, "cuda")],
            [fusion, Method::Multisplit { buckets: 32 }]
        );
    }

    #[test]
    fn only_warps_have_rounds() {
        let rounds = |words, backend| on(words, backend).map(|spec| (spec.rounds(), spec.buckets()));
        let graph = "graph=line vertices=10 method=fusion";
        assert_eq!(rounds(graph, "cuda"), Ok((16, 2)));
        assert_eq!(rounds("graph=line vertices=10 method=fusion method.fusion.rounds=3", "cuda"), Ok((3, 2)));
        assert_eq!(rounds("graph=line vertices=10 method=near-far", "cuda"), Ok((0, 2)));
        assert_eq!(rounds(graph, "cpu"), Ok((0, 128)));
        let refused = rounds("graph=line vertices=10 method=fusion method.fusion.rounds=3", "cpu");
        assert!(matches!(refused, Err(Refusal::NotApplicable(_))), "{refused:?}");
    }

    /// Mean weights of 100, and 2 or 8 arcs per vertex.
    #[test]
    fn delta_is_narrower_with_many_arcs() {
        let graph = |arcs: u32| Graph {
            starts: (0..=10).map(|v| v * arcs).collect(),
            arcs: vec![WeightedArc { target: 0, weight: 100 }; 10 * arcs as usize],
        };
        let delta = |edges: u32, backend| {
            let words = format!("graph=random graph.random.edges={edges} vertices=10");
            on(&words, backend).expect("a case").delta_of(&graph(2 * edges))
        };
        assert_eq!(
            [delta(1, "cpu"), delta(1, "cuda"), delta(1, "cuda method=near-far")],
            [1600, 12800, 1600]
        );
        assert_eq!([delta(4, "cpu"), delta(4, "cuda")], [25, 50]);
    }
}
