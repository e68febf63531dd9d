//! `scatterlab report`: tables and charts of stored runs, without measuring.

use std::path::Path;
use std::process::ExitCode;

use super::format::Output;
use super::headless::Summary;
use super::recipes::open_run;
use super::{ReportArguments, out, results};
use crate::report::write_all;
use crate::run::stored::Stored;

/// Reads every folder before it writes to the first.
pub fn run(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, arguments.folders.len())?;
    let profiles = arguments.profile.load()?;
    let mut runs = arguments.folders.iter().map(|path| open_run(path)).collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(profiles) = &profiles {
        runs.iter_mut().for_each(|run| run.ledger.predict_from(profiles.clone()));
    }
    for run in &runs {
        if output.is_asked_for() {
            output.results(run)?;
        } else {
            let written = render(run)?;
            results::print(&run.ledger);
            out::line(&written);
        }
    }
    output.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Writes a run's tables and charts anew and says which.
pub fn render(run: &Stored) -> anyhow::Result<String> {
    let paths = write_all(&run.path, &run.manifest, run.ledger.records(), run.ledger.references())?;
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = paths.iter().filter_map(|path| name(path)).collect();
    let summary = Summary::of(&run.ledger, &run.path);
    Ok(format!("{}: {} → {}", run.path.display(), summary.words(), names.join(", ")))
}
