//! Captions of figures: the paper's claim, the platforms, and the date and version of the measurements.

use super::mark::{Mark, notes};
use super::platform::Platform;
use crate::case::distinct;
use crate::report::svg::Caption;
use crate::run::layout::Manifest;

/// The caption. `paper` is key, figure and claim; `points` explains a point of this figure and of the
/// paper's; `lines` explain how to read it.
pub fn caption(
    paper: &str,
    points: &str,
    platforms: &[Platform],
    marks: &[Mark],
    lines: &[String],
) -> Caption {
    let drawn = |p: &&Platform| marks.iter().any(|mark| mark.platform == p.label);
    let runs = platforms.iter().filter(drawn).map(|p| format!("{}: {}", p.label, p.origin())).collect();
    let mut below = vec![points.to_owned()];
    below.extend(lines.iter().cloned());
    below.push(versions(platforms));
    let (paper, changes) = (Some(paper.to_owned()), changes(platforms));
    Caption { paper, changes, runs, notes: notes(marks), lines: below, ..Caption::default() }
}

fn manifests<'a>(platforms: &'a [Platform]) -> impl Iterator<Item = &'a Manifest> {
    platforms.iter().flat_map(|p| &p.runs).map(|run| run.side.manifest)
}

/// Overrides of the recipes on the command line.
fn changes(platforms: &[Platform]) -> Option<String> {
    let changed = distinct(manifests(platforms).flat_map(|manifest| manifest.plan.overrides.iter().cloned()));
    (!changed.is_empty()).then(|| format!("Some runs changed by {}", changed.join(" ")))
}

/// `Recipes 0123456789ab, … · measured by scatterlab 0.1.0`.
fn versions(platforms: &[Platform]) -> String {
    let recipes = distinct(manifests(platforms).map(|manifest| manifest.plan.short_hash()));
    let versions = distinct(manifests(platforms).map(|manifest| manifest.version.clone()));
    format!("Recipes {} · measured by scatterlab {}", recipes.join(", "), versions.join(", "))
}
