//! Self-verification: every primitive and method against its sequential oracle, and every certificate against
//! correct and deliberately wrong implementations.

mod mutants;
mod recipes;

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::case::{Cancel, Case, Failure, Fault, Value, Verdict};
use crate::engine::{Executor, output_sampling};
use crate::primitives::{self, suites};
use crate::recipe;
use crate::recipe::plan::{self, Overrides, Plan};
use mutants::{Mutants, Protocol};

pub use recipes::joined;

/// Result of one check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaseOutcome {
    /// The result is right; of a fault, it was caught.
    Passed,
    /// Nothing refuses a wrong kernel, and the oracle computes the same output.
    Right,
    /// Nothing that timed executions leave can show the fault, for this reason.
    NotCertified(String),
    /// The case cannot run here.
    NotApplicable(String),
    /// The result is wrong, or a certificate missed a mistake.
    Wrong(String),
}

/// Number of checks by outcome.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Cases that are right, and faults that were caught.
    pub passed: usize,
    /// Wrong kernels whose output is right.
    pub right: usize,
    pub not_certified: usize,
    pub not_applicable: usize,
    /// Cases that were left out because the time was over.
    pub left: usize,
    /// Label and error of each wrong case.
    pub wrong: Vec<(String, String)>,
}

impl Tally {
    fn add(&mut self, checked: &Checked) {
        match &checked.finding {
            CaseOutcome::Passed => self.passed += 1,
            CaseOutcome::Right => self.right += 1,
            CaseOutcome::NotCertified(_) => self.not_certified += 1,
            CaseOutcome::NotApplicable(_) => self.not_applicable += 1,
            CaseOutcome::Wrong(what) => self.wrong.push((checked.label(), what.clone())),
        }
    }
}

/// One check: of a case, or of one fault injected into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked<'a> {
    pub case: &'a Case,
    /// The injected fault, for mutants.
    pub fault: Option<Fault>,
    pub finding: CaseOutcome,
    /// The output read back for the oracle; `None` for mutants and beyond 4 GiB.
    pub computed: Option<Computed>,
}

/// The output of a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Computed {
    /// Values chosen for parameters left open.
    pub resolved: Vec<(String, Value)>,
    /// The whole output in its device layout.
    pub output: Vec<u8>,
}

impl Checked<'_> {
    /// The primitive, all parameters and the seed, in one line.
    pub fn label(&self) -> String {
        let case = format!("{}: {}", self.case.primitive, parameters(self.case));
        self.fault.map_or(case.clone(), |fault| format!("{case} with {fault:?}"))
    }
}

/// A selection of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Suite {
    /// Tiny and odd sizes, also compared with the oracle.
    Small,
    /// Beyond 4 GiB, checked by certificates only.
    Large,
    /// Deliberately wrong implementations, which the certificate must detect.
    Mutants,
    /// Cases of recipes, measured as they say and compared with the oracle, with or without wrong implementations.
    Recipes { mutants: bool },
}

impl Suite {
    /// What is executed before a case is judged.
    fn protocol(self, plan: &Plan, case: &Case) -> Protocol {
        let measure = plan.experiments.get(case.experiment).map(|experiment| experiment.measure);
        match (self, measure) {
            (Suite::Recipes { .. }, Some(measure)) => Protocol::Measured(measure),
            _ => Protocol::Short,
        }
    }

    /// The checks of a case: without a fault, and with each that exists.
    fn faults(self, case: &Case, protocol: Protocol) -> Vec<Option<Fault>> {
        let mutants = matches!(self, Suite::Mutants | Suite::Recipes { mutants: true });
        let own = (self != Suite::Mutants || case.not_applicable.is_some()).then_some(None);
        let faults = if mutants && case.not_applicable.is_none() {
            mutants::faults(case, protocol)
        } else {
            Vec::new()
        };
        own.into_iter().chain(faults.into_iter().map(Some)).collect()
    }
}

