//! Performance models: they predict the time of a case from the measured characteristics of a device
//! ([`Profile`]) and what the case declares before it runs ([`Work`](crate::case::Work), and on-chip work on GPUs). No model sees a
//! measurement of the case, and none has a table by primitive, pattern or size. Pure, except that `profiles`
//! reads and writes files.

pub mod calibrate;
pub mod choose;
mod curve;
mod device_profile;
pub mod he2007;
mod prediction;
mod profile;
pub mod profiles;
pub mod sector;
#[cfg(test)]
mod tests;

pub use curve::Curve;
#[cfg(test)]
pub(crate) use device_profile::tests::profile as held_fixture;
pub use device_profile::{DEFAULT_MODEL, DeviceProfile, Forecast, Profiles};
pub use prediction::{Model, Prediction, accuracy};
pub use profile::{Cache, Device, He2007, Made, Moves, Profile, Random, Rates, SCHEMA, Start, Strided};

use he2007::He2007Model;
use sector::Sector;

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
    shipped_text(name).and_then(|text| serde_yaml::from_str(text).ok())
}
