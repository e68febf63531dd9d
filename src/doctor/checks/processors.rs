//! The processors: which ones measurements may use, who else uses them, and their clock rates.

use std::collections::BTreeSet;

use crate::case::units::{self, ranges};
use crate::device::cpu::affinity::parse_list;
use crate::doctor::scene::{Process, Scene, Ticks, text};
use crate::doctor::{About, Check, Finding};
use crate::engine::environment::kernel;
use crate::engine::environment::processors::{boost, governors};
use crate::engine::environment::source::System;
use crate::engine::environment::virtualisation::{cpu_limit, hypervisor, machine};

// ---- affinity -----------------------------------------------------------------------------------

pub const AFFINITY: Check = Check {
    name: "affinity",
    about: "the CPUs that measurements may use; warns if there is only one, which then draws the screen as well",
    of: About::Measuring,
    examine: |scene| judge_affinity(&scene.mask, online(scene)),
};

/// Number of CPUs that are online, as far as the system reports them.
fn online(scene: &Scene) -> usize {
    let listed = text("/sys/devices/system/cpu/online").and_then(|list| parse_list(&list));
    listed.map_or(0, |cpus| cpus.len()).max(scene.mask.len())
}

fn judge_affinity(mask: &[usize], online: usize) -> Finding {
    let text = format!("CPU {} of {online} online", ranges(mask));
    match mask.len() {
        1 => Finding::warning(format!("{text}: the CPU that is measured also draws the screen"))
            .advice("allow a second CPU (taskset -c 0,1 scatterlab …), or run without the user interface"),
        _ => Finding::ok(format!(
            "{text}; `threads: auto` uses all of them; with fewer threads, one is left for the \
                                 screen"
        )),
    }
}

// ---- quota --------------------------------------------------------------------------------------

pub const QUOTA: Check = Check {
    name: "quota",
    about: "a container's limit on CPU time; warns if it is below the number of CPUs that we may use",
    of: About::Measuring,
    examine: |scene| judge_quota(cpu_limit(&System::here()), scene.mask.len()),
};

fn judge_quota(limit: Option<f64>, cpus: usize) -> Finding {
    match limit {
        Some(limit) if limit < cpus as f64 => Finding::warning(format!(
            "the control group gets {limit:.1} of {cpus} CPUs: threads are stopped from time to time"
        ))
        .advice("raise the container's CPU limit, or use fewer threads than it allows"),
        Some(limit) => Finding::ok(format!("the control group's limit is {limit:.1} CPUs")),
        None => Finding::ok("no limit"),
    }
}

// ---- load ---------------------------------------------------------------------------------------

pub const LOAD: Check = Check {
    name: "load",
    about: "CPUs that other processes keep busy over a second, and the load average; warns above a tenth of a CPU",
    of: About::Measuring,
    examine: |scene| judge_load(&scene.busy, &load_average()),
};

/// CPUs that background processes (a terminal, a logger, the scheduler) may keep busy without a warning.
const QUIET: f64 = 0.1;
/// Most processes that a finding names.
const NAMED: usize = 3;

fn load_average() -> String {
    let averages = kernel::load(&System::here());
    let first = averages.as_deref().and_then(|averages| averages.split(' ').next());
    first.unwrap_or("unknown").to_owned()
}

fn judge_load(busy: &[Process], average: &str) -> Finding {
    // An empty sum of floats is -0.0.
    let total = busy.iter().map(|process| process.cpus).sum::<f64>().max(0.0);
    let name = |p: &Process| format!("{} (process {}) {:.1}", p.name, p.id, p.cpus);
    let names: Vec<String> = busy.iter().take(NAMED).map(name).collect();
    match total > QUIET {
        true => Finding::warning(format!(
            "other processes keep {total:.1} CPUs busy: {} (load average {average})",
            names.join(", ")
        ))
        .advice("wait for them to finish or stop them: rounds that they disturb are flagged and measured again, once"),
        false => Finding::ok(format!("other processes keep {total:.2} CPUs busy (load average {average})")),
    }
}

// ---- steal --------------------------------------------------------------------------------------

pub const STEAL: Check = Check {
    name: "steal",
    about: "time that the hypervisor took from our CPUs over a second; warns above 2 %",
    of: About::Measuring,
    examine: |scene| judge_steal(stolen_share(scene)),
};

/// A share of stolen time that is ordinary noise on a virtual machine.
const USUAL: f64 = 0.02;

fn stolen_share(scene: &Scene) -> Option<f64> {
    let ours = scene.mask.iter().filter_map(|cpu| scene.cpus.get(cpu));
    let sum = ours.fold(Ticks::default(), |sum, ticks| Ticks {
        stolen: sum.stolen + ticks.stolen,
        all: sum.all + ticks.all,
    });
    (sum.all > 0).then(|| sum.stolen as f64 / sum.all as f64)
}