/// The plan of a suite for one backend. With `gpus`, cases run on that many GPUs, both with separate arrays and
/// with arrays that span them.
pub fn suite(suite: Suite, backend: &str, gpus: Option<u64>, seed: u64) -> anyhow::Result<Plan> {
    let (target, axes) = match (backend, suite, gpus) {
        ("cpu", Suite::Small | Suite::Mutants, _) => {
            ("{cpu: {isa: [scalar, avx2, avx512]}}".to_owned(), "isa")
        }
        ("cuda", _, Some(gpus)) => (format!("{{cuda: {{gpus: {gpus}, memory: [own, spanning]}}}}"), "memory"),
        (other, ..) => (other.to_owned(), "backend"),
    };
    let alone: &[_] = if backend == "cuda" && gpus.is_none() { suites::CUDA } else { &[] };
    let files = if suite == Suite::Large { vec![suites::LARGE] } else { vec![suites::ALL, alone] };
    let resolve = |&(path, text): &(&str, &str)| {
        resolved(path, &text.replace("BACKEND_AXES", axes).replace("BACKEND", &target), seed)
    };
    let plans = files.concat().iter().map(resolve).collect::<Result<Vec<_>, _>>()?;
    let join = |mut plan: Plan, more: Plan| {
        plan.cases.extend(more.cases);
        plan
    };
    let mut plan = plans.into_iter().reduce(join).context("no primitive has cases to verify")?;
    match suite {
        Suite::Small => add_empty_twins(&mut plan),
        Suite::Mutants => plan.cases.retain(large_enough_to_be_wrong),
        Suite::Large | Suite::Recipes { .. } => {}
    }
    Ok(plan)
}

fn resolved(path: &str, text: &str, seed: u64) -> anyhow::Result<Plan> {
    let recipe = recipe::parse(path, text)?;
    let set = vec![("seed".to_owned(), seed.to_string())];
    Ok(plan::resolve(&recipe, &Overrides { set, ..Overrides::default() })?)
}

/// The parameters that hold the size of a case, those of a matrix last.
const SIZES: [&str; 12] = [
    "tuples",
    "elements",
    "accesses",
    "keys",
    "records",
    "rows",
    "vertices",
    "matrix.random.rows",
    "matrix.empty-rows.rows",
    "matrix.dense-row.rows",
    "matrix.banded.rows",
    "matrix.laplace5.side",
];

/// The parameter that holds the size of a case.
fn size_key(case: &Case) -> Option<&'static str> {
    SIZES.into_iter().find(|key| case.params.int(key).is_some())
}

fn add_empty_twins(plan: &mut Plan) {
    let empty = |case: &Case| {
        let key = size_key(case).filter(|key| case.params.int(key) == Some(1))?;
        let params = case.params.clone().with(key, Value::Int(0));
        Some(Case { id: plan::case_id(&case.primitive, &params, case.seed), params, ..case.clone() })
    };
    let twins: Vec<Case> = plan.cases.iter().filter_map(empty).collect();
    plan.cases.extend(twins);
}

/// A mutant needs a few elements in which it can be wrong, but not many.
fn large_enough_to_be_wrong(case: &Case) -> bool {
    let size = case.params.int(size_key(case).unwrap_or("count"));
    size.is_some_and(|n| (33..=1025).contains(&n))
}

/// Checks every case of a plan on one backend and reports each check with the number of its case; after `most_time`, none is
/// begun. `Failure::Lost` ends the verification early, because nothing after it could be trusted.
pub fn verify(
    plan: &Plan,
    suite: Suite,
    executor: &dyn Executor,
    most_time: Option<Duration>,
    mut tell: impl FnMut(usize, &Checked),
) -> Result<Tally, Failure> {
    let (mut tally, begun) = (Tally::default(), Instant::now());
    executor
        .compile_ahead(&plan.cases.iter().filter(|case| case.not_applicable.is_none()).collect::<Vec<_>>());
    for (number, case) in plan.cases.iter().enumerate() {
        if most_time.is_some_and(|most| begun.elapsed() >= most) {
            tally.left = plan.cases.len() - number;
            break;
        }
        let protocol = suite.protocol(plan, case);
        for fault in suite.faults(case, protocol) {
            let (finding, computed) = match (&case.not_applicable, fault) {
                (Some(reason), _) => (CaseOutcome::NotApplicable(reason.clone()), None),
                (None, Some(fault)) => (mutant_of(case, fault, protocol, executor)?, None),
                (None, None) => check(case, suite, protocol, executor)?,
            };
            let checked = Checked { case, fault, finding, computed };
            tally.add(&checked);
            tell(number, &checked);
        }
    }
    Ok(tally)
}

