//! `scatterlab report`: tables and charts of stored runs, without measuring.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::export::ExportArguments;
use super::format::{Format, OF_TABLES, Output, one_of};
use super::headless::Summary;
use super::profile::ProfileArguments;
use super::recipes::open_run;
use super::{out, results};
use crate::recipe::plan::Bars;
use crate::report::html::Measured;
use crate::report::pdf::{self, Print};
use crate::report::{write_all, write_page, write_pdfs};
use crate::run::stored::Stored;

#[derive(Debug, Args)]
pub struct ReportArguments {
    /// Run folders, also of runs in progress and of earlier versions
    #[arg(required = true, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    #[command(flatten)]
    profile: ProfileArguments,
    /// What the bars through the points show, instead of what the recipe says
    #[arg(long, value_name = "BARS", value_parser = PossibleValuesParser::new(Bars::WORDS.map(|(word, _)| word)))]
    bars: Option<String>,
    /// Write the results to standard output, and no files; csv takes a single run, because each
    /// has its own columns
    #[arg(long, value_name = "FORMAT", value_parser = one_of(OF_TABLES))]
    format: Option<Format>,
    #[command(flatten)]
    export: ExportArguments,
    /// Also write report.html: the run as one page, with charts, tables, machine and recipe
    #[arg(long, conflicts_with = "format")]
    html: bool,
    /// Also write each chart as a PDF for a paper, and beside it a .txt with the words for its caption
    #[arg(long, conflicts_with = "format")]
    pdf: bool,
    /// Width of the PDFs: column (84mm), page (174mm), or a length such as 3.33in, 84mm, 8.4cm or 240pt
    #[arg(long, value_name = "LENGTH", requires = "pdf", default_value = "column", value_parser = width)]
    width: f64,
    /// Size of the PDFs' labels
    #[arg(long, value_name = "LENGTH", requires = "pdf", default_value = "8pt", value_parser = font_size)]
    font_size: f64,
}

/// Widths of a column and of a page of two columns, as ACM, IEEE and Springer have them within a few millimetres.
const NAMED_WIDTHS: [(&str, f64); 2] = [("column", 84.0 * MILLIMETRE), ("page", 174.0 * MILLIMETRE)];
const MILLIMETRE: f64 = 72.0 / 25.4;

/// Least width of a chart in sizes of its labels: below it, labels and axes leave no room for points.
const LEAST_WIDTH: f64 = 18.0;

/// A width in points.
fn width(text: &str) -> Result<f64, String> {
    match NAMED_WIDTHS.iter().find(|(name, _)| *name == text) {
        Some((_, width)) => Ok(*width),
        None => {
            length(text, 72.0..=1440.0, "column, page, or 1in to 20in, such as 84mm, 8.4cm, 3.33in or 240pt")
        }
    }
}

/// A size of letters in points.
fn font_size(text: &str) -> Result<f64, String> {
    length(text, 4.0..=24.0, "4pt to 24pt, such as 8pt")
}

fn length(text: &str, accepted: RangeInclusive<f64>, words: &str) -> Result<f64, String> {
    let units = [("mm", MILLIMETRE), ("cm", 10.0 * MILLIMETRE), ("in", 72.0), ("pt", 1.0)];
    let found = units.iter().find_map(|(unit, points)| Some((text.strip_suffix(unit)?, points)));
    let points = found.and_then(|(number, points)| Some(number.trim().parse::<f64>().ok()? * points));
    points.filter(|points| accepted.contains(points)).ok_or_else(|| format!("accepted: {words}"))
}

impl ReportArguments {
    /// The size of the PDFs, if some are wanted.
    fn print(&self) -> anyhow::Result<Option<Print>> {
        if self.pdf {
            pdf::available()?;
        }
        let least = LEAST_WIDTH * self.font_size;
        if self.pdf && self.width < least {
            bail!(
                "--width: labels of {:.3}pt need a chart of {least:.0}pt or more; give a smaller --font-size",
                self.font_size
            );
        }
        Ok(self.pdf.then_some(Print { width: self.width, font: self.font_size }))
    }

    /// Writes what is wanted beside tables and charts.
    fn more(&self, run: &Stored, print: Option<Print>) -> anyhow::Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        if self.html {
            let experiments = 0..run.manifest.plan.experiments.len();
            let measured: Vec<Measured> =
                experiments.map(|number| results::measured(&run.ledger, number)).collect();
            paths.push(write_page(run, &Summary::of(&run.ledger, &run.path).words(), &measured)?);
        }
        if let Some(print) = print {
            paths.extend(write_pdfs(run, print)?);
        }
        Ok(paths)
    }
}

/// Opens every run before writing to the first.
pub fn run(arguments: &ReportArguments) -> anyhow::Result<ExitCode> {
    let mut output = Output::open(arguments.format, arguments.folders.len())?;
    let mut export = arguments.export.open()?;
    let print = arguments.print()?;
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
        export.add(run);
        if output.is_asked_for() {
            output.results(run)?;
        } else {
            // The table needs no place in the folder, which may be read-only.
            results::print(&run.ledger);
            out::line(&render(run)?);
            arguments
                .more(run, print)?
                .iter()
                .for_each(|path| out::line(&format!("written: {}", path.display())));
        }
    }
    output.end()?;
    export.end()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_read_in_the_units_of_papers() {
        let points = |text: &str| width(text).map(|points| points.round() as u32);
        assert_eq!(points("3.33in"), Ok(240));
        assert_eq!((points("84mm"), points("8.4 cm"), points("column")), (Ok(238), Ok(238), Ok(238)));
        assert_eq!((points("240pt"), font_size("8pt")), (Ok(240), Ok(8.0)));
        for wrong in ["", "84", "mm", "0mm", "-84mm", "NaNmm", "infin", "1e9in", "84 miles"] {
            assert!(width(wrong).is_err_and(|reason| reason.contains("column, page")), "{wrong}");
        }
        assert!(font_size("3pt").is_err_and(|reason| reason.contains("4pt to 24pt")));
    }
}
