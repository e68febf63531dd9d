//! `scatterlab calibrate`: measures a device and keeps its profile.

mod lab;
mod subject;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::{Args, ValueHint};

use super::headless::{self, Summary};
use super::interrupt::Interrupt;
use super::profiles::{compare, tell};
use super::waiting::spawn;
use super::{CASES_FAILED, DIFFERS, copies, out};
use crate::case::{Device, Value};
use crate::engine::clock;
use crate::model::Profile;
use crate::model::calibrate::{Measured, Row, Target, derive, rows};
use crate::model::profiles::{self, Machine, ProfileStore};
use crate::recipe;
use crate::recipe::plan::{self, Overrides, Plan};
use crate::report::table::{Column, NO_UNIT, OWN_UNIT, Table};
use crate::report::write_of_run;
use crate::run::client::{EngineCommand, Hello};
use crate::run::runner::Runner;
use crate::run::writes::{RUN, temporary, write_durably};
use crate::run::{EngineRunner, Ledger, Record};
pub use lab::calibrator;
use subject::subject;

#[derive(Debug, Args)]
pub struct CalibrateArguments {
    /// Backend of the device: cpu (which includes scalar) or cuda [default: cpu, and cuda if there is a GPU]
    #[arg(long, value_name = "BACKEND", value_parser = ["cpu", "cuda"])]
    backend: Option<String>,
    /// Number of the GPU [default: every GPU]
    #[arg(long, value_name = "N")]
    device: Option<u64>,
    /// Fewer rounds and wider steps
    #[arg(long)]
    quick: bool,
    /// File for the profile, instead of one in ~/.local/share/scatterlab/profiles
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    out: Option<PathBuf>,
    /// Name of the profile [default: the device's]
    #[arg(long, value_name = "NAME", value_parser = named)]
    name: Option<String>,
    /// Keep the calibration's run in this folder
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    keep: Option<PathBuf>,
    /// Save no profile, but check that all figures are within 3 % of the device's profile, or of the one given
    #[arg(long, value_name = "NAME|FILE", num_args = 0..=1)]
    check: Option<Option<String>>,
}

fn named(name: &str) -> Result<String, String> {
    profiles::is_name(name).map(|()| name.to_owned())
}

/// Calibrates the devices one after another.
pub fn run(arguments: &CalibrateArguments, engine: &EngineCommand) -> anyhow::Result<ExitCode> {
    if let Some(status) = copies::refused("calibrate") {
        return Ok(status);
    }
    let (_, hello) = spawn(engine)?;
    let targets = targets(arguments, &hello.devices)?;
    let for_one = [
        ("--out", arguments.out.is_some()),
        ("--name", arguments.name.is_some()),
        ("--keep", arguments.keep.is_some()),
    ];
    if let Some((option, _)) = for_one.iter().find(|(_, said)| *said && targets.len() > 1) {
        bail!("{option} is for one device, but there are {}: give --backend or --device", targets.len());
    }
    let (interrupt, host) = (Interrupt::listen()?, &hello.environment.host);
    let mut code = ExitCode::SUCCESS;
    for (target, device) in targets {
        if interrupt.requested() {
            return Ok(ExitCode::from(CASES_FAILED));
        }
        let Some(profile) = calibrate(arguments, engine, &hello, (target, device), &interrupt)? else {
            code = ExitCode::from(CASES_FAILED);
            continue;
        };
        out::line("");
        show(&profile, device);
        match &arguments.check {
            None => keep(arguments, profile, target, Machine { device, host, now: &clock::now() })?,
            Some(wanted) => {
                if !check(wanted.as_deref(), &profile, device, &hello)? {
                    code = ExitCode::from(DIFFERS);
                }
            }
        }
    }
    Ok(code)
}

/// The devices to calibrate, each as the engine describes it.
///
/// # Errors
/// The requested device is not available, or cannot be calibrated.
fn targets<'d>(
    arguments: &CalibrateArguments,
    devices: &'d [Device],
) -> anyhow::Result<Vec<(Target, &'d Device)>> {
    let wanted = arguments.backend.as_deref().or(arguments.device.map(|_| "cuda"));
    if wanted == Some("cpu") && arguments.device.is_some() {
        bail!("--device is the number of a GPU");
    }
    let of = |backend: &'static str| devices.iter().filter(move |device| device.backend == backend);
    let processors = of("cpu").filter(|_| wanted != Some("cuda")).map(|device| (Target::Processors, device));
    let gpus = of("cuda").zip(0u64..).filter(|(_, number)| arguments.device.is_none_or(|one| one == *number));
    let gpus = gpus.filter(|_| wanted != Some("cpu")).map(|(device, number)| (Target::Gpu(number), device));
    let all: Vec<_> = processors.chain(gpus).collect();
    if wanted.is_none() {
        return Ok(all.into_iter().filter(|(_, device)| device.is_available()).collect());
    }
    match all.iter().find_map(|(_, device)| device.reason()) {
        Some(reason) => bail!("{}: unavailable: {reason}", wanted.unwrap_or_default()),
        None if all.is_empty() => bail!("no such device; scatterlab devices lists the available ones"),
        None => Ok(all),
    }
}