/// `key=value …` and the seed; a long list of indices is replaced by its length.
fn parameters(case: &Case) -> String {
    let words: Vec<String> =
        case.params.0.iter().map(|(key, value)| format!("{key}={}", short(value))).collect();
    format!("{} seed={}", words.join(" "), case.seed)
}

fn short(value: &Value) -> String {
    match value {
        Value::Indices(indices) if indices.len() > 8 => format!("[{} indices]", indices.len()),
        other => other.to_string(),
    }
}

fn check(
    case: &Case,
    suite: Suite,
    protocol: Protocol,
    executor: &dyn Executor,
) -> Result<(CaseOutcome, Option<Computed>), Failure> {
    let mut computed = None;
    let outcome = (|| {
        let cancel = Cancel::default();
        let mut prepared = executor.prepare(case, None, &cancel)?;
        match protocol {
            Protocol::Measured(_) => protocol.samples(prepared.as_mut(), executor, &cancel)?,
            Protocol::Short => {
                prepared.sample(2)?;
                prepared.clear(&cancel)?;
                prepared.sample(2)?;
            }
        }
        if let Some(Verdict::Wrong { mistake }) = output_sampling::wrong_output(prepared.as_mut(), &cancel)? {
            return Ok(CaseOutcome::Wrong(mistake));
        }
        if let Verdict::Wrong { mistake } = prepared.certify(&cancel)? {
            return Ok(CaseOutcome::Wrong(format!("certificate: {mistake}")));
        }
        let recipes = matches!(suite, Suite::Recipes { .. });
        if suite == Suite::Large || recipes && !mutants::is_examined(case) {
            return Ok(CaseOutcome::Passed);
        }
        let output = prepared.read_back()?;
        let Computed { resolved, output } =
            computed.insert(Computed { resolved: prepared.resolved(), output });
        Ok(match primitives::check(case, resolved, output) {
            Ok(()) => CaseOutcome::Passed,
            Err(mistake) => CaseOutcome::Wrong(format!("oracle: {mistake}")),
        })
    })();
    Ok((finding(outcome)?, computed))
}

/// Injects a fault into a case of `verify`, and says what becomes of it.
///
/// # Errors
/// [`Failure::Lost`] and [`Failure::Cancelled`]; other failures are outcomes.
pub fn mutant(case: &Case, fault: Fault, executor: &dyn Executor) -> Result<CaseOutcome, Failure> {
    mutant_of(case, fault, Protocol::Short, executor)
}

/// The faults that [`mutant`] may inject into a case.
pub fn faults(case: &Case) -> Vec<Fault> {
    mutants::faults(case, Protocol::Short)
}

fn mutant_of(
    case: &Case,
    fault: Fault,
    protocol: Protocol,
    executor: &dyn Executor,
) -> Result<CaseOutcome, Failure> {
    finding(Mutants { case, protocol, executor }.outcome(fault))
}

