//! The environment of an engine, read from the operating system: everything that could explain a difference
//! between two runs.

pub(crate) mod kernel;
mod memory;
pub(crate) mod processors;
pub(crate) mod source;
mod topology;
pub(crate) mod virtualisation;

use self::source::{Fact, System};
use super::protocol::Environment;
use crate::device::cpu::{self, affinity, memory as cpu_memory};
use crate::files;

/// Names of facts that other modules look up, and of facts that hold only momentarily.
pub mod fact_names {
    /// State of the hardware prefetchers: `on`, `off`, the list of those that are off, or `n/a: reason`.
    pub const PREFETCHERS: &str = "prefetchers";

    /// Words in the names of facts that change from minute to minute. Their effect on a case is recorded in the
    /// conditions of its rounds.
    const FLEETING: [&str; 5] = ["available", "free", "load", "swap", "uptime"];

    /// True of a fact about the moment and not the machine, such as `load average` or `swap`.
    pub fn is_fleeting(name: &str) -> bool {
        name.split_whitespace().any(|word| FLEETING.contains(&word.to_lowercase().as_str()))
    }
}

/// Reads the environment; facts that the system does not provide stay empty or missing.
pub fn read() -> Environment {
    let system = System::here();
    let affinity = affinity::allowed();
    Environment {
        host: host(),
        os: os_name(),
        kernel: text("/proc/sys/kernel/osrelease"),
        cpu: cpu::cpuinfo("model name").unwrap_or_default(),
        memory: cpu_memory::total().unwrap_or(0),
        transparent_huge_pages: huge_pages(&system),
        facts: facts_of(&system, &affinity),
        affinity,
    }
}

/// Name of the machine.
pub(crate) fn host() -> String {
    text("/proc/sys/kernel/hostname")
}

/// The setting of transparent huge pages: `always`, `madvise` or `never`.
pub(crate) fn huge_pages(system: &System) -> Option<String> {
    system.chosen("sys/kernel/mm/transparent_hugepage/enabled")
}

/// All facts, in display order.
fn facts_of(system: &System, cpus: &[usize]) -> Vec<(String, String)> {
    let all = [
        topology::facts(system, cpus),
        processors::facts(system, cpus),
        memory::facts(system),
        kernel::facts(system),
        virtualisation::facts(system),
        virtualisation::container_facts(system),
    ];
    all.into_iter().flatten().map(|(name, value)| (name.into_owned(), value)).collect()
}

fn text(path: &str) -> String {
    files::system(path).map(|t| t.trim().to_owned()).unwrap_or_default()
}

fn os_name() -> String {
    text("/etc/os-release")
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned())
}

/// A fact that may be missing.
fn fact(name: &'static str, value: Option<String>) -> Option<Fact> {
    Some((name.into(), value?))
}

#[cfg(test)]
mod tests {
    use super::fact_names::is_fleeting;
    use super::*;

    #[test]
    fn this_machine_has_at_least_one_cpu() {
        let environment = read();
        assert!(cfg!(not(target_os = "linux")) || !environment.affinity.is_empty());
        assert!(cfg!(not(target_os = "linux")) || environment.memory > 0);
    }

    #[test]
    fn every_fact_has_one_name_and_a_value() {
        let facts = read().facts;
        for (at, (name, value)) in facts.iter().enumerate() {
            assert!(!name.is_empty() && !value.is_empty(), "{name}: {value}");
            assert!(facts[..at].iter().all(|(other, _)| other != name), "{name} stands there twice");
        }
    }

    #[test]
    fn a_system_that_tells_nothing_has_no_facts_of_files() {
        let nothing = tempfile::tempdir().expect("a folder");
        let names: Vec<String> =
            facts_of(&System::under(nothing.path()), &[0]).into_iter().map(|(name, _)| name).collect();
        let asked = ["page size", "memlock limit", "nice", "hypervisor"];
        assert!(names.iter().all(|name| asked.contains(&name.as_str())), "{names:?}");
    }

    #[test]
    fn whole_words_tell_what_is_of_the_moment() {
        for name in ["load average", "swap", "Free memory", "uptime"] {
            assert!(is_fleeting(name), "{name}");
        }
        assert!(!["boost", "overload policy", "freeze"].into_iter().any(is_fleeting));
    }
}
