//! Performance models: they predict the time of a case from the measured characteristics of a device
//! ([`Profile`]) and what the case declares before it runs ([`Work`], and on-chip work on GPUs). No model sees a
//! measurement of the case, and none has a table by primitive, pattern or size. Pure, except that `profiles`
//! reads and writes files.

pub mod calibrate;
pub mod choose;
mod curve;
mod device_profile;
pub mod he2007;
mod profile;
pub mod profiles;
pub mod sector;
#[cfg(test)]
mod tests;

pub use curve::Curve;
#[cfg(test)]
pub(crate) use device_profile::tests::profile as held_fixture;
pub use device_profile::{DEFAULT_MODEL, DeviceProfile, Forecast, Profiles, chooser};
pub use profile::{Cache, Device, He2007, Made, Moves, Profile, Random, Rates, SCHEMA, Start, Strided};

use crate::case::gpus::Gpus;
use crate::case::{Case, Work};
use he2007::He2007Model;
use sector::Sector;

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

/// Every model, in the order of the documentation.
pub fn all() -> &'static [&'static dyn Model] {
    &[&He2007Model::STANDARD, &Sector]
}

/// The model of this name.
pub fn find(name: &str) -> Option<&'static dyn Model> {
    all().iter().copied().find(|model| model.name() == name)
}

/// Files found by the build script: paths in the source tree, and texts.
const FOUND: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/profiles.rs"));

/// The name of each file, without `.yaml`, and its text.
fn texts() -> impl Iterator<Item = (&'static str, &'static str)> {
    let name = |path: &'static str| path.rsplit('/').next()?.strip_suffix(".yaml");
    FOUND.iter().filter_map(move |&(path, text)| Some((name(path)?, text)))
}

/// Names of the shipped profiles.
pub fn shipped() -> impl Iterator<Item = &'static str> {
    texts().map(|(name, _)| name)
}

/// The YAML text of the profile of this name.
pub fn shipped_text(name: &str) -> Option<&'static str> {
    texts().find(|(known, _)| *known == name).map(|(_, text)| text)
}

/// The profile of this name.
pub fn shipped_profile(name: &str) -> Option<Profile> {
    shipped_text(name).and_then(|text| profiles::read(name, text).ok())
}

/// Two processors as `calibrate` measured them, on a machine with much else to do.
#[cfg(test)]
pub(crate) fn processors_fixture() -> Profile {
    let text = include_str!("../../tests/fixtures/profiles/amd-epyc-2cpus.yaml");
    profiles::read("amd-epyc-2cpus.yaml", text).expect("a profile")
}
