//! The memory accesses of the benchmark: the passes of a step, as often as there are steps.

use super::{STEPS, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

/// The arrays of a product with A, without those that only its caller has: the vector is gathered by the columns of the
/// entries.
fn product(spec: &Spec, vector: &str) -> Vec<Access> {
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    let read = |array, element, count| Access::sequential(array, Direction::Read, element, count);
    let gathered = Access {
        footprint: element * n,
        order: Order::Random,
        concurrency: Concurrency::Indexed,
        ..read(vector, element, entries)
    };
    vec![read("A", element, entries), read("columns", 4, entries), read("row starts", 4, n + 1), gathered]
}

/// Vectors that are read, and those that are written.
fn vectors(spec: &Spec, read: &[&str], written: &[&str]) -> Vec<Access> {
    let of = |direction| move |array: &&str| Access::sequential(array, direction, spec.element(), spec.n());
    read.iter().map(of(Direction::Read)).chain(written.iter().map(of(Direction::Write))).collect()
}

/// The passes of an execution; those with the matrix first.
fn passes(spec: &Spec) -> Vec<Pass> {
    let solutions = spec.solutions();
    let steps = solutions * STEPS;
    let pass = |times, accesses: [Vec<Access>; 2]| Pass { times, accesses: accesses.concat() };
    vec![
        pass(steps, [product(spec, "p"), vectors(spec, &["p"], &["q"])]),
        pass(solutions, [product(spec, "z"), vectors(spec, &["x", "z"], &[])]),
        pass(steps, [vectors(spec, &["p", "q", "z", "r"], &["z", "r"]), Vec::new()]),
        pass(steps, [vectors(spec, &["r", "p"], &["p"]), Vec::new()]),
        pass(solutions, [vectors(spec, &["x"], &["z", "r", "p"]), vectors(spec, &["z"], &["x"])]),
    ]
}

fn bytes(passes: &[Pass]) -> u64 {
    passes.iter().map(|pass| pass.times * pass.accesses.iter().map(Access::bytes).sum::<u64>()).sum()
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let passes = passes(spec);
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    // The definition reads a vector once for a product, however often its elements are gathered.
    let gathered = passes[..2].iter().map(|pass| pass.times).sum::<u64>() * element * entries;
    let effective = bytes(&passes).saturating_sub(gathered);
    Work {
        elements: spec.operations(),
        effective_bytes: effective,
        system_bytes: effective,
        footprint: (element + 4) * entries + 4 * (n + 1) + 6 * element * n,
        scratch: 0,
        passes,
    }
}

/// The part of the declared bytes that products with A read and write.
pub fn spmv_share(spec: &Spec) -> f64 {
    let passes = passes(spec);
    bytes(&passes[..2]) as f64 / bytes(&passes).max(1) as f64
}
