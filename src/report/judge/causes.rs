//! Recorded circumstances that could explain a difference between two runs.

use std::fmt;

use serde::Serialize;

use super::Side;
use crate::case::{Device, listed, units};
use crate::engine::environment::fact_names::is_fleeting;
use crate::engine::protocol::{Environment, RoundResult};
use crate::run::Record;
use crate::stats::median;
use crate::stats::noise::{BACKGROUND, CLOCK, Conditions, STEAL};

/// A circumstance that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `kernel`, `transparent huge pages`, `cuda driver` …
    pub what: String,
    /// The value in each run; empty if a side does not record it.
    pub baseline: String,
    #[serde(rename = "run")]
    pub other: String,
    /// Whether the difference may change times. A different host name does not.
    pub explains: bool,
    /// The backend concerned; `None`: all.
    #[serde(skip)]
    pub backend: Option<String>,
}

impl Difference {
    fn new(what: &str, baseline: &str, other: &str) -> Difference {
        let [what, baseline, other] = [what, baseline, other].map(str::to_owned);
        Difference { what, baseline, other, explains: true, backend: None }
    }
}

impl fmt::Display for Difference {
    /// `kernel: 6.1 → 6.8`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In full: truncated values with the same beginning would look equal.
        let told = |text: &str| if text.is_empty() { "none".to_owned() } else { units::escaped(text) };
        write!(f, "{}: {} → {}", units::escaped(&self.what), told(&self.baseline), told(&self.other))
    }
}

/// Memory sizes within this share of each other may belong to the same machine: kernels reserve different
/// amounts.
const MEMORY: f64 = 0.02;

/// Name of a difference of versions and revisions.
pub(super) const PROGRAM: &str = "scatterlab";

/// Differences between the machines and programs, according to the manifests.
pub fn environments(baseline: &Side, other: &Side) -> Vec<Difference> {
    let (a, b) = (&baseline.manifest.environment, &other.manifest.environment);
    let mut found = Vec::new();
    // A value that only one side records explains nothing: the other side may be equal.
    let mut note = |what: &str, a: &str, b: &str, explains: bool| {
        if a != b && !a.is_empty() && !b.is_empty() {
            found.push(Difference { explains, ..Difference::new(what, a, b) });
        }
    };
    let program = |side: &Side| format!("{} {}", side.manifest.version, side.manifest.revision);
    note(PROGRAM, &program(baseline), &program(other), true);
    note("host", &a.host, &b.host, false);
    note("system", &a.os, &b.os, true);
    note("kernel", &a.kernel, &b.kernel, true);
    note("processor", &a.cpu, &b.cpu, true);
    note("CPUs", &units::ranges(&a.affinity), &units::ranges(&b.affinity), true);
    if a.memory > 0 && b.memory > 0 && !alike(a.memory as f64, b.memory as f64) {
        let size = units::fmt_bytes;
        note("memory", &size(a.memory), &size(b.memory), true);
    }
    let pages = |e: &Environment| e.transparent_huge_pages.clone().unwrap_or_default();
    note("transparent huge pages", &pages(a), &pages(b), true);
    found.extend(facts(&a.facts, &b.facts));
    // A processor is also a device, which lists the memory again.
    let known: Vec<(String, String)> = found.iter().map(|d| (d.baseline.clone(), d.other.clone())).collect();
    let devices = devices(&baseline.manifest.devices, &other.manifest.devices);
    found.extend(devices.into_iter().filter(|d| !known.contains(&(d.baseline.clone(), d.other.clone()))));
    found
}

/// Whether two memory sizes, in bytes, may belong to the same machine.
fn alike(a: f64, b: f64) -> bool {
    (a - b).abs() <= MEMORY * a.max(b)
}

/// Whether two texts of a fact agree; memory sizes in them may differ slightly.
fn same(name: &str, here: &str, there: &str) -> bool {
    let sizes = || {
        let ((words, a), (other, b)) = (with_memory(name, here)?, with_memory(name, there)?);
        (words == other).then_some((a, b))
    };
    here == there || sizes().is_some_and(|(a, b)| alike(a, b))
}

