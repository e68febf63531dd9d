//! Every entry of the registry is complete: accesses, an oracle, a certificate and implementations for each
//! method. The GPU implementations are tested by `tests/cuda_kernels` and, if there is a GPU, by `scatterlab
//! verify`.

#[path = "sample/mod.rs"]
mod sample;

use std::sync::Mutex;

use sample::Sample;
use scatterlab::case::{Case, Fault};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::engine::verify::{Suite, suite, verify};
use scatterlab::primitives::{self, Primitive};
use scatterlab::recipe::plan::Plan;

/// The suite's plan for a backend, which is resolved once.
fn plan(part: Suite, backend: &str) -> &'static Plan {
    static PLANS: Mutex<Vec<(Suite, String, &'static Plan)>> = Mutex::new(Vec::new());
    let mut plans = PLANS.lock().unwrap();
    if let Some((.., known)) = plans.iter().find(|(of, on, _)| *of == part && on == backend) {
        return known;
    }
    let plan: &Plan = Box::leak(Box::new(suite(part, backend, None, 3).expect("the suite resolves")));
    plans.push((part, backend.to_owned(), plan));
    plan
}

/// The applicable cases of one method.
fn own<'a>(plan: &'a Plan, primitive: &Primitive, method: &str) -> Vec<&'a Case> {
    let own = |case: &&Case| {
        let named = case.primitive == primitive.name() && case.params.text("method") == Some(method);
        named && case.not_applicable.is_none()
    };
    plan.cases.iter().filter(own).collect()
}

/// A few of the cases of one method: among them each instruction set with each mistake that can show, and in a plain run few others.
fn cases(primitive: &Primitive, method: &str, backend: &str, part: Suite) -> Plan {
    let few = if sample::all() { 12 } else { 2 };
    let plan = plan(part, backend);
    let own = own(plan, primitive, method);
    let mut some = Sample::of((own.len() / few).max(1));
    let mut takes = |case: &&Case| {
        let isa = case.params.text("backend.cpu.isa").unwrap_or_default().to_owned();
        let problem = primitives::problem(case).expect("applicable");
        // Which mistakes show takes long to tell of long patterns.
        let faults = Fault::ALL.into_iter().map(|fault| (fault, format!("{fault:?} {isa}")));
        let unmet = faults.filter(|(_, meets)| part == Suite::Mutants && !some.knows(meets));
        let shown = unmet.filter(|(fault, _)| problem.shows(*fault)).map(|(_, meets)| meets);
        let meets: Vec<String> = shown.chain([isa.clone()]).collect();
        some.takes(meets)
    };
    let cases = own.into_iter().filter(|case| takes(case)).cloned().collect();
    Plan { cases, ..plan.clone() }
}

/// Whether no processor has a method: all its cases are `n/a` there, or in `verify-cuda.yaml`. `tests/cuda_kernels` runs it.
fn only_on_gpus(primitive: &Primitive, method: &str) -> bool {
    let exists = |backend| !own(plan(Suite::Small, backend), primitive, method).is_empty();
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
    let (mut taken, mut offered) = (0, 0);
    for_each_method(|primitive, method| {
        for executor in &executors {
            for part in [Suite::Small, Suite::Mutants] {
                let plan = cases(primitive, method, executor.backend(), part);
                if only_on_gpus(primitive, method) {
                    assert_eq!(plan.cases, [], "{method} is n/a on processors");
                    continue;
                }
                offered += own(self::plan(part, executor.backend()), primitive, method).len();
                taken += plan.cases.len();
                let tally = verify(&plan, part, executor.as_ref(), |_, _| ()).expect("no device is lost");
                let what = format!("{} {method} {} {part:?}", primitive.name(), executor.backend());
                assert_eq!(tally.wrong, [], "{what}");
                assert!(tally.passed > 0, "{what}: nothing was checked");
            }
        }
    });
    sample::tell("registry", taken, offered);
}
