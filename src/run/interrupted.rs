//! A run that ended early, and what has changed when it is resumed.

use std::fmt;
use std::path::Path;

use super::folder::Folder;
use super::layout::{Manifest, SCHEMA};
use super::stored::Stored;
use super::{Ledger, Record};
use crate::case::gpus::Gpus;
use crate::case::units::number_of;
use crate::case::{Case, Device, Measure, Verdict, listed};
use crate::engine::environment::fact_names::{PREFETCHERS, is_fleeting};
use crate::engine::protocol::{Environment, Event};
use crate::run::client::Hello;

/// A stored run that is about to be resumed, locked against other writers.
#[derive(Debug)]
pub struct Interrupted {
    pub stored: Stored,
    pub(super) folder: Folder,
    /// Events that reopen cases: those lost with an engine or skipped, and those that the user asked for in
    /// addition. They are already applied to the ledger.
    pub(super) retried: Vec<Event>,
    /// Refuses an engine beside whose rounds those on file cannot count, instead of setting these aside.
    pub strict: bool,
}

impl Interrupted {
    /// Opens a run's folder, truncates a torn last line of its event log, and migrates an old manifest.
    ///
    /// # Errors
    /// As for [`Stored::open`], or when another program is writing the run.
    pub fn open(path: &Path) -> anyhow::Result<Interrupted> {
        Self::open_while(path, &|| true)
    }

    /// Like [`open`](Self::open), but gives up once `wanted` returns false.
    ///
    /// As for [`open`](Self::open), or when `wanted` returns false.
    pub fn open_while(path: &Path, wanted: &dyn Fn() -> bool) -> anyhow::Result<Interrupted> {
        let mut folder = Folder::reopen(path)?;
        let mut stored = Stored::open_while(path, wanted)?;
        folder.continue_after(&stored.log)?;
        if stored.manifest.schema < SCHEMA {
            stored.manifest.schema = SCHEMA;
            folder.write_manifest(&stored.manifest)?;
        }
        let retried = stored.ledger.retry().into_iter().map(|case| Event::Retried { case, rounds: 0 });
        Ok(Interrupted { retried: retried.collect(), stored, folder, strict: false })
    }

    /// Also retries the case at this position, or measures further rounds of it.
    pub fn repeat(&mut self, at: usize) {
        if let Some(event) = self.stored.ledger.repeated(at) {
            self.stored.ledger.apply(&event);
            self.retried.push(event);
        }
    }
}

/// A fact of the program, the machine or a device that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    what: String,
    is: String,
    was: String,
    concerns: Concerns,
}

/// The cases whose times a fact decides, so that rounds from before and after its change cannot be pooled.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Concerns {
    /// None: the fact explains a difference at most.
    Nothing,
    Everything,
    /// Cases on CPUs, and those that move data between CPUs and a GPU.
    Cpus,
    /// Cases on the device of this backend with this number.
    Device(String, usize),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "changed since the run began: {}", self.words())
    }
}

impl Difference {
    /// `affinity is 0, was 0,1`.
    fn words(&self) -> String {
        format!("{} is {}, was {}", self.what, self.is, self.was)
    }

    fn decides(&self, case: &Case, measure: &Measure) -> bool {
        let (backend, _) = case.place();
        match &self.concerns {
            Concerns::Nothing => false,
            Concerns::Everything => true,
            Concerns::Cpus => backend != "cuda" || measure.transfer.is_some(),
            Concerns::Device(of, number) => backend == of && Gpus::of(&case.params).takes(*number as u64),
        }
    }
}

/// Facts of the environment that decide the times of cases on CPUs.
const OF_PROCESSORS: [&str; 11] = [
    "kernel",
    "processor",
    "stepping",
    "affinity",
    "transparent huge pages",
    "page size",
    PREFETCHERS,
    "governor",
    "boost",
    "cgroup CPU limit",
    "mitigations",
];

/// Facts of a device that do not decide its times: where it is plugged in, and memory that others may hold.
const BESIDE: [&str; 3] = ["number", "PCI bus id", "memory"];

/// Differences between an engine's machine and the manifest's.
pub fn differences(manifest: &Manifest, hello: &Hello) -> Vec<Difference> {
    let told = |what: &str, was: &str, is: &str| {
        let both = !was.is_empty() && !is.is_empty();
        let difference = || Difference {
            what: what.to_owned(),
            is: is.to_owned(),
            was: was.to_owned(),
            concerns: Concerns::Everything,
        };
        (both && was != is).then(difference)
    };
    let mut all: Vec<Difference> = [
        told("version", &manifest.version, &hello.version),
        told("revision", &manifest.revision, &hello.revision),
    ]
    .into_iter()
    .flatten()
    .collect();
    let of_processors = |name: &str| match OF_PROCESSORS.contains(&name) {
        true => Concerns::Cpus,
        false => Concerns::Nothing,
    };
    let (before, now) = (machine(&manifest.environment), machine(&hello.environment));
    all.extend(changes("", &before, &now, &told, &of_processors));
    for (number, device) in listed::numbered(&hello.devices) {
        let before = listed::nth(&manifest.devices, &device.backend, number).map(facts);
        let called = listed::called(&hello.devices, &device.backend, number);
        // What was measured on a device that is gone cannot be measured again.
        let there = device.is_available();
        let of_device = |name: &str| match there && !BESIDE.contains(&name) {
            true => Concerns::Device(device.backend.clone(), number),
            false => Concerns::Nothing,
        };
        all.extend(changes(&called, &before.unwrap_or_default(), &facts(device), &told, &of_device));
    }
    all
}

