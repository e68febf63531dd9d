//! Every entry of the registry is complete: accesses, an oracle, a certificate and implementations for each
//! method. The GPU implementations are tested by `tests/cuda_kernels` and, if there is a GPU, by `scatterlab
//! verify`.

use scatterlab::case::Case;
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::engine::verify::{Suite, suite, verify};
use scatterlab::primitives::{self, Primitive};
use scatterlab::recipe::plan::Plan;

/// A few of the suite's cases of one method.
fn cases(primitive: &Primitive, method: &str, backend: &str, part: Suite) -> Plan {
    const FEW: usize = 12;
    let mut plan = suite(part, backend, None, 3).expect("the suite resolves");
    plan.cases.retain(|case| {
        case.primitive == primitive.name()
            && case.params.text("method") == Some(method)
            && case.not_applicable.is_none()
    });
    let step = (plan.cases.len() / FEW).max(1);
    plan.cases = plan.cases.into_iter().step_by(step).collect();
    plan
}

/// Whether no processor implements a method: all its cases are `n/a` there, or in `verify-cuda.yaml`.
/// `tests/cuda_kernels` tests it instead.
fn only_on_gpus(primitive: &Primitive, method: &str) -> bool {
    let exists = |backend: &str| {
        let plan = suite(Suite::Small, backend, None, 3).expect("the suite resolves");
        let own = |case: &Case| {
            let named = case.primitive == primitive.name() && case.params.text("method") == Some(method);
            named && case.not_applicable.is_none()
        };
        plan.cases.iter().any(own)
    };
    let on_cpus = exists("cpu");
    assert!(on_cpus || exists("cuda"), "{} {method} has no case", primitive.name());
    !on_cpus
}

fn for_each_method(mut check: impl FnMut(&Primitive, &str)) {
    // While writing a primitive, use SCATTERLAB_ONLY=NAME.
    let only = std::env::var("SCATTERLAB_ONLY").ok();
    let wanted = |primitive: &&&Primitive| only.as_ref().is_none_or(|name| name == primitive.name());
    for primitive in primitives::registry().iter().filter(wanted) {
        assert!(!primitive.methods().is_empty(), "{} has no method", primitive.name());
        // `auto` chooses one of the other methods, and needs a profile from the engine.
        for method in primitive.methods().into_iter().filter(|method| *method != "auto") {
            check(primitive, method);
        }
    }
}

#[test]
fn every_method_declares_its_accesses() {
    for_each_method(|primitive, method| {
        let backend = if only_on_gpus(primitive, method) { "cuda" } else { "cpu" };
        let plan = cases(primitive, method, backend, Suite::Mutants);
        assert!(!plan.cases.is_empty(), "{} {method}: no case", primitive.name());
        for case in &plan.cases {
            let work = primitive.work(&case.params).expect("applicable");
            let accesses: usize = work.passes.iter().map(|pass| pass.accesses.len()).sum();
            assert!(accesses > 0 && work.declared_bytes() > 0, "{} {method}", primitive.name());
            assert!(work.effective_bytes > 0 && work.effective_bytes <= work.system_bytes);
        }
    });
}

#[test]
fn every_method_agrees_with_its_oracle_and_its_certificate_can_fail() {
    let executors: [Box<dyn Executor>; 2] = [Box::new(CpuExecutor::scalar()), Box::new(CpuExecutor::cpu())];
    for_each_method(|primitive, method| {
        for executor in &executors {
            for part in [Suite::Small, Suite::Mutants] {
                let plan = cases(primitive, method, executor.backend(), part);
                if only_on_gpus(primitive, method) {
                    assert_eq!(plan.cases, [], "{method} is n/a on processors");
                    continue;
                }
                let tally = verify(&plan, part, executor.as_ref(), |_, _| ()).expect("no device is lost");
                let what = format!("{} {method} {} {part:?}", primitive.name(), executor.backend());
                assert_eq!(tally.wrong, [], "{what}");
                assert!(tally.passed > 0, "{what}: nothing was checked");
            }
        }
    });
}
