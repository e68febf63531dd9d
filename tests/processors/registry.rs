//! Every entry of the registry is complete: accesses, an oracle, a certificate and implementations for each
//! method, shown by a few of its cases. `tests/guard/run` goes through all of them with every mistake; `tests/gpu` and, on a GPU,
//! `scatterlab verify` do so for GPUs.

use std::sync::Mutex;

use scatterlab::case::{Case, Fault};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::engine::verify::{CaseOutcome, Suite, faults, mutant, suite, verify};
use scatterlab::primitives::{self, Primitive};
use scatterlab::recipe::plan::Plan;
use scatterlab_tests::sample::Sample;

/// The cases of a suite for a backend, and their plan without them.
struct Suited {
    cases: Vec<Case>,
    bare: Plan,
}

/// The suite for a backend, which is resolved once.
fn suited(part: Suite, backend: &str) -> &'static Suited {
    static ALL: Mutex<Vec<(Suite, String, &'static Suited)>> = Mutex::new(Vec::new());
    let mut all = ALL.lock().unwrap();
    if let Some((.., known)) = all.iter().find(|(of, on, _)| *of == part && on == backend) {
        return known;
    }
    let mut bare = suite(part, backend, None, 3).expect("the suite resolves");
    let cases = std::mem::take(&mut bare.cases);
    let suited: &Suited = Box::leak(Box::new(Suited { cases, bare }));
    all.push((part, backend.to_owned(), suited));
    suited
}

impl Suited {
    /// The applicable cases of one method.
    fn own(&self, primitive: &Primitive, method: &str) -> Vec<&Case> {
        let own = |case: &&Case| {
            let named = case.primitive == primitive.name() && case.params.text("method") == Some(method);
            named && case.not_applicable.is_none()
        };
        self.cases.iter().filter(own).collect()
    }
}

/// A few of the cases of one method: among them each instruction set with each mistake that can show.
fn cases(primitive: &Primitive, method: &str, backend: &str, part: Suite) -> Plan {
    const FEW: usize = 2;
    let suited = suited(part, backend);
    let own = suited.own(primitive, method);
    let mut some = Sample::of((own.len() / FEW).max(1));
    let mut takes = |case: &&Case| {
        let isa = case.params.text("backend.cpu.isa").unwrap_or_default().to_owned();
        let faults = if part == Suite::Mutants { faults(case) } else { Vec::new() };
        let faults = faults.into_iter().map(|fault| format!("{fault:?} {isa}"));
        let meets: Vec<String> = faults.chain([isa.clone()]).collect();
        some.takes(meets)
    };
    let cases = own.into_iter().filter(|case| takes(case)).cloned().collect();
    Plan { cases, ..suited.bare.clone() }
}

/// Whether no processor has a method: all its cases are `n/a` there, or in `verify-cuda.yaml`. `tests/gpu` runs it.
fn only_on_gpus(primitive: &Primitive, method: &str) -> bool {
    let exists = |backend| !suited(Suite::Small, backend).own(primitive, method).is_empty();
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
                let tally =
                    verify(&plan, part, executor.as_ref(), None, |_, _| ()).expect("no device is lost");
                let what = format!("{} {method} {} {part:?}", primitive.name(), executor.backend());
                assert_eq!(tally.wrong, [], "{what}");
                assert!(tally.passed > 0, "{what}: nothing was checked");
            }
        }
    });
}

/// Of each method some case, with each kernel that runs in place of it: none is left undefined.
#[test]
fn a_kernel_can_stand_in_for_every_method() {
    let executor = CpuExecutor::cpu();
    for_each_method(|primitive, method| {
        if only_on_gpus(primitive, method) {
            return;
        }
        let case = suited(Suite::Mutants, "cpu").own(primitive, method)[0];
        for fault in Fault::ALL.into_iter().filter(|fault| fault.stands_in()) {
            let outcome = mutant(case, fault, &executor).expect("no device is lost");
            let known = matches!(outcome, CaseOutcome::Passed | CaseOutcome::Right);
            assert!(known, "{} {method} with {fault:?}: {outcome:?}", primitive.name());
            assert!(fault != Fault::Null || outcome == CaseOutcome::Passed, "{} {method}", primitive.name());
        }
    });
}
