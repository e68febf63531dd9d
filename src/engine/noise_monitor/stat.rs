//! `/proc/stat`: CPU time by kind.

/// Seconds since boot, summed over several CPUs. The kernel reports them in ticks of 10 ms, each rounded down.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CpuTime {
    /// All accounted time.
    pub all: f64,
    /// Idle time, including waiting for I/O.
    pub idle: f64,
    /// Steal time: the hypervisor ran something else.
    pub stolen: f64,
}

/// Sums the lines of these CPUs (ascending); `None` if one of them has no line with the eight fields `user nice
/// system idle iowait irq softirq steal` (Linux proc(5)).
pub fn parse(text: &str, cpus: &[usize], ticks_per_second: f64) -> Option<CpuTime> {
    let (mut sum, mut found) = (CpuTime::default(), 0);
    for line in text.lines() {
        let Some((cpu, fields)) = line.strip_prefix("cpu").and_then(|l| l.split_once(' ')) else { continue };
        if !cpu.parse().is_ok_and(|cpu: usize| cpus.binary_search(&cpu).is_ok()) {
            continue;
        }
        // The two further fields (guest time) are already included in the first two.
        let ticks: Vec<f64> = fields.split_whitespace().take(8).map_while(|f| f.parse().ok()).collect();
        let [.., idle, iowait, _, _, steal] = ticks[..] else { return None };
        if ticks.len() < 8 {
            return None;
        }
        found += 1;
        sum.all += ticks.iter().sum::<f64>() / ticks_per_second;
        sum.idle += (idle + iowait) / ticks_per_second;
        sum.stolen += steal / ticks_per_second;
    }
    (found == cpus.len() && found > 0).then_some(sum)
}

/// Ticks per second in `/proc/stat`.
#[cfg(target_os = "linux")]
pub fn ticks_per_second() -> Option<f64> {
    // SAFETY: a plain query without pointers.
    let ticks = unsafe { libc::sysconf(libc::_SC_CLK_TCK) };
    (ticks > 0).then_some(ticks as f64)
}

#[cfg(not(target_os = "linux"))]
pub fn ticks_per_second() -> Option<f64> {
    None
}

/// CPU seconds of all threads of this process, with nanosecond resolution.
pub fn own_seconds() -> Option<f64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is valid for the write and outlives the call.
    let answer = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    (answer == 0).then_some(time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
cpu  100645 0 24328 298564 1990 0 138 160 0 0
cpu0 46992 0 12725 152352 764 0 11 81 0 0
cpu1 53653 7 11603 146212 1226 3 126 78 5 0
cpu10 1 1 1 1 1 1 1 1 1 1
intr 959533 0 0 0
ctxt 1
";

    #[test]
    fn the_lines_of_our_cpus_are_added_up() {
        let one = parse(TEXT, &[1], 100.0).expect("it has a line");
        assert_eq!(one.idle, 1474.38);
        assert_eq!(one.stolen, 0.78);
        assert_eq!(one.all, 2129.08, "time of guests is in the user's already");
        let both = parse(TEXT, &[0, 1], 100.0).expect("lines");
        assert!((both.stolen - 1.59).abs() < 1e-9, "{both:?}");
    }

    #[test]
    fn what_has_no_line_of_its_own_is_not_told() {
        assert_eq!(parse(TEXT, &[0, 2], 100.0), None);
        assert_eq!(parse("", &[0], 100.0), None);
        assert_eq!(parse("cpu0 1 2 3 4 5 6 7\n", &[0], 100.0), None, "an old kernel without steal");
        assert_eq!(parse(TEXT, &[], 100.0), None);
    }
}
