//! The work of the I/O threads.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, bail};

use super::Unfinished;
use super::comparison::{Comparison, Exported};
use super::entry::Entry;
use super::io_worker::{Answer, Job};
use super::opened::{Opened, Replayable};
use crate::case::units::escaped;
use crate::report::judge::{self, MARGIN};
use crate::report::judged::{self, Heads, judged};
use crate::report::replay::Verdicts;
use crate::report::verdicts::NamedRun;
use crate::report::{self, write_all};
use crate::run::index::{self, Stamp};
use crate::run::repeat::Repeat;
use crate::run::stored::Stored;
use crate::run::{Interrupted, note, summary};
use crate::shell;
use crate::tui::chart::overlay::Baseline;

/// Maximum number of listed runs, the newest ones: each takes a few kilobytes.
const MOST: usize = 5000;

/// Maximum duration of a watched run in seconds.
const WATCHED: f64 = 60.0;

/// Whether the job's answer is still wanted; if not, the job ends as soon as it can.
type Wanted<'a> = &'a dyn Fn() -> bool;

/// Performs a job while it is `wanted`; `tell` returns whether its answers still reach a receiver.
pub fn perform(root: &Path, job: Job, wanted: Wanted, tell: &mut dyn FnMut(Answer) -> bool) {
    let answer = match job {
        Job::List { known } => return list(root, &known.into_iter().collect(), wanted, tell),
        Job::Open(path) => Opened::read(&path, wanted).map(|opened| Answer::Opened(Box::new(opened))),
        Job::Watch(path) => playable(path, wanted),
        Job::Reopen(run) => reopen(&run, wanted).context("not started"),
        Job::Replay(path) => Replayable::read(&path, wanted).map(|run| Answer::Replayable(Box::new(run))),
        Job::Judge { stored, replayed } => judge_replay(&stored, &replayed),
        Job::Compare { baseline, other } => compare(root, [&baseline, &other], wanted),
        Job::Lay(path) => baseline(&path, wanted),
        Job::Export(path) => export(&path, wanted),
        Job::Note { path, text } => {
            note::write(&path, &text).map(|()| Answer::Noted { note: note::read(&path), path })
        }
        Job::Touch(question) => question.answer().map(|pattern| Answer::Pattern(Box::new(pattern))),
    };
    tell(answer.unwrap_or_else(|error| Answer::Refused(escaped(&format!("{error:#}")))));
}

/// Lists the newest runs first, by their stamps, which need no reading: the old runs matter least.
fn list(root: &Path, known: &HashMap<PathBuf, Stamp>, wanted: Wanted, tell: &mut dyn FnMut(Answer) -> bool) {
    let stamped = |path: PathBuf| (Stamp::of(&path), path);
    let mut found: Vec<(Stamp, PathBuf)> = index::folders(root).into_iter().map(stamped).collect();
    found.sort_by(|(a, p), (b, q)| b.written().cmp(&a.written()).then_with(|| p.cmp(q)));
    let more = found.len().saturating_sub(MOST);
    found.truncate(MOST);
    for (stamp, path) in &found {
        let fresh = known.get(path) != Some(stamp);
        if fresh && !tell(Answer::Found(Box::new(Entry::read(root, path.clone(), wanted)))) {
            return;
        }
    }
    let paths: HashSet<PathBuf> = found.into_iter().map(|(_, path)| path).collect();
    tell(Answer::Listed { paths, more });
}

fn baseline(path: &Path, wanted: Wanted) -> anyhow::Result<Answer> {
    let stored = Stored::open_while(path, wanted)?;
    let manifest = &stored.manifest;
    let baseline = Baseline::new(path, &stored.ledger).on(&manifest.environment, &manifest.devices);
    if !baseline.is_measured() {
        bail!("{} has no result", baseline.name());
    }
    Ok(Answer::Laid(Arc::new(baseline)))
}

fn playable(path: PathBuf, wanted: Wanted) -> anyhow::Result<Answer> {
    let stored = Stored::open_while(&path, wanted)?;
    let times = summary::took(&stored.ledger).map_or(1.0, |took| (took / WATCHED).max(1.0));
    Ok(Answer::Playable { path, plan: Box::new(stored.manifest.plan), times })
}

/// The folder may have changed since the list was read.
fn reopen(run: &Unfinished, wanted: Wanted) -> anyhow::Result<Answer> {
    let mut interrupted = Interrupted::open_while(&run.folder, wanted)?;
    run.case.into_iter().for_each(|case| interrupted.repeat(case));
    if interrupted.stored.ledger.is_complete() {
        bail!("the run is complete by now: nothing is left to measure");
    }
    Ok(Answer::Reopened(Box::new(interrupted)))
}

fn compare(root: &Path, [baseline, other]: [&Path; 2], wanted: Wanted) -> anyhow::Result<Answer> {
    let [before, after] = [Stored::open_while(baseline, wanted)?, Stored::open_while(other, wanted)?];
    let [before, after] = [named(root, &before), named(root, &after)];
    let comparisons = judge::compare(before.side, &[after.side], MARGIN);
    let comparison = comparisons.first().context("nothing was compared")?;
    if comparison.judgements.is_empty() {
        bail!("{} and {} have no case in common", before.name, after.name);
    }
    let again = shell::path(other);
    let heads = Heads { baseline: "A".to_owned(), other: "B".to_owned(), again };
    let judged = judged(&before, &after, comparison, MARGIN, &heads);
    Ok(Answer::Compared(Box::new(Comparison { key: judged::key(&[&before, &after]), judged, selected: 0 })))
}

fn judge_replay(stored: &Path, replayed: &Path) -> anyhow::Result<Answer> {
    let Verdicts { judged, key, .. } = report::replay::judge(&Stored::open(stored)?, replayed, MARGIN)?;
    Ok(Answer::Judged(Box::new(Comparison { key, judged, selected: 0 })))
}

/// A run, named by its folder's path below the root.
fn named<'a>(root: &Path, stored: &'a Stored) -> NamedRun<'a> {
    let name = stored.path.strip_prefix(root).unwrap_or(&stored.path);
    NamedRun::new(name.display().to_string(), stored)
}

fn export(path: &Path, wanted: Wanted) -> anyhow::Result<Answer> {
    let stored = Stored::open_while(path, wanted)?;
    let ledger = &stored.ledger;
    let written = write_all(path, &stored.manifest, ledger.records(), ledger.references())?;
    let name = |path: &PathBuf| Some(escaped(&path.file_name()?.to_string_lossy()));
    Ok(Answer::Exported(Box::new(Exported {
        folder: escaped(&path.display().to_string()),
        files: written.iter().filter_map(name).collect(),
        repeat: Repeat::of(path, &stored.manifest),
    })))
}
