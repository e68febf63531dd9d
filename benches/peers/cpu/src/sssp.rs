//! The peers of the primitive sssp: delta-stepping of the crate `graph`, by several threads, and Dijkstra's algorithm of
//! `petgraph`, by one. What is timed is the search with what it allocates, and not the building of the crate's graph.

use std::num::Saturating;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use graph::prelude::{
    CsrLayout, DeltaSteppingConfig, DirectedCsrGraph, Graph as _, GraphBuilder, delta_stepping,
};
use petgraph::Directed;
use petgraph::algo::dijkstra;
use petgraph::csr::Csr;

use crate::case::{Case, NotApplicable, refused};
use crate::inputs::dijkstra::distances;
use crate::inputs::graph::{Generated, Graph, Topology, UNREACHED};
use crate::inputs::shared;
use crate::threads::{Pinning, Threads, require};
use crate::work::{Setting, Work};

/// Multiples of the usual Δ among which `graph` chooses, the usual one first.
const DELTAS: [f64; 5] = [1.0, 0.0625, 0.25, 4.0, 16.0];

/// From here on f32 does not hold every integer.
const ROUNDED: u32 = 1 << 24;
/// The share by which rounded sums of weights may differ.
const TOLERANCE: f64 = 1e-3;

/// The lab's graph of a case.
fn generated(case: &mut Case) -> Result<Generated, NotApplicable> {
    let topology = match case.one_of("graph", &["rmat", "grid", "geometric", "line", "random"])? {
        "rmat" => Topology::Rmat { edges: case.number("graph.rmat.edges", "8")? },
        "grid" => Topology::Grid { keep: case.number("graph.grid.keep", "7")? },
        "geometric" => Topology::Geometric,
        "line" => Topology::Line,
        _ => Topology::Random { edges: case.number("graph.random.edges", "8")? },
    };
    let (vertices, heaviest) = (case.number("vertices", "")?, case.number("heaviest", "1000")?);
    Ok(Generated { topology, vertices, heaviest, seed: case.number("seed", "1")? })
}

/// Δ by cuGraph's rule: 32 times the mean weight over the mean number of arcs per vertex.
fn usual_delta(graph: &Graph) -> f64 {
    let arcs = graph.arcs.len() as u128;
    let weights: u128 = graph.arcs.iter().map(|arc| u128::from(arc.weight)).sum();
    ((32 * weights * graph.vertices() as u128 / (arcs * arcs).max(1)) as f64).max(1.0)
}

/// Every arc, with its tail.
fn arcs(graph: &Graph) -> impl Iterator<Item = (u32, u32, u32)> {
    (0..graph.vertices())
        .flat_map(|tail| graph.leaving(tail).iter().map(move |arc| (tail as u32, arc.target, arc.weight)))
}

/// Prepares a case of the primitive sssp.
pub fn prepare(peer: &str, case: &mut Case) -> Result<Box<dyn Work>, NotApplicable> {
    case.one_of("primitive", &["sssp"])?;
    let threads = Threads::of(case, Pinning::Each)?;
    let generated = generated(case)?;
    let (source, delta) = (case.text("source", "auto"), case.text("delta", "auto"));
    let number = |key: &str, word: &str| match word {
        "auto" => Ok(None),
        _ => word.parse::<u32>().map(Some).or_else(|_| refused(format!("{key}={word} is not a number here"))),
    };
    let (source, delta) = (number("source", &source)?, number("delta", &delta)?);
    case.nothing_else()?;
    let count = generated.arcs().map_err(|why| NotApplicable(why.to_string()))?;
    if count == 0 || u64::from(source.unwrap_or(0)) >= generated.vertices {
        return refused("there is no such search");
    }
    let name = format!("{generated:?}");
    shared().touch(&name);
    // The lab's arcs, a list of edges and the arcs of the crate, of `graph` in both directions, are in memory together.
    require((8 + 12 + 16) * count + 16 * generated.vertices)?;
    let graph = shared().get(&name, "arcs", 16 * count, || generated.make());
    let graph = graph.map_err(|why| NotApplicable(why.to_string()))?;
    let source = source.unwrap_or_else(|| graph.hub());
    Ok(match peer {
        "graph" => Box::new(DeltaStepping::new(graph, source, delta, threads)?),
        _ => Box::new(Dijkstra::new(&name, graph, source)?),
    })
}

/// Effective bytes of a search: arcs, row starts and distances once.
fn effective_bytes(graph: &Graph) -> u64 {
    8 * graph.arcs.len() as u64 + 8 * graph.vertices() as u64
}

struct DeltaStepping {
    graph: Arc<Graph>,
    source: u32,
    threads: Threads,
    deltas: Vec<f32>,
    theirs: DirectedCsrGraph<u32, (), f32>,
    /// The last result.
    found: Vec<f32>,
}

