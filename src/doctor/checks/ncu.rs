//! NVIDIA's profiler.

use std::path::PathBuf;

use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};
use crate::shell;

pub const CHECK: Check = Check {
    name: "ncu",
    about: "whether `ncu` is there and may read the GPU's counters; notes where not",
    of: About::Measuring,
    examine: |_| judge(shell::find("ncu"), restricted()),
};

/// Whether the driver restricts the counters to administrators; `None` without a driver.
fn restricted() -> Option<bool> {
    let parameters = text("/proc/driver/nvidia/params")?;
    let line = parameters.lines().find_map(|line| line.strip_prefix("RmProfilingAdminOnly:"))?;
    Some(line.trim() != "0")
}

fn judge(found: Option<PathBuf>, restricted: Option<bool>) -> Finding {
    let Some(found) = found else {
        return Finding::note("not found in PATH")
            .advice("it comes with NVIDIA Nsight Compute; only counters need it");
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn counters_need_the_program_and_the_permission() {
        let found = || Some(PathBuf::from("/usr/bin/ncu"));
        assert_eq!(judge(None, Some(false)).level, Level::Note);
        assert_eq!(judge(found(), Some(true)).level, Level::Note);
        assert_eq!(judge(found(), Some(false)), Finding::ok("/usr/bin/ncu"));
    }
}
