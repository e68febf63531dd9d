//! Huge pages of 2 MiB.

use crate::doctor::{About, Check, Finding};
use crate::engine::environment::huge_pages;
use crate::engine::environment::source::System;

pub const CHECK: Check = Check {
    name: "huge-pages",
    about: "transparent huge pages and reserved ones; notes where random accesses get 4 KiB pages",
    of: About::Measuring,
    examine: |_| {
        let system = System::here();
        judge(huge_pages(&system).as_deref(), reserved(&system))
    },
};

/// Number of huge pages that the administrator has reserved.
fn reserved(system: &System) -> u64 {
    system.number("proc/sys/vm/nr_hugepages").unwrap_or(0)
}

fn judge(transparent: Option<&str>, reserved: u64) -> Finding {
    let aside =
        if reserved > 0 { format!("; {reserved} reserved, which nothing here uses") } else { String::new() };
    match transparent {
        Some(word @ ("always" | "madvise")) => {
            Finding::ok(format!("transparent: {word}, and the arrays ask for them{aside}"))
        }
        Some(word) => Finding::note(format!("transparent: {word}{aside}"))
            .advice("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: 4 KiB pages slow random accesses down"),
        None => Finding::note(format!("transparent: unknown{aside}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn small_pages_are_noted() {
        assert_eq!(judge(Some("always"), 0).level, Level::Ok);
        assert_eq!(judge(Some("never"), 0).level, Level::Note);
        assert!(judge(Some("always"), 64).text.contains("64 reserved"));
    }
}
