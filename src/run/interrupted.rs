//! A run that ended early, and what has changed when it is resumed.

use std::path::Path;

use super::Ledger;
use super::folder::{Folder, Manifest, SCHEMA};
use super::stored::Stored;
use crate::case::gpus::Gpus;
use crate::case::{Availability, Case, Device, listed};
use crate::engine::client::Hello;
use crate::engine::environment::fact_names::is_fleeting;
use crate::engine::protocol::{Environment, Event};

/// A stored run that is about to be resumed, locked against other writers.
#[derive(Debug)]
pub struct Interrupted {
    pub stored: Stored,
    pub(super) folder: Folder,
    /// Events that reopen cases: those lost with an engine or skipped, and those that the user asked for in
    /// addition. They are already applied to the ledger.
    pub(super) retried: Vec<Event>,
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
        Ok(Interrupted { retried: retried.collect(), stored, folder })
    }

    /// Also retries the case at this position, or measures further rounds of it.
    pub fn repeat(&mut self, at: usize) {
        if let Some(event) = self.stored.ledger.repeated(at) {
            self.stored.ledger.apply(&event);
            self.retried.push(event);
        }
    }
}

/// Differences between an engine's machine and the manifest's, one line each.
pub fn differences(manifest: &Manifest, hello: &Hello) -> Vec<String> {
    let told = |what: &str, was: &str, is: &str| {
        let both = !was.is_empty() && !is.is_empty();
        (both && was != is).then(|| format!("changed since the run began: {what} is {is}, was {was}"))
    };
    let mut lines: Vec<String> = [
        told("version", &manifest.version, &hello.version),
        told("revision", &manifest.revision, &hello.revision),
    ]
    .into_iter()
    .flatten()
    .collect();
    let (before, now) = (machine(&manifest.environment), machine(&hello.environment));
    lines.extend(changes("", &before, &now, &told));
    for (number, device) in listed::numbered(&hello.devices) {
        let before = listed::nth(&manifest.devices, &device.backend, number).map(facts);
        let called = listed::called(&hello.devices, &device.backend, number);
        lines.extend(changes(&called, &before.unwrap_or_default(), &facts(device), &told));
    }
    lines
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
    if device.availability != Availability::Available {
        return None;
    }
    let reason = |number| match &listed::nth(now, &device.backend, number)?.availability {
        Availability::Available => None,
        Availability::Unavailable { reason } => Some(reason.as_str()),
    };
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
    told: &impl Fn(&str, &str, &str) -> Option<String>,
) -> Vec<String> {
    let was = |name: &str| before.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    now.iter()
        // Fleeting facts are recorded in the events of each engine.
        .filter(|(name, _)| !is_fleeting(name))
        .filter_map(|(name, is)| told(format!("{of} {name}").trim(), was(name)?, is))
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
    let name = match &device.availability {
        Availability::Available => device.name.clone(),
        Availability::Unavailable { reason } => format!("n/a: {reason}"),
    };
    [("device".to_owned(), name)].into_iter().chain(device.facts.clone()).collect()
}

#[cfg(test)]
mod tests;
