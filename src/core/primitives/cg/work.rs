//! The memory accesses of the benchmark: the passes of a step, as often as there are steps.

use super::methods::product;
use super::{Method, STEPS, Spec};
use crate::case::work::{Access, Pass, Work};

/// The passes of an execution; those with the matrix first.
fn passes(spec: &Spec) -> Vec<Pass> {
    let read = |array| Access::reads(array, spec.element(), spec.n());
    let written = |array| Access::writes(array, spec.element(), spec.n());
    let sums = Access::reads("q", spec.element(), spec.n() * spec.layers());
    let (solutions, steps) = (spec.solutions(), spec.solutions() * STEPS);
    vec![
        product(spec, "p").and([read("p")]).times(steps),
        product(spec, "z").times(solutions),
        Pass::once([sums.clone()]).and(["p", "z", "r"].map(read)).and(["z", "r"].map(written)).times(steps),
        Pass::once([read("r"), read("p"), written("p")]).times(steps),
        Pass::once([sums, read("x"), read("z")]).times(solutions),
        Pass::once([read("x"), written("z"), written("r"), written("p"), read("z"), written("x")])
            .times(solutions),
    ]
}

fn bytes(passes: &[Pass]) -> u64 {
    passes.iter().map(Pass::bytes).sum()
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
    let vectors = (5 + spec.layers()) * element * n;
    Work::of(spec.operations(), effective, passes).footprint(compressed + sliced + vectors)
}

/// The part of the declared bytes that products with A read and write.
pub fn spmv_share(spec: &Spec) -> f64 {
    let passes = passes(spec);
    bytes(&passes[..2]) as f64 / bytes(&passes).max(1) as f64
}
