//! What the engine's machine is, read from the operating system.

use std::fs;

use super::protocol::Environment;

/// Reads the environment; what the system does not tell stays empty or missing.
pub fn read() -> Environment {
    Environment {
        host: text("/proc/sys/kernel/hostname"),
        os: os_name(),
        kernel: text("/proc/sys/kernel/osrelease"),
        cpu: field("/proc/cpuinfo", "model name").unwrap_or_default(),
        affinity: affinity(),
        memory: field("/proc/meminfo", "MemTotal").map_or(0, |kib| kibibytes(&kib)),
        transparent_huge_pages: bracketed(&text("/sys/kernel/mm/transparent_hugepage/enabled")),
    }
}

fn text(path: &str) -> String {
    fs::read_to_string(path).map(|t| t.trim().to_owned()).unwrap_or_default()
}

/// The value after `name` and a colon, as `/proc` writes its tables.
fn field(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    text.lines()
        .filter_map(|line| line.split_once(':'))
        .find(|(key, _)| key.trim() == name)
        .map(|(_, value)| value.trim().to_owned())
}

fn kibibytes(text: &str) -> u64 {
    text.trim_end_matches("kB").trim().parse::<u64>().map_or(0, |kib| kib * 1024)
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

#[cfg(target_os = "linux")]
fn affinity() -> Vec<usize> {
    // SAFETY: the set is plain bits, filled by the call, whose size is the set's own.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return Vec::new();
        }
        set
    };
    // SAFETY: every index is below the set's size.
    (0..libc::CPU_SETSIZE as usize).filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) }).collect()
}

#[cfg(not(target_os = "linux"))]
fn affinity() -> Vec<usize> {
    Vec::new()
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
