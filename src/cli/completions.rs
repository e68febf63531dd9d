//! `scatterlab completions` and `scatterlab man`, generated from the command line's definition.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Arguments, out};

const NAME: &str = "scatterlab";

/// Prints the completions for a shell.
pub fn completions(shell: Shell) -> anyhow::Result<ExitCode> {
    // Generate into memory first: `generate` panics when a pipe closes early.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), NAME, &mut text);
    out::text(&String::from_utf8_lossy(&text));
    Ok(ExitCode::SUCCESS)
}

/// Prints the main page, or writes one page for each command.
pub fn man(folder: Option<&Path>) -> anyhow::Result<ExitCode> {
    let command = Arguments::command().name(NAME);
    let Some(folder) = folder else {
        let mut page = Vec::new();
        Man::new(command).render(&mut page)?;
        out::text(&String::from_utf8_lossy(&page));
        return Ok(ExitCode::SUCCESS);
    };
    let cannot = || format!("cannot write man pages to {}", folder.display());
    fs::create_dir_all(folder).with_context(cannot)?;
    clap_mangen::generate_to(command, folder).with_context(cannot)?;
    Ok(ExitCode::SUCCESS)
}
