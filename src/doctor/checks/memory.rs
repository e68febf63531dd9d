//! Free memory for arrays.

use crate::case::units::fmt_bytes;
use crate::device::cpu::memory;
use crate::doctor::{About, Check, Finding};

pub const CHECK: Check = Check {
    name: "memory",
    about: "memory that can be had without swapping; warns below 2 GiB, which cases beyond the caches need",
    of: About::Measuring,
    examine: |_| judge(memory::available(), memory::total()),
};

/// The most that the shipped recipes need on an ordinary machine, with some margin.
const ENOUGH: u64 = 2 << 30;

fn judge(available: Option<u64>, total: Option<u64>) -> Finding {
    let Some(available) = available else { return Finding::note("unknown") };
    let of = total.map(|total| format!(" of {}", fmt_bytes(total))).unwrap_or_default();
    let text = format!("{} free{of}", fmt_bytes(available));
    match available < ENOUGH {
        true => Finding::warning(text).advice("free some: a case that does not fit is n/a, never shrunk"),
        false => Finding::ok(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Level;

    #[test]
    fn little_memory_is_a_warning() {
        assert_eq!(judge(Some(1 << 30), Some(4 << 30)).level, Level::Warning);
        assert_eq!(judge(Some(3 << 30), None).level, Level::Ok);
    }
}
