//! The `scatterlab` program: arguments, one call, the error chain, the exit status.
#![deny(clippy::disallowed_methods, clippy::print_stdout, clippy::print_stderr)]

use std::process::ExitCode;

use scatterlab::cli;

fn main() -> ExitCode {
    cli::main()
}
