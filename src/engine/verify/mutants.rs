//! Deliberately wrong kernels in place of a case's own, and what becomes of them.
//!
//! A fault is *caught* if what judges the case refuses it, *right* if the sequential oracle computes the same output as the
//! wrong kernel, and *not certified* where the primitive says why nothing that timed executions leave can show it. Anything
//! else is missed. Which of them it is, comparisons of outputs decide: nobody predicts where a fault shows.

use super::CaseOutcome;
use crate::case::{Cancel, Case, Failure, Fault, Measure, Verdict};
use crate::device::Prepared;
use crate::engine::Executor;
use crate::engine::noise_monitor::Watch;
use crate::engine::sampler::{Round, Sampling, Undisturbed};
use crate::primitives::{self, Problem};
use crate::stats::noise::Conditions;

/// What is executed before a case is judged.
#[derive(Clone, Copy, Debug)]
pub enum Protocol {
    /// Two samples of one execution, then the one that is judged.
    Short,
    /// The warm-up and the samples of a recipe.
    Measured(Measure),
}

impl Protocol {
    /// Takes the samples of a round, the last one on cleared outputs.
    ///
    /// # Errors
    /// As for sampling a case.
    pub fn samples(
        self,
        prepared: &mut dyn Prepared,
        executor: &dyn Executor,
        cancel: &Cancel,
    ) -> Result<(), Failure> {
        match self {
            Protocol::Short => Sampling { batch: 1, count: 2, judged: true, evicts: None, cancel }
                .take(prepared, &mut Undisturbed)
                .map(drop),
            Protocol::Measured(measure) => {
                let watch = &mut Unwatched;
                let round = Round { measure, judged: true, executor, watch, cancel };
                round.measure(prepared, &mut Undisturbed).map(drop)
            }
        }
    }
}

/// Most bytes of a recipe's case that the oracle is asked about: on one thread, that takes seconds.
const MOST_EXAMINED: u64 = 1 << 28;

/// Whether the oracle is asked about the output of a case.
pub fn is_examined(case: &Case) -> bool {
    let of = |problem: Box<dyn Problem>| problem.examined().max(problem.work().footprint);
    primitives::problem(case).is_ok_and(|problem| of(problem) <= MOST_EXAMINED)
}

/// Nobody observes the machine where times do not count.
struct Unwatched;

impl Watch for Unwatched {
    fn begin(&mut self) {}

    fn end(&mut self) -> Conditions {
        Conditions::default()
    }
}

/// The faults to try on a case. The order of visits is none where they are in sequence; a further round is one of the short
/// protocol, because a recipe's costs as much as all other faults.
pub fn faults(case: &Case, protocol: Protocol) -> Vec<Fault> {
    let ordered = primitives::problem(case).is_ok_and(|problem| problem.is_ordered());
    let exists = |fault: &Fault| match fault {
        Fault::SequentialOrder => ordered,
        Fault::LaterRound => matches!(protocol, Protocol::Short),
        _ => true,
    };
    Fault::ALL.into_iter().filter(exists).collect()
}

/// A case and the executor that runs its wrong kernels.
pub struct Mutants<'a> {
    pub case: &'a Case,
    pub protocol: Protocol,
    pub executor: &'a dyn Executor,
}

