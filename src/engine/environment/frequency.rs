//! CPU frequency and idle-state settings.

use super::fact;
use super::source::{Fact, System, distinct};

const CPUS: &str = "sys/devices/system/cpu";

/// Facts about these CPUs as governed by the kernel; most virtual machines expose none.
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
}
