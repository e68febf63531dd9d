//! `scatterlab salvage`: what can be read of a run whose event log is damaged.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::{Args, ValueHint};

use super::{CASES_FAILED, out};
use crate::case::units::number_of;
use crate::run::client::EngineCommand;
use crate::run::layout::RECIPE;
use crate::run::salvage::Found;
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
    let found = salvage::find(run)?;
    let whole = salvage::survey(run)?;
    if let (Found::Whole(_), []) = (&found, whole.dropped.as_slice()) {
        out::line(&format!("{}: all {} lines can be read; nothing to salvage", run.display(), whole.kept));
        return Ok(ExitCode::SUCCESS);
    }
    let to = match &arguments.out {
        Some(folder) => folder.clone(),
        None => beside(run)?,
    };
    let survey = salvage::salvage(run, &to, &found)?;
    let file = events::file(run);
    for dropped in &survey.dropped {
        out::line(&format!("{}:{}: dropped: {}", file.display(), dropped.line, dropped.reason));
    }
    if survey.more > 0 {
        out::line(&format!("{}: dropped: {} further lines", file.display(), survey.more));
    }
    let (kept, dropped) = (survey.kept, survey.lost());
    out::line(&format!("kept {kept} lines, dropped {dropped} → {}", to.display()));
    match &found {
        Found::Whole(_) => {}
        Found::Rebuilt { manifest, because } => {
            let cases = manifest.plan.case_count();
            out::line(&format!("{because}: rebuilt from {RECIPE} and the events, {cases}"));
        }
        Found::Lost { because, why } => return lost(run, &to, because, why),
    }
    let next =
        ["report", "run --resume"].map(|verb| EngineCommand::Own.command_line(verb, &PathBuf::from(&to)));
    out::line(&format!("next: {}", next.join(", or ")));
    Ok(ExitCode::SUCCESS)
}

/// Says what is lost with the plan, and writes what is not into a table.
fn lost(run: &Path, to: &Path, because: &str, why: &str) -> anyhow::Result<ExitCode> {
    let (file, cases) = salvage::write_samples(run, to)?;
    out::line(&format!("{because}, and it cannot be rebuilt: {why}"));
    out::line(
        "lost: the title, the parameters of the cases, how they were to be measured and drawn. No command takes the \
         folder as a run",
    );
    let cases = number_of(cases, "case");
    out::line(&format!("kept: every sample of {cases}, by the identity of its case → {}", file.display()));
    Ok(ExitCode::from(CASES_FAILED))
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
