//! Reading a run's folder back, whichever version wrote it.

use std::io::{BufRead, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::Ledger;
use super::events;
use super::folder::{ENGINE_DIED, MANIFEST, Manifest, RECIPE, SCHEMA};
use crate::case::units;
use crate::engine::protocol::Event;
use crate::files;
use crate::inputs::indices;

/// A run on disk.
#[derive(Clone, Debug)]
pub struct Stored {
    pub path: PathBuf,
    pub manifest: Manifest,
    /// The text of the recipe, with a comment that lists the changes from the command line.
    pub recipe: String,
    /// The plan and its records, folded from the events.
    pub ledger: Ledger,
    /// Bytes of complete lines in the event log; a torn line may follow.
    pub whole: u64,
}

/// One line of a run's event log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line {
    #[serde(flatten)]
    pub event: Event,
    /// When the event was recorded, seconds since the epoch; `None` in runs of schema 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<f64>,
}

impl Stored {
    /// Reads a run folder.
    ///
    /// # Errors
    /// When the folder holds no run, when the manifest cannot be read or has a newer schema, or when a complete
    /// line of the event log is invalid. A torn last line (disk full, power loss) is ignored.
    pub fn open(path: &Path) -> anyhow::Result<Stored> {
        Self::open_while(path, &|| true)
    }

    /// Like [`open`](Self::open), but gives up once `wanted` returns false.
    ///
    /// # Errors
    /// As for [`open`](Self::open), or when `wanted` returns false.
    pub fn open_while(path: &Path, wanted: &dyn Fn() -> bool) -> anyhow::Result<Stored> {
        let mut manifest = manifest(path)?;
        indices::locate(&mut manifest.plan.indices, path);
        let mut ledger = Ledger::new(manifest.plan.clone());
        let whole = each_event_until(path, |line| {
            ledger.file(&line.event);
            if wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !wanted() {
            bail!("reading {} was cancelled", path.display());
        }
        ledger.settle();
        let recipe = match files::text(&path.join(RECIPE), &files::RECIPE) {
            // An old folder may lack its recipe; the plan is sufficient.
            Err(problem) if problem.is_missing() => String::new(),
            read => read?,
        };
        Ok(Stored { path: path.to_owned(), manifest, recipe, ledger, whole })
    }
}

/// Longest line of an event log, bytes. The largest event, a round of 1000 samples, has about 25 kB.
const LONGEST_LINE: u64 = 16 << 20;

/// Calls `take` with every event of a run folder in order, and returns the bytes of complete lines in its log.
///
/// # Errors
/// As for [`Stored::open`].
pub fn each_event(path: &Path, mut take: impl FnMut(Line)) -> anyhow::Result<u64> {
    each_event_until(path, |line| {
        take(line);
        ControlFlow::Continue(())
    })
}

/// Like [`each_event`], but stops when `take` breaks.
///
/// # Errors
/// As for [`Stored::open`], for the lines up to the break.
pub fn each_event_until(path: &Path, mut take: impl FnMut(Line) -> ControlFlow<()>) -> anyhow::Result<u64> {
    let file = events::file(path);
    let mut reader = events::open(&file)?;
    let (mut text, mut whole) = (Vec::new(), 0);
    for number in 1.. {
        text.clear();
        let read = (&mut reader).take(LONGEST_LINE).read_until(b'\n', &mut text);
        let read = read.with_context(|| format!("cannot read {}", file.display()))? as u64;
        if read == LONGEST_LINE {
            let most = units::fmt_bytes(LONGEST_LINE);
            bail!("{}:{number}: the line is longer than {most}, the most that is read", file.display());
        }
        if !text.ends_with(b"\n") {
            break;
        }
        let line = serde_json::from_slice(&text);
        let line = line
            .with_context(|| format!("{}:{number}: not an event that this version knows", file.display()))?;
        whole += read;
        if take(said_in_words(line)).is_break() {
            break;
        }
    }
    Ok(whole)
}

/// Reads only the manifest of a run folder.
///
/// # Errors
/// As for [`Stored::open`].
pub fn manifest(path: &Path) -> anyhow::Result<Manifest> {
    let file = path.join(MANIFEST);
    if !path.exists() {
        bail!("{}: no such folder", path.display());
    }
    if !file.exists() {
        bail!("{} holds no run: there is no {MANIFEST}", path.display());
    }
    let text = files::text(&file, &files::MANIFEST)?;
    let json = serde_json::from_str(&text).with_context(|| format!("{} is damaged", file.display()))?;
    let json = migrated(json).with_context(|| file.display().to_string())?;
    let manifest: Manifest =
        serde_json::from_value(json).with_context(|| format!("{} is damaged", file.display()))?;
    let stray = manifest.plan.cases.iter().find(|case| case.experiment >= manifest.plan.experiments.len());
    if let Some(case) = stray {
        bail!("{} is damaged: case {} belongs to no experiment", file.display(), units::shown(&case.id));
    }
    Ok(manifest)
}

/// In schema 1, only the error's text marks a case as lost with its engine.
fn said_in_words(mut line: Line) -> Line {
    if let Event::Failed { error, lost, .. } = &mut line.event {
        *lost |= error.starts_with(ENGINE_DIED);
    }
    line
}

/// Migrates a manifest to the current schema, one step per version.
fn migrated(mut manifest: Json) -> anyhow::Result<Json> {
    let schema = manifest.get("schema").and_then(Json::as_u64).context("there is no `schema`")?;
    if schema > u64::from(SCHEMA) {
        bail!("schema {schema} is newer than this program's {SCHEMA}: install scatterlab of that version");
    }
    if schema < 2 {
        from_1(&mut manifest);
    }
    Ok(manifest)
}

/// Schema 1 knew only fixed numbers of rounds and warm caches.
fn from_1(manifest: &mut Json) {
    let experiments = manifest.pointer_mut("/plan/experiments").and_then(Json::as_array_mut);
    for experiment in experiments.into_iter().flatten() {
        let Some(measure) = experiment.get_mut("measure").and_then(Json::as_object_mut) else { continue };
        let rounds = measure.get("rounds").cloned().unwrap_or(Json::from(1));
        measure.insert("max-rounds".into(), rounds);
        measure.insert("ci".into(), Json::Null);
        measure.insert("budget".into(), Json::from(0.0));
        measure.insert("order".into(), "interleaved".into());
        measure.insert("cache".into(), "hot".into());
    }
}
