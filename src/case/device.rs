//! Devices, and whether they can be used.

use serde::{Deserialize, Serialize};

/// Whether something can be used here, and if not, why: data, never a panic.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Available,
    Unavailable { reason: String },
}

/// One device of one backend, for `devices`, records and captions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// `scalar`, `cpu` or `cuda`.
    pub backend: String,
    /// Marketing name: `AMD EPYC …`, `NVIDIA H200`. Empty when unavailable.
    pub name: String,
    /// Facts in the order to show them: threads, isa, caches; SMs, L2, driver …
    pub facts: Vec<(String, String)>,
    /// Memory that a case may use, bytes, when the device was looked at.
    pub memory: Option<u64>,
    pub availability: Availability,
}
