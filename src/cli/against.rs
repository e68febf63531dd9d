//! `--against`: the stored run that others are compared with, the newest one below a folder that fits.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::recipes::with_warnings;
use crate::case::units::number_of;
use crate::recipe::plan::Plan;
use crate::report::claims;
use crate::run::index;
use crate::run::layout::{MANIFEST, Manifest};
use crate::run::stored::{self, Stored};

/// Most runs that an error names.
const NAMED: usize = 4;

/// The devices of a run's machine and the number of its CPUs: `NVIDIA H200 · AMD EPYC 9654, 16 CPUs`.
pub fn machine(manifest: &Manifest) -> String {
    let devices = claims::machine(&manifest.devices, &manifest.environment);
    format!("{devices}, {}", number_of(manifest.environment.affinity.len(), "CPU"))
}

/// A recipe's title and the beginning of its hash: `Small (recipe 0123456789ab)`.
pub fn recipe(plan: &Plan) -> String {
    format!("{} (recipe {})", plan.title, plan.short_hash())
}

/// The newest complete run of this plan's recipe in or below a folder, without the runs `but`: on the wanted
/// machine, or else on the only one that has such runs. Runs with the same changes to the recipe are preferred.
///
/// # Errors
/// No run fits, or those of several machines do; the error says what was found.
pub fn find(root: &Path, plan: &Plan, wanted: Option<&str>, but: &[PathBuf]) -> anyhow::Result<Stored> {
    let (mut fit, mut refused, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for path in folders(root, but)? {
        let manifest = match stored::manifest(&path) {
            Ok(manifest) => manifest,
            Err(error) => {
                refused.push(format!("{error:#}"));
                continue;
            }
        };
        let (machine, run) = (machine(&manifest), path.display());
        match () {
            () if manifest.plan.recipe_hash != plan.recipe_hash => {
                others.push(format!("{run} is of {}", recipe(&manifest.plan)));
            }
            () if wanted.is_some_and(|wanted| wanted != machine) => {
                refused.push(format!("{run} was measured on {machine}"));
            }
            () => {
                let same = manifest.plan.overrides == plan.overrides;
                fit.push((same, manifest.started, path, machine));
            }
        }
    }
    fit.sort();
    let machines: BTreeSet<&str> = fit.iter().map(|(.., machine)| machine.as_str()).collect();
    if machines.len() > 1 {
        let machines = Vec::from_iter(machines).join("; ");
        bail!(
            "--against {}: it has runs of this recipe on several machines; give the folder of one run: {machines}",
            root.display()
        );
    }
    for (_, _, path, _) in fit.iter().rev() {
        match Stored::open(path) {
            Ok(run) if !run.ledger.is_complete() => {
                refused.push(format!("{} is not complete", path.display()))
            }
            Ok(run) if !has_results(&run) => refused.push(format!("{} has no result", path.display())),
            Ok(run) => return Ok(with_warnings(run)),
            Err(error) => refused.push(format!("{error:#}")),
        }
    }
    // Runs of the recipe come first: they are nearest to a baseline.
    refused.append(&mut others);
    let on = wanted.map(|machine| format!(" on {machine}")).unwrap_or_default();
    bail!("--against {}: no complete run of {}{on}; {}", root.display(), recipe(plan), looked_at(&refused))
}

/// The folders of runs in and below a folder, without some.
fn folders(root: &Path, but: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    if !root.is_dir() {
        bail!("--against {}: no such folder", root.display());
    }
    let place = |path: &PathBuf| fs::canonicalize(path).ok();
    let but: Vec<_> = but.iter().filter_map(place).collect();
    let mut folders = index::folders(root);
    folders.extend(root.join(MANIFEST).exists().then(|| root.to_owned()));
    folders.retain(|path| place(path).is_none_or(|path| !but.contains(&path)));
    folders.sort();
    Ok(folders)
}

fn has_results(run: &Stored) -> bool {
    run.ledger.records().iter().any(|record| record.statistics.is_some())
}

/// `looked at 5 runs: a is not complete; …; and 1 more`.
fn looked_at(refused: &[String]) -> String {
    if refused.is_empty() {
        return "there is no other run in or below it".to_owned();
    }
    let more = refused.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let named = refused.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    format!("looked at {}: {named}{more}", number_of(refused.len(), "run"))
}
