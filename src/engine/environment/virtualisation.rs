//! Virtual machines and containers: hypervisor and machine type, container detection, and the limits set by control groups.

use std::path::Path;

use super::fact;
use super::source::{Fact, System};
use crate::case::units::fmt_size;

const DMI: &str = "sys/class/dmi/id";
const GROUPS: &str = "sys/fs/cgroup";

/// Facts about the machine.
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

/// Facts about the container and its control groups.
pub fn container_facts(system: &System) -> Vec<Fact> {
    let facts = [
        fact("container", container(system)),
        fact("container name", name(system, |variable| std::env::var(variable).ok())),
        fact("cgroup CPU limit", cpu_limit(system).map(|cpus| format!("{cpus:.2} CPUs"))),
        fact("cgroup memory limit", memory_limit(system)),
        fact("cgroup CPUs", nearest(system, "cpuset", "cpuset.cpus.effective", "cpuset.effective_cpus")),
        fact(
            "cgroup NUMA nodes",
            nearest(system, "cpuset", "cpuset.mems.effective", "cpuset.effective_mems"),
        ),
    ];
    facts.into_iter().flatten().collect()
}

/// Detects the container runtime from the files that it leaves.
fn container(system: &System) -> Option<String> {
    let left = [(".dockerenv", "docker"), ("run/.containerenv", "podman")];
    let word = left.into_iter().find(|(path, _)| system.exists(path)).map(|(_, word)| word.to_owned());
    // systemd's own detection takes precedence.
    system.text("run/systemd/container").or(word)
}

/// The name of the container or of its image: podman writes it to `.containerenv` only for containers with
/// extended rights, Apptainer sets a variable, and a Kubernetes pod has it as host name. Docker exposes only an
/// id, which is the host name.
fn name(system: &System, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let told = system.text("run/.containerenv").unwrap_or_default();
    let podman = ["name=", "image="].into_iter().find_map(|key| {
        let value = told.lines().find_map(|line| line.strip_prefix(key))?.trim_matches('"');
        (!value.is_empty()).then(|| value.to_owned())
    });
    let apptainer = || {
        let names = ["APPTAINER_NAME", "SINGULARITY_NAME"];
        system.exists(".singularity.d").then(|| names.into_iter().find_map(&variable))?
    };
    let pod = || {
        variable("KUBERNETES_SERVICE_HOST")?;
        Some(format!("pod {}", system.text("etc/hostname")?))
    };
    podman.or_else(apptainer).or_else(pod)
}

/// Directories of our control group and of its ancestors, nearest first, in version 2 or in this controller's
/// hierarchy of version 1.
fn groups(system: &System, controller: &str) -> Vec<(String, Version)> {
    let text = system.text("proc/self/cgroup").unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':'));
    let folders = lines.flat_map(|(controllers, path)| {
        let (root, version) = match controllers {
            "" => (GROUPS.to_owned(), Version::Two),
            list if list.split(',').any(|c| c == controller) => {
                (format!("{GROUPS}/{controller}"), Version::One)
            }
            _ => return Vec::new(),
        };
        let above =
            Path::new(path).ancestors().map(|p| p.to_string_lossy().trim_start_matches('/').to_owned());
        above.map(|group| (format!("{root}/{group}").trim_end_matches('/').to_owned(), version)).collect()
    });
    folders.collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    One,
    Two,
}

/// The contents of the nearest group's file; the file's name depends on the version.
fn nearest(system: &System, controller: &str, two: &str, one: &str) -> Option<String> {
    groups(system, controller).into_iter().find_map(|(folder, version)| {
        let name = if version == Version::Two { two } else { one };
        system.text(&format!("{folder}/{name}"))
    })
}

/// The tightest CPU quota of all groups, in CPUs.
pub fn cpu_limit(system: &System) -> Option<f64> {
    let limits = groups(system, "cpu").into_iter().filter_map(|(folder, version)| match version {
        Version::Two => {
            let text = system.text(&format!("{folder}/cpu.max"))?;
            let (quota, period) = text.split_once(' ')?;
            Some(quota.parse::<f64>().ok()? / period.parse::<f64>().ok()?)
        }
        Version::One => {
            // −1 means no limit and does not parse as a `u64`.
            let quota = system.number(&format!("{folder}/cpu.cfs_quota_us"))?;
            Some(quota as f64 / system.number(&format!("{folder}/cpu.cfs_period_us"))? as f64)
        }
    });
    limits.filter(|cpus| cpus.is_finite()).reduce(f64::min)
}