impl Mutants<'_> {
    /// What becomes of a fault.
    ///
    /// # Errors
    /// As for preparing, sampling and certifying a case.
    pub fn outcome(&self, fault: Fault) -> Result<CaseOutcome, Failure> {
        match fault {
            Fault::LaterRound => self.later_round(),
            Fault::LastSample => self.timed(fault, &self.timed_verdict(fault)?),
            Fault::SequentialOrder | Fault::StaleResult => match self.verdicts(fault)?.1 {
                Verdict::Wrong { .. } => Ok(CaseOutcome::Passed),
                // A right output says nothing about the order of the visits.
                Verdict::Certified { .. } if fault == Fault::SequentialOrder => Ok(missed("the certificate")),
                Verdict::Certified { .. } => self.right_or_missed(fault, "the certificate"),
            },
            _ if fault.stands_in() => {
                let (timed, certified) = self.verdicts(fault)?;
                let certified = match certified {
                    Verdict::Wrong { .. } => CaseOutcome::Passed,
                    Verdict::Certified { .. } => self.right_or_missed(fault, "the certificate")?,
                };
                match (certified, self.timed(fault, &timed)?) {
                    // The certificate finds what timed executions do not leave.
                    (CaseOutcome::Passed, CaseOutcome::NotCertified(_)) => Ok(CaseOutcome::Passed),
                    (CaseOutcome::Passed, timed) => Ok(timed),
                    (certified, _) => Ok(certified),
                }
            }
            _ => match self.verdicts(fault)? {
                (Verdict::Certified { .. }, Verdict::Certified { .. }) => {
                    self.right_or_missed(fault, "the certificate")
                }
                _ => Ok(CaseOutcome::Passed),
            },
        }
    }

    fn problem(&self) -> Result<Box<dyn Problem>, Failure> {
        primitives::problem(self.case).map_err(Failure::Failed)
    }

    fn prepare(&self, fault: Option<Fault>) -> Result<Box<dyn Prepared>, Failure> {
        self.executor.prepare(self.case, fault, &Cancel::default())
    }

    /// The verdicts on what the last sample has left, and of the certificate. The short protocol judges a fault of elements
    /// by the certificate alone; what its samples leave is judged with the later rounds.
    fn verdicts(&self, fault: Fault) -> Result<(Verdict, Verdict), Failure> {
        let (cancel, mut prepared) = (Cancel::default(), self.prepare(Some(fault))?);
        let judges = fault.stands_in() || matches!(self.protocol, Protocol::Measured(_));
        let timed = if judges {
            self.protocol.samples(prepared.as_mut(), self.executor, &cancel)?;
            prepared.judge(&cancel)?
        } else {
            if fault == Fault::StaleResult {
                prepared.sample(1)?;
            }
            Verdict::Certified { checked: 0 }
        };
        Ok((timed, prepared.certify(&cancel)?))
    }

    /// The verdict on what the last sample has left.
    fn timed_verdict(&self, fault: impl Into<Option<Fault>>) -> Result<Verdict, Failure> {
        let (cancel, mut prepared) = (Cancel::default(), self.prepare(fault.into())?);
        self.protocol.samples(prepared.as_mut(), self.executor, &cancel)?;
        prepared.judge(&cancel)
    }

    /// What becomes of a fault by the verdict on what the last sample has left.
    fn timed(&self, fault: Fault, verdict: &Verdict) -> Result<CaseOutcome, Failure> {
        if matches!(verdict, Verdict::Wrong { .. }) {
            return Ok(CaseOutcome::Passed);
        }
        let found = self.right_or_missed(fault, "the check of the last sample's output")?;
        Ok(match (found, self.problem()?.unjudged(fault)) {
            (CaseOutcome::Wrong(_), Some(why)) => CaseOutcome::NotCertified(why.to_owned()),
            (found, _) => found,
        })
    }

    /// A right first round, then one with a fault of elements, the first of these whose output is wrong and can be judged.
    fn later_round(&self) -> Result<CaseOutcome, Failure> {
        if let wrong @ Verdict::Wrong { .. } = self.timed_verdict(None)? {
            return Err(Failure::Failed(format!("the first round is already {wrong:?}")));
        }
        let mut found = CaseOutcome::Right;
        for fault in Fault::ELEMENTS {
            match self.timed(fault, &self.timed_verdict(fault)?)? {
                CaseOutcome::Right => {}
                unjudged @ CaseOutcome::NotCertified(_) => found = unjudged,
                other => return Ok(other),
            }
        }
        Ok(found)
    }

    /// Whether the kernel of a fault that nothing has refused computes what the sequential oracle does.
    fn right_or_missed(&self, fault: Fault, what: &str) -> Result<CaseOutcome, Failure> {
        if matches!(self.protocol, Protocol::Measured(_)) && !is_examined(self.case) {
            return Ok(CaseOutcome::NotCertified(format!("{what} holds, and the oracle takes too long")));
        }
        // An execution that does nothing is the same in any place.
        let fault = if fault == Fault::LastSample { Fault::Null } else { fault };
        let mut prepared = self.prepare(Some(fault))?;
        let output = prepared.read_back()?;
        if primitives::check(self.case, &prepared.resolved(), &output).is_ok() {
            return Ok(CaseOutcome::Right);
        }
        let why = self.problem()?.uncertified(fault).map(str::to_owned);
        Ok(why.map_or_else(|| missed(what), CaseOutcome::NotCertified))
    }
}

