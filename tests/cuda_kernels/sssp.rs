//! Shortest paths on many graphs, beside Dijkstra's algorithm.

use scatterlab::case::{Cancel, Case, Snapshot, Value, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::inputs::mix::word64;
use scatterlab::primitives;

use crate::host::Host;
use crate::prove::case;

const METHODS: [&str; 6] =
    ["bellman-ford", "near-far", "bucketing", "multisplit", "fusion", "fusion method.fusion.rounds=2"];
const GRAPHS: [&str; 7] = [
    "grid",
    "grid graph.grid.keep=4",
    "geometric",
    "line",
    "random graph.random.edges=2",
    "rmat",
    "rmat graph.rmat.edges=2",
];

/// Each method on fifty graphs, every kind with several sizes and with zero weights, some or all.
#[test]
fn all_methods_agree_with_dijkstra() {
    let Some(host) = Host::new() else { return };
    for seed in 0..50 {
        let n = 1 + word64(seed, 0) % if seed % 7 == 6 { 3000 } else { 200 };
        let (graph, heaviest) =
            (GRAPHS[seed as usize % GRAPHS.len()], [0, 1, 1000, 1000][seed as usize / 3 % 4]);
        for method in METHODS {
            let words = format!("graph={graph} vertices={n} heaviest={heaviest} method={method}");
            let case = Case { seed, ..case("sssp", &words) };
            let mut prepared = CudaExecutor::default().prepare(&case, None, &Cancel::default()).unwrap();
            let output = prepared.read_back().unwrap();
            assert_eq!(primitives::problem(&case).unwrap().check(&output), Ok(()), "{words}");
            let verdict = prepared.judge(&Cancel::default());
            assert_eq!(verdict, Ok(Verdict::Certified { checked: n }), "{words}");
            let Ok(Some(Snapshot::Curve { values, .. })) = prepared.snapshot() else { panic!("{words}") };
            let steps = Value::Int(values.len() as u64);
            assert!(prepared.resolved().contains(&("steps".to_owned(), steps)), "{words}");
            assert!(values[0] == 1.0 && values.iter().all(|&size| size > 0.0), "{words} {values:?}");
        }
    }
    assert_eq!(host.strayed(), 0);
}
