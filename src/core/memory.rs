//! Memory that is free, and arrays that ask for it: an array whose size a file or a recipe decides is refused in one line
//! where it does not fit, because an allocation that fails otherwise ends the process.

use std::path::Path;

use crate::case::units::fmt_bytes;

/// Arrays of fewer bytes do not look at what is free, which takes a tenth of a millisecond.
const SMALL: usize = 1 << 20;

/// An array that does not fit; one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// Bytes that were asked for.
    bytes: u64,
    /// Bytes that were free, if that was too little; otherwise the system refused.
    free: Option<u64>,
}

impl std::fmt::Display for NoMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cannot reserve {} of memory", fmt_bytes(self.bytes))?;
        self.free.map_or(Ok(()), |free| write!(f, ": {} are free", fmt_bytes(free)))
    }
}

impl std::error::Error for NoMemory {}

/// Bytes that can be allocated now without swapping, being killed or being refused: the minimum of the system's available
/// memory, the room in the control groups, and what the process's limit of address space (RLIMIT_AS) leaves. `None` if
/// none of them can be read.
pub fn available() -> Option<u64> {
    meminfo("MemAvailable:").into_iter().chain(cgroup_room()).chain(address_space()).min()
}

/// Total memory of the machine, bytes.
pub fn total() -> Option<u64> {
    meminfo("MemTotal:")
}

/// Refuses so many elements more if they do not fit into the memory that is free.
fn ask<T>(elements: usize) -> Result<(), NoMemory> {
    let bytes = elements.saturating_mul(size_of::<T>());
    if bytes < SMALL {
        return Ok(());
    }
    match available() {
        Some(free) if bytes as u64 > free => Err(NoMemory { bytes: bytes as u64, free: Some(free) }),
        _ => Ok(()),
    }
}

/// Makes an array hold so many elements without another allocation.
fn grow<T>(array: &mut Vec<T>, capacity: usize) -> Result<(), NoMemory> {
    let more = capacity.saturating_sub(array.capacity());
    ask::<T>(more)?;
    let refused = |_| NoMemory { bytes: more.saturating_mul(size_of::<T>()) as u64, free: None };
    array.try_reserve_exact(capacity - array.len()).map_err(refused)
}

/// Makes room for further elements: for half as many again as there are, or where that does not fit for a little more
/// than these.
///
/// # Errors
/// When they do not fit.
pub fn reserve<T>(array: &mut Vec<T>, more: usize) -> Result<(), NoMemory> {
    let held = array.capacity();
    if more <= held - array.len() {
        return Ok(());
    }
    let wanted = array.len().saturating_add(more);
    let least = wanted.saturating_add((SMALL / 16 / size_of::<T>().max(1)).min(wanted));
    grow(array, least.max(held.saturating_add(held / 2))).or_else(|_| grow(array, least))
}

/// Appends an element.
///
/// # Errors
/// When it does not fit.
pub fn push<T>(array: &mut Vec<T>, element: T) -> Result<(), NoMemory> {
    reserve(array, 1)?;
    array.push(element);
    Ok(())
}

/// An empty array with room for so many elements.
///
/// # Errors
/// When they do not fit.
pub fn with_room<T>(elements: usize) -> Result<Vec<T>, NoMemory> {
    let mut array = Vec::new();
    grow(&mut array, elements)?;
    Ok(array)
}

/// The same element so many times.
///
/// # Errors
/// When they do not fit.
pub fn filled<T: Clone>(elements: usize, element: T) -> Result<Vec<T>, NoMemory> {
    let mut array = with_room(elements)?;
    array.resize(elements, element);
    Ok(array)
}

/// So many zeros, whose pages are taken when they are first written: several threads take them sooner than one.
///
/// # Errors
/// When they do not fit.
pub fn zeroed<T: Copy + Default>(elements: usize) -> Result<Vec<T>, NoMemory> {
    // An array that the system refuses here is an error, and below it would end the process. Unless the pointer escapes,
    // the compiler may leave out this allocation.
    drop(std::hint::black_box(with_room::<T>(elements)?));
    Ok(vec![T::default(); elements])
}

