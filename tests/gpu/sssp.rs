//! Shortest paths on many graphs, beside Dijkstra's algorithm.

use scatterlab::case::{Cancel, Case, Snapshot, Value, Verdict};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::inputs::mix::word64;
use scatterlab::primitives;
use scatterlab_tests::sample;

use crate::host::Host;
use crate::prove::case;

const METHODS: [&str; 9] = [
    "bellman-ford",
    "near-far",
    "bucketing",
    "bucketing method.bucketing.sort=32",
    "bucketing method.bucketing.sort=8 method.bucketing.buckets=3",
    "bucketing method.bucketing.sort=20 method.bucketing.buckets=32 delta=7",
    "multisplit",
    "fusion",
    "fusion method.fusion.rounds=2",
];
/// The last ones are large: warps find rows that are longer than their slots, and more vertices than their rings hold.
const LARGE: usize = 3;
const GRAPHS: [&str; 8] = [
    "grid",
    "grid graph.grid.keep=4",
    "geometric",
    "line",
    "random graph.random.edges=2",
    "rmat",
    "rmat graph.rmat.edges=2",
    "random graph.random.edges=20 delta=100000",
];

/// Each method on fifty graphs, every kind with several sizes and with zero weights, some or all; in a plain run on sixteen, every
/// kind twice.
#[test]
fn all_methods_agree_with_dijkstra() {
    let Some(host) = Host::new() else { return };
    for seed in 0..if sample::all() { 50 } else { 16 } {
        let which = seed as usize % GRAPHS.len();
        let n = 1 + word64(seed, 0) % if which + LARGE < GRAPHS.len() { 200 } else { 3000 };
        let (graph, heaviest) = (GRAPHS[which], [0, 1, 1000, 1000][seed as usize / 3 % 4]);
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
