//! Hypervisor and machine type.

use super::fact;
use super::source::{Fact, System};

const DMI: &str = "sys/class/dmi/id";

pub fn facts(system: &System) -> Vec<Fact> {
    let facts = [fact("hypervisor", hypervisor(system)), fact("machine", machine(system))];
    facts.into_iter().flatten().collect()
}

/// The hypervisor's name, or `unknown` if only its presence is visible; `None` on bare metal or without any
/// hint.
pub fn hypervisor(system: &System) -> Option<String> {
    let flags = system.field("proc/cpuinfo", "flags").unwrap_or_default();
    let there = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let named = system.text("sys/hypervisor/type").or_else(signature);
    named.or_else(|| there.then(|| "unknown".to_owned()))
}

/// Vendor and product: a board, or a cloud's instance type.
pub fn machine(system: &System) -> Option<String> {
    let words = ["sys_vendor", "product_name"].map(|name| system.text(&format!("{DMI}/{name}")));
    let words: Vec<String> = words.into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// The signature in the CPUID leaf reserved for hypervisors: `KVMKVMKVM`, `Microsoft Hv`, `VMwareVMware` …
#[cfg(target_arch = "x86_64")]
fn signature() -> Option<String> {
    use std::arch::x86_64::__cpuid;
    const PRESENT: u32 = 1 << 31;
    if __cpuid(1).ecx & PRESENT == 0 {
        return None;
    }
    let leaf = __cpuid(0x4000_0000);
    let bytes: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].into_iter().flat_map(u32::to_le_bytes).collect();
    let text: String = bytes.into_iter().map(char::from).filter(char::is_ascii_graphic).collect();
    (!text.is_empty()).then_some(text)
}

#[cfg(not(target_arch = "x86_64"))]
fn signature() -> Option<String> {
    None
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

    #[test]
    fn the_system_names_its_hypervisor_and_its_maker() {
        let (_root, system) = files(&[
            ("sys/hypervisor/type", "xen\n"),
            ("sys/class/dmi/id/sys_vendor", "Amazon EC2\n"),
            ("sys/class/dmi/id/product_name", "m5.large\n"),
        ]);
        let expected = [("hypervisor", "xen"), ("machine", "Amazon EC2 m5.large")];
        assert_eq!(facts(&system), expected.map(|(name, value)| (name.into(), value.to_owned())));
    }
}
