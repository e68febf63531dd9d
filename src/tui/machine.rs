//! The machine during the newest rounds. The state comes from events alone, so the machine may be remote, or
//! that of a stored run.

use crate::case::{Availability, Device};
use crate::stats::noise::{Conditions, GpuConditions};

/// The devices and their newest conditions.
#[derive(Clone, Debug, Default)]
pub struct Machine {
    /// The devices that the engine announced.
    pub devices: Vec<Device>,
    /// Conditions of the newest round. What it does not report stems from an older one: rounds of a GPU have no `clock`,
    /// and short rounds no load.
    pub newest: Conditions,
}

impl Machine {
    /// Records the conditions of a finished round.
    pub fn measured(&mut self, conditions: &Conditions) {
        let before = std::mem::replace(&mut self.newest, conditions.clone());
        let newest = &mut self.newest;
        newest.clock = newest.clock.or(before.clock);
        newest.steal = newest.steal.or(before.steal);
        newest.background = newest.background.or(before.background);
        newest.gpu = newest.gpu.take().or(before.gpu);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_short_round_cannot_tell_is_that_of_an_older_one() {
        let mut machine = Machine::default();
        machine.measured(&Conditions {
            steal: Some(0.05),
            background: Some(0.5),
            clock: Some(3.0),
            ..Conditions::default()
        });
        machine.measured(&Conditions { clock: Some(2.0), ..Conditions::default() });
        let newest = &machine.newest;
        assert_eq!((newest.steal, newest.background, newest.clock), (Some(0.05), Some(0.5), Some(2.0)));
        machine.measured(&Conditions { background: Some(0.0), ..Conditions::default() });
        assert_eq!((machine.newest.background, machine.newest.clock), (Some(0.0), Some(2.0)));
    }
}
