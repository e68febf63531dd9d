//! `scatterlab report`: tables and charts of stored runs, without measuring.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::format::{FormatName, Output};
use super::headless::Summary;
use super::profile::ProfileArguments;
use super::recipes::open_run;
use super::{out, results};
use crate::recipe::plan::Bars;
use crate::report::write_all;
use crate::run::stored::Stored;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Folders of runs, old ones and those in progress too
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// Bars through the points, instead of the recipe's
    #[arg(long, value_name = "BARS", value_parser = PossibleValuesParser::new(Bars::WORDS.map(|(word, _)| word)))]
    bars: Option<String>,
    /// Write the results to standard output, and no files; csv of one run only, because each
    /// has its own columns
    #[arg(long, value_name = "FORMAT")]
    format: Option<FormatName>,
}

/// Opens every run before writing to the first.
pub fn run(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, arguments.folders.len())?;
    let profiles = arguments.profile.load()?;
    let mut runs = arguments.folders.iter().map(|path| open_run(path)).collect::<anyhow::Result<Vec<_>>>()?;
    if let Some(profiles) = &profiles {
        runs.iter_mut().for_each(|run| run.ledger.predict_from(profiles.clone()));
    }
    let known = |word: &String| Bars::WORDS.iter().find(|(known, _)| known == word).map(|(_, bars)| *bars);
    let bars = arguments.bars.as_ref().and_then(known);
    for run in &mut runs {
        let charts = run.manifest.plan.experiments.iter_mut().map(|experiment| &mut experiment.chart);
        charts.for_each(|chart| chart.bars = bars.or(chart.bars));
        if output.is_asked_for() {
            output.results(run)?;
        } else {
            // The table needs no place in the folder, which may be read-only.
            results::print(&run.ledger);
            out::line(&render(run)?);
        }
    }
    output.end()?;
    Ok(ExitCode::SUCCESS)
}

/// Rewrites a run's tables and charts and reports their names.
pub fn render(run: &Stored) -> anyhow::Result<String> {
    let paths = write_all(&run.path, &run.manifest, run.ledger.records(), run.ledger.references())?;
    let name = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let names: Vec<String> = paths.iter().filter_map(|path| name(path)).collect();
    let summary = Summary::of(&run.ledger, &run.path);
    let unchecked = if run.log.integrity.is_unchecked() { ", events unchecked" } else { "" };
    Ok(format!("{}: {}{unchecked} → {}", run.path.display(), summary.words(), names.join(", ")))
}
