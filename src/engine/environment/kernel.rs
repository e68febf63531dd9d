//! The kernel: load, clock, mitigations, priorities.

use super::fact;
use super::source::{Fact, System};

const VULNERABILITIES: &str = "sys/devices/system/cpu/vulnerabilities";

pub fn facts(system: &System) -> Vec<Fact> {
    let facts = [
        fact("load average", load(system)),
        fact("nice", nice()),
        fact("clock source", clock_source(system)),
        fact("mitigations asked for", option(system, "mitigations")),
        fact("mitigations", mitigations(system)),
    ];
    facts.into_iter().flatten().collect()
}

/// The kernel's clock source.
pub fn clock_source(system: &System) -> Option<String> {
    system.text("sys/devices/system/clocksource/clocksource0/current_clocksource")
}

/// Load averages over 1, 5 and 15 minutes at the engine's start.
pub fn load(system: &System) -> Option<String> {
    let text = system.text("proc/loadavg")?;
    let averages: Vec<&str> = text.split_whitespace().take(3).collect();
    (averages.len() == 3).then(|| averages.join(" "))
}

/// An option on the kernel's command line; the rest of that line is private.
fn option(system: &System, name: &str) -> Option<String> {
    let line = system.text("proc/cmdline")?;
    let mut words = line.split_whitespace().filter_map(|word| word.split_once('='));
    words.find(|(key, _)| *key == name).map(|(_, value)| value.to_owned())
}

/// CPU vulnerabilities that are mitigated by the kernel, each at a cost, and those that remain.
fn mitigations(system: &System) -> Option<String> {
    let known = system.names(VULNERABILITIES);
    let state = |name: &String| system.text(&format!("{VULNERABILITIES}/{name}"));
    let starting = |word: &str| -> Vec<&str> {
        let such = |name: &&String| state(name).is_some_and(|text| text.starts_with(word));
        known.iter().filter(such).map(String::as_str).collect()
    };
    let parts = [("mitigated", starting("Mitigation")), ("vulnerable", starting("Vulnerable"))];
    let words: Vec<String> = (parts.iter().filter(|(_, names)| !names.is_empty()))
        .map(|(word, names)| format!("{word}: {}", names.join(" ")))
        .collect();
    (!known.is_empty()).then(|| if words.is_empty() { "none needed".to_owned() } else { words.join("; ") })
}

/// The nice value of this process, usually 0.
fn nice() -> Option<String> {
    // SAFETY: a plain query without pointers. An error is indistinguishable from priority −1, which only
    // privileged processes can have; both are too rare to tell apart.
    Some(unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) }.to_string())
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

    #[test]
    fn mitigations_are_summed_up() {
        let (_root, system) = files(&[
            ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
            ("sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation; usercopy barriers\n"),
            ("sys/devices/system/cpu/vulnerabilities/spectre_v2", "Mitigation; Retpolines\n"),
            ("sys/devices/system/cpu/vulnerabilities/srso", "Vulnerable: Safe RET, no microcode\n"),
            ("proc/cmdline", "root=/dev/secret quiet mitigations=auto,nosmt\n"),
            ("proc/loadavg", "2.70 1.43 0.95 3/103 21104\n"),
        ]);
        assert_eq!(
            mitigations(&system).as_deref(),
            Some("mitigated: spectre_v1 spectre_v2; vulnerable: srso")
        );
        assert_eq!(option(&system, "mitigations").as_deref(), Some("auto,nosmt"));
        assert_eq!(load(&system).as_deref(), Some("2.70 1.43 0.95"));
        let (_root, system) = files(&[("sys/devices/system/cpu/vulnerabilities/l1tf", "Not affected\n")]);
        assert_eq!(mitigations(&system).as_deref(), Some("none needed"));
    }
}
