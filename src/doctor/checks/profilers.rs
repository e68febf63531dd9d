//! The programs that read performance counters.

use std::path::{Path, PathBuf};

use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};
use crate::shell;

// ---- ncu ----------------------------------------------------------------------------------------

pub const NCU: Check = Check {
    name: "ncu",
    about: "whether `ncu` is installed and may read the GPU's counters; reports if not",
    of: About::Measuring,
    examine: |_| judge_ncu(shell::find("ncu"), restricted()),
};

/// Whether the driver restricts the counters to administrators; `None` without a driver.
fn restricted() -> Option<bool> {
    let parameters = text("/proc/driver/nvidia/params")?;
    let line = parameters.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"))?;
    Some(line.trim() != "0")
}

fn judge_ncu(found: Option<PathBuf>, restricted: Option<bool>) -> Finding {
    let Some(found) = found else {
        return Finding::note("not found in PATH")
            .advice("it comes with NVIDIA Nsight Compute; only hardware counters need it");
    };
    let text = found.display().to_string();
    match restricted {
        Some(true) => {
            Finding::note(format!("{text}, but the driver restricts its counters to administrators"))
                .advice("load the driver with NVreg_RestrictProfilingToAdminUsers=0, or run ncu as root")
        }
        Some(false) => Finding::ok(text),
        None => Finding::note(format!("{text}, without a driver")),
    }
}

// ---- perf ---------------------------------------------------------------------------------------

pub const PERF: Check = Check {
    name: "perf",
    about: "whether `perf` is installed and may count (perf_event_paranoid, a virtual machine's counters); reports if \
            not",
    of: About::Measuring,
    examine: |_| judge_perf(shell::find("perf"), paranoid(), has_counters()),
};

fn paranoid() -> Option<i32> {
    text("/proc/sys/kernel/perf_event_paranoid")?.parse().ok()
}

/// Whether the processor's own counters are available; many virtual machines have none.
fn has_counters() -> bool {
    Path::new("/sys/bus/event_source/devices/cpu").exists()
}

fn judge_perf(found: Option<PathBuf>, paranoid: Option<i32>, counters: bool) -> Finding {
    let Some(found) = found else {
        return Finding::note("not found in PATH")
            .advice("it comes with linux-tools or linux-perf; only hardware counters need it");
    };
    let text = found.display().to_string();
    match paranoid {
        _ if !counters => Finding::note(format!("{text}, but the processor's counters are not available"))
            .advice("a virtual machine has counters only if its host lends it a PMU; bare metal has its own. Only \
                     hardware counters need this"),
        None => Finding::note(format!("{text}, but the kernel has no counters")).advice(
            "run a kernel with CONFIG_PERF_EVENTS, outside any container that hides it; only hardware counters need \
             this",
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
    fn counters_need_the_program_and_the_permission() {
        let found = || Some(PathBuf::from("/usr/bin/ncu"));
        assert_eq!(judge_ncu(None, Some(false)).level, Level::Note);
        assert_eq!(judge_ncu(found(), Some(true)).level, Level::Note);
        assert_eq!(judge_ncu(found(), Some(false)), Finding::ok("/usr/bin/ncu"));
    }

    #[test]
    fn counting_needs_the_program_the_permission_and_counters() {
        let found = || Some(PathBuf::from("/usr/bin/perf"));
        assert_eq!(judge_perf(found(), Some(2), true).level, Level::Ok);
        for (program, paranoid, counters) in [
            (None, Some(2), true),
            (found(), Some(3), true),
            (found(), Some(2), false),
            (found(), None, true),
        ] {
            let finding = judge_perf(program, paranoid, counters);
            assert!(finding.level == Level::Note && finding.advice.is_some(), "{}", finding.text);
        }
    }
}
