//! Settings of the CPUs: their frequency and idle states, and the hardware prefetchers (lavin2020 §5.1.1). All are read and
//! never changed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::fact;
use super::fact_names::PREFETCHERS;
use super::source::{Fact, System, distinct};

const CPUS: &str = "sys/devices/system/cpu";

/// Intel's MISC_FEATURE_CONTROL, one per core: a set bit disables a prefetcher.
const MSR: u64 = 0x1a4;
const PREFETCHER_BITS: [&str; 4] = ["L2 stream", "L2 adjacent line", "L1 stream", "L1 by instruction"];

/// Facts about these CPUs; most virtual machines expose none of the kernel's settings.
pub fn facts(system: &System, cpus: &[usize]) -> Vec<Fact> {
    let each = |name: &str| distinct(each(system, cpus, name));
    let megahertz = |name: &str| {
        let paths = cpus.iter().map(|cpu| format!("{CPUS}/cpu{cpu}/cpufreq/{name}"));
        let limits = paths.filter_map(|path| system.number(&path));
        distinct(limits.map(|khz| format!("{} MHz", khz / 1000)))
    };
    let facts = [
        fact("governor", each("scaling_governor")),
        fact("frequency driver", each("scaling_driver")),
        fact("energy preference", each("energy_performance_preference")),
        fact("lowest frequency", megahertz("cpuinfo_min_freq")),
        fact("highest frequency", megahertz("cpuinfo_max_freq")),
        fact("frequency held above", megahertz("scaling_min_freq")),
        fact("frequency held below", megahertz("scaling_max_freq")),
        fact("boost", boost(system).map(|on| if on { "on" } else { "off" }.to_owned())),
        fact("idle driver", system.text(&format!("{CPUS}/cpuidle/current_driver"))),
        fact("idle governor", system.text(&format!("{CPUS}/cpuidle/current_governor_ro"))),
        fact(PREFETCHERS, prefetchers(system, cpus)),
    ];
    facts.into_iter().flatten().collect()
}

/// The contents of a cpufreq file of each CPU.
fn each(system: &System, cpus: &[usize], name: &str) -> Vec<String> {
    let paths = cpus.iter().map(|cpu| format!("{CPUS}/cpu{cpu}/cpufreq/{name}"));
    paths.filter_map(|path| system.text(&path)).collect()
}

/// The governor of each of these CPUs that has one.
pub fn governors(system: &System, cpus: &[usize]) -> Vec<String> {
    each(system, cpus, "scaling_governor")
}

/// Whether CPUs may exceed their nominal frequency. Intel's driver exposes the inverted `no_turbo` instead.
pub fn boost(system: &System) -> Option<bool> {
    let on = system.number(&format!("{CPUS}/cpufreq/boost")).map(|on| on > 0);
    let off = || system.number(&format!("{CPUS}/intel_pstate/no_turbo")).map(|off| off == 0);
    on.or_else(off)
}

/// The state of the prefetchers of these CPUs; `None` if the vendor is unknown.
fn prefetchers(system: &System, cpus: &[usize]) -> Option<String> {
    match system.field("proc/cpuinfo", "vendor_id").as_deref() {
        Some("GenuineIntel") => distinct(cpus.iter().map(|cpu| prefetchers_of(system, *cpu))),
        Some(other) => Some(format!("n/a: {other} has no MSR {MSR:#x}")),
        None => None,
    }
}

/// The state of a CPU's prefetchers, or why it cannot be read.
fn prefetchers_of(system: &System, cpu: usize) -> String {
    match msr(system, cpu) {
        Ok(word) => enabled(word),
        Err(error) => format!("n/a: cannot read MSR {MSR:#x}: {}", error.kind()),
    }
}

fn msr(system: &System, cpu: usize) -> io::Result<u64> {
    let mut bytes = [0; 8];
    #[expect(clippy::disallowed_methods, reason = "model-specific registers are a device")]
    File::open(system.path(&format!("dev/cpu/{cpu}/msr")))?.read_exact_at(&mut bytes, MSR)?;
    Ok(u64::from_le_bytes(bytes))
}

/// `on`, `off`, or the list of those that are off.
fn enabled(word: u64) -> String {
    let bits = PREFETCHER_BITS.iter().enumerate();
    let off: Vec<&str> = bits.filter(|(bit, _)| word >> bit & 1 == 1).map(|(_, name)| *name).collect();
    match off.len() {
        0 => "on".to_owned(),
        n if n == PREFETCHER_BITS.len() => "off".to_owned(),
        _ => format!("off: {}", off.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

    #[test]
    fn cpus_that_are_governed_alike_are_told_once() {
        let (_root, system) = files(&[
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_governor", "performance\n"),
            ("sys/devices/system/cpu/cpu2/cpufreq/scaling_governor", "powersave\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3500000\n"),
            ("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n"),
        ]);
        let expected = [("governor", "performance"), ("highest frequency", "3500 MHz"), ("boost", "off")];
        assert_eq!(facts(&system, &[0, 1]), expected.map(|(name, value)| (name.into(), value.to_owned())));
        assert_eq!(facts(&system, &[0, 2])[0].1, "performance, powersave");
    }

    fn told(vendor: &str, words: &[u64]) -> Vec<Fact> {
        let (root, system) = files(&[("proc/cpuinfo", &format!("vendor_id\t: {vendor}\n"))]);
        for (cpu, word) in words.iter().enumerate() {
            let path = root.path().join(format!("dev/cpu/{cpu}"));
            std::fs::create_dir_all(&path).expect("a folder");
            let file = File::create(path.join("msr")).expect("a file");
            file.write_all_at(&word.to_le_bytes(), MSR).expect("written");
        }
        facts(&system, &[0, 1])
    }

    #[test]
    fn set_bits_are_prefetchers_that_are_off() {
        let value = |words: &[u64]| told("GenuineIntel", words).remove(0).1;
        assert_eq!(value(&[0, 0]), "on");
        assert_eq!(value(&[0xf, 0xf]), "off");
        assert_eq!(value(&[0b0011, 0]), "off: L2 stream and L2 adjacent line, on");
        assert_eq!(value(&[0]), "on, n/a: cannot read MSR 0x1a4: entity not found");
    }

    #[test]
    fn other_makers_have_no_such_register() {
        assert_eq!(told("AuthenticAMD", &[]).remove(0).1, "n/a: AuthenticAMD has no MSR 0x1a4");
        let (_root, nothing) = files(&[]);
        assert!(facts(&nothing, &[0]).is_empty());
    }
}
