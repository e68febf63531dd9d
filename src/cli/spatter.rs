//! `scatterlab spatter`, also invoked under the name `spatter`: a drop-in for Spatter 2.1.0 in front of our
//! engine.

mod follow;
mod names;
mod ranked;
mod rows;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use clap::Args;

use self::follow::Follower;
use self::names::{names, words};
use super::interrupt::Interrupt;
use super::waiting::spawn;
use super::{copies, out};
use crate::device::cpu::affinity;
use crate::files;
use crate::recipe;
use crate::recipe::plan::{self, Overrides, Plan};
use crate::report::write_of_run;
use crate::run::EngineRunner;
use crate::run::client::EngineCommand;
use crate::run::runner::Runner;
use crate::run::writes::{RUN, temporary};
use crate::spatter::options::Options;
use crate::spatter::settings::{OMP_NUM_THREADS, OmpThreads};
use crate::spatter::table::Key;
use crate::spatter::{CommandLine, Job, Machine, Refused, SETUP, Suite, USAGE, table, to_recipe};

#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct SpatterArguments {
    /// Options of Spatter 2.1.0, such as -p UNIFORM:8:1 -l 1000000 or -f suite.json; --help lists them
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "OPTION")]
    pub words: Vec<OsString>,
}

/// Carries out a Spatter command line and reports any error.
pub fn run(program: &str, arguments: &[OsString], engine: &EngineCommand) -> ExitCode {
    let status = match copies::launch("spatter") {
        Some(launch) => ranked::run(&launch, program, arguments, engine),
        None => carry_out(program, arguments, engine).unwrap_or_else(|refused| {
            say(&refused.message);
            refused.status
        }),
    };
    let status = out::finish().map_or_else(
        |error| {
            say(&format!("cannot write standard output: {error}"));
            if status == 0 { SETUP } else { status }
        },
        |()| status,
    );
    ExitCode::from(status)
}

/// Prints one line on standard error, which may be closed.
fn say(text: &str) {
    out::complain("spatter", text);
}

/// A requested run that is known to be possible.
struct Ready {
    job: Job,
    plan: Plan,
    recipe: String,
    /// The folder in which to keep the run.
    out: Option<PathBuf>,
    machine: Machine,
}

fn carry_out(program: &str, arguments: &[OsString], engine: &EngineCommand) -> Result<u8, Refused> {
    match understand(program, arguments, |options| look(options, engine))? {
        Wish::Told(status) => Ok(status),
        Wish::Run(ready) => measure(*ready, engine),
    }
}

/// The action that a command line asks for.
enum Wish {
    /// The output has been printed already; this is the exit status.
    Told(u8),
    Run(Box<Ready>),
}

fn understand(
    program: &str,
    arguments: &[OsString],
    look: impl FnOnce(&Options) -> anyhow::Result<Machine>,
) -> Result<Wish, Refused> {
    let line = CommandLine::read(&words(arguments))?;
    if line.options.on(Key::Help) {
        out::text(&table::help(program));
        return Ok(Wish::Told(USAGE));
    }
    let named = names(&line.options, arguments)?;
    let suite = named.file.as_deref().map(read).transpose()?;
    let machine = look(&line.options).map_err(|error| Refused::setup(format!("{error:#}")))?;
    let job = Job::of(&line, suite, &machine)?;
    let recipe = to_recipe(&job);
    let plan = resolve(&recipe)?;
    job.notes.iter().for_each(|note| rows::remark_before(&job.settings, note));
    if line.options.on(Key::ToRecipe) {
        out::text(&recipe);
        return Ok(Wish::Told(0));
    }
    Ok(Wish::Run(Box::new(Ready { job, plan, recipe, out: named.out, machine })))
}

/// Examines this machine. Asks an engine only where necessary: to find out whether there is a GPU, and about a
/// remote machine.
fn look(options: &Options, engine: &EngineCommand) -> anyhow::Result<Machine> {
    let mut machine = machine_of(affinity::allowed().len(), false);
    if *engine == EngineCommand::Own && options.of(Key::Backend).is_some() {
        return Ok(machine);
    }
    let (_client, hello) = spawn(engine)?;
    machine.gpu = hello.devices.iter().any(|device| device.backend == "cuda" && device.is_available());
    if *engine != EngineCommand::Own {
        machine.cpus = hello.environment.affinity.len().max(1) as u64;
        // The variable is set on this machine, not on the remote one.
        machine.omp_threads = OmpThreads::Unset;
    }
    Ok(machine)
}

/// A machine with this many usable CPUs, at the present time.
fn machine_of(cpus: usize, gpu: bool) -> Machine {
    Machine {
        cpus: cpus.max(1) as u64,
        omp_threads: std::env::var_os(OMP_NUM_THREADS)
            .map_or(OmpThreads::Unset, |text| OmpThreads::of(&text)),
        gpu,
        now: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    }
}

fn read(file: &Path) -> Result<Suite, Refused> {
    let text = files::text(file, &files::SUITE);
    let text = text.map_err(|problem| Refused::setup(problem.to_string()))?;
    Suite::read(&file.to_string_lossy(), &text)
}

/// Resolves a recipe that we wrote ourselves.
fn resolve(text: &str) -> Result<Plan, Refused> {
    let resolved =
        recipe::parse("recipe", text).and_then(|recipe| plan::resolve(&recipe, &Overrides::default()));
    resolved.map_err(|error| Refused::usage(format!("this cannot be run: {error}")))
}

/// Runs the job in the requested folder, or in a temporary one.
fn measure(ready: Ready, engine: &EngineCommand) -> Result<u8, Refused> {
    let Ready { job, mut plan, recipe, out, machine } = ready;
    if out.is_none() {
        // Only charts and comparisons of a kept run show the reference copies, and one takes longer than a short run.
        plan.experiments.iter_mut().for_each(|experiment| experiment.measure.reference = false);
    }
    let failed = |error: anyhow::Error| Refused::setup(format!("{error:#}"));
    let interrupt = Interrupt::listen().map_err(|error| failed(error.into()))?;
    let temporary = match out {
        Some(_) => None,
        None => Some(temporary().map_err(|error| failed(error.into()))?),
    };
    temporary.iter().for_each(|folder| interrupt.clears(folder.path()));
    let runner = EngineRunner {
        engine: engine.clone(),
        profiles: Vec::new(),
        reports: temporary.is_none().then_some(write_of_run),
        out: out.or_else(|| temporary.as_ref().map(|folder| folder.path().join(RUN))),
        root: PathBuf::from("reports"),
    };
    let running = runner.start(plan.clone(), &recipe).map_err(failed)?;
    interrupt.attach(running.control.clone());
    let ended = Follower::new(job, machine, plan).follow(&running);
    interrupt.detach();
    ended
}
