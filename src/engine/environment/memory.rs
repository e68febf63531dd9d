//! Pages, huge pages, swap and limits.

use super::fact;
use super::source::{Fact, System};
use crate::case::units::fmt_size;

const HUGE: &str = "sys/kernel/mm/transparent_hugepage";
const MEMORY: &str = "proc/meminfo";

pub fn facts(system: &System) -> Vec<Fact> {
    let facts = [
        fact("page size", page_size().map(fmt_size)),
        fact("THP defrag", system.chosen(&format!("{HUGE}/defrag"))),
        fact("THP size", system.number(&format!("{HUGE}/hpage_pmd_size")).map(fmt_size)),
        fact("huge pages reserved", reserved(system)),
        fact("swap", swap(system)),
        fact("overcommit", system.text("proc/sys/vm/overcommit_memory")),
        fact("memlock limit", memlock()),
    ];
    facts.into_iter().flatten().collect()
}

fn kib(system: &System, key: &str) -> Option<u64> {
    let words = system.field(MEMORY, key)?;
    Some(words.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

fn reserved(system: &System) -> Option<String> {
    let pages: u64 = system.field(MEMORY, "HugePages_Total")?.parse().ok()?;
    Some(if pages == 0 {
        "none".to_owned()
    } else {
        format!("{pages} of {}", fmt_size(kib(system, "Hugepagesize")?))
    })
}

fn swap(system: &System) -> Option<String> {
    let (total, free) = (kib(system, "SwapTotal")?, kib(system, "SwapFree")?);
    let used = total.saturating_sub(free);
    Some(if total == 0 { "none".to_owned() } else { format!("{}, {} used", fmt_size(total), fmt_size(used)) })
}

fn page_size() -> Option<u64> {
    // SAFETY: a plain query without pointers.
    u64::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).ok().filter(|&bytes| bytes > 0)
}

/// The `RLIMIT_MEMLOCK` of this process.
fn memlock() -> Option<String> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: `limit` is valid for the write and outlives the call.
    let answer = unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, &mut limit) };
    let words =
        || if limit.rlim_cur == libc::RLIM_INFINITY { "none".to_owned() } else { fmt_size(limit.rlim_cur) };
    (answer == 0).then(words)
}

#[cfg(test)]
mod tests {
    use super::super::source::tests::files;
    use super::*;

    const INFO: &str = "MemTotal: 1 kB\nSwapTotal:  2097152 kB\nSwapFree: 1048576 kB\nHugePages_Total: 4\nHugepagesize: 2048 kB\n";

    #[test]
    fn swap_and_huge_pages_are_told_with_their_sizes() {
        let (_root, system) = files(&[
            ("proc/meminfo", INFO),
            ("sys/kernel/mm/transparent_hugepage/defrag", "always defer [madvise] never\n"),
        ]);
        let facts = facts(&system);
        let value = |name: &str| facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
        assert_eq!(value("swap"), Some("2 GiB, 1 GiB used"));
        assert_eq!(value("huge pages reserved"), Some("4 of 2 MiB"));
        assert_eq!(value("THP defrag"), Some("madvise"));
        let (_root, system) =
            files(&[("proc/meminfo", "SwapTotal: 0 kB\nSwapFree: 0 kB\nHugePages_Total: 0\n")]);
        assert_eq!((swap(&system).as_deref(), reserved(&system).as_deref()), (Some("none"), Some("none")));
    }
}
