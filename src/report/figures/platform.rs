//! Platforms: the units that a paper's figure compares. A platform is a device with its backend's settings,
//! in one stored run or in several complementary runs of the same machine.

use std::collections::HashSet;

use crate::case::{Params, Value, Verdict};
use crate::report::svg::device_name;
use crate::report::verdicts::NamedRun;
use crate::run::Record;

/// The paper's two kinds of platforms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Cpu,
    Gpu,
}

impl Kind {
    pub fn words(self) -> &'static str {
        match self {
            Kind::Cpu => "CPUs",
            Kind::Gpu => "GPUs",
        }
    }
}

/// A device with its settings and all its stored records.
#[derive(Clone, Debug)]
pub struct Platform<'a> {
    /// `Intel Xeon, 16 threads`: unique among the platforms of a figure.
    pub label: String,
    pub kind: Kind,
    /// `backend` and the parameters below it.
    pub settings: Params,
    pub runs: Vec<&'a NamedRun<'a>>,
    pub records: Vec<(&'a NamedRun<'a>, &'a Record)>,
}

impl<'a> Platform<'a> {
    fn of(run: &'a NamedRun<'a>, settings: Params) -> Platform<'a> {
        let kind = if settings.text("backend") == Some("cuda") { Kind::Gpu } else { Kind::Cpu };
        let all = run.side.ledger.records().iter();
        let records = all.filter(|r| self::settings(r) == settings).map(|r| (run, r)).collect();
        Platform { label: String::new(), kind, settings, runs: vec![run], records }
    }

    pub fn backend(&self) -> &str {
        self.settings.text("backend").unwrap_or("?")
    }

    /// The device's number among those of the backend.
    fn number(&self) -> u64 {
        self.settings.int("backend.cuda.device").unwrap_or(0)
    }

    /// The device's full name in its first run.
    pub fn device(&self) -> &'a str {
        let manifest = self.runs[0].side.manifest;
        device_name((self.backend(), self.number()), &manifest.environment, &manifest.devices)
    }

    /// Whether the platforms have the same machine and settings, and no case in common.
    fn completes(&self, other: &Platform) -> bool {
        let cases: HashSet<&str> = self.records.iter().map(|(_, r)| r.case.id.as_str()).collect();
        self.settings == other.settings
            && self.device() == other.device()
            && self.machine() == other.machine()
            && other.records.iter().all(|(_, r)| !cases.contains(r.case.id.as_str()))
    }

    /// Properties that identify the machine.
    fn machine(&self) -> (&'a str, u64, &'a [usize]) {
        let environment = &self.runs[0].side.manifest.environment;
        (&environment.host, environment.memory, &environment.affinity)
    }

    /// The resolved value of a setting such as `threads`, also for `auto`.
    fn resolved(&self, name: &str) -> Option<String> {
        let key = format!("backend.{}.{name}", self.backend());
        let rounds = self.records.iter().flat_map(|(_, record)| &record.rounds);
        let found = rounds.flat_map(|round| &round.resolved).find(|(k, _)| *k == key).map(|(_, v)| v);
        let given = || self.settings.get(&key).filter(|v| **v != Value::Text("auto".to_owned()));
        found.or_else(given).map(Value::to_string)
    }

    fn threads(&self) -> Option<String> {
        match (self.backend(), self.resolved("threads")) {
            ("scalar", _) => Some("1 thread".to_owned()),
            (_, Some(one)) if one == "1" => Some("1 thread".to_owned()),
            (_, Some(many)) => Some(format!("{many} threads")),
            _ => None,
        }
    }

    /// `Intel(R) Xeon(R) Processor, cpu, isa avx512 on host: reports/x (2026-11-21 00:46:27)`.
    pub fn origin(&self) -> String {
        let device = Some(self.device()).filter(|device| !self.label.contains(device));
        let isa = self.resolved("isa").map(|isa| format!("isa {isa}"));
        let words = [device.map(str::to_owned), Some(self.backend().to_owned()), isa];
        let words: Vec<String> = words.into_iter().flatten().collect();
        let run = |named: &&NamedRun| format!("{} ({})", named.name, named.side.manifest.started);
        let runs: Vec<String> = self.runs.iter().map(run).collect();
        let host = &self.runs[0].side.manifest.environment.host;
        format!("{} on {host}: {}", words.join(", "), runs.join(", "))
    }
}

