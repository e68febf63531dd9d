//! Records, derived from a plan and the events of its run. Pure: the headless
//! runner, the TUI and the report of a stored run all fold the same events.

use std::collections::HashMap;

use super::record::{Record, Status};
use crate::backend::Verdict;
use crate::engine::protocol::{Event, RoundResult};
use crate::measure;
use crate::plan::{Case, Plan};
use crate::primitives;

/// A plan and the records of its cases, in the plan's order.
#[derive(Clone, Debug)]
pub struct Ledger {
    plan: Plan,
    records: Vec<Record>,
    index: HashMap<String, usize>,
}

impl Ledger {
    /// Every case pending, or `n/a` where the plan says so.
    pub fn new(plan: Plan) -> Ledger {
        let records: Vec<Record> = plan.cases.iter().map(blank).collect();
        let index = plan.cases.iter().enumerate().map(|(i, c)| (c.id.clone(), i)).collect();
        Ledger { plan, records, index }
    }

    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Position of a case in the plan.
    pub fn position(&self, case: &str) -> Option<usize> {
        self.index.get(case).copied()
    }

    /// Takes an event in; returns the position of the case that it changed.
    pub fn apply(&mut self, event: &Event) -> Option<usize> {
        match event {
            Event::Round { result, .. } => {
                let at = self.position(&result.case)?;
                self.add_round(at, result);
                Some(at)
            }
            Event::NotApplicable { case, reason, .. } => {
                let at = self.position(case)?;
                let record = &mut self.records[at];
                record.status = Status::NotApplicable(reason.clone());
                record.statistics = None;
                Some(at)
            }
            Event::Failed { case, error, .. } => {
                let at = self.position(case)?;
                self.fail(at, error.clone());
                Some(at)
            }
            _ => None,
        }
    }

    /// Marks a case as failed: no time of it is shown any more.
    pub fn fail(&mut self, at: usize, error: String) {
        let record = &mut self.records[at];
        record.status = Status::Failed(error);
        record.statistics = None;
    }

    fn add_round(&mut self, at: usize, result: &RoundResult) {
        let wanted = self.plan.experiments[self.plan.cases[at].experiment].measure.rounds as usize;
        let record = &mut self.records[at];
        if record.rounds.iter().any(|r| r.round == result.round) {
            return;
        }
        record.rounds.push(result.clone());
        if let Some(verdict) = &result.verdict {
            record.verdict = Some(verdict.clone());
        }
        if let Some(Verdict::Wrong { mistake }) = &record.verdict {
            let mistake = format!("wrong result: {mistake}");
            return self.fail(at, mistake);
        }
        if matches!(record.status, Status::Failed(_) | Status::NotApplicable(_)) {
            return;
        }
        record.statistics = measure::statistics(record.rounds.iter().map(|r| r.samples.as_slice()));
        let complete = record.rounds.len() >= wanted && record.verdict.is_some();
        record.status = if complete { Status::Done } else { Status::Partial };
    }
}

fn blank(case: &Case) -> Record {
    let primitive = primitives::find(&case.primitive);
    let status = case.not_applicable.clone().map_or(Status::Pending, Status::NotApplicable);
    Record {
        work: primitive.and_then(|p| p.work(&case.params).ok()),
        annotations: primitive.map(|p| p.annotations(&case.params)).unwrap_or_default(),
        case: case.clone(),
        rounds: Vec::new(),
        verdict: None,
        status,
        statistics: None,
    }
}
