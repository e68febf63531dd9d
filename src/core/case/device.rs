//! Devices and their availability.

use serde::{Deserialize, Serialize};

/// A device that is usable here, or the reason why it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Available,
    Unavailable { reason: String },
}

/// A device of a backend, for `devices`, records and captions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// `scalar`, `cpu` or `cuda`.
    pub backend: String,
    /// Marketing name: `AMD EPYC …`, `NVIDIA H200`. Empty when unavailable.
    pub name: String,
    /// Facts in display order: threads, isa, caches; SMs, L2, driver …
    pub facts: Vec<(String, String)>,
    /// Memory available to a case when the device was queried, bytes.
    pub memory: Option<u64>,
    pub availability: Availability,
}