/// One platform for each run and each of its settings, in the order of the runs and of their plans.
pub fn separate<'a>(runs: &'a [NamedRun<'a>]) -> Vec<Platform<'a>> {
    labelled(runs.iter().flat_map(of_run).collect())
}

/// The platforms of [`separate`], merging runs of one machine that have no case in common: for example, one
/// with application patterns and one with their references.
pub fn joined<'a>(runs: &'a [NamedRun<'a>]) -> Vec<Platform<'a>> {
    let mut platforms: Vec<Platform<'a>> = Vec::new();
    for next in runs.iter().flat_map(of_run) {
        match platforms.iter_mut().find(|known| known.completes(&next)) {
            Some(known) => {
                known.runs.extend(next.runs);
                known.records.extend(next.records);
            }
            None => platforms.push(next),
        }
    }
    labelled(platforms)
}

fn of_run<'a>(run: &'a NamedRun<'a>) -> Vec<Platform<'a>> {
    let mut found: Vec<Params> = Vec::new();
    for settings in run.side.ledger.records().iter().map(settings) {
        if !found.contains(&settings) {
            found.push(settings);
        }
    }
    found.into_iter().map(|settings| Platform::of(run, settings)).collect()
}

/// The backend of a case and its own parameters.
fn settings(record: &Record) -> Params {
    let own = |key: &str| key == "backend" || key.starts_with("backend.");
    let params = record.case.params.0.iter().filter(|(key, _)| own(key));
    Params(params.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Labels the platforms: by device and threads, plus as much as makes them unique.
fn labelled(mut platforms: Vec<Platform>) -> Vec<Platform> {
    let isa = |p: &Platform| p.resolved("isa").map(|isa| format!("isa {isa}"));
    let number = |p: &Platform| (p.kind == Kind::Gpu).then(|| format!("device {}", p.number()));
    let run = |p: &Platform| Some(p.runs.iter().map(|r| r.name.as_str()).collect::<Vec<_>>().join(" + "));
    let backend = |p: &Platform| Some(p.backend().to_owned());
    for platform in &mut platforms {
        let words = [Some(short(platform.device())), platform.threads()];
        platform.label = words.into_iter().flatten().collect::<Vec<_>>().join(", ");
    }
    for more in [&isa as &dyn Fn(&Platform) -> Option<String>, &number, &run, &backend] {
        let known: Vec<(String, Option<String>)> =
            platforms.iter().map(|p| (p.label.clone(), more(p))).collect();
        for platform in &mut platforms {
            let word = more(platform);
            let differs = known.iter().any(|(label, other)| *label == platform.label && *other != word);
            if let (true, Some(word)) = (differs, word) {
                platform.label = format!("{}, {word}", platform.label);
            }
        }
    }
    platforms
}

/// A device's name without generic marketing words.
fn short(name: &str) -> String {
    let name = name.split(" @ ").next().unwrap_or(name);
    let name = ["(R)", "(r)", "(TM)", "(tm)"].iter().fold(name.to_owned(), |n, mark| n.replace(mark, ""));
    let said = |word: &&str| !["CPU", "Processor"].contains(word) && !word.ends_with("-Core");
    let words: Vec<&str> = name.split_whitespace().filter(said).collect();
    if words.is_empty() { "unnamed device".to_owned() } else { words.join(" ") }
}

/// Whether a certificate holds for what was measured.
pub fn is_certified(record: &Record) -> bool {
    matches!(record.verdict, Some(Verdict::Certified { .. }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_called_by_what_tells_them_apart() {
        for (name, expected) in [
            ("Intel(R) Xeon(R) Platinum 8160 CPU @ 2.10GHz", "Intel Xeon Platinum 8160"),
            ("AMD EPYC 7742 64-Core Processor", "AMD EPYC 7742"),
            ("NVIDIA H200", "NVIDIA H200"),
            ("", "unnamed device"),
        ] {
            assert_eq!(short(name), expected);
        }
    }
}
