//! Reading a run's folder back, whichever version wrote it.

use std::io::{BufRead, Cursor, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde_json::Value as Json;

use super::checksum_chain::Finding;
use super::layout::{ENGINE_DIED, Line, LogState, MANIFEST, Manifest, RECIPE, SCHEMA};
use super::{Ledger, checks, events, index_files};
use crate::case::Verdict;
use crate::case::units::{escaped, fmt_bytes};
use crate::engine::protocol::{Event, Level};
use crate::files;
use crate::run::client::EngineCommand;

/// A run on disk.
#[derive(Clone, Debug)]
pub struct Stored {
    pub path: PathBuf,
    pub manifest: Manifest,
    /// The text of the recipe, with a comment that lists the changes from the command line.
    pub recipe: String,
    /// The plan and its records, folded from the events.
    pub ledger: Ledger,
    pub log: LogState,
    /// What is wrong with the files although they can be read, one line each.
    pub warnings: Vec<String>,
}

impl Stored {
    /// True if a case has times.
    pub fn has_results(&self) -> bool {
        self.ledger.records().iter().any(|record| record.statistics.is_some())
    }

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
        index_files::locate(&mut manifest.plan.indices, path);
        let tables = index_files::attach(&mut manifest.plan, path);
        let mut ledger = Ledger::new(manifest.plan.clone());
        let altered = checks::altered(&manifest.plan);
        let log = each_event_until(path, |line| {
            ledger.file(&checks::checked(line.event, &ledger, &altered));
            if wanted() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        if !wanted() {
            bail!("reading {} was cancelled", path.display());
        }
        ledger.settle();
        let mut warnings: Vec<String> = log.integrity.warning(&events::file(path)).into_iter().collect();
        warnings.extend(tables);
        warnings.extend(altered.values().next().map(|reason| {
            let others =
                if altered.len() > 1 { format!(" ({} such cases)", altered.len()) } else { String::new() };
            format!("{}{others}: the case fails", path.join(reason).display())
        }));
        altered.into_iter().for_each(|(at, reason)| ledger.fail(at, reason));
        let recipe = match files::text(&path.join(RECIPE), &files::RECIPE) {
            // An old folder may lack its recipe; the plan is sufficient.
            Err(problem) if problem.is_missing() => String::new(),
            read => read?,
        };
        Ok(Stored { path: path.to_owned(), manifest, recipe, ledger, log, warnings })
    }
}

/// Calls `take` with every event of a run folder in order, and returns the state of its log.
///
/// # Errors
/// As for [`Stored::open`].
pub fn each_event(path: &Path, mut take: impl FnMut(Line)) -> anyhow::Result<LogState> {
    each_event_until(path, |line| {
        take(line);
        ControlFlow::Continue(())
    })
}

/// Like [`each_event`], but stops when `take` breaks. A result whose line changed after it was written, or has no
/// checksum among lines that have one, is given as a failure, which a resumed run tries again.
///
/// # Errors
/// As for [`Stored::open`], for the lines up to the break.
pub fn each_event_until(
    path: &Path,
    mut take: impl FnMut(Line) -> ControlFlow<()>,
) -> anyhow::Result<LogState> {
    let mut lines = StoredLines::open(path)?;
    while let Some(finding) = lines.next()? {
        let mut line = match lines.parse() {
            Ok(line) => line,
            Err(error) => bail!(
                "{}:{}: not an event that this version knows: {}; to keep the other lines: {}",
                lines.file.display(),
                lines.number(),
                escaped(&error.to_string()),
                EngineCommand::Own.command_line("salvage", path)
            ),
        };
        if finding.is_distrusted() {
            line.event = lines.distrusted(line.event, finding);
        }
        if take(said_in_words(line)).is_break() {
            break;
        }
    }
    Ok(lines.state)
}

/// Longest line of an event log that is read, bytes. A round of 10,000 samples has 250 kB.
const LONGEST_LINE: u64 = 64 << 20;

/// Most bytes of a log that are kept while its first line with a checksum is looked for. A longer beginning is read again.
const MOST_SEEN: usize = 16 << 20;

/// The complete lines of an event log, one after another.
pub(super) struct StoredLines {
    file: PathBuf,
    reader: Box<dyn BufRead>,
    text: Vec<u8>,
    pub state: LogState,
    /// Whether the first line with a checksum was written after another one with a checksum, so that the lines
    /// before it had theirs taken away.
    stripped: bool,
}

impl StoredLines {
    /// # Errors
    /// When the log cannot be opened.
    pub fn open(run: &Path) -> anyhow::Result<StoredLines> {
        let mut ahead = StoredLines::begin(run)?;
        let (stripped, seen) = ahead.look_ahead();
        let mut lines = match seen {
            Some(seen) => StoredLines { reader: Box::new(Cursor::new(seen).chain(ahead.reader)), ..ahead },
            None => StoredLines::begin(run)?,
        };
        (lines.state, lines.stripped) = (LogState::default(), stripped);
        Ok(lines)
    }

    fn begin(run: &Path) -> anyhow::Result<StoredLines> {
        let file = events::file(run);
        let reader = events::open(&file)?;
        Ok(StoredLines { file, reader, text: Vec::new(), state: LogState::default(), stripped: false })
    }

    /// Reads up to the first line that has a checksum: the first one of runs whose every line has one, and all lines of
    /// runs of older versions. Returns whether lines before it had theirs taken away, and what was read, unless that is much or
    /// the log cannot be read, which is reported where it is read in earnest.
    fn look_ahead(&mut self) -> (bool, Option<Vec<u8>>) {
        let mut seen = Some(Vec::new());
        loop {
            let Ok(finding) = self.next() else { return (false, None) };
            seen = seen.filter(|seen| seen.len() + self.text.len() <= MOST_SEEN);
            if let Some(seen) = &mut seen {
                seen.extend_from_slice(&self.text);
            }
            match finding {
                Some(Finding::Unchecked) => {}
                Some(Finding::Gap) => return (self.number() > 1, seen),
                _ => return (false, seen),
            }
        }
    }

    /// Reads the next complete line, and returns what its checksums say; `None` at the end or before a torn line.
    ///
    /// # Errors
    /// When the log cannot be read further, or the line is too long.
    pub fn next(&mut self) -> anyhow::Result<Option<Finding>> {
        self.text.clear();
        let read = (&mut self.reader).take(LONGEST_LINE).read_until(b'\n', &mut self.text);
        let read = read.with_context(|| format!("cannot read {}", self.file.display()))? as u64;
        if !self.text.ends_with(b"\n") {
            let number = self.state.integrity.lines + 1;
            if read == LONGEST_LINE {
                bail!("{}:{number}: the line has more than {}", self.file.display(), fmt_bytes(LONGEST_LINE));
            }
            return Ok(None);
        }
        let finding = match self.state.chain.check(&self.text) {
            Finding::Unchecked if self.stripped => Finding::Foreign,
            finding => finding,
        };
        self.state.integrity.count(finding);
        self.state.whole += read;
        Ok(Some(finding))
    }

    /// The line read last, or after [`next`](Self::next) returned `None` what is left of a torn one.
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// The number of the line read last, counted from 1.
    pub fn number(&self) -> u64 {
        self.state.integrity.lines
    }

    /// The event in the line read last.
    ///
    /// # Errors
    /// When it is none that this version knows.
    pub fn parse(&self) -> serde_json::Result<Line> {
        serde_json::from_slice(&self.text)
    }

    /// What remains of an event whose line is distrusted: of a result, that it is lost. Of a line without a checksum
    /// nothing else counts either, such as that a case is to be measured anew. A wrong result stays wrong.
    fn distrusted(&self, event: Event, finding: Finding) -> Event {
        let name = self.file.file_name().unwrap_or_default().to_string_lossy();
        let why = finding.reproach().unwrap_or_default();
        let error = format!("{name}:{}: {why}", self.number());
        let is_foreign = finding == Finding::Foreign;
        match event {
            Event::Round { result, seq } if !matches!(result.verdict, Some(Verdict::Wrong { .. })) => {
                Event::Failed { seq, case: result.case, round: result.round, error, lost: true }
            }
            Event::NotApplicable { seq, case, .. } | Event::Skipped { seq, case } if is_foreign => {
                Event::Failed { seq, case, round: 0, error, lost: true }
            }
            kept @ (Event::Round { .. } | Event::Failed { .. } | Event::Log { .. }) => kept,
            _ if is_foreign => Event::Log { level: Level::Warn, text: error },
            kept => kept,
        }
    }
}

/// Reads only the manifest of a run folder.
///
/// # Errors
/// As for [`Stored::open`]; where the manifest is lost, the error says how to rebuild it.
pub fn manifest(path: &Path) -> anyhow::Result<Manifest> {
    manifest_on_file(path).map_err(|error| match is_lost(path) && events::file(path).is_file() {
        true => {
            anyhow!("{error:#}; to rebuild it: {}", EngineCommand::Own.command_line("salvage", path))
        }
        false => error,
    })
}

/// Whether a run has no manifest, or one that is not JSON of any schema, so that a program of another version would not
/// read it either.
pub(super) fn is_lost(run: &Path) -> bool {
    let file = run.join(MANIFEST);
    if !files::is_there(&file) {
        return true;
    }
    // What cannot be read is not known to be lost.
    let Ok(text) = files::text(&file, &files::MANIFEST) else { return false };
    let json = serde_json::from_str::<Json>(&text).ok();
    json.is_none_or(|json| json.get("schema").is_none())
}

/// [`manifest`] without advice.
///
/// # Errors
/// As for [`Stored::open`].
pub(super) fn manifest_on_file(path: &Path) -> anyhow::Result<Manifest> {
    let file = path.join(MANIFEST);
    if !files::is_there(path) {
        bail!("{}: no such folder", path.display());
    }
    if !files::is_there(&file) {
        bail!("{} holds no run: there is no {MANIFEST}", path.display());
    }
    let text = files::text(&file, &files::MANIFEST)?;
    let damaged =
        |error: serde_json::Error| anyhow!("{} is damaged: {}", file.display(), escaped(&error.to_string()));
    let json = serde_json::from_str(&text).map_err(damaged)?;
    let json = migrated(json).with_context(|| file.display().to_string())?;
    let manifest: Manifest = serde_json::from_value(json).map_err(damaged)?;
    match manifest.plan.check() {
        Ok(()) => Ok(manifest),
        Err(wrong) => bail!("{} is damaged: {wrong}", file.display()),
    }
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
