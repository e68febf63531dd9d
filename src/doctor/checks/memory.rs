//! The memory: how much is free, the size of its pages, and its nodes.

use crate::case::units::{fmt_bytes, ranges};
use crate::device::cpu::affinity::parse_list;
use crate::device::cpu::memory;
use crate::doctor::scene::{Scene, text};
use crate::doctor::{About, Check, Finding};
use crate::engine::environment::huge_pages;
use crate::engine::environment::source::System;

// ---- memory -------------------------------------------------------------------------------------

pub const MEMORY: Check = Check {
    name: "memory",
    about: "memory available without swapping; warns below 2 GiB, because cases larger than the caches need that much",
    of: About::Measuring,
    examine: |_| judge_memory(memory::available(), memory::total()),
};

/// The most that the shipped recipes need on an ordinary machine, with some margin.
const ENOUGH: u64 = 2 << 30;

fn judge_memory(available: Option<u64>, total: Option<u64>) -> Finding {
    let Some(available) = available else { return Finding::note("unknown") };
    let of = total.map(|total| format!(" of {}", fmt_bytes(total))).unwrap_or_default();
    let text = format!("{} free{of}", fmt_bytes(available));
    match available < ENOUGH {
        true => {
            Finding::warning(text).advice("free some memory: a case that does not fit is n/a, never shrunk")
        }
        false => Finding::ok(text),
    }
}

// ---- huge-pages ---------------------------------------------------------------------------------

pub const HUGE_PAGES: Check = Check {
    name: "huge-pages",
    about: "transparent and reserved huge pages; reports where random accesses fall on 4 KiB pages",
    of: About::Measuring,
    examine: |_| {
        let system = System::here();
        judge_huge_pages(huge_pages(&system).as_deref(), reserved(&system))
    },
};

/// Number of huge pages that the administrator has reserved.
fn reserved(system: &System) -> u64 {
    system.number("proc/sys/vm/nr_hugepages").unwrap_or(0)
}

fn judge_huge_pages(transparent: Option<&str>, reserved: u64) -> Finding {
    let aside = if reserved > 0 {
        format!("; {reserved} reserved, which this program does not use")
    } else {
        String::new()
    };
    match transparent {
        Some(word @ ("always" | "madvise")) => {
            Finding::ok(format!("transparent: {word}, and the arrays request them{aside}"))
        }
        Some(word) => Finding::note(format!("transparent: {word}{aside}"))
            .advice("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled: 4 KiB pages slow random accesses down"),
        None => Finding::note(format!("transparent: unknown{aside}")),
    }
}

// ---- numa ---------------------------------------------------------------------------------------

pub const NUMA: Check = Check {
    name: "numa",
    about: "memory nodes to which our CPUs belong; reports if there are several",
    of: About::Measuring,
    examine: |scene| judge_numa(&nodes(scene)),
};

/// The nodes that hold a CPU of the mask.
fn nodes(scene: &Scene) -> Vec<usize> {
    let online = text("/sys/devices/system/node/online").and_then(|list| parse_list(&list));
    let ours = |node: &usize| {
        let has = |cpu: &usize| {
            std::path::Path::new(&format!("/sys/devices/system/node/node{node}/cpu{cpu}")).exists()
        };
        scene.mask.iter().any(has)
    };
    online.unwrap_or_default().into_iter().filter(ours).collect()
}

fn judge_numa(nodes: &[usize]) -> Finding {
    match nodes.len() {
        0 => Finding::note("unknown"),
        1 => Finding::ok(format!("one node ({})", nodes[0])),
        count => Finding::note(format!("our CPUs belong to {count} nodes ({})", ranges(nodes)))
            .advice("for figures of one node: numactl --cpunodebind=0 --membind=0 scatterlab …"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn little_memory_is_a_warning() {
        assert_eq!(judge_memory(Some(1 << 30), Some(4 << 30)).level, Level::Warning);
        assert_eq!(judge_memory(Some(3 << 30), None).level, Level::Ok);
    }

    #[test]
    fn small_pages_are_noted() {
        assert_eq!(judge_huge_pages(Some("always"), 0).level, Level::Ok);
        assert_eq!(judge_huge_pages(Some("never"), 0).level, Level::Note);
        assert!(judge_huge_pages(Some("always"), 64).text.contains("64 reserved"));
    }

    #[test]
    fn several_nodes_are_noted() {
        assert_eq!(
            [judge_numa(&[]).level, judge_numa(&[1]).level, judge_numa(&[0, 1]).level],
            [Level::Note, Level::Ok, Level::Note]
        );
    }
}
