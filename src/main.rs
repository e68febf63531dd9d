//! The `scatterlab` program: arguments, one call, the error chain, the exit status.

use std::process::ExitCode;

use clap::Parser;
use scatterlab::cli;

fn main() -> ExitCode {
    match cli::run(cli::Arguments::parse()) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("scatterlab: {error:#}");
            ExitCode::FAILURE
        }
    }
}
