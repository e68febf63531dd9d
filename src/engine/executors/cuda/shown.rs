//! A GPU's facts, formatted for display.

use crate::case::units;
use crate::device::cuda::{GpuFacts, ManagedFacts};

/// The known facts of a device, in display order.
pub fn shown(gpu: &GpuFacts, free: Option<u64>) -> Vec<(String, String)> {
    let (major, minor) = gpu.compute_capability;
    let (cuda_major, cuda_minor) = gpu.driver_cuda;
    let release = gpu.driver_release.as_deref().map(|release| format!("{release}, "));
    let ecc = gpu.ecc.map(|on| if on { "on" } else { "off" });
    let clock = gpu.memory_clock_khz.map(|khz| format!("{} MHz", khz / 1000));
    let all = [
        ("SMs", Some(gpu.sms.to_string())),
        ("L2", Some(units::fmt_bytes(gpu.l2_bytes))),
        ("memory", Some(units::fmt_bytes(gpu.memory))),
        ("free", free.map(units::fmt_bytes)),
        ("compute capability", Some(format!("{major}.{minor}"))),
        ("driver", Some(format!("{}CUDA {cuda_major}.{cuda_minor}", release.unwrap_or_default()))),
        ("ECC", ecc.map(str::to_owned)),
        ("memory clock", clock),
        ("memory bus", gpu.memory_bus_bits.map(|bits| format!("{bits} bit"))),
        ("PCI bus id", gpu.pci_bus_id.clone()),
        ("UUID", gpu.managed.uuid.clone().or_else(|| gpu.uuid.clone())),
    ];
    let managed = managed(&gpu.managed).into_iter();
    all.into_iter().chain(managed).filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
}

/// Facts available only from the management library.
fn managed(facts: &ManagedFacts) -> [(&'static str, Option<String>); 8] {
    let megahertz = |clock: Option<u32>| clock.map(|mhz| format!("{mhz} MHz"));
    let switch = |on: Option<bool>| on.map(|on| if on { "on" } else { "off" }.to_owned());
    [
        ("highest SM clock", megahertz(facts.highest_sm_clock)),
        ("highest memory clock", megahertz(facts.highest_memory_clock)),
        ("application SM clock", megahertz(facts.application_sm_clock)),
        ("power limit", facts.power_limit.map(|milliwatts| format!("{} W", milliwatts / 1000))),
        ("MIG", switch(facts.mig)),
        ("MIG instance", facts.instance.clone()),
        ("persistence", switch(facts.persistence)),
        ("VBIOS", facts.vbios.clone()),
    ]
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn h200() -> GpuFacts {
        GpuFacts {
            name: "NVIDIA H200".into(),
            sms: 132,
            l2_bytes: 60 << 20,
            persisting_l2: 0,
            policy_window: 0,
            memory: 140 << 30,
            shared_per_block: 227 << 10,
            shared_per_sm: 228 << 10,
            threads_per_sm: 2048,
            compute_capability: (9, 0),
            driver_cuda: (13, 0),
            driver_release: Some("580.65.06".into()),
            ecc: Some(true),
            memory_clock_khz: None,
            memory_bus_bits: Some(6144),
            pci_bus_id: Some("00000000:19:00.0".into()),
            uuid: Some("00102030-4050-6070-8090-a0b0c0d0e0f0".into()),
            managed: ManagedFacts {
                highest_sm_clock: Some(1980),
                power_limit: Some(700_000),
                mig: Some(false),
                ..ManagedFacts::default()
            },
        }
    }

    #[test]
    fn shows_what_the_driver_tells_and_nothing_else() {
        let facts = shown(&h200(), Some(139 << 30));
        let value = |name| facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        assert_eq!(value("driver"), Some("580.65.06, CUDA 13.0"));
        assert_eq!(value("L2"), Some("60.0 MiB"));
        assert_eq!(value("memory bus"), Some("6144 bit"));
        assert_eq!(value("memory clock"), None);
        assert_eq!(value("highest SM clock"), Some("1980 MHz"));
        assert_eq!(value("power limit"), Some("700 W"));
        assert_eq!((value("MIG"), value("persistence")), (Some("off"), None));
        assert_eq!(value("UUID"), Some("00102030-4050-6070-8090-a0b0c0d0e0f0"));
    }
}
