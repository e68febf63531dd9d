//! The `scatterlab` program: arguments, one call, the error chain, the exit status.

use std::io::{self, Write};
use std::process::ExitCode;

use clap::Parser;
use scatterlab::cli;

fn main() -> ExitCode {
    if let Some(status) = cli::as_spatter() {
        return status;
    }
    match cli::run(cli::Arguments::parse()) {
        Ok(status) => status,
        Err(error) => {
            // Standard error may be a terminal that is closed: `eprintln!` would panic.
            let _ = writeln!(io::stderr(), "scatterlab: {error:#}");
            ExitCode::FAILURE
        }
    }
}
