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
use crate::primitives;
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
        let problem = primitives::problem(self.case).map_err(Failure::Failed)?;
        let found = self.right_or_missed(fault, "the check of the last sample's output")?;
        Ok(match (found, problem.unjudged(fault)) {
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
        // An execution that does nothing is the same in any place.
        let fault = if fault == Fault::LastSample { Fault::Null } else { fault };
        let mut prepared = self.prepare(Some(fault))?;
        let output = prepared.read_back()?;
        Ok(match primitives::check(self.case, &prepared.resolved(), &output) {
            Ok(()) => CaseOutcome::Right,
            Err(_) => missed(what),
        })
    }
}

fn missed(what: &str) -> CaseOutcome {
    CaseOutcome::Wrong(format!("{what} holds for a wrong kernel"))
}