impl DeltaStepping {
    fn new(
        graph: Arc<Graph>,
        source: u32,
        delta: Option<u32>,
        threads: Threads,
    ) -> Result<DeltaStepping, NotApplicable> {
        let usual = usual_delta(&graph);
        let mut deltas = match delta {
            Some(delta) => vec![delta as f32],
            None => DELTAS.map(|times| (usual * times).round().max(1.0) as f32).to_vec(),
        };
        // Small ones meet at 1.
        (1..deltas.len()).rev().for_each(|at| {
            if deltas[..at].contains(&deltas[at]) {
                deltas.remove(at);
            }
        });
        let weighted = arcs(&graph).map(|(tail, head, weight)| (tail, head, weight as f32));
        let theirs: DirectedCsrGraph<u32, (), f32> = threads.install(|| {
            GraphBuilder::new()
                .csr_layout(CsrLayout::Sorted)
                .edges_with_values(weighted.collect::<Vec<(u32, u32, f32)>>())
                .build()
        });
        if source >= theirs.node_count() {
            return refused("the crate has no vertices behind the last one with an arc");
        }
        Ok(DeltaStepping { graph, source, threads, deltas, theirs, found: Vec::new() })
    }
}

impl Work for DeltaStepping {
    fn ways(&self) -> Vec<Vec<Setting>> {
        let threads = ("threads", self.threads.count.to_string());
        self.deltas.iter().map(|delta| vec![("delta", delta.to_string()), threads.clone()]).collect()
    }

    /// The clock is read in the pool, so that waking it up is not included.
    fn execute(&mut self, way: usize) -> f64 {
        let config = DeltaSteppingConfig::new(self.source as usize, self.deltas[way]);
        let (seconds, distances) = self.threads.install(|| {
            let start = Instant::now();
            let distances = delta_stepping(&self.theirs, config);
            (start.elapsed().as_secs_f64(), distances)
        });
        self.found = distances.into_iter().map(|distance| distance.load(Ordering::Relaxed)).collect();
        seconds
    }

    fn wrong(&self) -> u64 {
        let found = |v: usize| self.found.get(v).copied().unwrap_or(f32::MAX);
        let right = |found: f32, expected: u32| match expected {
            UNREACHED => found == f32::MAX || f64::from(found) >= f64::from(UNREACHED) * (1.0 - TOLERANCE),
            ..ROUNDED => found == expected as f32,
            _ => (f64::from(found) / f64::from(expected) - 1.0).abs() <= TOLERANCE,
        };
        let expected = distances(&self.graph, self.source).into_iter().enumerate();
        let missing = u64::from(self.found.is_empty());
        missing + expected.filter(|&(v, expected)| !right(found(v), expected)).count() as u64
    }

    fn effective_bytes(&self) -> u64 {
        effective_bytes(&self.graph)
    }

    /// Arcs in both directions, the frontier, which has room for every arc, and distances.
    fn memory(&self) -> u64 {
        let (n, arcs) = (self.graph.vertices() as u64, self.graph.arcs.len() as u64);
        2 * (8 * arcs + 4 * (n + 1)) + 4 * arcs + 4 * n
    }
}

/// A sum of weights that counts as no path when it is as long as the lab's.
type Length = Saturating<u32>;

struct Dijkstra {
    graph: Arc<Graph>,
    source: u32,
    theirs: Csr<(), u32, Directed, u32>,
    /// The last result.
    found: Vec<u32>,
}

impl Dijkstra {
    /// Of parallel arcs the crate's compressed rows take one; the lightest decides.
    fn new(name: &str, graph: Arc<Graph>, source: u32) -> Result<Dijkstra, NotApplicable> {
        let edges = shared().get(name, "sorted arcs", 12 * graph.arcs.len() as u64, || {
            let mut edges: Vec<(u32, u32, u32)> = arcs(&graph).collect();
            edges.sort_unstable();
            edges.dedup_by_key(|edge| (edge.0, edge.1));
            Ok::<_, NotApplicable>(edges)
        })?;
        let mut theirs = match Csr::from_sorted_edges(&edges) {
            Ok(theirs) => theirs,
            Err(why) => return refused(format!("the crate refuses the graph: {why:?}")),
        };
        while theirs.node_count() < graph.vertices() {
            theirs.add_node(());
        }
        Ok(Dijkstra { graph, source, theirs, found: Vec::new() })
    }
}

impl Work for Dijkstra {
    fn ways(&self) -> Vec<Vec<Setting>> {
        vec![vec![("threads", "1".to_owned())]]
    }

    fn execute(&mut self, _way: usize) -> f64 {
        let start = Instant::now();
        let distances = dijkstra(&self.theirs, self.source, None, |arc| Saturating(*arc.weight()) as Length);
        let seconds = start.elapsed().as_secs_f64();
        self.found = vec![UNREACHED; self.graph.vertices()];
        distances.into_iter().for_each(|(vertex, distance)| self.found[vertex as usize] = distance.0);
        seconds
    }

    fn wrong(&self) -> u64 {
        let expected = distances(&self.graph, self.source);
        let found = |v: usize| self.found.get(v);
        expected.iter().enumerate().filter(|&(v, expected)| found(v) != Some(expected)).count() as u64
    }

    fn effective_bytes(&self) -> u64 {
        effective_bytes(&self.graph)
    }

    /// The crate's graph, with row starts of 8 bytes, and a table of distances that is at least half full.
    fn memory(&self) -> u64 {
        let (n, arcs) = (self.graph.vertices() as u64, self.theirs.edge_count() as u64);
        8 * (n + 1) + 8 * arcs + 9 * (n * 8).div_ceil(7).next_power_of_two()
    }
}
