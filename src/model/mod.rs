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
mod registry;
mod scope;
pub mod sector;
mod shipped;
#[cfg(test)]
mod tests;

pub use curve::Curve;
#[cfg(test)]
pub(crate) use device_profile::tests::profile as held_fixture;
pub use device_profile::{DEFAULT_MODEL, DeviceProfile, Forecast, Profiles};
pub use prediction::{Model, Prediction, accuracy};
pub use profile::{Cache, Device, He2007, Made, Moves, Profile, Random, Rates, SCHEMA, Start, Strided};
pub use registry::{all, find};
pub use shipped::{shipped, shipped_profile, shipped_text};
