//! The record of a case, derived from its events. Screen, CSV and SVG are all produced from it.

use crate::case::backends::THREADS_KEY;
use crate::case::gpus::{Count, Gpus};
use crate::case::{Case, Transfer, Value, Verdict, Work};
use crate::engine::protocol::RoundResult;
use crate::model::{Forecast, Prediction, accuracy};
use crate::primitives;
use crate::recipe::plan::{Chart, Quantity};
use crate::stats::noise::Flag;
use crate::stats::{self, Spent, Statistics, Stop};

/// The reason recorded for a case that the user skipped.
pub const SKIPPED: &str = "skipped";

/// The state of a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// No round has arrived.
    Pending,
    /// Some rounds have arrived.
    Partial,
    /// All rounds have arrived and the certificate holds.
    Done,
    /// The case cannot run here, or the user skipped it.
    NotApplicable(String),
    /// The case failed, or its certificate does not hold.
    Failed(String),
}

/// Everything known about one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub case: Case,
    /// The identity of the case whose measurement this is, if the plan measures both as one
    /// ([`Plan::repeats`](crate::recipe::plan::Plan::repeats)).
    pub repeats: Option<String>,
    /// `None` where the plan already knows that the case does not apply.
    pub work: Option<Work>,
    /// The counting attempt of each round that has arrived.
    pub rounds: Vec<RoundResult>,
    /// Attempts that do not count, because the other attempt at the same round does.
    pub set_aside: Vec<RoundResult>,
    /// Attempts of an earlier part of the run, whose CPUs, device or program were not those of the later
    /// part ([`SetAside`](crate::engine::protocol::Event::SetAside)). They count nowhere.
    pub superseded: Vec<RoundResult>,
    pub verdict: Option<Verdict>,
    pub status: Status,
    /// Why measuring stopped, once it has.
    pub stop: Option<Stop>,
    /// Least number of rounds that the user asked for.
    pub wanted: u32,
    /// Rates at which the case's device ranked keys of the case's kind on chip, keys per second, each by one digit.
    pub ranked: Vec<f64>,
    /// Statistics of the rounds so far, unless the case failed or cannot run.
    pub statistics: Option<Statistics>,
    /// Annotations that the primitive derives from the case (the class of a pattern, …).
    pub annotations: Vec<(&'static str, Value)>,
    /// The forecast of each model from the run's profiles; empty until an engine has reported its profiles.
    pub forecasts: Vec<Forecast>,
}

