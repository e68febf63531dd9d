//! State of the hardware prefetchers (lavin2020 §5.1.1), which is read but never changed.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use super::fact_names::PREFETCHERS;
use super::source::{Fact, System, distinct};

/// Intel's MISC_FEATURE_CONTROL, one per core: a set bit disables a prefetcher.
const MSR: u64 = 0x1a4;
const BITS: [&str; 4] = ["L2 stream", "L2 adjacent line", "L1 stream", "L1 by instruction"];

/// Facts about these CPUs; none if the vendor is unknown.
pub fn facts(system: &System, cpus: &[usize]) -> Vec<Fact> {
    let state = match system.field("proc/cpuinfo", "vendor_id").as_deref() {
        Some("GenuineIntel") => distinct(cpus.iter().map(|cpu| state(system, *cpu))),
        Some(other) => Some(format!("n/a: {other} has no MSR {MSR:#x}")),
        None => None,
    };
    state.map(|state| (PREFETCHERS.into(), state)).into_iter().collect()
}

fn state(system: &System, cpu: usize) -> String {
    match word(system, cpu) {
        Ok(word) => words(word),
        Err(error) => format!("n/a: cannot read MSR {MSR:#x}: {}", error.kind()),
    }
}

fn word(system: &System, cpu: usize) -> io::Result<u64> {
    let mut bytes = [0; 8];
    #[expect(clippy::disallowed_methods, reason = "model-specific registers are a device")]
    File::open(system.path(&format!("dev/cpu/{cpu}/msr")))?.read_exact_at(&mut bytes, MSR)?;
    Ok(u64::from_le_bytes(bytes))
}

/// `on`, `off`, or the list of those that are off.
fn words(word: u64) -> String {
    let bits = BITS.iter().enumerate();
    let off: Vec<&str> = bits.filter(|(bit, _)| word >> bit & 1 == 1).map(|(_, name)| *name).collect();
    match off.len() {
        0 => "on".to_owned(),
        n if n == BITS.len() => "off".to_owned(),
        _ => format!("off: {}", off.join(" and ")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

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
