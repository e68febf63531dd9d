//! The command line.

mod compare;
mod devices;
mod dry_run;
mod engine;
mod headless;
mod interrupt;
mod out;
mod recipes;
mod replay;
mod run;
mod tui;
mod verdicts;
mod verify;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, Parser, Subcommand};

use crate::engine::client::EngineCommand;

/// Exit status when a case failed, its certificate did not hold, or it was not finished.
/// 1 is an error that ended the command, 2 a wrong command line.
pub const CASES_FAILED: u8 = 3;

/// Exit status when a replayed case differs from what is stored, or a compared one is
/// slower than allowed.
pub const DIFFERS: u8 = 4;

/// Exit status when no replayed case differs, but of some nobody can tell.
pub const CANNOT_TELL: u8 = 5;

/// A laboratory in a terminal for memory-bound parallel primitives.
///
/// Without a command it opens the terminal user interface.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    after_help = "Exit status: 0 done, 1 error, 2 wrong usage, 3 a case failed or was not finished, or nothing could be measured; replay: 4 a case differs, 5 none differs but some cannot be told; compare: 4 a case is slower than --fail-if-slower allows."
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    engine: EngineArguments,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run recipes without the user interface
    Run(RunArguments),
    /// Run a stored run again and say case by case whether it holds here
    Replay(replay::ReplayArguments),
    /// Compare stored runs: a table, and charts that show them over each other
    Compare(compare::CompareArguments),
    /// List the backends and their devices, or why there are none
    Devices,
    /// Check every primitive and method against its oracle, and every certificate
    Verify(VerifyArguments),
    /// Serve plans: commands on standard input, events on standard output
    Engine,
}

#[derive(Clone, Debug, Args)]
struct EngineArguments {
    /// Shell command that starts the engine, such as "ssh -o BatchMode=yes gpuhost scatterlab engine"
    #[arg(long, global = true, value_name = "COMMAND")]
    engine: Option<String>,
}

impl EngineArguments {
    fn command(&self) -> EngineCommand {
        self.engine.clone().map_or(EngineCommand::Own, EngineCommand::Shell)
    }
}

#[derive(Debug, Args)]
struct RunArguments {
    /// Recipe files, or names of shipped recipes such as quickstart or he2007/fig09-passes
    #[arg(required = true, value_name = "RECIPE")]
    recipes: Vec<String>,
    /// Run on these backends instead of the recipe's: scalar, cpu, cuda
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Set a key of the recipe, in the recipe's own syntax: --set tuples=1Mi..16Mi x2
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Folder for the results; with several recipes, one folder each below it
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print the cases with their memory and estimated time, and measure nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct VerifyArguments {
    /// Backends to verify (default: all that are available)
    #[arg(long, value_delimiter = ',', value_name = "LIST")]
    backend: Vec<String>,
    /// Seed of the inputs; a random one, which is printed, without it
    #[arg(long)]
    seed: Option<u64>,
    /// Also run deliberately wrong kernels: each certificate must catch them
    #[arg(long)]
    mutants: bool,
    /// Leave out the cases beyond 4 GiB
    #[arg(long)]
    small: bool,
    /// Check only so many cases of each suite, chosen by the seed: for slow tools around it
    #[arg(long, value_name = "CASES")]
    sample: Option<usize>,
}

/// Carries out the command line.
pub fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    let engine = arguments.engine.command();
    let here = matches!(arguments.command, Some(Command::Verify(_) | Command::Engine));
    if here && engine != EngineCommand::Own {
        bail!("--engine: this command works in its own process; run it where the engine would run");
    }
    match arguments.command {
        None => tui::run(engine),
        Some(Command::Run(run)) => run::run(&run, engine),
        Some(Command::Replay(replay)) => replay::run(&replay, engine),
        Some(Command::Compare(compare)) => compare::run(&compare),
        Some(Command::Devices) => devices::run(&engine),
        Some(Command::Verify(verify)) => verify::run(&verify),
        Some(Command::Engine) => engine::run(),
    }
}
