//! Where the records of a report come from.

use crate::case::Device;
use crate::engine::protocol::Environment;
use crate::recipe::plan::Plan;
use crate::run::layout::Manifest;

/// Origin of a report's records.
#[derive(Clone, Copy, Debug)]
pub struct Origin<'a> {
    pub plan: &'a Plan,
    /// Version of scatterlab that measured.
    pub version: &'a str,
    /// Start time of the run, printed as it is.
    pub date: &'a str,
    pub environment: &'a Environment,
    pub devices: &'a [Device],
}

impl<'a> From<&'a Manifest> for Origin<'a> {
    fn from(manifest: &'a Manifest) -> Origin<'a> {
        Origin {
            plan: &manifest.plan,
            version: &manifest.version,
            date: &manifest.started,
            environment: &manifest.environment,
            devices: &manifest.devices,
        }
    }
}
