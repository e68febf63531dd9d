//! The affinity mask.

use crate::case::units::ranges;
use crate::device::cpu::affinity::parse_list;
use crate::doctor::scene::{Scene, text};
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "affinity",
    about: "the CPUs that measurements may use; warns where a single one has to draw as well",
    of: About::Measuring,
    examine: |scene| judge(&scene.mask, online(scene)),
};

/// Number of CPUs that are online, as far as the system reports them.
fn online(scene: &Scene) -> usize {
    let listed = text("/sys/devices/system/cpu/online").and_then(|list| parse_list(&list));
    listed.map_or(0, |cpus| cpus.len()).max(scene.mask.len())
}

fn judge(mask: &[usize], online: usize) -> Finding {
    let text = format!("CPU {} of {online} online", ranges(mask));
    match mask.len() {
        1 => Finding::warning(format!("{text}: the screen is drawn on the CPU that is measured"))
            .advice("allow another one (taskset -c 0,1 scatterlab …), or run without the user interface"),
        _ => {
            Finding::ok(format!("{text}; `threads: auto` takes all, fewer threads leave one for the screen"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn a_single_cpu_is_a_warning() {
        assert_eq!(judge(&[3], 8).level, Level::Warning);
        assert_eq!(judge(&[0, 1], 2).level, Level::Ok);
        assert!(judge(&[0, 1, 2], 8).text.starts_with("CPU 0-2 of 8 online"));
    }
}