/// The profile of one device; `None`, with a printed reason, if cases failed or were not finished.
fn calibrate(
    arguments: &CalibrateArguments,
    engine: &EngineCommand,
    hello: &Hello,
    (target, device): (Target, &Device),
    interrupt: &Interrupt,
) -> anyhow::Result<Option<Profile>> {
    let text = target.recipe(arguments.quick);
    let plan = planned(&text)?;
    let fresh = temporary().context("cannot make a folder for the run")?;
    let temporary = arguments.keep.is_none();
    let folder = arguments.keep.clone().unwrap_or_else(|| fresh.path().join(RUN));
    interrupt.clears(fresh.path());
    let runner = EngineRunner {
        engine: engine.clone(),
        out: Some(folder),
        root: PathBuf::new(),
        profiles: Vec::new(),
        reports: (!temporary).then_some(write_of_run),
    };
    out::line(&format!("{}: {}", target.backend(), device.name));
    let running = runner.start(plan.clone(), &text)?;
    let (ledger, summary) = headless::watch_quietly(&running, Ledger::new(plan), interrupt)?;
    if !complete(&summary) {
        return Ok(None);
    }
    let measured: Vec<Measured> = ledger.records().iter().filter_map(measured).collect();
    let doubtful = doubts(ledger.records());
    let subject = subject(arguments.name.as_deref(), arguments.quick, hello, (target, device), doubtful);
    derive(&subject, &measured).map(Some).map_err(|reason| anyhow!("no profile: {reason}"))
}

/// A case with its times; `None` without a certified result.
fn measured(record: &Record) -> Option<Measured> {
    let rounds = record.medians();
    if !record.stands() || rounds.is_empty() {
        return None;
    }
    let resolved = record.rounds.iter().flat_map(|round| &round.resolved);
    let mut threads = resolved.filter_map(|(key, value)| match value {
        Value::Int(threads) if key == "backend.cpu.threads" => Some(*threads),
        _ => None,
    });
    Some(Measured {
        backend: record.case.backend().to_owned(),
        primitive: record.case.primitive.clone(),
        params: record.case.params.clone(),
        work: record.work.clone()?,
        rounds,
        threads: threads.next_back(),
    })
}

/// The number of cases with doubtful rounds, and the reasons.
fn doubts(records: &[Record]) -> Option<String> {
    let doubtful: Vec<_> = records.iter().map(Record::flags).filter(|flags| !flags.is_empty()).collect();
    let mut why: BTreeMap<&str, usize> = BTreeMap::new();
    doubtful.iter().flatten().for_each(|flag| *why.entry(flag.word()).or_default() += 1);
    let why: Vec<String> = why.iter().map(|(word, cases)| format!("{word} {cases}")).collect();
    let all = records.len();
    (!doubtful.is_empty()).then(|| format!("{} of {all} cases: {}", doubtful.len(), why.join(", ")))
}

fn planned(text: &str) -> anyhow::Result<Plan> {
    Ok(plan::resolve(&recipe::parse("calibration", text)?, &Overrides::default())?)
}

/// Whether the run can support a profile.
fn complete(summary: &Summary) -> bool {
    if summary.failed + summary.partial + summary.unfinished > 0 {
        out::line("no profile: cases failed or were not finished");
        return false;
    }
    true
}

fn show(profile: &Profile, device: &Device) {
    let rows = rows(profile, subject::bus(device));
    let columns = [
        Column::new("figure", NO_UNIT, |row: &Row| row.figure.clone()),
        Column::new("detected", OWN_UNIT, |row: &Row| row.detected.clone()),
        Column::new("stated", OWN_UNIT, |row: &Row| row.stated.clone()),
    ];
    Table::new(columns, rows).lines().iter().for_each(|line| out::line(line));
    if let Some(doubtful) = profile.made.as_ref().and_then(|made| made.doubtful.as_ref()) {
        out::line(&format!("doubtful, and marked as such in the profile: {doubtful}"));
    }
}

/// Writes the profile to the requested file, or into the user's folder, and says which profile predicts now.
fn keep(
    arguments: &CalibrateArguments,
    mut profile: Profile,
    target: Target,
    machine: Machine<'_>,
) -> anyhow::Result<()> {
    let path = match &arguments.out {
        Some(path) => path.clone(),
        None => {
            let folder = user_folder()?;
            profile.name = profiles::free_name(&folder, &profile);
            profiles::in_folder(&folder, &profile.name)
        }
    };
    profiles::save(&profile, &path, write_durably)?;
    out::line(&format!("profile {}: {}", profile.name, path.display()));
    if arguments.out.is_some() {
        out::line(&format!("only --profile {} predicts from it", path.display()));
        return Ok(());
    }
    let found = ProfileStore::open().of_device(machine).context("the profile just written is not found")?;
    let still = if found.profile.name == profile.name { "now" } else { "still" };
    tell(&format!("{}: {still} predicted from", target.backends().join(", ")), &found);
    Ok(())
}

fn user_folder() -> anyhow::Result<PathBuf> {
    let folder = profiles::folder(|key| std::env::var_os(key));
    folder.context("neither XDG_DATA_HOME nor HOME is set: give --out FILE")
}

/// Whether the new profile agrees with the stored one; differences are printed.
fn check(wanted: Option<&str>, profile: &Profile, device: &Device, hello: &Hello) -> anyhow::Result<bool> {
    let (profiles, now) = (ProfileStore::open(), clock::now());
    let machine = Machine { device, host: &hello.environment.host, now: &now };
    let found = match wanted {
        Some(name) => profiles.named_for(name, machine)?,
        None => profiles.of_device(machine).context("there is no profile of this device to compare with")?,
    };
    out::line("");
    out::line(&format!("against {} ({})", found.profile.name, found.origin));
    found.notices.iter().for_each(|notice| out::line(&format!("  {notice}")));
    compare(&found.profile, profile)
}

#[cfg(test)]
mod tests;
