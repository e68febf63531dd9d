//! Memory available to a case.

use std::path::Path;

use crate::case::Failure;
use crate::device::too_large;
use crate::files;

/// Bytes of a huge page.
pub(super) const HUGE: usize = 2 << 20;
/// Bytes of a page.
pub(super) const PAGE: usize = 4096;

/// Bytes that can be allocated now without swapping or being killed: the minimum of the system's available
/// memory and the room in the control groups. `None` if neither can be read.
pub fn available() -> Option<u64> {
    system_available().into_iter().chain(cgroup_room()).min()
}

/// Total memory of the machine, bytes.
pub fn total() -> Option<u64> {
    meminfo("MemTotal:")
}

/// Refuses a case that needs more memory than is available.
///
/// # Errors
/// [`Failure::NotApplicable`] with both figures.
pub fn require(bytes: u64) -> Result<(), Failure> {
    fits(bytes, available())
}

/// Refuses a case that needs more than the available memory, if that is known.
pub(super) fn fits(bytes: u64, available: Option<u64>) -> Result<(), Failure> {
    match available {
        Some(free) if bytes > free => Err(too_large(bytes, free)),
        _ => Ok(()),
    }
}

/// Asks the system to move elements that are in memory already into huge pages; has no effect if the system cannot.
pub fn ask_for_huge_pages<T>(elements: &[T]) {
    #[cfg(target_os = "linux")]
    {
        /// `MADV_COLLAPSE` of Linux 6.1 does at once what `MADV_HUGEPAGE` leaves to a thread of the kernel.
        const COLLAPSE: libc::c_int = 25;
        let (first, end) = (elements.as_ptr().addr(), elements.as_ptr_range().end.addr());
        let (first, end) = (first.next_multiple_of(PAGE), end - end % PAGE);
        if end.saturating_sub(first) >= HUGE {
            let at = elements.as_ptr().with_addr(first).cast_mut().cast();
            for advice in [libc::MADV_HUGEPAGE, COLLAPSE] {
                // SAFETY: whole pages of our own memory, whose contents stay as they are; a refusal has no effect.
                unsafe { libc::madvise(at, end - first, advice) };
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = elements;
}

/// Prefetches the line at an address into the first-level cache. This is no access, so any address will do.
#[inline(always)]
pub fn prefetch<T>(at: *const T) {
    hint::<3, T>(at);
}

/// Prefetches into the second-level cache, which can wait for more lines at a time than the first.
#[inline(always)]
pub fn prefetch_l2<T>(at: *const T) {
    hint::<2, T>(at);
}

/// Prefetches a line that will be written.
#[inline(always)]
pub fn prefetch_to_write<T>(at: *const T) {
    hint::<7, T>(at);
}

/// A prefetch with a hint of x86-64: `_MM_HINT_T0` is 3, `_MM_HINT_T1` is 2, `_MM_HINT_ET0` is 7.
#[inline(always)]
fn hint<const HINT: i32, T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch has no effect but on caches, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<HINT>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

fn system_available() -> Option<u64> {
    meminfo("MemAvailable:")
}

fn meminfo(key: &str) -> Option<u64> {
    let text = files::system("/proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Limit minus usage in this process's control group and its ancestors (version 2, and the memory controller of
/// version 1). Usage includes inactive file pages, which are reclaimed on demand and therefore subtracted.
fn cgroup_room() -> Vec<u64> {
    let text = files::system("/proc/self/cgroup").unwrap_or_default();
    let rooms = text.lines().flat_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, path) = (fields.next().unwrap_or(""), fields.next().unwrap_or(""));
        match controllers {
            "" => rooms_above("/sys/fs/cgroup", path, &VERSION_2),
            "memory" => rooms_above("/sys/fs/cgroup/memory", path, &VERSION_1),
            _ => Vec::new(),
        }
    });
    rooms.collect()
}

/// Names used by a version of control groups for the limit, the usage and, in `memory.stat`, the inactive file
/// pages.
struct Names {
    limit: &'static str,
    usage: &'static str,
    unused: &'static str,
}

const VERSION_2: Names = Names { limit: "memory.max", usage: "memory.current", unused: "inactive_file" };
const VERSION_1: Names =
    Names { limit: "memory.limit_in_bytes", usage: "memory.usage_in_bytes", unused: "total_inactive_file" };

fn rooms_above(root: &str, path: &str, names: &Names) -> Vec<u64> {
    let groups = Path::new(path).ancestors().map(|p| Path::new(root).join(p.strip_prefix("/").unwrap_or(p)));
    groups.filter_map(|group| room(&group, names)).collect()
}

fn room(group: &Path, names: &Names) -> Option<u64> {
    let read = |name: &str| files::system(group.join(name));
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let stat = read("memory.stat").unwrap_or_default();
    let unused = stat.lines().find_map(|line| line.strip_prefix(names.unused)?.trim().parse().ok());
    let used = number(names.usage)?.saturating_sub(unused.unwrap_or(0));
    Some(number(names.limit)?.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::units::fmt_size;

    #[test]
    fn too_much_is_refused_with_both_figures() {
        let refusal = require(1 << 60);
        assert!(
            matches!(&refusal, Err(Failure::NotApplicable(r)) if r.starts_with("needs 1073741824 GiB, ")),
            "{refusal:?}"
        );
        assert_eq!(require(4096), Ok(()));
    }

    #[test]
    fn unused_file_pages_leave_room() {
        let root = tempfile::tempdir().expect("a folder");
        let group = root.path().join("a/b");
        std::fs::create_dir_all(&group).expect("a group");
        let write = |name: &str, text: &str| std::fs::write(group.join(name), text).expect("written");
        write("memory.max", "1000\n");
        write("memory.current", "900\n");
        let rooms = || rooms_above(root.path().to_str().expect("a name"), "/a/b", &VERSION_2);
        assert_eq!(rooms(), [100]);
        write("memory.stat", "anon 300\nactive_file 100\ninactive_file 500\n");
        assert_eq!(rooms(), [600]);
        write("memory.max", "max\n");
        assert!(rooms().is_empty());
    }

    #[test]
    fn sizes_read_well() {
        assert_eq!(
            [fmt_size(12 << 30), fmt_size((9 << 30) + (1 << 29)), fmt_size(3 << 20)],
            ["12 GiB", "9.5 GiB", "3 MiB"]
        );
        assert_eq!(fmt_size(100 << 20), "100 MiB");
    }
}
