//! sssp: the distances of all vertices of a graph from one of them (ashkiani2017 §7.2).
//!
//! ```text
//! d[v] = the least sum of weights of a path from the source s to v        d[s] = 0; ∞ = 2^32 − 1 without a path
//! ```
//!
//! Weights are integers from 0. Sums saturate: a distance of 2^32 − 1 or more counts as ∞. The result is unique, so all
//! methods agree bit by bit.
//!
//! To *relax* an arc (u, v) of weight w is to lower `d[v]` to `d[u] + w`. All methods hold a *frontier* of vertices whose
//! distance fell, and relax the arcs that leave them, step by step. Delta-stepping (Meyer, Sanders 2003) defers vertices
//! that are far away: those within Δ are relaxed until none is left, then those of the next Δ. Methods differ in how they
//! keep what is deferred ([`window`]): `bellman-ford` defers nothing, `near-far` has one pile, `bucketing` and
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

pub mod cpu;
pub mod cuda;
mod dijkstra;
pub mod graph;
mod oracle;
pub mod record;
mod spec;
pub mod window;

pub use spec::{Method, Spec};

use super::{Definition, IndexLookup, Primitive, Problem};
use crate::case::work::{Access, Order, Pass, Work};
use crate::case::{BlockCost, Params, Refusal, Value};
use crate::inputs::sparse::Positions;

impl Definition for Spec {
    const PRIMITIVES: &'static [Primitive] = &[Primitive::of::<Spec>(
        "sssp",
        "the distances of all vertices of a graph from one of them (ashkiani2017 §7.2)",
        Spec::TABLE,
    )
    .with_derived_params(spec::completed)
    .with_matrix()];

    fn read(_name: &str, params: &Params, seed: u64) -> Result<Spec, Refusal> {
        Spec::from_params(params, seed)
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
        oracle::check(self, output)
    }

    fn positions(&self, stored: IndexLookup) -> Result<Option<Positions>, String> {
        graph::positions(self, stored).map(Some)
    }

    fn resolved(&self) -> Vec<(String, Value)> {
        let chosen = ("method".to_owned(), Value::Text(self.method.name().to_owned()));
        if self.asked == Method::Best { vec![chosen] } else { Vec::new() }
    }
}