/// The tightest memory limit of all groups.
fn memory_limit(system: &System) -> Option<String> {
    /// Version 1 reports no limit as a number of this magnitude.
    const NONE: u64 = 1 << 60;
    let limits = groups(system, "memory").into_iter().filter_map(|(folder, version)| {
        let name = if version == Version::Two { "memory.max" } else { "memory.limit_in_bytes" };
        system.number(&format!("{folder}/{name}"))
    });
    limits.filter(|&bytes| bytes < NONE).min().map(fmt_size)
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

    #[test]
    fn the_tightest_limit_of_the_groups_above_counts() {
        let (_root, system) = files(&[
            ("proc/self/cgroup", "0::/jobs/one\n"),
            ("sys/fs/cgroup/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/jobs/cpu.max", "150000 100000\n"),
            ("sys/fs/cgroup/jobs/memory.max", "4294967296\n"),
            ("sys/fs/cgroup/jobs/one/cpu.max", "max 100000\n"),
            ("sys/fs/cgroup/jobs/one/memory.max", "max\n"),
            ("sys/fs/cgroup/jobs/cpuset.cpus.effective", "0-1\n"),
            (".dockerenv", ""),
        ]);
        let expected = [
            ("container", "docker"),
            ("cgroup CPU limit", "1.50 CPUs"),
            ("cgroup memory limit", "4 GiB"),
            ("cgroup CPUs", "0-1"),
        ];
        assert_eq!(container_facts(&system), expected.map(|(name, value)| (name.into(), value.to_owned())));
    }

    #[test]
    fn the_first_version_is_read_by_controller() {
        let (_root, system) = files(&[
            ("proc/self/cgroup", "4:memory:/job\n3:cpuset:/\n1:cpu,cpuacct:/job\n0::/\n"),
            ("sys/fs/cgroup/cpu/job/cpu.cfs_quota_us", "-1\n"),
            ("sys/fs/cgroup/cpu/job/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n"),
            ("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            ("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n"),
            ("sys/fs/cgroup/memory/memory.limit_in_bytes", "2147483648\n"),
        ]);
        let expected = [("cgroup CPU limit", "1.50 CPUs"), ("cgroup memory limit", "2 GiB")];
        assert_eq!(container_facts(&system), expected.map(|(name, value)| (name.into(), value.to_owned())));
        assert_eq!(cpu_limit(&system), Some(1.5));
    }

    #[test]
    fn a_container_is_called_as_its_engine_calls_it() {
        let (_root, system) = files(&[
            ("run/.containerenv", "engine=\"podman-4.9\"\nname=\"lab\"\nimage=\"docker.io/cuda:13\"\n"),
            ("etc/hostname", "worker-7\n"),
        ]);
        let nothing = |_: &str| None;
        assert_eq!(name(&system, nothing).as_deref(), Some("lab"));
        let (_root, rootless) = files(&[
            ("run/.containerenv", "\n"),
            ("etc/hostname", "worker-7\n"),
            (".singularity.d/runscript", ""),
        ]);
        assert_eq!(name(&rootless, nothing), None);
        let only =
            |wanted: &'static str| move |variable: &str| (variable == wanted).then(|| "cuda.sif".to_owned());
        assert_eq!(name(&rootless, only("APPTAINER_NAME")).as_deref(), Some("cuda.sif"));
        assert_eq!(name(&rootless, only("KUBERNETES_SERVICE_HOST")).as_deref(), Some("pod worker-7"));
    }

    #[test]
    fn systemd_knows_better() {
        let (_root, system) = files(&[("run/systemd/container", "lxc\n"), (".dockerenv", "")]);
        assert_eq!(container(&system).as_deref(), Some("lxc"));
    }
}
