//! CPU affinity: the CPUs available to this process, and pinning of threads.

/// CPUs on which this process may run, ascending: the inherited affinity mask, or all reported CPUs on systems without
/// affinity.
pub fn allowed() -> Vec<usize> {
    let cpus = mask();
    if !cpus.is_empty() {
        return cpus;
    }
    (0..std::thread::available_parallelism().map_or(1, usize::from)).collect()
}

#[cfg(target_os = "linux")]
fn mask() -> Vec<usize> {
    // A fixed cpu_set_t has 1024 bits; on larger machines the call fails, so larger sets are tried.
    for words in [16usize, 64, 256] {
        let mut set = vec![0u64; words];
        // SAFETY: the kernel writes at most the given number of bytes into `set`.
        let rc = unsafe { libc::sched_getaffinity(0, words * 8, set.as_mut_ptr().cast()) };
        if rc == 0 {
            return (0..words * 64).filter(|&cpu| set[cpu / 64] >> (cpu % 64) & 1 == 1).collect();
        }
    }
    Vec::new()
}

#[cfg(not(target_os = "linux"))]
fn mask() -> Vec<usize> {
    Vec::new()
}

/// Pins the calling thread to one CPU; true if that succeeded.
pub fn pin(cpu: usize) -> bool {
    restrict(&[cpu])
}

/// Restricts the calling thread, and the threads that it starts later, to these CPUs; true if that succeeded, and
/// always on systems without affinity.
#[cfg(target_os = "linux")]
pub fn restrict(cpus: &[usize]) -> bool {
    let last = cpus.iter().max().copied().unwrap_or(0);
    let mut set = vec![0u64; last / 64 + 16];
    cpus.iter().for_each(|cpu| set[cpu / 64] |= 1 << (cpu % 64));
    // SAFETY: the kernel reads the given number of bytes of `set`.
    unsafe { libc::sched_setaffinity(0, set.len() * 8, set.as_ptr().cast()) == 0 }
}

#[cfg(not(target_os = "linux"))]
pub fn restrict(_cpus: &[usize]) -> bool {
    true
}

/// Parses a CPU list in the kernel's format, `0-3,8`, ascending; `None` if it is malformed.
pub fn parse_list(text: &str) -> Option<Vec<usize>> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.parse::<usize>().ok()?..=last.parse::<usize>().ok()?)
    };
    let parts = text.trim().split(',').filter(|part| !part.is_empty());
    Some(parts.map(range).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_cpus_are_read_as_the_kernel_writes_them() {
        assert_eq!(parse_list("0-2,8\n"), Some(vec![0, 1, 2, 8]));
        assert_eq!(parse_list("5"), Some(vec![5]));
        assert_eq!(parse_list("\n"), Some(vec![]));
        assert_eq!(parse_list("0-x"), None);
    }
}
