//! Linux's performance counters.

use std::path::{Path, PathBuf};

use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};
use crate::shell;

pub const CHECK: Check = Check {
    name: "perf",
    about: "whether `perf` is there and may count (perf_event_paranoid, a virtual machine's counters); notes where not",
    of: About::Measuring,
    examine: |_| judge(shell::find("perf"), paranoid(), counters()),
};

fn paranoid() -> Option<i32> {
    text("/proc/sys/kernel/perf_event_paranoid")?.parse().ok()
}

/// Whether the processor's own counters are available; many virtual machines have none.
fn counters() -> bool {
    Path::new("/sys/bus/event_source/devices/cpu").exists()
}

fn judge(found: Option<PathBuf>, paranoid: Option<i32>, counters: bool) -> Finding {
    let Some(found) = found else {
        return Finding::note("not found in PATH")
            .advice("it comes with linux-tools or linux-perf; only counters need it");
    };
    let text = found.display().to_string();
    match paranoid {
        _ if !counters => Finding::note(format!("{text}, but the processor's counters are not there"))
            .advice("a virtual machine has them where its host lends a PMU, bare metal has its own; only counters need it"),
        None => Finding::note(format!("{text}, but the kernel has no counters")).advice(
            "run a kernel with CONFIG_PERF_EVENTS, outside of a container that hides it; only counters need it",
        ),
        // Level 2 forbids kernel events, level 3 (Debian) forbids all events.
        Some(level) if level > 2 => Finding::note(format!("{text}, but perf_event_paranoid is {level}"))
            .advice("sysctl kernel.perf_event_paranoid=2 lets you count your own programs"),
        Some(level) => Finding::ok(format!("{text}, perf_event_paranoid {level}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn counting_needs_the_program_the_permission_and_counters() {
        let found = || Some(PathBuf::from("/usr/bin/perf"));
        assert_eq!(judge(found(), Some(2), true).level, Level::Ok);
        for (program, paranoid, counters) in [
            (None, Some(2), true),
            (found(), Some(3), true),
            (found(), Some(2), false),
            (found(), None, true),
        ] {
            let finding = judge(program, paranoid, counters);
            assert!(finding.level == Level::Note && finding.advice.is_some(), "{}", finding.text);
        }
    }
}
