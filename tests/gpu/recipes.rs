//! Recipes with every mistake in place of their kernels, as `verify --recipes --mutants` runs them on a GPU.

use scatterlab::case::Fault;
use scatterlab::engine::executors::cuda::CudaExecutor;
use scatterlab::engine::verify::{CaseOutcome, Suite, joined, verify};
use scatterlab::recipe::plan::{self, Overrides};

use crate::host::Host;

const RECIPE: &str = "\
backend: cuda
measure: {rounds: 1, samples: 3, warm-up: 4}
experiments:
  - {title: a, stream: {kernel: [read, copy], elements: 3000}, chart: {x: kernel, y: time}}
  - {title: b, scatter: {tuples: 1500, locations: random, method: [direct, {multipass: {passes: 2}}]}, chart: {x: method, y: time}}
  - {title: c, pattern: {kernel: gather, uniform: {length: 8, stride: 3}, count: 300, method: [direct, read-only, global]}, chart: {x: method, y: time}}
  - {title: d, reduce: {elements: 3000, type: u32}, chart: {x: type, y: time}}
  - {title: e, random-access: {kernel: [read, write], footprint: 16KiB, accesses: 1000}, chart: {x: kernel, y: time}}
  - {title: f, hash-search: {records: 500, keys: 700, method: direct}, chart: {x: method, y: time}}
  - {title: g, shallow-water: {columns: 40, rows: 30, steps: 2}, chart: {x: columns, y: time}}
";

/// A mistake is missed nowhere, and not certified only where blocks keep to themselves what the last sample has gathered, and
/// where the result is a sum without parts.
#[test]
fn recipes_with_every_mistake() {
    if Host::new().is_none() {
        return;
    }
    let recipe = scatterlab::recipe::parse("recipe.yaml", RECIPE).unwrap();
    let plan = plan::resolve(&recipe, &Overrides::default()).unwrap();
    let plan = joined([plan], "cuda", 1 << 20, 1).unwrap();
    assert_eq!(plan.cases.len(), 12, "{:?}", plan.cases);
    let (executor, mut unjudged) = (CudaExecutor::default(), Vec::new());
    let tally = verify(&plan, Suite::Recipes { mutants: true }, &executor, None, |_, checked| {
        if let CaseOutcome::NotCertified(_) = checked.finding {
            unjudged.push((checked.case.params.text("method").unwrap().to_owned(), checked.fault));
        }
    });
    let tally = tally.unwrap();
    assert_eq!((tally.wrong, tally.not_applicable), (Vec::new(), 0));
    let expected = [("read-only", Fault::LostPart), ("direct", Fault::LastSample)];
    assert_eq!(unjudged, expected.map(|(method, fault)| (method.to_owned(), Some(fault))));
    // Of a case its own kernel and ten mistakes, one more where visits have an order.
    assert!(tally.passed + tally.right >= 12 * 11 - 1, "{} {}", tally.passed, tally.right);
    assert!(tally.right < 12, "{}", tally.right);
}
