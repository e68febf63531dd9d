//! What a model says of a case, which cases no model covers, and how far a prediction was off.

use super::Profile;
use crate::case::gpus::Gpus;
use crate::case::{Case, Work};

/// A model's prediction for a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// Name of the model: `he2007`, `sector`.
    pub model: &'static str,
    /// Predicted seconds of one execution.
    pub seconds: f64,
    /// The limit of the execution: the name of the largest of `terms`.
    pub limit: &'static str,
    /// The model's parts, such as transfers from memory or a launch, by name, with the seconds of each alone.
    pub terms: Vec<(&'static str, f64)>,
}

impl Prediction {
    /// A prediction whose `limit` is the largest of `terms`.
    pub fn of(model: &'static str, seconds: f64, terms: Vec<(&'static str, f64)>) -> Prediction {
        let largest = terms.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let limit = largest.map_or("nothing", |(name, _)| name);
        Prediction { model, seconds, limit, terms }
    }
}

/// A performance model.
pub trait Model: Sync {
    /// The name in recipes, columns and commands.
    fn name(&self) -> &'static str;

    /// Predicts one execution of a case that does `work` on the case's backend.
    ///
    /// # Errors
    /// The reason why there is no prediction, without the leading `n/a: `: the profile lacks a figure, or the
    /// model does not cover the case.
    fn predict(&self, profile: &Profile, case: &Case, work: &Work) -> Result<Prediction, String>;
}

/// The model's prediction for a case, checked to be a positive, finite time.
pub(super) fn expected(
    model: &dyn Model,
    profile: &Profile,
    case: &Case,
    work: &Work,
) -> Result<Prediction, String> {
    let prediction = model.predict(profile, case, work)?;
    match prediction.seconds.is_finite() && prediction.seconds > 0.0 {
        true => Ok(prediction),
        false => Err(format!("{} predicts no time", model.name())),
    }
}

/// Accuracy of a predicted time v' of a measured time v, in the same unit: 1 − |v − v'| / v (he2007 §3.5, as
/// corrected by its erratum). 1 is exact; a prediction of more than 2v is negative.
pub fn accuracy(measured: f64, predicted: f64) -> f64 {
    1.0 - (measured - predicted).abs() / measured
}

/// Checks that a profile can cover a case at all: one GPU, and the number of threads of the calibration.
///
/// # Errors
/// The reason, to follow `n/a: `.
pub fn covered(profile: &Profile, case: &Case) -> Result<(), String> {
    if Gpus::of(&case.params).several() {
        return Err("a profile covers a single GPU".to_owned());
    }
    let known = profile.rates.get(case.place().0).and_then(|rates| rates.threads);
    match (case.params.int("backend.cpu.threads"), known) {
        (Some(asked), Some(known)) if asked != known => {
            Err(format!("the profile {} is of {known} threads, not of {asked}", profile.name))
        }
        _ => Ok(()),
    }
}
