//! The record of a case: derived from its events, the source of the screen, the CSV
//! and the SVG alike.

use crate::case::gpus::{Count, Gpus};
use crate::case::{Case, Value, Verdict, Work};
use crate::engine::protocol::RoundResult;
use crate::model::{Forecast, Prediction, accuracy};
use crate::primitives;
use crate::recipe::plan::Quantity;
use crate::stats::noise::Flag;
use crate::stats::{self, Statistics, Stop};

/// Why a case that a person skipped has no result.
pub const SKIPPED: &str = "skipped";

/// How far a case got.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// Nothing of it has arrived.
    Pending,
    /// Some rounds have arrived.
    Partial,
    /// All rounds have arrived and its certificate holds.
    Done,
    /// It cannot run here, or a person skipped it.
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
    /// The attempt that counts of each round that has arrived.
    pub rounds: Vec<RoundResult>,
    /// Attempts that do not count, because the other one of the same round does.
    pub set_aside: Vec<RoundResult>,
    pub verdict: Option<Verdict>,
    pub status: Status,
    /// Why no more rounds follow, once none do.
    pub stop: Option<Stop>,
    /// How many rounds a person wants of it at least.
    pub wanted: u32,
    /// Of the rounds that have arrived, unless the case failed or cannot run.
    pub statistics: Option<Statistics>,
    /// What the primitive says of the case (a pattern's class …).
    pub annotations: Vec<(&'static str, Value)>,
    /// What each model says of it, from the profiles of the run: nothing before an engine has
    /// said which it has.
    pub forecasts: Vec<Forecast>,
}

impl Record {
    /// Takes an attempt in; `false` for one that is known. Of two attempts at a round the
    /// second counts where it is free of doubts. How long its samples are plays no part in
    /// that; how far apart they lie does.
    pub(super) fn add(&mut self, result: RoundResult) -> bool {
        let known = |r: &RoundResult| (r.round, r.attempt) == (result.round, result.attempt);
        if self.rounds.iter().chain(&self.set_aside).any(known) {
            return false;
        }
        let chosen = result.resolved.iter().any(|(key, _)| key == "method");
        if chosen || Gpus::of(&self.case.params).count == Some(Count::All) {
            // Only now is it known which method it became, and how many there are.
            self.work = primitives::work(&self.case, &result.resolved);
        }
        match self.rounds.iter_mut().find(|r| r.round == result.round) {
            None => self.rounds.push(result),
            Some(first) if result.flags.is_empty() => {
                self.set_aside.push(std::mem::replace(first, result));
            }
            Some(_) => self.set_aside.push(result),
        }
        true
    }

    /// Whether its times may be held against others': its certificate holds, or it is a peer's,
    /// of which there is none to wait for.
    pub fn stands(&self) -> bool {
        match self.verdict {
            Some(Verdict::Certified { .. }) => true,
            Some(Verdict::Wrong { .. }) => false,
            None => self.case.peer().is_some(),
        }
    }

    /// The rounds' medians, seconds.
    pub fn medians(&self) -> Vec<f64> {
        self.rounds.iter().filter_map(|round| stats::median(&round.samples)).collect()
    }

    /// Seconds that all attempts took, with preparation.
    pub fn spent(&self) -> f64 {
        self.rounds.iter().chain(&self.set_aside).map(|round| round.wall).sum()
    }

    /// What is doubtful about the rounds that count, without repeats.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags: Vec<Flag> = self.rounds.iter().flat_map(|round| round.flags.iter().copied()).collect();
        flags.sort_unstable();
        flags.dedup();
        flags
    }

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

    /// What a model says of it.
    pub fn forecast(&self, model: &str) -> Option<&Forecast> {
        self.forecasts.iter().find(|forecast| forecast.model == model)
    }

    /// A model's prediction, where it has one.
    pub fn prediction(&self, model: &str) -> Option<&Prediction> {
        self.forecast(model)?.outcome.as_ref().ok()
    }

    /// The accuracy of a model's prediction of the median time, 1 − |v − v'| / v; missing for a
    /// case without a result that stands.
    pub fn accuracy(&self, model: &str) -> Option<f64> {
        let measured = self.statistics.as_ref()?.median;
        let accuracy = accuracy(measured, self.prediction(model)?.seconds);
        accuracy.is_finite().then_some(accuracy)
    }
}