/// The events that set rounds aside: one for each case with rounds on file that these differences concern. A wrong
/// result stays.
pub fn set_aside(differences: &[Difference], ledger: &Ledger) -> Vec<Event> {
    let event = |(at, record): (usize, &Record)| {
        let measure = ledger.measure(at);
        let wrong = matches!(record.verdict, Some(Verdict::Wrong { .. }));
        let of_it: Vec<String> = differences
            .iter()
            .filter(|difference| difference.decides(&record.case, measure))
            .map(Difference::words)
            .collect();
        let concerned = !of_it.is_empty() && !record.rounds.is_empty() && !wrong;
        concerned.then(|| Event::SetAside { case: record.case.id.clone(), reason: of_it.join("; ") })
    };
    ledger.measured().filter_map(event).collect()
}

/// What these events set aside, and why: `8 rounds of 2 cases (affinity is 0, was 0,1)`.
pub fn told(aside: &[Event], ledger: &Ledger) -> String {
    let (mut rounds, mut reasons) = (0, Vec::new());
    for event in aside {
        let Event::SetAside { case, reason } = event else { continue };
        let record = ledger.position(case).and_then(|at| ledger.records().get(at));
        rounds += record.map_or(0, |record| record.rounds.len());
        for reason in reason.split("; ") {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
    }
    format!("{} of {} ({})", number_of(rounds, "round"), number_of(aside.len(), "case"), reasons.join("; "))
}

/// Whether any of these facts decides a time, so that the run's machine is another one from here on.
pub fn is_another(differences: &[Difference]) -> bool {
    differences.iter().any(|difference| difference.concerns != Concerns::Nothing)
}

/// Why an engine may not resume a run: a device that the run began with is gone, and cases on it remain.
pub fn missing(manifest: &Manifest, hello: &Hello, ledger: &Ledger) -> Option<String> {
    let left = ledger.left();
    listed::numbered(&manifest.devices).find_map(|(number, device)| {
        let reason = lacking(device, number, &hello.devices)?;
        let takes = |case: &Case| Gpus::of(&case.params).takes(number as u64);
        let own = |case: &&&Case| case.place().0 == device.backend && takes(case);
        let left = left.iter().filter(own).count();
        let cases = if left == 1 { "a case is" } else { "cases are" };
        let count = if left > 1 { format!("{left} ") } else { String::new() };
        let called = listed::called(&manifest.devices, &device.backend, number);
        (left > 0).then(|| format!("{called} is no longer there ({reason}), and {count}{cases} left on it"))
    })
}

/// Why a formerly available device no longer is. Without a driver, one entry stands for all devices of a
/// backend.
fn lacking<'a>(device: &Device, number: usize, now: &'a [Device]) -> Option<&'a str> {
    if !device.is_available() {
        return None;
    }
    let reason = |number| listed::nth(now, &device.backend, number)?.reason();
    match listed::nth(now, &device.backend, number) {
        Some(_) => reason(number),
        None => reason(0).or(Some("the engine does not know it")),
    }
}

type Facts = Vec<(String, String)>;

/// Facts present on both sides with different values. A fact present on one side only was not collected by the
/// other version, or belongs to a device that is reported already.
fn changes(
    of: &str,
    before: &Facts,
    now: &Facts,
    told: &impl Fn(&str, &str, &str) -> Option<Difference>,
    concerns: &impl Fn(&str) -> Concerns,
) -> Vec<Difference> {
    let was = |name: &str| before.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    now.iter()
        // Fleeting facts are recorded in the events of each engine.
        .filter(|(name, _)| !is_fleeting(name))
        .filter_map(|(name, is)| {
            let difference = told(format!("{of} {name}").trim(), was(name)?, is)?;
            Some(Difference { concerns: concerns(name), ..difference })
        })
        .collect()
}

fn machine(environment: &Environment) -> Facts {
    let affinity: Vec<String> = environment.affinity.iter().map(usize::to_string).collect();
    let named = [
        ("host", environment.host.clone()),
        ("os", environment.os.clone()),
        ("kernel", environment.kernel.clone()),
        ("processor", environment.cpu.clone()),
        ("affinity", affinity.join(",")),
        ("memory", format!("{} B", environment.memory)),
        ("transparent huge pages", environment.transparent_huge_pages.clone().unwrap_or_default()),
    ];
    named.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(environment.facts.clone()).collect()
}

/// The facts of a device, without the free memory, which always differs.
fn facts(device: &Device) -> Facts {
    [("device".to_owned(), device.name_or_reason())].into_iter().chain(device.facts.clone()).collect()
}

#[cfg(test)]
mod tests;
