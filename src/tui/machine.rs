//! The machine as the newest rounds saw it: from the events alone, so that it may be
//! elsewhere, or a stored one.

use crate::case::{Availability, Device};
use crate::stats::noise::{Conditions, GpuConditions};

/// What the engine has said of its devices.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// As the engine introduced them.
    pub devices: Vec<Device>,
    /// Around the newest round: `clock` may be an older one's, because a GPU's rounds have none.
    pub newest: Conditions,
}

impl Machine {
    /// A round is over.
    pub fn measured(&mut self, conditions: &Conditions) {
        let before = std::mem::replace(&mut self.newest, conditions.clone());
        if conditions.gpu.is_some() {
            self.newest.clock = before.clock;
        } else {
            self.newest.gpu = before.gpu;
        }
    }

    /// The name of the GPU; `None` where there is none.
    pub fn gpu(&self) -> Option<&str> {
        let found =
            self.devices.iter().find(|d| d.backend == "cuda" && d.availability == Availability::Available);
        found.map(|device| device.name.as_str())
    }

    /// What the GPU did; `None` where there is none.
    pub fn gpu_conditions(&self) -> Option<GpuConditions> {
        let nothing = self.gpu().map(|_| GpuConditions::default());
        self.newest.gpu.clone().or(nothing)
    }
}
