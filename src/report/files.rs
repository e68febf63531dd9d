//! The report files in a run folder.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::names::{chart_names, paper};
use super::origin::Origin;
use super::pdf::Print;
use super::replace::replace;
use super::series::{Copies, charted};
use super::speed_of_light::SpeedsOfLight;
use super::svg::Caption;
use super::svg::{render, words};
use super::{claims, csv, html, pdf};
use crate::files;
use crate::recipe::plan::Ceiling;
use crate::recipe::plan::Plan;
use crate::run::layout::Manifest;
use crate::run::stored::Stored;
use crate::run::verdict::of_results;
use crate::run::{Ledger, Record};

/// The table that is written first.
const RESULTS: &str = "results.csv";
const SAMPLES: &str = "samples.csv";
/// The outcomes of the claims of papers.
const CLAIMS: &str = "claims.csv";
/// The run as one page.
const PAGE: &str = "report.html";

/// The position of the first chart among [`names`].
const FIRST_CHART: usize = 2;

/// The names of all files that [`write_all`] writes for this plan.
pub fn names(plan: &Plan) -> Vec<String> {
    let slugs = plan.experiments.iter().map(|experiment| experiment.slug.as_str());
    let tables = [RESULTS, SAMPLES].map(str::to_owned).into_iter();
    let claims = has_claims(plan).then(|| CLAIMS.to_owned());
    tables.chain(chart_names(slugs)).chain(claims).collect()
}

/// Whether an experiment is of a paper whose claims are at hand.
fn has_claims(plan: &Plan) -> bool {
    let mut papers = plan.experiments.iter().filter_map(|one| one.paper.as_ref());
    papers.any(|of| plan.paper(&of.key).is_some_and(|paper| !paper.claims.is_empty()))
}

/// Writes `results.csv`, `samples.csv`, one `<slug>.svg` for each experiment and, for those of papers, `claims.csv` into the
/// existing `folder`, and returns their paths.
///
/// Each file replaces an older one only when it is complete. The same arguments give the same bytes.
pub fn write_all<'a>(
    folder: &Path,
    origin: impl Into<Origin<'a>>,
    records: &[Record],
    copies: &Copies,
) -> Result<Vec<PathBuf>> {
    let origin = &origin.into();
    let named = names(origin.plan).into_iter().enumerate();
    named.map(|(at, name)| replace(folder, &name, |out| write(out, at, origin, records, copies))).collect()
}

/// Writes the file at this position of [`names`].
fn write(out: &mut dyn Write, at: usize, origin: &Origin, records: &[Record], copies: &Copies) -> Result<()> {
    match at {
        0 => csv::results(out, origin, records, copies),
        1 => csv::samples(out, records),
        _ if at - FIRST_CHART == origin.plan.experiments.len() => {
            claims::table(&claims::of_plan(origin, records, copies)).csv(out)
        }
        _ => {
            let experiment = at - FIRST_CHART;
            let data = charted(origin.plan, experiment, records, Some(copies));
            let caption = caption(origin, experiment, records, copies);
            Ok(out.write_all(render(&data, &caption)?.as_bytes())?)
        }
    }
}

/// Writes one `<slug>.pdf` for each experiment into the run's folder, in this size, and beside it `<slug>.txt` with the
/// words for its caption; returns their paths.
///
/// # Errors
/// A chart that cannot be drawn or converted, or a file that cannot be written.
pub fn write_pdfs(run: &Stored, print: Print) -> Result<Vec<PathBuf>> {
    let (origin, records) = (&Origin::from(&run.manifest), run.ledger.records());
    let mut paths = Vec::new();
    let charts = origin.plan.experiments.len();
    for (experiment, name) in names(origin.plan).iter().skip(FIRST_CHART).take(charts).enumerate() {
        let stem = name.trim_end_matches(".svg");
        let data = charted(origin.plan, experiment, records, Some(run.ledger.references()));
        let chart = pdf::render(&data, print)?;
        let words = words(&data, &caption(origin, experiment, records, run.ledger.references()));
        for (name, bytes) in [(format!("{stem}.pdf"), chart), (format!("{stem}.txt"), words.into_bytes())] {
            paths.push(replace(&run.path, &name, |out| Ok(out.write_all(&bytes)?))?);
        }
    }
    Ok(paths)
}

