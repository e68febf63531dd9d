//! Judges a run against the stored run whose plan it repeats.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use super::judge::{self, Comparison};
use super::judged::{self, Heads, Judged};
use super::names::cases;
use super::verdicts::{self, NamedRun};
use crate::case::units::escaped;
use crate::run::Record;
use crate::run::stored::Stored;
use crate::shell;
use crate::stats::comparison::FEWEST;

/// The file in the new run's folder that holds the verdicts.
pub const VERDICTS: &str = "replay.csv";

/// The judgement of a new run.
#[derive(Debug)]
pub struct Verdicts {
    pub comparison: Comparison,
    pub judged: Judged,
    /// The two runs, by the heads of their columns.
    pub key: Vec<String>,
    /// The file that holds the verdicts.
    pub path: PathBuf,
}

/// Refuses, before anything is measured, a run against which nothing can be judged. Returns a remark if only
/// some of its cases cannot be judged.
///
/// # Errors
/// If no case of the run has a result, or none has enough rounds.
pub fn enough(stored: &Stored) -> anyhow::Result<Option<String>> {
    let path = stored.path.display();
    let results: Vec<&Record> =
        stored.ledger.measured().map(|(_, record)| record).filter(|r| r.statistics.is_some()).collect();
    if results.is_empty() {
        bail!("{path} holds no result to judge against");
    }
    let short = results.iter().filter(|record| !judge::can_be_judged(record)).count();
    if short == results.len() {
        bail!(
            "nothing can be judged against {path}: a case needs {FEWEST} certified rounds there, and none has \
             them, however many the new run has; {}",
            judge::anew()
        );
    }
    Ok((short > 0).then(|| {
        let of = cases(results.len());
        format!("{short} of {of} there have fewer than {FEWEST} certified rounds and cannot be judged")
    }))
}

/// Judges the new run in this folder and writes the verdicts there.
///
/// # Errors
/// If the folder cannot be read, or written to.
pub fn judge(stored: &Stored, folder: &Path, margin: f64) -> anyhow::Result<Verdicts> {
    let fresh = Stored::open(folder)?;
    let named = |stored: &Stored| stored.path.display().to_string();
    let baseline = NamedRun::new(named(stored), stored);
    let now = [NamedRun::new(named(&fresh), &fresh)];
    let mut comparisons = judge::compare(baseline.side, &[now[0].side], margin);
    let path = verdicts::write(folder, VERDICTS, verdicts::table(&baseline, &now, &comparisons, margin))?;
    let comparison = comparisons.pop().context("nothing was compared")?;
    let heads =
        Heads { baseline: "then".to_owned(), other: "now".to_owned(), again: shell::path(&stored.path) };
    let judged = judged::judged(&baseline, &now[0], &comparison, margin, &heads);
    let key = [(&heads.baseline, &baseline), (&heads.other, &now[0])];
    let key = key.map(|(head, run)| escaped(&format!("{head:4}  {}", run.name))).to_vec();
    Ok(Verdicts { comparison, judged, key, path })
}
