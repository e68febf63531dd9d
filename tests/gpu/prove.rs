//! The checks that every case must pass: without a mistake and with each, in the kernels that it said it would launch, and within
//! its arrays. A plain run proves of each list of cases those that launch a kernel for the first time, and a few more.

use std::cell::RefCell;
use std::collections::BTreeSet;

use scatterlab::case::schema::ParamDefault;
use scatterlab::case::{Cancel, Case, Fault, Params, Value, Verdict};
use scatterlab::device::cuda::Gpu;
use scatterlab::engine::Executor;
use scatterlab::engine::executors::{self, KernelList, cuda::CudaExecutor};
use scatterlab::engine::verify::{self, CaseOutcome};
use scatterlab::primitives;

use crate::host::Host;
use scatterlab_tests::sample::Sample;

/// A plain run takes one of so many of a list's cases that launch no kernel for the first time.
pub const EVERY: usize = 19;

/// And tries one of so many of the mistakes that its methods have met before.
pub const EVERY_MISTAKE: usize = 5;

/// The ends of the names of kernels that nothing but a mistake launches.
pub const WRONG: &str = "_in_sequence";

/// A case from `key=value` words; a value is an integer, a list of them or a name.
pub fn case(primitive: &str, words: &str) -> Case {
    let mut params = Params::default().with("backend", Value::Text("cuda".into()));
    for word in words.split_whitespace() {
        let (key, value) = word.split_once('=').unwrap();
        let list: Result<Vec<u64>, _> = value.split(',').map(str::parse).collect();
        let value = match list {
            Ok(list) if list.len() > 1 || key.ends_with("indices") => Value::Indices(Vec::into(list)),
            Ok(list) => Value::Int(list[0]),
            Err(_) => value.parse().map_or(Value::Text(value.into()), Value::Float),
        };
        params = params.with(key, value);
    }
    let primitive = primitive.to_owned();
    Case { id: String::new(), experiment: 0, primitive, params, seed: 42, not_applicable: None }
}

/// A list's cases, on a GPU as they are by default.
pub fn prove_all(primitive: &str, cases: &[String]) {
    let Some(host) = Host::new() else { return };
    prove_on(&host, primitive, cases);
}

/// A list's cases, on the GPU as it is.
pub fn prove_on(host: &Host, primitive: &str, cases: &[String]) {
    let cases = cases.iter().map(|words| (words.clone(), case(primitive, words))).collect();
    prove_cases(host, cases, EVERY, &mut Sample::new(EVERY_MISTAKE));
}

/// The list of a case's kernels.
fn listed(case: &Case) -> KernelList {
    executors::kernels(case, Gpu::open().unwrap().device().compute_capability).unwrap()
}

/// The kernels that a case asks for, by the list that they are compiled from ahead of need.
pub fn asked(case: &Case) -> BTreeSet<String> {
    listed(case).names().map(|(_, name)| name).chain(["gate".to_owned()]).collect()
}

/// A list's cases, each with its name in an error, and some of their mistakes. A plain run takes those that launch a kernel
/// for the first time and one of `every` others.
pub fn prove_cases(host: &Host, cases: Vec<(String, Case)>, every: usize, mistakes: &mut Sample) {
    let listing = LISTED.with_borrow(Option::is_some);
    let mut sample = if listing { Sample::of(every) } else { Sample::new(every) };
    for (words, case) in cases {
        let asked = asked(&case);
        let takes = sample.takes(asked.iter().cloned().chain([method(&case)]));
        if listing {
            LISTED.with_borrow_mut(|listed| listed.as_mut().unwrap().add(takes, &case, asked));
        } else if takes {
            host.compiled();
            prove(host, &case, &words, mistakes);
            let mut compiled = host.compiled();
            compiled.retain(|kernel| !kernel.ends_with(WRONG));
            assert_eq!(compiled, asked, "{} {words}", case.primitive);
            assert_eq!(host.strayed(), 0, "{} {words} writes outside of its arrays", case.primitive);
        }
    }
}

