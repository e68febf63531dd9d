//! The typed parameters of sssp.

use super::window::Window;
use crate::case::schema::ParamDefault;
use crate::case::table::{choice, count, parameters, words};
use crate::case::{Params, Refusal, Value, reader};
use crate::inputs::graph::{self, Directions, Generated, MAX_VERTICES, Topology, listed};
use crate::primitives::Elsewhere;

/// Parameters that the plan adds to a file's path.
const HASH: &str = "graph.file.hash";
const LENGTH: &str = "graph.file.length";
const LARGEST: &str = "graph.file.largest";

/// Most buckets of a method: a GPU has a bit for each but the nearest.
pub const MAX_BUCKETS: u64 = 32;

/// The heaviest weight of a generated graph.
const MAX_WEIGHT: u64 = 1 << 20;

/// Arcs per vertex from which on paths are short and frontiers large: buckets pay in ashkiani2017's Table 10, and a wide Δ
/// does not.
const CONNECTED: u64 = 8;

/// Buckets of the best method of a GPU for such graphs.
const BEST_BUCKETS: u64 = 32;

/// Buckets of fusion on processors, an eighth of Δ each: so many that the last one is seldom distributed.
const FUSED_BUCKETS: u32 = 128;
const BUCKETS_OF_STEP: u32 = 8;

/// Rounds that warps of a GPU go on alone unless a case says how many.
const ROUNDS: u64 = 16;

/// Δ is so many times the mean weight over the mean number of arcs per vertex: cuGraph's 32, and less for graphs with many
/// arcs per vertex. Warps that go on alone spend most of their time at barriers: relaxing some arcs again costs less than
/// another step.
const WIDTH: u128 = 32;
const WIDTH_OF_WARPS: u128 = 256;
const WIDTH_OF_GPUS: u128 = 4;
const WIDTH_OF_PROCESSORS: u128 = 2;

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
        /// a square grid, like roads: each vertex joined to its four neighbours, but for edges left out at random
        Grid = "grid" main "keep" {
            /// edges kept of every eight
            keep: u64 [count(1, 8)] = "7",
        },
        /// a random point in each cell of a square grid, joined to those in the eight cells around it; weights are distances
        /// in thousandths of a cell
        Geometric = "geometric",
        /// a path through all vertices
        Line = "line",
        /// edges from each vertex to random ones
        Random = "random" main "edges" {
            /// edges per vertex, each an arc in both directions
            edges: u64 [count(1, 1 << 20)] = "8",
        },
        /// R-MAT (0.5, 0.1, 0.1, 0.3): few vertices have most of the edges (ashkiani2017, footnote 10)
        Rmat = "rmat" main "edges" {
            /// edges per vertex of the next power of two, each an arc in both directions
            edges: u64 [count(1, 1 << 20)] = "8",
        },
        /// a graph in a file
        File = "file" main "path" {
            /// a DIMACS .gr file, or a list of edges .el or .wel, or one of these as .gz; relative to the recipe's folder
            path: Elsewhere,
            /// both: each listed edge is an arc in both directions, as in ashkiani2017's Table 9; given: as it is listed
            directions: Listed = "both",
        },
    }
}

choice! {
    /// How it is computed.
    #[derive(Eq)]
    pub enum Method {
        /// fusion; on GPUs multisplit with 32 buckets if there are at least eight arcs per vertex
        Best = "best",
        /// each step relaxes the arcs of all vertices whose distance fell in the step before
        BellmanFord = "bellman-ford",
        /// vertices within Δ are relaxed until none is left, all others wait in one pile (Davidson et al. 2014)
        NearFar = "near-far",
        /// vertices that wait are kept by distance, in buckets of Δ each, the last of which holds the rest; each is put
        /// there by itself (Davidson et al. sort by bucket)
        Bucketing = "bucketing" main "buckets" {
            /// buckets, the nearest among them
            buckets: u64 [count(2, MAX_BUCKETS)] = "10",
        },
        /// the same buckets, to which a block of a GPU distributes what it finds by a multisplit
        Multisplit = "multisplit" main "buckets" {
            /// buckets, the nearest among them
            buckets: u64 [count(2, MAX_BUCKETS)] = "10",
        },
        /// near-far, where a warp or a worker goes on alone with what it finds near before all meet (bucket fusion, Zhang et al.
        /// 2020); a worker orders what is near by eighths of Δ, and what waits by 128 buckets of that width
        Fusion = "fusion" main "rounds" {
            /// rounds that a warp of a GPU goes on alone; unset: 16. Workers of processors go on until they have nothing near
            rounds: Option<u64> [count(1, 1 << 20)] = unset,
        },
    }
}

