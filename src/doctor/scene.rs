//! The observations that the checks examine.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use crate::device::cpu::affinity;
use crate::files;
use crate::run::client::Hello;

/// The machine over a stretch of time, and the engine's greeting.
#[derive(Clone, Debug)]
pub struct Scene {
    /// CPUs of this process's affinity mask.
    pub mask: Vec<usize>,
    /// Ticks of each CPU between the two observations.
    pub cpus: HashMap<usize, Ticks>,
    /// Processes by the number of CPUs that they kept busy between the two observations, busiest first, without
    /// this process.
    pub busy: Vec<Process>,
    /// The engine's greeting, or why there is none.
    pub engine: Result<Hello, String>,
    /// Whether the engine is started by a command that the user gave.
    pub remote: bool,
}

/// CPU time in clock ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    pub stolen: u64,
    pub all: u64,
}

/// A process that used CPU time.
#[derive(Clone, Debug, PartialEq)]
pub struct Process {
    pub id: u32,
    pub name: String,
    /// Number of CPUs that the process kept busy.
    pub cpus: f64,
}

impl Scene {
    /// Observes the machine twice, `time` apart.
    pub fn observe(time: Duration, engine: Result<Hello, String>, remote: bool) -> Scene {
        let (cpus, processes, began) = (cpus(), processes(), Instant::now());
        thread::sleep(time);
        let seconds = began.elapsed().as_secs_f64();
        let spent = |id: &usize, now: &Ticks| {
            let before = cpus.get(id).copied().unwrap_or_default();
            let (stolen, all) =
                (now.stolen.saturating_sub(before.stolen), now.all.saturating_sub(before.all));
            Ticks { stolen, all }
        };
        let after = self::cpus();
        Scene {
            mask: affinity::allowed(),
            cpus: after.iter().map(|(id, now)| (*id, spent(id, now))).collect(),
            busy: busiest(&processes, &self::processes(), seconds),
            engine,
            remote,
        }
    }
}

/// A file's text, trimmed.
pub fn text(path: impl AsRef<Path>) -> Option<String> {
    files::system(path).map(|text| text.trim().to_owned())
}

fn cpus() -> HashMap<usize, Ticks> {
    parse_cpus(&text("/proc/stat").unwrap_or_default())
}

/// Parses the lines `cpu0 user nice system idle iowait irq softirq steal …` of `/proc/stat`. The guest times
/// that follow are already included in `user`.
fn parse_cpus(text: &str) -> HashMap<usize, Ticks> {
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        let id = fields.next()?.strip_prefix("cpu")?.parse().ok()?;
        let ticks: Vec<u64> = fields.take(8).filter_map(|field| field.parse().ok()).collect();
        Some((id, Ticks { stolen: ticks.get(7).copied().unwrap_or(0), all: ticks.iter().sum() }))
    };
    text.lines().filter_map(line).collect()
}

/// Name and CPU time in clock ticks of every process.
fn processes() -> HashMap<u32, (String, u64)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().filter_map(Result::ok);
    let stat = |id: u32| Some((id, parse_process(&text(format!("/proc/{id}/stat"))?)?));
    entries.filter_map(|entry| stat(entry.file_name().to_str()?.parse().ok()?)).collect()
}

/// Parses `12 (a name) S …`. The name may contain any character; utime and stime are fields 14 and 15.
fn parse_process(stat: &str) -> Option<(String, u64)> {
    let (head, rest) = stat.rsplit_once(')')?;
    let name = head.split_once('(')?.1;
    let field = |number: usize| rest.split_whitespace().nth(number - 3)?.parse::<u64>().ok();
    Some((crate::case::units::escaped(name), field(14)? + field(15)?))
}

fn busiest(
    before: &HashMap<u32, (String, u64)>,
    after: &HashMap<u32, (String, u64)>,
    seconds: f64,
) -> Vec<Process> {
    // SAFETY: asking for a system constant touches no memory of ours.
    let rate = unsafe { libc::sysconf(libc::_SC_CLK_TCK) }.max(1) as f64;
    let own = std::process::id();
    let process = |(id, (name, ticks)): (&u32, &(String, u64))| {
        let earlier = before.get(id).map_or(0, |(_, ticks)| *ticks);
        let cpus = ticks.saturating_sub(earlier) as f64 / rate / seconds;
        (cpus > 0.0 && *id != own).then(|| Process { id: *id, name: name.clone(), cpus })
    };
    let mut busy: Vec<Process> = after.iter().filter_map(process).collect();
    busy.sort_by(|a, b| b.cpus.total_cmp(&a.cpus).then(a.id.cmp(&b.id)));
    busy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_time_is_the_eighth_field() {
        let cpus = parse_cpus("cpu  9 9 9 9 9 9 9 9 0 0\ncpu1 1 2 3 4 5 6 7 8 9 10\nintr 5\n");
        assert_eq!(cpus, HashMap::from([(1, Ticks { stolen: 8, all: 36 })]));
    }

    #[test]
    fn a_process_may_have_any_name() {
        let stat = "12 (a ) b) S 1 12 12 0 -1 0 0 0 0 0 30 12 0 0 20 0 1";
        assert_eq!(parse_process(stat), Some(("a ) b".into(), 42)));
        assert_eq!(parse_process("nonsense"), None);
    }

    #[test]
    fn the_busiest_process_comes_first() {
        let at = |a, b| HashMap::from([(1, ("a".to_owned(), a)), (2, ("b".to_owned(), b))]);
        let busy = busiest(&at(0, 0), &at(10, 50), 1.0);
        let names: Vec<&str> = busy.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["b", "a"]);
        assert!(busiest(&at(5, 5), &at(5, 5), 1.0).is_empty(), "idle ones are not listed");
    }
}
