//! The record of a case: derived from its events, the source of the screen, the CSV
//! and the SVG alike.

use crate::backend::Verdict;
use crate::engine::protocol::RoundResult;
use crate::measure::Statistics;
use crate::plan::{Case, Quantity, Value};
use crate::primitives::Work;

/// How far a case got.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Nothing of it has arrived.
    Pending,
    /// Some rounds have arrived.
    Partial,
    /// All rounds have arrived and its certificate holds.
    Done,
    /// It cannot run here.
    NotApplicable(String),
    /// It went wrong, or its certificate does not hold.
    Failed(String),
}

/// One case with everything known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub case: Case,
    /// `None` where the plan already knows that the case does not apply.
    pub work: Option<Work>,
    pub rounds: Vec<RoundResult>,
    pub verdict: Option<Verdict>,
    pub status: Status,
    /// Of the rounds that have arrived, unless the case failed or cannot run.
    pub statistics: Option<Statistics>,
    /// What the primitive says of the case (a pattern's class …).
    pub annotations: Vec<(&'static str, Value)>,
}

impl Record {
    /// The quantity at a given time per execution.
    pub fn quantity_at(&self, quantity: Quantity, seconds: f64) -> Option<f64> {
        let work = self.work.as_ref()?;
        if seconds <= 0.0 {
            return None;
        }
        Some(match quantity {
            Quantity::Bandwidth => work.effective_bytes as f64 / seconds / 1e9,
            Quantity::SystemBandwidth => work.system_bytes as f64 / seconds / 1e9,
            Quantity::Time => seconds,
            Quantity::Throughput => work.elements as f64 / seconds,
        })
    }

    /// The quantity at the median time; missing for a case without a valid result.
    pub fn quantity(&self, quantity: Quantity) -> Option<f64> {
        self.quantity_at(quantity, self.statistics.as_ref()?.median)
    }
}
