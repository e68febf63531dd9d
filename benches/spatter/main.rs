//! Compares us with Spatter's CPU backends, configuration by configuration.
//!
//! Both are commands that take a suite and print Spatter's table. The figure compared is the table's bandwidth,
//! that of the fastest of ten runs after ten untimed ones. Every round runs each program once, on a file with a
//! single configuration, so that a slow minute of the machine affects all of them and no configuration is
//! measured in arrays sized for another.

mod program;
mod suite;
mod summary;
mod table;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::Parser;

use program::{Program, against};
use suite::{Configuration, Suite};
use table::{Measured, Table};

/// Compares with a Spatter 2.1.0 that was built with OpenMP.
#[derive(Debug, Parser)]
struct Arguments {
    /// The program `spatter`; without it there is nothing to compare with
    #[arg(long, value_name = "PATH")]
    spatter: Option<PathBuf>,
    /// Files as Spatter's -f takes them [default: amg, lulesh, cpu-ustride and gpu-ustride]
    #[arg(long, num_args = 1.., value_name = "FILE")]
    suite: Vec<PathBuf>,
    /// How often each program runs each configuration
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..))]
    rounds: u32,
    /// Threads of ours and of Spatter's OpenMP backend
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..))]
    threads: u32,
    /// Also writes the bandwidth of every run to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Cargo says so to every benchmark
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let Some(spatter) = &arguments.spatter else {
        eprintln!("skipped: no --spatter PATH to compare with");
        return ExitCode::SUCCESS;
    };
    match compare(&arguments, &against(spatter, arguments.threads)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn compare(arguments: &Arguments, programs: &[Program]) -> Result<()> {
    let files = if arguments.suite.is_empty() { suite::shipped() } else { arguments.suite.clone() };
    let suites = files.iter().map(|file| Suite::read(file)).collect::<Result<Vec<_>>>()?;
    let mut table = Table::new(programs);
    for suite in &suites {
        table.head(&suite.name);
        for configuration in &suite.configurations {
            match measure(configuration, programs, arguments.rounds) {
                Ok(measured) => table.row(suite, configuration, measured),
                Err(why) => table.skip(configuration, &why),
            }
        }
    }
    summary::print(table.rows(), programs);
    match &arguments.csv {
        Some(file) => table.write(file).with_context(|| format!("cannot write {}", file.display())),
        None => Ok(()),
    }
}

/// The bandwidths of all programs, round by round.
fn measure(configuration: &Configuration, programs: &[Program], rounds: u32) -> Result<Measured> {
    let file = configuration.file()?;
    let round = |_| programs.iter().map(|program| program.run(file.path())).collect();
    Ok(Measured { rounds: (0..rounds).map(round).collect::<Result<_>>()? })
}
