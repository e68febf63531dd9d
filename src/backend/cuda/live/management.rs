//! NVIDIA's management library (NVML): what the driver's programming interface does not
//! tell. Loaded at run time; where it is missing, so is what it would have told.

use nvml_wrapper::Nvml;
use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};

use crate::backend::cuda::ManagedFacts;
use crate::measure::noise::GpuConditions;

/// The library, and the device that CUDA uses.
pub(super) struct Management {
    nvml: Nvml,
    /// CUDA numbers devices in an order of its own, and hides some: only the place where
    /// one is plugged in means the same to both. Under MIG that is the whole GPU's.
    bus_id: String,
}

/// What holds clocks down, in words. Not among them: that the GPU has nothing to do, and
/// that somebody set the clocks; the one is no slowdown, the other a fact of the device.
const REASONS: [(ThrottleReasons, &str); 6] = [
    (ThrottleReasons::SW_POWER_CAP, "power cap"),
    (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
    (ThrottleReasons::SYNC_BOOST, "sync boost"),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, "thermal slowdown"),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hardware thermal slowdown"),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
];

impl Management {
    /// Of the device at this PCI bus id; `None` without the library or the device.
    pub fn open(bus_id: &str) -> Option<Management> {
        let nvml = Nvml::init().ok()?;
        nvml.device_by_pci_bus_id(bus_id).ok()?;
        Some(Management { nvml, bus_id: bus_id.to_owned() })
    }

    /// What stays as it is: clocks in MHz, power in mW, modes. What the library does not
    /// tell is missing.
    pub fn facts(&self) -> ManagedFacts {
        let Ok(device) = self.nvml.device_by_pci_bus_id(self.bus_id.as_str()) else {
            return ManagedFacts::default();
        };
        ManagedFacts {
            highest_sm_clock: device.max_clock_info(Clock::SM).ok(),
            highest_memory_clock: device.max_clock_info(Clock::Memory).ok(),
            application_sm_clock: device.applications_clock(Clock::SM).ok(),
            power_limit: device.enforced_power_limit().ok(),
            mig: device.mig_mode().ok().map(|mode| mode.current != 0),
            persistence: device.is_in_persistent_mode().ok(),
            vbios: device.vbios_version().ok(),
        }
    }

    /// The device right now.
    pub fn conditions(&self) -> GpuConditions {
        let Ok(device) = self.nvml.device_by_pci_bus_id(self.bus_id.as_str()) else {
            return GpuConditions::default();
        };
        // First what changes soonest once the device has nothing to do.
        let throttle = device.current_throttle_reasons().map(words).unwrap_or_default();
        let (sm_clock, memory_clock) =
            (device.clock_info(Clock::SM).ok(), device.clock_info(Clock::Memory).ok());
        let power = device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3);
        let temperature = device.temperature(TemperatureSensor::Gpu).ok();
        let memory = device.memory_info().ok();
        let (memory_used, memory_total) = (memory.as_ref().map(|m| m.used), memory.as_ref().map(|m| m.total));
        GpuConditions { sm_clock, memory_clock, power, temperature, memory_used, memory_total, throttle }
    }
}

fn words(reasons: ThrottleReasons) -> Vec<String> {
    let held = REASONS.iter().filter(|(reason, _)| reasons.contains(*reason));
    held.map(|(_, word)| (*word).to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_gpu_and_chosen_clocks_are_no_slowdown() {
        let set = ThrottleReasons::GPU_IDLE | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING;
        assert!(words(set).is_empty());
        assert_eq!(words(set | ThrottleReasons::SW_POWER_CAP), ["power cap"]);
    }

    #[test]
    fn a_missing_library_or_device_is_no_error() {
        assert!(Management::open("FFFFFFFF:FF:1F.0").is_none());
    }
}