/// A case must hold without a mistake and must not with one.
fn prove(host: &Host, case: &Case, words: &str, mistakes: &mut Sample) {
    let executor = CudaExecutor::default();
    let cancel = Cancel::default();
    let mut right = executor.prepare(case, None, &cancel).unwrap_or_else(|e| panic!("{words}: {e}"));
    // Of several GPUs from the first start to the last end.
    host.launches();
    let seconds = right.sample(2).unwrap();
    let several = words.contains("gpus=");
    assert!(seconds == 2.5e-4 || several && seconds > 2.5e-4, "{words}: {seconds} s");
    // Without elements some launches have nothing to do; each of several GPUs has its own.
    if primitives::work(case, &[]).unwrap().elements > 0 && !several {
        let declared =
            listed(case).launches().map(|(name, launches)| (name.to_owned(), 2 * launches)).collect();
        assert_eq!(host.launches(), declared, "{} {words}", case.primitive);
    }
    right.clear(&cancel).unwrap();
    right.sample(3).unwrap();
    let verdict = right.judge(&cancel).unwrap();
    assert!(matches!(verdict, Verdict::Certified { .. }), "{words}, after the last sample: {verdict:?}");
    let verdict = right.certify(&cancel).unwrap();
    assert!(matches!(verdict, Verdict::Certified { checked } if checked > 0), "{words}: {verdict:?}");
    let output = right.read_back().unwrap();
    primitives::check(case, &right.resolved(), &output).unwrap_or_else(|e| panic!("{words}: {e}"));
    assert!(right.memory() > 0);
    drop(right);
    for fault in verify::faults(case) {
        if !mistakes.takes([format!("{} {fault:?}", method(case))]) {
            continue;
        }
        match verify::mutant(case, fault, &executor).unwrap() {
            CaseOutcome::Passed => {}
            CaseOutcome::Right | CaseOutcome::NotCertified(_) => continue,
            missed => panic!("{words}: {fault:?} is {missed:?}"),
        }
        // The other faults leave a right output.
        if !Fault::ELEMENTS.contains(&fault) {
            continue;
        }
        let mut wrong = executor.prepare(case, Some(fault), &cancel).unwrap();
        wrong.sample(1).unwrap();
        if let Ok(output) = wrong.read_back() {
            let judged = primitives::check(case, &wrong.resolved(), &output);
            assert!(judged.is_err() || words.contains("read-only"), "{words}: {fault:?} is right");
        }
    }
}

/// The primitive and its method, by the registry's names.
pub fn method(case: &Case) -> String {
    let table = primitives::find(&case.primitive).unwrap().params();
    let default = match table.iter().find(|row| row.name == "method").unwrap().default {
        ParamDefault::Is(name) => name,
        _ => "auto",
    };
    format!("{} {}", case.primitive, case.params.text("method").unwrap_or(default))
}

thread_local! {
    /// Present while this thread's lists are looked at and not run.
    static LISTED: RefCell<Option<Listed>> = const { RefCell::new(None) };
}

/// The kernels and methods of the listed cases that a plain run takes, and the number of these cases.
#[derive(std::default::Default)]
pub struct Listed {
    pub kernels: BTreeSet<String>,
    pub methods: BTreeSet<String>,
    pub taken: usize,
    pub offered: usize,
}

impl Listed {
    /// Of tests that do nothing but prove lists, which are not run.
    pub fn of(tests: &[fn()]) -> Listed {
        LISTED.set(Some(<Listed as std::default::Default>::default()));
        tests.iter().for_each(|test| test());
        LISTED.take().unwrap()
    }

    fn add(&mut self, takes: bool, case: &Case, asked: BTreeSet<String>) {
        self.offered += 1;
        if takes {
            self.taken += 1;
            self.kernels.extend(asked);
            self.methods.insert(method(case));
        }
    }
}
