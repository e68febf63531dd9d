//! `scatterlab verify`.

mod faults;
mod outputs;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{anyhow, bail};
use clap::{Args, ValueHint};

use self::faults::Faults;
use self::outputs::Outputs;
use super::format::{Format, OF_TABLES, Output, one_of};
use super::recipes::Source;
use super::{CASES_FAILED, copies, out};
use crate::case::gpus::{Count, Gpus, MOST};
use crate::case::{Availability, units};
use crate::engine::verify::{Suite, Tally, joined, suite, verify};
use crate::engine::{Executor, executors};
use crate::primitives;
use crate::recipe::plan::{Overrides, Plan};
use crate::recipe::shipped;

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
    /// Also run deliberately wrong kernels: each certificate must catch them, unless the oracle computes the same
    #[arg(long)]
    mutants: bool,
    /// Check the cases of these recipes, or of all shipped ones, as they are measured: of each computation the
    /// largest size up to --largest, in an order by the seed
    #[arg(long, value_delimiter = ',', value_name = "LIST", num_args = 0.., conflicts_with_all = ["small", "gpus"])]
    recipes: Option<Vec<String>>,
    /// With --recipes: largest arrays of a case
    #[arg(long, value_name = "SIZE", default_value = "64MiB", value_parser = units::parse_bytes)]
    largest: u64,
    /// Begin no case of a suite after this time, such as 10min or 90s
    #[arg(long, value_name = "TIME", value_parser = time)]
    max_time: Option<Duration>,
    /// With --mutants: write what became of each fault, in each method of each primitive, to standard output
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES), requires = "mutants")]
    format: Option<Format>,
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

/// A time of 24 hours at most.
fn time(text: &str) -> Result<Duration, String> {
    let seconds = units::parse_seconds(text).map_err(|reason| reason.to_string())?;
    let time = Duration::try_from_secs_f64(seconds).ok().filter(|time| (1..=86400).contains(&time.as_secs()));
    time.ok_or_else(|| format!("{text} is not in 1s to 24h"))
}

/// Verifies the named backends, or all that are available, in this process.
pub fn run(arguments: &VerifyArguments) -> anyhow::Result<ExitCode> {
    if let Some(status) = copies::refused("verify") {
        return Ok(status);
    }
    let chosen = chosen(&arguments.backend)?;
    arguments.gpus.map_or(Ok(()), |wanted| are_there(wanted, &chosen))?;
    let seed = arguments.seed.unwrap_or_else(random_seed);
    let mut output = Output::open(arguments.format, 1)?;
    out::line(&format!("seed {seed}"));
    let mut outputs = arguments.outputs.as_deref().map(Outputs::create).transpose()?;
    let (mut wrong, mut faults) = (0, Faults::default());
    for executor in chosen {
        for part in suites(arguments, executor.backend()) {
            let mut plan = match &arguments.recipes {
                Some(names) => of_recipes(names, executor.backend(), arguments.largest, seed)?,
                None => suite(part, executor.backend(), arguments.gpus, seed)?,
            };
            if !arguments.primitive.is_empty() {
                plan.cases.retain(|case| arguments.primitive.contains(&case.primitive));
            }
            if let Some(size) = arguments.sample {
                thin_out(&mut plan, size);
            }
            let checks = Checks { part, executor: executor.as_ref(), most_time: arguments.max_time };
            wrong += checks.run(&plan, outputs.as_mut(), &mut faults)?;
        }
    }
    outputs.map_or(Ok(()), Outputs::end)?;
    if output.is_asked_for() {
        output.table(faults.table())?;
    } else if arguments.mutants {
        faults.lines().iter().for_each(|line| out::line(line));
    }
    output.end()?;
    Ok(if wrong == 0 { ExitCode::SUCCESS } else { ExitCode::from(CASES_FAILED) })
}

/// The cases of these recipes, or of all that are shipped, on a backend in place of the recipe's, with the seed.
fn of_recipes(names: &[String], backend: &str, largest: u64, seed: u64) -> anyhow::Result<Plan> {
    let all = || shipped::shipped().iter().map(|recipe| recipe.path.to_owned()).collect();
    let names: Vec<String> = if names.is_empty() { all() } else { names.to_vec() };
    let set = vec![("seed".to_owned(), seed.to_string())];
    let own = Overrides { set, ..Overrides::default() };
    let here = Overrides { backends: vec![backend.to_owned()], ..own.clone() };
    let plan = |name: &String| {
        let source = Source::find(name)?;
        // A chart of what only another backend has, such as the tunables of GPUs, has no cases on this one.
        source.resolve(&here).or_else(|_| source.resolve(&own))
    };
    let plans = names.iter().map(plan).collect::<anyhow::Result<Vec<Plan>>>()?;
    joined(plans, backend, largest, seed).ok_or_else(|| anyhow!("no recipe to verify"))
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
    if arguments.recipes.is_some() {
        return vec![Suite::Recipes { mutants: arguments.mutants }];
    }
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

/// The checks of a suite on a backend.
struct Checks<'a> {
    part: Suite,
    executor: &'a dyn Executor,
    most_time: Option<Duration>,
}

impl Checks<'_> {
    /// Checks the cases of a plan, and returns how many were wrong.
    fn run(
        &self,
        plan: &Plan,
        mut outputs: Option<&mut Outputs>,
        faults: &mut Faults,
    ) -> anyhow::Result<usize> {
        let started = Instant::now();
        let live = io::stderr().is_terminal();
        let (name, backend) = (title(self.part), self.executor.backend());
        let tally = verify(plan, self.part, self.executor, self.most_time, |number, checked| {
            if let Some(outputs) = &mut outputs {
                outputs.add(self.part, checked);
            }
            faults.add(checked);
            if live && number % 16 == 0 {
                out::progress(&format!("{backend} {name}: {number}/{}", plan.cases.len()));
            }
        })?;
        if live {
            out::progress("");
        }
        report(backend, self.part, &tally, started);
        Ok(tally.wrong.len())
    }
}

fn title(part: Suite) -> &'static str {
    match part {
        Suite::Small => "against the oracle",
        Suite::Large => "beyond 4 GiB",
        Suite::Mutants => "mutants",
        Suite::Recipes { .. } => "recipes",
    }
}

/// The words for a check that succeeds and for one that fails.
fn words(fault: bool) -> (&'static str, &'static str) {
    if fault { ("caught", "missed") } else { ("passed", "wrong") }
}

fn report(backend: &str, part: Suite, tally: &Tally, started: Instant) {
    let faults = matches!(part, Suite::Mutants | Suite::Recipes { mutants: true });
    let (good, bad) = match part {
        Suite::Recipes { mutants: true } => ("passed or caught", "wrong or missed"),
        _ => words(faults),
    };
    let others = match faults {
        true => format!(", {} right, {} not certified", tally.right, tally.not_certified),
        false => String::new(),
    };
    out::line(&format!(
        "{backend} {}: {} {good}{others}, {} n/a, {} {bad} ({:.1} s)",
        title(part),
        tally.passed,
        tally.not_applicable,
        tally.wrong.len(),
        started.elapsed().as_secs_f64()
    ));
    if tally.left > 0 {
        out::line(&format!("  {} cases were left out when the time was over", tally.left));
    }
    for (label, what) in tally.wrong.iter().take(SHOWN) {
        out::line(&format!("  {label}"));
        out::line(&format!("    {what}"));
    }
    if tally.wrong.len() > SHOWN {
        out::line(&format!("  … and {} more", tally.wrong.len() - SHOWN));
    }
}
