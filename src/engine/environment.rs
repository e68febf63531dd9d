//! What the engine's machine is, read from the operating system.

use std::fs;

use super::protocol::Environment;
use crate::backend::cpu::{affinity, facts, memory};

/// Reads the environment; what the system does not tell stays empty or missing.
pub fn read() -> Environment {
    Environment {
        host: text("/proc/sys/kernel/hostname"),
        os: os_name(),
        kernel: text("/proc/sys/kernel/osrelease"),
        cpu: facts::cpuinfo("model name").unwrap_or_default(),
        affinity: affinity::allowed(),
        memory: memory::total().unwrap_or(0),
        transparent_huge_pages: bracketed(&text("/sys/kernel/mm/transparent_hugepage/enabled")),
        facts: Vec::new(),
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).map(|t| t.trim().to_owned()).unwrap_or_default()
}

fn os_name() -> String {
    text("/etc/os-release")
        .lines()
        .find_map(|line| line.strip_prefix("PRETTY_NAME="))
        .map_or_else(|| std::env::consts::OS.to_owned(), |name| name.trim_matches('"').to_owned())
}

/// The chosen word of a list such as `always [madvise] never`.
fn bracketed(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_word_stands_in_brackets() {
        assert_eq!(bracketed("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(bracketed(""), None);
    }

    #[test]
    fn this_machine_has_at_least_one_cpu() {
        let environment = read();
        assert!(cfg!(not(target_os = "linux")) || !environment.affinity.is_empty());
        assert!(cfg!(not(target_os = "linux")) || environment.memory > 0);
    }
}