/// A failure of one case is an outcome; a lost device is an error.
fn finding(outcome: Result<CaseOutcome, Failure>) -> Result<CaseOutcome, Failure> {
    match outcome {
        Ok(finding) => Ok(finding),
        Err(Failure::NotApplicable(reason)) => Ok(CaseOutcome::NotApplicable(reason)),
        Err(Failure::Failed(error)) => Ok(CaseOutcome::Wrong(error)),
        Err(failure) => Err(failure),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::executors::mock::{Mock, Script};

    #[test]
    fn every_suite_resolves_on_every_backend() {
        for backend in ["scalar", "cpu", "cuda"] {
            for part in [Suite::Small, Suite::Large, Suite::Mutants] {
                let gpus = Some(2).filter(|_| backend == "cuda");
                suite(part, backend, gpus, 5).expect("so it is on several GPUs");
                let plan = suite(part, backend, None, 5).expect("the suite is a valid recipe");
                assert!(plan.cases.len() >= 10, "{backend} {part:?}: {}", plan.cases.len());
                assert!(plan.cases.iter().all(|c| c.backend() == backend && c.seed == 5));
            }
        }
    }

    #[test]
    fn every_primitive_and_method_is_in_the_small_suite() {
        let suites = ["cpu", "cuda"].map(|backend| suite(Suite::Small, backend, None, 5).expect("suite"));
        for primitive in primitives::registry() {
            // `auto` resolves to one of the other methods.
            for method in primitive.methods().into_iter().filter(|method| *method != "auto") {
                let covered = suites.iter().flat_map(|plan| &plan.cases).any(|case| {
                    case.primitive == primitive.name()
                        && case.not_applicable.is_none()
                        && case.params.text("method") == Some(method)
                });
                assert!(covered, "{} {method}", primitive.name());
            }
        }
    }

    /// The suite sets every tunable of the stream, gather and scatter kernels.
    #[test]
    fn every_tunable_is_in_the_small_suite() {
        let plan = suite(Suite::Small, "cuda", None, 5).expect("suite");
        let keys: std::collections::BTreeSet<&str> =
            plan.cases.iter().flat_map(|c| c.params.0.keys()).map(String::as_str).collect();
        for tunable in ["block", "items", "grid", "hint", "vector", "fetch", "persist"] {
            assert!(keys.contains(format!("backend.cuda.{tunable}").as_str()), "{tunable}");
        }
        let tuned = |case: &&Case| case.params.0.keys().any(|key| key.starts_with("backend.cuda."));
        let refused = plan.cases.iter().filter(tuned).find(|case| case.not_applicable.is_some());
        assert_eq!(refused, None);
    }

    /// Includes the twins of size 0, which no recipe can request.
    #[test]
    fn every_case_of_a_suite_has_an_identity_of_its_own() {
        let plan = suite(Suite::Small, "cpu", None, 5).expect("suite");
        let mut labels = std::collections::BTreeMap::new();
        for case in &plan.cases {
            let label = format!("{}: {:?}", case.primitive, case.params);
            assert_eq!(*labels.entry(case.id.split('-').next()).or_insert(label.clone()), label);
        }
    }

    #[test]
    fn each_check_is_told_with_what_was_read_back() {
        let mut plan = suite(Suite::Mutants, "cpu", None, 5).expect("suite");
        plan.cases.truncate(2);
        plan.cases[0].not_applicable = Some("too large".to_owned());
        let mock = Mock::new("cpu", |_| Script::Seconds(1.0));
        let told = |part| {
            let mut told = Vec::new();
            let tell = |number, checked: &Checked| {
                let wrong = matches!(checked.finding, CaseOutcome::Wrong(_));
                told.push((number, checked.fault, wrong, checked.computed.is_some()));
            };
            verify(&plan, part, &mock, None, tell).expect("not lost");
            told
        };
        // The mock computes nothing, which the oracle rejects.
        assert_eq!(told(Suite::Small), [(0, None, false, false), (1, None, true, true)]);
        assert_eq!(told(Suite::Large), [(0, None, false, false), (1, None, false, false)]);
        // This case has no order to be mistaken in.
        let shown = Fault::ALL.into_iter().filter(|fault| *fault != Fault::SequentialOrder);
        let mutants: Vec<_> = shown.map(|fault| (1, Some(fault), false, false)).collect();
        assert_eq!(told(Suite::Mutants), [&[(0, None, false, false)], &mutants[..]].concat());
    }

    #[test]
    fn wrong_cases_and_certificates_that_miss_mistakes_are_findings() {
        let mut plan = suite(Suite::Mutants, "cpu", None, 5).expect("suite");
        plan.cases.truncate(1);
        let wrong = Mock::new("cpu", |_| Script::Wrong);
        let tally = verify(&plan, Suite::Small, &wrong, None, |_, _| ()).expect("not lost");
        assert!(tally.wrong[0].1.starts_with("after the last sample: "), "{tally:?}");
        let tally = verify(&plan, Suite::Mutants, &wrong, None, |_, _| ()).expect("not lost");
        assert_eq!((tally.passed, tally.wrong.len()), (10, 1));
        assert!(tally.wrong[0].1.starts_with("the first round is already "), "{tally:?}");
        let lost = Mock::new("cpu", |_| Script::Fails(Failure::Lost("gone".into())));
        assert_eq!(verify(&plan, Suite::Small, &lost, None, |_, _| ()), Err(Failure::Lost("gone".into())));
    }
}
