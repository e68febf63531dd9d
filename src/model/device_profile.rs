//! The profile from which a case is predicted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::choose::{choose, expected};
use super::profile::described;
use super::{Model, Prediction, Profile};
use crate::case::{Case, Params, Place, Work};
use crate::primitives;

/// The model that charts show if the recipe names none.
pub const DEFAULT_MODEL: &str = "sector";

/// A profile that an engine found for one of its devices.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeviceProfile {
    /// The backends that run on the device: `cuda`, or `scalar` and `cpu`.
    pub backends: Vec<String>,
    /// The number of the device among those of its backends, from 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub device: u64,
    pub profile: Profile,
    /// Warnings about the profile: that it is old, or made for another device.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notices: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The profiles used for predictions: those given by the user, and those found by engines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profiles {
    given: Vec<Profile>,
    found: Vec<DeviceProfile>,
}

impl Profiles {
    /// Profiles given by the user; the first one that covers a backend is used.
    pub fn given(profiles: Vec<Profile>) -> Profiles {
        Profiles { given: profiles, found: Vec::new() }
    }

    /// A copy in which `profile` takes precedence over all others.
    pub fn instead(&self, profile: Profile) -> Profiles {
        let given = std::iter::once(profile).chain(self.given.iter().cloned()).collect();
        Profiles { given, found: self.found.clone() }
    }

    /// Adds profiles that an engine found, and returns whether any is new. The first profile of a device
    /// stays, so that the basis of a run's predictions does not change while it runs.
    pub fn add(&mut self, found: &[DeviceProfile]) -> bool {
        let before = self.found.len();
        for held in found {
            let known =
                |known: &DeviceProfile| known.backends == held.backends && known.device == held.device;
            if !self.found.iter().any(known) {
                self.found.push(held.clone());
            }
        }
        self.found.len() > before
    }

    /// Predicts from these profiles of devices instead of those found before.
    pub fn replace(&mut self, found: &[DeviceProfile]) {
        for held in found {
            let same = self.found.iter_mut().filter(|known| known.device == held.device);
            same.for_each(|known| known.backends.retain(|backend| !held.backends.contains(backend)));
        }
        self.found.retain(|known| !known.backends.is_empty());
        self.found.extend_from_slice(found);
    }

    /// The profile of a case's device.
    ///
    /// # Errors
    /// The reason why there is none, to follow `n/a: `.
    pub fn of(&self, case: &Case) -> Result<&Profile, String> {
        let (backend, device) = case.place();
        self.at((backend, device)).ok_or_else(|| match device {
            0 => format!("no profile of {backend}"),
            _ => format!("no profile of {backend} {device}"),
        })
    }

    /// The profile of a device, if there is one.
    pub fn at(&self, (backend, device): Place) -> Option<&Profile> {
        let given = self.given.iter().find(|profile| profile.knows(backend));
        let runs =
            |held: &&DeviceProfile| held.device == device && held.backends.iter().any(|b| b == backend);
        given.or_else(|| self.found.iter().find(runs).map(|held| &held.profile))
    }

    /// Every profile, those given by the user first.
    pub fn all(&self) -> impl Iterator<Item = &Profile> {
        self.given.iter().chain(self.found.iter().map(|held| &held.profile))
    }

    /// The forecasts of all models for a case that does `work`.
    pub fn forecasts(&self, case: &Case, work: Option<&Work>) -> Vec<Forecast> {
        let profile = self.of(case);
        let forecast = |model: &&dyn Model| {
            let found = outcome(*model, profile.as_ref().map_err(|why| (*why).clone()), case, work);
            let (chosen, outcome) = match found {
                Ok((chosen, prediction)) => (chosen, Ok(prediction)),
                Err(why) => (None, Err(why)),
            };
            let doubt = profile.as_ref().ok().and_then(|profile| profile.doubt());
            let profile = profile.as_ref().ok().map(|profile| profile.name.clone());
            Forecast { model: model.name(), profile, doubt, chosen, outcome }
        };
        super::all().iter().map(forecast).collect()
    }
}

impl Profile {
    /// Whether the profile has figures of this backend.
    pub fn knows(&self, backend: &str) -> bool {
        self.rates.contains_key(backend) || self.he2007.contains_key(backend)
    }
}

/// The forecast of one model for a case.
#[derive(Clone, Debug, PartialEq)]
pub struct Forecast {
    /// Name of the model.
    pub model: &'static str,
    /// Name of the profile used, if there is one.
    pub profile: Option<String>,
    /// What makes that profile's figures doubtful ([`Profile::doubt`]).
    pub doubt: Option<String>,
    /// For a case whose method is open: the parameters with the chosen method.
    pub chosen: Option<Params>,
    /// The prediction, or the reason why there is none, to follow `n/a: `.
    pub outcome: Result<Prediction, String>,
}

impl Forecast {
    /// The profile, with what makes it doubtful: `amd-epyc-2 (quick, 38 % doubtful)`.
    pub fn source(&self) -> Option<String> {
        Some(described(self.profile.as_ref()?, self.doubt.as_deref()))
    }
}

/// The name of the model that chooses the method of a case that leaves it open.
pub fn chooser(case: &Case) -> &str {
    case.params.text("method.auto.model").unwrap_or(DEFAULT_MODEL)
}

/// A prediction, with the parameters chosen for it.
type Outcome = Result<(Option<Params>, Prediction), String>;

fn outcome(
    model: &dyn Model,
    profile: Result<&&Profile, String>,
    case: &Case,
    work: Option<&Work>,
) -> Outcome {
    if case.peer().is_some() {
        return Err("no prediction: a peer does not say what it accesses".to_owned());
    }
    if let Some(prediction) = chosen(model, &profile, case) {
        return prediction;
    }
    let work = work.ok_or("the case declares no accesses")?;
    Ok((None, expected(model, profile?, case, work)?))
}

/// For a case whose method is open: the method that the choosing model takes, and that model's prediction for
/// it.
fn chosen(model: &dyn Model, profile: &Result<&&Profile, String>, case: &Case) -> Option<Outcome> {
    if primitives::method_candidates(case).is_empty() {
        return None;
    }
    if model.name() != chooser(case) {
        return Some(Err(format!("{} chooses the method", chooser(case))));
    }
    let choice = |profile: &&&Profile| choose(case, profile, model);
    match profile.as_ref().map_err(String::clone).and_then(choice) {
        Ok(Some(choice)) => Some(Ok((Some(choice.params), choice.prediction))),
        Ok(None) => None,
        Err(why) => Some(Err(why)),
    }
}

#[cfg(test)]
pub(crate) mod tests;