/// The elements of an iterator, of which there are at most `elements`: it is not asked for more.
///
/// # Errors
/// When they do not fit.
pub fn collected<T>(elements: usize, each: impl IntoIterator<Item = T>) -> Result<Vec<T>, NoMemory> {
    let mut array = with_room(elements)?;
    array.extend(each.into_iter().take(elements));
    Ok(array)
}

/// One array of several, which are freed one after another.
///
/// # Errors
/// When it does not fit beside them.
pub fn joined<T>(parts: Vec<Vec<T>>) -> Result<Vec<T>, NoMemory> {
    let elements = parts.iter().map(Vec::len).sum::<usize>();
    let mut parts = parts.into_iter();
    let mut array = parts.next().unwrap_or_default();
    grow(&mut array, elements)?;
    parts.for_each(|mut part| array.append(&mut part));
    Ok(array)
}

/// The text in a file of the system. These files are no user's, and what reads those asks here for memory.
#[expect(clippy::disallowed_methods, reason = "files below /proc and /sys are short and do not block")]
fn system(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn meminfo(key: &str) -> Option<u64> {
    let text = system("/proc/meminfo")?;
    let line = text.lines().find_map(|l| l.strip_prefix(key))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

/// Address space that stays for small allocations and the stacks of threads, which do not ask.
const ASIDE: u64 = 32 << 20;

/// What the limit of address space leaves, if there is one, without [`ASIDE`].
fn address_space() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the structure is valid during the call, and `sysconf` touches no memory.
    let (failed, page) =
        unsafe { (libc::getrlimit(libc::RLIMIT_AS, &raw mut limit) != 0, libc::sysconf(libc::_SC_PAGESIZE)) };
    if failed || limit.rlim_cur == libc::RLIM_INFINITY {
        return None;
    }
    let pages: u64 = system("/proc/self/statm")?.split_whitespace().next()?.parse().ok()?;
    let taken = pages.saturating_mul(u64::try_from(page).ok()?).saturating_add(ASIDE);
    Some(limit.rlim_cur.saturating_sub(taken))
}

/// Limit minus usage in this process's control group and its ancestors (version 2, and the memory controller of
/// version 1). Usage includes inactive file pages, which are reclaimed on demand and therefore subtracted.
fn cgroup_room() -> Vec<u64> {
    let text = system("/proc/self/cgroup").unwrap_or_default();
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
    let read = |name: &str| system(group.join(name));
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let stat = read("memory.stat").unwrap_or_default();
    let unused = stat.lines().find_map(|line| line.strip_prefix(names.unused)?.trim().parse().ok());
    let used = number(names.usage)?.saturating_sub(unused.unwrap_or(0));
    Some(number(names.limit)?.saturating_sub(used))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More than any machine has is refused before it is asked for, in one line with both figures.
    #[test]
    fn what_does_not_fit_is_refused_with_both_figures() {
        let told = filled(1 << 50, 0u64).expect_err("refused").to_string();
        assert!(
            told.starts_with("cannot reserve 8192 TiB of memory: ") && told.ends_with(" are free"),
            "{told}"
        );
        assert!(with_room::<u64>(usize::MAX).is_err() && collected(1 << 60, 0..1u64).is_err());
        assert!(zeroed::<u64>(1 << 50).is_err());
        let mut array = vec![1u8; 10];
        assert!(reserve(&mut array, usize::MAX / 2).is_err());
        assert_eq!(array, [1; 10], "what there was is there");
    }

    #[test]
    fn arrays_hold_what_they_are_given() {
        let mut array = Vec::new();
        (0..200_000u32).try_for_each(|i| push(&mut array, i)).expect("memory");
        assert!(array.iter().copied().eq(0..200_000) && array.capacity() < 400_000);
        assert_eq!(collected(3, 5..).expect("memory"), [5, 6, 7]);
        assert_eq!(filled(2, ()).expect("memory"), [(), ()]);
        assert_eq!(joined(vec![vec![1], vec![], vec![2, 3]]).expect("memory"), [1, 2, 3]);
        assert_eq!(joined(Vec::<Vec<u8>>::new()).expect("memory"), [0; 0]);
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
}