parameters! {
    /// A case, typed.
    #[derive(Clone, Debug, PartialEq)]
    pub struct Spec {
        /// the graph
        graph: Shape = "rmat",
        /// vertices; of a graph in a file as many as it has
        vertices: u64 [count(1, MAX_VERTICES)] = (ParamDefault::RequiredUnless { key: "graph", variants: &["file"] }),
        /// weights are random integers from 0 to this; of a graph in a file those that it leaves open
        heaviest: u64 [count(0, MAX_WEIGHT)] = "1000",
        /// the vertex from which distances count; unset: the first of those that the most arcs leave
        source: Option<u64> [count(0, MAX_VERTICES - 1)] = unset,
        /// Δ; unset: 32 times the mean weight over the mean number of arcs per vertex, 256 times if warps of a GPU go on
        /// alone; for eight arcs per vertex and more 4 times on GPUs and 2 times on processors
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
    let (length, largest) = (reader::positive(params, LENGTH)?, reader::int(params, LARGEST)?);
    let shape = listed::shape(length, largest, directions);
    shape.map(Some).map_err(|why| Refusal::invalid("graph.file.path", why.to_string()))
}

/// Adds the vertices of a graph in a file.
pub(super) fn completed(params: Params) -> Params {
    match of_file(&params) {
        Ok(Some((vertices, _))) if params.get("vertices").is_none() => {
            params.with("vertices", Value::Int(vertices))
        }
        _ => params,
    }
}

impl Spec {
    /// Reads a case.
    ///
    /// # Errors
    /// Names the key and what is wrong with it.
    pub(super) fn from_params(params: &Params, seed: u64) -> Result<Spec, Refusal> {
        let file = of_file(params)?;
        let mut spec = Spec::of_table(&completed(params.clone()), seed)?;
        let refused = |why: crate::inputs::sparse::SparseError| Refusal::invalid("graph", why.to_string());
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
        if matches!(spec.asked, Method::Multisplit { .. }) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable(
                "processors have no blocks that multisplit: use bucketing".to_owned(),
            ));
        }
        if matches!(spec.asked, Method::Fusion { rounds: Some(_) }) && spec.backend.is_cpu() {
            return Err(Refusal::NotApplicable(
                "workers of processors go on alone until they have nothing near: fusion has no rounds there"
                    .to_owned(),
            ));
        }
        spec.hash = params.text(HASH).map(str::to_owned);
        spec.method = if spec.asked == Method::Best { spec.best() } else { spec.asked };
        Ok(spec)
    }

    /// Whether there are many arcs per vertex.
    pub fn connected(&self) -> bool {
        self.arcs >= CONNECTED * self.vertices
    }

    fn best(&self) -> Method {
        match self.backend.is_cuda() && self.connected() {
            true => Method::Multisplit { buckets: BEST_BUCKETS },
            false => Method::Fusion { rounds: None },
        }
    }

    /// Whether a warp or a worker goes on alone with what it finds near.
    pub fn is_fused(&self) -> bool {
        matches!(self.method, Method::Fusion { .. })
    }

    /// Rounds that warps of a GPU go on alone; 0 if they do not.
    pub fn rounds(&self) -> u32 {
        match self.method {
            Method::Fusion { rounds } if self.backend.is_cuda() => rounds.unwrap_or(ROUNDS) as u32,
            _ => 0,
        }
    }

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
    pub(super) fn directions(&self) -> Directions {
        match self.graph {
            Shape::File { directions: listed, .. } => directions(listed),
            _ => Directions::Both,
        }
    }

    /// Buckets, the nearest among them; 1 if nothing is deferred.
    pub fn buckets(&self) -> u32 {
        match self.method {
            Method::Fusion { .. } if self.backend.is_cpu() => FUSED_BUCKETS,
            Method::Best | Method::NearFar | Method::Fusion { .. } => 2,
            Method::BellmanFord => 1,
            Method::Bucketing { buckets } | Method::Multisplit { buckets } => buckets as u32,
        }
    }

    /// Δ of a graph: the given one, or a multiple of the mean weight over the mean number of arcs per vertex.
    pub fn delta_of(&self, graph: &graph::Graph) -> u32 {
        let arcs = graph.arcs.len() as u128;
        let weights: u128 = graph.arcs.iter().map(|arc| u128::from(arc.weight)).sum();
        let times = match (self.connected(), self.backend.is_cuda()) {
            (false, true) if self.is_fused() => WIDTH_OF_WARPS,
            (false, _) => WIDTH,
            (true, true) => WIDTH_OF_GPUS,
            (true, false) => WIDTH_OF_PROCESSORS,
        };
        let rule = times * weights * graph.vertices() as u128 / (arcs * arcs).max(1);
        self.delta.map_or(rule, u128::from).clamp(1, u32::MAX.into()) as u32
    }

    /// The source in a graph.
    pub fn source_of(&self, graph: &graph::Graph) -> u32 {
        self.source.map_or_else(|| graph.hub(), |source| source as u32)
    }

    /// What an execution found out, for the record: open parameters, steps, and how often an arc was relaxed on average.
    pub fn found(&self, delta: u32, source: u32, steps: u64, relaxed: u64) -> Vec<(String, Value)> {
        let int = |key: &str, value: u64| (key.to_owned(), Value::Int(value));
        let open = [
            self.delta.is_none().then(|| int("delta", delta.into())),
            self.source.is_none().then(|| int("source", source.into())),
        ];
        let inefficiency = relaxed as f64 / self.arcs.max(1) as f64;
        let rounds = match self.asked {
            Method::Fusion { rounds: None } if self.backend.is_cuda() => {
                Some(int("method.fusion.rounds", ROUNDS))
            }
            _ => None,
        };
        let counted = [int("steps", steps), ("inefficiency".to_owned(), Value::Float(inefficiency))];
        open.into_iter().flatten().chain(rounds).chain(counted).collect()
    }

    /// Buckets that a worker of a processor empties before all meet; together as wide as Δ, if that is not less than their
    /// number.
    pub fn buckets_of_step(&self, delta: u32) -> u32 {
        if self.is_fused() { BUCKETS_OF_STEP.min(delta) } else { 1 }
    }

    /// The window of a processor at the beginning.
    pub fn window(&self, delta: u32) -> Window {
        Window::new(delta.div_ceil(self.buckets_of_step(delta)), self.buckets())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::graph::WeightedArc;
    use crate::primitives::Definition;
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
        let graph = |arcs: u32| graph::Graph {
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