/// The memory size at the end of a fact, in bytes, and the words before it: `memory` of a device is `251
/// GiB`, a NUMA node `CPUs 0-3, memory 126 GiB`.
fn with_memory<'a>(name: &str, text: &'a str) -> Option<(&'a str, f64)> {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let (words, size) = match name {
        "memory" => ("", text),
        _ => text.split_once(", memory ")?,
    };
    let (number, unit) = size.split_once(' ')?;
    let power = UNITS.iter().position(|known| *known == unit)?;
    Some((words, number.parse::<f64>().ok()? * 1024f64.powi(power as i32)))
}

/// Facts that differ. A fact that only one side has explains nothing: an older version did not record it.
fn facts(a: &[(String, String)], b: &[(String, String)]) -> Vec<Difference> {
    let value = |facts: &[(String, String)], name: &str| {
        facts.iter().find(|(n, _)| n == name).map(|(_, value)| value.clone())
    };
    let both = a.iter().filter_map(|(name, here)| Some((name, here, value(b, name)?)));
    both.filter(|(name, here, there)| !is_fleeting(name) && !same(name, here, there))
        .map(|(name, here, there)| Difference::new(name, here, &there))
        .collect()
}

/// Devices of the same backend that differ. A difference that several backends share belongs to the machine
/// and is reported once.
fn devices(a: &[Device], b: &[Device]) -> Vec<Difference> {
    let mut found = Vec::new();
    for (number, here) in listed::numbered(a) {
        let Some(there) = listed::nth(b, &here.backend, number) else { continue };
        let mut own = Vec::new();
        if here.name != there.name && !here.name.is_empty() && !there.name.is_empty() {
            own.push(Difference::new("device", &here.name, &there.name));
        }
        own.extend(facts(&here.facts, &there.facts));
        let called = listed::called(a, &here.backend, number);
        own.into_iter().for_each(|difference| add_device(&mut found, &called, difference));
    }
    let named = |d: Difference| match &d.backend {
        Some(backend) => Difference { what: format!("{backend} {}", d.what), ..d },
        None => d,
    };
    found.into_iter().map(named).collect()
}

fn add_device(found: &mut Vec<Difference>, backend: &str, new: Difference) {
    let same =
        |d: &&mut Difference| (&d.what, &d.baseline, &d.other) == (&new.what, &new.baseline, &new.other);
    match found.iter_mut().find(same) {
        Some(known) => known.backend = None,
        None => found.push(Difference { backend: Some(backend.to_owned()), ..new }),
    }
}

/// The threads of one case, if they differ, and conditions around its rounds, by their medians: those that may have slowed the slower side
/// down more than the other. `slower` means that the other run is the slower side.
pub fn conditions(baseline: &Record, other: &Record, slower: bool) -> Vec<Difference> {
    let (a, b) = (Around::of(baseline), Around::of(other));
    let (fast, slow) = if slower { (&a, &b) } else { (&b, &a) };
    let more = |of: fn(&Around) -> Option<f64>, by: f64| {
        of(slow).zip(of(fast)).is_some_and(|(slow, fast)| slow - fast > by)
    };
    let lower = |of: fn(&Around) -> Option<f64>| {
        of(slow).zip(of(fast)).is_some_and(|(slow, fast)| slow < fast * (1.0 - CLOCK))
    };
    let words = |of: fn(&Around) -> Option<f64>, word: fn(f64) -> String| {
        [&a, &b].map(|side| of(side).map(word).unwrap_or_default())
    };
    let mut found = Vec::new();
    let mut note = |explains: bool, what: &str, [a, b]: [String; 2]| {
        if explains {
            found.push(Difference::new(what, &a, &b));
        }
    };
    let threads = [baseline, other].map(|record| record.threads());
    let others = matches!(threads, [Some(a), Some(b)] if a != b);
    note(others, "threads", threads.map(|threads| threads.map(|n| n.to_string()).unwrap_or_default()));
    let share = |v: f64| format!("{:.0} %", v * 100.0);
    note(more(|s| s.steal, STEAL), "steal time", words(|s| s.steal, share));
    note(
        more(|s| s.background, BACKGROUND),
        "background load",
        words(|s| s.background, |v| format!("{v:.1} CPUs")),
    );
    // Another number of threads changes the clock, too, and is the cause of both.
    note(!others && lower(|s| s.clock), "CPU clock", words(|s| s.clock, |v| format!("{v:.2} GHz")));
    let megahertz = |v: f64| format!("{v:.0} MHz");
    note(lower(|s| s.sm_clock), "GPU clock", words(|s| s.sm_clock, megahertz));
    note(lower(|s| s.memory_clock), "GPU memory clock", words(|s| s.memory_clock, megahertz));
    let throttles = slow.throttle.iter().any(|reason| !fast.throttle.contains(reason));
    note(throttles, "GPU throttled", [a.throttle.join(", "), b.throttle.join(", ")]);
    found
}