/// Writes `report.html`, the run as one page, into its folder and returns the path.
///
/// # Errors
/// A chart that cannot be drawn, or the file cannot be written.
pub fn write_page(run: &Stored, outcome: &str, tables: &[html::Measured]) -> Result<PathBuf> {
    let page = html::page(run, outcome, tables)?;
    replace(&run.path, PAGE, |out| Ok(out.write_all(page.as_bytes())?))
}

/// Existing files of a run's folder that [`write_all`] would write, each with whether the bytes would be the
/// same.
///
/// # Errors
/// A chart that cannot be drawn, or an existing file that cannot be read.
pub fn written(run: &Stored) -> Result<Vec<(PathBuf, bool)>> {
    let (origin, ledger) = (&Origin::from(&run.manifest), &run.ledger);
    let mut found = Vec::new();
    for (at, name) in names(origin.plan).iter().enumerate() {
        let path = run.path.join(name);
        if path.exists() {
            let is = files::bytes(&path, &files::REPORT)?;
            let mut anew = Vec::with_capacity(is.len());
            write(&mut anew, at, origin, ledger.records(), ledger.references())?;
            found.push((path, is == anew));
        }
    }
    Ok(found)
}

/// [`write_all`] for a run, with the signature of [`WriteReports`](crate::run::WriteReports).
///
/// # Errors
/// As for [`write_all`].
pub fn write_of_run(folder: &Path, manifest: &Manifest, ledger: &Ledger) -> Result<()> {
    write_all(folder, manifest, ledger.records(), ledger.references()).map(|_| ())
}

/// The caption of an experiment's chart, with what the run is worth, and the share of the lower of two roofs behind the line
/// that says what a point is.
pub fn caption(origin: &Origin, experiment: usize, records: &[Record], copies: &Copies) -> Caption {
    let mut caption = Caption::new(origin, experiment, records);
    let whole = if origin.plan.experiments.len() > 1 { "The whole run: " } else { "" };
    caption.verdict = of_results(origin.plan, records).map(|verdict| format!("{whole}{verdict}"));
    let at = caption.lines.len().min(1);
    caption.lines.splice(at..at, roofs(origin, experiment, records, copies));
    if let Some(of) = origin.plan.experiments.get(experiment).and_then(|one| one.paper.as_ref()) {
        let judged = claims::of_experiment(origin, records, copies, experiment);
        // A claim with its outcome says more than the recipe's words for it.
        if !judged.is_empty() {
            caption.paper = Some(paper(of));
        }
        caption.notes.splice(0..0, claims::sentences(&judged, &of.key));
    }
    caption
}

/// The share that the best case reaches of the lower of two roofs, where the chart draws them.
fn roofs(origin: &Origin, experiment: usize, records: &[Record], copies: &Copies) -> Option<String> {
    let drawn = origin.plan.experiments.get(experiment)?.chart.ceiling == Some(Ceiling::SpeedOfLight);
    let own = records.iter().filter(|record| record.case.experiment == experiment);
    SpeedsOfLight::new(origin.plan, copies).bound(own.filter(|_| drawn))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::report::series::tests::passes;
    use crate::report::svg::tests::{environment, origin};

    #[test]
    fn every_experiment_gets_a_chart_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut plan, records) = passes();
        plan.experiments.push(plan.experiments[0].clone());
        let write = || {
            write_all(folder.path(), origin(&plan, &environment(), &[]), &records, &Copies::new())
                .expect("written")
        };
        let paths = write();
        let read = |paths: &[PathBuf]| -> Vec<Vec<u8>> {
            paths.iter().map(|p| fs::read(p).expect("readable")).collect()
        };
        let first = read(&paths);
        let written: Vec<_> = paths.iter().filter_map(|p| p.file_name()?.to_str()).collect();
        assert_eq!(written, names(&plan));
        assert_eq!(written, ["results.csv", "samples.csv", "a-sweep.svg", "a-sweep-2.svg"]);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 4);
        assert_eq!(first, read(&write()), "writing again changes nothing");
    }

    #[test]
    fn a_slug_does_not_lead_out_of_the_folder() {
        let (mut plan, _) = passes();
        plan.experiments[0].slug = "../../etc/passwd".to_owned();
        assert_eq!(names(&plan), ["results.csv", "samples.csv", "etc-passwd.svg"]);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error_that_names_it() {
        let (plan, records) = passes();
        let missing = Path::new("/nonexistent/run");
        let error = write_all(missing, origin(&plan, &environment(), &[]), &records, &Copies::new())
            .expect_err("no folder");
        assert!(format!("{error:#}").contains("/nonexistent/run/results.csv"), "{error:#}");
    }
}
