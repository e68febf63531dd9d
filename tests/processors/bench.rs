//! One case after another on its backend, against the oracle and its certificate.

use scatterlab::case::{Cancel, Case, Failure, Fault, Params, Value, Verdict};
use scatterlab::device::Prepared;
use scatterlab::device::cpu::{Isa, affinity};
use scatterlab::engine::Executor;
use scatterlab::engine::executors::cpu::CpuExecutor;
use scatterlab::primitives;

use scatterlab_tests::sample::Sample;

/// A plain run takes one of so many of the cases that meet nothing new.
const EVERY: usize = 11;

/// Parameters from `key=value` words; numbers become integers, `a;b;c` a list.
pub fn params(text: &str) -> Params {
    text.split_whitespace().fold(Params::default(), |params, word| {
        let (key, value) = word.split_once('=').expect("key=value");
        let value = match value.parse::<u64>() {
            _ if value.contains(';') => Value::Indices(
                value
                    .split(';')
                    .filter(|w| !w.is_empty())
                    .map(|w| w.parse().unwrap())
                    .collect::<Vec<u64>>()
                    .into(),
            ),
            Ok(number) => Value::Int(number),
            Err(_) => value.parse().map_or_else(|_| Value::Text(value.to_owned()), Value::Float),
        };
        params.with(key, value)
    })
}

pub fn case(primitive: &str, text: &str, seed: u64) -> Case {
    Case {
        id: "test".into(),
        experiment: 0,
        primitive: primitive.into(),
        params: params(text),
        seed,
        not_applicable: None,
    }
}

/// The backends to try: the executor's turn and what it adds to the parameters.
pub fn backends() -> Vec<String> {
    let mut all = vec!["backend=scalar".to_owned()];
    for isa in Isa::ALL.into_iter().filter(|isa| isa.present()) {
        for threads in 1..=affinity::allowed().len().min(2) {
            all.push(format!("backend=cpu backend.cpu.isa={isa} backend.cpu.threads={threads}"));
        }
    }
    all
}

/// The features that a case covers: each value of a parameter with its backend.
fn meets(primitive: &str, text: &str) -> Vec<String> {
    let (backend, words): (Vec<&str>, Vec<&str>) =
        text.split_whitespace().partition(|word| word.starts_with("backend"));
    words.iter().map(|word| format!("{primitive} {word} {}", backend.join(" "))).collect()
}

pub struct Bench {
    cpu: CpuExecutor,
    scalar: CpuExecutor,
    sample: Sample,
    tried: usize,
    pub refused: Vec<String>,
}

impl Drop for Bench {
    fn drop(&mut self) {
        self.sample.tell(std::thread::current().name().unwrap_or("correctness"));
    }
}

impl Bench {
    pub fn new() -> Bench {
        let (cpu, scalar) = (CpuExecutor::cpu(), CpuExecutor::scalar());
        Bench { cpu, scalar, sample: Sample::new(EVERY), tried: 0, refused: Vec::new() }
    }

    /// More ran than so many times those that were refused.
    pub fn most_ran(&self, times: usize) {
        assert!(self.tried > times * self.refused.len(), "{} ran, not {:?}", self.tried, self.refused);
    }

    pub fn prepare(&self, case: &Case, fault: Option<Fault>) -> Result<Box<dyn Prepared>, Failure> {
        let executor: &dyn Executor = if case.backend() == "scalar" { &self.scalar } else { &self.cpu };
        executor.prepare(case, fault, &Cancel::default())
    }

    /// Against the oracle and the certificate, before and after being timed; then every
    /// fault of `faults`, whose output the certificate accepts only if it is right. What is `n/a` is refused. A plain run
    /// takes a sample of the cases.
    pub fn check(&mut self, primitive: &str, text: &str, seed: u64, faults: &[Fault]) {
        if !self.sample.takes(meets(primitive, text)) {
            return;
        }
        let case = case(primitive, text, seed);
        let mut prepared = match self.prepare(&case, None) {
            Err(Failure::NotApplicable(_)) => {
                return self.refused.push(text.to_owned());
            }
            other => other.unwrap_or_else(|e| panic!("{primitive} {text}: {e}")),
        };
        self.tried += 1;
        let output = prepared.read_back().expect("output");
        let agreed = primitives::problem(&case).expect("a case").check(&output);
        assert_eq!(agreed, Ok(()), "{primitive} {text} seed {seed}");
        assert!(prepared.sample(2).expect("a sample") >= 0.0);
        let verdict = prepared.certify(&Cancel::default()).expect("a verdict");
        assert!(matches!(verdict, Verdict::Certified { checked } if checked > 0), "{text}: {verdict:?}");
        for &fault in faults {
            let mut wrong = self.prepare(&case, Some(fault)).expect("a faulty case");
            let verdict = wrong.certify(&Cancel::default()).expect("a verdict");
            if let Verdict::Certified { .. } = verdict {
                let output = wrong.read_back().expect("output");
                let agreed = primitives::problem(&case).expect("a case").check(&output);
                assert_eq!(agreed, Ok(()), "{primitive} {text} {fault:?} is missed");
            }
        }
    }
}
