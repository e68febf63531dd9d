//! CPUs: sockets, cores, caches, NUMA nodes, instruction sets.

use std::collections::BTreeSet;

use super::fact;
use super::source::{Fact, System};
use crate::case::units::fmt_size;
use crate::device::cpu::affinity::parse_list;
use crate::device::cpu::caches::{self, Cache};

const CPUS: &str = "sys/devices/system/cpu";
const NODES: &str = "sys/devices/system/node";

/// Flags by which our kernels or the system's memcpy may select an implementation.
const FLAGS: [&str; 19] = [
    "sse4_2",
    "avx",
    "avx2",
    "fma",
    "bmi2",
    "avx512f",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512vl",
    "amx_tile",
    "erms",
    "fsrm",
    "clwb",
    "asimd",
    "sve",
    "sve2",
    "constant_tsc",
    "nonstop_tsc",
];

pub fn facts(system: &System, cpus: &[usize]) -> Vec<Fact> {
    let online = system.text(&format!("{CPUS}/online"));
    let all = online.as_deref().and_then(parse_list).unwrap_or_default();
    let mut facts: Vec<Fact> = cores(system, &all);
    facts.extend(fact("CPUs online", online));
    facts.extend(fact("CPUs isolated", system.text(&format!("{CPUS}/isolated"))));
    facts.extend(fact("CPUs without ticks", ticks(system)));
    facts.extend(fact("stepping", stepping(system)));
    facts.extend(fact("CPU flags", flags(system)));
    facts.extend(cache_facts(&caches::under(&system.path(CPUS), cpus)));
    facts.extend(nodes(system));
    facts
}

/// Sockets, cores and threads of the online CPUs.
fn cores(system: &System, online: &[usize]) -> Vec<Fact> {
    let id = |cpu: &usize, name: &str| system.number(&format!("{CPUS}/cpu{cpu}/topology/{name}"));
    let socket = |cpu: &usize| id(cpu, "physical_package_id");
    let sockets: BTreeSet<u64> = online.iter().filter_map(socket).collect();
    let cores: BTreeSet<_> =
        online.iter().filter_map(|cpu| Some((socket(cpu)?, id(cpu, "core_id")?))).collect();
    let count = |n: usize| (n > 0).then(|| n.to_string());
    // Not an integer on CPUs where only some cores have two threads.
    let threads = (!cores.is_empty()).then(|| online.len() as f64 / cores.len() as f64);
    let facts = [
        fact("sockets", count(sockets.len())),
        fact("cores", count(cores.len())),
        fact("threads per core", threads.map(|n| format!("{}", (n * 100.0).round() / 100.0))),
    ];
    facts.into_iter().flatten().collect()
}

/// The CPUs in `nohz_full`.
fn ticks(system: &System) -> Option<String> {
    system.text(&format!("{CPUS}/nohz_full")).filter(|list| list != "(null)")
}

/// Family, model, stepping and microcode, which a name such as `AMD EPYC` does not determine.
fn stepping(system: &System) -> Option<String> {
    let field = |key: &str| system.field("proc/cpuinfo", key);
    let id = format!(
        "family {}, model {}, stepping {}",
        field("cpu family")?,
        field("model")?,
        field("stepping")?
    );
    Some(match field("microcode") {
        Some(microcode) => format!("{id}, microcode {microcode}"),
        None => id,
    })
}

fn flags(system: &System) -> Option<String> {
    let field = |key: &str| system.field("proc/cpuinfo", key);
    let all = field("flags").or_else(|| field("Features"))?;
    let has = |flag: &&&str| all.split_whitespace().any(|word| word == **flag);
    let known: Vec<&str> = FLAGS.iter().filter(has).copied().collect();
    (!known.is_empty()).then(|| known.join(" "))
}

/// `L2: 2 × 1 MiB, one per CPU`, over the CPUs of the affinity mask.
fn cache_facts(caches: &[Cache]) -> Vec<Fact> {
    let mut facts: Vec<Fact> = Vec::new();
    let mut rest = caches;
    while let Some(first) = rest.first() {
        let same = |cache: &&Cache| (cache.level, cache.data_only) == (first.level, first.data_only);
        let (level, outer) = rest.split_at(rest.iter().take_while(same).count());
        facts.push((first.name().into(), instances(level)));
        rest = outer;
    }
    facts
}

/// The caches of one level; their sizes differ on CPUs with two kinds of cores.
fn instances(level: &[Cache]) -> String {
    let mut kinds: Vec<(u64, usize)> = level.iter().map(|cache| (cache.bytes, cache.cpus.len())).collect();
    kinds.sort();
    let mut words = Vec::new();
    for group in kinds.chunk_by(|a, b| a == b) {
        let (bytes, sharing) = group[0];
        let of = if sharing == 1 { "CPU".to_owned() } else { format!("{sharing} CPUs") };
        words.push(format!("{} × {}, one per {of}", group.len(), fmt_size(bytes)));
    }
    words.join("; ")
}

