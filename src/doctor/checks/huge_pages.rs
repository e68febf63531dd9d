//! Pages of 2 MiB.

use crate::doctor::scene::text;
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "huge-pages",
    about: "transparent huge pages and reserved ones; notes where random accesses get 4 KiB pages",
    of: About::Measuring,
    examine: |_| judge(transparent().as_deref(), reserved()),
};

/// The chosen word of `always [madvise] never`.
fn transparent() -> Option<String> {
    let words = text("/sys/kernel/mm/transparent_hugepage/enabled")?;
    Some(words.split_once('[')?.1.split_once(']')?.0.to_owned())
}

/// Huge pages that the administrator has set aside.
fn reserved() -> u64 {
    text("/proc/sys/vm/nr_hugepages").and_then(|count| count.parse().ok()).unwrap_or(0)
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
        None => Finding::note(format!("transparent: not told{aside}")),
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
