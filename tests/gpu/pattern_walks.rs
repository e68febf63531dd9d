//! The primitive pattern with every number of items per thread and both grids, at sizes of a few tiles and less
//! than one.

use scatterlab::case::{Cancel, Value};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::engine::executors::launched;

use crate::host::Host;
use crate::prove::{case, prove_all};

/// A few uses of a long pattern, many of a short one, and some that all touch the same words.
const SOURCES: [&str; 4] = [
    "source=uniform source.uniform.length=8 source.uniform.stride=1 delta=8 count=1283",
    "source=uniform source.uniform.length=300 source.uniform.stride=3 delta=7 count=19",
    "source=custom source.custom.indices=5,0,5,9,2 delta=3 count=701 index=8",
    "source=custom source.custom.indices=3,4 delta=0 count=5",
];

const KERNELS: [&str; 11] = [
    "kernel=gather",
    "kernel=gather wrap=3",
    "kernel=gather visits=random",
    "kernel=gather method=read-only",
    "kernel=gather method=read-only visits=random",
    "kernel=gather method=global",
    "kernel=gather method=global wrap=40",
    "kernel=gather method=global wrap=3 visits=random",
    "kernel=scatter",
    "kernel=scatter wrap=3",
    "kernel=scatter method=atomic visits=random",
];

const GS: &str = "kernel=gs gather=custom gather.custom.indices=0,3,5 scatter=custom \
                  scatter.custom.indices=4,0,2 delta-gather=2 delta-scatter=3 count=700";

fn walks() -> impl Iterator<Item = (u64, &'static str)> {
    [1, 2, 4, 8].into_iter().flat_map(|items| ["tiles", "resident"].map(|grid| (items, grid)))
}

fn prove_with(items: u64, grid: &str) {
    let cases = SOURCES.iter().flat_map(|source| KERNELS.map(|kernel| format!("{source} {kernel}")));
    let gs = ["", " visits=random"].map(|visits| format!("{GS}{visits}"));
    let walk = |words: String| format!("{words} backend.cuda.items={items} backend.cuda.grid={grid}");
    prove_all("pattern", &cases.chain(gs).map(walk).collect::<Vec<_>>());
}

#[test]
pub fn tiles() {
    walks().filter(|walk| walk.1 == "tiles").for_each(|(items, grid)| prove_with(items, grid));
}

#[test]
pub fn resident() {
    walks().filter(|walk| walk.1 == "resident").for_each(|(items, grid)| prove_with(items, grid));
}

/// The launch and the record follow the request; the record also has the values that were left open.
#[test]
pub fn the_walk_is_in_the_record() {
    let Some(_host) = Host::new() else { return };
    let recorded = |words: &str| {
        let case = case("pattern", &format!("{} {words}", SOURCES[0]));
        let prepared = CudaExecutor::default().prepare(&case, None, &Cancel::default()).unwrap();
        (launched(&case).unwrap().kernel, prepared.resolved())
    };
    let entry = |items: u64, grid: &str| {
        let grid = ("backend.cuda.grid".to_owned(), Value::Text(grid.to_owned()));
        vec![("backend.cuda.items".to_owned(), Value::Int(items)), grid]
    };
    for (items, grid) in walks() {
        let asked = format!("kernel=scatter backend.cuda.items={items} backend.cuda.grid={grid}");
        assert_eq!(recorded(&asked), (format!("pattern_scatter_u{items}"), entry(items, grid)));
    }
    assert_eq!(recorded("kernel=gather"), ("pattern_gather_u8".to_owned(), entry(8, "tiles")));
    assert_eq!(
        recorded("kernel=gather method=read-only visits=random"),
        ("pattern_read_only_visits_u8".to_owned(), entry(8, "resident"))
    );
}
