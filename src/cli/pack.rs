//! `scatterlab pack`: compresses stored measurements and drops the files that can be derived from them,
//! and what only the machine of the run knows.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Args;

use super::out;
use super::recipes::open_run;
use crate::case::units::{escaped, fmt_bytes};
use crate::report::written;
use crate::run::folder::Folder;
use crate::run::layout::RECIPE;
use crate::run::stored::{Stored, manifest};
use crate::run::{events, portable};

#[derive(Debug, Args)]
pub struct PackArguments {
    /// Folders of finished runs
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
}

/// Opens every run before changing the first.
pub fn run(arguments: &PackArguments) -> anyhow::Result<ExitCode> {
    for folder in &arguments.folders {
        open_run(folder)?;
    }
    for folder in &arguments.folders {
        out::line(&pack(folder)?);
    }
    Ok(ExitCode::SUCCESS)
}

/// Packs a run and reports on its files. The events are safely stored before anything is removed.
fn pack(path: &Path) -> anyhow::Result<String> {
    let plain = if events::is_packed(path) { None } else { Some(Folder::reopen(path)?) };
    let stored = Stored::open(path)?;
    let files = written(&stored)?;
    let before = length(&events::file(path))?;
    if let Some(folder) = &plain {
        folder.pack()?;
    }
    let (same, other): (Vec<_>, Vec<_>) = files.into_iter().partition(|(_, same)| *same);
    for (file, _) in &same {
        fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
    }
    let packed = fmt_bytes(length(&events::file(path))?);
    let events = match plain {
        Some(_) => format!("events of {} in {packed}", fmt_bytes(before)),
        None => format!("already packed, in {packed}"),
    };
    let removed = told("; removed ", &same, "");
    let kept = told("; kept ", &other, ": report would write other bytes");
    let left_out = if portable::make(path, &stored.recipe)? {
        "; left out of the manifest what only its machine knows"
    } else {
        ""
    };
    let named = manifest(path)?.plan.indices.into_iter().map(|file| file.path);
    let named: Vec<String> = named.filter(|path| Path::new(path).is_absolute()).collect();
    let named = match named.as_slice() {
        [] => String::new(),
        some => format!("; {RECIPE} names {}", escaped(&some.join(", "))),
    };
    Ok(format!("{}: {events}{removed}{kept}{left_out}{named}", path.display()))
}

fn length(file: &Path) -> anyhow::Result<u64> {
    Ok(fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len())
}

/// The file names between two texts; empty without a file.
fn told(before: &str, files: &[(PathBuf, bool)], after: &str) -> String {
    let names = files.iter().filter_map(|(file, _)| Some(file.file_name()?.to_string_lossy()));
    let names: Vec<_> = names.collect();
    if names.is_empty() { String::new() } else { format!("{before}{}{after}", names.join(", ")) }
}