/// Medians, over a case's rounds, of their conditions.
struct Around {
    steal: Option<f64>,
    background: Option<f64>,
    clock: Option<f64>,
    sm_clock: Option<f64>,
    memory_clock: Option<f64>,
    /// Throttle reasons of most rounds.
    throttle: Vec<String>,
}

impl Around {
    fn of(record: &Record) -> Around {
        let of = |value: fn(&Conditions) -> Option<f64>| {
            let values: Vec<f64> = record.rounds.iter().filter_map(|r| value(&r.conditions)).collect();
            median(&values)
        };
        Around {
            steal: of(|c| c.steal),
            background: of(|c| c.background),
            clock: of(|c| c.clock),
            sm_clock: of(|c| c.gpu.as_ref()?.sm_clock.map(f64::from)),
            memory_clock: of(|c| c.gpu.as_ref()?.memory_clock.map(f64::from)),
            throttle: throttle(&record.rounds),
        }
    }
}

fn throttle(rounds: &[RoundResult]) -> Vec<String> {
    let reasons = |round: &RoundResult| round.conditions.gpu.clone().unwrap_or_default().throttle;
    let all: Vec<String> = rounds.iter().flat_map(reasons).collect();
    let often = |reason: &String| 2 * all.iter().filter(|r| *r == reason).count() > rounds.len();
    let mut found: Vec<String> = all.iter().filter(|reason| often(reason)).cloned().collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::judge::tests::{manifest, measured, side};
    use crate::stats::noise::GpuConditions;

    fn names(found: &[Difference]) -> Vec<&str> {
        found.iter().map(|d| d.what.as_str()).collect()
    }

    #[test]
    fn the_same_machine_has_no_differences_and_another_one_is_told_apart() {
        let (a, mut b) = (manifest(), manifest());
        assert_eq!(environments(&side(&a), &side(&b)), []);
        b.environment.affinity = vec![0, 1, 2, 5];
        b.environment.memory += 4096;
        b.environment.host = "another".to_owned();
        b.environment.transparent_huge_pages = Some("never".to_owned());
        b.environment.facts = vec![("governor".into(), "powersave".into()), ("load".into(), "0.7".into())];
        b.devices[1].facts = vec![("driver".into(), "580.1".into())];
        let mut a = a;
        a.environment.facts = vec![("governor".into(), "performance".into()), ("load".into(), "0.1".into())];
        a.devices[1].facts = vec![("driver".into(), "575.9".into()), ("new fact".into(), "x".into())];
        let found = environments(&side(&a), &side(&b));
        assert_eq!(names(&found), ["host", "CPUs", "transparent huge pages", "governor", "cuda driver"]);
        assert_eq!((found[1].baseline.as_str(), found[1].other.as_str()), ("0-1", "0-2,5"));
        assert_eq!(found.iter().map(|d| d.explains).collect::<Vec<_>>(), [false, true, true, true, true]);
        assert_eq!(found[4].backend.as_deref(), Some("cuda"));
    }

    #[test]
    fn what_is_of_the_moment_explains_nothing() {
        let (mut a, mut b) = (manifest(), manifest());
        a.environment.facts = vec![("swap".into(), "2 GiB, 0 B used".into())];
        b.environment.facts = vec![("swap".into(), "2 GiB, 1 GiB used".into())];
        assert_eq!(environments(&side(&a), &side(&b)), []);
    }

    #[test]
    fn what_one_side_does_not_tell_explains_nothing() {
        let (a, mut b) = (manifest(), manifest());
        b.environment.transparent_huge_pages = None;
        b.environment.kernel = String::new();
        b.environment.memory = 0;
        b.environment.affinity = Vec::new();
        assert_eq!(environments(&side(&a), &side(&b)), []);
        assert_eq!(environments(&side(&b), &side(&a)), []);
    }

    #[test]
    fn a_little_less_memory_is_the_same_machine_wherever_it_is_told() {
        let told = |memory: &str, node: &str| {
            let mut manifest = manifest();
            manifest.devices[0].facts = vec![("memory".into(), memory.into())];
            manifest.environment.facts = vec![("NUMA node 1".into(), node.into())];
            manifest
        };
        let a = told("251 GiB", "CPUs 0-3, memory 126 GiB");
        let found = |b: &crate::run::layout::Manifest| environments(&side(&a), &side(b));
        assert_eq!(found(&told("250 GiB", "CPUs 0-3, memory 125 GiB")), []);
        assert_eq!(names(&found(&told("250 GiB", "CPUs 0-1, memory 125 GiB"))), ["NUMA node 1"]);
        assert_eq!(names(&found(&told("251 GiB", "CPUs 0-3"))), ["NUMA node 1"]);
        assert_eq!(names(&found(&told("1 TiB", "CPUs 0-3, memory 99.5 GiB"))), ["NUMA node 1", "cpu memory"]);
    }

    #[test]
    fn differences_that_begin_alike_do_not_read_alike() {
        let flags = |last: &str| format!("{} {last}", "avx512".repeat(12));
        let text = Difference::new("CPU\nflags", &flags("a"), &flags("b")).to_string();
        let (before, after) = text.split_once(" → ").expect("two values");
        assert!(before.ends_with(" a") && after.ends_with(" b") && !text.contains('\n'), "{text}");
    }

    #[test]
    fn conditions_explain_only_what_they_could_have_caused() {
        let (quiet, mut busy) = (measured(&[1.0; 3]), measured(&[2.0; 3]));
        for round in &mut busy.rounds {
            round.conditions.background = Some(0.9);
            round.conditions.clock = Some(2.0);
        }
        let mut calm = quiet.clone();
        for round in &mut calm.rounds {
            round.conditions.background = Some(0.0);
            round.conditions.clock = Some(3.0);
        }
        assert_eq!(conditions(&quiet, &busy, true), [], "one side does not tell");
        assert_eq!(names(&conditions(&calm, &busy, true)), ["background load", "CPU clock"]);
        assert_eq!(conditions(&calm, &busy, false), [], "a busier machine is not faster for it");
        assert_eq!(names(&conditions(&busy, &calm, false)), ["background load", "CPU clock"]);
    }

    #[test]
    fn other_threads_explain_and_a_clock_that_follows_from_them_does_not() {
        let on = |threads: u64, clock: f64| {
            let mut record = measured(&[1.0; 3]);
            for round in &mut record.rounds {
                round.resolved = vec![("backend.cpu.threads".into(), crate::case::Value::Int(threads))];
                round.conditions.clock = Some(clock);
            }
            record
        };
        let found = conditions(&on(2, 2.0), &on(1, 3.0), false);
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), ["threads: 2 → 1"]);
        assert_eq!(names(&conditions(&on(2, 2.0), &on(2, 3.0), false)), ["CPU clock"]);
    }

    #[test]
    fn a_gpu_that_is_held_down_explains() {
        let (free, mut held) = (measured(&[1.0; 3]), measured(&[2.0; 3]));
        let gpu = GpuConditions { throttle: vec!["power cap".into()], ..GpuConditions::default() };
        held.rounds[0].conditions.gpu = Some(gpu.clone());
        assert_eq!(conditions(&free, &held, true), [], "one round of three");
        held.rounds[1].conditions.gpu = Some(gpu);
        assert_eq!(names(&conditions(&free, &held, true)), ["GPU throttled"]);
    }
}
