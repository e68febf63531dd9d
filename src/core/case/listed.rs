//! Devices and their availability. Those of each backend are numbered from 0 in a list such as a manifest's.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A device that is usable here, or the reason why it is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Availability {
    Available,
    Unavailable { reason: String },
}

/// A device of a backend, for `devices`, records and captions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Device {
    /// A device that cannot be used, for this reason.
    pub fn unavailable(backend: &str, reason: String) -> Device {
        let (backend, availability) = (backend.to_owned(), Availability::Unavailable { reason });
        Device { backend, name: String::new(), facts: Vec::new(), memory: None, availability }
    }

    /// True if cases can run on it.
    pub fn is_available(&self) -> bool {
        self.availability == Availability::Available
    }

    /// Why it cannot be used, if it cannot.
    pub fn reason(&self) -> Option<&str> {
        match &self.availability {
            Availability::Available => None,
            Availability::Unavailable { reason } => Some(reason),
        }
    }

    /// Its name, or `n/a:` and the reason why it cannot be used.
    pub fn name_or_reason(&self) -> String {
        self.reason().map_or_else(|| self.name.clone(), |reason| format!("n/a: {reason}"))
    }
}

/// The device of a backend with this number.
pub fn nth<'a>(devices: &'a [Device], backend: &str, number: usize) -> Option<&'a Device> {
    devices.iter().filter(|device| device.backend == backend).nth(number)
}

/// Each device with its number.
pub fn numbered(devices: &[Device]) -> impl Iterator<Item = (usize, &Device)> {
    let before = |at: usize, backend: &str| devices[..at].iter().filter(|d| d.backend == backend).count();
    devices.iter().enumerate().map(move |(at, device)| (before(at, &device.backend), device))
}

/// `cpu`, or `cuda 1` if the backend has several devices.
pub fn called(devices: &[Device], backend: &str, number: usize) -> String {
    match nth(devices, backend, 1) {
        Some(_) => format!("{backend} {number}"),
        None => backend.to_owned(),
    }
}
