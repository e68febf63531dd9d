//! Data caches, as the system describes them.

use std::path::Path;

use super::affinity;
use crate::files;

/// A cache, private to one CPU or shared by several.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cache {
    /// Cache level, from 1, the closest to the CPU.
    pub level: u32,
    /// True for a data cache beside a separate cache for instructions.
    pub data_only: bool,
    pub bytes: u64,
    /// CPUs that share the cache, ascending.
    pub cpus: Vec<usize>,
}

impl Cache {
    /// `L1d`, `L2` …
    pub fn name(&self) -> String {
        format!("L{}{}", self.level, if self.data_only { "d" } else { "" })
    }
}

/// The caches of these CPUs, closest first, shared ones only once; empty if the system does not describe them. Source:
/// Linux's `Documentation/ABI/testing/sysfs-devices-system-cpu`. A virtual machine sees what its host exposes.
pub fn of(cpus: &[usize]) -> Vec<Cache> {
    under(Path::new("/sys/devices/system/cpu"), cpus)
}

/// Like [`of`], for another directory with the layout of `/sys/devices/system/cpu`.
pub fn under(root: &Path, cpus: &[usize]) -> Vec<Cache> {
    let folders = cpus.iter().map(|cpu| root.join(format!("cpu{cpu}/cache")));
    let mut caches: Vec<Cache> = folders
        .flat_map(|folder| (0..8).map(move |i| folder.join(format!("index{i}"))))
        .filter_map(|folder| read(&folder))
        .collect();
    caches.sort();
    caches.dedup();
    caches
}

/// Line size of the closest cache of the first CPU, bytes, if the system reports it.
pub fn line(cpus: &[usize]) -> Option<u64> {
    let file = format!("/sys/devices/system/cpu/cpu{}/cache/index0/coherency_line_size", cpus.first()?);
    files::system(file)?.trim().parse().ok()
}

fn read(folder: &Path) -> Option<Cache> {
    let text = |name: &str| Some(files::system(folder.join(name))?.trim().to_owned());
    let kind = text("type")?;
    let kib: u64 = text("size")?.strip_suffix('K')?.parse().ok()?;
    (kind != "Instruction").then_some(Cache {
        level: text("level")?.parse().ok()?,
        data_only: kind == "Data",
        bytes: kib * 1024,
        cpus: affinity::parse_list(&text("shared_cpu_list")?)?,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// Writes the sysfs files of one cache of one CPU.
    fn describe(root: &Path, cpu: usize, index: usize, facts: [&str; 4]) {
        let folder = root.join(format!("cpu{cpu}/cache/index{index}"));
        fs::create_dir_all(&folder).expect("a folder");
        for (name, text) in ["level", "type", "size", "shared_cpu_list"].into_iter().zip(facts) {
            fs::write(folder.join(name), format!("{text}\n")).expect("written");
        }
    }

    #[test]
    fn a_shared_cache_is_counted_once() {
        let root = tempfile::tempdir().expect("a folder");
        for cpu in 0..2 {
            let own = cpu.to_string();
            describe(root.path(), cpu, 0, ["1", "Data", "32K", &own]);
            describe(root.path(), cpu, 1, ["1", "Instruction", "32K", &own]);
            describe(root.path(), cpu, 2, ["2", "Unified", "1024K", &own]);
            describe(root.path(), cpu, 3, ["3", "Unified", "32768K", "0-1"]);
        }
        let caches = under(root.path(), &[0, 1]);
        let names: Vec<(String, u64)> = caches.iter().map(|c| (c.name(), c.bytes >> 10)).collect();
        let expected = [("L1d", 32), ("L1d", 32), ("L2", 1024), ("L2", 1024), ("L3", 32768)];
        assert_eq!(names, expected.map(|(name, kib)| (name.to_owned(), kib)));
        assert_eq!(caches[4].cpus, [0, 1]);
        assert_eq!(under(root.path(), &[7]), []);
    }
}
