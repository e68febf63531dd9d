//! `scatterlab claims`: says of every sentence of a paper whether it holds on the machines of stored runs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::{Args, ValueHint};

use super::format::{Format, OF_TABLES, Output, one_of};
use super::{CANNOT_TELL, CASES_FAILED, DIFFERS, out};
use crate::recipe::paper;
use crate::report::claims::{Folder, Outcome, Sentence, judge_all, lines, table};
use crate::report::verdicts::NamedRun;
use crate::run::index;
use crate::run::layout::MANIFEST;
use crate::run::stored::Stored;

#[derive(Debug, Args)]
pub struct ClaimsArguments {
    /// Papers that come with the program, or folders with a paper.yaml (default: all papers that come with the program)
    #[arg(value_name = "PAPER", value_hint = ValueHint::DirPath)]
    papers: Vec<PathBuf>,
    /// Judge the stored runs in and below this folder
    #[arg(long, value_name = "DIR", default_value = "reports", value_hint = ValueHint::DirPath)]
    runs: PathBuf,
    /// Write one row for each part of a claim and machine to standard output
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES))]
    format: Option<Format>,
}

/// Judges the papers' claims on stored runs, and measures nothing.
pub fn run(arguments: &ClaimsArguments) -> anyhow::Result<ExitCode> {
    let folders = match arguments.papers.as_slice() {
        [] => paper::shipped().iter().map(Folder::shipped).collect::<anyhow::Result<Vec<_>>>()?,
        papers => papers.iter().map(|name| folder(name)).collect::<anyhow::Result<_>>()?,
    };
    let mut output = Output::open(arguments.format, 1)?;
    let stored = stored(&arguments.runs)?;
    let runs: Vec<NamedRun> =
        stored.iter().map(|run| NamedRun::new(name(run, &arguments.runs), run)).collect();
    let mut sentences = Vec::new();
    for folder in &folders {
        sentences.extend(judge_all(folder, &runs)?);
    }
    match output.is_asked_for() {
        true => output.table(table(&sentences))?,
        false => lines(&sentences).iter().for_each(|line| out::line(line)),
    }
    output.end()?;
    Ok(status(&sentences))
}

/// The shipped paper of this name, or the folder.
fn folder(name: &Path) -> anyhow::Result<Folder> {
    match paper::find(&name.to_string_lossy()) {
        Some(paper) => Folder::shipped(paper),
        None if name.is_dir() => Folder::open(name),
        None => {
            let keys: Vec<&str> = paper::shipped().iter().map(|paper| paper.key.as_str()).collect();
            bail!(
                "{}: no such folder and no paper of this name; accepted: {}",
                name.display(),
                keys.join(", ")
            )
        }
    }
}

/// The runs below a folder. One that cannot be read is left out with a warning.
fn stored(root: &Path) -> anyhow::Result<Vec<Stored>> {
    if !root.is_dir() {
        bail!("{} is not a folder; give one that holds stored runs with --runs DIR", root.display());
    }
    let mut folders = index::folders(root);
    // The folder may be a run itself.
    folders.extend(root.join(MANIFEST).exists().then(|| root.to_owned()));
    folders.sort();
    let open = |path: PathBuf| match Stored::open(&path) {
        Ok(run) => Some(run),
        Err(error) => {
            out::complain("scatterlab", &format!("warning: left out: {error:#}"));
            None
        }
    };
    Ok(folders.into_iter().filter_map(open).collect())
}

/// A run's folder below the root.
fn name(run: &Stored, root: &Path) -> String {
    match run.path.strip_prefix(root) {
        Ok(below) if below != Path::new("") => below.display().to_string(),
        _ => run.path.display().to_string(),
    }
}

/// 0 if all shapes hold, 4 if one fails, 5 if none fails but some cannot be told, 3 if none was measured.
fn status(sentences: &[Sentence]) -> ExitCode {
    let shapes = || sentences.iter().flat_map(Sentence::outcomes).filter(|(part, _)| *part == "shape");
    let any = |wanted: &dyn Fn(&Outcome) -> bool| shapes().any(|(_, outcome)| wanted(outcome));
    if any(&|outcome| *outcome == Outcome::Fails) {
        return DIFFERS.into();
    }
    if any(&|outcome| matches!(outcome, Outcome::CannotTell(_))) {
        return CANNOT_TELL.into();
    }
    // A paper may have sizes alone.
    let mut parts = sentences.iter().flat_map(Sentence::outcomes);
    let measured = parts.any(|(_, outcome)| !matches!(outcome, Outcome::NotApplicable(_)));
    if measured { ExitCode::SUCCESS } else { CASES_FAILED.into() }
}
