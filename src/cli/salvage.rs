//! `scatterlab salvage`: what can be read of a run whose event log is damaged.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, ValueHint};

use super::out;
use crate::case::units::escaped;
use crate::engine::client::EngineCommand;
use crate::run::runner::advice;
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
    let to = arguments.out.clone().unwrap_or_else(|| {
        let mut name = run.file_name().unwrap_or_default().to_owned();
        name.push("-salvaged");
        run.with_file_name(name)
    });
    let found = salvage::salvage(run, &to)?;
    let file = events::file(run);
    for dropped in &found.dropped {
        out::line(&escaped(&format!("{}:{}: dropped: {}", file.display(), dropped.line, dropped.reason)));
    }
    let (kept, to, dropped) = (found.kept, to.display(), found.dropped.len());
    out::line(&format!("kept {kept} lines, dropped {dropped} → {to}"));
    let next = ["report", "run --resume"]
        .map(|verb| advice(verb, &PathBuf::from(to.to_string()), &EngineCommand::Own));
    out::line(&format!("next: {}", next.join(", or ")));
    Ok(ExitCode::SUCCESS)
}
