//! `--against`: the stored run that others are compared with, the newest one below a folder that fits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::bail;

use super::recipes::with_warnings;
use crate::case::distinct;
use crate::case::units::number_of;
use crate::recipe::plan::Plan;
use crate::report::claims;
use crate::run::index;
use crate::run::layout::{MANIFEST, Manifest};
use crate::run::stored::{self, Stored};

/// Most runs that an error names.
const NAMED: usize = 4;

/// Depth below the folder down to which runs are looked for: `baselines/cluster/node/run` and one folder more.
const DEPTH: usize = 4;

/// The devices of a run's machine and the number of its CPUs: `4 × NVIDIA H200 · AMD EPYC 9654, 16 CPUs`.
pub fn machine(manifest: &Manifest) -> String {
    let gpus: Vec<&str> = claims::gpus(&manifest.devices).collect();
    let counted = |name: &str| match gpus.iter().filter(|one| **one == name).count() {
        1 => name.to_owned(),
        count => format!("{count} × {name}"),
    };
    let mut names: Vec<String> = distinct(gpus.iter().copied()).into_iter().map(counted).collect();
    names.push(manifest.environment.cpu.clone());
    names.retain(|name| !name.is_empty());
    format!("{}, {}", names.join(" · "), number_of(manifest.environment.affinity.len(), "CPU"))
}

/// A recipe's title and the beginning of its hash: `Small (recipe 0123456789ab)`.
pub fn recipe(plan: &Plan) -> String {
    format!("{} (recipe {})", plan.title, plan.short_hash())
}

/// The folders of runs in and below a folder.
pub struct Baselines<'r> {
    root: &'r Path,
    folders: Vec<PathBuf>,
}

impl<'r> Baselines<'r> {
    /// Without the runs `but`.
    ///
    /// # Errors
    /// There is no such folder.
    pub fn below(root: &'r Path, but: &[PathBuf]) -> anyhow::Result<Baselines<'r>> {
        if !root.is_dir() {
            bail!("--against {}: no such folder", root.display());
        }
        let place = |path: &PathBuf| fs::canonicalize(path).ok();
        let but: Vec<_> = but.iter().filter_map(place).collect();
        let mut folders = index::candidates(root, DEPTH);
        folders.push(root.to_owned());
        folders.retain(|path| path.join(MANIFEST).exists());
        folders.retain(|path| place(path).is_none_or(|path| !but.contains(&path)));
        folders.sort();
        Ok(Baselines { root, folders })
    }

    /// The newest complete run of this plan's recipe on the wanted machine, or else on the only one that has such
    /// runs. Runs with the same changes to the recipe are preferred.
    ///
    /// # Errors
    /// No run fits, or those of several machines do; the error says what was found.
    pub fn of(&self, plan: &Plan, wanted: Option<&str>) -> anyhow::Result<Stored> {
        let root = self.root.display();
        let ranked = index::ranked(&self.folders, &plan.recipe_hash, &plan.overrides, &|| true);
        let (mut fit, mut refused) = (BTreeMap::new(), Vec::new());
        for path in &ranked {
            let (run, machine) = (path.display(), machine(&stored::manifest(path)?));
            if wanted.is_some_and(|wanted| wanted != machine) {
                refused.push(format!("{run} was measured on {machine}"));
                continue;
            }
            // Only the newest run of each machine counts.
            if fit.contains_key(&machine) {
                continue;
            }
            match Stored::open(path) {
                Ok(stored) if !stored.ledger.is_complete() => refused.push(format!("{run} is not complete")),
                Ok(stored) if !stored.has_results() => refused.push(format!("{run} has no result")),
                Ok(stored) if wanted.is_some() => return Ok(with_warnings(stored)),
                Ok(stored) => drop(fit.insert(machine, stored)),
                Err(error) => refused.push(format!("{error:#}")),
            }
        }
        if fit.len() > 1 {
            let runs = fit.iter().map(|(machine, run)| format!("{machine}: {}", run.path.display()));
            let runs = runs.collect::<Vec<_>>().join("; ");
            bail!(
                "--against {root}: it has runs of this recipe on several machines; give the folder of one: {runs}"
            );
        }
        if let Some(run) = fit.into_values().next() {
            return Ok(with_warnings(run));
        }
        // Runs of the recipe come first: they are nearest to a baseline.
        let others = self.folders.iter().filter(|path| !ranked.contains(path));
        refused.extend(others.map(|path| match stored::manifest(path) {
            Ok(manifest) => format!("{} is of {}", path.display(), recipe(&manifest.plan)),
            Err(error) => format!("{error:#}"),
        }));
        let on = wanted.map(|machine| format!(" on {machine}")).unwrap_or_default();
        bail!("--against {root}: no complete run of {}{on}; {}", recipe(plan), looked_at(&refused))
    }
}

/// `looked at 5 runs: a is not complete; …; and 1 more`.
fn looked_at(refused: &[String]) -> String {
    if refused.is_empty() {
        return "there is no run to compare with in or below it".to_owned();
    }
    let more = refused.len().saturating_sub(NAMED);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    let named = refused.iter().take(NAMED).cloned().collect::<Vec<_>>().join("; ");
    format!("looked at {}: {named}{more}", number_of(refused.len(), "run"))
}