fn missed(what: &str) -> CaseOutcome {
    CaseOutcome::Wrong(format!("{what} holds for a wrong kernel"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Device, Params, Value};
    use crate::engine::Preparation;
    use crate::engine::executors::cpu::CpuExecutor;
    use crate::engine::sampler::tests::ColdStart;

    /// What is executed and what it leaves is the case's; nothing ever refuses it.
    struct Blind {
        prepared: Box<dyn Prepared>,
    }

    impl Prepared for Blind {
        fn sample(&mut self, batch: u32) -> Result<f64, Failure> {
            self.prepared.sample(batch)
        }

        fn clear(&mut self, cancel: &Cancel) -> Result<(), Failure> {
            self.prepared.clear(cancel)
        }

        fn judge(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
            Ok(Verdict::Certified { checked: 1 })
        }

        fn certify(&mut self, _: &Cancel) -> Result<Verdict, Failure> {
            Ok(Verdict::Certified { checked: 1 })
        }

        fn memory(&self) -> u64 {
            self.prepared.memory()
        }

        fn read_back(&mut self) -> Result<Vec<u8>, Failure> {
            self.prepared.read_back()
        }
    }

    struct BlindExecutor(CpuExecutor);

    impl Executor for BlindExecutor {
        fn backend(&self) -> &'static str {
            self.0.backend()
        }

        fn device(&self) -> Device {
            self.0.device()
        }

        fn prepare(&self, case: &Case, fault: Option<Fault>, cancel: &Cancel) -> Preparation {
            Ok(Box::new(Blind { prepared: self.0.prepare(case, fault, cancel)? }))
        }

        fn copy_probe(&self) -> Result<f64, Failure> {
            self.0.copy_probe()
        }

        fn evict(&self) -> Result<u64, Failure> {
            self.0.evict()
        }
    }

    fn case(primitive: &str, words: &str) -> Case {
        let word = |word: &str| {
            let (key, value) = word.split_once('=').expect("a parameter");
            (key.to_owned(), value.parse().map_or(Value::Text(value.to_owned()), Value::Int))
        };
        let params = words.split(' ').map(word);
        let params = params.fold(Params::default(), |params, (key, value)| params.with(&key, value));
        let params = params.with("backend", Value::Text("scalar".to_owned()));
        let (id, primitive) = (String::new(), primitive.to_owned());
        Case { id, experiment: 0, primitive, params, seed: 7, not_applicable: None }
    }

    fn outcomes(case: &Case, executor: &dyn Executor, protocol: Protocol) -> Vec<(Fault, CaseOutcome)> {
        let mutants = Mutants { case, protocol, executor };
        let outcome = |fault| (fault, mutants.outcome(fault).expect("it runs"));
        faults(case, protocol).into_iter().map(outcome).collect()
    }

    fn measured() -> Protocol {
        Protocol::Measured(Measure { samples: 2, warm_up: Some(5), ..Measure::default() })
    }

    #[test]
    fn what_nothing_refuses_is_right_by_its_output_alone() {
        let copy = case("stream", "kernel=copy method=direct elements=100");
        for protocol in [Protocol::Short, measured()] {
            for (fault, outcome) in outcomes(&copy, &BlindExecutor(CpuExecutor::scalar()), protocol) {
                let right = fault == Fault::Identity;
                let missed = matches!(outcome, CaseOutcome::Wrong(_));
                assert!(if right { outcome == CaseOutcome::Right } else { missed }, "{fault:?}: {outcome:?}");
            }
        }
    }

    #[test]
    fn what_the_certificate_refuses_is_caught_and_what_is_right_it_does_not_refuse() {
        let cases = [
            ("stream", "kernel=copy method=direct elements=100", vec![Fault::Identity]),
            ("stream", "kernel=scale method=direct elements=100", vec![]),
            ("random-access", "kernel=read method=direct footprint=4096 element=8 accesses=512", vec![]),
        ];
        for (primitive, words, right) in cases {
            let case = case(primitive, words);
            for protocol in [Protocol::Short, measured()] {
                let all = outcomes(&case, &CpuExecutor::scalar(), protocol);
                assert!(all.len() >= 10, "{all:?}");
                for (fault, outcome) in all {
                    let wanted =
                        if right.contains(&fault) { CaseOutcome::Right } else { CaseOutcome::Passed };
                    assert_eq!(outcome, wanted, "{primitive} {words} with {fault:?}");
                }
            }
        }
    }

    /// Of an order, a right output proves nothing.
    #[test]
    fn an_order_is_never_right_by_its_output() {
        let words = "kernel=read method=direct footprint=4096 element=8 accesses=512";
        let case = case("random-access", words);
        let all = outcomes(&case, &BlindExecutor(CpuExecutor::scalar()), Protocol::Short);
        let order = all.iter().find(|(fault, _)| *fault == Fault::SequentialOrder);
        assert!(matches!(order, Some((_, CaseOutcome::Wrong(_)))), "{order:?}");
    }

    #[test]
    fn a_case_of_a_recipe_is_judged_after_its_warm_up_and_its_samples() {
        let measure = Measure { samples: 4, warm_up: Some(10), ..Measure::default() };
        for (protocol, executed, cleared) in [(Protocol::Measured(measure), 14, 13), (Protocol::Short, 3, 2)]
        {
            let mut counting = ColdStart { first: 1.0, then: 1.0, executed: 0, cleared_after: None };
            let executor = CpuExecutor::scalar();
            protocol.samples(&mut counting, &executor, &Cancel::default()).expect("counted");
            assert_eq!(
                (counting.executed, counting.cleared_after),
                (executed, Some(cleared)),
                "{protocol:?}"
            );
        }
    }
}
