//! `scatterlab verify`.

mod outputs;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use anyhow::bail;
use clap::{Args, ValueHint};

use self::outputs::Outputs;
use super::{CASES_FAILED, copies, out};
use crate::case::Availability;
use crate::case::gpus::{Count, Gpus, MOST};
use crate::engine::verify::{Suite, Tally, suite, verify};
use crate::engine::{Executor, executors};
use crate::primitives;
use crate::recipe::plan::Plan;

/// Most wrong findings to print in full.
const SHOWN: usize = 10;

#[derive(Debug, Args)]
pub struct VerifyArguments {
    /// Backends to verify (default: all that are available)
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Primitives to verify (default: all)
    #[arg(long, value_delimiter = ',', value_name = "LIST", value_parser = primitive)]
    primitive: Vec<String>,
    /// Seed of the inputs; without it, a random seed is chosen and printed
    #[arg(long)]
    seed: Option<u64>,
    /// Also run deliberately wrong kernels: each certificate must catch them
    #[arg(long)]
    mutants: bool,
    /// Leave out the cases beyond 4 GiB
    #[arg(long)]
    small: bool,
    /// Verify on N GPUs, both with arrays of their own and with arrays that span them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=MOST))]
    gpus: Option<u64>,
    /// Check only this many cases of each suite, chosen by the seed: for use under slow tools
    #[arg(long, value_name = "CASES")]
    sample: Option<usize>,
    /// Write a table of every check, with a hash of the output that was read back: to compare two
    /// machines, or two versions, with the same seed
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    outputs: Option<PathBuf>,
}

/// The name of a primitive.
fn primitive(name: &str) -> Result<String, String> {
    let known: Vec<&str> = primitives::registry().iter().map(|primitive| primitive.name()).collect();
    let unknown = || format!("no primitive of this name; accepted: {}", known.join(", "));
    known.contains(&name).then(|| name.to_owned()).ok_or_else(unknown)
}

/// Verifies the named backends, or all that are available, in this process.
pub fn run(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    if let Some(status) = copies::refused("verify") {
        return Ok(status);
    }
    let chosen = chosen(&arguments.backend)?;
    arguments.gpus.map_or(Ok(()), |wanted| are_there(wanted, &chosen))?;
    let seed = arguments.seed.unwrap_or_else(random_seed);
    out::line(&format!("seed {seed}"));
    let mut outputs = arguments.outputs.as_deref().map(Outputs::create).transpose()?;
    let mut wrong = 0;
    for executor in chosen {
        for part in suites(arguments, executor.backend()) {
            let mut plan = suite(part, executor.backend(), arguments.gpus, seed)?;
            if !arguments.primitive.is_empty() {
                plan.cases.retain(|case| arguments.primitive.contains(&case.primitive));
            }
            if let Some(size) = arguments.sample {
                thin_out(&mut plan, size);
            }
            wrong += verify_suite(part, &plan, executor.as_ref(), outputs.as_mut())?;
        }
    }
    outputs.map_or(Ok(()), Outputs::end)?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(CASES_FAILED) })
}

fn random_seed() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |d| d.as_nanos() as u64 % 1_000_000_007)
}

/// The executors to verify. A requested backend must be available; any other may be missing.
fn chosen(names: &[String]) -> anyhow::Result<Vec<Box<dyn Executor>>> {
    let all = executors::all();
    for name in names {
        if !all.iter().any(|e| e.backend() == name) {
            let known: Vec<&str> = all.iter().map(|e| e.backend()).collect();
            bail!("unknown backend {name}; accepted: {}", known.join(", "));
        }
    }
    let mut chosen = Vec::new();
    for executor in all {
        let asked = names.iter().any(|n| n == executor.backend());
        match executor.device().availability {
            Availability::Available if asked || names.is_empty() => chosen.push(executor),
            Availability::Unavailable { reason } if asked => bail!("{}: n/a: {reason}", executor.backend()),
            Availability::Unavailable { reason } if names.is_empty() => {
                out::line(&format!("{}: n/a: {reason}", executor.backend()));
            }
            _ => {}
        }
    }
    Ok(chosen)
}

/// Refuses a number of GPUs that these backends do not have: what is left would check other things than were asked for.
fn are_there(wanted: u64, chosen: &[Box<dyn Executor>]) -> anyhow::Result<()> {
    let Some(gpus) = chosen.iter().find(|executor| executor.backend() == "cuda") else {
        bail!(
            "--gpus {wanted}: no GPU is verified here; accepted: a machine with GPUs, and cuda among the backends"
        );
    };
    let there = gpus.devices().iter().filter(|device| device.is_available()).count() as u64;
    let all = Gpus { first: 0, count: Some(Count::Exactly(wanted)), spanning: false };
    all.numbers(there).map_or_else(|short| bail!("--gpus {wanted}: {short}"), |_| Ok(()))
}

/// Cases beyond 4 GiB run only on GPUs: a CPU would generate and certify for minutes.
fn suites(arguments: &VerifyArguments, backend: &str) -> Vec<Suite> {
    let mut suites = vec![Suite::Small];
    if !arguments.small && backend == "cuda" {
        suites.push(Suite::Large);
    }
    if arguments.mutants {
        suites.push(Suite::Mutants);
    }
    suites
}

/// Keeps this many cases. Identities are hashes, so the smallest ones form a random sample.
fn thin_out(plan: &mut Plan, size: usize) {
    plan.cases.sort_by(|a, b| a.id.cmp(&b.id));
    plan.cases.truncate(size);
}

fn verify_suite(
    part: Suite,
    plan: &Plan,
    executor: &dyn Executor,
    mut outputs: Option<&mut Outputs>,
) -> anyhow::Result<usize> {
    let started = Instant::now();
    let live = io::stderr().is_terminal();
    let name = title(part);
    let tally = verify(plan, part, executor, |number, checked| {
        if let Some(outputs) = &mut outputs {
            outputs.add(part, checked);
        }
        if live && number % 16 == 0 {
            out::progress(&format!("{} {name}: {number}/{}", executor.backend(), plan.cases.len()));
        }
    })?;
    if live {
        out::progress("");
    }
    report(executor.backend(), part, &tally, started);
    Ok(tally.wrong.len())
}

fn title(part: Suite) -> &'static str {
    match part {
        Suite::Small => "against the oracle",
        Suite::Large => "beyond 4 GiB",
        Suite::Mutants => "mutants",
    }
}

/// The words for a check that succeeds and for one that fails.
fn words(part: Suite) -> (&'static str, &'static str) {
    if part == Suite::Mutants { ("caught", "missed") } else { ("passed", "wrong") }
}

fn report(backend: &str, part: Suite, tally: &Tally, started: Instant) {
    let (good, bad) = words(part);
    out::line(&format!(
        "{backend} {}: {} {good}, {} n/a, {} {bad} ({:.1} s)",
        title(part),
        tally.passed,
        tally.not_applicable,
        tally.wrong.len(),
        started.elapsed().as_secs_f64()
    ));
    for (label, what) in tally.wrong.iter().take(SHOWN) {
        out::line(&format!("  {label}"));
        out::line(&format!("    {what}"));
    }
    if tally.wrong.len() > SHOWN {
        out::line(&format!("  … and {} more", tally.wrong.len() - SHOWN));
    }
}