fn judge_steal(share: Option<f64>) -> Finding {
    match share {
        None => Finding::note("unknown"),
        Some(share) if share > USUAL => {
            Finding::warning(format!("{:.0} % of the CPU time was stolen", share * 100.0))
                .advice("the host is busy: measure later, or on a machine with CPUs of its own")
        }
        Some(share) => Finding::ok(format!("{:.0} % of the CPU time was stolen", share * 100.0)),
    }
}

// ---- hypervisor ---------------------------------------------------------------------------------

pub const HYPERVISOR: Check = Check {
    name: "hypervisor",
    about: "whether neighbours may share caches and memory; reports if this is a virtual machine",
    of: About::Measuring,
    examine: |_| {
        let system = System::here();
        judge_hypervisor(hypervisor(&system).as_deref(), machine(&system).as_deref())
    },
};

fn judge_hypervisor(hypervisor: Option<&str>, machine: Option<&str>) -> Finding {
    let named =
        |name: Option<&str>| name.map(|name| format!(" ({})", units::escaped(name))).unwrap_or_default();
    match hypervisor {
        Some(own) => Finding::note(format!(
            "a virtual machine{}: neighbours share caches and memory",
            named(machine.or(Some(own)))
        ))
        .advice("compare figures from a single session; a replay shows which ones still hold"),
        None => Finding::ok(format!("none seen{}", named(machine))),
    }
}

// ---- governor -----------------------------------------------------------------------------------

pub const GOVERNOR: Check = Check {
    name: "governor",
    about: "the frequency governor of our CPUs; warns unless it is `performance`",
    of: About::Measuring,
    examine: |scene| judge_governor(&governors(&System::here(), &scene.mask).into_iter().collect()),
};

fn judge_governor(governors: &BTreeSet<String>) -> Finding {
    let names: Vec<&str> = governors.iter().map(String::as_str).collect();
    match names.as_slice() {
        [] => Finding::note("unknown: on this machine the clock can be neither read nor set"),
        ["performance"] => Finding::ok("performance"),
        names => Finding::warning(names.join(", ")).advice(
            "cpupower frequency-set -g performance, because a clock that follows the load starts low",
        ),
    }
}

// ---- boost --------------------------------------------------------------------------------------

pub const BOOST: Check = Check {
    name: "boost",
    about: "whether the clock may exceed its nominal value; reports it if so, because the clock then depends on load \
            and heat",
    of: About::Measuring,
    examine: |_| judge_boost(boost(&System::here())),
};

fn judge_boost(on: Option<bool>) -> Finding {
    match on {
        None => Finding::note("unknown"),
        Some(false) => Finding::ok("off: the clock is the nominal one"),
        Some(true) => Finding::note("on: the clock depends on load and temperature")
            .advice("leave it on for everyday figures; switch it off when a few per cent matter"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_single_cpu_is_a_warning() {
        assert_eq!(judge_affinity(&[3], 8).level, Level::Warning);
        assert_eq!(judge_affinity(&[0, 1], 2).level, Level::Ok);
        assert!(judge_affinity(&[0, 1, 2], 8).text.starts_with("CPU 0-2 of 8 online"));
    }

    #[test]
    fn a_limit_below_the_mask_is_a_warning() {
        assert_eq!(judge_quota(Some(1.5), 2).level, Level::Warning);
        assert_eq!(judge_quota(Some(2.0), 2).level, Level::Ok);
    }

    #[test]
    fn a_neighbour_is_named() {
        let process = |name: &str, cpus| Process { id: 7, name: name.into(), cpus };
        let found = judge_load(&[process("rustc", 1.5), process("sshd", 0.1)], "2.10");
        assert_eq!(found.level, Level::Warning);
        assert!(found.text.contains("1.6 CPUs busy: rustc (process 7) 1.5, sshd"), "{}", found.text);
        assert_eq!(judge_load(&[process("sshd", 0.02)], "0.01").level, Level::Ok);
    }

    #[test]
    fn stolen_time_beyond_the_usual_is_a_warning() {
        let level = |share| judge_steal(share).level;
        assert_eq!(
            [level(Some(0.0)), level(Some(0.05)), level(None)],
            [Level::Ok, Level::Warning, Level::Note]
        );
    }

    #[test]
    fn a_virtual_machine_is_noted() {
        assert!(judge_hypervisor(Some("KVMKVMKVM"), None).text.starts_with("a virtual machine (KVMKVMKVM):"));
        assert!(
            judge_hypervisor(Some("xen"), Some("m5.large")).text.starts_with("a virtual machine (m5.large):")
        );
        assert_eq!(judge_hypervisor(None, Some("Board")).level, Level::Ok);
    }

    #[test]
    fn a_governor_that_saves_power_is_a_warning() {
        let level = |names: &[&str]| judge_governor(&names.iter().map(|n| n.to_string()).collect()).level;
        assert_eq!([level(&[]), level(&["performance"])], [Level::Note, Level::Ok]);
        assert_eq!(level(&["performance", "powersave"]), Level::Warning);
    }

    #[test]
    fn boost_is_noted() {
        assert_eq!([Some(true), Some(false)].map(|on| judge_boost(on).level), [Level::Note, Level::Ok]);
    }
}
