//! `scatterlab salvage`: what can be read of a run whose event log is damaged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueHint};

use super::out;
use crate::run::client::EngineCommand;
use crate::run::{events, salvage};

#[derive(Debug, Args)]
pub struct SalvageArguments {
    /// The run's folder, which stays as it is
    #[arg(value_name = "FOLDER", value_hint = ValueHint::DirPath)]
    folder: PathBuf,
    /// Folder for what can be read (default: the run's, with -salvaged appended)
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    out: Option<PathBuf>,
}

/// Writes nothing if nothing is damaged.
pub fn run(arguments: &SalvageArguments) -> anyhow::Result<ExitCode> {
    let run = &arguments.folder;
    let whole = salvage::survey(run)?;
    if whole.dropped.is_empty() {
        out::line(&format!("{}: all {} lines can be read; nothing to salvage", run.display(), whole.kept));
        return Ok(ExitCode::SUCCESS);
    }
    let to = match &arguments.out {
        Some(folder) => folder.clone(),
        None => beside(run)?,
    };
    let found = salvage::salvage(run, &to)?;
    let file = events::file(run);
    for dropped in &found.dropped {
        out::line(&format!("{}:{}: dropped: {}", file.display(), dropped.line, dropped.reason));
    }
    if found.more > 0 {
        out::line(&format!("{}: dropped: {} further lines", file.display(), found.more));
    }
    out::line(&format!("kept {} lines, dropped {} → {}", found.kept, found.lost(), to.display()));
    let next = ["report", "run --resume"].map(|verb| EngineCommand::Own.command_line(verb, &to));
    out::line(&format!("next: {}", next.join(", or ")));
    Ok(ExitCode::SUCCESS)
}

/// The folder `NAME-salvaged` beside the run, also where the run is called `.`.
fn beside(run: &Path) -> anyhow::Result<PathBuf> {
    let run = match run.file_name() {
        Some(_) => run.to_owned(),
        None => run.canonicalize()?,
    };
    let mut name = run.file_name().context("the root folder has no folder beside it; give --out")?.to_owned();
    name.push("-salvaged");
    Ok(run.with_file_name(name))
}