impl Record {
    /// Takes an attempt; returns `false` if it is known already. The second of two attempts at a round counts
    /// if it has no flags. The magnitude of its samples plays no part in that choice, but their spread does.
    pub(super) fn add(&mut self, result: RoundResult) -> bool {
        let known = |r: &RoundResult| (r.round, r.attempt) == (result.round, result.attempt);
        if self.rounds.iter().chain(&self.set_aside).any(known) {
            return false;
        }
        let chosen = result.resolved.iter().any(|(key, _)| key == "method" || key == "bucket");
        if chosen || Gpus::of(&self.case.params).count == Some(Count::All) {
            // Only now are the chosen method, the size of buckets and the number of GPUs known.
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

    /// Whether the times of this case may be compared with others: either its certificate holds, or it is a
    /// peer's case, which gets no certificate.
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

    /// Threads on which the case ran: its last round's, if the recipe left them open. `None` if the case says none.
    pub fn threads(&self) -> Option<u64> {
        let resolved = self.rounds.last().into_iter().flat_map(|round| &round.resolved);
        match resolved.into_iter().find(|(key, _)| key == THREADS_KEY) {
            Some((_, Value::Int(threads))) => Some(*threads),
            _ => self.case.params.int(THREADS_KEY),
        }
    }

    /// All attempts, those that count first.
    pub fn attempts(&self) -> impl Iterator<Item = &RoundResult> {
        self.rounds.iter().chain(&self.set_aside)
    }

    /// Seconds taken by all attempts, including preparation.
    pub fn spent(&self) -> Spent {
        let mut spent = Spent::default();
        self.attempts().for_each(|attempt| spent.add(attempt.wall));
        spent
    }

    /// Seconds that the preparation of all attempts took ([`RoundResult::generate`]); `None` if none of them tells.
    pub fn generating(&self) -> Option<f64> {
        self.attempts().filter_map(|attempt| attempt.generate).reduce(|all, one| all + one)
    }

    /// Whether the only attempt at some round is flagged.
    pub fn awaits_second_look(&self) -> bool {
        self.rounds.iter().any(|round| self.is_doubtful(round))
    }

    /// Whether a round's only attempt is flagged.
    pub fn is_doubtful(&self, round: &RoundResult) -> bool {
        let again = self.set_aside.iter().any(|other| other.round == round.round);
        round.attempt == 0 && !round.flags.is_empty() && !again
    }

    /// The distinct flags of the counting rounds.
    pub fn flags(&self) -> Vec<Flag> {
        let mut flags: Vec<Flag> = self.rounds.iter().flat_map(|round| round.flags.iter().copied()).collect();
        flags.sort_unstable();
        flags.dedup();
        flags
    }

    /// A part of the rounds' transfers: its median; `None` without any.
    pub fn transfer(&self, of: impl Fn(&Transfer) -> f64) -> Option<f64> {
        let parts: Vec<f64> =
            self.rounds.iter().filter_map(|round| round.transfer.as_ref()).map(of).collect();
        stats::median(&parts)
    }

    /// Seconds in which inputs and results are moved: none on CPUs, whose memory holds them; `None` if that
    /// was not timed.
    pub fn transfer_seconds(&self) -> Option<f64> {
        match self.case.place().0 {
            "cuda" => self.transfer(Transfer::seconds),
            _ => Some(0.0),
        }
    }

    /// Floating-point operations for each element; `None` if the primitive counts none.
    fn flops_per_element(&self) -> Option<u64> {
        primitives::find(&self.case.primitive)?.flops_per_element()
    }

    /// The quantity that corresponds to this time per execution.
    pub fn quantity_at(&self, quantity: Quantity, seconds: f64) -> Option<f64> {
        let work = self.work.as_ref()?;
        if seconds <= 0.0 {
            return None;
        }
        Some(match quantity {
            Quantity::Bandwidth => work.effective_bytes as f64 / seconds / 1e9,
            Quantity::SystemBandwidth => work.system_bytes as f64 / seconds / 1e9,
            Quantity::Time => seconds,
            Quantity::TimeWithTransfer => seconds + self.transfer_seconds()?,
            Quantity::Throughput => work.elements as f64 / seconds,
            Quantity::Flops | Quantity::FlopsWithTransfer => {
                let transfers = if quantity.with_transfer() { self.transfer_seconds()? } else { 0.0 };
                (self.flops_per_element()? * work.elements) as f64 / (seconds + transfers)
            }
        })
    }

    /// The quantity at the median time; `None` for a case without a valid result.
    pub fn quantity(&self, quantity: Quantity) -> Option<f64> {
        self.quantity_at(quantity, self.statistics.as_ref()?.median)
    }

    /// What a chart draws of the case; `None` for a case without a valid result.
    pub fn drawn(&self, chart: &Chart) -> Option<f64> {
        self.quantity_at(chart.y, self.statistics.as_ref()?.time(chart.statistic))
    }

    /// A model's forecast of the case.
    pub fn forecast(&self, model: &str) -> Option<&Forecast> {
        self.forecasts.iter().find(|forecast| forecast.model == model)
    }

    /// A model's prediction, where it has one.
    pub fn prediction(&self, model: &str) -> Option<&Prediction> {
        self.forecast(model)?.outcome.as_ref().ok()
    }

    /// The accuracy of a model's prediction of the median time, 1 − |v − v'| / v; `None` for a case without a
    /// valid result.
    pub fn accuracy(&self, model: &str) -> Option<f64> {
        let measured = self.statistics.as_ref()?.median;
        let accuracy = accuracy(measured, self.prediction(model)?.seconds);
        accuracy.is_finite().then_some(accuracy)
    }
}