/// The number of NUMA nodes, and the CPUs and memory of each.
fn nodes(system: &System) -> Vec<Fact> {
    let number = |name: &String| name.strip_prefix("node")?.parse::<u32>().ok();
    let mut numbers: Vec<u32> = system.names(NODES).iter().filter_map(number).collect();
    numbers.sort();
    let mut facts: Vec<Fact> = Vec::new();
    facts.extend(fact("NUMA nodes", (!numbers.is_empty()).then(|| numbers.len().to_string())));
    for node in &numbers {
        let cpus = system.text(&format!("{NODES}/node{node}/cpulist")).unwrap_or_else(|| "none".to_owned());
        // The memory of a single node is the machine's, which some hypervisors hot-plug.
        let memory = node_memory(system, *node).filter(|_| numbers.len() > 1);
        let memory = memory.map(|bytes| format!(", memory {}", fmt_size(bytes)));
        facts
            .push((format!("NUMA node {node}").into(), format!("CPUs {cpus}{}", memory.unwrap_or_default())));
    }
    let balancing = system.number("proc/sys/kernel/numa_balancing").filter(|_| numbers.len() > 1);
    facts.extend(fact("NUMA balancing", balancing.map(|on| if on > 0 { "on" } else { "off" }.to_owned())));
    facts.extend(fact("NUMA nodes allowed", system.field("proc/self/status", "Mems_allowed_list")));
    facts
}

/// Parsed from the line `Node 0 MemTotal: 16384 kB`.
fn node_memory(system: &System, node: u32) -> Option<u64> {
    let words = system.field(&format!("{NODES}/node{node}/meminfo"), &format!("Node {node} MemTotal"))?;
    Some(words.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

    #[test]
    fn two_sockets_with_two_threads_a_core() {
        let ids = [(0, 0, 0), (1, 0, 0), (2, 1, 0), (3, 1, 0)];
        let (root, system) = files(&[
            ("sys/devices/system/cpu/online", "0-3\n"),
            ("sys/devices/system/node/node0/cpulist", "0-1\n"),
            (
                "sys/devices/system/node/node0/meminfo",
                "Node 0 MemTotal:       8388608 kB\nNode 0 MemFree: 1 kB\n",
            ),
            ("sys/devices/system/node/node1/cpulist", "2-3\n"),
            ("sys/devices/system/node/online", "0-1\n"),
            ("proc/sys/kernel/numa_balancing", "0\n"),
            (
                "proc/cpuinfo",
                "processor : 0\nflags\t\t: fpu avx2 avx512f smx avx\n\nprocessor : 1\nflags : none\n",
            ),
        ]);
        for (cpu, socket, core) in ids {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/topology"));
            std::fs::create_dir_all(&folder).expect("made");
            std::fs::write(folder.join("physical_package_id"), socket.to_string()).expect("written");
            std::fs::write(folder.join("core_id"), core.to_string()).expect("written");
        }
        for (cpu, shared) in [(0, "0-1"), (1, "0-1"), (2, "2-3")] {
            let folder = root.path().join(format!("sys/devices/system/cpu/cpu{cpu}/cache/index0"));
            std::fs::create_dir_all(&folder).expect("made");
            for (name, text) in
                [("level", "2"), ("type", "Unified"), ("size", "2048K"), ("shared_cpu_list", shared)]
            {
                std::fs::write(folder.join(name), text).expect("written");
            }
        }
        let facts = facts(&system, &[0, 1, 2]);
        let expected = [
            ("sockets", "2"),
            ("cores", "2"),
            ("threads per core", "2"),
            ("CPUs online", "0-3"),
            ("CPU flags", "avx avx2 avx512f"),
            ("L2", "2 × 2 MiB, one per 2 CPUs"),
            ("NUMA nodes", "2"),
            ("NUMA node 0", "CPUs 0-1, memory 8 GiB"),
            ("NUMA node 1", "CPUs 2-3"),
            ("NUMA balancing", "off"),
        ];
        let found: Vec<(&str, &str)> = facts.iter().map(|(name, value)| (&**name, value.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn two_kinds_of_cores_are_told_apart() {
        let cache = |kib: u64, cpus: &[usize]| Cache {
            level: 1,
            data_only: true,
            bytes: kib << 10,
            cpus: cpus.to_vec(),
        };
        let facts = cache_facts(&[cache(48, &[0, 1]), cache(32, &[2]), cache(32, &[3])]);
        assert_eq!(facts, [("L1d".into(), "2 × 32 KiB, one per CPU; 1 × 48 KiB, one per 2 CPUs".to_owned())]);
    }
}
