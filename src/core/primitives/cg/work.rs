//! The memory accesses of the benchmark: the passes of a step, as often as there are steps.

use super::{Method, STEPS, Spec};
use crate::case::work::Order;
use crate::case::{Access, Concurrency, Direction, Pass, Work};

fn read(array: &str, element: u64, count: u64) -> Access {
    Access::sequential(array, Direction::Read, element, count)
}

/// The arrays of a product with A, without those that only its caller has. By rows the vector is gathered by the columns of
/// the entries; in blocks it is read once, gathered on chip, and each row has several sums. Zeros at the ends of short rows
/// of a slice, a few in a hundred, are not declared.
fn product(spec: &Spec, vector: &str) -> Vec<Access> {
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    if spec.in_blocks() {
        let matrix =
            [read("A", element, entries), read("columns", 2, entries), read("rows", 4, n * spec.layers())];
        let sums = Access::sequential("q", Direction::Write, element, n * spec.layers());
        return matrix.into_iter().chain([read(vector, element, n), sums]).collect();
    }
    let gathered = Access {
        footprint: element * n,
        order: Order::Random,
        concurrency: Concurrency::Indexed,
        ..read(vector, element, entries)
    };
    let sums = Access::sequential("q", Direction::Write, element, n);
    vec![
        read("A", element, entries),
        read("columns", 4, entries),
        read("row starts", 4, n + 1),
        gathered,
        sums,
    ]
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
    let sums = || vec![read("q", spec.element(), spec.n() * spec.layers())];
    vec![
        pass(steps, [product(spec, "p"), vectors(spec, &["p"], &[])]),
        pass(solutions, [product(spec, "z"), Vec::new()]),
        pass(steps, [sums(), vectors(spec, &["p", "z", "r"], &["z", "r"])]),
        pass(steps, [vectors(spec, &["r", "p"], &["p"]), Vec::new()]),
        pass(solutions, [sums(), vectors(spec, &["x", "z"], &[])]),
        pass(solutions, [vectors(spec, &["x"], &["z", "r", "p"]), vectors(spec, &["z"], &["x"])]),
    ]
}

fn bytes(passes: &[Pass]) -> u64 {
    passes.iter().map(|pass| pass.times * pass.accesses.iter().map(Access::bytes).sum::<u64>()).sum()
}

/// Bytes that the definition moves, whatever the method: with A in compressed rows, and each vector once for a product.
fn effective(spec: &Spec) -> u64 {
    let rows = Spec { method: Method::Rows, ..*spec };
    let gathered = spec.solutions() * (STEPS + 1) * spec.element() * (spec.entries() - spec.n());
    bytes(&passes(&rows)).saturating_sub(gathered)
}

/// The accesses of a case.
pub fn work(spec: &Spec) -> Work {
    let passes = passes(spec);
    let (entries, element, n) = (spec.entries(), spec.element(), spec.n());
    let effective = effective(spec).min(bytes(&passes));
    let compressed = (element + 4) * entries + 4 * (n + 1);
    // Slices are made of compressed rows, which the certificate reads.
    let sliced = if spec.in_blocks() { (element + 2) * (entries + entries / 4) } else { 0 };
    Work {
        elements: spec.operations(),
        effective_bytes: effective,
        system_bytes: effective,
        footprint: compressed + sliced + (5 + spec.layers()) * element * n,
        scratch: 0,
        passes,
    }
}

/// The part of the declared bytes that products with A read and write.
pub fn spmv_share(spec: &Spec) -> f64 {
    let passes = passes(spec);
    bytes(&passes[..2]) as f64 / bytes(&passes).max(1) as f64
}
