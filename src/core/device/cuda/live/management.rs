//! NVIDIA's management library (NVML): facts that the CUDA driver API does not provide. It is loaded at run time and
//! may be missing.

use std::time::Instant;

use nvml_wrapper::bitmasks::device::ThrottleReasons;
use nvml_wrapper::enum_wrappers::device::{Clock, PerformancePolicy, TemperatureSensor};
use nvml_wrapper::{Device, Nvml};

use crate::device::cuda::ManagedFacts;
use crate::stats::noise::{GpuConditions, GpuCounters};

/// The library, and the device used by CUDA.
pub(super) struct Management {
    nvml: Nvml,
    /// PCI bus id of the device. CUDA numbers devices in its own order and may hide some, so only the bus id
    /// identifies a device to both libraries. Under MIG it is the id of the whole GPU.
    bus_id: String,
    /// `GPU-` or `MIG-` followed by the UUID, if the driver reports one.
    uuid: Option<String>,
}

/// Throttle reasons in words. Without idleness, which is no slowdown, and application clocks, which are a fact of the
/// device.
const REASONS: [(ThrottleReasons, &str); 6] = [
    (ThrottleReasons::SW_POWER_CAP, "power cap"),
    (ThrottleReasons::HW_SLOWDOWN, "hardware slowdown"),
    (ThrottleReasons::SYNC_BOOST, "sync boost"),
    (ThrottleReasons::SW_THERMAL_SLOWDOWN, "thermal slowdown"),
    (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hardware thermal slowdown"),
    (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
];

/// Policies whose throttling time NVML counts; in the words of [`REASONS`] where the meaning is the same.
const POLICIES: [(PerformancePolicy, &str); 5] = [
    (PerformancePolicy::Power, "power cap"),
    (PerformancePolicy::Thermal, "thermal slowdown"),
    (PerformancePolicy::SyncBoost, "sync boost"),
    (PerformancePolicy::BoardLimit, "board limit"),
    (PerformancePolicy::Reliability, "reliability"),
];

impl Management {
    /// Opens the device with this PCI bus id, or its MIG instance with this UUID; `None` without the library or
    /// the device.
    pub fn open(bus_id: &str, uuid: Option<String>) -> Option<Management> {
        let nvml = Nvml::init().ok()?;
        nvml.device_by_pci_bus_id(bus_id).ok()?;
        let uuid = uuid.map(|uuid| {
            let instance = format!("MIG-{uuid}");
            if nvml.device_by_uuid(instance.as_str()).is_ok() { instance } else { format!("GPU-{uuid}") }
        });
        Some(Management { nvml, bus_id: bus_id.to_owned(), uuid })
    }

    /// The MIG instance that CUDA sees, if there is one.
    fn instance(&self) -> Option<Device<'_>> {
        let uuid = self.uuid.as_deref().filter(|uuid| uuid.starts_with("MIG-"))?;
        self.nvml.device_by_uuid(uuid).ok()
    }

    /// Constant facts: clocks in MHz, power in mW, modes. Those that NVML does not report are missing.
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
            instance: self.instance().and_then(|instance| instance.name().ok()),
            uuid: self.uuid.clone(),
            persistence: device.is_in_persistent_mode().ok(),
            vbios: device.vbios_version().ok(),
        }
    }

    /// The current conditions of the device.
    pub fn conditions(&self) -> GpuConditions {
        let Ok(device) = self.nvml.device_by_pci_bus_id(self.bus_id.as_str()) else {
            return GpuConditions::default();
        };
        // Start with the values that change first once the device is idle.
        let throttle = device.current_throttle_reasons().map(words).unwrap_or_default();
        let (sm_clock, memory_clock) =
            (device.clock_info(Clock::SM).ok(), device.clock_info(Clock::Memory).ok());
        let power = device.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3);
        let temperature = device.temperature(TemperatureSensor::Gpu).ok();
        let memory = self.instance().as_ref().unwrap_or(&device).memory_info().ok();
        let (memory_used, memory_total) = (memory.as_ref().map(|m| m.used), memory.as_ref().map(|m| m.total));
        let counters = counters(&device);
        GpuConditions {
            sm_clock,
            memory_clock,
            power,
            temperature,
            memory_used,
            memory_total,
            throttle,
            counters,
        }
    }
}

/// Counters accumulated since the driver was loaded.
fn counters(device: &Device) -> GpuCounters {
    let energy = device.total_energy_consumption().ok();
    let held = |(policy, word): (PerformancePolicy, &'static str)| {
        Some((word, device.violation_status(policy).ok()?.violation_time))
    };
    GpuCounters { at: Some(Instant::now()), energy, held: POLICIES.into_iter().filter_map(held).collect() }
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
        assert!(Management::open("FFFFFFFF:FF:1F.0", None).is_none());
    }
}
