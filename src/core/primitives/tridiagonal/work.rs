//! The memory accesses of the methods.

use super::tiles::Levels;
use super::{CYCLIC_ROWS, Layout, Method, PARALLEL_ROWS, Spec};
use crate::case::{Access, Direction, Pass, Work};

const INPUTS: [&str; 4] = ["a", "b", "c", "d"];

/// Accesses to arrays, each with as many elements.
fn arrays(spec: &Spec, direction: Direction, names: &[&str], count: u64) -> Vec<Access> {
    let of = |name: &&str| Access::sequential(name, direction, spec.element(), count);
    names.iter().map(of).collect()
}

fn pass(accesses: [Vec<Access>; 2]) -> Pass {
    Pass::once(accesses.concat())
}

/// A pass over all systems where each is solved on chip, and otherwise the passes of the method across memory.
fn passes(spec: &Spec) -> Vec<Pass> {
    use Direction::{Read, Write};
    let (n, count) = (spec.rows, spec.count());
    let arrays = |direction, names: &[&str], count| arrays(spec, direction, names, count);
    let inputs = || arrays(Read, &INPUTS, count);
    let on_chip = || pass([inputs(), arrays(Write, &["x"], count)]);
    match spec.method {
        Method::Thomas if spec.backend.is_cuda() => vec![
            pass([inputs(), arrays(Write, &["c'", "x"], count)]),
            pass([arrays(Read, &["c'", "x"], count), arrays(Write, &["x"], count)]),
        ],
        Method::CyclicReduction if spec.backend.is_cuda() && n > CYCLIC_ROWS => {
            let mut levels = vec![n];
            while let Some(rows) = levels.last().copied().filter(|rows| *rows > CYCLIC_ROWS) {
                levels.push(rows / 2);
            }
            let all = |rows: u64| rows * spec.systems;
            let down = levels.windows(2).map(|of| {
                pass([
                    arrays(Read, &INPUTS, all(of[0])),
                    arrays(Write, &["a'", "b'", "c'", "d'"], all(of[1])),
                ])
            });
            let last = all(levels[levels.len() - 1]);
            let solved = pass([arrays(Read, &["a'", "b'", "c'", "d'"], last), arrays(Write, &["x'"], last)]);
            let up = levels.windows(2).rev().map(|of| {
                let read = [arrays(Read, &INPUTS, all(of[0])), arrays(Read, &["x'"], all(of[1]))].concat();
                pass([read, arrays(Write, &["x"], all(of[0]))])
            });
            down.chain([solved]).chain(up).collect()
        }
        Method::ParallelCyclicReduction if n > PARALLEL_ROWS => {
            let reduced = ["a'", "b'", "c'", "d'"];
            let steps = u64::from((n - 1).ilog2());
            let first = pass([inputs(), arrays(Write, &reduced, count)]);
            let further = pass([arrays(Read, &reduced, count), arrays(Write, &reduced, count)]);
            let last = pass([arrays(Read, &reduced, count), arrays(Write, &["x"], count)]);
            let further = (steps > 1).then_some(Pass { times: steps - 1, ..further });
            [first].into_iter().chain(further).chain([last]).collect()
        }
        Method::Partition { .. } => {
            let tiles = Levels::of(spec).tiles() * spec.systems;
            if tiles == spec.systems {
                return vec![on_chip()];
            }
            let edges = ["a'", "b'", "c'", "d'", "a\"", "c\"", "d\""];
            vec![
                pass([inputs(), arrays(Write, &edges, tiles)]),
                pass([arrays(Read, &edges, tiles), arrays(Write, &["ends"], tiles)]),
                pass([[inputs(), arrays(Read, &["ends"], tiles)].concat(), arrays(Write, &["x"], count)]),
            ]
        }
        _ => vec![on_chip()],
    }
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let bytes = 5 * spec.element() * spec.count();
    let passes = passes(spec);
    Work {
        passes,
        elements: spec.count(),
        effective_bytes: bytes,
        system_bytes: bytes,
        footprint: bytes + scratch(spec),
        scratch: 0,
    }
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
