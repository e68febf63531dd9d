//! The memory accesses of the methods.

use super::tiles::Levels;
use super::{CYCLIC_ROWS, Layout, Method, PARALLEL_ROWS, Spec};
use crate::case::work::{Access, Pass, Work};

const INPUTS: [&str; 4] = ["a", "b", "c", "d"];
const REDUCED: [&str; 4] = ["a'", "b'", "c'", "d'"];

/// A pass over all systems where each is solved on chip, and otherwise the passes of the method across memory.
fn passes(spec: &Spec) -> Vec<Pass> {
    let (n, count) = (spec.rows, spec.count());
    let read = |count| move |array| Access::reads(array, spec.element(), count);
    let written = |count| move |array| Access::writes(array, spec.element(), count);
    let inputs = Pass::once(INPUTS.map(read(count)));
    let reduced = Pass::once(REDUCED.map(read(count)));
    let x = Access::writes("x", spec.element(), count);
    match spec.method {
        Method::Thomas if spec.backend.is_cuda() => vec![
            inputs.and(["c'", "x"].map(written(count))),
            Pass::once(["c'", "x"].map(read(count))).and([x]),
        ],
        Method::CyclicReduction if spec.backend.is_cuda() && n > CYCLIC_ROWS => cyclic(spec),
        Method::ParallelCyclicReduction if n > PARALLEL_ROWS => {
            let steps = u64::from((n - 1).ilog2());
            let further = reduced.clone().and(REDUCED.map(written(count)));
            let further = (steps > 1).then(|| further.times(steps - 1));
            let first = inputs.and(REDUCED.map(written(count)));
            [first].into_iter().chain(further).chain([reduced.and([x])]).collect()
        }
        Method::Partition { .. } if Levels::of(spec).tiles() > 1 => {
            let tiles = Levels::of(spec).tiles() * spec.systems;
            let edges = ["a'", "b'", "c'", "d'", "a\"", "c\"", "d\""];
            vec![
                inputs.clone().and(edges.map(written(tiles))),
                Pass::once(edges.map(read(tiles))).and([Access::writes("ends", spec.element(), tiles)]),
                inputs.and([Access::reads("ends", spec.element(), tiles), x]),
            ]
        }
        _ => vec![inputs.and([x])],
    }
}

/// Down: each level reads its rows and leaves half of them; the last is solved, and up, each level finds the other half.
fn cyclic(spec: &Spec) -> Vec<Pass> {
    let read = |rows: u64| move |array| Access::reads(array, spec.element(), rows * spec.systems);
    let written = |rows: u64| move |array| Access::writes(array, spec.element(), rows * spec.systems);
    let smaller = |rows: &u64| (*rows > CYCLIC_ROWS).then(|| rows / 2);
    let levels: Vec<u64> = std::iter::successors(Some(spec.rows), smaller).collect();
    let last = levels[levels.len() - 1];
    let mut passes = Vec::new();
    for rows in levels.windows(2) {
        passes.push(Pass::once(INPUTS.map(read(rows[0]))).and(REDUCED.map(written(rows[1]))));
    }
    passes.push(Pass::once(REDUCED.map(read(last))).and([written(last)("x'")]));
    for rows in levels.windows(2).rev() {
        passes.push(Pass::once(INPUTS.map(read(rows[0]))).and([read(rows[1])("x'"), written(rows[0])("x")]));
    }
    passes
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let bytes = 5 * spec.element() * spec.count();
    Work::of(spec.count(), bytes, passes(spec)).footprint(bytes + scratch(spec))
}

/// Bytes beside the arrays of the definition, on GPUs.
pub fn scratch(spec: &Spec) -> u64 {
    let elements = match spec.method {
        Method::Thomas => spec.count(),
        Method::CyclicReduction if spec.rows > CYCLIC_ROWS => 5 * spec.count(),
        Method::ParallelCyclicReduction if spec.rows > PARALLEL_ROWS => 8 * spec.count(),
        Method::Partition { .. } => Levels::of(spec).scratch(spec.systems),
        _ => 0,
    };
    if spec.backend.is_cuda() { elements * spec.element() } else { 0 }
}

/// Whether lanes of a warp that work side by side also find their rows side by side in memory.
pub fn coalesced(spec: &Spec) -> bool {
    match spec.method {
        Method::Thomas => spec.layout == Layout::Interleaved,
        Method::CyclicReduction => spec.layout == Layout::Strided || spec.rows > CYCLIC_ROWS,
        Method::ParallelCyclicReduction => spec.layout == Layout::Strided || spec.rows > PARALLEL_ROWS,
        _ => true,
    }
}
