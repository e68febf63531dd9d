//! The machine during the newest rounds. The state comes from events alone, so the machine may be remote, or
//! that of a stored run.

use crate::case::{Availability, Device};
use crate::stats::noise::{Conditions, GpuConditions};

/// The devices and their newest conditions.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The devices that the engine announced.
    pub devices: Vec<Device>,
    /// Conditions of the newest round. `clock` may stem from an older round, because rounds of a GPU do not
    /// report it.
    pub newest: Conditions,
}

impl Machine {
    /// Records the conditions of a finished round.
    pub fn measured(&mut self, conditions: &Conditions) {
        let before = std::mem::replace(&mut self.newest, conditions.clone());
        if conditions.gpu.is_some() {
            self.newest.clock = before.clock;
        } else {
            self.newest.gpu = before.gpu;
        }
    }

    /// The name of the available GPU, if there is one.
    pub fn gpu(&self) -> Option<&str> {
        let found =
            self.devices.iter().find(|d| d.backend == "cuda" && d.availability == Availability::Available);
        found.map(|device| device.name.as_str())
    }

    /// The newest conditions of the GPU, if there is one.
    pub fn gpu_conditions(&self) -> Option<GpuConditions> {
        let nothing = self.gpu().map(|_| GpuConditions::default());
        self.newest.gpu.clone().or(nothing)
    }
}
